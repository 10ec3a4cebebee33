"""A disk that is full, read-only or not there costs addresses, and never output, digest or status (S1.10, S2.7)."""

import os
from contextlib import ExitStack
from pathlib import Path

import pytest

from ctx.capture import spool as spools
from ctx.capture.spool import SpoolState, open_spool
from tests.ctx.shell import Shell, files_of_at_most, flood, mounted_read_only, obeys_permissions, small_disk

NEEDLE = b"FAIL keel_test.c:81 depth 11.2 < 12.0\n"
OUTPUT = flood(500) + NEEDLE + flood(400)
STATE = SpoolState(argv=("x",), cwd=".", workspace=None, started_at="")


def rough_place(shell: Shell, place: str, undo: ExitStack) -> dict[str, object]:
    """Arguments under which the store of `shell` cannot take a copy."""
    if place == "a small disk":
        shell.env["CTX_STORE"] = str(undo.enter_context(small_disk(shell.folder / "disk", "2m")))
    elif place == "a disk mounted read-only":
        disk = undo.enter_context(small_disk(shell.folder / "disk", "64m"))
        shell.env["CTX_STORE"] = str(disk)
        assert shell.ctx("run", "--", "true").returncode == 0
        undo.enter_context(mounted_read_only(disk))
    elif place == "a disk that fills up":
        return {"before": files_of_at_most(8 << 10)}
    elif place == "a read-only folder":
        shell.store.mkdir(mode=0o500)
        return {"before": obeys_permissions}
    elif place == "a read-only home":
        home = shell.folder / "home"
        home.mkdir(mode=0o500)
        del shell.env["CTX_STORE"]
        shell.env.pop("XDG_STATE_HOME", None)
        return {"before": obeys_permissions, "HOME": str(home)}
    elif place == "a file in its place":
        shell.store.write_bytes(b"a file")
    elif place == "a link in its place":
        (shell.folder / "elsewhere").mkdir()
        shell.store.symlink_to(shell.folder / "elsewhere")
    return {}


@pytest.mark.parametrize("raw", [False, True])
@pytest.mark.parametrize(
    "place",
    [
        "a small disk",
        "a disk mounted read-only",
        "a disk that fills up",
        "a read-only folder",
        "a read-only home",
        "a file in its place",
        "a link in its place",
    ],
)
def test_the_command_reaches_its_reader_from_a_rough_place(shell: Shell, place: str, raw: bool) -> None:
    """S19.41, S19.42: output, status and needle as ever; no address; one line that says why; never called complete."""
    shell.file("text", OUTPUT)
    with ExitStack() as undo:
        extra = rough_place(shell, place, undo)
        words = ["run", "--raw"] if raw else ["run"]
        done = shell.ctx(*words, "--", "sh", "-c", "cat text; exit 2", **extra)  # type: ignore[arg-type]
    assert done.returncode == 2
    assert done.stderr.count(b"\n") == 1, done.stderr
    assert done.stderr.startswith(b"ctx run: not stored: ")
    if raw:
        assert done.stdout == OUTPUT
        return
    assert NEEDLE.strip() in done.stdout
    assert b"not stored: omitted text cannot be retrieved" in done.stdout
    assert b"rerun: " in done.stdout
    assert b"#stdout" not in done.stdout
    assert b"PARTIAL" not in done.stdout


def test_the_same_facts_with_and_without_a_store(shell: Shell) -> None:
    """S2.7: facts, counts and identities of the digest are the same."""
    shell.file("text", OUTPUT)
    stored = shell.ctx("run", "--json", "--", "sh", "-c", "cat text; exit 2")
    unstored = shell.ctx("run", "--json", "--", "sh", "-c", "cat text; exit 2", CTX_STORE=shell.file("file", b""))
    import json

    first, second = json.loads(stored.stdout), json.loads(unstored.stdout)
    for key in ("handle", "family", "profile", "outcome", "aggregate", "coverage", "raw_tokens"):
        assert first[key] == second[key], key
    assert second["addresses"] == []


def test_no_failure_of_the_store_is_remembered(shell: Shell) -> None:
    """S2.7, S19.41: the next command tries the configured store again, and what was left in the spool is taken up."""
    shell.file("text", OUTPUT)
    done = shell.ctx("run", "--", "sh", "-c", "cat text; exit 2", before=files_of_at_most(8 << 10))
    assert b"not stored" in done.stdout
    again = shell.ctx("run", "--", "sh", "-c", "cat text; exit 2")
    assert b"not stored" not in again.stdout
    assert b"#stdout --lines" in again.stdout
    assert again.stderr == b""


def test_the_place_of_the_bytes_is_named_where_a_spool_holds_them(shell: Shell) -> None:
    """S2.7; a later start makes a capture of them, with the status that the command had."""
    shell.file("text", OUTPUT)
    manifests = shell.store / "manifests"
    shell.store.mkdir(mode=0o700)
    manifests.write_bytes(b"a file where a folder should be")
    done = shell.ctx("run", "--", "sh", "-c", "cat text; exit 2")
    (spool,) = shell.spools()
    assert f"its bytes lie in {spool}".encode() in done.stderr
    assert (spool / "stdout").read_bytes() == OUTPUT
    manifests.unlink()
    stats = shell.stats()
    assert (stats["exit_code"], stats["complete"]) == (2, True)
    assert shell.bytes_of("run:last#stdout") == OUTPUT
    assert shell.spools() == []


@pytest.mark.parametrize("words", [["--raw"], ["--digest"], ["--json"]])
def test_a_standard_output_that_takes_nothing_is_named_and_the_copy_is_whole(shell: Shell, words: list[str]) -> None:
    """A redirect to a full disk is the user's; the status stays the command's."""
    shell.file("text", OUTPUT)
    done = shell.line(f"ctx run {' '.join(words)} -- sh -c 'cat text; exit 2' > /dev/full; echo $?")
    assert done.stdout == b"2\n"
    assert done.stderr.count(b"\n") == 1, done.stderr
    assert b"No space left on device" in done.stderr
    assert shell.bytes_of("run:last#stdout") == OUTPUT


# The spool itself ---------------------------------------------------------------------------------------------------


def test_a_spool_goes_on_in_memory_where_its_disk_stops(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S1.10: a short write is no loss: what the disk did not take is in memory, in order, each byte once."""
    spool = open_spool(tmp_path / "store", STATE)
    real = os.write
    taken = 0

    def full_after_ten(descriptor: int, data: bytes) -> int:
        nonlocal taken
        if taken >= 10:
            raise OSError(28, "No space left on device")
        taken += (size := real(descriptor, bytes(data)[: min(7, 10 - taken)]))
        return size

    monkeypatch.setattr("ctx.capture.spool.os.write", full_after_ten)
    for number, piece in enumerate((b"abcdefgh", b"ijklmnop", b"qr")):
        spool.write("stdout", piece, number)
    monkeypatch.undo()
    assert spool.error.endswith("No space left on device")
    assert spool.read("stdout") == b"abcdefghijklmnopqr"
    assert spool.interleave == [("stdout", 0, 8, 0), ("stdout", 8, 16, 1), ("stdout", 16, 18, 2)]
    assert spool.lost_bytes == 0
    spool.remove()


def test_what_neither_disk_nor_memory_takes_is_counted(monkeypatch: pytest.MonkeyPatch) -> None:
    """S1.10: never complete."""
    monkeypatch.setattr(spools, "MEMORY_BYTES", 10)
    spool = spools.Spool(folder=None, error="no disk")
    spool.write("stdout", b"12345678", 0)
    spool.write("stderr", b"12345678", 1)
    assert (spool.read("stdout"), spool.read("stderr")) == (b"12345678", b"12")
    assert spool.lost_bytes == 6
    assert spool.interleave == [("stdout", 0, 8, 0), ("stderr", 0, 2, 1)]


def test_a_disk_is_not_filled_to_the_brim(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S1.10: below 16 MiB the spool leaves the rest of the device to others."""
    monkeypatch.setattr(spools, "_SPACE_EVERY_BYTES", 100)
    spool = open_spool(tmp_path / "store", STATE)
    monkeypatch.setattr(spools, "no_space", lambda folder: "less than 16 MiB free")
    spool.write("stdout", b"x" * 150, 0)
    spool.write("stdout", b"y" * 150, 1)
    assert spool.error == "less than 16 MiB free"
    assert (spool.folder or tmp_path).joinpath("stdout").read_bytes() == b"x" * 150
    assert spool.read("stdout") == b"x" * 150 + b"y" * 150
    spool.remove()
