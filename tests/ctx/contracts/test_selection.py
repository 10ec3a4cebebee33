"""Fact classes and their checkers: graph and selection in, a state out; no text is looked at (S4.3, S3.6)."""

from dataclasses import replace

import pytest

from ctx.contracts.load import load_contract
from ctx.contracts.model import Contract, FactClass, LossSeverity, OutcomeRules
from ctx.contracts.selection import (
    Selection,
    build_receipt,
    check_classes,
    detail_order,
    lost_classes,
    missing_from_graph,
    validate_selection,
)
from ctx.evidence import (
    ClassState,
    Coverage,
    EvidenceGraph,
    ExcerptRole,
    ItemKind,
    Location,
    Missing,
)
from tests.laws.graphs import at, failing, graph_of, quoted

A = failing("t.py::test_a", line=10, detail=at(10, 20))
B = failing("t.py::test_b", line=30, detail=at(30, 40), summary=Missing.NOT_PRESENT)
C = failing("t.py::test_c", line=50, failure=Missing.NOT_PRESENT, location=Missing.NOT_PRESENT)
ALL = frozenset({A.id, B.id, C.id})
STREAMS = frozenset({"stdout", "stderr"})


def contract_of(*required: FactClass, preferred: tuple[FactClass, ...] = (), **severe: LossSeverity) -> Contract:
    """The pytest contract with these classes for every outcome."""
    rules = OutcomeRules(required=required, preferred=preferred)
    severities = {FactClass(name): severity for name, severity in severe.items()}
    return replace(load_contract("pytest"), outcomes={"default": rules}, severities=severities)


def graph(**changed: object) -> EvidenceGraph:
    return replace(graph_of((A, B, C), streams={"stdout": 100, "stderr": 5}), **changed)


def state(
    fact_class: FactClass, selection: Selection, made: EvidenceGraph | None = None
) -> tuple[ClassState, int, int]:
    found = check_classes(made or graph(), contract_of(fact_class), selection)[fact_class]
    return found.state, found.with_fact, found.of


PRESENT, STORED, ABSENT = ClassState.PRESENT, ClassState.STORED, ClassState.ABSENT
CUT = Coverage.attest(unit="failing_tests", parsed=3, expected=5)


@pytest.mark.parametrize(
    ("fact_class", "selection", "expected"),
    [
        (FactClass.AGGREGATE_COUNTS, Selection(aggregate=True), (PRESENT, 1, 1)),
        (FactClass.AGGREGATE_COUNTS, Selection(), (ABSENT, 0, 1)),
        (FactClass.COMPLETE_IDENTITY_CENSUS, Selection(named=ALL), (PRESENT, 3, 3)),
        (FactClass.COMPLETE_IDENTITY_CENSUS, Selection(named=ALL - {B.id}), (ABSENT, 2, 3)),
        (FactClass.COMPLETE_IDENTITY_CENSUS, Selection(named=ALL - {B.id}, stored=ALL), (STORED, 3, 3)),
        (FactClass.COMPLETE_IDENTITY_CENSUS, Selection(stored=ALL - {B.id}), (ABSENT, 0, 3)),
        (FactClass.LOCATION, Selection(named=ALL), (PRESENT, 3, 3)),
        (FactClass.LOCATION, Selection(), (PRESENT, 0, 0)),
        (FactClass.FAILURE_CLASS, Selection(named=ALL), (PRESENT, 3, 3)),
        (FactClass.ONE_LINE_SUMMARY, Selection(summarised=frozenset({A.id, C.id})), (PRESENT, 2, 2)),
        (FactClass.ONE_LINE_SUMMARY, Selection(summarised=frozenset({A.id})), (ABSENT, 1, 2)),
        (FactClass.ROOT_DETAIL, Selection(detailed=frozenset({B.id})), (PRESENT, 1, 1)),
        (FactClass.ROOT_DETAIL, Selection(named=ALL), (ABSENT, 0, 1)),
        (FactClass.FULL_TRACEBACK, Selection(addressable=frozenset({A.id, B.id})), (PRESENT, 2, 2)),
        (FactClass.FULL_TRACEBACK, Selection(addressable=frozenset({A.id})), (ABSENT, 1, 2)),
        (FactClass.STDOUT, Selection(streams=frozenset({"stdout"})), (PRESENT, 1, 1)),
        (FactClass.STDERR, Selection(streams=frozenset({"stdout"})), (ABSENT, 0, 1)),
        (FactClass.FULL_TEXT, Selection(streams=frozenset({"stdout"})), (ABSENT, 1, 2)),
        (FactClass.OMISSION_ADDRESS, Selection(streams=STREAMS), (PRESENT, 2, 2)),
        (FactClass.COVERAGE_ATTESTATION, Selection(coverage=True), (PRESENT, 1, 1)),
        (FactClass.COVERAGE_ATTESTATION, Selection(), (ABSENT, 0, 1)),
    ],
)  # fmt: skip
def test_each_class_holds_for_what_is_selected_and_for_nothing_else(
    fact_class: FactClass, selection: Selection, expected: tuple[ClassState, int, int]
) -> None:
    """S4.3, by hand: three failures, two with detail, two with a summary, two streams with lines."""
    assert state(fact_class, selection) == expected


def test_a_census_of_a_cut_input_is_never_complete() -> None:
    """S3.1, S4.3: with all that was parsed selected, two of five are still missing."""
    assert state(FactClass.COMPLETE_IDENTITY_CENSUS, Selection(named=ALL), graph(coverage=CUT)) == (ABSENT, 3, 5)
    assert state(FactClass.COMPLETE_IDENTITY_CENSUS, Selection(inline=True), graph(coverage=CUT))[0] is ABSENT


def test_what_could_not_be_parsed_counts_against_a_class_and_what_is_not_there_does_not() -> None:
    """S3: the two kinds of missing are told apart."""
    unread = graph(items=(A, B, replace(C, location=Missing.NOT_PARSED)))
    assert state(FactClass.LOCATION, Selection(named=ALL), unread) == (ABSENT, 2, 3)
    assert state(FactClass.LOCATION, Selection(named=ALL - {C.id}), unread) == (PRESENT, 2, 2)
    assert isinstance(A.location, Location)


def test_an_empty_stream_needs_no_address() -> None:
    quiet = graph_of((A,), streams={"stdout": 10, "stderr": 0})
    assert state(FactClass.STDERR, Selection(), quiet)[0] is PRESENT


def test_a_conclusion_is_held_whole_or_by_its_last_line() -> None:
    end = quoted(ExcerptRole.CONCLUSION, 90, ["one", "two"])
    made = graph(excerpts=(end,))
    assert state(FactClass.CONCLUSION, Selection(excerpts=(end,)), made) == (PRESENT, 1, 1)
    assert state(FactClass.CONCLUSION, Selection(lines={"stdout": frozenset({91})}), made) == (PRESENT, 1, 1)
    assert state(FactClass.CONCLUSION, Selection(lines={"stdout": frozenset({90})}), made) == (ABSENT, 0, 1)


def test_standing_lines_are_shown_or_stored_and_the_rare_ones_may_leave() -> None:
    loud, rare = (
        failing(name, kind=ItemKind.LINE, family="text", fields={"rank": rank}) for name, rank in (("x", 1), ("y", 2))
    )
    made = graph_of((loud, rare), family="text", streams={"stdout": 10})
    assert state(FactClass.STANDING_LINES, Selection(named=frozenset({loud.id})), made) == (PRESENT, 1, 1)
    assert state(FactClass.STANDING_LINES, Selection(named=frozenset({rare.id})), made) == (ABSENT, 0, 1)
    assert state(FactClass.STANDING_LINES, Selection(stored=frozenset({loud.id})), made) == (STORED, 1, 1)


def test_a_class_without_a_checker_is_said_to_be_unverifiable() -> None:
    """Of families that this release does not have."""
    assert state(FactClass.CONTENT_HASH, Selection())[0] is ClassState.UNVERIFIABLE


def test_the_artifact_itself_holds_every_class_but_a_completeness_that_nobody_attests() -> None:
    for fact_class in FactClass:
        assert state(fact_class, Selection(inline=True))[0] is PRESENT, fact_class


def test_a_problem_names_the_class_that_a_selection_loses_unless_it_is_declared() -> None:
    """S4.5: required classes; S4.6: catastrophic ones of any tier."""
    contract = contract_of(FactClass.AGGREGATE_COUNTS, FactClass.COMPLETE_IDENTITY_CENSUS)
    some = Selection(aggregate=True, named=frozenset({A.id}))
    assert validate_selection(graph(), contract, some) == ("complete_identity_census: 1 of 3 selected",)
    assert lost_classes(graph(), contract, some) == (FactClass.COMPLETE_IDENTITY_CENSUS,)
    declared = replace(some, partial=("complete_identity_census",))
    assert validate_selection(graph(), contract, declared) == ()
    assert lost_classes(graph(), contract, declared) == ()
    preferred = contract_of(preferred=(FactClass.ROOT_DETAIL, FactClass.ONE_LINE_SUMMARY))
    assert validate_selection(graph(), preferred, Selection()) == ()
    severe = replace(preferred, severities={FactClass.ROOT_DETAIL: LossSeverity.CATASTROPHIC})
    assert validate_selection(graph(), severe, Selection()) == ("root_detail: 0 of 1 selected",)


def test_partial_lines_are_what_no_selection_could_give() -> None:
    """S4.5: absent from the graph, not left out by a rendering."""
    contract = contract_of(FactClass.AGGREGATE_COUNTS, FactClass.COMPLETE_IDENTITY_CENSUS, FactClass.LOCATION)
    assert missing_from_graph(graph(), contract) == ()
    assert missing_from_graph(graph(coverage=CUT), contract) == (FactClass.COMPLETE_IDENTITY_CENSUS,)
    assert missing_from_graph(graph(aggregate={}), contract) == (FactClass.AGGREGATE_COUNTS,)
    unread = graph(items=(A, replace(B, location=Missing.NOT_PARSED)))
    assert missing_from_graph(unread, contract) == (FactClass.LOCATION,)


def test_a_receipt_counts_real_items() -> None:
    """S3.6, by hand: two of three named, one with a summary and a detail, all in the stored census."""
    contract = contract_of(FactClass.AGGREGATE_COUNTS, FactClass.COMPLETE_IDENTITY_CENSUS, FactClass.ROOT_DETAIL)
    selection = Selection(
        named=frozenset({A.id, B.id}),
        summarised=frozenset({A.id}),
        detailed=frozenset({A.id}),
        addressable=ALL,
        stored=ALL,
        aggregate=True,
        lines={"stdout": frozenset(range(10, 21))},
        shown_bytes={"stdout": 440},
        cut_bytes={"stdout": 7},
    )
    made = graph(stream_bytes={"stdout": 4000, "stderr": 200})
    receipt = build_receipt(made, contract, selection, plan_id="p", epoch_id="e")
    assert (receipt.items_total, receipt.items_named, receipt.omitted_items) == (3, 2, 1)
    assert (receipt.items_summarised, receipt.items_detailed, receipt.items_addressable) == (1, 1, 3)
    assert (receipt.required_total, receipt.required_present, receipt.required_stored) == (3, 2, 1)
    assert receipt.required_fraction == 1.0
    assert (receipt.omitted_lines, receipt.omitted_bytes) == (89 + 5, 3560 + 200)
    assert (receipt.graph_id, receipt.contract_id) == (made.graph_id, contract.contract_id)
    missing = check_classes(made, contract, replace(selection, stored=frozenset()))[FactClass.COMPLETE_IDENTITY_CENSUS]
    assert (missing.missing_ids, missing.missing_count) == ((C.id,), 1)


def test_details_are_ranked_by_root_then_one_of_each_signature_then_the_rest() -> None:
    """S6.10; a focus moves what it names to the front and changes nothing else."""
    items = tuple(
        failing(f"t.py::test_{name}", line=10 * place, failure=failure, detail=at(10 * place, 10 * place + 3))
        for place, (name, failure) in enumerate([("a", "X"), ("b", "X"), ("c", "Y"), ("d", "X"), ("e", "Z")], 1)
    )
    made, contract = graph_of(items), load_contract("pytest")
    assert [item.identity[-1] for item in detail_order(made, contract)] == ["a", "c", "e", "b", "d"]
    assert [item.identity[-1] for item in detail_order(made, contract, ("test_d",))] == ["d", "c", "e", "a", "b"]


def test_a_missing_list_names_the_first_eight_and_counts_all() -> None:
    """S3: `missing_ids` is short, `missing_count` is not."""
    items = tuple(failing(f"t.py::test_{n:02}") for n in range(20))
    found = check_classes(graph_of(items), contract_of(FactClass.COMPLETE_IDENTITY_CENSUS), Selection())
    census = found[FactClass.COMPLETE_IDENTITY_CENSUS]
    assert census.missing_ids == tuple(item.id for item in items[:8])
    assert census.missing_count == 20
