"""Which workspace a command runs in: what `run:last` is scoped to, and what `cwd` is relative to (S2.1)."""

import os
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path


@dataclass(frozen=True, kw_only=True, slots=True)
class Workspace:
    """A place commands run in."""

    root: Path
    """The nearest folder upwards that a version control system keeps its things in; else the current folder."""
    cwd: str
    """The current folder, relative to `root`."""

    @property
    def name(self) -> str:
        """A name that tells workspaces apart and does not give their place away: 16 hex digits."""
        return sha256(os.fsencode(self.root)).hexdigest()[:16]


def find_workspace(start: Path | None = None) -> Workspace | None:
    """The workspace of a folder (default: the current one); None where that folder is gone."""
    try:
        here = Path(os.path.realpath(start if start is not None else Path.cwd()))
    except OSError:
        return None
    for folder in (here, *here.parents):
        if any(os.path.lexists(folder / mark) for mark in (".git", ".hg", ".jj")):
            return Workspace(root=folder, cwd=here.relative_to(folder).as_posix())
    return Workspace(root=here, cwd=".")
