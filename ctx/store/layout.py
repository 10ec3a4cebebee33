"""Where a store lies and what its folders are (S2.1, S2.2).

blobs/<2 hex>/<64 hex>[.zst]     content by SHA-256 of the raw bytes
manifests/<2 hex>/<capture>.json one capture each: the truth
spans/<2 hex>/<64 hex>           regions that retrievals named, one file a handle
fetched.list                     what readers fetched later, one line each
tombstones/<capture>.json        captures that were removed
catalog.sqlite                   an index, rebuilt from the manifests when missing or damaged
catalog.announced[.*]            ids of manifests that wait to be indexed
spool/  lost+found/
"""

import os
import stat
import sys
from collections.abc import Iterable, Mapping
from contextlib import suppress
from pathlib import Path

from ctx.errors import StoreError

FOLDER_MODE = 0o700
FILE_MODE = 0o600
ANNOUNCED = "catalog.announced"
"""List of published manifests that wait to be indexed; see `ctx.store.catalog`."""
_FOLDERS = frozenset({"blobs", "manifests", "spans", "tombstones", "spool", "lost+found"})
_FILES = ("catalog.", "facts.", "fetched.")
_ADVICE = "choose another with --store or CTX_STORE"


def default_location(environment: Mapping[str, str]) -> Path:
    """`$CTX_STORE`, else `$XDG_STATE_HOME/ctx` where that is absolute, else the platform's state folder."""
    if environment.get("CTX_STORE"):
        return Path(environment["CTX_STORE"])
    if environment.get("XDG_STATE_HOME", "").startswith("/"):
        return Path(environment["XDG_STATE_HOME"]) / "ctx"
    home = Path(environment.get("HOME") or os.path.expanduser("~"))
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "ctx"
    return home / ".local" / "state" / "ctx"


def private_folder(root: Path, *names: str) -> Path:
    """The folder `names` of the store at `root`, and every folder on the way to it, of this user alone.

    Missing folders are made. A folder of the store that others may enter is closed to them; a folder that holds other
    things than a store keeps its mode, because it is not ours, and is refused where others may write to it.

    Raises:
        StoreError: A link or another user's folder stands in the place of one of them, or it cannot be made.
    """
    try:
        for folder in (*reversed(root.parents), root):
            if not folder.exists():
                folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
        loose = _owned(root)
        if loose and _holds_a_store_only(root):
            os.chmod(root, FOLDER_MODE)
        elif loose & 0o022:
            raise StoreError(f"store {root}: others may write to this folder, and it holds other things; {_ADVICE}")
        path = root
        for name in names:
            path = path / name
            with suppress(FileExistsError):
                path.mkdir(mode=FOLDER_MODE)
            if _owned(path):
                os.chmod(path, FOLDER_MODE)
    except OSError as error:
        where = error.filename or root
        raise StoreError(f"store {where}: {error.strerror or error}; {_ADVICE}") from None
    return path


def _owned(folder: Path) -> int:
    """What others may do with a folder of ours (mode bits); a link, a file or somebody else's folder is refused."""
    found = folder.lstat()
    if stat.S_ISLNK(found.st_mode) or not stat.S_ISDIR(found.st_mode):
        raise StoreError(f"store {folder}: a link or file stands in its place; remove it or {_ADVICE}")
    if found.st_uid != os.geteuid():
        raise StoreError(f"store {folder}: belongs to another user; {_ADVICE}")
    return found.st_mode & 0o077


def _holds_a_store_only(root: Path) -> bool:
    return all(name in _FOLDERS or name.startswith(_FILES) for name in os.listdir(root))


def write_atomically(path: Path, data: bytes) -> None:
    """`data` under `path`: written beside, flushed, renamed, the folder flushed; a failure leaves no name behind.

    Its folder must be there: see `private_folder`.
    """
    write_pieces_atomically(path, [data])


def write_pieces_atomically(path: Path, pieces: Iterable[bytes]) -> None:
    """The same for content that comes in pieces."""
    temporary = path.with_name(f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}")
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), FILE_MODE)
        with os.fdopen(descriptor, "wb") as file:
            for piece in pieces:
                file.write(piece)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        flush_folder(path.parent)
    except BaseException as error:
        # On a read-only file system even removing what was never made is an error.
        with suppress(OSError):
            temporary.unlink(missing_ok=True)
        if isinstance(error, OSError):
            raise StoreError(f"store {path}: {error.strerror or error}") from None
        raise


def append_line(path: Path, line: str) -> None:
    """One line at the end of a file that many processes append to; it is whole or it counts for nothing.

    The line begins with a line end of its own, so what a writer left half-written when its disk was full never joins
    it. A reader may take the file along by renaming it; a line that was written after that may have come too late to
    be read, so it is written again, to the new file. Readers bear a line that stands twice.

    Raises:
        StoreError: It could not be written whole.
    """
    data = f"\n{line}\n".encode()
    try:
        there = False
        while not there:
            flags = os.O_WRONLY | os.O_CREAT | os.O_APPEND | getattr(os, "O_NOFOLLOW", 0)
            descriptor = os.open(path, flags, FILE_MODE)
            try:
                if os.write(descriptor, data) != len(data):
                    raise StoreError(f"store {path}: no space left for another line")
                there = _is_at(descriptor, path)
            finally:
                os.close(descriptor)
    except OSError as error:
        raise StoreError(f"store {path}: {error.strerror or error}") from None


def _is_at(descriptor: int, path: Path) -> bool:
    try:
        return os.path.samestat(os.fstat(descriptor), os.stat(path))
    except FileNotFoundError:
        return False


def flush_folder(folder: Path) -> None:
    """Make a rename in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
