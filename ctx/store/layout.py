"""Where a store lies and what its folders are (S2.1, S2.2).

blobs/<2 hex>/<64 hex>[.zst]     content by SHA-256 of the raw bytes
manifests/<2 hex>/<capture>.json one capture each: the truth
tombstones/<capture>.json        captures that were removed
catalog.sqlite                   an index, rebuilt from the manifests when missing or damaged
spool/  lost+found/
"""

import os
import stat
import sys
from collections.abc import Mapping
from pathlib import Path

from ctx.errors import StoreError

FOLDER_MODE = 0o700
FILE_MODE = 0o600


def default_location(environment: Mapping[str, str]) -> Path:
    """`$CTX_STORE`, else `$XDG_STATE_HOME/ctx`, else the platform's state folder."""
    if environment.get("CTX_STORE"):
        return Path(environment["CTX_STORE"])
    if environment.get("XDG_STATE_HOME"):
        return Path(environment["XDG_STATE_HOME"]) / "ctx"
    home = Path(environment.get("HOME") or os.path.expanduser("~"))
    if sys.platform == "darwin":
        return home / "Library" / "Application Support" / "ctx"
    return home / ".local" / "state" / "ctx"


def private_folder(path: Path) -> Path:
    """`path` as a folder of this user alone, made where it is missing.

    Raises:
        StoreError: A link or another user's folder stands in its place, or it cannot be made.
    """
    try:
        for folder in (*reversed(path.parents), path):
            if not folder.exists():
                folder.mkdir(mode=FOLDER_MODE, exist_ok=True)
        found = path.lstat()
    except OSError as error:
        raise StoreError(f"store {path}: {error.strerror or error}; choose another with --store or CTX_STORE") from None
    if stat.S_ISLNK(found.st_mode) or not stat.S_ISDIR(found.st_mode):
        raise StoreError(f"store {path}: a link or file stands in its place; remove it or choose another store")
    if found.st_uid != os.geteuid():
        raise StoreError(f"store {path}: belongs to another user; choose another with --store or CTX_STORE")
    if found.st_mode & 0o077:
        os.chmod(path, FOLDER_MODE)
    return path


def write_atomically(path: Path, data: bytes) -> None:
    """`data` under `path`: written beside, flushed, renamed, the folder flushed; a failure leaves no name behind."""
    folder = private_folder(path.parent)
    temporary = folder / f".{path.name}.{os.getpid()}.{os.urandom(4).hex()}"
    try:
        descriptor = os.open(temporary, os.O_WRONLY | os.O_CREAT | os.O_EXCL | getattr(os, "O_NOFOLLOW", 0), FILE_MODE)
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.replace(temporary, path)
        flush_folder(folder)
    except OSError as error:
        temporary.unlink(missing_ok=True)
        raise StoreError(f"store {path}: {error.strerror or error}") from None


def flush_folder(folder: Path) -> None:
    """Make a rename in `folder` durable."""
    descriptor = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)
