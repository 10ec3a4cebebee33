"""The digest under construction: its lines, and what they select."""

from collections.abc import Sequence
from dataclasses import dataclass, field

from ctx.contracts.model import Contract, FactClass, Rung
from ctx.contracts.selection import Selection
from ctx.digest import rows
from ctx.digest.rows import Ink
from ctx.evidence import EvidenceGraph, EvidenceItem, Excerpt, QuotedLine, SourceRef
from ctx.policy.plan import DeliveryPlan


@dataclass(slots=True)
class Page:
    """The digest under construction: its lines, and what they select."""

    graph: EvidenceGraph
    contract: Contract
    plan: DeliveryPlan
    ink: Ink
    """The lines so far, with the addresses and spans that they print."""
    named: set[str] = field(default_factory=set)
    """Ids of items whose identity is printed; so for the other sets of ids."""
    summarised: set[str] = field(default_factory=set)
    detailed: set[str] = field(default_factory=set)
    addressable: set[str] = field(default_factory=set)
    stored: set[str] = field(default_factory=set)
    excerpts: list[Excerpt] = field(default_factory=list)
    """Excerpts shown besides details."""
    lines: dict[str, set[int]] = field(default_factory=dict)
    """Stream -> raw numbers of the captured lines that are printed."""
    shown_bytes: dict[str, int] = field(default_factory=dict)
    """Stream -> bytes of those lines as they are printed, line ends included."""
    cut_bytes: dict[str, int] = field(default_factory=dict)
    """Stream -> bytes that were cut out of those lines."""
    streams: set[str] = field(default_factory=set)
    """Streams that are shown whole or whose whole text is addressed."""
    partial: tuple[str, ...] = ()
    """Required classes named in `PARTIAL:` lines."""
    lost: tuple[FactClass, ...] = ()
    """Those of them that the graph holds and this rendering had no room for."""
    first_hidden: SourceRef | None = None
    census_text: str = ""
    """The census for the store, a line an item; empty where all of it is printed."""

    def quote(self, lines: Sequence[QuotedLine], stream: str, *, edges: tuple[int, int] | None = None) -> None:
        """Captured lines behind the gutter; arguments as for `rows.quoted`."""
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
        """Leave the census to the store, where each item has its line."""
        self.census_text = "".join(rows.census_line(item) + "\n" for item in items)
        self.stored.update(item.id for item in items)
        self.addressable.update(item.id for item in items)

    def selection(self) -> Selection:
        """What the lines so far select, to be held against the contract."""
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
