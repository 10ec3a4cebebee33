"""Bytes of a running command, kept while they arrive (S1.2, S1.8, S1.10).

A spool is a private folder of the store with a state file and one file a stream. It outlives its owner: whoever starts
next adopts spools whose owner is gone, so a killed capture leaves what it had, marked so. The owner holds a lock on the
state file for as long as it lives; a process id alone says nothing where two containers share a store.

`state.json` is written and locked before it gets its name, so one that can be seen is whole and held. `end.json` is
there only where the command has ended and its capture could not be stored.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctx.digest.base import CaptureFacts
from ctx.errors import StoreError
from ctx.store.layout import FILE_MODE, private_folder

STREAMS = ("stdout", "stderr")
LEAST_FREE_BYTES = 16 << 20
MEMORY_BYTES = 256 << 20
"""How much of an output is held in memory where the disk does not take it; what comes after is lost, and counted."""
_SPACE_EVERY_BYTES = 8 << 20
_STATE, _END = "state.json", "end.json"


@dataclass(frozen=True, kw_only=True, slots=True)
class SpoolState:
    """What is known of a capture before its command has ended."""

    argv: tuple[str, ...]
    cwd: str
    """Relative to the workspace, as in the manifest."""
    workspace: str | None
    """Name of the workspace, as in the manifest."""
    started_at: str
    """RFC 3339, UTC, milliseconds."""
    session: str | None = None


@dataclass(slots=True)
class Spool:
    """Two streams being written; a write error is remembered and never stops the command's output."""

    folder: Path | None
    error: str = ""
    """Why the disk does not hold everything; memory stands in."""
    lost_bytes: int = 0
    """What neither disk nor memory took."""
    interleave: list[tuple[str, int, int, int]] = field(default_factory=list)
    """(stream, first_byte, end_byte, offset_us) in order of arrival."""
    _sizes: dict[str, int] = field(default_factory=lambda: dict.fromkeys(STREAMS, 0))
    _chunks: dict[str, list[bytes]] = field(default_factory=lambda: {name: [] for name in STREAMS})
    _in_memory: int = 0
    _unchecked: int = 0
    _files: dict[str, int] = field(default_factory=dict)
    _lock: int | None = None

    def write(self, stream: str, data: bytes, offset_us: int) -> None:
        """Keep one chunk: on disk as long as that works, then in memory."""
        kept = 0 if self.error or self.folder is None else self._to_disk(stream, data)
        rest = data[kept : kept + max(0, MEMORY_BYTES - self._in_memory)]
        if rest:
            self._chunks[stream].append(rest)
            self._in_memory += len(rest)
        kept += len(rest)
        self.lost_bytes += len(data) - kept
        if kept:
            first = self._sizes[stream]
            self._sizes[stream] = first + kept
            self.interleave.append((stream, first, first + kept, offset_us))

    def _to_disk(self, stream: str, data: bytes) -> int:
        """How much of `data` the disk took; where that is not all, `error` says why."""
        assert self.folder is not None
        written = 0
        try:
            descriptor = self._files.get(stream)
            if descriptor is None:
                flags = os.O_WRONLY | os.O_CREAT | os.O_EXCL
                descriptor = self._files[stream] = os.open(self.folder / stream, flags, FILE_MODE)
            while written < len(data):
                written += os.write(descriptor, data[written:] if written else data)
            self._unchecked += len(data)
            if self._unchecked >= _SPACE_EVERY_BYTES:
                self._unchecked = 0
                self.error = no_space(self.folder)
        except OSError as error:
            self.error = f"{self.folder}: {error.strerror or error}"
        return written

    def read(self, stream: str) -> bytes:
        """Everything of a stream that was kept."""
        on_disk = b"" if self.folder is None else stream_bytes(self.folder, stream)
        return b"".join([on_disk, *self._chunks[stream]]) if self._chunks[stream] else on_disk

    def close(self) -> None:
        """Close the streams; the folder stays ours until `remove` or `leave`."""
        for descriptor in self._files.values():
            os.close(descriptor)
        self._files.clear()

    def remove(self) -> None:
        """Remove the folder: only after its content was published."""
        self.close()
        if self.folder is not None:
            _remove(self.folder)
        self._unlock()

    def leave(self, facts: CaptureFacts) -> Path | None:
        """Leave the folder to whoever starts next, with how the command ended; None where it has not everything."""
        self.close()
        try:
            if self.folder is None or self.error:
                return None
            ended = {
                "exit_code": facts.exit_code,
                "signal": facts.signal,
                "ended_by": facts.ended_by,
                "complete": facts.complete,
                "incomplete_reason": facts.incomplete_reason,
            }
            _write_private(self.folder / _END, json.dumps(ended).encode())
            return self.folder
        except OSError:
            return self.folder
        finally:
            self._unlock()

    def _unlock(self) -> None:
        if self._lock is not None:
            os.close(self._lock)
            self._lock = None


def open_spool(root: Path, state: SpoolState) -> Spool:
    """A spool in the store, or in memory where the store cannot be written; then `error` says why."""
    try:
        folder = private_folder(root, "spool", f"{os.getpid()}-{os.urandom(4).hex()}")
        lack = no_space(folder)
        if lack:
            _remove(folder)
            return Spool(folder=None, error=lack)
        owner = {
            "pid": os.getpid(),
            "process_start": process_start(os.getpid()),
            "argv": list(state.argv),
            "cwd": state.cwd,
            "workspace": state.workspace,
            "started_at": state.started_at,
            "session": state.session,
        }
        beside = folder / f".{_STATE}"
        descriptor = os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
        with suppress(OSError):  # a file system without locks: the process id has to do
            fcntl.flock(descriptor, fcntl.LOCK_EX | fcntl.LOCK_NB)
        os.write(descriptor, json.dumps(owner).encode())
        os.replace(beside, folder / _STATE)
        return Spool(folder=folder, _lock=descriptor)
    except StoreError as error:
        return Spool(folder=None, error=str(error))
    except OSError as error:
        return Spool(folder=None, error=f"store {root}: {error.strerror or error}")


def no_space(folder: Path) -> str:
    """Why nothing more should be written to the device of `folder`, or nothing (S1.10)."""
    found = os.statvfs(folder)
    if found.f_bavail * found.f_frsize >= LEAST_FREE_BYTES:
        return ""
    return f"store {folder.parent.parent}: less than {LEAST_FREE_BYTES >> 20} MiB free"


def stream_bytes(folder: Path, stream: str) -> bytes:
    """What lies in a spool of one stream."""
    try:
        return (folder / stream).read_bytes()
    except FileNotFoundError:
        return b""


def _write_private(path: Path, data: bytes) -> None:
    descriptor = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE)
    with os.fdopen(descriptor, "wb") as file:
        file.write(data)


def process_start(pid: int) -> str:
    """A mark that tells a process from a later one with the same pid; empty where the system does not say."""
    try:
        with open(f"/proc/{pid}/stat", "rb") as file:
            return file.read().rpartition(b")")[2].split()[19].decode()
    except (OSError, IndexError):
        return ""


# Spools of others ---------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Orphan:
    """A spool whose owner is gone, claimed by this process until `release`."""

    folder: Path
    state: SpoolState
    facts: CaptureFacts
    """How the command ended, where its owner lived to see that; else a killed capture."""
    _lock: int

    def size(self) -> int:
        """Bytes of its streams."""
        return sum((self.folder / name).stat().st_size for name in STREAMS if (self.folder / name).exists())

    def remove(self) -> None:
        """Remove it: only after its content was published."""
        _remove(self.folder)
        self.release()

    def release(self) -> None:
        """Let the next one try."""
        if self._lock >= 0:
            os.close(self._lock)
            self._lock = -1


@dataclass(frozen=True, kw_only=True, slots=True)
class Running:
    """A capture whose command still runs (S1.9)."""

    folder: Path
    state: SpoolState


def orphans(root: Path) -> Iterator[Orphan]:
    """Spools that nobody owns any more, in the order of their start; each is claimed while it is looked at."""
    found: list[Orphan] = []
    for folder in _folders(root):
        claimed = _claim(folder)
        if claimed is not None:
            found.append(claimed)
    yield from sorted(found, key=lambda orphan: (orphan.state.started_at, orphan.folder.name))


def has_others(root: Path, own: Path | None = None) -> bool:
    """Whether there is any spool but our own to look at; costs one look into one folder."""
    try:
        with os.scandir(root / "spool") as entries:
            return any(own is None or entry.name != own.name for entry in entries)
    except OSError:
        return False


def running(root: Path) -> list[Running]:
    """Captures that are being written now, in the order of their start."""
    found: list[Running] = []
    for folder in _folders(root):
        read = _read_state(folder)
        if read is not None and _is_owned(folder, read):
            found.append(Running(folder=folder, state=_state(read)))
    return sorted(found, key=lambda capture: (capture.state.started_at, capture.folder.name))


def _folders(root: Path) -> list[Path]:
    try:
        return sorted(Path(entry.path) for entry in os.scandir(root / "spool") if entry.is_dir(follow_symlinks=False))
    except OSError:
        return []


def _claim(folder: Path) -> Orphan | None:
    read = _read_state(folder)
    if read is None:
        # Its owner died before it had begun, unless it is about to begin.
        if not _alive(folder.name.partition("-")[0]):
            with suppress(OSError):
                (folder / f".{_STATE}").unlink(missing_ok=True)
                folder.rmdir()
        return None
    if _owner_lives(read):
        return None
    try:
        lock = os.open(folder / _STATE, os.O_RDONLY)
    except OSError:
        return None
    if not _lock_is_free(lock) or _read_state(folder) is None:
        os.close(lock)
        return None
    state = _state(read)
    return Orphan(folder, state, _facts(folder, state), lock)


def _is_owned(folder: Path, read: dict[str, Any]) -> bool:
    if _owner_lives(read):
        return True
    try:
        lock = os.open(folder / _STATE, os.O_RDONLY)
    except OSError:
        return False
    try:
        return not _lock_is_free(lock)
    finally:
        os.close(lock)


def _lock_is_free(lock: int) -> bool:
    try:
        fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        return False
    except OSError:  # a file system without locks: the process id has to do
        return True
    return True


def _owner_lives(read: dict[str, Any]) -> bool:
    pid = read.get("pid")
    return _alive(str(pid)) and process_start(int(str(pid))) == read.get("process_start")


def _read_state(folder: Path) -> dict[str, Any] | None:
    try:
        read = json.loads((folder / _STATE).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    except (OSError, ValueError):
        return {}
    return read if isinstance(read, dict) else {}


def _state(read: dict[str, Any]) -> SpoolState:
    argv = read.get("argv")
    return SpoolState(
        argv=tuple(str(word) for word in argv) if isinstance(argv, list) else (),
        cwd=str(read.get("cwd", ".")),
        workspace=None if read.get("workspace") is None else str(read["workspace"]),
        started_at=str(read.get("started_at", "")),
        session=None if read.get("session") is None else str(read["session"]),
    )


def _facts(folder: Path, state: SpoolState) -> CaptureFacts:
    try:
        ended = json.loads((folder / _END).read_text(encoding="utf-8"))
        return CaptureFacts(
            argv=state.argv,
            cwd=state.cwd,
            exit_code=None if ended["exit_code"] is None else int(ended["exit_code"]),
            signal=None if ended["signal"] is None else int(ended["signal"]),
            ended_by=str(ended["ended_by"]),
            complete=ended["complete"] is True,
            incomplete_reason=str(ended["incomplete_reason"]),
        )
    except (OSError, ValueError, KeyError, TypeError):
        return CaptureFacts(
            argv=state.argv, cwd=state.cwd, ended_by="unknown", complete=False, incomplete_reason="killed"
        )


def _alive(pid: str) -> bool:
    try:
        os.kill(int(pid), 0)
    except (ProcessLookupError, ValueError, OverflowError):
        return False
    except PermissionError:
        return True
    return True


def _remove(folder: Path) -> None:
    """Take a spool away: a flat folder of our own files; what cannot go stays for the next start."""
    with suppress(OSError):
        for entry in os.scandir(folder):
            os.unlink(entry.path)
        os.rmdir(folder)
