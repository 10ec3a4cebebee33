"""What pytest says where it could not run or did not come to its end: usage, conftest, internal and fatal errors.

These are the tool's own messages. They stand on stderr (usage, conftest, a fatal interpreter error) or between the
progress and the totals (`INTERNALERROR>`).
"""

import re
from bisect import bisect_right
from dataclasses import dataclass

from ctx.digest.pytest_blocks import split_class
from ctx.digest.pytest_rows import decode
from ctx.digest.pytest_sections import CAPTURED, HEADER, Anchor, Mark, Session, line_end, line_text

_CONFTEST = re.compile(rb"(?:\A|\n)ImportError while loading conftest '([^'\n]+)'\.?\r?(?=\n|\Z)")
_USAGE = re.compile(rb"(?:\A|\n)(?:ERROR: )?usage: [^\n]*(?:pytest|py\.test)[^\n]*")
_ERROR_LINE = re.compile(rb"(?:\A|\n)(?:[^\s:][^\n:]{0,200}: error: |ERROR: (?!usage:))([^\n]+)")
_FATAL = re.compile(rb"(?:\A|\n)(Fatal Python error: [^\n]+)")
_FATAL_FRAME = re.compile(rb'\n  File "([^"\n]+)", line ([0-9]+),? in ([^\n]+)')
_FRAME = re.compile(rb"\n((?:[A-Za-z]:[\\/])?[^\s:>][^\n:]{0,1000}):([0-9]+): in ")
_TAIL = 1 << 17


@dataclass(frozen=True, slots=True)
class Trouble:
    """One message of the tool about itself; bytes 0-based, half-open."""

    kind: str
    """`usage`, `conftest`, `internal`, `fatal`."""
    identity: str
    failure_class: str
    summary: str
    path: str
    line: int
    start: int
    end: int


def has_startup_shape(data: bytes) -> str | None:
    """The reason to take a stream without any report for pytest's: its usage or conftest message."""
    head = data[:_TAIL]
    if _CONFTEST.search(head):
        return "conftest import error"
    if _USAGE.search(head) and _ERROR_LINE.search(head):
        return "usage error"
    return None


def startup_troubles(data: bytes, *, refused: bool) -> list[Trouble]:
    """Messages that precede any run.

    Args:
        refused: The exit status is that of a usage error; only then is a bare `ERROR: …` line the tool's verdict.
    """
    head = data[:_TAIL]
    found = []
    for match in _CONFTEST.finditer(head):
        found.append(_conftest(head, match))
        break
    usage = _USAGE.search(head)
    if (usage is not None or refused) and not found:
        for match in _ERROR_LINE.finditer(head, usage.end() if usage else 0):
            text = decode(match[1].rstrip(b"\r"))
            begin = match.start() + (head[match.start() : match.start() + 1] == b"\n")
            first = (usage.start() + (head[usage.start() : usage.start() + 1] == b"\n")) if usage else begin
            found.append(Trouble("usage", text, "usage_error", text, "", 0, first, line_end(head, match.end())))
            if usage:
                break
    return found


def _conftest(head: bytes, match: "re.Match[bytes]") -> Trouble:
    path = decode(match[1])
    end = len(head)
    message, line = "", 0
    at = head.find(b"\nE ", match.end())
    if at >= 0:
        message = decode(line_text(head, at + 1)[1:]).strip()
        end = line_end(head, at + 1)
    for frame in _FRAME.finditer(head, match.end() - 1, end):
        printed = decode(frame[1])
        if path == printed or path.endswith("/" + printed):
            path, line = printed, int(frame[2])
    name, text = split_class(message)
    begin = match.start() + (head[match.start() : match.start() + 1] == b"\n")
    return Trouble("conftest", path, name, text, path, line, begin, end)


def internal_error(data: bytes, session: Session, *, exit_code: int | None = None) -> Trouble | None:
    """The `INTERNALERROR>` lines of a run as one message with the innermost frame.

    A test may print such lines. The runner's own stand before its blocks, or they are its last word: in a run that
    reached its totals, what a block captured is text, and so is everything where the exit status is one of tests that
    ran, since a crash ends with 3 (or, through a pipe, with 0).
    """
    marks = session.of(Mark.CRASH)
    if marks and session.closing is not None:
        marks = [] if exit_code in _RAN else _outside_captured(data, session, marks)
    if not marks:
        return None
    start, end = marks[0].start, marks[-1].end
    name = text = path = ""
    line = 0
    for mark in marks[-200:]:
        body = line_text(data, mark.start)[len(b"INTERNALERROR> ") :]
        frame = re.match(rb'  File "([^"]+)", line ([0-9]+)', body)
        if frame is not None:
            path, line = decode(frame[1]), int(frame[2])
        elif body and not body.startswith(b" "):
            found, rest = split_class(decode(body))
            if found:
                name, text = found, rest
    return Trouble("internal", "INTERNALERROR", name, text, path, line, start, end)


_RAN = (1, 2, 5)
"""Exit statuses of a runner that did not crash: tests failed, interrupted, none collected."""


def _outside_captured(data: bytes, session: Session, marks: list[Anchor]) -> list[Anchor]:
    """The marks that do not lie in a captured section of a block, which ends at the next block's heading."""
    end = marks[-1].start
    captured = [match.end() for match in CAPTURED.finditer(data, session.start, end)]
    headings = [match.end() for match in HEADER.finditer(data, session.start, end)]
    found = []
    for mark in marks:
        section, heading = bisect_right(captured, mark.start), bisect_right(headings, mark.start)
        if section == 0 or (heading > 0 and headings[heading - 1] > captured[section - 1]):
            found.append(mark)
    return found


def fatal_error(data: bytes) -> Trouble | None:
    """`Fatal Python error: …` with the innermost frame of the thread that raised it."""
    window = max(len(data) - 4 * _TAIL, 0)
    match = _FATAL.search(data, window)
    if match is None:
        return None
    start = match.start(1)
    current = data.find(b"\nCurrent thread ", start)
    frame = _FATAL_FRAME.search(data, max(current, start))
    text = decode(match[1].rstrip(b"\r"))
    path, line = (decode(frame[1]), int(frame[2])) if frame else ("", 0)
    end = data.find(b"\n\n", max(current, start))
    name = text.partition(": ")[2]
    return Trouble("fatal", text, name, text, path, line, start, line_end(data, end if end >= 0 else len(data) - 1))


def stack_function(data: bytes, file: str) -> tuple[str, int] | None:
    """Function and line of `file` in the last stack that was dumped: what ran when a run was ended from outside."""
    window = max(len(data) - 4 * _TAIL, 0)
    found = None
    for match in _FATAL_FRAME.finditer(data, window):
        if decode(match[1]).endswith("/" + file) or decode(match[1]) == file:
            function = decode(match[3].strip())
            if function.startswith("test"):
                found = (function, int(match[2]))
    return found
