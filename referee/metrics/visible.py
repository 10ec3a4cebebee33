"""Is a truth item visible in a text? One rule for every arm, and for the raw output.

Texts are compared as a terminal shows them, quote marks taken off. A test is visible where its identity stands whole
(not as the beginning of a longer one), where a row under its file's heading completes it, or, for a test whose output
names it by its block alone, where the dotted name heads a block. A diagnostic is visible where its line number stands
with its file (on the line, in the nearest heading above, or on the line of an arrow) and its message or code stands
within the lines around. A number alone never counts.
"""

import re
from bisect import bisect_left
from collections.abc import Iterable
from dataclasses import dataclass, field

from referee.cases import TruthItem
from referee.corpus.screen import screen_text
from referee.readers.recognisers import recognisers

MESSAGE_CHARACTERS = 40
LINES_BEFORE = 3
LINES_AFTER = 14
HEADING_LINES = 3_000
"""A heading counts for so many lines below it."""
NUMBER_CHARACTERS = 20_000
"""Numbers are looked for in so much of a line: a row may list many places."""
_BLANKS = re.compile(r"\s+")
_NUMBER = re.compile(r"\d+")


@dataclass(slots=True, eq=False)
class Text:
    """A text prepared for many questions."""

    plain: str
    lines: list[str]
    _by_number: dict[int, list[int]] = field(default_factory=dict)
    _compact: list[str] = field(default_factory=list)
    _headings: list[int] = field(default_factory=list)
    _arrows: list[int] = field(default_factory=list)
    _about: dict[str, list[int]] = field(default_factory=dict)
    _answers: dict[TruthItem, bool] = field(default_factory=dict)

    def at_number(self, number: int) -> list[int]:
        """Indices of the lines that hold `number` as a number of its own."""
        if not self._by_number:
            for index, line in enumerate(self.lines):
                for found in set(_NUMBER.findall(line[:NUMBER_CHARACTERS])):
                    if len(found) < 9:
                        self._by_number.setdefault(int(found), []).append(index)
            self._by_number.setdefault(-1, [])
        return self._by_number.get(number, [])

    def around(self, index: int) -> str:
        """The lines around one, blanks removed, so that a wrapped message is whole."""
        if not self._compact:
            self._compact = [_BLANKS.sub("", line) for line in self.lines]
        return "".join(self._compact[max(0, index - LINES_BEFORE) : index + LINES_AFTER])

    def heading_above(self, index: int) -> int:
        """The nearest line above that names a file for the rows below it; -1 where there is none near."""
        if not self._headings:
            known = recognisers()
            matching = (known.file_heading.match, known.lead.match)
            self._headings = [i for i, line in enumerate(self.lines) if any(match(line) for match in matching)] or [-1]
        at = bisect_left(self._headings, index) - 1
        found = self._headings[at] if at >= 0 else -1
        return found if found >= index - HEADING_LINES else -1

    def named_above(self, file: str, name: str, index: int) -> int:
        """The nearest line above that is about a file: begins with it, or points or leads to it; -1 where none is."""
        if file not in self._about:
            if not self._arrows:
                arrow = recognisers().arrow.match
                leading = ("*", "In ")
                self._arrows = [i for i, line in enumerate(self.lines) if line.startswith(leading) or arrow(line)]
                self._arrows = self._arrows or [-1]
            pointing = {i for i in self._arrows if i >= 0 and name in self.lines[i]}
            beginning = {i for i, line in enumerate(self.lines) if line.startswith(file) and name in line}
            self._about[file] = sorted(pointing | beginning)
        at = bisect_left(self._about[file], index) - 1
        found = self._about[file][at] if at >= 0 else -1
        return found if found >= index - HEADING_LINES else -1

    def names(self, item: TruthItem) -> bool:
        """Whether the text names the item."""
        if item not in self._answers:
            self._answers[item] = _named(item, self)
        return self._answers[item]


def prepared(text: str) -> Text:
    """`text` as a terminal shows it, without quote marks."""
    known = recognisers()
    lines = [known.unquoted(line)[0] for line in screen_text(text.encode("utf-8", "replace")).split("\n")]
    return Text(plain="\n".join(lines), lines=lines)


def shows(text: Text, wanted: str) -> bool:
    """Whether an exact string stands in the text."""
    return wanted in text.plain or _BLANKS.sub(" ", wanted) in text.plain


def visible(item: TruthItem, text: Text) -> bool:
    """Whether the text names the item."""
    return text.names(item)


def _named(item: TruthItem, text: Text) -> bool:
    if item.kind == "diagnostic":
        return _diagnostic(item, text)
    if _whole(item.identity, text.plain):
        return True
    escaped = item.identity.encode("unicode_escape").decode()
    if escaped != item.identity and _whole(escaped, text.plain):
        return True
    return "::" in item.identity and (_under_heading(item.identity, text) or _heads_block(item.identity, text))


def visible_items(items: Iterable[TruthItem], text: Text) -> int:
    """How many of the items the text names."""
    return sum(visible(item, text) for item in items)


def _whole(identity: str, plain: str) -> bool:
    """Whether the identity stands in the text and is not a part of a longer one."""
    start = plain.find(identity)
    while start >= 0:
        before = plain[start - 1] if start else "\n"
        end = start + len(identity)
        after = plain[end : end + 2]
        longer = after[:1].isalnum() or after[:1] in ("_", "[") or after == "::"
        if not (before.isalnum() or before in "_/.-") and not longer:
            return True
        start = plain.find(identity, start + 1)
    return False


def _under_heading(identity: str, text: Text) -> bool:
    file, _, rest = identity.partition("::")
    inside = False
    for line in text.lines:
        stripped = line.strip()
        if stripped.rstrip(":") == file:
            inside = True
        elif inside and line[:1] not in (" ", "\t"):
            inside = False
        elif inside and (stripped == f"::{rest}" or stripped.startswith((f"::{rest}  ", f"::{rest} ("))):
            return True
    return False


def _heads_block(identity: str, text: Text) -> bool:
    """A block headed by the dotted name, in a text that names no test otherwise (`-rN`, `--no-summary`)."""
    head, bracket, parameters = identity.partition("::")[2].partition("[")
    dotted = head.replace("::", ".") + bracket + parameters
    file = identity.partition("::")[0]
    headings = [i for i, line in enumerate(text.lines) if line.startswith("__") and f" {dotted} _" in line]
    for index in headings:
        below = text.lines[index : index + 400]
        if any(line.startswith(f"{file}:") for line in below):
            return True
    return False


def _diagnostic(item: TruthItem, text: Text) -> bool:
    if item.line is None:
        return _whole(item.identity, text.plain) or (bool(item.message) and shows(text, item.message))
    return any(_told(item, text.around(index)) for index in diagnostic_lines(item, text))


def _told(item: TruthItem, around: str) -> bool:
    """Whether the lines around a place give the diagnostic's message; its code, where it has no message."""
    message = _BLANKS.sub("", item.message)[:MESSAGE_CHARACTERS]
    if message:
        return message in around
    return not item.code or item.code in around


def diagnostic_lines(item: TruthItem, text: Text) -> list[int]:
    """Indices of the lines that hold a diagnostic's line number and are about its file."""
    name = item.file.replace("\\", "/").rpartition("/")[2]
    if item.line is None:
        return []
    return [index for index in text.at_number(item.line) if _placed(item, name, index, text)]


def _placed(item: TruthItem, name: str, index: int, text: Text) -> bool:
    """Whether a line that holds the number is about the item's file."""
    if name in text.lines[index]:
        return True
    heading = text.heading_above(index)
    if text.named_above(item.file, name, index) > heading:
        return True
    return heading >= 0 and name in text.lines[heading]
