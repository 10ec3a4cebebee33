"""Columns of one line: digests count them in masked and redacted text, a reader wants what really stands there.

Masking and redaction replace runs of a line. `TracedLine` remembers which run of the shown text stands for which run of
the raw one, so a span that a digest printed leads back to the text of the capture that answers: masked runs as they
were, secrets still masked. A replaced run belongs to the span in which it begins, so spans that partition the shown
text partition the raw text too.
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

from ctx.canonical import Masker
from ctx.safety.redact import Redactor

_REDACTED = re.compile(r"<redacted:[a-z-]{1,40}#[0-9]{1,9}>")
_Edit = tuple[int, int, int, int]
"""Start and end in the new text, start and end in the old one; 0-based, half-open."""


@dataclass(frozen=True, slots=True)
class TracedLine:
    """A line as a digest sees it, with the way back."""

    shown: str
    """Masked and redacted: what columns are counted in."""
    masked: str
    """Masked only."""
    raw: str
    """As the screen shows it."""
    redactions: tuple[_Edit, ...]
    """Runs of `shown` and the runs of `masked` behind them."""
    maskings: tuple[_Edit, ...]
    """Runs of `masked` and the runs of `raw` behind them."""
    held: frozenset[_Edit]
    """Those of them behind which lies a secret, or a part of one: a reader does not get them back."""

    def readable(self, first: int, end: int) -> str:
        """Columns `first`..`end` (0-based, half-open) of `shown` for a reader: real text, secrets masked."""
        out: list[str] = []
        position = first
        for start, stop, _, _ in self.redactions:
            if stop <= first or start >= end:
                continue
            if start >= first:
                out += (self._unmasked(position, start), self.shown[start:stop])
            position = stop
        if position < end:
            out.append(self._unmasked(position, end))
        return "".join(out)

    def _unmasked(self, first: int, end: int) -> str:
        """Columns that hold no redacted run; masked runs as they were, but for those that would bring back a secret."""
        low, high = (_old(self.redactions, min(place, len(self.shown))) for place in (first, end))
        out: list[str] = []
        position = low
        for run in self.maskings:
            start, stop, old_start, old_stop = run
            if stop <= low or start >= high or run in self.held:
                continue
            if start >= low:
                out += (self.masked[position:start], self.raw[old_start:old_stop])
            position = stop
        if position < high:
            out.append(self.masked[position:high])
        return "".join(out)

    def readable_raw(self, first: int, end: int) -> str:
        """Columns `first`..`end` of the line as it was captured (nothing masked but secrets); a secret of which any
        part lies in them is masked whole."""
        out: list[str] = []
        position = first
        for start, stop, old_start, old_stop in self.redactions:
            if old_stop <= first or old_start >= end:
                continue
            out += (self.masked[position : max(position, old_start)], self.shown[start:stop])
            position = old_stop
        return "".join([*out, self.masked[position:end]])

    def exact(self, first: int, end: int) -> str:
        """The same columns as they were captured."""
        return self._raw(first, end)

    def _raw(self, first: int, end: int) -> str:
        low, high = (_old(self.maskings, _old(self.redactions, place)) for place in (first, min(end, len(self.shown))))
        return self.raw[low:high]


def traced_line(raw: str, masker: Masker, *, secret: bool = False) -> TracedLine:
    """Mask and redact one line, remembering what was replaced.

    Args:
        secret: The whole line is text of a private key.
    """
    masked, maskings = raw, list[_Edit]()
    for rule in masker.rules:
        if any(literal in masked for literal in rule.needs):
            masked, maskings = _substituted(masked, maskings, rule.pattern, rule.replacement)
    shown = Redactor().key_line(masked) if secret else Redactor().redact(masked)
    redactions = [] if shown == masked else _aligned(shown, masked)
    held: set[_Edit] = set()
    if maskings:
        bare = Redactor().redact(raw)
        secrets = [] if bare == raw else _aligned(bare, raw)
        held = {run for run in maskings if _meets(run[2:], secrets) or _meets(run[:2], redactions)}
    return TracedLine(shown, masked, raw, tuple(redactions), tuple(maskings), frozenset(held))


def _meets(run: "tuple[int, ...]", edits: list[_Edit]) -> bool:
    """Whether a run of the old text of `edits` has a part in one of them."""
    return any(run[0] < old_stop and old_start < run[1] for _, _, old_start, old_stop in edits)


def _old(edits: "tuple[_Edit, ...] | list[_Edit]", place: int) -> int:
    """Where a place of the new text is in the old one; inside a replaced run: behind it, at its start: before it."""
    at = bisect_right(edits, place, key=lambda edit: edit[0]) - 1
    if at < 0:
        return place
    start, stop, old_start, old_stop = edits[at]
    if place == start:
        return old_start
    return old_stop + max(0, place - stop)


def _substituted(
    text: str, edits: list[_Edit], pattern: "re.Pattern[str]", replacement: str
) -> tuple[str, list[_Edit]]:
    """One substitution on text that has been substituted in before; the edits lead back to the first text."""
    out: list[str] = []
    made: list[_Edit] = []
    position = shift = known = 0
    for match in pattern.finditer(text):
        first, end = match.span()
        if first == end:
            continue
        new = match.expand(replacement)
        out += (text[position:first], new)
        position = end
        while known < len(edits) and edits[known][1] <= first:
            made.append(_moved(edits[known], shift))
            known += 1
        low, high = first, end
        old_low, old_high = _old(edits, first), _old(edits, end)
        while known < len(edits) and edits[known][0] < end:
            low, high = min(low, edits[known][0]), max(high, edits[known][1])
            old_low, old_high = min(old_low, edits[known][2]), max(old_high, edits[known][3])
            known += 1
        grown = len(new) - (end - first)
        made.append((low + shift, high + shift + grown, old_low, old_high))
        shift += grown
    made += [_moved(edit, shift) for edit in edits[known:]]
    out.append(text[position:])
    return "".join(out), made


def _moved(edit: _Edit, shift: int) -> _Edit:
    return edit[0] + shift, edit[1] + shift, edit[2], edit[3]


def _aligned(new: str, old: str) -> list[_Edit]:
    """The runs of `old` that redaction replaced; where they cannot be told, all of it is one.

    What stands between two marks is looked for in `old` behind the run of the first; each piece is compared, so a run
    taken too long or too short never passes off a secret as what was left alone.
    """
    edits: list[_Edit] = []
    marks = list(_REDACTED.finditer(new))
    old_at = new_at = 0
    for place, mark in enumerate(marks):
        before = new[new_at : mark.start()]
        last = place + 1 == len(marks)
        following = new[mark.end() : len(new) if last else marks[place + 1].start()]
        start = old_at + len(before)
        stop = len(old) - len(following) if last else old.find(following, start + 1)
        if stop < start or old[old_at:start] != before or old[stop : stop + len(following)] != following:
            return [(0, len(new), 0, len(old))]
        edits.append((mark.start(), mark.end(), start, stop))
        old_at, new_at = stop, mark.end()
    return edits
