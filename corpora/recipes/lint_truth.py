"""Readers of the machine-readable reports of linters and compilers: bytes to diagnostics.

Each gives rows ``{file, line, column, code, message, severity}``; notes and helps are left out, they belong to
their parent. `printed_rows` then drops what the captured text does not print.
"""

import json
import os
import re
from collections.abc import Callable, Iterable, Iterator, Mapping
from typing import Any

from driver import printed

Row = dict[str, Any]


def _row(file: str, line: Any, column: Any, code: Any, message: str, severity: str) -> Row:
    return {"file": file, "line": line, "column": column, "code": code or "", "message": message, "severity": severity}


def ruff(raw: bytes) -> Iterator[Row]:
    """`ruff check --output-format json`."""
    for d in json.loads(raw):
        place = d["location"]
        yield _row(d["filename"], place["row"], place["column"], d["code"], d["message"], d.get("severity") or "error")


def mypy(raw: bytes) -> Iterator[Row]:
    """`mypy --output json`: one object a line; columns are 0-based there and 1-based in its text."""
    for line in raw.decode().splitlines():
        if not line.startswith("{"):
            continue
        d = json.loads(line)
        if d["severity"] != "note":
            yield _row(d["file"], d["line"], d["column"] + 1, d["code"], d["message"], d["severity"])


def pyright(raw: bytes) -> Iterator[Row]:
    """`pyright --outputjson`: 0-based positions, which its text prints 1-based."""
    for d in json.loads(raw)["generalDiagnostics"]:
        start = d["range"]["start"]
        yield _row(d["file"], start["line"] + 1, start["character"] + 1, d.get("rule"), d["message"], d["severity"])


def pylint(raw: bytes) -> Iterator[Row]:
    """`pylint --output-format=json2`."""
    for d in json.loads(raw)["messages"]:
        yield _row(d["path"], d["line"], d["column"], d["messageId"], d["message"], d["type"])


def flake8(raw: bytes) -> Iterator[Row]:
    """`flake8 --format` with tabs: path, row, column, code, text."""
    for line in raw.decode().splitlines():
        path, row, column, code, text = line.split("\t", 4)
        yield _row(path, int(row), int(column), code, text, "error" if code[0] in "EF" else "warning")


def eslint(raw: bytes) -> Iterator[Row]:
    """`eslint -f json`."""
    for f in json.loads(raw):
        for d in f["messages"]:
            severity = "error" if d["severity"] == 2 else "warning"
            yield _row(f["filePath"], d.get("line"), d.get("column"), d["ruleId"], d["message"], severity)


def json_lines(raw: bytes) -> Iterator[Row]:
    """One object a line with our own keys: `diagnose.cjs`, `libclang_diagnostics.py`."""
    for line in raw.decode().splitlines():
        d = json.loads(line)
        if d["severity"] not in ("note", "ignored"):
            yield _row(d["file"], d["line"], d["column"], d.get("code") or d.get("option"), d["message"], d["severity"])


def gcc(raw: bytes) -> Iterator[Row]:
    """`gcc -fdiagnostics-format=json`: one array for each translation unit, on standard error."""
    for line in raw.decode().splitlines():
        if line.startswith("["):
            for d in json.loads(line):
                if d["kind"] != "note" and d["locations"]:
                    caret = d["locations"][0]["caret"]
                    yield _row(caret["file"], caret["line"], caret["column"], d.get("option"), d["message"], d["kind"])


def rustc(raw: bytes) -> Iterator[Row]:
    """`rustc --error-format=json` or `cargo check --message-format=json`."""
    for line in raw.decode().splitlines():
        if not line.startswith("{"):
            continue
        d = json.loads(line)
        d = d.get("message", d) if isinstance(d.get("message"), dict) else d
        if d.get("level") not in ("error", "warning") or not d.get("spans"):
            continue
        span = next((s for s in d["spans"] if s["is_primary"]), d["spans"][0])
        code = (d.get("code") or {}).get("code", "")
        yield _row(span["file_name"], span["line_start"], span["column_start"], code, d["message"], d["level"])


def javac(raw: bytes) -> Iterator[Row]:
    """`Diagnose.java`: the collector of `javax.tools`. It writes type names in full, javac's text does not."""
    for line in raw.decode().splitlines():
        d = json.loads(line)
        if d["kind"] == "NOTE" or not d["file"]:
            continue
        severity = "error" if d["kind"] == "ERROR" else "warning"
        message = re.sub(r"\b(?:[a-z]\w*\.)+(?=[A-Z])", "", d["message"].split("\n")[0])
        yield _row(d["file"], d["line"], None, "", message, severity)


def shellcheck(raw: bytes) -> Iterator[Row]:
    """`shellcheck -f json1`."""
    for d in json.loads(raw)["comments"]:
        yield _row(d["file"], d["line"], d["column"], f"SC{d['code']}", d["message"], d["level"])


READERS: Mapping[str, Callable[[bytes], Iterator[Row]]] = {
    "ruff": ruff, "mypy": mypy, "pyright": pyright, "pylint": pylint, "flake8": flake8, "eslint": eslint,
    "tsc": json_lines, "gcc": gcc, "g++": gcc, "clang": json_lines, "rustc": rustc, "cargo": rustc, "javac": javac,
    "shellcheck": shellcheck,
}  # fmt: skip


def printed_rows(rows: Iterable[Row], text: str, *, folder: str, columns: bool) -> tuple[list[dict[str, Any]], int]:
    """Truth items for the rows that `text` prints, and how many it does not.

    Args:
        folder: Where the tool ran: paths below it may be printed relative to it.
        columns: Whether this form of the text prints columns.
    """
    items, unnamed = [], 0
    lines = set(re.findall(r"\d+", text))
    cache: dict[str, str] = {}
    for row in rows:
        file, message = row["file"], row["message"].strip()
        if file not in cache:
            names = [file, os.path.relpath(file, folder) if file.startswith("/") else file, os.path.basename(file)]
            cache[file] = next((name for name in names if name in text), "")
        first = printed(text, message)
        if first != message and message.endswith(".") and message[:-1] in text:
            first = message[:-1]  # eslint's stylish formatter drops the full stop.
        code = row["code"] if row["code"] and row["code"] in text else ""
        if not cache[file] or (message and not first) or not _line_shown(text, cache[file], row["line"], lines):
            unnamed += 1
            continue
        column = row["column"] if columns and str(row["column"]) in lines else None
        item = {**row, "file": cache[file], "message": first, "code": code, "column": column, "kind": "diagnostic"}
        place = ":".join(str(part) for part in (item["file"], row["line"], column) if part is not None)
        item["identity"] = f"{place}: " + " ".join(part for part in (code, first) if part)
        items.append(item)
    return items, unnamed


def _line_shown(text: str, file: str, line: int | None, numbers: set[str]) -> bool:
    """Whether `line` of `file` is named: beside the file where the text writes places so, else as a number."""
    if line is None:
        return True
    for form in ("{file}:{line}", "{file}({line}", "In {file} line {line}:"):
        if form.split("{line}")[0].format(file=file) in text:
            if re.search(re.escape(form.format(file=file, line=line)) + r"(?![0-9])", text):
                return True
            if form != "{file}:{line}" or re.search(re.escape(file) + r":\d", text):
                return False
    return str(line) in numbers
