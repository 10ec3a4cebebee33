"""No input may crash the pytest family or make it claim what is not there (S5.0.9, S5.0.11, S19.8, S19.16).

Real captures are cut, spliced, shuffled and sprinkled with bytes; what must hold is stated once, in `check`.
"""

import json
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctx.digest.base import CaptureFacts, DigestContext
from ctx.digest.pytestprof import PytestProfile
from ctx.evidence import EvidenceGraph, ItemKind, Missing, Outcome
from ctx.text import StreamView

CASES = Path(__file__).parents[2] / "profiles" / "pytest"
FAILING = (ItemKind.FAILING_TEST, ItemKind.ERRORING_TEST, ItemKind.LOAD_ERROR)
NAMES = [
    "mixed-q-short", "mixed-v", "mixed-tb-line", "mixed-tb-no", "mixed-rN", "mixed-ci", "mixed-color-v", "mixed-n2-v",
    "collect", "internal-v", "interrupt-v", "timeout-thread-v", "subtests-v", "subtests7", "doctest", "rerun", "inner",
    "livelog-red", "xdist-crash-v", "mixed-co", "report-junit", "report-log", "report-json", "custom", "fixtures-auto",
]  # fmt: skip
TEXTS = {name: (CASES / name / "stdout.txt").read_bytes() for name in NAMES}
TRUTH = {
    name: sorted(fact["id"] for fact in json.loads((CASES / name / "truth.json").read_text("utf-8"))["failing"])
    for name in NAMES
}
WITH_TOTALS = [name for name in NAMES if name != "report-log"]
"""A report log has no totals: a record taken out of its middle leaves no trace."""
EXITS = [None, 0, 1, 2, 3, 4, 5, 124, 137]


def check(stdout: bytes, exit_code: int | None = 1, stderr: bytes = b"") -> EvidenceGraph | None:
    """Extract and verify everything that holds for any input."""
    views = {"stdout": StreamView("stdout", stdout), "stderr": StreamView("stderr", stderr)}
    ctx = DigestContext(streams=views, manifest=CaptureFacts(argv=("pytest",), exit_code=exit_code))
    profile = PytestProfile()
    if profile.detect(ctx) is None:
        return None
    graph = profile.extract(ctx)
    if graph is None:  # nothing of a report could be read: the text is shown as text
        return None
    assert len(graph.graph_id) == 64
    refs = [item.source for item in graph.items]
    refs += [item.detail for item in graph.items if not isinstance(item.detail, Missing)]
    refs += [excerpt.source for excerpt in graph.excerpts]
    refs += [warning.source for warning in graph.warnings if warning.source is not None]
    for ref in refs:
        view = views[ref.stream]
        assert ref.last_line <= max(view.raw_line_count, 1)
        assert ref.end_byte <= len(view.raw)
        assert view.raw_range(ref.first_line, ref.last_line) == (ref.first_byte, ref.end_byte)
    failing = [item for item in graph.items if item.kind in FAILING]
    if graph.coverage.complete:
        assert graph.coverage.expected in (None, graph.coverage.parsed)
        assert not graph.coverage.input_truncated
    if graph.outcome is Outcome.PASS:
        assert exit_code == 0
        assert not failing
    assert all(item.identity.strip("\n") == item.identity for item in failing)
    return graph


@given(name=st.sampled_from(WITH_TOTALS), exit_code=st.sampled_from(EXITS), data=st.data())
def test_a_cut_capture_never_claims_a_census_that_is_smaller_than_the_truth(
    name: str, exit_code: int | None, data: st.DataObject
) -> None:
    """S3.1, S19.16: cut at any byte at the head, at the tail, or with a piece taken from the middle."""
    text = TEXTS[name]
    first = data.draw(st.integers(0, len(text)))
    last = data.draw(st.integers(first, len(text)))
    how = data.draw(st.sampled_from(["head", "tail", "middle"]))
    cut = {"head": text[first:], "tail": text[:last], "middle": text[:first] + text[last:]}[how]
    graph = check(cut, exit_code)
    if graph is not None and graph.coverage.complete and exit_code not in (0, 5):
        assert len([item for item in graph.items if item.kind in FAILING]) >= len(TRUTH[name]) or not TRUTH[name]


@given(name=st.sampled_from(WITH_TOTALS), data=st.data())
def test_whole_lines_that_are_missing_are_noticed(name: str, data: st.DataObject) -> None:
    """S5.1.16: what is complete names the truth, whatever lines a host dropped."""
    lines = TEXTS[name].split(b"\n")
    first = data.draw(st.integers(0, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    graph = check(b"\n".join([*lines[:first], *lines[last:]]))
    if graph is not None and graph.coverage.complete:
        assert sorted(item.identity for item in graph.items if item.kind in FAILING) == TRUTH[name]


@given(
    names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=3),
    exit_code=st.sampled_from(EXITS),
    noise=st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=40)), max_size=6),
)
def test_spliced_and_sprinkled_captures_are_read(
    names: list[str], exit_code: int | None, noise: list[tuple[float, bytes]]
) -> None:
    text = b"".join(TEXTS[name] for name in names)
    for place, extra in noise:
        at = int(place * len(text))
        text = text[:at] + extra + text[at:]
    check(text, exit_code, stderr=text[: len(text) // 2])


@given(data=st.data(), exit_code=st.sampled_from(EXITS))
def test_shuffled_lines_of_several_captures_are_read(data: st.DataObject, exit_code: int | None) -> None:
    """Two runs that write into one pipe at once."""
    one = TEXTS[data.draw(st.sampled_from(NAMES))].split(b"\n")
    two = TEXTS[data.draw(st.sampled_from(NAMES))].split(b"\n")
    mixed: list[bytes] = []
    for size in data.draw(st.lists(st.integers(1, 30), min_size=1, max_size=40)):
        source = one if size % 2 else two
        mixed += source[:size]
        del source[:size]
    check(b"\n".join([*mixed, *one, *two]), exit_code)


_PIECES = [
    b"=" * 30 + b" FAILURES " + b"=" * 30, b"=" * 30 + b" ERRORS " + b"=" * 30, b"_" * 30 + b" test_a " + b"_" * 30,
    b"_ ERROR at setup of test_a _", b"_ ERROR collecting a.py _", b"=" * 27 + b" short test summary info " + b"=" * 28,
    b"FAILED a.py::test_a - assert 0", b"ERROR a.py::test_a", b"ERROR a.py", b"SUBFAILED[x] (i=1) a.py::test_a - x",
    b"[x] (i=1) SUBFAIL a.py::test_a", b"SKIPPED [1] a.py:3: why", b"XFAIL a.py::test_x - r", b"RERUN a.py::test_a",
    b"a.py::test_a FAILED  [ 50%]", b"[gw0] [ 50%] FAILED a.py::test_a ", b"a.py ..F  [ 50%]", b"a.py::test_b ",
    b"!!!!!!! stopping after 1 failures !!!!!!!", b"INTERNALERROR> x", b"1 failed, 1 passed in 0.10s", b"E   assert 0",
    b"=== 1 failed in 0.10s ===", b"no tests ran in 0.01s", b"a.py:3: AssertionError", b"=== test session starts ===",
    b"----- Captured stdout call -----", b"=== warnings summary ===", b"=== PASSES ===", b"\x1b[31mF\x1b[0m", b"\r",
    b"", b"_ _ _ _ _ _",
    b"worker 'gw0' crashed while running 'a.py::test_a'", b"[... 3 lines truncated ...]", b"\xff\xfe",
    b"=== rerun test summary info ===", b"+++++++ Timeout +++++++", b"Fatal Python error: Aborted", b"<Module a.py>",
    b"2 tests collected in 0.01s", b"FAILED a.py::test[x - y", b"FAILED a.py::t[" + b"x" * 90 + b"...", b"_ test_a",
]  # fmt: skip


@settings(max_examples=200)
@given(pieces=st.lists(st.sampled_from(_PIECES), max_size=40), exit_code=st.sampled_from(EXITS))
def test_any_order_of_pytests_own_lines_is_read(pieces: list[bytes], exit_code: int | None) -> None:
    graph = check(b"\n".join(pieces), exit_code, stderr=b"\n".join(pieces[::2]))
    if graph is not None and exit_code == 0:
        failures = [item for item in graph.items if item.kind in FAILING]
        assert graph.outcome is not Outcome.PASS or not failures


@given(raw=st.binary(max_size=4000), exit_code=st.sampled_from(EXITS))
def test_random_bytes_are_declined_or_read(raw: bytes, exit_code: int | None) -> None:
    check(raw, exit_code)
    check(b"=== test session starts ===\n" + raw + b"\n=== 1 failed in 0.10s ===\n", exit_code)


@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_capture_in_utf_16_has_the_same_census(encoding: str) -> None:
    """S19.38: what a redirect of another shell wrote."""
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}[encoding]
    text = TEXTS["mixed-q-short"].decode("utf-8")
    graph = check(mark + text.encode(encoding))
    assert graph is not None
    assert sorted(item.identity for item in graph.items if item.kind in FAILING) == TRUTH["mixed-q-short"]


def test_progress_bars_and_overwritten_lines_do_not_move_coordinates() -> None:
    """S5.0.3: coordinates are raw, whatever the screen shows."""
    text = b"Collecting 10%\rCollecting 90%\rBuilding wheel\n\x1b[1m" + TEXTS["mixed-q-short"]
    graph = check(text)
    assert graph is not None
    lines = text.split(b"\n")
    for item in graph.items:
        if item.kind is ItemKind.FAILING_TEST:
            assert item.identity.encode() in lines[item.source.first_line - 1]
