"""A pattern, or an output, is made so that a backtracking engine never ends (S18.5, S19.33).

The story: an agent is told to search for `(a+)+$`, or a program prints the line on which one of our own patterns would
backtrack. A reply must come in linear time, and a pattern that a linear engine cannot run is refused, not attempted.
"""

from time import monotonic, process_time

import pytest

from ctx import digest_output
from tests.threats.shell import Shell

BOMB = b"a" * 40 + b"!\n"


@pytest.mark.parametrize("pattern", ["(a+)+$", "(a|a)*$", "(a|aa)+$", "(.*a){12}$", "^(([a-z])+.)+[A-Z]([a-z])+$"])
def test_a_pattern_that_explodes_elsewhere_is_answered_at_once(shell: Shell, pattern: str) -> None:
    """S19.33: over forty a's and `!`, and a thousand lines of them."""
    document = shell.ingest(BOMB * 1000, "--exit-code", "1")
    run = f"run:{document['handle'][:12]}"
    begun = monotonic()
    for words in (("search", run, pattern), ("get", f"{run}#stdout", "--match", pattern)):
        done = shell.ctx(*words)
        assert done.returncode in (0, 1), done.stderr
    assert monotonic() - begun < 8


@pytest.mark.parametrize(
    "pattern",
    [r"(a)\1", "(?=a)a", "(?<!a)b", "a" * 1001, "(", "[z-a]", "a{2001}"],
    ids=["back-reference", "look-ahead", "look-behind", "too long", "open", "range", "repeats"],
)
def test_what_a_linear_engine_cannot_run_is_refused_with_what_would_fit(shell: Shell, pattern: str) -> None:
    """Status 2, one line, no traceback."""
    document = shell.ingest(BOMB, "--exit-code", "1")
    done = shell.ctx("search", f"run:{document['handle'][:12]}", pattern)
    assert done.returncode == 2
    assert done.stdout == b""
    assert len(done.stderr.splitlines()) == 1
    assert b"Traceback" not in done.stderr


LONG = 60_000


@pytest.mark.parametrize(
    "line",
    [
        b"FAILED " + b"x::" * (LONG // 3) + b" - ",
        b"FAILED a.py::t[" + b"[" * LONG,
        b"FAILED a.py::t" + b" - " * (LONG // 3),
        b"a.py:" + b"1:" * (LONG // 2),
        b"a.py:1:1: " + b"error: " * (LONG // 7),
        b"=" * LONG + b" " + b"=" * LONG,
        b"1 passed, " * (LONG // 10) + b"in 0.01s",
        b"_" * LONG + b" t " + b"_" * LONG,
        b"\x1b[" + b"1;" * (LONG // 2),
        b"\x1b]8;;" + b"a" * LONG,
        b"\r" * LONG,
        b"ab\x08" * (LONG // 3),
        b"[gw0] [ 1%] " * (LONG // 12),
        b"2026-01-01 00:00:0" * (LONG // 18),
        b"/tmp/" * (LONG // 5),
        b"run:0123456789ab" * (LONG // 16),
        b"E   " * (LONG // 4),
        b" --> " * (LONG // 5),
        b"(" * LONG,
        b"error error " * (LONG // 12),
    ],
    ids=range(20),
)
def test_no_line_of_an_output_takes_more_than_linear_time(line: bytes) -> None:
    """S5.0.11: sixty thousand characters of what our own patterns look for, in a run that looks like each family."""
    head = b"=" * 27 + b" test session starts " + b"=" * 27 + b"\ncollected 1 item\n\na.py F [100%]\n"
    tail = b"\n" + b"=" * 27 + b" 1 failed in 0.01s " + b"=" * 27 + b"\n"
    for text in (line + b"\n", head + line + tail, b"a.py:1:1: error: no [x]\n" + line + b"\nFound 1 error.\n"):
        begun = process_time()
        digest_output(text, argv=("tool",), exit_code=1)
        assert process_time() - begun < 4
