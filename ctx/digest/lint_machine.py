"""Machine formats of diagnostic tools, printed to a stream: read whole, `precision: full` (DESIGN 8)."""

import json
from collections.abc import Callable, Iterator
from typing import Any

from ctx.digest.lint_model import LETTER_SEVERITY, Finding, Head, Reading
from ctx.evidence import Severity
from ctx.text import StreamView

_SARIF_LEVELS = {"error": "error", "warning": "warning", "note": "note", "none": "info"}
_ESLINT_WORDS = {2: "error", 1: "warning"}


def read_machine(view: StreamView) -> Reading | None:
    """The reading of a stream that is one known document, or lines of them; None where it is neither."""
    start = view.screen[:64].lstrip()[:1]
    if start not in (b"{", b"["):
        return None
    text = view.screen.decode("utf-8", "replace")
    try:
        document = json.loads(text)
    except ValueError:
        return _lines(view)
    heads = list(_document(document))
    if not heads and not _is_known(document):
        return None
    reading = Reading(stream=view.name, machine=True, lines=view.line_count, understood=view.line_count)
    for head in heads:
        reading.findings.append(Finding(head=head, line=1, first=1, last=view.line_count))
        reading.vote(head.dialect)
    return reading


def _lines(view: StreamView) -> Reading | None:
    """JSON lines: mypy and cargo; a line that is none is evidence and stays unmatched."""
    reading = Reading(stream=view.name, machine=True, lines=view.line_count)
    known = 0
    for number, line in view.lines():
        if not line.startswith("{"):
            continue
        try:
            document = json.loads(line)
        except ValueError:
            reading.closed = False
            continue
        heads = list(_line(document))
        if heads or (isinstance(document, dict) and "reason" in document):
            known += 1
            reading.understood += 1
        for head in heads:
            reading.findings.append(Finding(head=head, line=number, first=number, last=number))
            reading.vote(head.dialect)
    return reading if known else None


def _line(document: Any) -> Iterator[Head]:
    if not isinstance(document, dict):
        return
    if document.get("reason") == "compiler-message" and isinstance(document.get("message"), dict):
        yield from _rust(document["message"])
    elif "severity" in document and "file" in document and "message" in document:
        yield Head(
            file=_text(document["file"]),
            line=_number(document.get("line")),
            column=_number(document.get("column")),
            word=_text(document["severity"]),
            code=_text(document.get("code")) or None,
            message=_first_line(document["message"]),
            dialect="mypy",
        )


def _rust(message: dict[str, Any]) -> Iterator[Head]:
    spans = [s for s in message.get("spans", []) if isinstance(s, dict) and s.get("is_primary")]
    code = message.get("code")
    if not spans:
        return
    yield Head(
        file=_text(spans[0].get("file_name")),
        line=_number(spans[0].get("line_start")),
        column=_number(spans[0].get("column_start")),
        word=_text(message.get("level")),
        code=_text(code.get("code")) or None if isinstance(code, dict) else None,
        message=_first_line(message.get("message")),
        dialect="rustc",
    )


def _is_known(document: Any) -> bool:
    return isinstance(document, dict) and any(key in document for key in ("generalDiagnostics", "runs", "comments"))


def _document(document: Any) -> Iterator[Head]:
    if isinstance(document, dict):
        readers: tuple[tuple[str, Callable[[Any], Iterator[Head]]], ...] = (
            ("generalDiagnostics", _pyright),
            ("runs", _sarif),
            ("comments", _shellcheck),
            ("messages", _pylint),
        )
        for key, read in readers:
            if isinstance(document.get(key), list):
                yield from read(document[key])
                return
        yield from _line(document)
    elif isinstance(document, list) and document and all(isinstance(entry, dict) for entry in document):
        first = document[0]
        if "messages" in first and "filePath" in first:
            yield from _eslint(document)
        elif "filename" in first and "location" in first:
            yield from _ruff(document)
        elif "message-id" in first or "messageId" in first:
            yield from _pylint(document)
        elif "kind" in first and "locations" in first:
            yield from _gcc(document)
        elif "level" in first and "code" in first and "file" in first:
            yield from _shellcheck(document)


def _pyright(entries: list[Any]) -> Iterator[Head]:
    for entry in entries:
        start = entry.get("range", {}).get("start", {})
        yield Head(
            file=_text(entry.get("file")),
            line=_plus_one(start.get("line")),
            column=_plus_one(start.get("character")),
            word=_text(entry.get("severity")),
            code=_text(entry.get("rule")) or None,
            message=_first_line(entry.get("message")),
            dialect="pyright",
        )


def _sarif(runs: list[Any]) -> Iterator[Head]:
    for run in runs:
        name = run.get("tool", {}).get("driver", {}).get("name", "")
        for result in run.get("results", []):
            place = (result.get("locations") or [{}])[0].get("physicalLocation", {})
            region = place.get("region", {})
            yield Head(
                file=_text(place.get("artifactLocation", {}).get("uri")) or None,
                line=_number(region.get("startLine")),
                column=_number(region.get("startColumn")),
                word=_SARIF_LEVELS.get(_text(result.get("level")), "warning"),
                code=_text(result.get("ruleId")) or None,
                message=_first_line(result.get("message", {}).get("text")),
                dialect=_text(name).lower() or "sarif",
            )


def _shellcheck(entries: list[Any]) -> Iterator[Head]:
    for entry in entries:
        yield Head(
            file=_text(entry.get("file")),
            line=_number(entry.get("line")),
            column=_number(entry.get("column")),
            word=_text(entry.get("level")),
            code=f"SC{entry.get('code')}",
            message=_first_line(entry.get("message")),
            dialect="shellcheck",
        )


def _pylint(entries: list[Any]) -> Iterator[Head]:
    for entry in entries:
        code = _text(entry.get("message-id") or entry.get("messageId"))
        yield Head(
            file=_text(entry.get("path") or entry.get("absolutePath")),
            line=_number(entry.get("line")),
            column=_number(entry.get("column")),
            word=_text(entry.get("type")),
            code=code or None,
            message=_first_line(entry.get("message")),
            dialect="pylint",
            severity=LETTER_SEVERITY.get(code[:1]),
        )


def _eslint(entries: list[Any]) -> Iterator[Head]:
    for entry in entries:
        for message in entry.get("messages", []):
            yield Head(
                file=_text(entry.get("filePath")),
                line=_number(message.get("line")),
                column=_number(message.get("column")),
                word=_ESLINT_WORDS.get(message.get("severity"), "info"),
                code=_text(message.get("ruleId")) or None,
                message=_first_line(message.get("message")),
                dialect="eslint",
            )


def _ruff(entries: list[Any]) -> Iterator[Head]:
    for entry in entries:
        location = entry.get("location") or {}
        yield Head(
            file=_text(entry.get("filename")),
            line=_number(location.get("row")),
            column=_number(location.get("column")),
            code=_text(entry.get("code")) or None,
            message=_first_line(entry.get("message")),
            dialect="ruff",
            severity=Severity.ERROR,
        )


def _gcc(entries: list[Any]) -> Iterator[Head]:
    for entry in entries:
        caret = ((entry.get("locations") or [{}])[0]).get("caret", {})
        if entry.get("kind") == "note":
            continue
        yield Head(
            file=_text(caret.get("file")) or None,
            line=_number(caret.get("line")),
            column=_number(caret.get("column")),
            word=_text(entry.get("kind")),
            code=_text(entry.get("option")) or None,
            message=_first_line(entry.get("message")),
            dialect="gcc",
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
