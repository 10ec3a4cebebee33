"""The text family (S5.12.3): outcome, windows, lines that stand out, shapes, long lines."""

from collections.abc import Sequence

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx.api import digest_output
from ctx.digest import telling_lines
from ctx.digest.telling_lines import is_standing, standing_lines
from ctx.digest.textprof import Survey
from ctx.evidence import EvidenceGraph, ItemKind, Outcome
from ctx.text import StreamView


def graph_of(stdout: bytes, stderr: bytes = b"", **facts: object) -> EvidenceGraph:
    return digest_output(stdout, stderr, argv=("./job",), **facts).graph  # type: ignore[arg-type]


def filler(count: int) -> list[str]:
    return [f"step {number} went by" for number in range(count)]


def digest_of(lines: Sequence[str], exit_code: int | None = 0) -> str:
    return digest_output("".join(line + "\n" for line in lines).encode(), argv=("./job",), exit_code=exit_code).text


@pytest.mark.parametrize(
    ("stdout", "facts", "outcome"),
    [
        (b"done\n", {"exit_code": 0}, Outcome.UNKNOWN),
        (b"", {"exit_code": 0}, Outcome.PASS),
        (b"", {"exit_code": 3}, Outcome.FAIL),
        (b"all tests passed\n", {"exit_code": 1}, Outcome.FAIL),
        (b"error: it broke\n", {"exit_code": 0}, Outcome.UNKNOWN),
        (b"done\n", {}, Outcome.UNKNOWN),
        (b"done\n", {"signal": 9}, Outcome.FAIL),
        (b"done\n", {"exit_code": 124, "ended_by": "timeout"}, Outcome.FAIL),
    ],
)
def test_text_alone_proves_no_outcome(stdout: bytes, facts: dict[str, object], outcome: Outcome) -> None:
    """S3.4: an exit status that is known and not 0 is a failure; silence with 0 is a pass; the rest is unknown."""
    assert graph_of(stdout, **facts).outcome is outcome


def test_a_search_without_a_match_is_neither_pass_nor_failure() -> None:
    assert digest_output(b"", argv=("grep", "x", "f"), exit_code=1).graph.outcome is Outcome.UNKNOWN
    assert digest_output(b"", argv=("./job",), exit_code=1).graph.outcome is Outcome.FAIL


@pytest.mark.parametrize(
    "line",
    [
        "error: cannot open file",
        "src/a.c:3: fatal error: no such header",
        "[2026-01-01 00:00:00] ERROR  queue is full",
        "make: *** [all] Error 2",
        "Permission denied (publickey).",
        "bash: frobnicate: command not found",
        "ValueError: bad literal",
        "  caused by java.io.IOException: disk full",
        "thread 'main' panicked at src/main.rs:3",
        "Segmentation fault (core dumped)",
        "process exited with code 137",
        "npm ERR! missing script: build",
    ],
)
def test_a_line_with_an_error_word_where_programs_put_one_stands_out(line: str) -> None:
    assert is_standing(line)


@pytest.mark.parametrize(
    "line",
    [
        "0 errors, 12 files checked",
        "compiled error_handler.o",
        "tests/test_error_paths.py ....",
        "all good, no errors",
        "copying failure-modes.md",
        "Terrorbird feeding log",
    ],
)
def test_a_word_inside_a_name_or_behind_a_zero_does_not(line: str) -> None:
    assert not is_standing(line)


def test_the_decisive_line_is_shown_wherever_it_stands() -> None:
    lines = filler(3000)
    lines[1500] = "fatal: remote end hung up"
    shown = digest_of(lines, exit_code=1)
    assert "| fatal: remote end hung up\n" in shown
    assert shown.count("lines omitted") == 2


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_each_stream_has_windows_of_its_own(stream: str) -> None:
    """S19.29: one line on the other stream is never lost beside thousands."""
    many = "".join(line + "\n" for line in filler(3000)).encode()
    one = b"warning: only here\n"
    text = digest_output(
        many if stream == "stdout" else one, one if stream == "stdout" else many, argv=("./job",), exit_code=0
    ).text
    assert "| warning: only here\n" in text
    assert "detail: stdout" in text
    assert "detail: stderr" in text


def test_a_failing_run_keeps_its_last_twenty_lines() -> None:
    lines = filler(300)
    shown = digest_of(lines, exit_code=2)
    assert all(f"| step {number} went by" in shown for number in range(280, 300))


def test_an_unanswered_prompt_is_the_last_thing_shown() -> None:
    lines = [*filler(100), "Replace the configuration? [y/N] "]
    assert "| Replace the configuration? [y/N] " in digest_of(lines, exit_code=None)


def test_a_rare_line_among_many_of_one_shape_is_shown() -> None:
    lines = filler(2000)
    lines[700] = "tide gate left half open"
    assert "| tide gate left half open" in digest_of(lines)


def test_a_rare_value_among_few_is_shown() -> None:
    """S5.12.3 rank 2: the shape is frequent, the value in its place is not."""
    lines = [f"request {number} answered with status 200" for number in range(300)]
    lines[123] = "request 123 answered with status 503"
    assert "| request 123 answered with status 503" in digest_of(lines)


def test_shapes_are_counted_exactly_and_sum_to_the_lines() -> None:
    lines = [f"fetch {number}" for number in range(140)] + [f"store {number}" for number in range(60)] + ["the end"]
    shown = digest_of(lines)
    assert "groups: stdout, 201 lines by shape, numbers as #\n  140  fetch #\n  60  store #\n  1  other\n" in shown


def test_shapes_of_a_rerun_with_other_times_are_the_same() -> None:
    """S1.15: what is counted is the masked text, so `3s` and `3.25s` are one shape."""
    one = [f"part {n} took {n % 7}.{n % 10} s" for n in range(400)]
    other = [f"part {n} took {n % 5} s" for n in range(400)]
    assert digest_of(one) == digest_of(other)


def test_short_and_huge_streams_have_no_shapes() -> None:
    assert Survey(filler(19)).frequent() == []
    assert Survey([]).rare_lines() == []


def test_a_stream_in_which_everything_is_rare_has_no_rare_lines() -> None:
    words = [f"{chr(97 + n % 26)}{chr(97 + n // 26)} alone" for n in range(60)]
    assert Survey(words).rare_lines() == []


def test_a_long_line_shows_what_is_loud_inside_it() -> None:
    """S5.12.3: the cut is marked in bytes and addressed by a span; the reason of a failure is not in the cut."""
    line = "{" + ",".join(f'"k{n}":"{"abc" * 9}"' for n in range(400)) + "}"
    loud = line[:6000] + ',"last_error":"disk quota exceeded"' + line[6000:]
    shown = digest_output(loud.encode(), argv=("cat", "state.json"), exit_code=0)
    assert "disk quota exceeded" in shown.text
    assert shown.text.count("bytes omitted") == 2
    quiet = digest_output(line.replace("abc", 'errors": 0, "').encode(), argv=("cat",), exit_code=0)
    assert quiet.text.count("bytes omitted") == 1


def test_under_pressure_long_lines_are_cut_shorter_before_lines_are_lost() -> None:
    lines = [f"compiling part {n} " + "--flag " * 400 for n in range(40)]
    shown = digest_output("\n".join(lines).encode(), argv=("make",), exit_code=2)
    assert shown.plan.rung in ("fail_census", "dense")
    assert shown.digest_tokens <= 1200
    assert "compiling part 39" in shown.text


@given(
    st.lists(
        st.sampled_from(["all is well", "error: x", "  FAILED y", "cannot go", "Terror", "é fatal: z", ""]), max_size=60
    )
)
def test_both_engines_find_the_same_lines(lines: list[str]) -> None:
    """A stream over 1 MiB is searched by a vectorised engine; it names the same lines."""
    view = StreamView("stdout", "".join(line + "\n" for line in lines).encode())
    searched = list(standing_lines(view))
    limit = telling_lines._VECTOR_FROM_BYTES
    telling_lines._VECTOR_FROM_BYTES = -1
    try:
        assert list(standing_lines(view)) == searched
    finally:
        telling_lines._VECTOR_FROM_BYTES = limit


def test_every_standing_line_is_named_stored_or_folded() -> None:
    lines = [f"error: part {n} of the cargo was lost at sea" for n in range(900)]
    shown = digest_output("\n".join(lines).encode(), argv=("./ship",), exit_code=1)
    assert shown.plan.rung == "flood"
    assert "900 lines that stand out" in shown.text
    assert len(shown.census_text.splitlines()) == 900
    assert [item.kind for item in shown.graph.items].count(ItemKind.LINE) == 900
