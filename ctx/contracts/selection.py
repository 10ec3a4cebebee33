"""What a rendering selects, held against a contract over typed facts (S3.6, S4.3); never over rendered text."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ctx.contracts.model import Contract, FactClass, LossSeverity, StableOrder
from ctx.evidence import (
    SEVERITY_RANK,
    ClassState,
    CoverageReceipt,
    EvidenceGraph,
    EvidenceItem,
    Excerpt,
    ExcerptRole,
    FactClassState,
    ItemKind,
    Missing,
)

_SHOWN_IDS = 8
ADDRESSED = frozenset(
    {
        FactClass.FULL_TRACEBACK,
        FactClass.STDOUT,
        FactClass.STDERR,
        FactClass.FULL_TEXT,
        FactClass.OMISSION_ADDRESS,
    }
)
"""Classes that an address delivers; where nothing is stored, the digest says so in place of them (S2.7)."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Selection:
    """What one rendering shows of a graph; every id is an item of the graph."""

    named: frozenset[str] = frozenset()
    """Items whose identity is printed."""
    summarised: frozenset[str] = frozenset()
    detailed: frozenset[str] = frozenset()
    """Items with lines of their detail printed."""
    addressable: frozenset[str] = frozenset()
    """Items for which an address is printed, their own or that of the stored census."""
    stored: frozenset[str] = frozenset()
    """Items in the stored census."""
    aggregate: bool = False
    coverage: bool = False
    excerpts: tuple[Excerpt, ...] = ()
    """Excerpts shown besides details."""
    lines: Mapping[str, frozenset[int]] = field(default_factory=dict)
    """Stream -> raw numbers of the lines that are printed as captured."""
    shown_bytes: Mapping[str, int] = field(default_factory=dict)
    """Stream -> bytes of those lines as they are printed, line ends included."""
    cut_bytes: Mapping[str, int] = field(default_factory=dict)
    """Stream -> bytes that were cut out of those lines."""
    streams: frozenset[str] = frozenset()
    """Streams whose whole text is addressed."""
    inline: bool = False
    """The artifact itself: nothing is left out."""
    partial: tuple[str, ...] = ()
    """Required classes named in `PARTIAL:` lines."""


def ordered(graph: EvidenceGraph, contract: Contract, items: Sequence[EvidenceItem]) -> tuple[EvidenceItem, ...]:
    """`items` in the contract's stable order; ties keep source order."""
    match contract.stable_order:
        case StableOrder.SEVERITY:
            return tuple(sorted(items, key=lambda item: SEVERITY_RANK[item.severity]))
        case StableOrder.FILE:
            return tuple(sorted(items, key=lambda item: str(item.location)))
        case StableOrder.OCCURRENCE | StableOrder.RANK:
            return tuple(items)


def detail_order(graph: EvidenceGraph, contract: Contract, focus: Sequence[str] = ()) -> tuple[EvidenceItem, ...]:
    """Census items with a detail region, in the order in which details are worth printing (S6.10).

    The root first, then one representative of each signature by first occurrence, then the rest. `focus` terms move
    items that name them to the front and change nothing else.
    """
    candidates = [item for item in ordered(graph, contract, graph.census) if not isinstance(item.detail, Missing)]
    if focus:
        lowered = [term.lower() for term in focus]
        candidates.sort(key=lambda item: not any(term in f"{item.identity} {item.summary}".lower() for term in lowered))
    seen: set[tuple[str, str]] = set()
    first: list[EvidenceItem] = []
    rest: list[EvidenceItem] = []
    for item in candidates:
        (rest if item.signature in seen else first).append(item)
        seen.add(item.signature)
    return (*first, *rest)


def check_classes(graph: EvidenceGraph, contract: Contract, selection: Selection) -> Mapping[FactClass, FactClassState]:
    """The state of every class in a tier of the graph's outcome."""
    rules = contract.rules(graph.outcome)
    return {c: _check(c, graph, selection) for c in (*rules.required, *rules.preferred, *rules.retrievable)}


def binding_classes(graph: EvidenceGraph, contract: Contract) -> tuple[FactClass, ...]:
    """Classes that may not leave in silence: the required ones, and catastrophic ones of any tier (S4.6)."""
    rules = contract.rules(graph.outcome)
    others = (c for c in (*rules.preferred, *rules.retrievable) if contract.severity(c) is LossSeverity.CATASTROPHIC)
    return (*rules.required, *others)


def missing_from_graph(graph: EvidenceGraph, contract: Contract) -> tuple[FactClass, ...]:
    """Binding classes that the graph itself cannot give, whatever is selected: the `PARTIAL:` lines (S4.5)."""
    everything = Selection(
        named=frozenset(item.id for item in graph.items),
        summarised=frozenset(item.id for item in graph.items),
        detailed=frozenset(e.item_id for e in graph.excerpts if e.role is ExcerptRole.DETAIL),
        addressable=frozenset(item.id for item in graph.items),
        aggregate=bool(graph.aggregate),
        coverage=True,
        excerpts=tuple(e for e in graph.excerpts if e.role is not ExcerptRole.DETAIL),
        streams=frozenset(graph.operation.streams),
    )
    absent = []
    for fact_class in binding_classes(graph, contract):
        if _check(fact_class, graph, everything).state is ClassState.ABSENT:
            absent.append(fact_class)
    return tuple(absent)


def lost_classes(graph: EvidenceGraph, contract: Contract, selection: Selection) -> tuple[FactClass, ...]:
    """Binding classes that the graph holds and the selection does not deliver, nor declares as partial."""
    declared = set(selection.partial)
    lost = []
    for fact_class in binding_classes(graph, contract):
        if fact_class not in declared and _check(fact_class, graph, selection).state is ClassState.ABSENT:
            lost.append(fact_class)
    return tuple(lost)


def validate_selection(graph: EvidenceGraph, contract: Contract, selection: Selection) -> tuple[str, ...]:
    """Problems of a selection under a contract, each naming the class; empty where it may be delivered.

    A required class is present or stored, or its absence from the graph is declared (`selection.partial`); a
    catastrophic class is never dropped from any tier.
    """
    declared = set(selection.partial)
    binding = {*binding_classes(graph, contract), *contract.rules(graph.outcome).retrievable}
    problems = []
    for fact_class, state in check_classes(graph, contract, selection).items():
        if state.state is ClassState.ABSENT and fact_class in binding and fact_class not in declared:
            problems.append(f"{fact_class}: {state.with_fact} of {state.of} selected")
    return tuple(problems)


def build_receipt(
    graph: EvidenceGraph, contract: Contract, selection: Selection, *, plan_id: str, epoch_id: str
) -> CoverageReceipt:
    """The receipt of a selection: counts of real items, class states, and coverage copied, never recomputed."""
    census = graph.census
    states = check_classes(graph, contract, selection)
    required = contract.rules(graph.outcome).required
    total_lines = sum(graph.operation.streams.values())
    shown_lines = sum(len(numbers) for numbers in selection.lines.values())
    named = selection.named
    return CoverageReceipt(
        graph_id=graph.graph_id,
        contract_id=contract.contract_id,
        plan_id=plan_id,
        epoch_id=epoch_id,
        items_total=len(census),
        items_named=len(census) if selection.inline else sum(item.id in named for item in census),
        items_summarised=sum(item.id in selection.summarised for item in census),
        items_detailed=sum(item.id in selection.detailed for item in census),
        items_addressable=sum(item.id in selection.addressable for item in census),
        required_total=len(required),
        required_present=sum(states[c].state in (ClassState.PRESENT, ClassState.UNVERIFIABLE) for c in required),
        required_stored=sum(states[c].state is ClassState.STORED for c in required),
        classes={str(name): state for name, state in states.items()},
        omitted_items=0 if selection.inline else sum(item.id not in named for item in census),
        omitted_lines=0 if selection.inline else total_lines - shown_lines,
        omitted_bytes=0 if selection.inline else _omitted_bytes(graph, selection),
        complete=graph.coverage.complete,
        input_truncated=graph.coverage.input_truncated,
        precision=graph.coverage.precision,
        reasons=graph.coverage.reasons,
    )


def _omitted_bytes(graph: EvidenceGraph, selection: Selection) -> int:
    """Bytes of the masked text that are not printed: lines left out, and what was cut out of long lines.

    A line is printed with secrets masked and control characters visible, so its size differs a little from that of
    the text; a stream whose lines are all printed whole has nothing omitted all the same.
    """
    omitted = 0
    for stream, total in graph.stream_bytes.items():
        cut = selection.cut_bytes.get(stream, 0)
        if len(selection.lines.get(stream, ())) >= graph.operation.streams.get(stream, 0):
            omitted += cut
        else:
            omitted += max(cut, total - selection.shown_bytes.get(stream, 0))
    return omitted


def _state(with_fact: int, of: int, missing: Sequence[str] = (), *, stored: bool = False) -> FactClassState:
    if with_fact >= of:
        state = ClassState.STORED if stored else ClassState.PRESENT
    else:
        state = ClassState.ABSENT
    return FactClassState(
        state=state,
        with_fact=with_fact,
        of=of,
        missing_ids=tuple(missing[:_SHOWN_IDS]),
        missing_count=len(missing),
    )


def _flag(holds: bool) -> FactClassState:
    return _state(int(holds), 1)


def _check(fact_class: FactClass, graph: EvidenceGraph, selection: Selection) -> FactClassState:
    if selection.inline and fact_class is not FactClass.COMPLETE_IDENTITY_CENSUS:
        return _flag(True)
    match fact_class:
        case FactClass.AGGREGATE_COUNTS:
            return _flag(bool(graph.aggregate) and selection.aggregate)
        case FactClass.COMPLETE_IDENTITY_CENSUS:
            return _census(graph, selection)
        case FactClass.LOCATION:
            return _carried(graph, selection, [item.location for item in graph.census])
        case FactClass.FAILURE_CLASS:
            return _carried(graph, selection, [item.failure_class for item in graph.census])
        case FactClass.ONE_LINE_SUMMARY:
            with_summary = [item for item in graph.census if not isinstance(item.summary, Missing)]
            missing = [item.id for item in with_summary if item.id not in selection.summarised]
            return _state(len(with_summary) - len(missing), len(with_summary), missing)
        case FactClass.ROOT_DETAIL:
            none_has_any = all(isinstance(item.detail, Missing) for item in graph.census)
            return _flag(none_has_any or bool(selection.detailed))
        case FactClass.FULL_TRACEBACK:
            regions = [item for item in graph.census if not isinstance(item.detail, Missing)]
            missing = [item.id for item in regions if item.id not in selection.addressable]
            return _state(len(regions) - len(missing), len(regions), missing)
        case FactClass.STDOUT | FactClass.STDERR:
            stream = str(fact_class)
            return _flag(not graph.operation.streams.get(stream) or stream in selection.streams)
        case FactClass.FULL_TEXT | FactClass.OMISSION_ADDRESS:
            filled = [name for name, lines in graph.operation.streams.items() if lines]
            missing = [name for name in filled if name not in selection.streams]
            return _state(len(filled) - len(missing), len(filled), missing)
        case FactClass.CONCLUSION:
            return _conclusion(graph, selection)
        case FactClass.STANDING_LINES:
            standing = [item for item in graph.items if item.kind is ItemKind.LINE and item.fields.get("rank") == 1]
            missing = [item.id for item in standing if item.id not in selection.named]
            stored = bool(missing) and all(item_id in selection.stored for item_id in missing)
            count = len(standing) if stored else len(standing) - len(missing)
            return _state(count, len(standing), missing, stored=stored)
        case FactClass.COVERAGE_ATTESTATION:
            return _flag(selection.coverage)
        case _:
            return FactClassState(state=ClassState.UNVERIFIABLE, with_fact=0, of=0)


def _census(graph: EvidenceGraph, selection: Selection) -> FactClassState:
    items = graph.census
    missing = [item.id for item in items if not selection.inline and item.id not in selection.named]
    covered = all(item_id in selection.stored for item_id in missing)
    if not graph.coverage.complete:
        with_fact = len(items) - (0 if covered else len(missing))
        return FactClassState(
            state=ClassState.ABSENT,
            with_fact=with_fact,
            of=graph.coverage.expected if graph.coverage.expected is not None else len(items),
            missing_ids=tuple(missing[:_SHOWN_IDS]),
            missing_count=len(missing),
        )
    if missing and covered:
        return _state(len(items), len(items), stored=True)
    return _state(len(items) - len(missing), len(items), missing)


def _conclusion(graph: EvidenceGraph, selection: Selection) -> FactClassState:
    """Every concluding excerpt is selected, whole or shortened to lines that hold its last one."""
    wanted = [e for e in graph.excerpts if e.role in (ExcerptRole.CONCLUSION, ExcerptRole.TAIL)]
    whole = set(selection.excerpts)
    held = sum(
        e in whole or not e.lines or e.lines[-1].number in selection.lines.get(e.source.stream, ()) for e in wanted
    )
    return _state(held, len(wanted))


def _carried(graph: EvidenceGraph, selection: Selection, values: Sequence[object]) -> FactClassState:
    """A fact of every selected item: a value, or NOT_PRESENT in the source; NOT_PARSED counts against it."""
    pairs = list(zip(graph.census, values, strict=True))
    selected = [(i, v) for i, v in pairs if selection.inline or i.id in selection.named or i.id in selection.stored]
    missing = [item.id for item, value in selected if value is Missing.NOT_PARSED]
    stored = bool(selected) and all(item.id not in selection.named for item, _ in selected) and not selection.inline
    return _state(len(selected) - len(missing), len(selected), missing, stored=stored)
