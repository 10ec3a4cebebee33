"""Which rows of a pytest report the rest of the report vouches for: a test's own output can imitate every row.

Witnesses besides a row itself: what the totals count, headings of blocks, the row's own `-v` result row, and its file
in the progress section or in a traceback.
"""

from collections import Counter

from ctx.digest.pytest_blocks import Heading, failing_region, heading_names, read_block, same_file
from ctx.digest.pytest_facts import SessionFacts
from ctx.digest.pytest_rows import Known, Row, file_of
from ctx.digest.pytest_sections import Mark

_MISSES = 32
"""Searches of the whole progress that may find nothing; after so many a row keeps the benefit of the doubt."""
_MOST_READ = 20_000


def corroborated(data: bytes, facts: SessionFacts, rows: list[Row], headings: list[Heading], known: Known) -> list[Row]:
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


def _support(row: Row, names: set[str], known: Known) -> int:
    """What vouches for a row besides itself: its block's heading, its own result row."""
    headed = any(name in names for name in heading_names(row)) or file_of(row.node_id) in names
    return (1 if headed else 0) + (4 if row.node_id in known.ids() else 0)


def check_files(data: bytes, facts: SessionFacts, rows: list[Row]) -> None:
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
