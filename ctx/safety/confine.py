"""Confinement of paths: nothing outside the workspace, nothing denied, nothing that is no file (S18.1, S18.2)."""

import os
import stat
from fnmatch import fnmatchcase
from pathlib import Path

from ctx.errors import RefusedError, UnknownError

DENIED = (
    ".git/**",
    ".env*",
    "secrets/**",
    "credentials/**",
    "*.pem",
    "*.key",
    "*.p12",
    "*.pfx",
    "*.kdbx",
    "id_rsa*",
    "id_ed25519*",
    ".ssh/**",
    ".aws/**",
    ".gnupg/**",
    ".kube/**",
    ".azure/**",
    ".config/gcloud/**",
    ".docker/**",
    ".netrc",
    ".npmrc",
    ".pypirc",
)
"""Patterns that no configuration takes away; a pattern with a folder applies at any depth."""


def denied_by(relative: str) -> str | None:
    """The deny rule that forbids a workspace-relative path, or None."""
    folded = f"/{relative.casefold()}/"
    parts = folded.strip("/").split("/")
    for rule in DENIED:
        if rule.endswith("/**"):
            if f"/{rule[:-3]}/" in folded:
                return rule
        elif any(fnmatchcase(part, rule) for part in parts):
            return rule
    return None


def confined_path(workspace: Path, relative: str, *, store: Path | None = None) -> Path:
    """`relative` inside `workspace`, resolved hop by hop.

    Args:
        store: Folder of the store: nothing in it has a path for a reader, wherever it lies.
    Raises:
        RefusedError: Denied, outside, a link out, or no regular file; names the rule.
        UnknownError: Not there.
    """
    rule = denied_by(relative)
    if rule is not None:
        raise RefusedError(f"repo:{relative}: refused by the deny rule {rule}")
    root = workspace.resolve()
    here = root
    for segment in relative.split("/"):
        if segment in ("", ".", "..") or "\x00" in segment:
            raise RefusedError(f"repo:{relative}: refused: a path stays inside the workspace")
        here = here / segment
        try:
            found = here.lstat()
        except OSError:
            raise UnknownError(f"repo:{relative}: not there") from None
        if stat.S_ISLNK(found.st_mode):
            here = Path(os.path.realpath(here))
            if here != root and root not in here.parents:
                raise RefusedError(f"repo:{relative}: refused: a link leads out of the workspace")
            rule = denied_by(str(here.relative_to(root)))
            if rule is not None:
                raise RefusedError(f"repo:{relative}: refused by the deny rule {rule}")
    if store is not None and store.resolve() in (here, *here.parents):
        raise RefusedError(f"repo:{relative}: refused: it lies in the store; captures are read by run: and blob:")
    if not here.is_file():
        raise RefusedError(f"repo:{relative}: refused: not a regular file")
    return here
