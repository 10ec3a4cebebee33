"""Byte ranges of a screen view as raw coordinates, all at once.

A report of 10,000 failures needs 20,000 places; asking the line index for each would scan half a block each time.
Here the ranges are collected first and resolved together: one count of line ends over the stream, whatever their
number.
"""

from bisect import bisect_left, bisect_right
from itertools import accumulate

from ctx.evidence import SourceRef
from ctx.text import StreamView

_BLOCK = 1 << 16


class Places:
    """Collects byte ranges (0-based, half-open, of the screen view) and gives their `SourceRef`s in order."""

    def __init__(self, view: StreamView) -> None:
        self._view = view
        self._ranges: list[tuple[int, int]] = []

    def add(self, start: int, end: int) -> int:
        """Remember the lines that hold `start`..`end`; the answer is the index of their `SourceRef`."""
        size = len(self._view.screen)
        start = min(max(start, 0), max(size - 1, 0))
        self._ranges.append((start, min(max(end - 1, start), max(size - 1, 0))))
        return len(self._ranges) - 1

    def refs(self) -> list[SourceRef]:
        """The places of all ranges; empty for an empty stream."""
        view = self._view
        if not view.screen or not self._ranges:
            return []
        screen = _lines_of(view.screen, {offset for pair in self._ranges for offset in pair})
        pairs = [(view.raw_line(screen[first]), view.raw_line(screen[last])) for first, last in self._ranges]
        if view.encoding.startswith("utf-16"):
            return [view.source(screen[first], screen[last]) for first, last in self._ranges]
        starts = _starts_of(view.raw, {line for first, last in pairs for line in (first, last + 1)})
        return [
            SourceRef(
                stream=view.name,
                first_line=first,
                last_line=last,
                first_byte=starts[first],
                end_byte=starts[last + 1],
            )
            for first, last in pairs
        ]


def _lines_of(data: bytes, offsets: set[int]) -> dict[int, int]:
    """1-based line of each offset."""
    lines: dict[int, int] = {}
    line, before = 1, 0
    for offset in sorted(offsets):
        line += data.count(b"\n", before, offset)
        before = offset
        lines[offset] = line
    return lines


def _starts_of(data: bytes, lines: set[int]) -> dict[int, int]:
    """Offset of the first byte of each line; a line behind the last starts at the end of the data."""
    starts: dict[int, int] = {}
    wanted = sorted(lines)
    done = 0
    line, offset = 1, 0
    while done < len(wanted) and offset < len(data):
        block = data[offset : offset + _BLOCK]
        ends = block.count(b"\n")
        # Lines up to `line + ends` start inside this block, the last of them just behind its last line end.
        upto = bisect_right(wanted, line + ends, done)
        if upto > done:
            begins = list(accumulate((len(part) + 1 for part in block.split(b"\n")), initial=0))
            for index in range(done, upto):
                starts[wanted[index]] = offset + begins[wanted[index] - line]
            done = upto
        line += ends
        offset += len(block)
    for index in range(bisect_left(wanted, line + 1), len(wanted)):
        starts[wanted[index]] = len(data)
    for number in wanted:
        starts.setdefault(number, len(data))
    return starts
