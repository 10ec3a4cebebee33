"""Content-addressed blobs: named by the SHA-256 of their raw bytes, written atomically, verified on read (S2.3, S2.5).

Small blobs lie as they are; from 64 KiB they are compressed (`.zst`). The name is of the raw bytes, so the way they lie
may change without a name changing. What was verified once in a process is not hashed again.
"""

import os
from collections.abc import Iterator
from hashlib import sha256
from pathlib import Path
from typing import Any

from ctx.errors import DamagedError, StoreError, UnknownError
from ctx.store.layout import private_folder, write_atomically, write_pieces_atomically

COMPRESS_FROM = 64 << 10
EMPTY = sha256(b"").hexdigest()
"""The empty blob is known, not stored."""
LEAST_FREE_BYTES = 1 << 20
_LEVEL = 1
_CHUNK = 8 << 20


class Blobs:
    """The blobs of one store."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._verified: set[str] = set()

    def put(self, data: bytes, digest: str | None = None) -> str:
        """Keep `data`; its digest, 64 hex digits. Content that is there and intact is not written again.

        Raises:
            StoreError: It could not be written; no name is left behind.
        """
        if not data:
            return EMPTY
        name = digest or sha256(data).hexdigest()
        existing = self._path(name)
        if existing is not None and self._intact(name, existing, len(data)):
            return name
        plain = private_folder(self.root.parent, self.root.name, name[:2]) / name
        if len(data) < COMPRESS_FROM:
            write_atomically(plain, data)
            if existing is not None and existing != plain:
                existing.unlink(missing_ok=True)
            return name
        self._check_space(len(data) // 4)
        target = plain.with_name(name + ".zst")
        write_pieces_atomically(target, _compressed(data))
        if existing is not None and existing != target:
            existing.unlink(missing_ok=True)
        return name

    def get(self, digest: str) -> bytes:
        """The raw bytes.

        Raises:
            UnknownError: No such blob.
            DamagedError: The stored bytes are not what the name says; capturing the content again repairs it.
        """
        if digest == EMPTY:
            return b""
        path = self._path(digest)
        if path is None:
            raise UnknownError(f"blob:{digest}: not in this store")
        data = self._raw(digest, path)
        if digest not in self._verified:
            if sha256(data).hexdigest() != digest:
                raise DamagedError(f"blob:{digest}: its bytes on disk are damaged; capture the same command again")
            self._verified.add(digest)
        return data

    def complete(self, prefix: str) -> list[str]:
        """Digests that begin with `prefix` (6 hex digits or more), sorted."""
        known = {EMPTY} if EMPTY.startswith(prefix) else set()
        folder = self.root / prefix[:2]
        if not folder.is_dir():
            return sorted(known)
        names = {entry.name.removesuffix(".zst") for entry in os.scandir(folder) if not entry.name.startswith(".")}
        return sorted(name for name in names | known if name.startswith(prefix))

    def _path(self, digest: str) -> Path | None:
        plain = self.root / digest[:2] / digest
        for path in (plain, plain.with_name(digest + ".zst")):
            if path.is_file() and not path.is_symlink():
                return path
        return None

    def _raw(self, digest: str, path: Path) -> bytes:
        try:
            stored = path.read_bytes()
            return _decompressed(stored) if path.suffix == ".zst" else stored
        except OSError as error:
            raise StoreError(f"blob:{digest}: {error.strerror or error}") from None
        except Exception as error:  # the compression library has an exception class of its own in each version
            raise DamagedError(f"blob:{digest}: its bytes on disk are damaged ({error}); capture it again") from None

    def _intact(self, digest: str, path: Path, size: int) -> bool:
        if digest in self._verified:
            return True
        hasher, seen = sha256(), 0
        try:
            for piece in _pieces(path):
                hasher.update(piece)
                seen += len(piece)
                if seen > size:
                    return False
        except Exception:  # whatever is wrong with it, it is not the content
            return False
        if seen == size and hasher.hexdigest() == digest:
            self._verified.add(digest)
            return True
        return False

    def _check_space(self, wanted: int) -> None:
        try:
            found = os.statvfs(self.root)
        except (OSError, AttributeError):
            return
        if found.f_bavail * found.f_frsize < wanted + LEAST_FREE_BYTES:
            raise StoreError(f"store {self.root}: no space left for {wanted:,} bytes")


def _zstd() -> Any:
    """The compression library under its name of this Python version, loaded when first needed."""
    import sys

    if sys.version_info >= (3, 14):
        from compression import zstd
    else:
        from backports import zstd
    return zstd


def _compressed(data: bytes) -> Iterator[bytes]:
    compressor = _zstd().ZstdCompressor(level=_LEVEL)
    view = memoryview(data)
    for start in range(0, len(data), _CHUNK):
        yield compressor.compress(view[start : start + _CHUNK])
    yield compressor.flush()


def _pieces(path: Path) -> Iterator[bytes]:
    """The raw bytes of a stored blob, piece by piece: verifying one takes no memory of its size."""
    with path.open("rb") as file:
        if path.suffix != ".zst":
            while piece := file.read(_CHUNK):
                yield piece
            return
        decompressor = _zstd().ZstdDecompressor()
        while not decompressor.eof:
            stored = file.read(_CHUNK) if decompressor.needs_input else b""
            if decompressor.needs_input and not stored:
                raise EOFError("the compressed frame is cut")
            yield decompressor.decompress(stored, max_length=_CHUNK)
        if decompressor.unused_data or file.read(1):
            raise EOFError("something follows the compressed frame")


def _decompressed(stored: bytes) -> bytes:
    data: bytes = _zstd().decompress(stored)
    return data
