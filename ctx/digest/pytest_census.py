"""The census of one pytest run: which tests failed, from every source the report offers, each with what is said of it.

Sources, best first (S5.1.3): the short summary, `-v` result rows, headings of blocks. A lower source adds only what
the totals leave room for, so that text which imitates a row cannot add a test to a run that counted its failures.
"""

import re
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
    same_file,
    split_class,
    test_frame,
)
from ctx.digest.pytest_rows import (
    FAILING_WORDS,
    Known,
    Row,
    Started,
    error_phases,
    file_of,
    result_rows,
    split_subtest,
    summary_rows,
    unfinished,
)
from ctx.digest.pytest_sections import HEADER, PROGRESS, Anchor, Mark, Session, Totals, line_text

_OTHER_TITLE = re.compile(r"[\s/:]")
"""In a heading's name: an item that is no test function may call itself what it likes."""


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
    guessed: bool = False
    """The file of such an identity is unknown, or nothing but the frame names it."""


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
    has_headings: bool = False
    has_blocks: bool = False
    parallel: bool = False
    """Several workers: arrival order means nothing."""
    head_missing: bool = False
    uncertain: bool = False
    """More rows than the totals count, and it was a guess which of them to leave out."""
    failed_by_status: bool = False
    """The exit status says that something failed."""
    roots: tuple[str, ...] = ()
    """Absolute folders that node ids are relative to."""
    seen_files: dict[str, bool] = field(default_factory=dict)
    seen_until: int = 0
    """Where in the progress the last of them was found."""
    misses: int = 0
    frame_paths: set[str] | None = None

    timed_out: bool = False
    """A stack dump of pytest-timeout ends the run."""

    @property
    def totals(self) -> Totals | None:
        return self.session.totals

    @property
    def contradicts_blocks(self) -> bool:
        """A test without a block beside a block without a test: one of the two names was damaged on the way here."""
        alone = [finding for finding in self.failing if finding.block is None and finding.place is None]
        names = [split_subtest(block.name)[0] for block in self.unjoined]
        plain = [name for name in names if not _OTHER_TITLE.search(name.partition("[")[0])]
        return bool(alone) and bool(plain)

    @property
    def broken_off(self) -> bool:
        """The output ends in the progress: no totals, no summary, no blocks."""
        return self.session.closing is None and self.summary is None and not self.has_blocks

    @property
    def expected(self) -> int | None:
        """Failed plus errors of the totals line."""
        return None if self.totals is None else self.totals.failed + self.totals.errors


def read_session(
    data: bytes, session: Session, *, failed_by_status: bool = False, roots: tuple[str, ...] = ()
) -> SessionFacts:
    """The facts of one run; see the module's docstring for the order of sources."""
    facts = SessionFacts(session, failed_by_status=failed_by_status, roots=roots)
    stop = session.closing.start if session.closing else session.end
    banners = [a for a in session.of(Mark.FAILING) if a.start < stop]
    begin = session.header.end if session.header else session.start
    first = banners[0].end if banners else (None if session.header else session.start)
    headings = find_headings(data, first, stop) if first is not None else []
    bodies = [a.start for a in session.anchors if a.mark in (Mark.FAILING, Mark.SUMMARY, Mark.RERUNS, Mark.CRASH)]
    facts.progress = (begin, min([*bodies, stop]))
    facts.has_headings = any(not heading.capture for heading in headings)
    known = Known({h.name for h in headings if not h.capture}, lambda: _row_ids(data, facts.progress))
    rows = _summary(data, facts, stop, known)
    facts.parallel = _is_parallel(data, session, facts.progress)
    failing = _corroborated(data, facts, [r for r in rows if r.status in FAILING_WORDS], headings, known)
    facts.others = [r for r in rows if r.status not in FAILING_WORDS]
    if facts.rejected and not failing and not facts.others:
        facts.summary = None
    _check_files(data, facts, failing)
    _add_result_rows(data, facts, failing)
    names = Counter(name for row in failing for name in heading_names(row))
    limit = facts.summary.start if facts.summary else stop
    region = failing_region(session, headings, names, limit)
    facts.has_blocks = region is not None and bool(region.candidates)
    facts.failing = [Finding(row, "") for row in failing]
    if region is not None:
        _join(data, facts, region)
    _other_rows(data, facts)
    _add_phases(data, facts)
    for finding in facts.failing:
        _describe(data, finding)
    facts.head_missing = _head_missing(data, session, headings, rows)
    facts.running = _running(data, facts)
    return facts


def _running(data: bytes, facts: SessionFacts) -> list[Started]:
    """Tests without a result where a run ended in the middle of one; an early stop ends between two."""
    session = facts.session
    stops = [anchor.title for anchor in session.of(Mark.STOP)]
    crashed = bool(session.of(Mark.CRASH))
    if not (facts.broken_off or crashed or any(_BROKEN_OFF.search(title) for title in stops)):
        return []
    found = unfinished(data, *facts.progress)
    facts.timed_out = session.closing is None and any(b" Timeout +++" in line_text(data, s.start) for s in found)
    return [started for started in found if not (crashed and started.done is not None)]


_BROKEN_OFF = re.compile(r"KeyboardInterrupt|Exit:|timeout", re.IGNORECASE)


def _row_ids(data: bytes, progress: tuple[int, int]) -> set[str]:
    rows = (row for word in ("FAILED", "ERROR") for row in result_rows(data, *progress, word))
    return {row.node_id for row in rows if _is_sure(data, progress, row)}


def _is_parallel(data: bytes, session: Session, progress: tuple[int, int]) -> bool:
    begin, end = progress
    head = data[begin : min(end, begin + 8192)]
    return b"\ncreated: " in head or b"\nbringing up nodes" in head or b" workers [" in head or b"\n[gw0] " in head


# Short summary --------------------------------------------------------------------------------------------------------


def _summary(data: bytes, facts: SessionFacts, stop: int, known: Known) -> list[Row]:
    """Rows of the summary that fits the totals best, the last one where none fits; rows of a rerun section added."""
    session = facts.session
    chosen: list[Row] = []
    # A summary stands behind the blocks; what stands before them was printed by a test.
    blocks = [a.start for a in session.of(Mark.FAILING) if a.start < stop and HEADER.match(data, a.end - 1)]
    anchors = [a for a in session.of(Mark.SUMMARY) if (blocks[-1] if blocks else -1) < a.start < stop]
    for anchor in reversed(anchors[-8:]):
        rows = list(summary_rows(data, anchor.end, _section_end(session, anchor, stop), known))
        failing = sum(row.status in FAILING_WORDS for row in rows)
        fits = facts.expected is None or failing == facts.expected
        if facts.summary is None or fits:
            facts.summary, chosen = anchor, rows
        if fits:
            break
    if not anchors and session.header is None and session.closing is not None:
        chosen = _rows_without_banner(data, facts, stop, known)
    if facts.summary is not None and any(facts.summary.start < a.start < stop for a in session.of(Mark.TOTALS)):
        # Rows before and behind other totals: a message of several lines, or two reports run into one by a cut.
        facts.uncertain = True
    reruns = [a for a in session.of(Mark.RERUNS) if a.start < stop]
    if reruns:
        extra = list(summary_rows(data, reruns[-1].end, _section_end(session, reruns[-1], stop), known))
        named = {(row.status, row.node_id) for row in chosen}
        chosen += [row for row in extra if (row.status, row.node_id) not in named or row.status == "RERUN"]
        facts.summary = facts.summary or reruns[-1]
        if facts.summary.start > reruns[-1].start:
            facts.summary = reruns[-1]
    return chosen


_BARE_RULE = re.compile(rb"[-=_*]{10,}\s*|(?:FAIL|ERROR|CRITICAL): [^\n]*")


def _rows_without_banner(data: bytes, facts: SessionFacts, stop: int, known: Known) -> list[Row]:
    """Rows directly above the totals of an output whose head is missing: `pytest | tail -3`.

    The runner's own rows would stand at the start of what is left; behind other text they are believed, but the census
    is never complete, and below the rule of another reporter's block a test has printed them.
    """
    session = facts.session
    begin = stop
    while begin > session.start:
        line = data.rfind(b"\n", session.start, begin - 1) + 1 if begin - 1 > session.start else session.start
        line = max(line, session.start)
        if not data.startswith((b"FAILED ", b"ERROR ", b"SKIPPED [", b"XFAIL ", b"XPASS ", b"!!!"), line):
            break
        begin = line
    above = data[max(begin - 4096, session.start) : begin].rstrip()[-400:].rpartition(b"\n")[2]
    if above and begin < stop:
        if _BARE_RULE.fullmatch(above):
            return []
        facts.uncertain = True
    return list(summary_rows(data, begin, stop, known))


def _section_end(session: Session, anchor: Anchor, stop: int) -> int:
    ends = [a.start for a in session.anchors if a.start > anchor.start and a.mark not in (Mark.TOTALS, Mark.START)]
    return min([*ends, stop])


def _corroborated(
    data: bytes, facts: SessionFacts, rows: list[Row], headings: list[Heading], known: Known
) -> list[Row]:
    """Rows without those that only a test's own output can have printed, judged apart for failures and errors."""
    totals = facts.totals
    kept: list[Row] = []
    # Tables of plugins behind the blocks have ruled headings too.
    banners = facts.session.of(Mark.FAILING)
    begin = banners[0].start if banners else facts.session.start
    later = next((a.start for a in facts.session.of(Mark.LATER) if a.start > begin), None)
    headings = [h for h in headings if later is None or h.start < later]
    if totals is not None and totals.listed:
        return _vouched(data, facts, rows, headings, totals.failed + totals.errors, known)
    for errors in (False, True):
        some = [row for row in rows if (row.status == "ERROR") is errors]
        own = [h for h in headings if h.capture or bool(h.phase) is errors]
        expected = None if totals is None else (totals.errors if errors else totals.failed)
        kept += _vouched(data, facts, some, own, expected, known)
    return sorted(kept, key=lambda row: row.start)


def _vouched(
    data: bytes, facts: SessionFacts, rows: list[Row], headings: list[Heading], expected: int | None, known: Known
) -> list[Row]:
    """Rows of one class that the rest of the report vouches for.

    Rows beyond what the totals count go first if nothing else names them or their file. Where blocks are left that no
    row names, a row whose file stands neither in the progress nor in a traceback is an imitation too.
    """
    surplus = 0 if expected is None else len(rows) - expected
    if not rows:
        return rows
    if expected == 0:
        # Totals without a failure, and rows that claim some: the exit status decides who imitates whom.
        facts.rejected += [] if facts.failed_by_status else rows
        return rows if facts.failed_by_status else []
    open_blocks = _unnamed_blocks(rows, headings)
    if surplus <= 0 and not open_blocks:
        return rows
    doubtful = [row for row in rows if not _file_is_seen(data, facts, row, headings)] if headings else []
    if surplus > 0 and len(doubtful) != surplus:
        # The files do not tell: headings and result rows decide, and the choice is a guess.
        facts.uncertain = True
        names = {h.name for h in headings if not h.capture}
        unsure = {id(row) for row in doubtful}
        support = [_support(row, names, known) + (0 if id(row) in unsure else 2) for row in rows]
        order = sorted(range(len(rows)), key=lambda index: (support[index], -index))
        doubtful = [rows[index] for index in order[:surplus] if support[index] < 4]
    facts.rejected += doubtful
    rejected = {id(row) for row in doubtful}
    return [row for row in rows if id(row) not in rejected]


def _unnamed_blocks(rows: list[Row], headings: list[Heading]) -> int:
    """How many blocks, of those that no captured output precedes, have a heading that no row explains."""
    names = Counter(name for row in rows for name in heading_names(row))
    files = {file_of(row.node_id) for row in rows}
    left = 0
    captured = False
    for heading in headings:
        if heading.capture:
            captured = True
            continue
        if names[heading.name] > 0:
            names[heading.name] -= 1
        elif not captured and heading.name not in files:
            left += 1
        captured = False
    return left


def _check_files(data: bytes, facts: SessionFacts, rows: list[Row]) -> None:
    """A progress section that names files names those of all failing tests; otherwise a row is not of this run."""
    named = missing = 0
    for file in dict.fromkeys(file_of(row.node_id) for row in rows if "::" in row.node_id):
        if _stands_in_progress(data, facts, file):
            named += 1
        else:
            missing += 1
        if missing and (named or missing > _MISSES // 2):
            break
    facts.uncertain = facts.uncertain or (named > 0 and missing > 0)


def _support(row: Row, names: set[str], known: Known) -> int:
    """What vouches for a row besides itself: its block's heading, its own result row."""
    headed = any(name in names for name in heading_names(row)) or file_of(row.node_id) in names
    return (1 if headed else 0) + (4 if row.node_id in known.ids() else 0)


_MISSES = 32
"""Searches of the whole progress that may find nothing; after so many a row keeps the benefit of the doubt."""


def _file_is_seen(data: bytes, facts: SessionFacts, row: Row, headings: list[Heading]) -> bool:
    """Whether the progress section or a traceback outside captured output names the row's file."""
    file = file_of(row.node_id)
    if file not in facts.seen_files:
        paths = _frame_paths(data, facts, headings)
        facts.seen_files[file] = (
            file in paths or _stands_in_progress(data, facts, file) or any(same_file(p, file) for p in paths)
        )
    return facts.seen_files[file]


def _stands_in_progress(data: bytes, facts: SessionFacts, file: str) -> bool:
    """Search from where the file before was found: rows follow the order of the run, so all of them cost one pass."""
    begin, end = facts.progress
    start = max(begin, facts.seen_until)
    needle = file.encode("utf-8", "replace")
    found = data.find(needle, start, end)
    if found < 0 and facts.misses >= _MISSES:
        return True
    if found < 0:
        found = data.find(needle, begin, min(start + len(needle), end))
    if found < 0:
        facts.misses += 1
        return False
    facts.seen_until = found
    return True


_MOST_READ = 20_000


def _frame_paths(data: bytes, facts: SessionFacts, headings: list[Heading]) -> set[str]:
    """Files of the tracebacks of blocks that are not inside captured output."""
    if facts.frame_paths is not None:
        return facts.frame_paths
    paths = facts.frame_paths = set()
    region = failing_region(facts.session, headings, Counter(), facts.summary.start if facts.summary else len(data))
    for candidate in region.candidates[:_MOST_READ] if region else ():
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
    sure = [row for row in found if _is_sure(data, facts.progress, row)]
    if room is not None and len(found) <= room and not facts.has_headings:
        sure = found
    failing += sorted(sure if room is None else sure[:room], key=lambda row: row.start)


def _word_class(status: str) -> str:
    return {"ERROR": "error", "FAILED": "failed"}.get(status, "subtest")


def _is_sure(data: bytes, progress: tuple[int, int], row: Row) -> bool:
    """A row with the runner's own progress mark, or whose file other rows name too (S5.1.14)."""
    line = line_text(data, row.start)
    if row.worker or line.rstrip().endswith(b"]"):
        return True
    begin, end = progress
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
    if room is not None and room > len(plain):
        # Behind captured output a heading may be the runner's or the test's; one with a known file goes first.
        likely = sorted(captured, key=lambda c: (not _is_known_block(data, facts, c), c.start))
        usable = sorted(plain + likely[: room - len(plain)], key=lambda c: c.start)
        region.set_ends(usable)
    for candidate in usable:
        if room is None or room > 0:
            facts.failing.append(_from_heading(data, facts, candidate))
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


def _is_known_block(data: bytes, facts: SessionFacts, candidate: Candidate) -> bool:
    """Whether the file of a block's first frame is named by the progress section, or it has no frame at all."""
    frames = [f.path for f in read_block(data, candidate).frames if "site-packages" not in f.path]
    begin, end = facts.progress
    return not frames or data.find(frames[0].encode("utf-8", "replace"), begin, end) >= 0


_PROGRESS_FILE = re.compile(rb"(?:\A|\n)([^\s:\[][^\n:]{0,300}?\.\w{1,6})(?=::| [.FEsxXRuP,])")


def _only_file(data: bytes, progress: tuple[int, int]) -> str:
    """The test file of a run that has one; empty where there are several or the progress names none."""
    begin, end = progress
    if end - begin > 1 << 18:
        return ""
    files = {match[1] for match in _PROGRESS_FILE.finditer(data[begin:end])}
    return files.pop().decode("utf-8", "replace") if len(files) == 1 else ""


def _from_heading(data: bytes, facts: SessionFacts, candidate: Candidate) -> Finding:
    """A failure that only its block names: the block's own file, or the run's only one, completes the identity."""
    reading = read_block(data, candidate)
    name, subtest = split_subtest(candidate.name)
    head, bracket, param = name.partition("[")
    function = head.rpartition(".")[2].partition(" ")[0]
    frame = next((f for f in reading.frames if f.function == function), None)
    if frame is None and not candidate.phase:
        frame = next((f for f in reading.frames if not f.path.startswith(("/", "<"))), None)
    doctest = candidate.title.startswith("[doctest]")
    if doctest and reading.frames:
        # The last place of a doctest's block is its own, and the only one that names a text file.
        frame = reading.frames[-1]
    node_id = name
    path = _relative(frame.path, facts.roots) if frame is not None else ""
    path = path or _only_file(data, facts.progress)
    if path and candidate.phase != "collect":
        node_id = "::".join([path, (head if doctest else head.replace(".", "::")) + bracket + param])
    status = "ERROR" if candidate.phase else "FAILED"
    end = candidate.body
    begin, stop = facts.progress
    # A summary that names some failures and not this one has lost a row.
    listed = facts.summary is not None and any((f.row.status == "ERROR") is (status == "ERROR") for f in facts.failing)
    sure = bool(path) and not listed and data.find(path.encode("utf-8", "replace"), begin, stop) >= 0
    row = Row(status, node_id, "", candidate.start, end, subtest)
    return Finding(row, "", candidate, from_heading=True, guessed=not sure and candidate.phase != "collect")


def _relative(path: str, roots: Iterable[str]) -> str:
    """A printed path as node ids write it; empty where it lies outside."""
    for root in roots:
        if path.startswith(root.rstrip("/") + "/"):
            return path[len(root.rstrip("/")) + 1 :]
    return "" if path.startswith(("/", "<", "../")) else path


# Describing -----------------------------------------------------------------------------------------------------------


def _describe(data: bytes, finding: Finding) -> None:
    """Class, one line and place of a finding, from its block and its row."""
    row = finding.row
    reading = read_block(data, finding.block) if finding.block is not None else None
    finding.failure_class, finding.summary = _class_and_text(row, reading, finding.place)
    if finding.summary.startswith("[XPASS(strict)]"):
        finding.failure_class = "xpass_strict"
    elif finding.summary.startswith("worker '") and " crashed while running " in finding.summary:
        finding.failure_class, finding.summary = "worker_crash", "worker crashed while running this test"
    elif not finding.failure_class and reading is not None:
        finding.failure_class = reading.raised if split_class(reading.raised)[0] else ""
    if reading is not None:
        classes = [split_class(line)[0] for line in reading.error_lines]
        if len(classes) > 1 and all(classes):
            finding.chain = tuple(classes)
            finding.summary = f"{finding.summary} (from {reading.error_lines[0]})".strip()
        finding.frame = test_frame(reading, row.node_id)
    elif finding.place is not None:
        finding.frame = finding.place.frame


def _class_and_text(row: Row, reading: Reading | None, place: PlaceRow | None) -> tuple[str, str]:
    """The longest form of the message: the block's, unless the row names another link of the chain."""
    stem = row.message.removesuffix("...").partition("\n")[0].rstrip()
    name, text = split_class(stem)
    if reading is not None:
        for line in reversed(reading.error_lines):
            if line.startswith(stem) or split_class(line)[1].startswith(stem):
                return split_class(line)
        if reading.other and not reading.error_lines and (not stem or (text and reading.other.startswith(text))):
            # The text of a failure that shows no traceback; it begins with no class, whatever word stands first.
            return name, reading.other
    if place is not None and place.message.startswith(stem):
        return split_class(place.message)
    if row.message.endswith("...") and not text:
        # The width limit may have cut the class itself.
        return "", row.message
    return split_class(row.message)


def _add_phases(data: bytes, facts: SessionFacts) -> None:
    """Call, set-up, tear-down or collection of each finding; empty where no block and no result row tells."""
    phases: dict[str, list[str]] | None = None
    # Where the report calls errors FAILED too, its rows tell no phase.
    all_alike = facts.totals is not None and facts.totals.listed and facts.totals.errors > 0
    for finding in facts.failing:
        row = finding.row
        if row.status != "ERROR":
            finding.phase = "" if all_alike and not row.subtest else "call"
        elif finding.block is not None and finding.block.phase:
            finding.phase = finding.block.phase
        elif "::" not in row.node_id:
            finding.phase = "collect"
        else:
            if phases is None:
                phases = error_phases(data, *facts.progress)
            told = phases.get(row.node_id)
            finding.phase = told.pop(0) if told else ""


def _head_missing(data: bytes, session: Session, headings: Iterable[Heading], rows: list[Row]) -> bool:
    """Whether the report begins inside itself: no session banner, and a block or summary before any progress."""
    if session.header is not None or session.start > 0:
        return False
    first = next((a.start for a in session.anchors if a.mark not in (Mark.TOTALS, Mark.CRASH, Mark.STOP)), None)
    block = next((h.start for h in headings if not h.capture), None)
    starts = [start for start in (first, block, rows[0].start if rows else None) if start is not None]
    return bool(starts) and not PROGRESS.search(data, 0, min(starts)) and not _MARKS_ONLY.match(data)


_MARKS_ONLY = re.compile(rb"(?:\r?\n)*(?!FAILED|ERROR|PASSED|XFAIL|XPASS|RERUN|SUB|E )[.FEsxXRuP,]+(?=[^a-z\s]|\r?\n)")
