"""Which truth items a delivery leaves out without saying so (S14.12).

An item that is not visible is declared left out by one of three statements in the arm's own words:

* a count of what is left out, in the unit of the items (`794 not shown`, `and 12 more`), that is large enough for all
  of them. A count of lines is not in their unit, and a total alone says how many there are, not that some are missing;
* a statement that the list is not whole (`PARTIAL`, `incomplete`);
* a mark at its place: a mark of left-out lines, characters or bytes between captured lines that stand before and after
  the item in the output (or at an end of the delivery). Where the arm's own words stand on one side of it, its count
  must be that of what is left out between the other side and the end of the output: a footer may follow a cut, while
  a sum over the whole output stands nowhere in particular.
"""

import re
from collections.abc import Sequence

from referee.cases import TruthItem
from referee.delivery import Capture, Delivery
from referee.metrics.captured import Captured, captured, letters
from referee.metrics.visible import Text, diagnostic_lines, visible
from referee.readers.recognisers import LINE_CHARACTERS, Recognisers, recognisers

NEAR = 3
"""A finding is told over some lines: one that stands so near to a cut may have lost a part to it."""
MARK_CHARACTERS = 100
_SAID = re.compile(r"(?i)(?P<count>\d[\d,]*) (?:of \d[\d,]* )?(?:more )?(?P<unit>lines?|characters?|chars|bytes)\b")
_Gap = tuple[int, int]
"""First and last line of the output, 0-based and inclusive, that a mark may stand for."""


def undeclared_items(
    items: Sequence[TruthItem], capture: Capture, delivery: Delivery, text: Text, own: Sequence[str]
) -> tuple[TruthItem, ...]:
    """The items that are neither visible nor declared left out.

    Args:
        text: The delivered text, prepared.
        own: The arm's own lines in it.
    """
    hidden = [item for item in items if not visible(item, text)]
    known = recognisers()
    if not hidden or _left_out(own, known) >= len(hidden) or _says_partial(own, known):
        return ()
    output = captured(capture)
    gaps = _gaps(text, output, delivery.address_pattern, known)
    return tuple(item for item in hidden if not (gaps and _covered(item, gaps, output)))


def _left_out(own: Sequence[str], known: Recognisers) -> int:
    """How many items the arm says it leaves out."""
    count = 0
    for line in own:
        if any(form.search(line) for form in known.omission):
            continue  # A count of lines or bytes.
        matched = next((found for form in known.hidden if (found := form.search(line))), None)
        if matched:
            count += int(matched["n"].replace(",", ""))
    return count


def _says_partial(own: Sequence[str], known: Recognisers) -> bool:
    """A line that says the list is not whole; one that calls itself complete all the same does not."""
    return any(
        form.search(line)
        for line in own
        if not any(claim.search(line) for claim in known.complete)
        for form in known.incomplete
    )


def _gaps(text: Text, output: Captured, address_pattern: str, known: Recognisers) -> list[_Gap]:
    marks = [index for index, line in enumerate(text.lines) if is_mark(line, known) and not output.holds(letters(line))]
    address = re.compile(address_pattern) if address_pattern else None
    gaps = []
    for index in marks:
        before = _bound(text, index, -1, output, address, known)
        after = _bound(text, index, 1, output, address, known)
        if before is not None and after is not None:
            gaps.append((before, after))
        elif before is not None and _counts(text.lines[index], output.size(before + 1, len(output))):
            gaps.append((before, len(output)))
        elif after is not None and _counts(text.lines[index], output.size(0, after)):
            gaps.append((0, after))
    return gaps


def _counts(mark: str, size: tuple[int, int]) -> bool:
    """Whether a mark says about as many lines, or characters, as a part of the output has."""
    matched = _SAID.search(mark)
    if matched is None:
        return False
    said = int(matched["count"].replace(",", ""))
    lines, characters = size
    if matched["unit"].lower().startswith("line"):
        return abs(said - lines) <= NEAR
    return abs(said - characters) <= max(characters // 20, MARK_CHARACTERS)


def is_mark(line: str, known: Recognisers) -> bool:
    """Whether a line says that lines, characters or bytes are left out."""
    return any(form.search(line[:LINE_CHARACTERS]) for form in known.omission)


def _bound(
    text: Text, mark: int, step: int, output: Captured, address: re.Pattern[str] | None, known: Recognisers
) -> int | None:
    """The line of the output at which a gap begins (step -1) or ends; None where own words stand beside the mark."""
    index = mark + step
    while 0 <= index < len(text.lines):
        line = text.lines[index]
        found = letters(line)
        if found and not (is_mark(line, known) or (address and address.search(line))):
            places = output.lines_of(found)
            if not places:
                inside = 0 <= index + step < len(text.lines)
                beyond = letters(text.lines[index + step]) if inside else ""
                places = output.lines_split_at(found, beyond, before=step < 0)
            if not places:
                return None
            return min(places) if step < 0 else max(places)
        index += step
    return 0 if step < 0 else len(output)


def _covered(item: TruthItem, gaps: Sequence[_Gap], output: Captured) -> bool:
    """Whether a mark stands where the output names the item; one that cannot be placed is covered by any mark."""
    places = _places(item, output)
    return not places or any(first - NEAR <= place <= last + NEAR for first, last in gaps for place in places)


def _places(item: TruthItem, output: Captured) -> list[int]:
    if item.kind == "diagnostic" and item.line is not None:
        return diagnostic_lines(item, output.text)
    wanted = (item.identity, item.identity.rpartition("::")[2], item.message)
    for text in filter(None, wanted):
        found = [index for index, line in enumerate(output.text.lines) if text in line]
        if found:
            return found
    return []
