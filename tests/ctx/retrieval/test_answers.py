"""Expired, unknown, refused, empty: four answers; a malformed address is a fifth (S8.11, S19.47, S19.48, S19.50)."""

import json
import os
from pathlib import Path

import pytest

from tests.ctx.shell import Shell, flood


def test_expired_unknown_refused_and_empty_are_four_answers(shell: Shell) -> None:
    """S8.11, S19.50: status, one line on stderr, and nothing on stdout that could be taken for the text."""
    document = shell.ingest(b"", "--exit-code", "0", stderr=b"warn: old lock\n")
    (shell.store / "tombstones").mkdir()
    stone = {"handle": "9" * 64, "argv": ["make", "all"], "removed_at": "2026-01-02T03:04:05.678Z", "reason": "age"}
    (shell.store / "tombstones" / "one.json").write_text(json.dumps(stone))
    expired = shell.ctx("get", "run:999999999999#stdout")
    unknown = shell.ctx("get", "run:888888888888#stdout")
    refused = shell.ctx("get", "repo:.git/config")
    empty = shell.ctx("get", f"run:{document['handle']}#stdout")
    assert [done.returncode for done in (expired, unknown, refused, empty)] == [1, 1, 1, 0]
    assert [done.stdout for done in (expired, unknown, refused, empty)] == [b""] * 4
    assert b"removed at 2026-01-02T03:04:05.678Z (age); get it again with: ctx run -- make all" in expired.stderr
    assert b"never in this store; nearest: run:" in unknown.stderr
    assert b"refused by the deny rule .git/**" in refused.stderr
    assert b"empty: 0 lines" in empty.stderr
    assert all(done.stderr.count(b"\n") == 1 for done in (expired, unknown, refused, empty))
    assert shell.ctx("get", f"run:{document['handle']}#stderr").stdout == b"warn: old lock\n"
    assert shell.ctx("get", f"run:{document['handle']}#stdout", "--lines", "1:5").returncode == 0


def test_nothing_is_an_answer(shell: Shell) -> None:
    """Field case: a command that prints nothing has an empty text, which is there."""
    assert shell.ctx("run", "--", "true").stdout == b""
    done = shell.ctx("get", "run:last#stdout")
    assert (done.returncode, done.stdout) == (0, b"")
    assert b"empty: 0 lines" in done.stderr
    assert shell.bytes_of("run:last#stdout") == b""


@pytest.mark.parametrize(
    ("words", "part", "column"),
    [
        (["run:../../x"], "../../x", 5),
        (["run:last/x"], "last/x", 5),
        (["run:"], "", 5),
        (["run:abc"], "abc", 5),
        (["run:" + "a" * 65], "a" * 57, 5),
        (["blob:../x"], "../x", 6),
        (["blob:abc"], "abc", 6),
        (["repo:a/../.."], "a/../..", 6),
        (["repo:/etc/passwd"], "/etc/passwd", 6),
        (["repo:a//b"], "a//b", 6),
        (["repo:"], "", 6),
        (["/etc/x"], "/etc/x", 1),
        (["file:x"], "file:x", 1),
        (["RUN:0123456789ab"], "RUN:0123456789ab", 1),
        (["run:0123456789ab#nope"], "nope", 18),
        (["run:0123456789ab#STDOUT"], "STDOUT", 18),
        (["run:0123456789ab#stdout --lines 5:1"], "5:1", 33),
        (["run:0123456789ab#stdout", "--lines", "5:1"], "5:1", 33),
        (["run:0123456789ab#stdout", "--lines", "0:5"], "0:5", 33),
        (["run:0123456789ab#stdout", "--lines", "1:2:3"], "1:2:3", 33),
        (["run:0123456789ab#stdout", "--lines", "-1:2"], "-1:2", 33),
        (["run:0123456789ab#stdout", "--bytes", "9:3"], "9:3", 33),
        (["run:0123456789ab#stdout", "--span", "xyz"], "xyz", 32),
        (["run:0123456789ab#stdout", "--lines", "1:2", "--span", "0123456789"], "--span", 37),
    ],
)
def test_a_malformed_address_names_the_part_its_column_and_an_example(
    shell: Shell, words: list[str], part: str, column: int
) -> None:
    """S8.11, S19.47: status 2; nothing outside the store is touched, and no store is needed to say so."""
    done = shell.ctx("get", *words)
    assert (done.returncode, done.stdout) == (2, b"")
    said = done.stderr.decode()
    assert said.startswith(f'ctx get: address column {column}: "{part}')
    assert "; for example " in said
    assert said.count("\n") == 1
    assert not shell.store.exists()


def test_hex_digits_are_read_in_either_case(shell: Shell) -> None:
    """S8.1."""
    handle = shell.ingest(b"one\n")["handle"]
    assert shell.ctx("get", f"run:{handle.upper()}#stdout").stdout == b"one\n"
    assert shell.ctx("get", f"run:{handle[:6]}#stdout").stdout == b"one\n"


# Files of the workspace (S8.6, S18.1) -------------------------------------------------------------------------------


@pytest.fixture
def workspace(shell: Shell) -> Path:
    """A workspace with things in it that are none of anybody's business."""
    root = shell.folder
    (root / "src").mkdir()
    (root / "src" / "gate.c").write_text("".join(f"line {n}\n" for n in range(1, 101)))
    (root / ".git").mkdir()
    (root / ".git" / "config").write_text("secret")
    (root / ".env").write_text("secret")
    (root / "outside-link").symlink_to("/etc/hostname")
    (root / "inside-link").symlink_to("src/gate.c")
    (root / "sly-link").symlink_to(".git/config")
    (root / "dir-link").symlink_to("/etc")
    os.mkfifo(root / "pipe")
    return root


@pytest.mark.parametrize(
    ("path", "said"),
    [
        (".git/config", "refused by the deny rule .git/**"),
        (".GIT/config", "refused by the deny rule .git/**"),
        (".env", "refused by the deny rule .env*"),
        ("src/deploy.pem", "refused by the deny rule *.pem"),
        ("outside-link", "a link leads out of the workspace"),
        ("dir-link/hostname", "a link leads out of the workspace"),
        ("sly-link", "refused by the deny rule .git/**"),
        ("pipe", "not a regular file"),
        ("src", "not a regular file"),
        ("store/catalog.sqlite", "refused"),
    ],
)
def test_what_is_not_to_be_read_is_refused(shell: Shell, workspace: Path, path: str, said: str) -> None:
    """S18.1, S18.2, S19.48: status 1 at once, with the rule."""
    shell.ingest(b"a store\n")
    shell.ctx("stats")
    done = shell.ctx("get", f"repo:{path}")
    assert (done.returncode, done.stdout) == (1, b"")
    assert said in done.stderr.decode()


def test_a_file_that_is_not_there_is_unknown(shell: Shell, workspace: Path) -> None:
    done = shell.ctx("get", "repo:src/none.c")
    assert (done.returncode, done.stderr.decode()) == (1, "ctx get: repo:src/none.c: not there\n")


def test_lines_of_a_file_are_served_with_the_hash_of_its_content(shell: Shell, workspace: Path) -> None:
    """S8.6; a link inside the workspace is followed."""
    from hashlib import sha256

    digest = sha256((workspace / "src" / "gate.c").read_bytes()).hexdigest()[:8]
    done = shell.ctx("get", "repo:src/gate.c", "--lines", "3:4")
    assert done.stdout == b"line 3\nline 4\n"
    assert done.stderr.decode().startswith(f"repo:src/gate.c@{digest} · lines 3:4 of 100 · ")
    assert shell.ctx("get", "repo:inside-link", "--lines", "1:1").stdout == b"line 1\n"
    assert shell.ctx("get", f"repo:src/gate.c@{digest}", "--lines", "3:4").stdout == b"line 3\nline 4\n"
    assert shell.bytes_of("repo:src/gate.c") == (workspace / "src" / "gate.c").read_bytes()


def address_of(shell: Shell, lines: str) -> list[str]:
    """An address with a hash, as a reader was given it while the file was as it is now."""
    shell.ingest(b"there is a store\n")
    done = shell.ctx("get", "repo:src/gate.c", "--lines", lines)
    return [done.stderr.decode().split(" ")[0], "--lines", lines]


def test_lines_that_moved_are_found_and_said_to_have_moved(shell: Shell, workspace: Path) -> None:
    """S8.6, S19.49, field case: never what stands there now."""
    address = address_of(shell, "40:42")
    gate = workspace / "src" / "gate.c"
    gate.write_text("one\ntwo\nthree\nfour\nfive\n" + gate.read_text())
    done = shell.ctx("get", *address)
    assert (done.returncode, done.stdout) == (0, b"line 40\nline 41\nline 42\n")
    assert "relocated: 40:42 -> 45:47" in done.stderr.decode()


@pytest.mark.parametrize("change", ["deleted", "altered", "twice", "part of a line"])
def test_lines_that_cannot_be_told_are_refused(shell: Shell, workspace: Path, change: str) -> None:
    """S8.6, S19.49: deleted, altered, or there more than once."""
    address = address_of(shell, "40:42")
    gate = workspace / "src" / "gate.c"
    text = gate.read_text()
    region = "line 40\nline 41\nline 42\n"
    new = {
        "deleted": text.replace(region, ""),
        "altered": text.replace("line 41\n", "line 41 and more\n"),
        "twice": text + region,
        "part of a line": text.replace(region, "x" + region),
    }[change]
    gate.write_text(new)
    done = shell.ctx("get", *address)
    assert (done.returncode, done.stdout) == (1, b"")
    assert "the file changed since this address was made" in done.stderr.decode()


def test_an_address_of_a_content_that_was_never_read_here_is_refused(shell: Shell, workspace: Path) -> None:
    done = shell.ctx("get", "repo:src/gate.c@00000000", "--lines", "1:2")
    assert (done.returncode, done.stdout) == (1, b"")
    assert "read it again: ctx get repo:src/gate.c" in done.stderr.decode()


def test_a_large_file_comes_back_as_a_zoom(shell: Shell, workspace: Path) -> None:
    """S8.9: its sub-addresses carry the hash."""
    (workspace / "src" / "long.txt").write_bytes(flood(3000))
    done = shell.ctx("get", "repo:src/long.txt")
    assert len(done.stdout) < 6000
    (first, *_) = [
        row for row in done.stdout.decode().splitlines() if row.startswith("next: ctx get repo:src/long.txt@")
    ]
    assert shell.bytes_of(first.removeprefix("next: ctx get ")).splitlines()[0] == flood(9).splitlines()[8]
