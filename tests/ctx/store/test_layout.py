"""Where a store lies, and that nobody else reads it or leads it astray (S2.1, S2.2)."""

import os
import stat
from pathlib import Path

import pytest

from ctx.errors import StoreError, UsageError
from ctx.store import Store
from ctx.store.layout import append_line, default_location, private_folder
from tests.ctx.shell import Shell, flood
from tests.ctx.store.captures import opened, published

ROOT_ONLY = pytest.mark.skipif(os.geteuid() != 0, reason="giving files away needs a superuser")


@pytest.mark.parametrize(
    ("environment", "expected"),
    [
        ({"CTX_STORE": "/a/b", "XDG_STATE_HOME": "/x", "HOME": "/h"}, "/a/b"),
        ({"XDG_STATE_HOME": "/x", "HOME": "/h"}, "/x/ctx"),
        ({"XDG_STATE_HOME": "relative", "HOME": "/h"}, "/h/.local/state/ctx"),
        ({"CTX_STORE": "", "XDG_STATE_HOME": "", "HOME": "/h"}, "/h/.local/state/ctx"),
    ],
)
def test_the_store_lies_where_the_environment_says(environment: dict[str, str], expected: str) -> None:
    """S2.1; a relative XDG folder is to be ignored, says its specification."""
    assert default_location(environment) == Path(expected)


def test_an_empty_name_is_no_store() -> None:
    with pytest.raises(UsageError, match="empty"):
        Store("")


def test_everything_in_a_store_is_private_from_its_creation(shell: Shell) -> None:
    """S2.2, field case of copies for everybody: with the widest mask, side files of the database included."""
    import sqlite3

    shell.file("text", flood(3000))
    shell.ctx(
        "run", "--", "sh", "-c", "cat text; echo GATE_PASSWORD=blue-heron-77 >&2", before=lambda: os.umask(0) and None
    )
    shell.ctx("stats", before=lambda: os.umask(0) and None)
    held = sqlite3.connect(shell.store / "catalog.sqlite")
    held.execute("select count(*) from capture").fetchall()  # keeps the side files alive
    shell.ctx("run", "--", "echo", "more", before=lambda: os.umask(0) and None)
    shell.ctx("get", "run:last", before=lambda: os.umask(0) and None)
    shell.ctx("get", "run:last#stdout", "--lines", "1:1", before=lambda: os.umask(0) and None)
    names = {path.name for path in shell.store.iterdir()}
    assert {"catalog.sqlite", "catalog.sqlite-wal", "catalog.sqlite-shm", "fetched.list", "blobs", "manifests"} <= names
    for path in (shell.store, *shell.store.rglob("*")):
        mode = path.lstat().st_mode
        assert stat.S_IMODE(mode) == (0o700 if stat.S_ISDIR(mode) else 0o600), path
    held.close()


@pytest.mark.parametrize("name", ["", "blobs", "manifests"])
def test_a_link_in_the_place_of_a_folder_is_refused(tmp_path: Path, name: str) -> None:
    """S2.2: nothing is written through it."""
    store, _ = opened(tmp_path)
    elsewhere = tmp_path / "elsewhere"
    elsewhere.mkdir()
    place = store.root / name
    place.parent.mkdir(parents=True, exist_ok=True, mode=0o700)
    place.symlink_to(elsewhere)
    with pytest.raises(StoreError, match="a link or file stands in its place"):
        published(store, b"one\n")
    assert list(elsewhere.iterdir()) == []


@ROOT_ONLY
@pytest.mark.parametrize("name", ["", "blobs", "manifests"])
def test_a_folder_of_somebody_else_is_refused(tmp_path: Path, name: str) -> None:
    """S2.2."""
    store, _ = opened(tmp_path)
    place = store.root / name
    place.mkdir(parents=True, mode=0o700)
    os.chown(place, 12345, 12345)
    with pytest.raises(StoreError, match="belongs to another user"):
        published(store, b"one\n")


@ROOT_ONLY
def test_a_store_of_somebody_else_is_not_read_either(shell: Shell) -> None:
    """S2.2: its answers could be anybody's."""
    document = shell.ingest(b"one\n")
    os.chown(shell.store, 12345, 12345)
    done = shell.ctx("get", f"run:{document['handle']}")
    assert (done.returncode, done.stdout) == (3, b"")
    assert b"belongs to another user" in done.stderr


def test_a_store_that_was_opened_up_is_closed_again(tmp_path: Path) -> None:
    """S2.2: a copy made without its modes."""
    store, _ = opened(tmp_path)
    published(store, b"one\n")
    for path in (store.root, store.root / "blobs", store.root / "manifests"):
        path.chmod(0o755)
    published(store, b"two\n")
    assert {path.stat().st_mode & 0o777 for path in (store.root, store.root / "blobs", store.root / "manifests")} == {
        0o700
    }


def test_a_folder_that_holds_other_things_keeps_its_mode(tmp_path: Path) -> None:
    """`--store .` in a workspace must not lock the rest of the team out of it; our own folders in it are private."""
    (tmp_path / "README").write_text("a project")
    tmp_path.chmod(0o755)
    published(Store(tmp_path), b"one\n")
    published(Store(tmp_path), b"two\n")
    assert tmp_path.stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "blobs").stat().st_mode & 0o777 == 0o700


def test_a_folder_where_everybody_writes_is_refused(tmp_path: Path) -> None:
    """`--store /tmp`: others could put their folders in the place of ours, and its mode is not ours to change."""
    (tmp_path / "of somebody else").write_text("")
    tmp_path.chmod(0o1777)
    with pytest.raises(StoreError, match="others may write to this folder"):
        published(Store(tmp_path), b"one\n")
    assert tmp_path.stat().st_mode & 0o7777 == 0o1777


def test_asking_makes_no_store(shell: Shell) -> None:
    """A question leaves nothing behind where there was nothing."""
    for words in (["get", "run:0123456789ab"], ["search", "run:last", "x"], ["stats"], ["stats", "run:last"]):
        shell.ctx(*words)
    assert not shell.store.exists()


def test_a_line_that_was_written_as_its_file_was_taken_along_is_written_again(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A reader renames the list between our opening and our writing, reads it, and is done: the line is in the new
    list, so the next reader finds it."""
    private_folder(tmp_path / "store")
    path = tmp_path / "store" / "list"
    append_line(path, "first")
    real, read = os.write, []

    def taken_along(descriptor: int, data: bytes) -> int:
        if not read:
            path.rename(path.with_name("taken"))
            read.extend(path.with_name("taken").read_text().split())
        return real(descriptor, data)

    monkeypatch.setattr("ctx.store.layout.os.write", taken_along)
    append_line(path, "second")
    assert read == ["first"]
    assert path.read_text().split() == ["second"]


def test_half_a_line_does_not_swallow_the_next_one(tmp_path: Path) -> None:
    """What a full disk cut off stands alone."""
    private_folder(tmp_path / "store")
    path = tmp_path / "store" / "list"
    path.write_text("\nwhole\n\nhal")
    append_line(path, "next")
    assert path.read_text().split() == ["whole", "hal", "next"]
