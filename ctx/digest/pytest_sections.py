"""The skeleton of a pytest report: ruled lines at column 1, totals, and where one run ends and the next begins.

Anything may stand between the runner's own lines: a test prints, a log is shown live, a failing test's captured output
holds the whole report of another run. So an anchor found here is a candidate. A totals line counts as the runner's own
only if nothing of the same report follows it; a report inside a report is known by its own session banner.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum


class Mark(StrEnum):
    """What an anchor line is by its text alone."""

    START = "start"
    """`=== test session starts ===`"""
    FAILING = "failing"
    """`=== ERRORS ===`, `=== FAILURES ===`"""
    LATER = "later"
    """A section of the runner or of a plugin that follows the failures."""
    SUMMARY = "summary"
    """`=== short test summary info ===`"""
    RERUNS = "reruns"
    """`=== rerun test summary info ===`"""
    TOTALS = "totals"
    STOP = "stop"
    """`!!! stopping after 1 failures !!!`"""
    CRASH = "crash"
    """`INTERNALERROR>`"""


@dataclass(frozen=True, slots=True)
class Totals:
    """One totals line: the tool's classes, in its order, plural where pytest names both forms."""

    counts: Mapping[str, int]
    collected_only: bool = False
    """`N tests collected`: a listing."""
    nothing_ran: bool = False
    """`no tests ran`."""
    listed: bool = False
    """A list in place of a line: its report calls every row FAILED, errors too."""

    @property
    def failed(self) -> int:
        """Failed tests and failed sub-tests."""
        return sum(n for name, n in self.counts.items() if name == "failed" or name.endswith(" failed"))

    @property
    def errors(self) -> int:
        """Errors at set-up, tear-down and collection."""
        return self.counts.get("errors", 0)

    @property
    def ran(self) -> int:
        """Tests with a result."""
        return sum(n for name, n in self.counts.items() if name not in _NO_RESULT)


@dataclass(frozen=True, slots=True)
class Anchor:
    """One ruled (or bare totals) line; bytes 0-based, `end` behind its line end."""

    mark: Mark
    title: str
    start: int
    end: int
    totals: Totals | None = None


@dataclass(slots=True)
class Session:
    """One run of the tool inside a stream; bytes 0-based, half-open."""

    start: int
    end: int
    anchors: list[Anchor] = field(default_factory=list)
    header: Anchor | None = None
    """The session banner; quiet runs print none."""
    closing: Anchor | None = None
    """The totals line; a cut or very quiet run has none."""
    headings: tuple[int, int] | None = None
    """Up to where block headings were counted, and how many."""
    captured: tuple[int, int] | None = None
    """Up to where captured sections were looked for, and where the last of them begins (-1: nowhere)."""

    @property
    def totals(self) -> Totals | None:
        return self.closing.totals if self.closing else None

    def of(self, mark: Mark) -> list[Anchor]:
        """Anchors of one kind, in order."""
        return [anchor for anchor in self.anchors if anchor.mark is mark]


_NO_RESULT = frozenset({"deselected", "warnings", "errors", "rerun", "collected"})
_PLURAL = {"error": "errors", "warning": "warnings"}
_WORDS = rb"failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|flaky|subtests? \w+"
_ANCHOR = re.compile(
    rb"\n(?:=+ |!{3,} |INTERNALERROR> |no tests |Results \(|[0-9]+(?:/[0-9]+)? (?:tests?|" + _WORDS + rb")[ ,])"
)
_RULED = re.compile(rb"(=+|!+) (.*\S) (?:=+|!+)")
_TOTALS = re.compile(
    rb"(no tests (?:ran|collected)(?: \([0-9]+ deselected\))?|[0-9][0-9a-z/(), -]*?)"
    rb" in [0-9]+(?:\.[0-9]+)? ?s(?:econds)?(?: \([0-9][^()]*\))?"
)
_PART = re.compile(r"([0-9]+)(?:/[0-9]+)? ([a-z][a-z -]*?)(?: \(([0-9]+) deselected\))?")
_KNOWN = re.compile(r"failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|tests? collected")
_LATER = re.compile(
    r"(?:PASSES|XPASSES|XFAILURES|warnings summary.*|slowest .*durations|tests coverage|coverage.*|.*generated.*)\Z"
)
_RESULTS = re.compile(rb"Results \([0-9]+(?:\.[0-9]+)?s\):\r?\n")
_RESULT_ROW = re.compile(rb" {3,}([0-9]+) ([a-z]+)\r?(?:\n|\Z)")
_RESULT_NOTE = re.compile(rb"(?:\r?| {5,}- [^\n]*)(?:\n|\Z)")
CAPTURED = re.compile(rb"(?:\A|\n)-+ Captured \w+ (?:setup|call|teardown) -+\r?\n")
"""The heading of what a test printed."""
HEADER = re.compile(rb"\n(_+) ([^\n]*\S) _+\r?(?=\n|\Z)")
"""A block's own heading, inside ERRORS, FAILURES and PASSES."""
PROGRESS = re.compile(
    rb"(?:\A|\n)(?:[^\s:][^\n:]{0,300}\.py(?:::[^\n]{0,400})?(?<!:)(?<! \.\.\.)"
    rb" (?:PASSED|FAILED|ERROR|SKIPPED|XFAIL|XPASS|RERUN)\b"
    rb"|\[gw[0-9]+\] \[ *[0-9]+%\] [A-Z]+ "
    rb"|[^\s:][^\n:]{0,300}\.(?:(?:py|txt|rst|md) [.FEsxXRuP,]+ *(?:\[ *[0-9]+%\])?"
    rb"|[A-Za-z]\w* [.FEsxXRuP,]+ *\[ *[0-9]+%\])\r?(?=\n|\Z)"
    rb"|[.FEsxXRuP,]* *\[ *[0-9]+%\]\r?(?=\n|\Z))"
)
"""A result row or a row of progress marks."""


def line_end(data: bytes, offset: int) -> int:
    """Offset behind the line that holds `offset`."""
    end = data.find(b"\n", offset)
    return len(data) if end < 0 else end + 1


def line_text(data: bytes, start: int) -> bytes:
    """The line that starts at `start`, without its end."""
    end = data.find(b"\n", start)
    line = data[start:] if end < 0 else data[start:end]
    return line[:-1] if line.endswith(b"\r") else line


def parse_totals(line: bytes) -> Totals | None:
    """A totals line without or with its rule; None where the line is something else."""
    body = line.strip(b"=").strip() if line.startswith(b"=") else line
    match = _TOTALS.fullmatch(body)
    if match is None:
        return None
    parts = match[1].decode("ascii")
    if parts.startswith("no tests"):
        inner = re.search(r"\(([0-9]+) deselected\)", parts)
        counts = {"deselected": int(inner[1])} if inner else {}
        return Totals(counts, collected_only="collected" in parts, nothing_ran=True)
    counts = {}
    listing = False
    known = False
    for part in parts.split(", "):
        found = _PART.fullmatch(part)
        if found is None:
            return None
        name = found[2]
        known = known or _KNOWN.fullmatch(name) is not None
        if name in ("tests collected", "test collected"):
            listing, name = True, "collected"
        name = _PLURAL.get(name, name)
        counts[name] = counts.get(name, 0) + int(found[1])
        if found[3]:
            counts["deselected"] = int(found[3])
    return Totals(counts, collected_only=listing) if known else None


def find_anchors(data: bytes) -> list[Anchor]:
    """Every line of the stream that looks like one of the runner's own ruled lines or totals."""
    found: list[Anchor] = []
    starts = [match.start() + 1 for match in _ANCHOR.finditer(data)]
    if _ANCHOR.match(b"\n" + data[:80]):
        starts.insert(0, 0)
    for start in starts:
        anchor = _classify(data, start)
        if anchor is not None:
            found.append(anchor)
    return found


def _classify(data: bytes, start: int) -> Anchor | None:
    line = line_text(data, start)
    end = line_end(data, start)
    if line.startswith(b"INTERNALERROR>"):
        return Anchor(Mark.CRASH, "", start, end)
    if line.startswith(b"Results ("):
        return _listed_totals(data, start)
    totals = parse_totals(line) if len(line) < 1000 else None
    if totals is not None:
        return Anchor(Mark.TOTALS, "", start, end, totals)
    ruled = _RULED.fullmatch(line)
    if ruled is None:
        return None
    title = ruled[2].decode("utf-8", "replace")
    if ruled[1][:1] == b"!":
        return Anchor(Mark.STOP, title, start, end)
    mark = {
        "test session starts": Mark.START,
        "ERRORS": Mark.FAILING,
        "FAILURES": Mark.FAILING,
        "short test summary info": Mark.SUMMARY,
        "rerun test summary info": Mark.RERUNS,
    }.get(title)
    if mark is None:
        if len(line) < 10 or not (_LATER.match(title) or len(ruled[1]) >= 5):
            return None
        mark = Mark.LATER
    return Anchor(mark, title, start, end)


def _listed_totals(data: bytes, start: int) -> Anchor | None:
    """Totals as pytest-sugar 1.1 lists them: `Results (0.5s):`, a row for each class, failing tests below theirs."""
    head = _RESULTS.match(data, start)
    if head is None:
        return None
    end = head.end()
    counts: dict[str, int] = {}
    while end < len(data):
        row = _RESULT_ROW.match(data, end)
        if row is not None:
            name = row[2].decode("ascii")
            counts[_PLURAL.get(name, name)] = int(row[1])
        following = row or _RESULT_NOTE.match(data, end)
        if following is None or following.end() == end:
            break
        end = following.end()
    known = any(_KNOWN.fullmatch(name) for name in counts)
    return Anchor(Mark.TOTALS, "", start, end, Totals(counts, listed=True)) if known else None


def inside_other_report(data: bytes, anchor: Anchor) -> bool:
    """Whether `anchor` stands in a block of another reporter that has not closed: what a test printed there."""
    block = _OTHER_BLOCK.search(data, 0, anchor.start)
    return block is not None and _OTHER_CLOSE.search(data, block.end(), anchor.start) is None


def split_sessions(data: bytes, *, green_exit: bool = False) -> list[Session]:
    """The runs of a stream in order; a stream without any anchor is one run.

    Args:
        green_exit: The exit status is 0: it tells between totals without a failure and blocks that claim some, where
            both may be printed by a test.
    """
    anchors = find_anchors(data)
    sessions: list[Session] = []
    current = Session(start=0, end=len(data))
    depth = 1
    for index, anchor in enumerate(anchors):
        current.anchors.append(anchor)
        if anchor.mark is Mark.START:
            inside = CAPTURED.search(data, current.start, anchor.start) is not None
            if current.header is None and len(current.anchors) == 1 and not inside:
                current.header = anchor
            else:
                depth += 1
        elif anchor.mark is Mark.TOTALS:
            if depth > 1:
                depth -= 1
            elif _closes(data, current, anchor, anchors, index, green_exit):
                current.closing = anchor
                current.end = anchor.end
                sessions.append(current)
                current = Session(start=anchor.end, end=len(data))
    if current.anchors or not sessions:
        _close_open(data, current, green_exit)
        if sessions and all(a.mark in (Mark.STOP, Mark.LATER) for a in current.anchors):
            # `!!! _pytest.outcomes.Exit !!!` and rules of other tools follow the totals of the last run.
            sessions[-1].anchors += [a for a in current.anchors if a.mark is Mark.STOP]
        else:
            sessions.append(current)
    sessions[-1].end = len(data)
    return sessions


def _close_open(data: bytes, session: Session, green_exit: bool) -> None:
    """The last totals of a run whose inner reports were not balanced: the final anchor, with nothing behind it."""
    last = [anchor for anchor in session.anchors if anchor.mark not in (Mark.STOP, Mark.LATER)]
    if not last or last[-1].mark is not Mark.TOTALS or not _nothing_follows(data, last[-1].end):
        return
    # They may as well be the end of an inner report whose own run was cut off: only blocks that fit tell.
    if session.of(Mark.FAILING) and _fits_blocks(data, session, last[-1], between=True, green_exit=green_exit):
        session.closing = last[-1]


def _closes(data: bytes, session: Session, totals: Anchor, anchors: list[Anchor], index: int, green_exit: bool) -> bool:
    """Whether `totals` ends its run, judged by what follows."""
    window = anchors[index + 1 : index + 50]
    after = next((a for a in window if a.mark not in (Mark.STOP, Mark.LATER)), None)
    if after is None:
        return _nothing_follows(data, totals.end) and _fits_blocks(
            data, session, totals, between=False, green_exit=green_exit
        )
    if HEADER.search(data, totals.end - 1, after.start):
        # A block goes on: these totals were printed by its test.
        return False
    if after.mark is not Mark.START and not PROGRESS.search(data, totals.end - 1, after.start):
        return False
    if _is_captured(data, session, totals) and (
        (session.header is not None and after.mark is not Mark.START) or _summed_up_later(data, session, anchors, index)
    ):
        # The next run of a tool that prints a banner begins with one, and no run names the blocks of another one:
        # a test printed these totals.
        return False
    return _fits_blocks(data, session, totals, between=True, green_exit=green_exit)


def _is_captured(data: bytes, session: Session, totals: Anchor) -> bool:
    """Whether the last heading before `totals` is that of what a test printed."""
    upto, found = session.captured or (session.start, -1)
    for match in CAPTURED.finditer(data, upto, totals.start):
        found = match.start()
    session.captured = (max(upto, totals.start - 1), found)
    ruled = (Mark.SUMMARY, Mark.FAILING, Mark.LATER, Mark.RERUNS)
    last = next((a.start for a in reversed(session.anchors) if a.mark in ruled and a.start < totals.start), -1)
    return found > last


def _summed_up_later(data: bytes, session: Session, anchors: list[Anchor], index: int) -> bool:
    """Whether the last summary of the stream stands behind anchor `index` and names the first block of `session`."""
    first = next((a for a in session.anchors if a.mark is Mark.FAILING), None)
    place = next((p for p in range(len(anchors) - 1, index, -1) if anchors[p].mark is Mark.SUMMARY), None)
    name = _first_name(data, first) if first is not None else b""
    if place is None or not name:
        return False
    end = anchors[place + 1].start if place + 1 < len(anchors) else len(data)
    return _rows_name(data[anchors[place].end : end], name)


def _rows_name(rows: bytes, name: bytes) -> bool:
    """Whether rows of a summary name a function (behind `::`) or a file that could not be loaded."""
    before = rb"(?:[ /]|\A)" if b"/" in name or b"." in name else rb"(?:::|\.)"
    return re.search(before + re.escape(name) + rb"(?!\w)", rows) is not None


_OTHER_BLOCK = re.compile(rb"\n[=-]{60,}\r?\n(?:FAIL|ERROR|CRITICAL): ")
"""The head of a failure as unittest and reporters in its manner print it."""
_OTHER_CLOSE = re.compile(rb"\nRan [0-9]+ tests? in ")


def _nothing_follows(data: bytes, end: int) -> bool:
    begin = max(end - 1, 0)
    return not any(form.search(data, begin) for form in (HEADER, PROGRESS, _OTHER_BLOCK))


def _fits_blocks(data: bytes, session: Session, totals: Anchor, *, between: bool, green_exit: bool) -> bool:
    """Whether totals can be those of the blocks before them.

    A failing test may print a whole report of another run. At the end of the stream it is enough that totals which
    follow a block without a summary count a failure at all. Between two runs they must count every block.
    """
    if totals.totals is None:
        return False
    before = [anchor for anchor in session.anchors if anchor.start < totals.start]
    first = next((anchor for anchor in before if anchor.mark is Mark.FAILING), None)
    if first is None:
        return True
    claimed = totals.totals.failed + totals.totals.errors
    if (
        claimed == 0
        and HEADER.match(data, first.end - 1)
        and not any(a.mark is Mark.LATER for a in _until(before, first))
    ):
        # Blocks and totals without a failure: unless a test printed the blocks, it printed the totals.
        return green_exit and PROGRESS.search(data, first.end - 1, totals.start) is not None
    last = next(a for a in reversed(before) if a.mark in (Mark.SUMMARY, Mark.FAILING, Mark.LATER, Mark.RERUNS))
    if last.mark is not Mark.FAILING and not between:
        return True
    if last.mark is Mark.SUMMARY:
        # The rows name the first block of their own run; those of an inner report name the inner test.
        name = _first_name(data, first)
        return not name or _rows_name(data[last.end : totals.start], name)
    # Counted onwards from the last question, so that a thousand look-alikes cost one pass.
    later = next((a.start for a in before if a.mark is Mark.LATER and a.start > first.start), totals.start)
    upto, blocks = session.headings or (first.end - 1, 0)
    if later > upto:
        blocks += sum(1 for _ in HEADER.finditer(data, upto, later))
        session.headings = (later - 1, blocks)
    if claimed == 0:
        return False
    return blocks <= claimed if between else blocks == 0 or blocks >= claimed


def _until(anchors: list[Anchor], last: Anchor) -> list[Anchor]:
    return [anchor for anchor in anchors if anchor.start < last.start]


def _first_name(data: bytes, banner: Anchor) -> bytes:
    """The function (or file) that the first heading behind a banner names; empty where no heading follows."""
    heading = HEADER.match(data, banner.end - 1)
    if heading is None:
        return b""
    title = re.sub(rb"\AERROR (?:at \w+ of|collecting) |\A\[doctest\] ", b"", heading[2]).partition(b"[")[0].strip()
    return title if b"/" in title else title.rpartition(b".")[2].partition(b" ")[0]
