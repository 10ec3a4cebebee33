"""Machine formats of diagnostic tools, printed to a stream: read whole, `precision: full` (DESIGN 8).

One JSON document (pyright, eslint, ruff, pylint, gcc, shellcheck, SARIF, Code Climate, Reviewdog), JSON lines (mypy,
cargo, rustc, ruff), or a Checkstyle document. Messages are cut to their first line, columns are 1-based where the tool
says that they count from 0 and its text does not (pyright, mypy).
"""

import json
import re
from collections.abc import Callable, Iterator
from json.decoder import JSONObject  # type: ignore[attr-defined]
from json.scanner import py_make_scanner  # type: ignore[attr-defined]
from typing import Any
from xml.etree import ElementTree

from ctx.digest.lint_model import LETTER_SEVERITY, Finding, Head, Reading
from ctx.evidence import Severity
from ctx.text import StreamView

_SARIF_LEVELS = {"error": "error", "warning": "warning", "note": "note", "none": "info"}
_ESLINT_WORDS = {2: "error", 1: "warning"}
_CLIMATE_WORDS = {"blocker": "error", "critical": "error", "major": "error", "minor": "warning", "info": "info"}
_CHECKSTYLE = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:<\?xml[^>]*>\s*)?<checkstyle\b")
_OPENING = re.compile(rb"(?:\xef\xbb\xbf)?\s*(?:>[^\n]*\n\s*|[A-Za-z][^\n]*\n){0,6}(?P<document>[\[{])")
"""A document, below at most six lines of the program that started the tool."""
HEADER_BYTES = 4096
_NAMED = re.compile(r"\(([\w@/.-]+)\)$")
PLACED_BYTES = 1 << 20
"""Up to this size each finding knows the lines of its own object; above it, its region is the document."""

_Entry = tuple[dict[str, Any], Head]


def read_machine(view: StreamView) -> Reading | None:
    """The reading of a stream that is one known document, or lines of them; None where it is neither."""
    if _CHECKSTYLE.match(view.screen):
        return _checkstyle(view)
    opening = _OPENING.match(view.screen[:HEADER_BYTES])
    if opening is None:
        return None
    text = view.screen.decode("utf-8", "replace")
    header = len(view.screen[: opening.start("document")].decode("utf-8", "replace"))
    regions: dict[int, tuple[int, int]] = {}
    try:
        decoder = json.JSONDecoder() if len(text) > PLACED_BYTES else _Placing(regions)
        document, end = decoder.raw_decode(text, header)
        entries = list(_document(document))
    except (ValueError, RecursionError):
        return _lines(view)
    single = isinstance(document, dict) and not any(key in document for key in _LISTS)
    if single or (not entries and not _is_known(document)) or text[end:].lstrip()[:1] in ("{", "["):
        return _lines(view)
    reading = Reading(stream=view.name, machine=True, lines=view.line_count)
    starts = _LineStarts(text)
    first, last = starts.line_of(header), starts.line_of(max(header, end - 1))
    reading.understood = view.line_count - sum(
        1 for number, line in view.lines() if line.strip() and not first <= number <= last
    )
    starts = _LineStarts(text)
    for entry, head in entries:
        first_byte, end_byte = regions.get(id(entry), (header, end))
        first, last = starts.line_of(first_byte), starts.line_of(max(first_byte, end_byte - 1))
        reading.findings.append(Finding(head=head, line=first, first=first, last=last))
        reading.vote(head.dialect)
    return reading


class _Placing(json.JSONDecoder):
    """A decoder that remembers where each object stands: `id(object)` -> start and end in characters, half-open."""

    def __init__(self, regions: dict[int, tuple[int, int]]) -> None:
        super().__init__()

        def placed(where: tuple[str, int], *rest: Any) -> tuple[Any, int]:
            value, end = JSONObject(where, *rest)
            regions[id(value)] = (where[1] - 1, end)
            return value, end

        self.parse_object = placed
        self.scan_once = py_make_scanner(self)


class _LineStarts:
    """From characters to 1-based lines, for offsets that mostly grow."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._offset, self._line = 0, 1

    def line_of(self, offset: int) -> int:
        """The line that holds the character at `offset`."""
        if offset < self._offset:
            self._line -= self._text.count("\n", offset, self._offset)
        else:
            self._line += self._text.count("\n", self._offset, offset)
        self._offset = offset
        return self._line


def _lines(view: StreamView) -> Reading | None:
    """JSON lines: mypy, cargo, rustc, ruff; a line that is none is evidence and stays unmatched."""
    reading = Reading(stream=view.name, machine=True, lines=view.line_count)
    known = 0
    for number, line in view.lines():
        line = line.removeprefix("\ufeff") if number == 1 else line
        if not line.startswith("{"):
            continue
        try:
            document = json.loads(line)
            entries = list(_line(document))
        except (ValueError, RecursionError):
            reading.closed = False
            continue
        if entries or (isinstance(document, dict) and ("reason" in document or "$message_type" in document)):
            known += 1
            reading.understood += 1
        for _, head in entries:
            reading.findings.append(Finding(head=head, line=number, first=number, last=number))
            reading.vote(head.dialect)
    return reading if known else None


def _checkstyle(view: StreamView) -> Reading | None:
    """A Checkstyle document; its error elements stand in the order of the text, so each finds its own line."""
    if b"<!" in view.screen:
        return None  # entities and document types have no place in it
    try:
        root = ElementTree.fromstring(view.screen.decode("utf-8", "replace").lstrip("\ufeff \t\r\n"))
    except (ElementTree.ParseError, ValueError):
        return None
    reading = Reading(stream=view.name, machine=True, lines=view.line_count, understood=view.line_count)
    text = view.screen.decode("utf-8", "replace")
    starts, offset = _LineStarts(text), 0
    for file in root.iter("file"):
        for error in file.iter("error"):
            offset = max(text.find("<error", offset), 0)
            at = starts.line_of(offset)
            offset += 1
            named = _NAMED.search(error.get("message", ""))
            code = named[1] if named else error.get("source", "").rpartition(".")[2]
            message = _first_line(error.get("message"))
            head = Head(
                file=file.get("name") or None,
                line=_digits(error.get("line")),
                column=_digits(error.get("column")),
                word=error.get("severity", ""),
                code=code or None,
                message=message.removesuffix(f" ({code})"),
            )
            reading.findings.append(Finding(head=head, line=at, first=at, last=at))
    return reading


def _digits(text: str | None) -> int | None:
    return int(text) if text and text.isdigit() and len(text) < 10 else None


def _line(document: Any) -> Iterator[_Entry]:
    if not isinstance(document, dict):
        return
    if document.get("reason") == "compiler-message" and isinstance(document.get("message"), dict):
        yield from _rust(document["message"])
    elif document.get("$message_type") == "diagnostic":
        yield from _rust(document)
    elif "severity" in document and "file" in document and "message" in document:
        column = _number(document.get("column"))
        yield (
            document,
            Head(
                file=_text(document["file"]),
                line=_number(document.get("line")),
                column=None if column is None else column + 1,
                word=_text(document["severity"]),
                code=_text(document.get("code")) or None,
                message=_first_line(document["message"]),
                dialect="mypy",
            ),
        )
    elif "filename" in document and "location" in document:
        yield from _ruff([document])


def _rust(message: dict[str, Any]) -> Iterator[_Entry]:
    spans = [s for s in message.get("spans", []) if isinstance(s, dict) and s.get("is_primary")]
    code = message.get("code")
    if not spans:
        return
    yield (
        message,
        Head(
            file=_text(spans[0].get("file_name")),
            line=_number(spans[0].get("line_start")),
            column=_number(spans[0].get("column_start")),
            word=_text(message.get("level")),
            code=_text(code.get("code")) or None if isinstance(code, dict) else None,
            message=_first_line(message.get("message")),
            dialect="rustc",
        ),
    )


_LISTS = ("generalDiagnostics", "runs", "comments", "messages", "results", "diagnostics")
"""Keys of the documents that hold a list of findings."""


def _is_known(document: Any) -> bool:
    return isinstance(document, dict) and any(key in document for key in ("generalDiagnostics", "runs", "comments"))


def _objects(value: Any) -> list[dict[str, Any]]:
    """The objects of a list; nothing where it is none."""
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _inner(value: Any, *keys: str) -> dict[str, Any]:
    """The object behind a path of keys; an empty one where the path ends."""
    for key in keys:
        value = value.get(key) if isinstance(value, dict) else None
    return value if isinstance(value, dict) else {}


def _document(document: Any) -> Iterator[_Entry]:
    if isinstance(document, dict):
        readers: tuple[tuple[str, Callable[[list[dict[str, Any]]], Iterator[_Entry]]], ...] = (
            ("generalDiagnostics", _pyright),
            ("runs", _sarif),
            ("comments", _shellcheck),
            ("messages", _pylint),
            ("results", _eslint),
            ("diagnostics", _reviewdog),
        )
        for key, read in readers:
            if isinstance(document.get(key), list):
                yield from read(_objects(document[key]))
                return
        yield from _line(document)
        return
    entries = _objects(document)
    if not entries or len(entries) != len(document):
        return
    first = entries[0]
    if "messages" in first and "filePath" in first:
        yield from _eslint(entries)
    elif "filename" in first and "location" in first:
        yield from _ruff(entries)
    elif "message-id" in first or "messageId" in first:
        yield from _pylint(entries)
    elif "kind" in first and "locations" in first:
        yield from _gcc(entries)
    elif "level" in first and "code" in first and "file" in first:
        yield from _shellcheck(entries)
    elif "check_name" in first and "location" in first:
        yield from _climate(entries)


def _pyright(entries: list[dict[str, Any]]) -> Iterator[_Entry]:
    for entry in entries:
        start = _inner(entry, "range", "start")
        yield (
            entry,
            Head(
                file=_text(entry.get("file")),
                line=_plus_one(start.get("line")),
                column=_plus_one(start.get("character")),
                word=_text(entry.get("severity")),
                code=_text(entry.get("rule")) or None,
                message=_first_line(entry.get("message")),
                dialect="pyright",
            ),
        )


def _sarif(runs: list[dict[str, Any]]) -> Iterator[_Entry]:
    for run in runs:
        name = _text(_inner(run, "tool", "driver").get("name"))
        for result in _objects(run.get("results")):
            place = _inner((_objects(result.get("locations")) or [{}])[0], "physicalLocation")
            region = _inner(place, "region")
            yield (
                result,
                Head(
                    file=_text(_inner(place, "artifactLocation").get("uri")) or None,
                    line=_number(region.get("startLine")),
                    column=_number(region.get("startColumn")),
                    word=_SARIF_LEVELS.get(_text(result.get("level")), "warning"),
                    code=_text(result.get("ruleId")) or None,
                    message=_first_line(_inner(result, "message").get("text")),
                    dialect=name.lower() or "sarif",
                ),
            )


def _shellcheck(entries: list[dict[str, Any]]) -> Iterator[_Entry]:
    for entry in entries:
        yield (
            entry,
            Head(
                file=_text(entry.get("file")),
                line=_number(entry.get("line")),
                column=_number(entry.get("column")),
                word=_text(entry.get("level")),
                code=f"SC{entry.get('code')}",
                message=_first_line(entry.get("message")),
                dialect="shellcheck",
            ),
        )


def _pylint(entries: list[dict[str, Any]]) -> Iterator[_Entry]:
    for entry in entries:
        code = _text(entry.get("message-id") or entry.get("messageId"))
        yield (
            entry,
            Head(
                file=_text(entry.get("path") or entry.get("absolutePath")),
                line=_number(entry.get("line")),
                column=_number(entry.get("column")),
                word=_text(entry.get("type")),
                code=code or None,
                message=_first_line(entry.get("message")),
                dialect="pylint",
                severity=LETTER_SEVERITY.get(code[:1]),
                symbol=_text(entry.get("symbol")),
                column_base=0,
            ),
        )


def _eslint(entries: list[dict[str, Any]]) -> Iterator[_Entry]:
    for entry in entries:
        for message in _objects(entry.get("messages")):
            severity = message.get("severity")
            yield (
                message,
                Head(
                    file=_text(entry.get("filePath")),
                    line=_number(message.get("line")) or None,
                    column=_number(message.get("column")) or None,
                    word=_ESLINT_WORDS.get(severity, "info") if isinstance(severity, int) else "info",
                    code=_text(message.get("ruleId")) or None,
                    message=_first_line(message.get("message")),
                    dialect="eslint",
                ),
            )


def _ruff(entries: list[dict[str, Any]]) -> Iterator[_Entry]:
    for entry in entries:
        location = _inner(entry, "location")
        yield (
            entry,
            Head(
                file=_text(entry.get("filename")),
                line=_number(location.get("row")),
                column=_number(location.get("column")),
                code=_text(entry.get("code")) or None,
                message=_first_line(entry.get("message")),
                dialect="ruff",
                severity=Severity.ERROR,
            ),
        )


def _climate(entries: list[dict[str, Any]]) -> Iterator[_Entry]:
    """Code Climate, as GitLab reads it."""
    for entry in entries:
        location = _inner(entry, "location")
        begin = _inner(location, "positions", "begin")
        code, message = _text(entry.get("check_name")), _first_line(entry.get("description"))
        yield (
            entry,
            Head(
                file=_text(location.get("path")) or None,
                line=_number(begin.get("line")) or _number(_inner(location, "lines").get("begin")),
                column=_number(begin.get("column")),
                word=_CLIMATE_WORDS.get(_text(entry.get("severity")), ""),
                code=code or None,
                message=message.removeprefix(f"{code}: ") if code else message,
            ),
        )


def _reviewdog(entries: list[dict[str, Any]]) -> Iterator[_Entry]:
    for entry in entries:
        location = _inner(entry, "location")
        start = _inner(location, "range", "start")
        yield (
            entry,
            Head(
                file=_text(location.get("path")) or None,
                line=_number(start.get("line")),
                column=_number(start.get("column")),
                word=_text(entry.get("severity")).lower(),
                code=_text(_inner(entry, "code").get("value")) or None,
                message=_first_line(entry.get("message")),
            ),
        )


def _gcc(entries: list[dict[str, Any]]) -> Iterator[_Entry]:
    for entry in entries:
        # gcc files a diagnostic under the one before it where both stand in one group.
        for single in (entry, *_objects(entry.get("children"))):
            if single.get("kind") == "note":
                continue
            caret = _inner((_objects(single.get("locations")) or [{}])[0], "caret")
            yield (
                single,
                Head(
                    file=_text(caret.get("file")) or None,
                    line=_number(caret.get("line")),
                    column=_number(caret.get("column")),
                    word=_text(single.get("kind")),
                    code=_text(single.get("option")) or None,
                    message=_first_line(single.get("message")),
                    dialect="gcc",
                ),
            )


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _first_line(value: Any) -> str:
    return (_text(value).splitlines() or [""])[0] or "(no message)"


def _number(value: Any) -> int | None:
    return value if isinstance(value, int) and not isinstance(value, bool) and value >= 0 else None


def _plus_one(value: Any) -> int | None:
    number = _number(value)
    return None if number is None else number + 1
