"""Law: a receipt's numbers add up, and agree with what the digest prints (S3.6, S7.10, S7.11).

What is counted here is counted anew: lines in the captured bytes, marks in the printed text.
"""

import re

import pytest

from ctx import Rendered, load_contract
from ctx.digest.base import CaptureFacts
from ctx.pipeline import digest_capture
from tests.laws.corpus import VARIED, Captured, captured

_OMITTED = re.compile(r"(stdout|stderr) ([\d,]+) of ([\d,]+) lines?")
_GAP = re.compile(r"^\| … ([\d,]+) lines? omitted \(run:[0-9a-f]{12}#(stdout|stderr) --lines (\d+):(\d+)\)$")


def digested(name: str) -> tuple[Captured, Rendered]:
    """A case and its digest for a reader who can redeem addresses."""
    case = captured(name)
    facts = CaptureFacts(argv=case.argv, exit_code=case.exit_code, ended_by=case.ended_by)
    return case, digest_capture({"stdout": case.stdout, "stderr": case.stderr}, facts)


def lines_of(raw: bytes) -> int:
    """Lines end at LF; a last one without it is a line."""
    return raw.count(b"\n") + (not raw.endswith(b"\n") if raw else 0)


def whole(text: str) -> int:
    return int(text.replace(",", ""))


@pytest.mark.parametrize("name", VARIED)
def test_shown_and_omitted_lines_are_the_lines_of_the_streams(name: str) -> None:
    """The `omitted:` line states both in lines of the raw streams, and the receipt has its sum."""
    case, rendered = digested(name)
    lines = {"stdout": lines_of(case.stdout), "stderr": lines_of(case.stderr)}
    if rendered.plan.rung == "inline":
        assert rendered.receipt.omitted_lines == 0
        return
    _, found, rest = rendered.text.partition("\nomitted: ")
    stated = {m[1]: (whole(m[2]), whole(m[3])) for m in _OMITTED.finditer(rest.partition("\n")[0])}
    assert found or " bytes omitted (run:" in rendered.text, "every line is shown, one of them cut"
    assert {stream: total for stream, (_, total) in stated.items()} == {s: n for s, n in lines.items() if s in stated}
    assert all(0 < left_out <= total for left_out, total in stated.values())
    assert rendered.receipt.omitted_lines == sum(left_out for left_out, _ in stated.values())
    cut = sum(whole(m) for m in re.findall(r" … ([\d,]+) bytes omitted \(run:", rendered.text))
    assert rendered.receipt.omitted_bytes >= cut
    if not stated:
        assert rendered.receipt.omitted_bytes == cut > 0


@pytest.mark.parametrize("name", VARIED)
def test_every_mark_of_a_gap_counts_the_lines_it_addresses(name: str) -> None:
    """S7.10: in lines, where it happens, inside its stream."""
    case, rendered = digested(name)
    lines = {"stdout": lines_of(case.stdout), "stderr": lines_of(case.stderr)}
    for line in rendered.text.split("\n"):
        mark = _GAP.match(line)
        if mark:
            first, last = int(mark[3]), int(mark[4])
            assert whole(mark[1]) == last - first + 1
            assert 1 <= first <= last <= lines[mark[2]]


@pytest.mark.parametrize("name", VARIED)
def test_named_and_omitted_items_are_all_items(name: str) -> None:
    """Counts over the census; each part is at most the whole; required classes are there, stored or absent."""
    _, rendered = digested(name)
    receipt = rendered.receipt
    assert receipt.items_named + receipt.omitted_items == receipt.items_total == len(rendered.graph.census)
    assert receipt.items_detailed <= receipt.items_named
    assert receipt.items_summarised <= receipt.items_total
    assert receipt.items_addressable == receipt.items_total or rendered.plan.rung == "inline"
    assert receipt.required_present + receipt.required_stored <= receipt.required_total
    for name_of, state in receipt.classes.items():
        assert state.with_fact + state.missing_count <= state.of, name_of
        assert state.with_fact == state.of or state.state == "absent", name_of
    required = load_contract(rendered.family).required(rendered.graph.outcome)
    absent = [fact_class for fact_class in required if receipt.classes[fact_class].state == "absent"]
    assert len(absent) == receipt.required_total - receipt.required_present - receipt.required_stored
    for name_of in absent:
        assert f"\nPARTIAL: {name_of}\n" in rendered.text


def test_completeness_is_copied_and_never_recomputed() -> None:
    """S3.1: what the graph's coverage attests stands in the receipt and in the digest's own line."""
    for name in VARIED:
        _, rendered = digested(name)
        coverage, receipt = rendered.graph.coverage, rendered.receipt
        assert (receipt.complete, receipt.input_truncated) == (coverage.complete, coverage.input_truncated)
        assert (receipt.precision, receipt.reasons) == (coverage.precision, coverage.reasons)
        if rendered.plan.rung != "inline":
            line = rendered.text.split("\ncoverage: ")[1].split("\n")[0]
            assert line.endswith("· complete") == coverage.complete


def test_omitted_bytes_are_those_of_the_lines_that_are_not_shown() -> None:
    """By hand: 400 lines of 40 bytes, of which the windows show some; what is left out is 40 bytes a line."""
    text = b"".join(b"step %04d of this job went by in silence\n" % n for n in range(400))
    rendered = digest_capture({"stdout": text}, CaptureFacts(exit_code=0))
    assert len(text) == 400 * 41
    assert 0 < rendered.receipt.omitted_lines < 400
    assert rendered.receipt.omitted_bytes == rendered.receipt.omitted_lines * 41
