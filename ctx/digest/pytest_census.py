"""The census of one pytest run: which tests failed, from every source the report offers, each with what is said of it.

Sources, best first (S5.1.3): the short summary, `-v` result rows, headings of blocks. A lower source adds only what
the totals leave room for, so that text which imitates a row cannot add a test to a run that counted its failures.
"""

import re
from collections import Counter
from collections.abc import Iterable

from ctx.digest.pytest_blocks import Heading, failing_region, find_headings, heading_names
from ctx.digest.pytest_facts import Finding, SessionFacts
from ctx.digest.pytest_joining import add_phases, describe, join_report
from ctx.digest.pytest_rows import FAILING_WORDS, Known, Row, Started, file_of, result_rows, summary_rows, unfinished
from ctx.digest.pytest_sections import HEADER, PROGRESS, Anchor, Mark, Session, line_text
from ctx.digest.pytest_vouching import check_files, corroborated

_BROKEN_OFF = re.compile(r"KeyboardInterrupt|Exit:|timeout", re.IGNORECASE)


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
    failing = corroborated(data, facts, [r for r in rows if r.status in FAILING_WORDS], headings, known)
    facts.others = [r for r in rows if r.status not in FAILING_WORDS]
    if facts.rejected and not failing and not facts.others:
        facts.summary = None
    check_files(data, facts, failing)
    _add_result_rows(data, facts, failing)
    names = Counter(name for row in failing for name in heading_names(row))
    limit = facts.summary.start if facts.summary else stop
    region = failing_region(session, headings, names, limit)
    facts.has_blocks = region is not None and bool(region.candidates)
    facts.failing = [Finding(row, "") for row in failing]
    if region is not None:
        join_report(data, facts, region)
    _other_rows(data, facts)
    add_phases(data, facts)
    for finding in facts.failing:
        describe(data, finding)
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


def _row_ids(data: bytes, progress: tuple[int, int]) -> set[str]:
    rows = (row for word in ("FAILED", "ERROR") for row in result_rows(data, *progress, word))
    return {row.node_id for row in rows if _is_sure(data, progress, row)}


def _is_parallel(data: bytes, session: Session, progress: tuple[int, int]) -> bool:
    begin, end = progress
    head = data[begin : min(end, begin + 8192)]
    return b"\ncreated: " in head or b"\nbringing up nodes" in head or b" workers [" in head or b"\n[gw0] " in head


_MARKS_ONLY = re.compile(rb"(?:\r?\n)*(?!FAILED|ERROR|PASSED|XFAIL|XPASS|RERUN|SUB|E )[.FEsxXRuP,]+(?=[^a-z\s]|\r?\n)")


def _head_missing(data: bytes, session: Session, headings: Iterable[Heading], rows: list[Row]) -> bool:
    """Whether the report begins inside itself: no session banner, and a block or summary before any progress."""
    if session.header is not None or session.start > 0:
        return False
    first = next((a.start for a in session.anchors if a.mark not in (Mark.TOTALS, Mark.CRASH, Mark.STOP)), None)
    block = next((h.start for h in headings if not h.capture), None)
    starts = [start for start in (first, block, rows[0].start if rows else None) if start is not None]
    return bool(starts) and not PROGRESS.search(data, 0, min(starts)) and not _MARKS_ONLY.match(data)


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
