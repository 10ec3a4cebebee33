"""Findings that a text names: tests by name, diagnostics by place, in the forms that tools and people use."""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from referee.readers.recognisers import LINE_CHARACTERS, Recognisers

FILE_SEARCH_LINES = 400
"""A block that names a test is searched so far down for the file it stands in."""
CLAIM_CHARACTERS = 16


@dataclass(frozen=True, kw_only=True, slots=True)
class Finding:
    """One thing that a text names."""

    answer: str
    """A test's name as one would paste it; `file:line:column` for a diagnostic."""
    claim: str = ""
    """The beginning of what is said of it, letters and digits only."""
    guessed: bool = False
    """Its file was taken from the lines below its name."""


def named_findings(lines: Sequence[str], known: Recognisers) -> Iterator[Finding]:
    """Tests and files that rows or lists say have failed, in printed order.

    A block names a test without its file; where a row names a test of that name whole, the block is about it.
    """
    found = list(_all_named(lines, known))
    whole = {finding.answer.partition("::")[2] for finding in found if not finding.guessed}
    for finding in found:
        if not finding.guessed or finding.answer.partition("::")[2] not in whole:
            yield finding


def _all_named(lines: Sequence[str], known: Recognisers) -> Iterator[Finding]:
    in_list, heading, heading_indent = False, "", 0
    for position, whole in enumerate(lines):
        line = whole[:LINE_CHARACTERS]
        if known.failing_list.search(line) and not any(form.match(line) for form in known.failing_rows):
            in_list, heading = True, ""
            continue
        if in_list and line[:1] not in (" ", "\t"):
            in_list = False
        if in_list:
            heading_row = known.file_heading.match(line)
            row = known.test_row.match(line)
            indent = len(line) - len(line.lstrip())
            if known.no_result.search(line):
                continue
            if row and heading and indent > heading_indent:
                yield Finding(answer=heading + trimmed(row["id"], known))
            elif heading_row and _next_is_test_row(lines, position, known):
                heading, heading_indent = heading_row["file"], indent
            else:
                yield Finding(answer=trimmed(line.strip(), known))
            continue
        yield from _row_finding(lines, position, line, known)


def _next_is_test_row(lines: Sequence[str], position: int, known: Recognisers) -> bool:
    return position + 1 < len(lines) and known.test_row.match(lines[position + 1]) is not None


def _row_finding(lines: Sequence[str], position: int, line: str, known: Recognisers) -> Iterator[Finding]:
    for form in known.failing_rows:
        matched = form.match(line)
        if not matched:
            continue
        groups = matched.groupdict()
        if groups.get("id"):
            yield Finding(answer=trimmed(groups["id"], known))
        elif groups.get("name"):
            for below in lines[position + 1 : position + 1 + FILE_SEARCH_LINES]:
                if form.match(below[:LINE_CHARACTERS]):
                    break
                place = known.row_file.match(below[:LINE_CHARACTERS])
                if place:
                    yield Finding(answer=f"{place['file']}::{dotted_as_path(groups['name'])}", guessed=True)
                    break
        return


def dotted_as_path(name: str) -> str:
    """`TestA.test_b[x.y]` as `TestA::test_b[x.y]`."""
    head, bracket, rest = name.partition("[")
    return head.replace(".", "::") + bracket + rest


def trimmed(row: str, known: Recognisers) -> str:
    """The id at the beginning of a row: up to the first end mark, or a dash; marks inside its brackets are its own."""
    ends = [at for mark in known.row_ends for at in _places_of(mark, row) if at > 0]
    outside = [at for at in (*ends, len(row)) if _balanced(row[:at])]
    end = min(outside or ends, default=len(row))
    # A bracket that ends where the row's id ends is a part of the id, whatever dashes stand inside it.
    if not (end < len(row) and row[:end].endswith("]") and row[:end].count("[") <= row[:end].count("]")):
        dashes = list(_places_of(" - ", row[:end]))
        behind = [at for at in dashes if _balanced(row[:at])] or [at for at in dashes if row[:at].endswith("]")]
        end = min(behind, default=end)
    return re.sub(r"(?: \((?:\w+ ?){1,3}\))+$", "", row[:end].rstrip())


def _places_of(mark: str, row: str) -> Iterator[int]:
    at = row.find(mark)
    while at >= 0:
        yield at
        at = row.find(mark, at + 1)


def _balanced(text: str) -> bool:
    return text.count("[") == text.count("]")


def placed_findings(lines: Sequence[str], known: Recognisers) -> Iterator[Finding]:
    """Diagnostics by place, in printed order; remarks that belong to another diagnostic are left out."""
    heading = ""
    previous = ""
    for position, whole in enumerate(lines):
        line = whole[:LINE_CHARACTERS]
        if not line.strip():
            continue
        arrow = known.arrow.match(line)
        lead = None if arrow else known.lead.match(line)
        row = None if arrow or lead else known.file_row.match(line)
        listed = None if arrow or lead or row else _listed(whole, known)
        if arrow:
            if not known.remark.match(previous.strip()):
                yield _place(arrow, previous)
        elif lead:
            yield from _led(lead, lines[position + 1 : position + 12], known)
        elif listed:
            yield from listed
        elif row and heading:
            yield _place(row, row["rest"], file=heading)
        else:
            found = next((matched for form in known.places if (matched := form.search(line))), None)
            if found and not known.remark.match(found["rest"]):
                yield _place(found, found["rest"])
            elif not found and (named := known.file_heading.match(line)):
                heading = named["file"]
        previous = line


def _listed(line: str, known: Recognisers) -> list[Finding]:
    """The findings of a message with a list of its places; none where any part of the list is no place."""
    row = known.place_list.match(line)
    if row is None:
        return []
    places = [known.listed_place.match(part) for part in row["places"].split(", ")]
    return [_place(place, row["claim"]) for place in places if place] if all(places) and len(places) > 1 else []


def _place(matched: re.Match[str], claim: str, file: str = "") -> Finding:
    groups = matched.groupdict()
    column = groups.get("column")
    place = f"{file or groups['file']}:{groups['line']}" + (f":{column}" if column else "")
    return Finding(answer=place, claim=re.sub(r"\W", "", claim)[:CLAIM_CHARACTERS])


def _led(lead: re.Match[str], below: Sequence[str], known: Recognisers) -> Iterator[Finding]:
    """One finding for each pointed-at message below a place, up to the next blank line."""
    found = False
    for line in below:
        if not line.strip() or known.lead.match(line):
            break
        pointer = re.search(r"\^-*\^? (?P<what>\S.*)$", line[:LINE_CHARACTERS])
        if pointer:
            found = True
            yield _place(lead, pointer["what"])
    if not found:
        yield _place(lead, "")
