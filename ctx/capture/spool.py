"""Bytes of a running command, kept while they arrive (S1.2, S1.8, S1.10).

A spool is a private folder of the store with a state file and one file a stream. It outlives its owner: whoever starts
next adopts spools whose owner is gone, so a killed capture leaves what it had, marked so.
"""

import json
import os
import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from ctx.errors import StoreError
from ctx.store.layout import FILE_MODE, private_folder

STREAMS = ("stdout", "stderr")
LEAST_FREE_BYTES = 16 << 20


@dataclass(slots=True)
class Spool:
    """Two streams being written; a write error is remembered and never stops the command's output."""

    folder: Path | None
    chunks: dict[str, list[bytes]] = field(default_factory=lambda: {name: [] for name in STREAMS})
    """What arrived where no folder can be had: memory stands in."""
    sizes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STREAMS, 0))
    interleave: list[tuple[str, int, int, int]] = field(default_factory=list)
    """(stream, first_byte, end_byte, offset_us) in order of arrival."""
    error: str = ""
    _files: dict[str, int] = field(default_factory=dict)

    def write(self, stream: str, data: bytes, offset_us: int) -> None:
        """Keep one chunk."""
        first = self.sizes[stream]
        self.sizes[stream] = first + len(data)
        self.interleave.append((stream, first, first + len(data), offset_us))
        if self.folder is None or self.error:
            if self.folder is None:
                self.chunks[stream].append(data)
            return
        try:
            descriptor = self._files.get(stream)
            if descriptor is None:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
                descriptor = self._files[stream] = os.open(self.folder / stream, flags, FILE_MODE)
            view = memoryview(data)
            while view:
                view = view[os.write(descriptor, view) :]
        except OSError as error:
            self.error = error.strerror or str(error)
            self.sizes[stream] = first

    def read(self, stream: str) -> bytes:
        """Everything of a stream that was kept."""
        if self.folder is None:
            return b"".join(self.chunks[stream])
        path = self.folder / stream
        return path.read_bytes() if path.exists() else b""

    def close(self) -> None:
        """Close the files."""
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files.clear()

    def remove(self) -> None:
        """Remove the folder: only after its content was published."""
        self.close()
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def interleave_log(self) -> bytes:
        """The order of arrival, one JSON list a line."""
        return "".join(f"{json.dumps(list(entry))}\n" for entry in self.interleave).encode()


def open_spool(root: Path, argv: tuple[str, ...], started_at: str) -> Spool:
    """A spool in the store, or in memory where the store cannot be written; then `error` says why."""
    try:
        folder = private_folder(root / "spool") / f"{os.getpid()}-{os.urandom(4).hex()}"
        private_folder(folder)
        found = os.statvfs(folder)
        if found.f_bavail * found.f_frsize < LEAST_FREE_BYTES:
            shutil.rmtree(folder, ignore_errors=True)
            return Spool(folder=None, error=f"less than {LEAST_FREE_BYTES >> 20} MiB free at {root}")
        state = {
            "pid": os.getpid(),
            "process_start": process_start(os.getpid()),
            "argv": [word.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace") for word in argv],
            "started_at": started_at,
        }
        descriptor = os.open(folder / "state.json", os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
        os.write(descriptor, json.dumps(state).encode())
        os.close(descriptor)
        return Spool(folder=folder)
    except (OSError, StoreError) as error:
        return Spool(folder=None, error=str(error))


def process_start(pid: int) -> str:
    """A mark that tells a process from a later one with the same pid; empty where the system does not say."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return ""


@dataclass(frozen=True, slots=True)
class Orphan:
    """A spool whose owner is gone."""

    folder: Path
    argv: tuple[str, ...]
    started_at: str


def orphans(root: Path) -> Iterator[Orphan]:
    """Spools that nobody owns any more, oldest name first."""
    spools = root / "spool"
    if not spools.is_dir():
        return
    for name in sorted(os.listdir(spools)):
        folder = spools / name
        try:
            state = json.loads((folder / "state.json").read_text(encoding="utf-8"))
            pid, start = int(state["pid"]), str(state["process_start"])
            argv, started_at = tuple(state["argv"]), str(state["started_at"])
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if process_start(pid) != start or not _alive(pid):
            yield Orphan(folder, argv, started_at)


def _alive(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    except PermissionError:
        return True
    return True
