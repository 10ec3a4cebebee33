"""`ctx run` stands between a command and its user and changes neither (S1.1 to S1.5)."""

import json
import os
import subprocess
import sys
import time
from itertools import pairwise
from pathlib import Path

import pytest

from tests.ctx.shell import CTX, Shell, flood


@pytest.mark.parametrize(
    ("words", "status"),
    [
        (["true"], 0),
        (["sh", "-c", "exit 3"], 3),
        (["sh", "-c", "exit 255"], 255),
        (["sh", "-c", "kill -9 $$"], 137),
        (["sh", "-c", "kill -SEGV $$"], 139),
        (["no-such-command-here"], 127),
        (["./not-there"], 127),
        (["./plain"], 126),
        (["./folder"], 126),
        (["./plain/inside"], 126),
        (["./lost-interpreter"], 126),
        (["--timeout", "0.2", "--", "sleep", "30"], 124),
    ],
)
def test_the_status_is_that_of_the_command(shell: Shell, words: list[str], status: int) -> None:
    """S1.5; whoever reads and whether it is stored has no say in it."""
    shell.file("plain", b"no program\n")
    (shell.folder / "folder").mkdir()
    Path(shell.file("lost-interpreter", b"#!/no/such/interpreter\n")).chmod(0o755)
    assert shell.ctx("run", *words).returncode == status
    assert shell.ctx("run", "--raw", *words).returncode == status


def test_what_cannot_be_started_is_said_in_one_line_and_leaves_nothing_behind(shell: Shell) -> None:
    """S1.5."""
    Path(shell.file("lost-interpreter", b"#!/no/such/interpreter\n")).chmod(0o755)
    done = shell.ctx("run", "./lost-interpreter")
    assert done.stderr == b"ctx run: ./lost-interpreter: its interpreter was not found\n"
    assert done.stdout == b""
    assert shell.spools() == []


def test_the_command_sees_the_same_world_as_without_us(shell: Shell) -> None:
    """S1.1: argv, environment, folder, and no terminal where there was none."""
    script = (
        "import os, sys\n"
        "print(sys.argv[1:], sorted(os.environ.items()), os.getcwd(), [os.isatty(n) for n in (0, 1, 2)])\n"
    )
    words = [sys.executable, "-c", script, "--timeout", "-", "", "a b", "--", "*", "é\n"]
    plain = subprocess.run(words, input=b"", capture_output=True, env=shell.env, cwd=shell.folder)
    assert plain.returncode == 0
    assert shell.ctx("run", "--raw", "--", *words).stdout == plain.stdout


def test_words_that_are_not_utf_8_reach_the_command_as_they_are(shell: Shell) -> None:
    """S1.1; the manifest keeps them readable."""
    word = os.fsdecode(b"caf\xe9")
    done = shell.ctx("run", "--raw", "--", "printf", "%s", word)
    assert done.stdout == b"caf\xe9"
    assert b'"caf\\\\xe9"' in shell.bytes_of("run:last#manifest")


def test_descriptors_that_we_were_given_are_the_commands(shell: Shell) -> None:
    """S1.1: the job server of make lives in two of them."""
    ours, theirs = os.pipe()
    os.write(theirs, b"a job token")
    os.close(theirs)
    done = subprocess.run(
        [str(CTX), "run", "--", "cat", f"/dev/fd/{ours}"],
        pass_fds=(ours,),
        capture_output=True,
        env=shell.env,
        cwd=shell.folder,
    )
    os.close(ours)
    assert done.stdout == b"a job token"


def test_standard_input_passes_through_unread(shell: Shell) -> None:
    """S1.2: what the command leaves is there for the next one."""
    assert shell.ctx("run", "--", "cat", stdin=b"one\ntwo\n").stdout == b"one\ntwo\n"
    shell.file("lines", b"one\ntwo\nthree\n")
    done = shell.line("{ ctx run -- true; ctx run -- sh -c 'read a; read b; echo $a-$b'; } < lines")
    assert done.stdout == b"one-two\n"


def test_both_streams_are_kept_apart_with_their_order_of_arrival(shell: Shell) -> None:
    """S1.2: the log has every byte of each stream once, in order, and the streams in the order in which they came."""
    done = shell.ctx("run", "--", "sh", "-c", "echo one; sleep 0.2; echo two >&2; sleep 0.2; echo three; exit 1")
    assert done.returncode == 1
    assert shell.bytes_of("run:last#stdout") == b"one\nthree\n"
    assert shell.bytes_of("run:last#stderr") == b"two\n"
    log = [json.loads(line) for line in shell.bytes_of("run:last#interleave").splitlines()]
    assert [(stream, first, end) for stream, first, end, _ in log] == [
        ("stdout", 0, 4),
        ("stderr", 0, 4),
        ("stdout", 4, 10),
    ]
    assert all(earlier[3] < later[3] for earlier, later in pairwise(log))


def test_the_digest_of_a_run_is_the_one_that_was_shown(shell: Shell) -> None:
    """S8: an address without a stream is the digest again, also where small streams were shown in order of arrival."""
    done = shell.ctx("run", "--", "sh", "-c", "echo one; sleep 0.2; echo two >&2; sleep 0.2; echo three")
    assert done.stdout == b"one\ntwo\nthree\n"
    assert shell.ctx("get", "run:last").stdout == done.stdout


# Who gets what (S1.3, S1.4) -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("ctx run -- ./many | wc -l", b"1500\n"),
        ("ctx run -- ./many | tail -1", flood(1500).splitlines(keepends=True)[-1]),
        ("ctx run -- ./many > file; wc -l < file", b"1500\n"),
        ("ctx run -- ./many > /dev/null; ctx get run:last#stdout | wc -l", b"1500\n"),
        ("ctx run --digest -- ./many | head -1 | cut -c 1-5", b"text:\n"),
        ("CTX_DELIVERY=digest ctx run -- ./many | head -1 | cut -c 1-5", b"text:\n"),
        ("ctx run -- sh -c './many; echo to-the-other >&2' 2> err > file; cat err", b"to-the-other\n"),
    ],
)
def test_a_program_gets_the_bytes(shell: Shell, line: str, expected: bytes) -> None:
    """S1.3, S19.60; `--digest` decides otherwise."""
    shell.file("text", flood(1500))
    Path(shell.file("many", b"#!/bin/sh\nexec cat text\n")).chmod(0o755)
    done = shell.line(line)
    assert done.stdout == expected, done.stderr


def test_an_ancestor_gets_a_digest_though_it_still_holds_the_writing_end(shell: Shell) -> None:
    """S1.3: a host that opened both ends of the pipe is found by its reading one, whichever number that has."""
    reading, writing = os.pipe()
    moved = os.dup(reading)  # now the writing end has the lower number
    os.close(reading)
    words = ["run", "--", sys.executable, "-c", f"print({'x' * 90!r}, *range(3000), sep='\\n')"]
    done = subprocess.run([str(CTX), *words], stdout=writing, stderr=subprocess.PIPE, env=shell.env, cwd=shell.folder)
    os.close(writing)
    with os.fdopen(moved, "rb") as file:
        text = file.read()
    assert done.returncode == 0
    assert b"#stdout --lines" in text


def test_records_that_end_with_nul_pass_unchanged_and_so_does_what_stands_beside_them(shell: Shell) -> None:
    """S1.4."""
    done = shell.ctx("run", "--", "sh", "-c", "printf 'a b\\0c\\0'; echo 'skipped d' >&2")
    assert (done.stdout, done.stderr) == (b"a b\0c\0", b"skipped d\n")


def test_a_reader_that_leaves_ends_a_command_without_end(shell: Shell) -> None:
    """S1.3: `ctx run -- yes | head` ends as `yes | head` does; the capture says that its reader left."""
    begun = time.monotonic()
    done = shell.line("ctx run -- yes | head -2")
    assert (done.stdout, done.stderr) == (b"y\ny\n", b"")
    assert time.monotonic() - begun < 20
    stats = shell.stats()
    assert (stats["complete"], stats["incomplete_reason"]) == (False, "reader_closed")
    assert stats["ended_by"] == "reader_closed"


def test_a_short_output_is_kept_whole_though_its_reader_leaves(shell: Shell) -> None:
    """S19.60: a silent end, and a whole copy."""
    shell.file("text", flood(4000))
    done = shell.line("ctx run -- cat text | head -1")
    assert (done.stdout, done.stderr) == (flood(1), b"")
    assert shell.bytes_of("run:last#stdout") == flood(4000)
    assert shell.stats()["complete"] is True


def test_a_standard_output_that_does_not_wait_loses_nothing(shell: Shell) -> None:
    """A host may have set the pipe not to block."""
    script = (
        "import os, subprocess, sys, time\n"
        "reading, writing = os.pipe()\n"
        "os.set_blocking(writing, False)\n"
        "child = subprocess.Popen(sys.argv[1:], stdout=writing)\n"
        "os.close(writing)\n"
        "time.sleep(0.5)\n"
        "total = 0\n"
        "while data := os.read(reading, 4096):\n"
        "    total += len(data)\n"
        "print(total, child.wait())\n"
    )
    shell.file("text", flood(9000))
    done = subprocess.run(
        [sys.executable, "-c", script, str(CTX), "run", "--raw", "--", "cat", "text"],
        capture_output=True,
        env=shell.env,
        cwd=shell.folder,
        timeout=60,
    )
    assert done.stdout == b"%d 0\n" % len(flood(9000)), done.stderr


def test_closed_standard_streams_do_not_take_the_spool_for_one(shell: Shell) -> None:
    """A descriptor that is closed is the next one to be opened."""
    done = shell.line("ctx run -- sh -c 'echo out; echo err >&2; exit 5' >&- 2>&-; echo $?")
    assert done.stdout == b"5\n"
    assert shell.bytes_of("run:last#stdout") == b"out\n"
    assert shell.bytes_of("run:last#stderr") == b"err\n"


def test_a_long_output_is_kept_whole(shell: Shell) -> None:
    """Field case of the copy that was cut too: 200,000 lines are 200,000 lines, and any of them comes back."""
    done = shell.ctx("run", "--", "seq", "-f", "row %06.0f value 7", "200000")
    assert done.returncode == 0
    stats = shell.stats()
    assert (stats["complete"], stats["streams"]["stdout"]["lines"]) == (True, 200_000)
    assert shell.ctx("get", "run:last#stdout", "--lines", "131072:131072").stdout == b"row 131072 value 7\n"
    assert shell.ctx("search", "run:last", "row 131072", "-F").stdout.count(b"| row 131072 value 7") == 1


def test_the_second_run_never_shows_the_error_of_the_first(shell: Shell) -> None:
    """Field case of the stale result: same command, another text, another address; the newest is the last."""
    script = shell.file("build", b"#!/bin/sh\ncat message; exit 1\n")
    Path(script).chmod(0o755)
    handles = []
    for message in (b"ERROR src/keel.ts:4:9 Unknown unit 'fathom'\n", b"ERROR src/sail.ts:19:2 Unknown unit 'ell'\n"):
        shell.file("message", message)
        done = shell.ctx("run", "--", "./build")
        assert (done.returncode, done.stdout) == (1, message)
        handles.append(shell.stats()["handle"])
    assert handles[0] != handles[1]
    assert b"keel" in shell.bytes_of(f"run:{handles[0]}#stdout")
    assert b"sail" in shell.bytes_of(f"run:{handles[1]}#stdout")
    assert b"sail" in shell.bytes_of("run:last#stdout")
