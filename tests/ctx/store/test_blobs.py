"""Blobs: named by what they hold, whole or not there, verified when read (S2.3, S2.5, S2.8, S19.39)."""

import os
from hashlib import sha256
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx.errors import DamagedError, StoreError, UnknownError
from ctx.store.blobs import COMPRESS_FROM, EMPTY, Blobs
from tests.ctx.shell import small_disk

LARGE = b"".join(b"%d bottles on the wall\n" % n for n in range(9000))
assert len(LARGE) > COMPRESS_FROM


@pytest.fixture
def root(tmp_path: Path) -> Path:
    return tmp_path / "store" / "blobs"


def files(root: Path) -> list[Path]:
    return sorted(path for path in root.rglob("*") if path.is_file())


@given(st.binary(max_size=2000), st.sampled_from([0, COMPRESS_FROM]))
def test_what_is_put_is_got_under_the_digest_of_its_raw_bytes(tmp_path_factory, data: bytes, pad: int) -> None:  # type: ignore[no-untyped-def]
    """S2.3: the name is of the raw bytes, however they lie."""
    root = tmp_path_factory.mktemp("blobs") / "store" / "blobs"
    data += b"\x00" * pad
    name = Blobs(root).put(data)
    assert name == sha256(data).hexdigest()
    assert Blobs(root).get(name) == data


def test_from_64_kib_on_a_blob_is_compressed_with_zstandard(root: Path) -> None:
    blobs = Blobs(root)
    small, large = blobs.put(b"x" * (COMPRESS_FROM - 1)), blobs.put(LARGE)
    assert (root / small[:2] / small).read_bytes() == b"x" * (COMPRESS_FROM - 1)
    stored = (root / large[:2] / f"{large}.zst").read_bytes()
    assert stored[:4] == bytes.fromhex("28b52ffd"), "the magic number of RFC 8878"
    assert len(stored) < len(LARGE) / 2


def test_the_empty_blob_is_known_and_not_stored(root: Path) -> None:
    assert Blobs(root).put(b"") == EMPTY == sha256().hexdigest()
    assert not root.exists()
    assert Blobs(root).get(EMPTY) == b""
    assert Blobs(root).complete("e3b0c4") == [EMPTY]


def test_a_blob_is_private_and_nothing_else_is_left_beside_it(root: Path) -> None:
    """S2.2."""
    previous = os.umask(0)
    try:
        Blobs(root).put(b"secret")
        Blobs(root).put(LARGE)
    finally:
        os.umask(previous)
    assert len(files(root)) == 2
    assert {path.stat().st_mode & 0o777 for path in files(root)} == {0o600}
    assert {path.stat().st_mode & 0o777 for path in root.parent.rglob("*") if path.is_dir()} == {0o700}


@pytest.mark.parametrize("data", [b"a small one\n", LARGE])
@pytest.mark.parametrize("damage", ["flipped", "cut", "emptied", "longer"])
def test_a_damaged_blob_is_named_and_repaired_by_the_same_content(root: Path, data: bytes, damage: str) -> None:
    """S2.5, S19.39."""
    name = Blobs(root).put(data)
    (path,) = files(root)
    stored = bytearray(path.read_bytes())
    if damage == "flipped":
        stored[len(stored) // 2] ^= 1
    elif damage == "cut":
        del stored[len(stored) // 2 :]
    elif damage == "emptied":
        stored.clear()
    else:
        stored += b"more"
    path.write_bytes(bytes(stored))
    with pytest.raises(DamagedError, match=f"blob:{name}: its bytes on disk are damaged"):
        Blobs(root).get(name)
    assert Blobs(root).put(data) == name
    assert Blobs(root).get(name) == data


def test_content_that_is_there_is_not_written_again(root: Path) -> None:
    name = Blobs(root).put(b"once")
    before = (root / name[:2] / name).stat()
    Blobs(root).put(b"once")
    after = (root / name[:2] / name).stat()
    assert (before.st_ino, before.st_mtime_ns) == (after.st_ino, after.st_mtime_ns)


def test_a_link_in_the_place_of_a_blob_is_not_followed(root: Path, tmp_path: Path) -> None:
    """What is written goes into the store, never through a planted link."""
    outside = tmp_path / "outside"
    outside.write_bytes(b"other")
    name = sha256(b"mine").hexdigest()
    (root / name[:2]).mkdir(parents=True, mode=0o700)
    (root / name[:2] / name).symlink_to(outside)
    with pytest.raises(UnknownError):
        Blobs(root).get(name)
    Blobs(root).put(b"mine")
    assert outside.read_bytes() == b"other"
    assert Blobs(root).get(name) == b"mine"


@pytest.mark.parametrize("step", ["write", "fsync", "replace"])
@pytest.mark.parametrize("data", [b"a small one\n", LARGE])
def test_a_write_that_fails_half_way_leaves_no_name_behind(
    root: Path, data: bytes, step: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S2.8."""

    def fails(*_: object, **__: object) -> None:
        raise OSError(28, "No space left on device")

    if step == "write":
        monkeypatch.setattr("ctx.store.layout.os.fdopen", fails)
    else:
        monkeypatch.setattr(f"ctx.store.layout.os.{step}", fails)
    with pytest.raises(StoreError, match="No space left on device"):
        Blobs(root).put(data)
    monkeypatch.undo()
    assert files(root) == []


def test_free_space_is_checked_before_a_large_blob_is_written(tmp_path: Path) -> None:
    """S2.8: compressed or not, what will not fit is not begun."""
    with small_disk(tmp_path / "disk", "1500k") as disk, pytest.raises(StoreError, match="space"):
        Blobs(disk / "store" / "blobs").put(os.urandom(3 << 20))


def test_a_full_disk_leaves_no_half_blob(tmp_path: Path) -> None:
    """S2.8: free space is never trusted afterwards: what does not compress meets the end of the disk itself."""
    with small_disk(tmp_path / "disk", "2m") as disk:
        root = disk / "store" / "blobs"
        with pytest.raises(StoreError, match="No space left"):
            Blobs(root).put(os.urandom(3 << 20))
        assert files(root) == []
        assert Blobs(root).put(b"a small one still fits")


def test_digests_are_completed_from_six_digits(root: Path) -> None:
    blobs = Blobs(root)
    name = blobs.put(b"abc")
    assert blobs.complete(name[:6]) == [name]
    assert blobs.complete(blobs.put(LARGE)[:10]) == [sha256(LARGE).hexdigest()]
    assert blobs.complete("0" * 12) == []
