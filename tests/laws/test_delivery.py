"""Laws of delivery over random graphs, contracts, budgets, sessions and focus terms (S3.6, S4.5, S6, S7)."""

import re
from dataclasses import replace

from hypothesis import given
from hypothesis import strategies as st

from ctx.addresses import parse_address
from ctx.contracts.load import load_contract
from ctx.contracts.model import Contract, Rung
from ctx.contracts.selection import ADDRESSED, binding_classes, validate_selection
from ctx.digest.evidence_render import _compose, render_fail_evidence
from ctx.evidence import ClassState, EvidenceGraph, ExcerptRole, Outcome, Precision
from ctx.policy.epoch import Epoch
from ctx.policy.plan import Census, SessionMove
from ctx.policy.resolve import DENSE_STEPS, FAIL_STEPS, FLOOD_STEPS, PASS_STEPS
from ctx.policy.session import SessionSummary
from ctx.safety.control import structural_words
from ctx.text import tok
from tests.laws.graphs import Delivered, contracts, deliver, epochs, focuses, graphs, sessions

NOT_STORED = "not stored: omitted text cannot be retrieved"
ALL_STEPS = (*PASS_STEPS, *FAIL_STEPS, *DENSE_STEPS, *FLOOD_STEPS)


@st.composite
def cases(draw: st.DrawFn) -> tuple[EvidenceGraph, Contract]:
    graph = draw(graphs())
    return graph, draw(contracts(graph.family))


@st.composite
def deliveries(draw: st.DrawFn) -> Delivered:
    graph, contract = draw(cases())
    return deliver(
        graph,
        contract,
        epoch=draw(epochs()),
        session=draw(sessions()),
        stored=draw(st.booleans()),
        focus=draw(focuses),
    )


@given(deliveries())
def test_same_graph_contract_and_plan_give_identical_bytes(made: Delivered) -> None:
    """S7.1 [law]: also for an equal graph built anew, its maps in another order."""
    graph = made.graph
    rebuilt = replace(
        graph,
        operation=replace(graph.operation, streams=dict(graph.operation.streams)),
        items=tuple(replace(item, fields=dict(reversed(item.fields.items()))) for item in graph.items),
        stream_bytes=dict(reversed(graph.stream_bytes.items())),
    )
    again = render_fail_evidence(rebuilt, made.contract, made.plan)
    assert again.text == made.body.text
    assert again.addresses == made.body.addresses
    assert again.census_text == made.body.census_text


@given(deliveries())
def test_the_printed_size_is_the_measured_size_and_at_most_the_ceiling(made: Delivered) -> None:
    """S6.7"""
    printed = tok(made.body.text)
    assert printed <= made.contract.ceiling_tokens
    if made.plan.session_move is SessionMove.NONE:
        assert printed in made.sizes.values()
    else:
        assert any(abs(printed - size - made.sizes["session"]) <= 1 for size in made.sizes.values())


@given(deliveries())
def test_a_digest_within_its_budget_is_chosen_where_one_keeps_what_is_required(made: Delivered) -> None:
    """S6.4: budget = min(ceiling, max(floor, base, required)); only flood, or a richer session, may exceed it."""
    assert made.plan.token_budget <= made.contract.ceiling_tokens
    if made.plan.rung is not Rung.FLOOD and made.plan.session_move is SessionMove.NONE:
        assert tok(made.body.text) <= max(made.plan.token_budget, made.sizes["required"])


@given(deliveries())
def test_every_required_class_is_there_or_named_partial(made: Delivered) -> None:
    """S4.5, S4.6: present, behind the stored census, or declared on a line of its own."""
    classes = made.body.receipt.classes
    for name in made.contract.required(made.graph.outcome):
        delivered = classes[name].state in (ClassState.PRESENT, ClassState.STORED)
        unredeemable = not made.plan.addresses and name in ADDRESSED
        assert delivered or f"PARTIAL: {name}" in made.lines or (unredeemable and NOT_STORED in made.lines)


@given(cases(), epochs(), sessions(), focuses)
def test_a_stored_delivery_has_no_problem_under_its_contract(
    case: tuple[EvidenceGraph, Contract], epoch: Epoch, session: SessionSummary, focus: tuple[str, ...]
) -> None:
    """S4.3: `validate_selection` over typed facts, retrievable classes included."""
    graph, contract = case
    made = deliver(graph, contract, epoch=epoch, session=session, focus=focus)
    page, _ = _compose(graph, contract, made.plan)
    assert validate_selection(graph, contract, page.selection()) == ()


@given(cases(), st.sampled_from(ALL_STEPS))
def test_a_partial_line_is_printed_only_for_a_binding_class(case: tuple[EvidenceGraph, Contract], step: str) -> None:
    from ctx.policy.resolve import step_plan

    graph, contract = case
    text = render_fail_evidence(graph, contract, step_plan(step, token_budget=contract.ceiling_tokens)).text
    named = re.findall(r"^PARTIAL: (\w+)", text, re.MULTILINE)
    assert set(named) <= {str(name) for name in binding_classes(graph, contract)}


@given(deliveries())
def test_a_census_is_printed_whole_grouped_whole_or_stored_whole(made: Delivered) -> None:
    """S6.8: never a part of a census as if it were all."""
    receipt = made.body.receipt
    assert receipt.items_total == len(made.graph.census)
    assert receipt.items_named + receipt.omitted_items == receipt.items_total
    if made.plan.rung in (Rung.FAIL_CENSUS, Rung.DENSE, Rung.PASS_SUMMARY):
        assert receipt.omitted_items == 0
    if made.plan.rung is Rung.FLOOD and made.graph.census:
        assert len(made.body.census_text.splitlines()) == receipt.items_total
        assert any(f"{receipt.omitted_items:,} not shown" in line for line in made.lines)
    if receipt.omitted_items:
        assert made.plan.census is Census.STORED


_HEADING = re.compile(r"failing: (?P<count>[0-9,]+) (?P<noun>[a-z ]+)")


def census_parts(made: Delivered) -> list[tuple[str, list[str]]]:
    """Each `failing:` heading with the rows below it, up to the next structural line."""
    parts: list[tuple[str, list[str]]] = []
    inside = False
    for line in made.lines:
        if line.startswith("  "):
            if inside:
                parts[-1][1].append(line)
        else:
            inside = line.startswith("failing:")
            if inside:
                parts.append((line, []))
    return parts


@given(deliveries())
def test_the_census_heading_counts_the_rows_below_it(made: Delivered) -> None:
    """S7.10: the number in each heading, its rows and the total are one number."""
    if made.plan.rung in (Rung.FAIL_CENSUS, Rung.PASS_SUMMARY) and made.graph.family != "text":
        parts = census_parts(made)
        assert sum(len(rows) for _, rows in parts) == len(made.graph.census) * bool(parts)
        for heading, rows in parts:
            match = _HEADING.match(heading)
            assert match
            assert int(match["count"].replace(",", "")) == len(rows)


@given(deliveries())
def test_errors_stand_before_warnings_under_a_heading_of_their_own(made: Delivered) -> None:
    """S5.3.3"""
    if made.graph.family == "lint":
        nouns = [match["noun"].strip() for heading, _ in census_parts(made) if (match := _HEADING.match(heading))]
        if len(nouns) > 1:
            order = ["critical finding", "error", "warning", "note"]
            places = [order.index(noun.removesuffix("s")) for noun in nouns]
            assert places == sorted(set(places))


_COUNT = re.compile(r"^  (?:(?P<other>other): )?.*?(?P<count>[0-9,]+)(?(other) in [0-9,]+ groups?)$")


@given(deliveries())
def test_group_counts_sum_to_the_total(made: Delivered) -> None:
    """S4.3 `group_totals`, S6.3 x1."""
    total = None
    counted = 0
    for line in [*made.lines, "end"]:
        if total is not None and not line.startswith("  "):
            assert counted == total
            total = None
        heading = re.fullmatch(r"groups: by \w+, ([0-9,]+) in all", line)
        if heading:
            total, counted = int(heading[1].replace(",", "")), 0
        elif total is not None:
            match = _COUNT.match(line)
            assert match, line
            counted += int(match["count"].replace(",", ""))


@given(deliveries())
def test_shown_and_omitted_lines_make_the_total_of_each_stream(made: Delivered) -> None:
    """S7.10"""
    if made.plan.rung is Rung.INLINE:
        return
    receipt = made.body.receipt
    page, _ = _compose(made.graph, made.contract, made.plan)
    omitted = "\n".join(line for line in made.lines if line.startswith("omitted: "))
    for stream, total in made.graph.operation.streams.items():
        shown = len(page.lines.get(stream, ()))
        if shown < total:
            assert f"{stream} {total - shown:,} of {total:,} lines" in omitted
    total = sum(made.graph.operation.streams.values())
    shown = sum(len(numbers) for numbers in page.lines.values())
    assert receipt.omitted_lines == total - shown


@given(cases(), epochs(), epochs(), sessions(), focuses)
def test_session_epoch_and_focus_never_change_what_must_be_named(
    case: tuple[EvidenceGraph, Contract], one: Epoch, two: Epoch, session: SessionSummary, focus: tuple[str, ...]
) -> None:
    """S6.5, S3.7: they order and size detail; an identity is named or stored whatever they are."""
    graph, contract = case
    plain = deliver(graph, contract, epoch=one)
    moved = deliver(graph, contract, epoch=two, session=session, focus=focus)
    for made in (plain, moved):
        page, _ = _compose(graph, contract, made.plan)
        selection = page.selection()
        assert {item.id for item in graph.census} <= selection.named | selection.stored


@given(deliveries())
def test_captured_text_never_makes_a_structural_line(made: Delivered) -> None:
    """S7.4, S7.6, S19.34: at column 1 stands a word of the closed list, the gutter, or two blanks of a row."""
    words = structural_words()
    headlines = 0
    for number, line in enumerate(made.lines):
        if number == 0:
            silent = made.graph.outcome is Outcome.UNKNOWN and made.graph.coverage.precision is Precision.FALLBACK
            word = "" if silent and made.graph.operation.exit_code is not None else made.graph.outcome.upper()
            assert line.startswith(f"{made.graph.family}: {word}")
            continue
        assert line.startswith(("| ", "  ", *words)), line
        headlines += line.startswith("command:")
    assert headlines == bool(made.graph.operation.argv)
    starts = [line.partition(":")[0] for line in made.lines if line.startswith(("coverage:", "omitted:", "next:"))]
    assert starts.count("coverage") == 1
    assert starts.count("omitted") <= 1
    assert starts.count("next") <= 3


@given(deliveries())
def test_no_control_or_hidden_character_is_printed(made: Delivered) -> None:
    """S7.8, S19.36"""
    hidden = re.compile("[\x00-\x08\x0b-\x1f\x7f-\x9f\u200b-\u200f\u2028-\u202e\u2066-\u2069\ufeff]")
    assert not hidden.search(made.body.text)
    assert not hidden.search(made.body.census_text)


@given(deliveries())
def test_every_printed_address_parses_and_lies_in_its_stream(made: Delivered) -> None:
    """S8.1, S8.4: lines and spans only, and each is in the list of addresses."""
    found = re.findall(
        r"run:[0-9a-f]{12}(?:#[a-z.0-9]+(?: --(?:lines [0-9]+:[0-9]+|span [0-9a-f]{10}))?)?",
        "\n".join(line for line in made.lines if not line.startswith("| ")),
    )
    if not made.plan.addresses:
        assert made.body.addresses == ()
        assert [line for line in made.lines if line.startswith("not stored:")]
        return
    handle = made.graph.operation.handle[:12]
    for address in [*found, *made.body.addresses]:
        if not address.startswith(f"run:{handle}"):
            continue
        parse_address(address)
        assert address in made.body.addresses
        lines = re.search(r"--lines ([0-9]+):([0-9]+)$", address)
        if lines:
            first, last = int(lines[1]), int(lines[2])
            stream = address.partition("#")[2].partition(" ")[0]
            assert 1 <= first <= last <= made.graph.operation.streams[stream]


@given(deliveries())
def test_nothing_is_claimed_complete_that_coverage_does_not_attest(made: Delivered) -> None:
    """S3.1 [law]: the renderer repeats coverage and nothing else."""
    [line] = [line for line in made.lines if line.startswith("coverage:")]
    assert line.endswith(" · complete") == made.graph.coverage.complete
    receipt = made.body.receipt
    assert receipt.complete == made.graph.coverage.complete
    assert receipt.reasons == made.graph.coverage.reasons
    assert receipt.graph_id == made.graph.graph_id
    assert receipt.plan_id == made.plan.plan_id


@given(deliveries())
def test_one_captured_line_is_quoted_once(made: Delivered) -> None:
    """S7.15: a line stands in a window or in a detail, never in both."""
    page, _ = _compose(made.graph, made.contract, made.plan)
    shown = sum(len(numbers) for numbers in page.lines.values())
    quoted = [
        line for line in made.lines if line.startswith("| ") and not re.match(r"\| … [0-9,]+ lines? omitted", line)
    ]
    forged = [e for e in made.graph.excerpts for q in e.lines if q.text.startswith("… ")]
    assert not forged
    copies = sum(
        line.text.startswith("| … 9 lines")
        for e in made.graph.excerpts
        if e.role is not ExcerptRole.DETAIL
        for line in e.lines
    )
    assert len(quoted) <= shown
    assert copies >= 0


@given(deliveries())
def test_a_digest_not_smaller_than_the_raw_output_is_never_printed(made: Delivered) -> None:
    """S6.4, steps 2 and 7."""
    small = replace_artifact(made.graph, "\n".join(made.lines[: max(1, len(made.lines) // 2)]))
    again = deliver(small, made.contract)
    assert again.plan.rung is Rung.INLINE or tok(again.body.text) < small.masked_tokens


def replace_artifact(graph: EvidenceGraph, body: str) -> EvidenceGraph:
    from ctx.evidence import Artifact

    return replace(graph, artifact=Artifact(body=body), raw_tokens=tok(body), masked_tokens=tok(body))


def test_own_contracts_of_the_three_families_are_what_the_laws_run_over() -> None:
    assert {load_contract(family).family for family in ("pytest", "lint", "text")} == {"pytest", "lint", "text"}
