"""The captured output as lines that deliveries are compared with: which words are an arm's own, and where a cut is.

Lines here are indices into the output as a terminal shows it, both streams, 0-based.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache

from referee.corpus.screen import screen_text, without_escapes
from referee.delivery import Capture, one_channel
from referee.metrics.visible import Text, prepared

PART_LETTERS = 24
"""A part of a line is recognised from so many letters on; shorter ones could be of any line."""
TORN_LETTERS = 6
_STAND_INS = re.compile("\x1b\\[[0-9;]*[A-Za-z]|\\\\u\\{[0-9a-f]+\\}|\\\\x[0-9a-f]{2}|[\u2400-\u2426\u240d]")
_NO_LETTERS = dict.fromkeys((*range(33), 127))


def letters(line: str) -> str:
    """A line without blanks and without what arms exchange for control characters."""
    if line.isascii() and "\\" not in line and "\x1b" not in line:
        return line.translate(_NO_LETTERS)
    kept = _STAND_INS.sub("", line)
    return "".join(character for character in kept if character.isprintable() and character != " ")


@dataclass(slots=True, eq=False)
class Captured:
    """One captured output, prepared once for every delivery of it."""

    text: Text
    """As a terminal shows it."""
    _letters: list[str]
    _known: dict[str, list[int]] = field(default_factory=dict)
    _extra: frozenset[str] = frozenset()

    def holds(self, line_letters: str) -> bool:
        """Whether a line of the output has these letters."""
        return line_letters in self._known or line_letters in self._extra

    def lines_of(self, line_letters: str) -> list[int]:
        """The lines that have exactly these letters."""
        return self._known.get(line_letters, [])

    def lines_split_at(self, part: str, neighbour: str, *, before: bool) -> list[int]:
        """Lines that a cut may have split, leaving `part`.

        Args:
            neighbour: The delivered line on the far side of `part`: what stands beside a line that was split.
            before: The part stands before the cut: it is the beginning of its line. Else it is the end.
        """
        step = 1 if before else -1
        beside = [place + step for place in self._known.get(neighbour, ()) if 0 <= place + step < len(self._letters)]
        found = [place for place in beside if _is_part(part, self._letters[place], before=before)]
        if found or len(part) < PART_LETTERS:
            return found
        return [place for place, line in enumerate(self._letters) if part in line]

    def size(self, first: int, end: int) -> tuple[int, int]:
        """Lines and characters of lines `first` up to `end`, half-open; a last line without text is none."""
        lines = self.text.lines[first:end]
        if lines and not lines[-1] and end >= len(self.text.lines):
            lines = lines[:-1]
        return len(lines), sum(len(line) + 1 for line in lines)

    def __len__(self) -> int:
        return len(self._letters)


def _is_part(part: str, line: str, *, before: bool) -> bool:
    """Whether `part` begins or ends `line`; a cut inside a stand-in for a control character leaves letters too many."""
    if before:
        return any(line.startswith(part[: len(part) - torn]) for torn in range(min(TORN_LETTERS, len(part))))
    return any(line.endswith(part[torn:]) for torn in range(min(TORN_LETTERS, len(part))))


@lru_cache(maxsize=2)
def captured(capture: Capture) -> Captured:
    """The output of `capture`; the last two are remembered, since every arm asks for the same one."""
    raw = one_channel(capture)
    shown = screen_text(raw.encode("utf-8", "replace"))
    plain = [letters(line) for line in shown.split("\n")]
    known: dict[str, list[int]] = {}
    for index, line in enumerate(plain):
        known.setdefault(line, []).append(index)
    extra = frozenset(_lines_letters(without_escapes(raw))) if "\r" in raw or "\b" in raw else frozenset()
    return Captured(text=prepared(raw), _letters=plain, _known=known, _extra=extra)


def _lines_letters(text: str) -> Iterable[str]:
    return (letters(line) for line in text.split("\n"))
