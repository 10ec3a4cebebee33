"""The `text` family: everything that no other family claims.

Recognises
    Anything; it is last in the order of detection.
Extracts
    For each stream with lines: its first and last lines, and the lines that stand out. Rank 1: a line whose prefix
    carries an error word (`error:`, `fatal`, `panic`, `denied`, `not found`, a prompt left unanswered). Rank 2: a line
    whose shape, or whose value in a place that hardly varies, occurs at most twice in a stream of at least 20 lines.
    The shapes (numbers replaced by `#`) that most lines have, with exact counts, up to 4 MiB a stream.
Complete when
    Never claimed: text is shown, not interpreted (`precision: fallback`).
Loses
    Lines between the windows that do not stand out; every gap is marked where it is and addressed.
Content classes
    None: time stamps, process ids and temporary paths are masked, so a rerun prints identical bytes.
Example
    `text: FAIL · exit 3 · run:…`, then both streams with their first and last lines.

Outcome: an exit status that is known and not zero, or a signal, is a failure; no output at all with status 0 is a pass;
text alone proves nothing, so everything else is unknown (S3.4). A "no match" status of a search tool (grep and its
kin end with 1) with empty output is unknown.
"""

import re
from collections.abc import Iterator, Sequence

from ctx.digest.base import DigestContext, Profile
from ctx.digest.telling_lines import standing_lines
from ctx.evidence import (
    Coverage,
    CoverageReason,
    EvidenceGraph,
    EvidenceItem,
    Excerpt,
    ExcerptRole,
    GraphWarning,
    ItemKind,
    Outcome,
    Precision,
    Severity,
    item_id,
)
from ctx.text import StreamView

WINDOW_LINES = 5
FAILING_TAIL_LINES = 20
RARE_FROM_LINES = 20
RARE_LIMIT = 12
SHAPE_FROM_COUNT = 20
SHAPE_LIMIT = 6
QUOTED_LIMIT = 400
_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|[0-9a-fA-F]{8,}|[0-9]+")


class TextProfile(Profile):
    """Head, tail and the lines that stand out, all addressed."""

    version = "text/v1"

    def detect(self, ctx: DigestContext) -> str | None:
        return "fallback: nothing else claimed it"

    def extract(self, ctx: DigestContext) -> EvidenceGraph:
        outcome = text_outcome(ctx)
        excerpts: list[Excerpt] = []
        items: list[EvidenceItem] = []
        for name, view in ctx.streams.items():
            if view.line_count and view.encoding != "binary":
                self._stream(ctx, name, view, outcome, excerpts, items)
        facts = ctx.manifest
        reasons = []
        if not facts.complete:
            reasons.append(CoverageReason.CAPTURE_INCOMPLETE)
        if facts.ended_by == "timeout":
            reasons.append(CoverageReason.TIMED_OUT)
        if facts.signal is not None:
            reasons.append(CoverageReason.KILLED)
        total = ctx.total_lines
        return EvidenceGraph(
            family=self.family,
            profile=self.version,
            outcome=outcome,
            aggregate={},
            items=tuple(items),
            coverage=Coverage.attest(
                unit="lines",
                parsed=0,
                expected=None,
                unmatched_lines=total,
                total_lines=total,
                input_truncated=not facts.complete,
                precision=Precision.FALLBACK,
                reasons=tuple(reasons),
            ),
            operation=ctx.operation(),
            headline="" if total else "no output",
            warnings=tuple(_encoding_warnings(ctx)),
            excerpts=tuple(excerpts),
        )

    def _stream(
        self,
        ctx: DigestContext,
        name: str,
        view: StreamView,
        outcome: Outcome,
        excerpts: list[Excerpt],
        items: list[EvidenceItem],
    ) -> None:
        count = view.line_count
        tail = FAILING_TAIL_LINES if outcome is Outcome.FAIL else WINDOW_LINES
        excerpts.append(ctx.quote(name, 1, min(WINDOW_LINES, count), ExcerptRole.HEAD))
        excerpts.append(ctx.quote(name, max(1, count - tail + 1), count, ExcerptRole.TAIL))
        occurrences: dict[str, int] = {}
        for quoted, line in enumerate(standing_lines(view), 1):
            shown = ctx.summary(view.line(line)) or "(blank)"
            occurrences[shown] = occurrences.get(shown, 0) + 1
            item = EvidenceItem(
                id=item_id(
                    family=self.family, kind=ItemKind.LINE, identity=shown, phase=name, occurrence=occurrences[shown]
                ),
                kind=ItemKind.LINE,
                severity=Severity.ERROR,
                identity=shown,
                source=view.source(line),
                fields={"rank": 1, "stream": name, "template": _shape(shown)},
            )
            items.append(item)
            if quoted <= QUOTED_LIMIT:
                excerpts.append(ctx.quote(name, line, line, ExcerptRole.STANDING, item_id=item.id))
        masked = ctx.masked.get(name, b"")
        survey = Survey(masked.decode("utf-8", "replace").removesuffix("\n").split("\n") if masked else [])
        for line in survey.rare_lines():
            excerpts.append(ctx.quote(name, line, line, ExcerptRole.STANDING, rank=2))
        for shape, first, members in survey.frequent():
            text = ctx.summary(shape)
            items.append(
                EvidenceItem(
                    id=item_id(family=self.family, kind=ItemKind.TEMPLATE, identity=shape, phase=name),
                    kind=ItemKind.TEMPLATE,
                    severity=Severity.INFO,
                    identity=text,
                    source=view.source(first),
                    fields={"member_count": members, "stream": name, "stream_lines": count},
                )
            )


def text_outcome(ctx: DigestContext) -> Outcome:
    """The outcome where nothing but the exit status speaks (S3.4)."""
    facts = ctx.manifest
    if facts.signal is not None or facts.ended_by == "timeout":
        return Outcome.FAIL
    if facts.exit_code == 0:
        return Outcome.PASS if ctx.total_lines == 0 and facts.complete else Outcome.UNKNOWN
    if facts.exit_code is None:
        return Outcome.UNKNOWN
    if facts.exit_code == 1 and ctx.total_lines == 0 and _is_search(facts.argv):
        return Outcome.UNKNOWN
    return Outcome.FAIL


def _is_search(argv: tuple[str, ...]) -> bool:
    name = argv[0].rpartition("/")[2] if argv else ""
    return name in ("grep", "egrep", "fgrep", "rg", "ag", "ack", "pgrep", "diff", "cmp", "test", "[")


class Survey:
    """The shapes of a stream's lines; empty for a stream that is short, or too large to be read line by line.

    Args:
        lines: Masked screen lines, so that reruns have the same shapes.
    """

    def __init__(self, lines: Sequence[str]) -> None:
        self._lines = lines
        self._shapes: dict[str, _ShapeCensus] = {}
        if len(lines) < RARE_FROM_LINES:
            return
        for number, text in enumerate(lines, 1):
            head = text[:400]
            shape = _shape(head)
            census = self._shapes.get(shape)
            if census is None:
                census = self._shapes[shape] = _ShapeCensus()
            census.add(number, _NUMBERS.findall(head))

    def rare_lines(self) -> list[int]:
        """Screen lines of rank 2, at most twelve, first ones first.

        A line is rare where its shape occurs at most twice, or where it holds a value that occurs at most twice in a
        place of its shape that otherwise holds one of few values. A stream in which most shapes are rare has no rare
        lines: nothing stands out where everything does.
        """
        shapes = self._shapes.values()
        rare = {number for census in shapes if census.count <= 2 for number in census.first}
        if len(rare) * 5 > len(self._lines):
            rare = set()
        for census in shapes:
            rare.update(census.odd_lines())
        return [number for number in sorted(rare) if self._lines[number - 1].strip()][:RARE_LIMIT]

    def frequent(self) -> list[tuple[str, int, int]]:
        """Shapes of at least 20 lines and a tenth of the stream, most frequent first: shape, first line, count."""
        floor = max(SHAPE_FROM_COUNT, len(self._lines) // 10)
        found = [(shape, c.first[0], c.count) for shape, c in self._shapes.items() if shape and c.count >= floor]
        return sorted(found, key=lambda row: (-row[2], row[1]))[:SHAPE_LIMIT]


_FEW_VALUES = 6
_FROM_COUNT = 40


class _ShapeCensus:
    """Lines of one shape: how many, the first two, and the values of each place until they are many."""

    __slots__ = ("count", "first", "places")

    def __init__(self) -> None:
        self.count = 0
        self.first: list[int] = []
        self.places: list[dict[str, list[int]] | None] = []

    def add(self, number: int, values: list[str]) -> None:
        self.count += 1
        if len(self.first) < 2:
            self.first.append(number)
        if self.count == 1:
            self.places = [{} for _ in values]
        for position, value in enumerate(values[: len(self.places)]):
            place = self.places[position]
            if place is None:
                continue
            lines = place.setdefault(value, [])
            if len(lines) < 3:
                lines.append(number)
            if len(place) > _FEW_VALUES:
                self.places[position] = None

    def odd_lines(self) -> Iterator[int]:
        """Lines with a value seen at most twice in a place of few values, the shape being frequent."""
        if self.count < _FROM_COUNT:
            return
        for place in self.places:
            if place is not None and len(place) > 1:
                for lines in place.values():
                    if len(lines) <= 2:
                        yield from lines


def _shape(text: str) -> str:
    return _NUMBERS.sub("#", text).strip()


def _encoding_warnings(ctx: DigestContext) -> Iterator[GraphWarning]:
    for name, view in ctx.streams.items():
        if view.encoding == "binary":
            yield GraphWarning(
                code="binary_stream",
                source=None,
                message=f"{name} is binary: {len(view.raw):,} bytes, not shown",
            )
