"""The census of one pytest run: which tests failed, from every source the report offers, each with what is said of it.

Sources, best first (S5.1.3): the short summary, `-v` result rows, headings of blocks. A lower source adds only what
the totals leave room for, so that text which imitates a row cannot add a test to a run that counted its failures.
"""

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field

from ctx.digest.pytest_blocks import (
    Candidate,
    Frame,
    Heading,
    PlaceRow,
    Reading,
    Region,
    Wanted,
    failing_region,
    find_headings,
    heading_names,
    join_blocks,
    join_places,
    place_rows,
    read_block,
    split_class,
    test_frame,
)
from ctx.digest.pytest_rows import (
    FAILING_WORDS,
    Known,
    Row,
    Started,
    file_of,
    result_rows,
    summary_rows,
    test_had_result,
    unfinished,
)
from ctx.digest.pytest_sections import Anchor, Mark, Session, Totals, line_text


@dataclass(slots=True)
class Finding:
    """One failing test, set-up or tear-down error, or file that did not load."""

    row: Row
    phase: str
    """`call`, `setup`, `teardown`, `collect`; empty where nothing says which."""
    block: Candidate | None = None
    place: PlaceRow | None = None
    """The row of `--tb=line`."""
    frame: Frame | None = None
    failure_class: str = ""
    summary: str = ""
    chain: tuple[str, ...] = ()
    """Classes of a chained exception, cause first; empty for one exception."""
    from_heading: bool = False
    """Known by a block's heading only; its file is that of the block's own frame."""


@dataclass(slots=True)
class SessionFacts:
    """Everything read from one run."""

    session: Session
    failing: list[Finding] = field(default_factory=list)
    others: list[Row] = field(default_factory=list)
    """Rows that are no failure: skipped, expected failures, reruns."""
    running: list[Started] = field(default_factory=list)
    unjoined: list[Candidate] = field(default_factory=list)
    """Blocks for which the totals leave no room."""
    rejected: list[Row] = field(default_factory=list)
    """Rows that imitate the summary."""
    progress: tuple[int, int] = (0, 0)
    summary: Anchor | None = None
    has_blocks: bool = False
    parallel: bool = False
    """Several workers: arrival order means nothing."""
    head_missing: bool = False

    @property
    def totals(self) -> Totals | None:
        return self.session.totals

    @property
    def expected(self) -> int | None:
        """Failed plus errors of the totals line."""
        return None if self.totals is None else self.totals.failed + self.totals.errors


def read_session(data: bytes, session: Session) -> SessionFacts:
    """The facts of one run; see the module's docstring for the order of sources."""
    facts = SessionFacts(session)
    stop = session.closing.start if session.closing else session.end
    banners = [a for a in session.of(Mark.FAILING) if a.start < stop]
    begin = session.header.end if session.header else session.start
    first = banners[0].end if banners else (None if session.header else session.start)
    headings = find_headings(data, first, stop) if first is not None else []
    bodies = [a.start for a in session.anchors if a.mark in (Mark.FAILING, Mark.SUMMARY, Mark.RERUNS, Mark.CRASH)]
    facts.progress = (begin, min([*bodies, stop]))
    known = Known({h.name for h in headings if not h.capture}, lambda: _row_ids(data, facts.progress))
    rows = _summary(data, facts, stop, known)
    facts.parallel = _is_parallel(data, session, facts.progress)
    failing = _corroborated(data, facts, [r for r in rows if r.status in FAILING_WORDS], headings)
    facts.others = [r for r in rows if r.status not in FAILING_WORDS]
    _add_result_rows(data, facts, failing)
    names = Counter(name for row in failing for name in heading_names(row))
    limit = facts.summary.start if facts.summary else stop
    region = failing_region(session, headings, names, limit)
    facts.has_blocks = region is not None and bool(region.candidates)
    facts.failing = [Finding(row, "") for row in failing]
    if region is not None:
        _join(data, facts, region)
    _other_rows(data, facts)
    for finding in facts.failing:
        _describe(data, facts, finding)
    facts.head_missing = _head_missing(data, session, headings)
    if session.closing is None or session.of(Mark.STOP) or session.of(Mark.CRASH):
        facts.running = unfinished(data, *facts.progress)
    return facts


def _row_ids(data: bytes, progress: tuple[int, int]) -> set[str]:
    return {row.node_id for word in ("FAILED", "ERROR") for row in result_rows(data, *progress, word)}


def _is_parallel(data: bytes, session: Session, progress: tuple[int, int]) -> bool:
    begin, end = progress
    head = data[begin : min(end, begin + 8192)]
    return b"\ncreated: " in head or b"\nbringing up nodes" in head or b" workers [" in head or b"\n[gw0] " in head


# Short summary --------------------------------------------------------------------------------------------------------


def _summary(data: bytes, facts: SessionFacts, stop: int, known: Known) -> list[Row]:
    """Rows of the summary that fits the totals best, the last one where none fits; rows of a rerun section added."""
    session = facts.session
    chosen: list[Row] = []
    anchors = [a for a in session.of(Mark.SUMMARY) if a.start < stop]
    for anchor in reversed(anchors[-8:]):
        rows = list(summary_rows(data, anchor.end, _section_end(session, anchor, stop), known))
        failing = sum(row.status in FAILING_WORDS for row in rows)
        fits = facts.expected is None or failing == facts.expected
        if facts.summary is None or fits:
            facts.summary, chosen = anchor, rows
        if fits:
            break
    reruns = [a for a in session.of(Mark.RERUNS) if a.start < stop]
    if reruns:
        extra = list(summary_rows(data, reruns[-1].end, _section_end(session, reruns[-1], stop), known))
        named = {(row.status, row.node_id) for row in chosen}
        chosen += [row for row in extra if (row.status, row.node_id) not in named or row.status == "RERUN"]
        facts.summary = facts.summary or reruns[-1]
        if facts.summary.start > reruns[-1].start:
            facts.summary = reruns[-1]
    return chosen


def _section_end(session: Session, anchor: Anchor, stop: int) -> int:
    ends = [a.start for a in session.anchors if a.start > anchor.start and a.mark not in (Mark.TOTALS, Mark.START)]
    return min([*ends, stop])


def _corroborated(data: bytes, facts: SessionFacts, rows: list[Row], headings: list[Heading]) -> list[Row]:
    """Rows without those that only captured text can have printed: no heading has their name, nothing their file."""
    names = {h.name for h in headings if not h.capture}
    blocks = sum(1 for h in headings if not h.capture)
    expected = facts.expected
    if not blocks or (expected is not None and len(rows) <= expected and blocks < expected):
        return rows
    doubtful = [
        row
        for row in rows
        if not any(name in names for name in heading_names(row)) and file_of(row.node_id) not in names
    ]
    if not doubtful:
        return rows if expected is None or len(rows) <= expected else _without_surplus(rows, headings, expected)
    files = _frame_paths(data, facts, headings)
    begin, end = facts.progress
    for row in doubtful:
        file = file_of(row.node_id)
        seen = file in files or data.find(file.encode("utf-8", "replace"), begin, end) >= 0
        if not seen or (expected is not None and len(rows) - len(facts.rejected) > expected):
            facts.rejected.append(row)
    rejected = {id(row) for row in facts.rejected}
    return [row for row in rows if id(row) not in rejected]


def _without_surplus(rows: list[Row], headings: list[Heading], expected: int) -> list[Row]:
    """More rows than the totals count: each heading vouches for one row of its name; exact repeats go last."""
    room = Counter(h.name for h in headings if not h.capture)
    kept = []
    for row in rows:
        name = next((name for name in heading_names(row) if room[name] > 0), None)
        if name is not None:
            room[name] -= 1
            kept.append(row)
    return kept if len(kept) >= expected else rows


def _frame_paths(data: bytes, facts: SessionFacts, headings: list[Heading]) -> set[str]:
    """Files of the tracebacks of blocks that are not inside captured output."""
    paths: set[str] = set()
    region = failing_region(facts.session, headings, Counter(), facts.summary.start if facts.summary else len(data))
    for candidate in region.candidates if region else ():
        if not candidate.captured:
            paths.update(frame.path for frame in read_block(data, candidate).frames)
    return paths


# Result rows ----------------------------------------------------------------------------------------------------------


def _add_result_rows(data: bytes, facts: SessionFacts, failing: list[Row]) -> None:
    """Add `-v` rows whose result no better source names, as far as the totals leave room."""
    if facts.expected is not None and len(failing) >= facts.expected:
        return
    room = None if facts.expected is None else facts.expected - len(failing)
    have = Counter((_word_class(row.status), row.node_id, row.subtest) for row in failing)
    found: list[Row] = []
    for word in ("FAILED", "ERROR", "SUBFAILED", "SUBFAIL"):
        for row in result_rows(data, *facts.progress, word):
            key = (_word_class(word), row.node_id, row.subtest)
            if have[key] > 0:
                have[key] -= 1
            else:
                found.append(row)
    sure = [row for row in found if _is_sure(data, facts, row)]
    if room is not None and len(found) <= room:
        sure = found
    failing += sorted(sure if room is None else sure[:room], key=lambda row: row.start)


def _word_class(status: str) -> str:
    return {"ERROR": "error", "FAILED": "failed"}.get(status, "subtest")


def _is_sure(data: bytes, facts: SessionFacts, row: Row) -> bool:
    """A row with the runner's own progress mark, or whose file other rows name too (S5.1.14)."""
    line = line_text(data, row.start)
    if row.worker or line.rstrip().endswith(b"]"):
        return True
    begin, end = facts.progress
    prefix = b"\n" + file_of(row.node_id).encode("utf-8", "replace") + b"::"
    first = data.find(prefix, max(begin - 1, 0), end)
    return first >= 0 and data.find(prefix, first + 1, end) >= 0


def _other_rows(data: bytes, facts: SessionFacts) -> None:
    """Skips, expected failures and reruns that only `-v` rows name; sought only where the totals count them."""
    totals = facts.totals
    if totals is None:
        return
    have = {row.status for row in facts.others}
    for name, word in (("skipped", "SKIPPED"), ("xfailed", "XFAIL"), ("xpassed", "XPASS"), ("rerun", "RERUN")):
        if totals.counts.get(name, 0) and word not in have:
            rows = list(result_rows(data, *facts.progress, word))
            if len(rows) <= totals.counts[name]:
                facts.others += rows


# Blocks ---------------------------------------------------------------------------------------------------------------


def _join(data: bytes, facts: SessionFacts, region: Region) -> None:
    wanted = [Wanted(f.row, heading_names(f.row), "::" not in f.row.node_id) for f in facts.failing]
    plain, captured = join_blocks(data, region, wanted)
    for finding, entry in zip(facts.failing, wanted, strict=True):
        finding.block = entry.block
    room = None if facts.expected is None else facts.expected - len(facts.failing)
    usable = plain
    if room is not None and not facts.failing and room > len(plain):
        usable = sorted(plain + captured, key=lambda c: c.start)
    for candidate in usable:
        if room is None or room > 0:
            facts.failing.append(_from_heading(data, candidate))
            room = None if room is None else room - 1
        else:
            facts.unjoined.append(candidate)
    if region.sectioned:
        without = [f for f in facts.failing if f.block is None and f.row.status != "ERROR"]
        if without and not any(f.block for f in facts.failing if f.row.status != "ERROR"):
            begin = max([region.start, *(f.block.end for f in facts.failing if f.block)])
            banners = [a.end for a in facts.session.of(Mark.FAILING) if a.title == "FAILURES" and a.start < region.end]
            begin = max(banners[0], region.start) - 1 if banners else begin
            places = join_places(place_rows(data, begin, region.end), [f.row for f in without])
            for index, place in places.items():
                without[index].place = place


def _from_heading(data: bytes, candidate: Candidate) -> Finding:
    """A failure that only its block names: the block's own file completes the identity."""
    reading = read_block(data, candidate)
    head, bracket, param = candidate.name.partition("[")
    function = head.rpartition(".")[2].partition(" ")[0]
    frame = next((f for f in reading.frames if f.function == function), None)
    if frame is None and not candidate.phase:
        frame = next((f for f in reading.frames if not f.path.startswith(("/", "<"))), None)
    node_id = candidate.name
    if frame is not None and candidate.phase != "collect":
        node_id = "::".join([frame.path, head.replace(".", "::") + bracket + param])
    status = "ERROR" if candidate.phase else "FAILED"
    end = candidate.body
    return Finding(Row(status, node_id, "", candidate.start, end), "", candidate, from_heading=True)


# Describing -----------------------------------------------------------------------------------------------------------


def _describe(data: bytes, facts: SessionFacts, finding: Finding) -> None:
    """Phase, class, one line and place of a finding, from its block and its row."""
    row = finding.row
    finding.phase = _phase(data, facts, finding)
    reading = read_block(data, finding.block) if finding.block is not None else None
    message = _message(row, reading, finding.place)
    finding.failure_class, finding.summary = split_class(message)
    if message.startswith("[XPASS(strict)]"):
        finding.failure_class = "xpass_strict"
    elif message.startswith("worker '") and " crashed while running " in message:
        finding.failure_class, finding.summary = "worker_crash", "worker crashed while running this test"
    elif not finding.failure_class and reading is not None:
        finding.failure_class = reading.raised if split_class(reading.raised)[0] else ""
    if not finding.failure_class and row.message:
        finding.failure_class = split_class(row.message.removesuffix("..."))[0]
    if reading is not None:
        classes = [split_class(line)[0] for line in reading.error_lines]
        if len(classes) > 1 and all(classes):
            finding.chain = tuple(classes)
            finding.summary = f"{finding.summary} (from {reading.error_lines[0]})".strip()
        finding.frame = test_frame(reading, row.node_id)
    elif finding.place is not None:
        finding.frame = finding.place.frame


def _message(row: Row, reading: Reading | None, place: PlaceRow | None) -> str:
    """The longest form of the message: the block's, unless the row names another link of the chain."""
    stem = row.message.removesuffix("...").partition("\n")[0].rstrip()
    if reading is not None:
        for line in reversed(reading.error_lines):
            if line.startswith(stem):
                return line
        if not stem and reading.error_lines:
            return reading.error_lines[-1]
        if reading.other and (not stem or reading.other in stem or stem.endswith(reading.other[:40])):
            return row.message if row.message and not row.message.endswith("...") else reading.other
        if reading.other and not reading.error_lines and row.message.endswith("..."):
            return row.message
    if place is not None and place.message.startswith(stem):
        return place.message
    return row.message


def _phase(data: bytes, facts: SessionFacts, finding: Finding) -> str:
    row = finding.row
    if row.status != "ERROR":
        return "call"
    if finding.block is not None and finding.block.phase:
        return finding.block.phase
    if "::" not in row.node_id:
        return "collect"
    return _phase_by_rows(data, facts, row)


def _phase_by_rows(data: bytes, facts: SessionFacts, row: Row) -> str:
    """Without a block, the result rows tell: an error behind another result of the test is one of its teardown."""
    begin, end = facts.progress
    needle = b"\n" + row.node_id.encode("utf-8", "replace") + b" "
    first = data.find(needle + b"ERROR", max(begin - 1, 0), end)
    if first < 0:
        return ""
    before = data.find(needle, max(begin - 1, 0), first + 1)
    if before != first:
        return "teardown"
    again = data.find(needle + b"ERROR", first + 1, end)
    return "" if again >= 0 else "setup"


def _head_missing(data: bytes, session: Session, headings: Iterable[Heading]) -> bool:
    """Whether the report begins inside itself: no session banner, and a block or summary before any progress."""
    from ctx.digest.pytest_sections import PROGRESS

    if session.header is not None or session.start > 0:
        return False
    first = next((a for a in session.anchors), None)
    block = next((h for h in headings if not h.capture), None)
    stops = [x.start for x in (first, block) if x is not None]
    if not stops:
        return False
    return first is not None and first.mark is not Mark.CRASH and not PROGRESS.search(data, 0, min(stops))
