"""The pure renderer: graph + contract + plan -> text, one function a rung (DESIGN 6, S7).

It reads no clock, environment, locale, session, store or global, knows no policy, and cannot claim completeness: it
repeats what Coverage says. Order of every digest: identity and outcome, the complete required census, ranked detail,
omissions and coverage, `next:` lines.
"""

import re
import shlex
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace

from ctx.contracts.model import Contract, FactClass, Rung, StableOrder
from ctx.contracts.selection import (
    ADDRESSED,
    Selection,
    build_receipt,
    detail_order,
    lost_classes,
    missing_from_graph,
    ordered,
)
from ctx.digest import rows
from ctx.digest.inline_render import render_inline
from ctx.digest.rendered import Body
from ctx.digest.rows import Ink, number, plural
from ctx.evidence import (
    EvidenceGraph,
    EvidenceItem,
    Excerpt,
    ExcerptRole,
    ItemKind,
    Location,
    Missing,
    Outcome,
    Precision,
    QuotedLine,
    Severity,
    SourceRef,
)
from ctx.policy.plan import Census, DeliveryPlan, SessionMove, Summaries
from ctx.text import tok

GROUP_ROWS = 12
FLOOD_SAMPLES = 3
SAMPLE_COLUMNS = 200
BOUNDED_COLUMNS = 120
NEXT_LINES = 3
WARNING_ROWS = 5
_SIDE_KINDS = (
    ItemKind.XPASSED_TEST,
    ItemKind.FLAKY_TEST,
    ItemKind.RERUN_TEST,
    ItemKind.XFAILED_TEST,
    ItemKind.SKIPPED_TEST,
)


@dataclass(slots=True)
class _Page:
    """The digest under construction: its lines, and what they select."""

    graph: EvidenceGraph
    contract: Contract
    plan: DeliveryPlan
    ink: Ink
    named: set[str] = field(default_factory=set)
    summarised: set[str] = field(default_factory=set)
    detailed: set[str] = field(default_factory=set)
    addressable: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    excerpts: list[Excerpt] = field(default_factory=list)
    lines: dict[str, set[int]] = field(default_factory=dict)
    shown_bytes: dict[str, int] = field(default_factory=dict)
    cut_bytes: dict[str, int] = field(default_factory=dict)
    streams: set[str] = field(default_factory=set)
    partial: tuple[str, ...] = ()
    lost: tuple[FactClass, ...] = ()
    first_hidden: SourceRef | None = None
    census_text: str = ""

    def quote(self, lines: Sequence[QuotedLine], stream: str, *, edges: tuple[int, int] | None = None) -> None:
        self.ink.extend(rows.quoted(lines, stream, self.ink, edges=edges))
        numbers = self.lines.setdefault(stream, set())
        for line in lines:
            if line.number in numbers:
                continue
            numbers.add(line.number)
            shown = len("".join((line.text, *(text for _, text in line.more))).encode("utf-8", "replace")) + 1
            self.shown_bytes[stream] = self.shown_bytes.get(stream, 0) + shown
            cut = sum(cut.size for cut, _ in line.more)
            self.cut_bytes[stream] = self.cut_bytes.get(stream, 0) + cut

    @property
    def wide(self) -> bool:
        """Whether long lines are shown wide: in the first step of a ladder."""
        return self.plan.rung in (Rung.PASS_SUMMARY, Rung.FAIL_CENSUS) and self.plan.context_lines > 0

    def hide(self, source: SourceRef | None) -> None:
        """Remember the first region that is not shown: the first `next:` line."""
        if source is not None and self.first_hidden is None:
            self.first_hidden = source

    def store_census(self, items: Sequence[EvidenceItem]) -> None:
        self.census_text = "".join(rows.census_line(item) + "\n" for item in items)
        self.stored.update(item.id for item in items)
        self.addressable.update(item.id for item in items)

    def selection(self) -> Selection:
        return Selection(
            named=frozenset(self.named),
            summarised=frozenset(self.summarised),
            detailed=frozenset(self.detailed),
            addressable=frozenset(self.addressable),
            stored=frozenset(self.stored),
            aggregate=bool(self.graph.aggregate),
            coverage=True,
            excerpts=tuple(self.excerpts),
            lines={stream: frozenset(numbers) for stream, numbers in self.lines.items()},
            shown_bytes=dict(self.shown_bytes),
            cut_bytes=dict(self.cut_bytes),
            streams=frozenset(self.streams),
            partial=self.partial,
        )


def render_fail_evidence(graph: EvidenceGraph, contract: Contract, plan: DeliveryPlan, *, epoch_id: str = "") -> Body:
    """The digest of `graph` under `contract` as `plan` decided; the shared entry of all profiles.

    Args:
        epoch_id: Stands beside the plan in the receipt; reaches no byte of the text.
    Returns:
        Text, addresses, spans and receipt; equal arguments give equal bytes.
    """
    if plan.rung is Rung.INLINE:
        return render_inline(graph, contract, plan, epoch_id=epoch_id)
    page, text = _compose(graph, contract, plan)
    receipt = build_receipt(graph, contract, page.selection(), plan_id=plan.plan_id, epoch_id=epoch_id)
    return Body(
        text=text,
        addresses=tuple(page.ink.printed),
        spans=tuple(page.ink.spans.values()),
        receipt=receipt,
        census_text=page.census_text,
    )


def compose_measured(graph: EvidenceGraph, contract: Contract, plan: DeliveryPlan) -> tuple[str, tuple[FactClass, ...]]:
    """For measuring: the text that `render_fail_evidence` prints, and the required classes that it loses."""
    page, text = _compose(graph, contract, plan)
    return text, page.lost


def _compose(graph: EvidenceGraph, contract: Contract, plan: DeliveryPlan) -> tuple[_Page, str]:
    page = _Page(graph, contract, plan, Ink(graph.operation.handle, addresses=plan.addresses))
    _opening(page)
    _RUNGS[plan.rung](page)
    _closing(page)
    _declare_lost(page)
    return page, "\n".join(page.ink.lines) + "\n"


def _declare_lost(page: _Page) -> None:
    """Say `PARTIAL:` at the top for a required class that this rendering had no room for."""
    lost = lost_classes(page.graph, page.contract, page.selection())
    page.lost = tuple(name for name in lost if page.plan.addresses or name not in ADDRESSED)
    position = len(page.partial) + 1 + bool(page.graph.operation.argv)
    page.ink.lines[position:position] = [f"PARTIAL: {name}" for name in page.lost]
    page.partial = (*page.partial, *map(str, page.lost))


# Opening and closing: the same for every evidence rung ------------------------------------------------------------


def _opening(page: _Page) -> None:
    graph, ink = page.graph, page.ink
    ink.add(rows.headline(graph, ink))
    if graph.operation.argv:
        ink.add(rows.command_line(graph.operation.argv))
    page.partial = tuple(str(name) for name in missing_from_graph(graph, page.contract))
    for name in page.partial:
        ink.add(f"PARTIAL: {name}")
    for item in graph.items:
        if item.kind is ItemKind.DISAGREEMENT:
            claim = rows.claim_text(item) or item.identity
            ink.add(f"detail: witnesses disagree: {claim}")
            page.named.add(item.id)
    if page.plan.session_move is not SessionMove.NONE:
        ink.add(rows.SESSION_NOTES[page.plan.session_move])


def _closing(page: _Page) -> None:
    graph, ink, operation = page.graph, page.ink, page.graph.operation
    hidden = []
    for stream, total in operation.streams.items():
        shown = len(page.lines.get(stream, ()))
        if not total or shown >= total:
            if total:
                page.streams.add(stream)
            continue
        address = ink.stream(stream)
        if address:
            page.streams.add(stream)
        hidden.append(
            f"{stream} {number(total - shown)} of {plural(total, 'line')}" + (f" ({address})" if address else "")
        )
    if hidden:
        ink.add("omitted: " + ", ".join(hidden))
    shown_lines = sum(len(numbers) for numbers in page.lines.values())
    ink.extend(rows.coverage_lines(graph.coverage, shown_lines=shown_lines))
    if not page.plan.addresses:
        ink.add("not stored: omitted text cannot be retrieved")
        if operation.argv:
            ink.add("rerun: " + shlex.join(operation.argv))
        return
    ink.extend(_next(page, bool(hidden or ink.spans)))


def _next(page: _Page, omitted: bool) -> list[str]:
    """First what is not shown, then the stored census, then the narrowed rerun; none if nothing was omitted."""
    if not omitted:
        return []
    graph, ink = page.graph, page.ink
    found = []
    if page.first_hidden is not None:
        found.append(f"next: ctx get {ink.region(page.first_hidden)}")
    if page.census_text:
        found.append(f"next: ctx get {ink.stream('census')}")
    rerun = narrowed_rerun(graph, page.contract)
    if rerun:
        found.append(f"next: {rerun}")
    if not found:
        for stream, total in graph.operation.streams.items():
            if len(page.lines.get(stream, ())) < total:
                found.append(f"next: ctx get {ink.stream(stream)}")
                break
        else:  # every line is shown, one of them cut
            span = next(iter(ink.spans.values()))
            found.append(f"next: ctx get {ink.stream(span.stream, f'--span {span.token}')}")
    return found[:NEXT_LINES]


def narrowed_rerun(graph: EvidenceGraph, contract: Contract) -> str:
    """The command of a test run narrowed to the first failing test, where the launcher is known from the argv."""
    if graph.family != "pytest":
        return ""
    argv = graph.operation.argv
    launcher: list[str] = []
    for word in argv:
        launcher.append(word)
        if word.rpartition("/")[2] in ("pytest", "py.test"):
            break
    else:
        return ""
    if len(launcher) > 4 or any(word in ("-c", "sh", "bash") for word in launcher):
        return ""
    for item in ordered(graph, contract, graph.census):
        if item.kind in (ItemKind.FAILING_TEST, ItemKind.ERRORING_TEST) and "\n" not in item.identity:
            return shlex.join([*launcher, item.identity])
    return ""


# Parts shared by rungs ------------------------------------------------------------------------------------------------


def _base_stream(items: Sequence[EvidenceItem]) -> str:
    return _region_of(items[0]).stream if items else "stdout"


def _region_of(item: EvidenceItem) -> SourceRef:
    return item.source if isinstance(item.detail, Missing) else item.detail


def _census_heading(page: _Page, items: Sequence[EvidenceItem], note: str = "", *, noun: str = "") -> str:
    base = _base_stream(items)
    address = page.ink.stream(base) if note else ""
    word = "failing:" if page.graph.outcome is not Outcome.PASS else "groups:"
    if not noun:
        mixed = any(item.kind is not items[0].kind for item in items)
        noun = "finding" if mixed else page.contract.decision_unit.replace("_", " ")
    return f"{word} {_counted(page, items, noun)}" + (f" · {note} {address}" if address else "")


def _by_severity(
    page: _Page, items: Sequence[EvidenceItem], note: str = ""
) -> list[tuple[str, Sequence[EvidenceItem]]]:
    """The census in parts with a heading each: one part, or errors, warnings and the rest where the family ranks."""
    if not items:
        return []
    found: dict[Severity, list[EvidenceItem]] = {}
    for item in items:
        found.setdefault(item.severity, []).append(item)
    if page.contract.stable_order is not StableOrder.SEVERITY or len(found) == 1:
        return [(_census_heading(page, items, note), items)]
    return [
        (_census_heading(page, part, note if first == 0 else "", noun=_SEVERITY_NOUNS[severity]), part)
        for first, (severity, part) in enumerate(found.items())
    ]


_SEVERITY_NOUNS = {
    Severity.CRITICAL: "critical finding",
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "note",
}


def _counted(page: _Page, items: Sequence[EvidenceItem], noun: str) -> str:
    """How many there are: as the tool counts where it says a total, else as it printed them, repeats included."""
    printed = sum(_members(item) for item in items)
    if page.graph.coverage.expected is not None or printed == len(items):
        return plural(len(items), noun)
    return f"{plural(printed, noun)} in {plural(len(items), 'row')}"


def _census_each(page: _Page, items: Sequence[EvidenceItem], detailed: frozenset[str], *, claims: bool) -> None:
    """A row an item with class, one line and region; an item whose detail follows needs no region."""
    if not items:
        return
    base = _base_stream(items)
    note = "--lines of" if any(item.id not in detailed for item in items) and page.plan.addresses else ""
    headings = {members[0].id: heading for heading, members in _by_severity(page, items, note)}
    for item in items:
        if item.id in headings:
            page.ink.add(headings[item.id])
        region = "" if item.id in detailed else page.ink.row_region(_region_of(item), base)
        claim = rows.claim_text(item) if claims else ""
        page.ink.add(rows.census_row(item, claim=claim, region=region))
        page.named.add(item.id)
        page.addressable.add(item.id)
        if claims and not isinstance(item.summary, Missing):
            page.summarised.add(item.id)
        if item.id not in detailed and not isinstance(item.detail, Missing):
            page.hide(item.detail)


def _census_shared(page: _Page, items: Sequence[EvidenceItem], *, classes_only: bool) -> None:
    """Identities under their class and message, each signature printed once; a signature of one stays one row.

    Where identity is a place with a message (a diagnostic), the message stands once, in one row with its places.
    """
    for heading, members in _by_severity(page, items):
        page.ink.add(heading)
        groups: dict[tuple[str, str], list[EvidenceItem]] = {}
        for item in members:
            failure = "" if isinstance(item.failure_class, Missing) else item.failure_class
            said = rows.said_at(item)
            claim = failure if classes_only else rows.claim_text(item)
            groups.setdefault((said, "" if said else claim), []).append(item)
        for (said, claim), alike in groups.items():
            _signature(page, alike, said=said, claim=claim)
            page.named.update(item.id for item in alike)
            if not classes_only:
                page.summarised.update(item.id for item in alike if not isinstance(item.summary, Missing))
    if items:
        page.store_census(items)
        page.hide(_region_of(items[0]))


def _signature(page: _Page, alike: Sequence[EvidenceItem], *, said: str, claim: str) -> None:
    if len(alike) == 1:
        page.ink.add(rows.census_row(alike[0], claim=claim, region=""))
    elif said:
        page.ink.extend(rows.places_rows(alike, said))
    else:
        if claim:
            page.ink.add(f"  {claim} ({number(len(alike))})")
        indent = "    " if claim else "  "
        page.ink.extend(rows.census_row(item, claim="", region="", indent=indent) for item in alike)


def _census_grouped(page: _Page, items: Sequence[EvidenceItem]) -> None:
    """Identities under their file: heading and row together are the identity, whole."""
    if not items:
        return
    for heading, alike in _by_severity(page, items):
        page.ink.add(heading + " · under their file")
        for name, members in rows.grouped_by_file(alike).items():
            if name:
                page.ink.add(f"  {name}")
            for item in members:
                page.ink.add(rows.census_row(item, claim="", region="", indent="    " if name else "  ", drop=name))
                page.named.add(item.id)
    page.store_census(items)
    page.hide(_region_of(items[0]))


def _details(page: _Page) -> None:
    """The details that the plan pays for, each under its identity with its address."""
    for item, excerpt in _chosen_details(page):
        identity = rows.identity_text(item)
        address = page.ink.region(excerpt.source)
        page.ink.add(f"detail: {identity}" + (f" ({address})" if address else ""))
        lines = shortened(excerpt.lines, page.plan.detail_lines)
        page.quote(lines, excerpt.source.stream)
        page.detailed.add(item.id)
        page.addressable.add(item.id)
        if len(lines) < excerpt.source.line_count:
            page.hide(excerpt.source)


def _chosen_details(page: _Page) -> list[tuple[EvidenceItem, Excerpt]]:
    if page.plan.inline_items <= 0 or page.plan.detail_lines <= 0:
        return []
    by_item = {e.item_id: e for e in page.graph.excerpts if e.role is ExcerptRole.DETAIL}
    chosen = []
    for item in detail_order(page.graph, page.contract, page.plan.focus):
        if item.id in by_item:
            chosen.append((item, by_item[item.id]))
        if len(chosen) == page.plan.inline_items:
            break
    return chosen


def shortened(lines: Sequence[QuotedLine], limit: int) -> tuple[QuotedLine, ...]:
    """At most `limit` lines: the first third and the last two thirds, since a traceback ends with its reason."""
    if len(lines) <= limit:
        return tuple(lines)
    head = max(limit // 3, 1)
    return (*lines[:head], *lines[len(lines) - (limit - head) :])


def _windows(page: _Page, *, rank: int) -> None:
    """Captured lines besides details: messages, conclusions, ends, and lines that stand out up to `rank`.

    Families without structure live from these windows, so the gaps at their edges are marked too.
    """
    textual = page.graph.coverage.precision is Precision.FALLBACK
    said = rows.counts_phrase(page.graph)
    chosen = []
    for excerpt in page.graph.excerpts:
        if excerpt.role is ExcerptRole.DETAIL or (excerpt.role is ExcerptRole.STANDING and excerpt.rank > rank):
            continue
        page.excerpts.append(excerpt)
        # A totals line that says what the headline says already is one line of evidence printed twice (S7.15).
        if excerpt.role is ExcerptRole.CONCLUSION and said and all(_says_only(said, line) for line in excerpt.lines):
            continue
        chosen.append(excerpt)
    for stream, lines in rows.merged(chosen).items():
        total = page.graph.operation.streams.get(stream, 0)
        fresh = [line for line in lines if textual or line.number not in page.lines.get(stream, ())]
        if not fresh:
            continue
        address = page.ink.stream(stream) if textual else ""
        note = f" ({address}, {plural(total, 'line')})" if address else f" ({plural(total, 'line')})"
        page.ink.add(f"detail: {stream}{note}")
        if textual and not page.wide:
            fresh = [line.narrow or line for line in fresh]
        page.quote(fresh, stream, edges=(1, total) if textual else None)
        page.hide(_first_gap(stream, fresh, total))
    for item in page.graph.items:
        if item.kind is ItemKind.LINE and item.source.first_line in page.lines.get(item.source.stream, ()):
            page.named.add(item.id)
            page.addressable.add(item.id)


_RULED_REST = re.compile(r"[=\s]*(?:in <elapsed>)?[=\s]*")


def _says_only(said: str, line: QuotedLine) -> bool:
    """Whether a totals line is the phrase of the headline, a rule around it and the time, and nothing else."""
    return said in line.text and _RULED_REST.fullmatch(line.text.replace(said, "", 1)) is not None


def _first_gap(stream: str, lines: Sequence[QuotedLine], total: int) -> SourceRef | None:
    """The first run of lines of a stream that `lines` leave out."""
    following = 1
    for line in lines:
        if line.number > following:
            return SourceRef(stream=stream, first_line=following, last_line=line.number - 1)
        following = line.number + 1
    return SourceRef(stream=stream, first_line=following, last_line=total) if following <= total else None


def _side_items(page: _Page, *, grouped: bool) -> None:
    """What is not a plain pass: skips, expected failures, reruns, each or grouped with exact counts."""
    for kind in _SIDE_KINDS:
        items = [item for item in page.graph.items if item.kind is kind]
        if not items:
            continue
        noun = kind.removesuffix("_test").replace("_", " ")
        page.ink.add(f"groups: {number(sum(_members(item) for item in items))} {noun}")
        page.named.update(item.id for item in items)
        if not grouped:
            page.ink.extend(rows.census_row(item, claim=rows.claim_text(item), region="") for item in items)
            continue
        counted: dict[str, list[EvidenceItem]] = {}
        for item in items:
            counted.setdefault(rows.claim_text(item) or "no reason given", []).append(item)
        for claim, members in sorted(counted.items(), key=lambda row: (-len(row[1]), row[0]))[:GROUP_ROWS]:
            address = page.ink.region(members[0].source)
            count = sum(_members(item) for item in members)
            page.ink.add(f"  {number(count)}  {claim}" + (f"  first: {address}" if address else ""))
        rest = len(counted) - GROUP_ROWS
        if rest > 0:
            page.ink.add(f"  other: {plural(rest, 'reason')}")


def _members(item: EvidenceItem) -> int:
    count = item.fields.get("member_count", 1)
    return count if isinstance(count, int) else 1


def _warnings(page: _Page, limit: int) -> None:
    warnings = page.graph.warnings
    if not warnings or limit <= 0:
        return
    page.ink.add(f"groups: {plural(len(warnings), 'kind')} of warning")
    for warning in warnings[:limit]:
        address = page.ink.region(warning.source) if warning.source else ""
        page.ink.add("  " + "  ".join(part for part in (warning.message, address) if part))
    if len(warnings) > limit:
        page.ink.add(f"  other: {plural(len(warnings) - limit, 'kind')}")


def _shapes(page: _Page) -> None:
    """What most lines of a stream look like, with exact counts that sum to its lines."""
    by_stream: dict[str, list[EvidenceItem]] = {}
    for item in page.graph.items:
        if item.kind is ItemKind.TEMPLATE:
            by_stream.setdefault(item.source.stream, []).append(item)
    for stream, items in by_stream.items():
        total = items[0].fields.get("stream_lines", 0)
        counted = sum(_members(item) for item in items)
        page.ink.add(f"groups: {stream}, {number(int(total))} lines by shape, numbers as #")
        for item in items:
            page.ink.add(f"  {number(_members(item))}  {rows.identity_text(item, counted=False)}")
            page.named.add(item.id)
        if int(total) > counted:
            page.ink.add(f"  {number(int(total) - counted)}  other")


# The rungs ----------------------------------------------------------------------------------------------------------


def _pass_summary(page: _Page) -> None:
    """p1 each, p2 grouped: outcome and counts, everything not a plain pass, the concluding lines."""
    grouped = page.plan.summaries is not Summaries.EACH
    census = ordered(page.graph, page.contract, page.graph.census)
    _census_each(page, census, frozenset(), claims=True)
    _side_items(page, grouped=grouped)
    _warnings(page, WARNING_ROWS if grouped else 4 * WARNING_ROWS)
    _shapes(page)
    _windows(page, rank=1 if grouped else 2)


def _fail_census(page: _Page) -> None:
    """f1 to f3: every identity with place, class and line; details as far as the plan pays."""
    census = ordered(page.graph, page.contract, page.graph.census)
    detailed = frozenset(item.id for item, _ in _chosen_details(page))
    _census_each(page, census, detailed, claims=True)
    _details(page)
    _warnings(page, WARNING_ROWS)
    _shapes(page)
    _windows(page, rank=2 if page.plan.context_lines else 1)


def _dense(page: _Page) -> None:
    """d1 shared summaries, d2 classes, d3 under their file: every identity, the root in short, details by address."""
    census = ordered(page.graph, page.contract, page.graph.census)
    if page.plan.census is Census.GROUPED:
        _census_grouped(page, census)
    else:
        _census_shared(page, census, classes_only=page.plan.summaries is Summaries.CLASS)
    _details(page)
    if page.plan.census is not Census.GROUPED:
        _shapes(page)
    _folded_lines(page)


def _folded_lines(page: _Page) -> None:
    """The windows with exact repeats of a standing line folded into its first occurrence, counted there."""
    standing = [item for item in page.graph.items if item.kind is ItemKind.LINE]
    first: dict[str, EvidenceItem] = {}
    counts: dict[str, int] = {}
    for item in standing:
        first.setdefault(item.identity, item)
        counts[item.identity] = counts.get(item.identity, 0) + 1
    kept = {item.id for item in first.values()}
    graph = page.graph
    reduced = [
        e
        for e in graph.excerpts
        if e.role is not ExcerptRole.DETAIL
        and (e.role is not ExcerptRole.STANDING or (e.rank == 1 and (not e.item_id or e.item_id in kept)))
    ]
    if graph.coverage.precision is Precision.FALLBACK:
        reduced = [_trimmed(e, page.plan.context_lines) for e in reduced]
    page.graph = _with_excerpts(graph, reduced)
    _windows(page, rank=1)
    page.graph = graph
    repeated = [(identity, count) for identity, count in counts.items() if count > 1]
    if repeated:
        page.ink.add(f"groups: {plural(len(repeated), 'line')} printed more than once")
        for identity, count in repeated:
            page.ink.add(f"  {number(count)} times, first at line {first[identity].source.first_line}")
        shown = {item.identity for item in standing if item.id in page.named}
        page.named.update(item.id for item in standing if item.identity in shown)


def _with_excerpts(graph: EvidenceGraph, excerpts: Sequence[Excerpt]) -> EvidenceGraph:
    return replace(graph, excerpts=tuple(excerpts))


def _flood(page: _Page) -> None:
    """Exact totals, groups that sum to them, first identities of each group, the stored census behind one address.

    The last step prints the totals and the address alone: they always fit.
    """
    graph = page.graph
    census = ordered(graph, page.contract, graph.census)
    items = census or tuple(item for item in graph.items if item.kind is ItemKind.LINE)
    room = page.plan.context_lines > 0
    if items:
        page.store_census(items)
        shown = _flood_samples(items, page.contract.ceiling_tokens // 4) if room else []
        address = page.ink.stream("census")
        note = f" · all of them: {address}" if address else ""
        heading = _census_heading(page, items) if census else f"groups: {plural(len(items), 'line')} that stand out"
        page.ink.add(f"{heading}, {number(len(items) - len(shown))} not shown{note}")
        for item in shown:
            claim = _bounded(rows.claim_text(item))
            page.ink.add(rows.census_row(item, claim=claim, region=""))
            page.named.add(item.id)
            if not isinstance(item.summary, Missing) and claim == rows.claim_text(item):
                page.summarised.add(item.id)
    if room:
        _flood_groups(page, items, always=bool(census))
    _details(page)
    kept = [_trimmed(e, page.plan.context_lines) for e in graph.excerpts if e.role in _FLOOD_ROLES]
    page.graph = _with_excerpts(graph, [e for e in kept if e.lines])
    _windows(page, rank=0)
    page.graph = graph


def _flood_groups(page: _Page, items: Sequence[EvidenceItem], *, always: bool) -> None:
    """Counts by file and by class, each summing to the total; without a census only where there is more than one."""
    by: tuple[tuple[str, Callable[[EvidenceItem], str]], ...] = (("file", _file_of), ("class", _class_of))
    for noun, key in by:
        counted = rows.tallies((key(item) for item in items), limit=GROUP_ROWS)
        informs = len(counted) > 1 and any(count > 1 for _, count in counted)
        if items and (always or informs):
            page.ink.add(f"groups: by {noun}, {number(len(items))} in all")
            page.ink.extend(f"  {name}" + (f"  {number(count)}" if count else "") for name, count in counted)


_FLOOD_ROLES = (ExcerptRole.CONCLUSION, ExcerptRole.MESSAGE, ExcerptRole.TAIL, ExcerptRole.HEAD)


def _trimmed(excerpt: Excerpt, limit: int) -> Excerpt:
    """At most `limit` lines: the last of an end, the first of a beginning."""
    if excerpt.role in (ExcerptRole.TAIL, ExcerptRole.CONCLUSION):
        return replace(excerpt, lines=excerpt.lines[max(len(excerpt.lines) - limit, 0) :])
    return replace(excerpt, lines=excerpt.lines[:limit])


def _flood_samples(items: Sequence[EvidenceItem], budget_tokens: int) -> list[EvidenceItem]:
    """The first identities of each class, most severe first, bounded so that totals and address always fit."""
    seen: dict[str, int] = {}
    shown = []
    spent = 0
    for item in items:
        key = _class_of(item)
        if key not in seen and len(seen) == GROUP_ROWS:
            continue
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > FLOOD_SAMPLES or len(item.identity) > SAMPLE_COLUMNS:
            continue
        spent += tok(rows.census_row(item, claim=_bounded(rows.claim_text(item)), region=""))
        if spent > budget_tokens:
            break
        shown.append(item)
    return shown


def _bounded(claim: str) -> str:
    """A name or claim short enough for a list of groups: at most 120 columns, fewer where each of them is dear."""
    if len(claim) <= BOUNDED_COLUMNS // 3:
        return claim
    columns = BOUNDED_COLUMNS if tok(claim) <= BOUNDED_COLUMNS // 2 else BOUNDED_COLUMNS // 3
    if len(claim) <= columns:
        return claim
    half = columns // 2 - 1
    return f"{claim[:half]}…{claim[-half:]}"


def _file_of(item: EvidenceItem) -> str:
    if isinstance(item.location, Location):
        return _bounded(item.location.file)
    return _bounded(item.identity.partition("::")[0]) if "::" in item.identity else "no file"


def _class_of(item: EvidenceItem) -> str:
    if isinstance(item.failure_class, Missing):
        return str(item.fields.get("template", "no class"))
    return _bounded(item.failure_class)


_RUNGS: dict[Rung, Callable[[_Page], None]] = {
    Rung.PASS_SUMMARY: _pass_summary,
    Rung.FAIL_CENSUS: _fail_census,
    Rung.DENSE: _dense,
    Rung.FLOOD: _flood,
}
