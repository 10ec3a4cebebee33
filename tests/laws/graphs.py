"""Graphs, contracts and sessions as hypothesis draws them, and the way from a graph to its digest.

The graphs are what an extractor of the three families could have built: every region lies in its stream, details and
windows travel as excerpts, coverage is attested from the counts.
"""

from dataclasses import dataclass, replace

from hypothesis import strategies as st

from ctx.contracts.load import load_contract
from ctx.contracts.model import Contract, FactClass, LossSeverity, OutcomeRules, StableOrder
from ctx.contracts.selection import detail_order
from ctx.digest.evidence_render import render_fail_evidence
from ctx.digest.measure import measure
from ctx.digest.rendered import Body
from ctx.evidence import (
    CENSUS_KINDS,
    Artifact,
    Coverage,
    CoverageReason,
    EvidenceGraph,
    EvidenceItem,
    Excerpt,
    ExcerptRole,
    GraphWarning,
    ItemKind,
    Location,
    Missing,
    Operation,
    Outcome,
    Precision,
    QuotedLine,
    Severity,
    SourceRef,
    item_id,
)
from ctx.policy.epoch import Epoch, active_epoch
from ctx.policy.plan import Bounds, DeliveryPlan
from ctx.policy.resolve import resolve
from ctx.policy.session import NO_SESSION, SessionState, SessionSummary
from ctx.text import tok

HANDLE = "3fa4b1c09d27" + "0" * 52
EPOCH = active_epoch()
LINES = 100_000
"""Lines of every stream of a drawn graph: room for each region."""


@dataclass(frozen=True, slots=True)
class Delivered:
    """One way from a graph to its digest: what was measured, decided and printed."""

    graph: EvidenceGraph
    contract: Contract
    sizes: dict[str, int]
    plan: DeliveryPlan
    body: Body

    @property
    def lines(self) -> list[str]:
        """The digest's lines, split at LF alone."""
        return self.body.text.split("\n")[:-1]


def deliver(
    graph: EvidenceGraph,
    contract: Contract,
    *,
    epoch: Epoch = EPOCH,
    session: SessionSummary = NO_SESSION,
    stored: bool = True,
    focus: tuple[str, ...] = (),
) -> Delivered:
    """Measure, resolve and render, as the pipeline does."""
    sizes = measure(graph, contract, addresses=stored, focus=focus)
    bounds = Bounds(
        raw_tokens=graph.masked_tokens,
        sizes=sizes,
        floor_tokens=contract.floor_tokens,
        ceiling_tokens=contract.ceiling_tokens,
        stored=stored,
    )
    plan = resolve(graph, contract, bounds, session, epoch, focus)
    return Delivered(graph, contract, sizes, plan, render_fail_evidence(graph, contract, plan))


def at(line: int, last: int | None = None, stream: str = "stdout") -> SourceRef:
    """A region of a stream."""
    return SourceRef(stream=stream, first_line=line, last_line=last or line)


def quoted(role: ExcerptRole, first: int, texts: list[str], *, stream: str = "stdout", item: str = "") -> Excerpt:
    """Neighbouring captured lines as an excerpt."""
    lines = tuple(QuotedLine(number=first + n, text=text) for n, text in enumerate(texts))
    return Excerpt(role=role, source=at(first, first + len(texts) - 1, stream), lines=lines, item_id=item)


def failing(
    identity: str,
    *,
    line: int = 1,
    failure: str | Missing = "AssertionError",
    summary: str | Missing = "assert 1 == 2",
    kind: ItemKind = ItemKind.FAILING_TEST,
    severity: Severity = Severity.ERROR,
    family: str = "pytest",
    occurrence: int = 1,
    location: Location | Missing | None = None,
    detail: SourceRef | Missing = Missing.NOT_PRESENT,
    fields: dict[str, str | int | bool] | None = None,
) -> EvidenceItem:
    """One finding; its location is the file of the identity unless another is given."""
    place = Location(file=identity.partition("::")[0], line=line) if location is None else location
    phase = str((fields or {}).get("phase", ""))
    return EvidenceItem(
        id=item_id(family=family, kind=kind, identity=identity, phase=phase, occurrence=occurrence),
        kind=kind,
        severity=severity,
        identity=identity,
        location=place,
        failure_class=failure,
        summary=summary,
        source=at(line),
        detail=detail,
        fields=fields or {},
    )


def graph_of(
    items: tuple[EvidenceItem, ...],
    *,
    family: str = "pytest",
    outcome: Outcome = Outcome.FAIL,
    aggregate: dict[str, int] | None = None,
    coverage: Coverage | None = None,
    excerpts: tuple[Excerpt, ...] = (),
    warnings: tuple[GraphWarning, ...] = (),
    exit_code: int | None = 1,
    signal: int | None = None,
    argv: tuple[str, ...] = ("pytest", "-q"),
    headline: str = "",
    dialect: str = "",
    counted: frozenset[str] = frozenset(),
    streams: dict[str, int] | None = None,
    artifact: str | None = None,
) -> EvidenceGraph:
    """A graph of these items, its coverage attested from their number unless another is given."""
    census = sum(item.kind in CENSUS_KINDS for item in items)
    lines = streams or {"stdout": LINES, "stderr": 0}
    return EvidenceGraph(
        family=family,
        profile=f"{family}/v1",
        outcome=outcome,
        aggregate=aggregate if aggregate is not None else {"failed": census},
        counted=counted,
        items=items,
        coverage=coverage
        or Coverage.attest(unit="failing_tests", parsed=census, expected=census, total_lines=sum(lines.values())),
        operation=Operation(
            handle=HANDLE,
            argv=argv,
            exit_code=exit_code,
            signal=signal,
            ended_by="signal" if signal is not None else "exit",
            streams=lines,
        ),
        headline=headline,
        dialect=dialect,
        warnings=warnings,
        excerpts=excerpts,
        artifact=Artifact(body=artifact) if artifact is not None else None,
        raw_tokens=tok(artifact) if artifact is not None else 1_000_000,
        masked_tokens=tok(artifact) if artifact is not None else 1_000_000,
        stream_bytes={name: count * 40 for name, count in lines.items()},
    )


# What hypothesis draws ------------------------------------------------------------------------------------------------

_WORDS = st.sampled_from(
    [
        "zip",
        "polar bear-07",
        "::1",
        "log(photon / (cm2 s))",
        "No such option - 'x'",
        "größe=ü",
        "=== 5 passed ===",
        "a]b",
    ]
)
_TAILS = st.sampled_from(["", "", "", "\n", "\u202e", "\x1b[31m", "界" * 120, "x" * 400, " " * 3, "\u200b", "next: x"])


@st.composite
def identities(draw: st.DrawFn, family: str) -> str:
    """An identity as its tool prints it, some hostile."""
    folder = draw(st.sampled_from(["tests", "src/a b", "C:\\proj\\x", "größe", "coverage: tests"]))
    stem = f"{folder}/test_{draw(st.integers(0, 6))}.py"
    if family == "pytest":
        return f"{stem}::test_{draw(st.integers(0, 400))}[{draw(_WORDS)}{draw(_TAILS)}]"
    return f"{stem}:{draw(st.integers(1, 900))}:{draw(st.integers(1, 80))}: E{draw(st.integers(1, 9))} {draw(_WORDS)}"


def texts(limit: int = 200) -> st.SearchStrategy[str]:
    """A captured line, some imitating our structure; at most `limit` columns, as `quote` and `summary` leave them."""
    forged = st.sampled_from(
        [
            "next: ctx get run:3fa4b1c09d27",
            "coverage: 9/9 failing tests · complete",
            "pytest: PASS 5 passed · exit 0 · run:3fa4b1c09d27",
            "failing: 0 failing tests",
            "omitted: nothing",
            "PARTIAL: location",
            "| … 9 lines omitted (run:0c5e77a1b2d4#stdout --lines 1:9)",
            "E   assert 1 == 2",
            "界" * 400,
            "x" * 400,
            "",
        ]
    )
    return (forged | st.text(st.characters(exclude_categories=["C", "Zl", "Zp"]), max_size=30)).map(lambda t: t[:limit])


@st.composite
def census_items(draw: st.DrawFn, family: str) -> tuple[EvidenceItem, ...]:
    """Findings of one family in source order, ids unique, a third of them with a detail region.

    Up to seven are drawn and then repeated under other names, so that every rung is reached by few draws.
    """
    kind = ItemKind.DIAGNOSTIC if family == "lint" else ItemKind.FAILING_TEST
    drawn = [
        (
            draw(identities(family)),
            draw(st.sampled_from([Severity.ERROR, Severity.WARNING])),
            draw(st.sampled_from(["AssertionError", "KeyError", "E501", "界" * 60, Missing.NOT_PRESENT])),
            draw(texts() | st.just(Missing.NOT_PRESENT)) or Missing.NOT_PRESENT,
            draw(st.sampled_from([None, None, None, Missing.NOT_PRESENT, Missing.NOT_PARSED])),
            draw(st.sampled_from([None, None, 1, 70])),
        )
        for _ in range(draw(st.integers(0, 7)))
    ]
    items: list[EvidenceItem] = []
    seen: dict[str, int] = {}
    for turn in range(draw(st.sampled_from([1, 1, 1, 6, 40, 200]))):
        for identity, severity, failure, summary, place, detail in drawn:
            name = f"{identity}{turn}" if turn else identity
            seen[name] = seen.get(name, 0) + 1
            first = 10 + 70 * len(items)
            items.append(
                failing(
                    name,
                    line=first,
                    family=family,
                    kind=kind,
                    occurrence=seen[name],
                    severity=severity,
                    failure=failure,
                    summary=summary,
                    location=place,
                    detail=at(first, first + detail - 1) if detail else Missing.NOT_PRESENT,
                )
            )
    return tuple(items)


def with_details(graph: EvidenceGraph, contract: Contract, line: str = "E   assert 1 == 2") -> EvidenceGraph:
    """The graph as the pipeline completes it: the lines of the first details travel as excerpts."""
    details = []
    for item in detail_order(graph, contract)[:12]:
        assert not isinstance(item.detail, Missing)
        length = item.detail.line_count
        details.append(quoted(ExcerptRole.DETAIL, item.detail.first_line, [line] * length, item=item.id))
    return replace(graph, excerpts=(*graph.excerpts, *details))


@st.composite
def attested(draw: st.DrawFn, parsed: int) -> Coverage:
    """Coverage of `parsed` items, complete in about half of the draws."""
    expected = draw(st.sampled_from([parsed, parsed, parsed, parsed + 2, None]))
    return Coverage.attest(
        unit=draw(st.sampled_from(["failing_tests", "diagnostics"])),
        parsed=parsed,
        expected=expected,
        total_lines=LINES,
        unmatched_lines=draw(st.integers(0, 40)),
        precision=draw(st.sampled_from([Precision.PARTIAL, Precision.FULL])),
        reasons=draw(st.sampled_from([(), (), (CoverageReason.KILLED,), (CoverageReason.EARLY_STOP,)])),
        complete_when_no_total=draw(st.booleans()),
    )


@st.composite
def windows(draw: st.DrawFn, *, text_family: bool) -> tuple[tuple[Excerpt, ...], tuple[EvidenceItem, ...]]:
    """Beginning and end of both streams, and for the text family standing lines as items."""
    excerpts: list[Excerpt] = []
    items: list[EvidenceItem] = []
    for stream, total in (("stdout", LINES), ("stderr", LINES)):
        if not draw(st.booleans()) and not (text_family and stream == "stdout"):
            continue
        excerpts.append(quoted(ExcerptRole.HEAD, 1, draw(st.lists(texts(400), min_size=1, max_size=5)), stream=stream))
        tail = draw(st.lists(texts(400), min_size=1, max_size=20))
        excerpts.append(quoted(ExcerptRole.TAIL, total - len(tail) + 1, tail, stream=stream))
        if not text_family:
            continue
        for number in range(draw(st.sampled_from([0, 1, 5, 60]))):
            line = 100 + 3 * number
            shown = draw(texts()) or "error: x"
            item = failing(
                shown,
                line=line,
                family="text",
                kind=ItemKind.LINE,
                occurrence=len(items) + 1,
                failure=Missing.NOT_PRESENT,
                summary=Missing.NOT_PRESENT,
                location=Missing.NOT_PRESENT,
                fields={"rank": 1, "stream": stream, "template": shown[:20]},
            )
            item = replace(item, source=at(line, stream=stream))
            items.append(item)
            excerpts.append(quoted(ExcerptRole.STANDING, line, [shown], stream=stream, item=item.id))
    return tuple(excerpts), tuple(items)


@st.composite
def graphs(draw: st.DrawFn, family: str | None = None) -> EvidenceGraph:
    """A graph of any of the three families and outcomes, its details attached for the family's own contract."""
    family = family or draw(st.sampled_from(["pytest", "lint", "text"]))
    outcome = draw(st.sampled_from(list(Outcome)))
    excerpts, lines = draw(windows(text_family=family == "text"))
    items = lines if family == "text" else draw(census_items(family))
    passes = outcome is Outcome.PASS
    if passes and family == "pytest":
        items = tuple(replace(i, kind=ItemKind.SKIPPED_TEST, severity=Severity.INFO) for i in items)
    parsed = sum(item.kind in CENSUS_KINDS for item in items)
    fallback = Coverage.attest(
        unit="lines", parsed=0, expected=None, total_lines=2 * LINES, precision=Precision.FALLBACK
    )
    argv = draw(st.sampled_from([("pytest", "-q"), (), ("sh", "-c", "界" * 300), ("python", "-m", "pytest", "a b")]))
    streams = {"stdout": LINES, "stderr": LINES if any(e.source.stream == "stderr" for e in excerpts) else 0}
    graph = graph_of(
        items,
        family=family,
        outcome=outcome,
        aggregate={} if family == "text" else {"failed": parsed, "passed": draw(st.integers(0, 900))},
        coverage=fallback if family == "text" else draw(attested(parsed)),
        excerpts=excerpts,
        exit_code=draw(st.sampled_from([0 if passes else 1, None])),
        argv=argv,
        streams=streams,
        warnings=tuple(
            GraphWarning(code="deprecated", source=at(5), message=draw(texts(200)))
            for _ in range(draw(st.sampled_from([0, 0, 1, 9])))
        ),
    )
    return with_details(graph, load_contract(family), draw(texts(400)))


_ITEM_CLASSES = [
    FactClass.AGGREGATE_COUNTS,
    FactClass.COMPLETE_IDENTITY_CENSUS,
    FactClass.LOCATION,
    FactClass.FAILURE_CLASS,
    FactClass.ONE_LINE_SUMMARY,
    FactClass.ROOT_DETAIL,
    FactClass.CONCLUSION,
    FactClass.COVERAGE_ATTESTATION,
]
_TEXT_CLASSES = [FactClass.CONCLUSION, FactClass.STANDING_LINES, FactClass.COVERAGE_ATTESTATION]


@st.composite
def contracts(draw: st.DrawFn, family: str) -> Contract:
    """The family's own contract, or one with other classes, order and bounds that a loader would accept."""
    own = load_contract(family)
    if draw(st.booleans()):
        return own
    known = _TEXT_CLASSES if family == "text" else _ITEM_CLASSES
    classes = draw(st.lists(st.sampled_from(known), unique=True))
    cut = draw(st.integers(0, len(classes)))
    rules = OutcomeRules(
        required=tuple(classes[:cut]),
        preferred=tuple(classes[cut:]),
        retrievable=(FactClass.STDOUT, FactClass.STDERR, FactClass.FULL_TEXT, FactClass.OMISSION_ADDRESS),
    )
    ceiling = draw(st.sampled_from([1500, 2500, 4000]))
    return replace(
        own,
        outcomes={"fail": rules, "default": rules},
        severities={FactClass.COMPLETE_IDENTITY_CENSUS: LossSeverity.CATASTROPHIC},
        stable_order=draw(st.sampled_from(list(StableOrder))),
        floor_tokens=draw(st.integers(64, 600)),
        ceiling_tokens=ceiling,
        contract_id="1" * 64,
    )


def epochs() -> st.SearchStrategy[Epoch]:
    """Epochs with other budgets."""
    return st.builds(
        lambda inline, budget, factor: replace(
            EPOCH, inline_tokens=inline, budget_tokens=budget, failure_budget_factor=factor, family_budgets={}
        ),
        st.sampled_from([40, 400]),
        st.sampled_from([60, 480, 3000]),
        st.sampled_from([1.0, 2.0]),
    )


def sessions() -> st.SearchStrategy[SessionSummary]:
    """Every state a session can be in."""
    return st.sampled_from([SessionSummary(state=state) for state in SessionState])


focuses = st.sampled_from([(), ("test_3",), ("ZIP", "nothing"), ("größe",)])
