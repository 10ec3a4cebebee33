"""Rows of a pytest report: short summary rows, `-v` result rows, progress, collection listings, warnings.

A node id may hold everything that also separates it from its message: blanks, ` - `, brackets, status words. So a
row is split with the help of what other sources call the tests (`Known`), and only then by its own shape.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field, replace

from ctx.digest.pytest_sections import line_end, line_text

FAILING_WORDS = frozenset({"FAILED", "ERROR", "SUBFAIL", "SUBFAILED"})
_WINDOW = 1 << 16


@dataclass(frozen=True, slots=True)
class Row:
    """One row that names a test; bytes 0-based, `end` behind its line end."""

    status: str
    node_id: str
    message: str
    """What follows the id; empty where the row has none."""
    start: int
    end: int
    subtest: str = ""
    """The description of a sub-test, as printed."""
    cut: bool = False
    """The id itself was cut by somebody's width limit and could not be completed."""
    unsure: bool = False
    """The row can be split in several places, and nothing tells which is right."""
    in_teardown: bool = False
    """The test had another result before this error."""
    worker: str = ""


@dataclass(slots=True)
class Known:
    """What other sources call the tests of a run."""

    names: set[str] = field(default_factory=set)
    """Dotted names as block headings print them."""
    load_ids: Callable[[], set[str]] = set
    """Reads the ids of failing `-v` rows; called only where a row is ambiguous."""
    _ids: set[str] | None = None

    def has(self, node_id: str) -> bool:
        """Whether a block heading or a result row names this test."""
        return bool(self.names) and dotted_name(node_id) in self.names

    def ids(self) -> set[str]:
        """Ids of the failing result rows."""
        if self._ids is None:
            self._ids = self.load_ids()
        return self._ids


def decode(line: bytes) -> str:
    """Text of a line; bytes that are not UTF-8 as U+FFFD."""
    return line.decode("utf-8", "replace")


def dotted_name(node_id: str) -> str:
    """The name a block heading gives to a node id: `Class.test[param]`."""
    _, _, rest = node_id.partition("::")
    head, bracket, param = rest.partition("[")
    return head.replace("::", ".") + bracket + param


def file_of(node_id: str) -> str:
    """The path part of a node id."""
    return node_id.partition("::")[0]


# Short summary ------------------------------------------------------------------------------------------------------

_SUMMARY_ROW = re.compile(rb"\n(FAILED|ERROR|XFAIL|XPASS|SKIPPED|RERUN|SUBFAILED|SUBFAIL)([ \[(][^\n]*)")
_ORNAMENT = re.compile(r"\A[^\x00-\x7f\w]+\s+")
"""A sign that a plugin sets between status and id."""
_OLD_SUBTEST = re.compile(rb"\n([\[(][^\n]*?[\])]) (SUBFAIL) ([^\n]*)")
_FILE_LIKE = re.compile(r"\.[A-Za-z]\w{0,5}\Z")


def summary_rows(data: bytes, start: int, end: int, known: Known) -> Iterator[Row]:
    """Rows of a short summary section between `start` (its first row) and `end`."""
    if start == 0:
        # Every pattern needs the line end before its line; the first line of a stream has none.
        shifted = summary_rows(b"\n" + data[:end], 1, end + 1, known)
        yield from (replace(row, start=row.start - 1, end=row.end - 1) for row in shifted)
        return
    for match in _SUMMARY_ROW.finditer(data, start - 1, end):
        status = match[1].decode("ascii")
        first, last = match.start() + 1, line_end(data, match.start() + 1)
        rest = decode(match[2].rstrip(b"\r"))
        subtest = ""
        if status.startswith("SUB"):
            subtest, rest = _subtest_of(rest)
        elif not rest.startswith(" ") or rest.startswith("  "):
            continue
        elif status == "SKIPPED":
            yield Row(status, rest.strip(), "", first, last)
            continue
        if not rest.strip():
            continue
        rest, last = _unwrapped(data, _ORNAMENT.sub("", rest.strip()), last, end)
        yield _row(status, rest, first, last, subtest, known)
    if data.find(b" SUBFAIL ", start, end) >= 0:
        for match in _OLD_SUBTEST.finditer(data, start - 1, end):
            first = match.start() + 1
            rest = decode(match[3].strip())
            if not rest:
                continue
            yield _row("SUBFAIL", rest, first, line_end(data, first), decode(match[1]), known)


def _row(status: str, rest: str, first: int, last: int, subtest: str, known: Known) -> Row:
    if status in ("XFAIL", "XPASS"):
        rest = re.sub(r"\Aat (?:setup|call|teardown) of ", "", rest)
    node_id, message, unsure = split_id(rest, known)
    cut = False
    if not message and rest.endswith("...") and not _balanced(rest):
        node_id, cut = _completed(rest, known)
    return Row(status, node_id, message, first, last, subtest, cut, unsure)


def split_id(rest: str, known: Known) -> tuple[str, str, bool]:
    """Node id and message of a summary row without its status word (S5.1.4), and whether the split is a guess."""
    colons = rest.find("::")
    dash = rest.find(" - ")
    if dash < 0:
        return rest, "", False
    if colons < 0 or (dash < colons and _FILE_LIKE.search(rest, 0, dash)):
        return rest[:dash], rest[dash + 3 :], False
    cuts: list[int] = []
    dash = rest.find(" - ", colons)
    while dash >= 0 and len(cuts) < 100:
        cuts.append(dash)
        dash = rest.find(" - ", dash + 1)
    whole_last = [len(rest), *reversed(cuts)]
    cut = next((cut for cut in whole_last if known.has(rest[:cut])), None) if known.names else None
    balanced = [cut for cut in cuts if _balanced(rest[:cut])]
    if cut is None and balanced and len(cuts) == 1:
        cut = cuts[0]
    if cut is None:
        cut = next((cut for cut in whole_last if rest[:cut] in known.ids()), None)
    if cut is None:
        # An id with a parameter ends in a bracket, and a message begins with a class or with the assertion.
        likely = [cut for cut in cuts if rest[cut - 1] == "]" or "[" not in rest[:cut]]
        cut = next((cut for cut in likely if _MESSAGE.match(rest, cut + 3)), None)
    if cut is not None:
        return rest[:cut], rest[cut + 3 :], False
    closing = rest.find("] - ", colons)
    cut = balanced[0] if balanced else closing + 1 if closing >= 0 else len(rest)
    return rest[:cut], rest[cut + 3 :], len(cuts) > 1


_MESSAGE = re.compile(
    r"(?:[A-Za-z_][\w.]*(?:: |\Z|\.\.\.\Z)|assert\b|\[XPASS\(strict\)\]|worker '|contains [0-9]+ failed subtest)"
)


def _balanced(text: str) -> bool:
    return text.count("[") == text.count("]")


def _completed(rest: str, known: Known) -> tuple[str, bool]:
    """An id cut by `...`, completed where exactly one row or heading begins like it; and whether it is still cut."""
    stem = rest[:-3]
    fits = [node_id for node_id in known.ids() if node_id.startswith(stem)]
    if len(fits) == 1:
        return fits[0], False
    name = dotted_name(stem)
    fits = [full for full in known.names if full.startswith(name)]
    if len(fits) == 1 and "[" in stem:
        return stem[: stem.index("[")] + fits[0][fits[0].index("[") :], False
    return rest, True


def _unwrapped(data: bytes, rest: str, last: int, end: int) -> tuple[str, int]:
    """A row whose bracket is still open, joined with the next lines where they close it."""
    if "[" not in rest or _balanced(rest) or rest.endswith(("...", "]")) or "] - " in rest:
        return rest, last
    joined, upto = rest, last
    for _ in range(3):
        if upto >= end or data[upto : upto + 1] in (b"\n", b"=", b"!"):
            break
        line = decode(line_text(data, upto))
        if _SUMMARY_ROW.match(b"\n" + line.encode("utf-8", "replace")):
            break
        joined, upto = joined + line, line_end(data, upto)
        if _balanced(joined) and re.search(r"\](?: - |\Z)", joined):
            return joined, upto
    return rest, last


def _subtest_of(rest: str) -> tuple[str, str]:
    """`[message] (n=1) path::test - text` split before the node id; both groups may be missing."""
    offset = 0
    for opening, closing in ("[]", "()"):
        begin = offset + 1 if offset and rest[offset : offset + 1] == " " else offset
        if rest[begin : begin + 1] != opening:
            continue
        depth = 0
        for index in range(begin, len(rest)):
            depth += (rest[index] == opening) - (rest[index] == closing)
            if depth == 0:
                offset = index + 1
                break
    if rest[offset : offset + 1] == " ":
        return rest[:offset].strip(), rest[offset + 1 :]
    match = re.search(r"[\])] (\S+?\.py::)", rest)
    if match:
        return rest[: match.start() + 1].strip(), rest[match.start(1) :]
    return "", rest


# Result rows of -v --------------------------------------------------------------------------------------------------

_TAIL = re.compile(
    rb" (FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN|SUBFAILED|SUBFAIL)((?:\[[^\n]*\])?(?:\([^\n]*?\))?)"
    rb"(?: (\([^\n]*\)))? *(?:\[[ 0-9%/a-z.]+\])?\r?(?=\n|\Z)"
)
_PERCENT = re.compile(r"\s+\[[ 0-9%/a-z.]+\]\Z")
_SUBTEST = re.compile(r"([^\s\[]+(?:\[.*\])?) ((?:\[.*\])?(?:(?: |\A|(?<=\s))\(.*\))?)\Z")
_WORKER_ROW = re.compile(rb"\[(gw[0-9]+)\] (?:\[[ 0-9%/]+\] )?([A-Z]+)((?:\[[^\n]*?\])?) ([^\n]*?) *\r?(?=\n|\Z)")
_ID = re.compile(rb"(?!#[0-9]+ )(?:[^\s:\[\]][^\n:]*::[^\n]*\Z|[^\s:]+\.\w+\Z)")
_STATUS_ONLY = re.compile(rb"\n(FAILED|ERROR) *(?:\[[ 0-9%/]+\])?\r?(?=\n|\Z)")
_STARTED = re.compile(rb"([^\s:\[\]][^\n:]*\.\w+::[^\n]*?) ?\r?(?=\n|\Z)")


def result_rows(data: bytes, start: int, end: int, word: str) -> Iterator[Row]:
    """`-v` rows with the status `word` in the progress section `start`..`end`, plain and with a worker's prefix."""
    needle = b" " + word.encode("ascii")
    at = data.find(needle, start, end)
    while at >= 0:
        row = _result_row(data, start, at, word)
        if row is not None:
            yield row
        at = data.find(needle, at + len(needle), end)
    if word in ("FAILED", "ERROR"):
        for match in _STATUS_ONLY.finditer(data, start, end):
            row = _split_row(data, start, match.start() + 1)
            if row is not None and match[1].decode("ascii") == word:
                yield row


def _result_row(data: bytes, start: int, at: int, word: str) -> Row | None:
    floor = max(start, at - _WINDOW)
    newline = data.rfind(b"\n", floor, at)
    first = newline + 1 if newline >= 0 else floor
    if first != start and newline < 0:
        return None
    last = line_end(data, at)
    if data.startswith(b"[gw", first):
        match = _WORKER_ROW.match(data, first)
        if match is None or match[2].decode("ascii") != word or not _ID.match(match[4]):
            return None
        return Row(word, decode(match[4]), "", first, last, decode(match[3]), worker=decode(match[1]))
    tail = _TAIL.match(data, at)
    if tail is None or tail[1].decode("ascii") != word:
        return None
    left = data[first:at]
    if not _ID.match(left) or left.endswith((b":", b" ...")):
        return None
    node_id = decode(left)
    subtest, reason = "", decode(tail[3] or b"")
    if word == "SUBFAIL":
        node_id, subtest = split_subtest(node_id)
    elif word == "SUBFAILED":
        described = decode(data[at + len(word) + 1 : last]).rstrip()
        subtest, reason = _PERCENT.sub("", described).strip(), ""
    return Row(word, node_id, reason.strip("()"), first, last, subtest)


def split_subtest(name: str) -> tuple[str, str]:
    """`test [message] (n=1)` as the test and the description of its sub-test; empty where there is none."""
    match = _SUBTEST.match(name)
    return (match[1], match[2].strip()) if match is not None and match[2].strip() else (name, "")


def _split_row(data: bytes, start: int, at: int) -> Row | None:
    """A status word alone on its line (live log, `-s`): its test is the last one that was started before."""
    begin = max(start, at - _WINDOW)
    found = None
    for match in _STARTED.finditer(data, begin, at):
        if match.start() == 0 or data[match.start() - 1 : match.start()] == b"\n":
            found = match
    if found is None or _TAIL.search(found[0] + b"\n"):
        return None
    word = decode(data[at : at + 6]).split()[0]
    return Row(word, decode(found[1]), "", found.start(), line_end(data, at))


def error_phases(data: bytes, start: int, end: int) -> dict[str, list[str]]:
    """Phases of the `ERROR` rows of each test, in order: behind another result of the test it is its tear-down."""
    found: dict[str, list[str]] = {}
    for row in result_rows(data, start, end, "ERROR"):
        node_id = row.node_id.encode("utf-8", "replace")
        floor = max(start, row.start - _WINDOW)
        if row.worker:
            had = any(data.rfind(b" " + word + b" " + node_id + b" ", floor, row.start) >= 0 for word in _RESULTS)
        else:
            newline = data.rfind(b"\n", floor, max(row.start - 1, floor))
            line = line_text(data, newline + 1) if newline >= 0 else line_text(data, floor)
            had = line.startswith(tuple(node_id + b" " + word for word in _RESULTS)) and row.start > start
        found.setdefault(row.node_id, []).append("teardown" if had else "setup")
    return found


_RESULTS = (b"PASSED", b"FAILED", b"ERROR", b"XFAIL", b"XPASS", b"SKIPPED")


# What was running when the output ended -------------------------------------------------------------------------------

_UNFINISHED = re.compile(rb"([^\s:\[\]][^\n:]*\.\w+::[^\n]*?) ?(?:\+{5,} Timeout \+{5,})?")
_MARKS = re.compile(rb"([^\s:\[\]][^\n:]*\.\w+) ([.FEsxXRuP,]*)(?:\+{5,} Timeout \+{5,})?")


@dataclass(frozen=True, slots=True)
class Started:
    """A test (or a file, where rows name no tests) that was started and has no result."""

    name: str
    start: int
    end: int
    done: int | None = None
    """Results of the file before it; None for a test."""
    whole: bool = True
    """False where the output ends inside the name's own line without the blank that follows a name."""


def unfinished(data: bytes, start: int, end: int) -> list[Started]:
    """What was running at the end of the progress section `start`..`end`: judged by its last 64 KiB."""
    begin = max(start, end - _WINDOW)
    if begin > start:
        begin = data.find(b"\n", begin, end) + 1 or begin
    running: dict[bytes, Started] = {}
    last: Started | None = None
    offset = begin
    workers = data.find(b"\n[gw", begin, end) >= 0
    while offset < end:
        stop = min(line_end(data, offset), end)
        line = line_text(data[offset:stop], 0)
        last, name = _progress_line(line, offset, stop, data, last)
        if name and workers:
            finished = _WORKER_ROW.match(line)
            if finished is not None:
                running.pop(finished[4], None)
            elif last is not None:
                running[name] = last
        offset = stop
    if workers:
        return list(running.values())
    return [last] if last is not None else []


def _progress_line(
    line: bytes, offset: int, stop: int, data: bytes, last: Started | None
) -> tuple[Started | None, bytes]:
    if not line.strip():
        return last, b""
    worker = _WORKER_ROW.match(line)
    if worker is not None:
        return None, worker[4]
    if _TAIL.search(line + b"\n") or re.search(rb" PASSED *(?:\([^\n]*\))? *(?:\[[^\]\n]*\])?\Z", line):
        return None, b""
    test = _UNFINISHED.fullmatch(line)
    if test is not None and b" PASSED " not in line:
        whole = stop < len(data) or line.endswith(b" ") or b"Timeout" in line
        return Started(decode(test[1]), offset, stop, whole=whole), test[1]
    marks = _MARKS.fullmatch(line)
    if marks is not None:
        return Started(decode(marks[1]), offset, stop, done=len(marks[2])), marks[1]
    if re.search(rb"\[ *[0-9]+%\]\Z", line) or re.match(rb"(?:PASSED|FAILED|ERROR|SKIPPED)\b", line):
        return None, b""
    return last, b""


# Listings of --collect-only ------------------------------------------------------------------------------------------

_NODE = re.compile(rb"\n( *)<(\w+) ([^\n]*)>\r?(?=\n|\Z)")
_BARE_ID = re.compile(rb"\n([^\s:<=][^\n:]*\.\w+::[^\n]*\S)\r?(?=\n|\Z)")


_FOLDERS = frozenset({"Dir", "Package", "Module", "DoctestModule", "DoctestTextfile"})


def listed_tests(data: bytes, start: int, end: int) -> Iterator[tuple[str, int, int]]:
    """Ids of a listing with their byte range: bare ids (`-q`) or the tree of nodes."""
    begin = max(start - 1, 0)
    trail: list[tuple[int, str, str]] = []
    tree = False
    for match in _NODE.finditer(data, begin, end):
        tree = True
        depth, kind, name = len(match[1]), match[2].decode("ascii", "replace"), decode(match[3])
        while trail and trail[-1][0] >= depth:
            trail.pop()
        if kind in _FOLDERS or kind in ("Session", "Class", "UnitTestCase"):
            trail.append((depth, kind, name))
            continue
        # The outermost folder is the root directory itself, which ids do not name.
        parts = [part for part in trail if not (part[0] == 0 and part[1] == "Dir")]
        folders = [
            name for _, kind, name in parts if kind in ("Dir", "Package", "Module") or kind.startswith("Doctest")
        ]
        classes = [name for _, kind, name in parts if kind in ("Class", "UnitTestCase")]
        path = "/".join(folders)
        yield "::".join([path, *classes, name]), match.start() + 1, match.end()
    if not tree:
        first = line_text(data, start)
        if _BARE_ID.match(b"\n" + first) and start == 0:
            yield decode(first), 0, line_end(data, 0)
        for match in _BARE_ID.finditer(data, begin, end):
            yield decode(match[1]), match.start() + 1, match.end()


# Warnings summary -----------------------------------------------------------------------------------------------------

_WARNING = re.compile(rb"\n {2}(\S[^\n]*?):([0-9]+): ([A-Za-z_][\w.]*): ([^\n]*)")
_TIMES = re.compile(rb"\n[^\s-][^\n]*: ([0-9]+) warnings?\r?(?=\n)")


@dataclass(slots=True)
class WarningGroup:
    """Warnings of one category at one place."""

    category: str
    path: str
    line: int
    message: str
    count: int
    start: int
    end: int


def warning_groups(data: bytes, start: int, end: int) -> list[WarningGroup]:
    """Groups of a warnings summary, in order of appearance."""
    groups: dict[tuple[bytes, bytes, bytes], WarningGroup] = {}
    before = max(start - 1, 0)
    for match in _WARNING.finditer(data, before, end):
        named = data.rfind(b"\n\n", before, match.start())
        heads = data[max(named, before) : match.start() + 1]
        counted = [int(times[1]) for times in _TIMES.finditer(heads)]
        lines = sum(1 for line in heads.split(b"\n") if line and not line.startswith((b" ", b"-")))
        count = sum(counted) + max(lines - len(counted), 0) or 1
        before = match.end()
        key = (match[3], match[1], match[2])
        if key in groups:
            groups[key].count += count
            continue
        groups[key] = WarningGroup(
            decode(match[3]),
            decode(match[1]),
            int(match[2]),
            decode(match[4].rstrip(b"\r")),
            count,
            match.start() + 1,
            match.end(),
        )
    return list(groups.values())
