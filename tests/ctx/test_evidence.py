"""The data model refuses to exist in contradiction (S3)."""

from dataclasses import FrozenInstanceError, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx.errors import EvidenceError
from ctx.evidence import (
    Coverage,
    CoverageReason,
    EvidenceGraph,
    EvidenceItem,
    ItemKind,
    Location,
    Missing,
    Operation,
    Outcome,
    Precision,
    Severity,
    SourceRef,
    item_id,
)

AT = SourceRef(stream="stdout", first_line=3, last_line=4, first_byte=10, end_byte=40)


def an_item(identity: str = "t.py::test_a", **changes: object) -> EvidenceItem:
    values: dict[str, object] = {
        "id": item_id(family="pytest", kind=ItemKind.FAILING_TEST, identity=identity),
        "kind": ItemKind.FAILING_TEST,
        "severity": Severity.ERROR,
        "identity": identity,
        "source": AT,
    }
    return EvidenceItem(**{**values, **changes})  # type: ignore[arg-type]


def a_graph(**changes: object) -> EvidenceGraph:
    values: dict[str, object] = {
        "family": "pytest",
        "profile": "pytest/v1",
        "outcome": Outcome.FAIL,
        "aggregate": {"failed": 1},
        "items": (an_item(),),
        "coverage": Coverage.attest(unit="failing_tests", parsed=1, expected=1),
        "operation": Operation(handle="ab" * 32, argv=("pytest",), exit_code=1, streams={"stdout": 9, "stderr": 0}),
    }
    return EvidenceGraph(**{**values, **changes})  # type: ignore[arg-type]


# Coverage -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"parsed": 1, "expected": 9}, "1 of 9 parsed is not complete"),
        ({"parsed": 9, "expected": 1}, "9 of 1 parsed is not complete"),
        ({"input_truncated": True}, "truncated input is never complete"),
        ({"reasons": (CoverageReason.EARLY_STOP,)}, "early_stop speaks against complete"),
        ({"reasons": (CoverageReason.NO_TOTAL, CoverageReason.KILLED)}, "killed speaks against complete"),
        ({"parsed": -1, "expected": None}, "never negative"),
        ({"reasons": (CoverageReason.KILLED,) * 2, "complete": False}, "named once"),
    ],
)
def test_coverage_that_contradicts_itself_cannot_be_built(changes: dict[str, object], message: str) -> None:
    """S3.1, S19.57"""
    values: dict[str, object] = {"unit": "failing_tests", "parsed": 1, "expected": 1, "complete": True, **changes}
    with pytest.raises(EvidenceError, match=message):
        Coverage(**values)  # type: ignore[arg-type]


@given(
    parsed=st.integers(0, 5),
    expected=st.none() | st.integers(0, 5),
    truncated=st.booleans(),
    reasons=st.sets(st.sampled_from(list(CoverageReason)), max_size=3).map(tuple),
    rule=st.booleans(),
)
def test_complete_means_parsed_equals_expected_and_nothing_speaks_against(
    parsed: int, expected: int | None, truncated: bool, reasons: tuple[CoverageReason, ...], rule: bool
) -> None:
    """S3.1 [law], by its own words."""
    coverage = Coverage.attest(
        unit="failing_tests",
        parsed=parsed,
        expected=expected,
        input_truncated=truncated,
        reasons=reasons,
        complete_when_no_total=rule,
    )
    equal = parsed == expected if expected is not None else rule
    against = set(reasons) - {CoverageReason.NO_TOTAL}
    assert coverage.complete == (equal and not truncated and not against)
    if expected is not None and parsed > expected:
        assert CoverageReason.TOTALS_DISAGREE in coverage.reasons
    if expected is not None and parsed < expected:
        assert CoverageReason.COUNT_MISMATCH in coverage.reasons
    assert (CoverageReason.NO_TOTAL in coverage.reasons) == (expected is None or CoverageReason.NO_TOTAL in reasons)


def test_truncated_input_is_named_once_by_its_most_exact_reason() -> None:
    plain = Coverage.attest(unit="lines", parsed=0, expected=0, input_truncated=True)
    exact = Coverage.attest(
        unit="lines", parsed=0, expected=0, input_truncated=True, reasons=(CoverageReason.UPSTREAM_CUT,)
    )
    assert plain.reasons == (CoverageReason.CAPTURE_INCOMPLETE,)
    assert exact.reasons == (CoverageReason.UPSTREAM_CUT,)


# Items and references -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("lines", [(0, 1), (2, 1), (-1, -1)])
def test_a_region_has_lines_from_1_in_order(lines: tuple[int, int]) -> None:
    with pytest.raises(EvidenceError, match="1 <= first <= last"):
        SourceRef(stream="stdout", first_line=lines[0], last_line=lines[1])


@pytest.mark.parametrize("span", [(-1, 0), (5, 4)])
def test_a_region_has_bytes_from_0_in_order(span: tuple[int, int]) -> None:
    with pytest.raises(EvidenceError, match="0 <= first <= end"):
        SourceRef(stream="stdout", first_line=1, last_line=1, first_byte=span[0], end_byte=span[1])


def test_an_identity_is_never_empty() -> None:
    with pytest.raises(EvidenceError, match="never empty"):
        an_item(identity="")


def test_records_are_frozen_with_their_maps() -> None:
    item = an_item(fields={"phase": "setup"})
    with pytest.raises(FrozenInstanceError):
        item.identity = "x"  # type: ignore[misc]
    with pytest.raises(TypeError):
        item.fields["phase"] = "call"  # type: ignore[index]
    with pytest.raises(TypeError):
        a_graph().aggregate["failed"] = 0  # type: ignore[index]


def test_the_id_of_an_item_tells_phase_and_occurrence_apart() -> None:
    """S3.3: two items with one identity stay two."""
    base = {"family": "pytest", "kind": ItemKind.FAILING_TEST, "identity": "t.py::a"}
    ids = {
        item_id(**base),  # type: ignore[arg-type]
        item_id(**base, phase="setup"),  # type: ignore[arg-type]
        item_id(**base, occurrence=2),  # type: ignore[arg-type]
        item_id(**{**base, "kind": ItemKind.ERRORING_TEST}),  # type: ignore[arg-type]
        item_id(**{**base, "family": "testrun"}),  # type: ignore[arg-type]
    }
    assert len(ids) == 5
    assert all(len(found.partition(":")[2]) == 16 for found in ids)


def test_a_graph_refuses_two_items_with_one_id() -> None:
    with pytest.raises(EvidenceError, match="two items with id"):
        a_graph(items=(an_item(), an_item()))


def test_location_reads_as_its_tool_prints_it() -> None:
    assert str(Location(file="a.py")) == "a.py"
    assert str(Location(file="a.py", line=3)) == "a.py:3"
    assert str(Location(file="C:\\a b.py", line=3, column=7)) == "C:\\a b.py:3:7"
    assert str(Location(file="a.py", column=7)) == "a.py", "a column without a line has no place to stand"


# Canonical form -------------------------------------------------------------------------------------------------------


def test_volatile_fields_and_byte_offsets_are_not_in_the_canonical_form() -> None:
    """S3.5"""
    plain = a_graph()
    moved = replace(AT, first_byte=11, end_byte=44)
    noisy = a_graph(items=(an_item(source=moved, volatile={"seconds": 3, "pid": 77}),), stream_bytes={"stdout": 99})
    assert noisy.graph_id == plain.graph_id


@pytest.mark.parametrize(
    "changes",
    [
        {"outcome": Outcome.UNKNOWN},
        {"aggregate": {"failed": 2}},
        {"counted": frozenset({"failed"})},
        {"headline": "no tests ran"},
        {"items": (an_item(location=Missing.NOT_PARSED),)},
        {"items": (an_item(fields={"phase": "setup"}),)},
        {"coverage": Coverage.attest(unit="failing_tests", parsed=1, expected=None)},
        {"operation": Operation(handle="cd" * 32, argv=("pytest",), exit_code=1, streams={"stdout": 9, "stderr": 0})},
    ],
)
def test_every_other_fact_changes_the_graph_id(changes: dict[str, object]) -> None:
    assert a_graph(**changes).graph_id != a_graph().graph_id


def test_missing_values_are_written_and_the_two_kinds_differ() -> None:
    """S3.5: no Missing key is dropped."""
    document = a_graph().to_canonical()
    assert document["items"][0]["location"] == {"missing": "not_present"}
    assert document["items"][0]["failure_class"] == {"missing": "not_present"}
    unread = a_graph(items=(an_item(failure_class=Missing.NOT_PARSED),)).to_canonical()
    assert unread["items"][0]["failure_class"] == {"missing": "not_parsed"}


def test_graph_id_is_fixed() -> None:
    """The canonical form is a public format: a change of it is a change of every receipt, and must be meant."""
    assert a_graph().graph_id == "54bc634312f86e77f47c5331a032137869c01eb5861eed229b46a3d9d391b0a8"


def test_census_holds_the_items_of_the_decision_unit_only() -> None:
    skipped = an_item("t.py::b", kind=ItemKind.SKIPPED_TEST, id="skipped_test:1")
    broken = an_item("t.py", kind=ItemKind.LOAD_ERROR, id="load_error:1")
    assert [item.identity for item in a_graph(items=(skipped, broken, an_item())).census] == ["t.py", "t.py::test_a"]


def test_precision_is_copied_into_the_canonical_form() -> None:
    full = Coverage.attest(unit="failing_tests", parsed=1, expected=1, precision=Precision.FULL)
    assert full.to_canonical()["precision"] == "full"
