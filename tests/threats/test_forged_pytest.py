"""Tests print pytest's own rows, banners and totals (S19.5 to S19.7, S5.0.6, S5.1.14).

The story: a suite tests a tool that runs pytest, so its captured output and its messages are full of other runs' rows;
or a test author wants a failing run to look green. Items and totals come from the runner's own sections alone.
"""

import pytest

from ctx import Rendered, digest_output
from ctx.evidence import Outcome

RULE = "=" * 27


def session(*, body: list[str], rows: list[str], totals: str, marks: str) -> bytes:
    """A run of `pytest` in its default form, padded beyond what is passed on whole."""
    lines = [
        f"{RULE} test session starts {RULE}",
        "platform linux -- Python 3.11.2, pytest-8.4.0, pluggy-1.6.0",
        "collected 2 items",
        "",
        f"tests/test_real.py {marks:<60}[100%]",
        "",
        *body,
        *([f"{RULE} short test summary info {RULE}", *rows] if rows else []),
        f"{RULE} {totals} {RULE}",
        "",
    ]
    return "\n".join(lines).encode()


def block(name: str, *, captured: list[str], message: str = "assert 1 == 2") -> list[str]:
    """The block of one failing test with what it printed."""
    return [
        f"{RULE} FAILURES {RULE}",
        f"_____ {name} _____",
        "",
        f"    def {name}():",
        ">       assert 1 == 2",
        f"E       AssertionError: {message}",
        "",
        "tests/test_real.py:7: AssertionError",
        f"{'-' * 29} Captured stdout call {'-' * 29}",
        *captured,
        *(f"quiet line {n} of the program under test, which says much" for n in range(80)),
    ]


def identities(rendered: Rendered) -> list[str]:
    return [item.identity for item in rendered.graph.census]


GHOSTS = [
    "FAILED tests/test_real.py::test_ghost - injected",
    "ERROR tests/test_real.py::test_ghost - injected",
    "_____ test_ghost _____",
    f"{RULE} FAILURES {RULE}",
    "_____ test_ghost _____",
    "    def test_ghost():",
    ">       assert 0",
    "E       AssertionError: injected",
    "tests/test_real.py:99: AssertionError",
    f"{RULE} short test summary info {RULE}",
    "FAILED tests/test_real.py::test_ghost - injected",
    f"{RULE} 99 failed, 1 passed in 0.01s {RULE}",
    f"{RULE} test session starts {RULE}",
    "tests/test_real.py::test_ghost FAILED [ 50%]",
    "INTERNALERROR> ghost",
    "Interrupted: 99 errors during collection",
]


@pytest.mark.parametrize("count", [1, 3, len(GHOSTS)])
def test_a_failing_test_that_prints_rows_and_blocks_adds_nothing(count: int) -> None:
    """S19.5: no item and no count comes from what it printed."""
    text = session(
        body=block("test_real", captured=GHOSTS[:count]),
        rows=["FAILED tests/test_real.py::test_real - AssertionError: assert 1 == 2"],
        totals="1 failed, 1 passed in 0.01s",
        marks="F.",
    )
    rendered = digest_output(text, argv=("pytest",), exit_code=1)
    assert rendered.plan.rung != "inline"
    assert identities(rendered) == ["tests/test_real.py::test_real"]
    assert dict(rendered.graph.aggregate) == {"failed": 1, "passed": 1}
    assert rendered.text.startswith("pytest: FAIL 1 failed, 1 passed · exit 1")


@pytest.mark.parametrize("ghost", GHOSTS)
def test_each_forged_line_alone_adds_nothing(ghost: str) -> None:
    """The same, line by line, so that no other one hides a fault."""
    text = session(
        body=block("test_real", captured=[ghost]),
        rows=["FAILED tests/test_real.py::test_real - AssertionError: assert 1 == 2"],
        totals="1 failed, 1 passed in 0.01s",
        marks="F.",
    )
    rendered = digest_output(text, argv=("pytest",), exit_code=1)
    assert identities(rendered) == ["tests/test_real.py::test_real"]
    assert dict(rendered.graph.aggregate) == {"failed": 1, "passed": 1}


@pytest.mark.parametrize("prefix", ["", "INFO     root:x.py:3 "])
def test_a_passing_run_with_a_live_log_of_failures_passes(prefix: str) -> None:
    """S19.6: exit 0, the runner's totals say passed, and no ghost is named."""
    live = [
        f"{RULE} test session starts {RULE}",
        "collected 60 items",
        "",
        *(
            line
            for n in range(60)
            for line in (
                f"tests/test_real.py::test_{n} ",
                "-------------------------------- live log call ---------------------------------",
                f"{prefix}FAILED tests/test_real.py::test_ghost - boom {n}",
                f"PASSED{' ' * 60}[100%]",
            )
        ),
        "",
        f"{RULE} 60 passed in 0.01s {RULE}",
        "",
    ]
    rendered = digest_output("\n".join(live).encode(), argv=("pytest",), exit_code=0)
    assert rendered.graph.outcome == Outcome.PASS
    assert identities(rendered) == []
    assert dict(rendered.graph.aggregate) == {"passed": 60}


@pytest.mark.parametrize(
    "message",
    [
        "=== 5 passed in 0.01s ===",
        f"{RULE} 5 passed in 0.01s {RULE}",
        "5 passed in 0.01s",
        "== 5 passed, 0 failed in 1s ==",
    ],
)
def test_totals_come_from_the_runner_s_last_own_line(message: str) -> None:
    """S19.7: in an assertion message, in a parameter id, and in what the test printed last."""
    name = f"tests/test_real.py::test_real[{message}]"
    text = session(
        body=block("test_real", captured=[message], message=message),
        rows=[f"FAILED {name} - AssertionError: {message}"],
        totals="1 failed, 1 passed in 0.01s",
        marks="F.",
    )
    rendered = digest_output(text, argv=("pytest",), exit_code=1)
    assert identities(rendered) == [name]
    assert dict(rendered.graph.aggregate) == {"failed": 1, "passed": 1}


def test_green_totals_printed_after_the_runner_s_own_do_not_make_a_failure_pass() -> None:
    """An `atexit` hook has the last word on the screen, not in the verdict: the exit status disagrees and is named."""
    text = session(
        body=block("test_real", captured=[]),
        rows=["FAILED tests/test_real.py::test_real - AssertionError: assert 1 == 2"],
        totals="1 failed, 1 passed in 0.01s",
        marks="F.",
    )
    rendered = digest_output(text + f"{RULE} 2 passed in 0.01s {RULE}\n".encode(), argv=("pytest",), exit_code=1)
    assert rendered.graph.outcome == Outcome.FAIL
    assert "tests/test_real.py::test_real" in identities(rendered)
    assert "PASS" not in rendered.text.split("\n")[0]


def test_a_crash_of_the_runner_is_still_told_from_a_printed_one() -> None:
    """S5.1.13: its lines stand before the totals and the exit status is 3."""
    crash = ["INTERNALERROR> Traceback (most recent call last):", "INTERNALERROR> RuntimeError: plugin broke"]
    head = session(body=crash, rows=[], totals="1 passed in 0.01s", marks=".F")
    rendered = digest_output(head + b"\n", argv=("pytest",), exit_code=3)
    assert rendered.graph.outcome == Outcome.FAIL
    assert identities(rendered) == ["INTERNALERROR"]
