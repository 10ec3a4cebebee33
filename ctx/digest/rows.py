"""The lines a digest is made of: each function turns facts into lines; none decides what is shown."""

from collections.abc import Iterable, Sequence

from ctx.digest.base import Span, span_token
from ctx.evidence import (
    Coverage,
    EvidenceGraph,
    EvidenceItem,
    Excerpt,
    ItemKind,
    Location,
    Missing,
    Outcome,
    Precision,
    QuotedLine,
    SourceRef,
)
from ctx.policy.plan import SessionMove
from ctx.safety.control import GUTTER, escape_identity

HANDLE_DIGITS = 12
COMMAND_COLUMNS = 160
SESSION_NOTES = {
    SessionMove.RICHER: "session: this command was run before without edits; showing detail of more",
    SessionMove.LEANER: "session: what earlier digests left out was not needed; showing less",
}
"""What announces that this reader's earlier steps moved the plan (S12.5)."""
UNIT_NOUNS = {
    "failing_tests": "failing tests",
    "failing_tests_until_stop": "failing tests until the stop",
}


class Ink:
    """Collects lines and remembers every address and span they print."""

    def __init__(self, handle: str, *, addresses: bool) -> None:
        self.handle = handle
        self.lines: list[str] = []
        self.printed: dict[str, None] = {}
        self.spans: dict[str, Span] = {}
        self.enabled = addresses

    def add(self, line: str) -> None:
        """One line of the digest."""
        self.lines.append(line)

    def extend(self, lines: Iterable[str]) -> None:
        """Several lines."""
        self.lines.extend(lines)

    def stream(self, name: str, selector: str = "") -> str:
        """A printed address: `run:<12 hex>#<stream> <selector>`; empty where nothing is stored."""
        if not self.enabled:
            return ""
        address = f"run:{self.handle[:HANDLE_DIGITS]}#{name}" + (f" {selector}" if selector else "")
        self.printed.setdefault(address)
        return address

    def region(self, source: SourceRef) -> str:
        """The address of lines of a stream."""
        return self.stream(source.stream, f"--lines {source.first_line}:{source.last_line}")

    def row_region(self, source: SourceRef, base: str) -> str:
        """`--lines A:B` for a row under a heading that names `base`; the whole address for another stream."""
        whole = self.region(source)
        if not whole:
            return ""
        return whole.partition(" ")[2] if source.stream == base else "#" + whole.partition("#")[2]

    def span(self, source: SourceRef, first_col: int, end_col: int) -> str:
        """The address of columns of one line."""
        if not self.enabled:
            return ""
        kind, line = "columns", source.first_line
        token = span_token(self.handle, source.stream, kind, line, line, first_col, end_col)
        self.spans[token] = Span(token, source.stream, kind, line, line, first_col, end_col)
        return self.stream(source.stream, f"--span {token}")


def number(value: int) -> str:
    """Plain digits with a comma every three, in every locale."""
    return f"{value:,}"


def plural(count: int, noun: str) -> str:
    """`1 line`, `2 lines`."""
    return f"{number(count)} {noun}{'' if count == 1 else 's'}"


def counts_phrase(graph: EvidenceGraph) -> str:
    """The aggregate in the tool's order: `2 failed, 31 passed`; plain digits, as the tools print them."""
    parts = []
    for name, count in graph.aggregate.items():
        noun = name[:-1] if count == 1 and name.endswith("s") and not name.endswith("ss") else name
        parts.append(f"{count} {noun}" + (" (counted)" if name in graph.counted else ""))
    return ", ".join(parts)


def headline(graph: EvidenceGraph, ink: Ink) -> str:
    """First line: family, outcome, counts, exit, handle (S7.3)."""
    operation = graph.operation
    family = f"{graph.family}({graph.dialect})" if graph.dialect and graph.dialect != graph.family else graph.family
    claims = "; ".join(part for part in (graph.headline, counts_phrase(graph)) if part)
    # Where text alone is known and no status speaks of failure, "UNKNOWN" would say less than the status does.
    silent = graph.outcome is Outcome.UNKNOWN and graph.coverage.precision is Precision.FALLBACK
    word = "" if silent and operation.exit_code is not None else graph.outcome.upper()
    said = " ".join(part for part in (word, claims) if part)
    parts = [said] if said else []
    if operation.signal is not None:
        parts.append(f"killed by signal {operation.signal}")
    elif operation.ended_by == "timeout":
        parts.append("ended by timeout")
    if operation.exit_code is not None:
        parts.append(f"exit {operation.exit_code}")
    elif operation.signal is None:
        parts.append("exit unknown")
    if ink.enabled:
        ink.printed.setdefault(f"run:{ink.handle[:HANDLE_DIGITS]}")
        parts.append(f"run:{ink.handle[:HANDLE_DIGITS]}")
    return f"{family}: " + " · ".join(parts)


def command_line(argv: Sequence[str]) -> str:
    """The second line: the command, cut in its middle where it is long."""
    text = " ".join(argv).replace("\n", "␊")
    if len(text) > COMMAND_COLUMNS:
        half = (COMMAND_COLUMNS - 3) // 2
        text = f"{text[:half]} … {text[-half:]}"
    return f"command: {text}"


_MARKS = {
    ItemKind.LOAD_ERROR: "load error",
    ItemKind.UNFINISHED_TEST: "unfinished",
}


def identity_text(item: EvidenceItem, *, drop: str = "", counted: bool = True) -> str:
    """The identity, whole, with what tells it from another item of the same identity behind it in brackets.

    Args:
        drop: A prefix that a heading prints already.
        counted: Whether the number of repeats is one of the marks.
    """
    text, escaped = escape_identity(item.identity.removeprefix(drop))
    marks = [_MARKS[item.kind]] if item.kind in _MARKS else []
    phase = item.fields.get("phase", "")
    if phase in ("setup", "teardown"):
        marks.append(str(phase))
    subtest = item.fields.get("subtest")
    if subtest:
        marks.append(f"subtest {subtest}")
    if counted and member_count(item) > 1:
        marks.append(f"printed {member_count(item)} times")
    if escaped:
        marks.append("escaped")
    if item.fields.get("cut"):
        marks.append("cut by the tool")
    return text + "".join(f" ({mark})" for mark in marks)


def member_count(item: EvidenceItem) -> int:
    """How many printed things an item stands for: repeats of a diagnostic, tests of a group, lines of a shape."""
    count = item.fields.get("member_count", 1)
    return count if isinstance(count, int) else 1


def location_text(item: EvidenceItem) -> str:
    """What the identity does not say about the place: `:22`, `file:22`, or nothing."""
    place = item.location
    if not isinstance(place, Location):
        return ""
    if item.identity.startswith(str(place)):
        return ""
    if item.identity.startswith(place.file):
        return f":{place.line}" if isinstance(place.line, int) and f":{place.line}:" not in item.identity else ""
    return str(place)


def claim_text(item: EvidenceItem) -> str:
    """Class and one line, the class once: `AssertionError: assert 1 == 2`."""
    failure = "" if isinstance(item.failure_class, Missing) else item.failure_class
    summary = "" if isinstance(item.summary, Missing) else item.summary
    if failure and failure in item.identity:
        failure = ""
    if not summary or summary == failure:
        return failure
    return summary if not failure or summary.startswith(failure) else f"{failure}: {summary}"


def census_row(item: EvidenceItem, *, claim: str, region: str, indent: str = "  ", drop: str = "") -> str:
    """Two blanks, identity verbatim, place, claim, region; parts that are empty are left out."""
    parts = (identity_text(item, drop=drop), location_text(item), claim, region)
    return indent + "  ".join(part for part in parts if part)


def said_at(item: EvidenceItem) -> str:
    """What an identity says behind its place: `no-undef 'x' is not defined` of `a.js:8:12: no-undef …`."""
    place = str(item.location) if isinstance(item.location, Location) else ""
    if not place or not item.identity.startswith(place) or "\n" in item.identity:
        return ""
    return item.identity.removeprefix(place).removeprefix(":").strip()


PLACES_IN_ROW = 20


def places_rows(items: Sequence[EvidenceItem], said: str) -> list[str]:
    """Diagnostics that say the same: the message once, then their places, twenty in a row."""
    places = []
    for item in items:
        repeated = f" (printed {member_count(item)} times)" if member_count(item) > 1 else ""
        # What a summary says of one place alone (where a macro was expanded) is a part of which finding it is.
        own = "" if isinstance(item.summary, Missing) else f" ({item.summary})"
        places.append(str(item.location) + own + repeated)
    text, _ = escape_identity(said)
    return [
        f"  {text} ({number(len(items))}): "
        + ", ".join(escape_identity(p)[0] for p in places[first : first + PLACES_IN_ROW])
        for first in range(0, len(places), PLACES_IN_ROW)
    ]


def census_line(item: EvidenceItem) -> str:
    """One line of the stored census: identity, location, class, region of its detail or claim."""
    region = item.source if isinstance(item.detail, Missing) else item.detail
    place = str(item.location) if isinstance(item.location, Location) else "-"
    failure = "-" if isinstance(item.failure_class, Missing) else item.failure_class
    where = f"#{region.stream} --lines {region.first_line}:{region.last_line}"
    return "\t".join((identity_text(item), place, failure, where))


def quoted(lines: Sequence[QuotedLine], stream: str, ink: Ink, *, edges: tuple[int, int] | None = None) -> list[str]:
    """Captured lines behind the gutter, every gap between them marked where it is with count and address.

    Args:
        edges: First and last line of the region whose own edges count as gaps too; None marks inner gaps only.
    """
    out: list[str] = []
    previous = edges[0] - 1 if edges else None
    for line in lines:
        if previous is not None and line.number > previous + 1:
            out.append(gap(stream, previous + 1, line.number - 1, ink))
        out.append(GUTTER + _quoted_text(line, stream, ink))
        previous = line.number
    if edges and previous is not None and previous < edges[1]:
        out.append(gap(stream, previous + 1, edges[1], ink))
    return out


def _quoted_text(line: QuotedLine, stream: str, ink: Ink) -> str:
    text = line.text
    for cut, following in line.more:
        source = SourceRef(stream=stream, first_line=line.number, last_line=line.number)
        address = ink.span(source, cut.first_col, cut.end_col)
        text += f" … {number(cut.size)} bytes omitted{f' ({address})' if address else ''} … {following}"
    return text


def gap(stream: str, first: int, last: int, ink: Ink) -> str:
    """The mark of lines that were left out here."""
    address = ink.stream(stream, f"--lines {first}:{last}")
    return f"{GUTTER}… {plural(last - first + 1, 'line')} omitted" + (f" ({address})" if address else "")


def merged(excerpts: Iterable[Excerpt]) -> dict[str, list[QuotedLine]]:
    """Stream -> lines of its excerpts in source order, each line once."""
    by_stream: dict[str, dict[tuple[int, str], QuotedLine]] = {}
    for excerpt in excerpts:
        lines = by_stream.setdefault(excerpt.source.stream, {})
        for line in excerpt.lines:
            lines.setdefault((line.number, line.text), line)
    return {name: sorted(lines.values(), key=lambda q: q.number) for name, lines in by_stream.items()}


def coverage_lines(coverage: Coverage, *, shown_lines: int = 0) -> list[str]:
    """The `coverage:` line, and `precision:` where it is not full; copied from Coverage, never judged here."""
    lines = (
        f"lines {number(coverage.total_lines - coverage.unmatched_lines)} of {number(coverage.total_lines)} understood"
    )
    if coverage.precision is Precision.FALLBACK:
        parts = [f"{number(shown_lines)} of {plural(coverage.total_lines, 'line')} shown", "not interpreted"]
        reasons = [str(reason) for reason in coverage.reasons if reason != "no_total"]
        if reasons:
            parts.append(f"incomplete: {', '.join(reasons)}")
    else:
        expected = "?" if coverage.expected is None else number(coverage.expected)
        unit = UNIT_NOUNS.get(coverage.unit, coverage.unit.replace("_", " "))
        state = "complete" if coverage.complete else f"incomplete: {', '.join(coverage.reasons) or 'rule not met'}"
        parts = [f"{number(coverage.parsed)}/{expected} {unit}", lines, state]
    out = ["coverage: " + " · ".join(parts)]
    if coverage.precision is not Precision.FULL:
        out.append(f"precision: {coverage.precision}")
    return out


def grouped_by_file(items: Sequence[EvidenceItem]) -> dict[str, list[EvidenceItem]]:
    """File -> items whose identity begins with it, in first-occurrence order; the rest under the empty name."""
    groups: dict[str, list[EvidenceItem]] = {}
    for item in items:
        place = item.location
        name = place.file if isinstance(place, Location) and item.identity.startswith(place.file) else ""
        if not name and "::" in item.identity:
            name = item.identity.partition("::")[0]
        groups.setdefault(name, []).append(item)
    return groups


def tallies(names: Iterable[str], *, limit: int) -> list[tuple[str, int]]:
    """Names with counts, most frequent first, ties by name; what is beyond `limit` in one row, so the sum holds."""
    counts: dict[str, int] = {}
    for name in names:
        counts[name] = counts.get(name, 0) + 1
    rows = sorted(counts.items(), key=lambda row: (-row[1], row[0]))
    if len(rows) <= limit:
        return rows
    rest = rows[limit:]
    return [*rows[:limit], (f"other: {number(sum(n for _, n in rest))} in {plural(len(rest), 'group')}", 0)]
