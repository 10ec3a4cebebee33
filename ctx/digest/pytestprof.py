"""The pytest family: the worked example of a profile.

Recognises:
    Two of: a ruled banner (`test session starts`, `ERRORS`, `FAILURES`, `short test summary info`), a totals line
    (`2 failed, 31 passed in 4.40s`, bare or ruled), progress rows, `no tests ran`, `INTERNALERROR>`. Or one of these
    where the command names pytest; or pytest's usage or conftest message alone. Also its JUnit XML and JSON reports.
Extracts:
    Failing tests, set-up and tear-down errors, files that did not load, each under its node id with class, one line,
    place, traceback and captured output; tests without a result in a run that was cut short; skipped, expected-to-fail
    and flaky tests; grouped warnings; the totals under the tool's own names.
Complete when:
    Items of failing kinds equal failed + errors of the totals line, and nothing stopped the run early or cut its
    output. Without totals it is never complete.
Loses:
    Values of local variables, durations, plugin tables, output of passing tests: all behind addresses.
Content classes:
    None.
Example:
    `FAILED tests/test_a.py::test_b[x - y] - ValueError: no` becomes the item `tests/test_a.py::test_b[x - y]`, class
    `ValueError`, summary `no`, location the last line of `tests/test_a.py` in its block of FAILURES.

How it reads: `pytest_sections` finds the skeleton and the runs, `pytest_census` merges the sources of one run with the
help of `pytest_rows` and `pytest_blocks`, `pytest_verdict` weighs the witnesses, `pytest_items` makes items. Items
stand in this order: the tool's own trouble, failures by their rows (by node id where several workers ran), other tests,
tests without a result, disagreements.
"""

import re
from collections.abc import Sequence

from ctx.digest.base import DigestContext, Profile
from ctx.digest.pytest_census import read_session
from ctx.digest.pytest_facts import SessionFacts
from ctx.digest.pytest_items import ItemBuilder, add_running, add_session
from ctx.digest.pytest_reports import read_report, report_shape
from ctx.digest.pytest_rows import listed_tests, warning_groups
from ctx.digest.pytest_sections import PROGRESS, Anchor, Mark, find_anchors, inside_other_report, split_sessions
from ctx.digest.pytest_startup import (
    Trouble,
    fatal_error,
    has_startup_shape,
    internal_error,
    startup_troubles,
)
from ctx.digest.pytest_verdict import NO_TESTS, USAGE, Verdict, Witnesses, judge
from ctx.digest.telling_lines import find_gap
from ctx.evidence import (
    EvidenceGraph,
    EvidenceItem,
    Excerpt,
    ExcerptRole,
    GraphWarning,
    Outcome,
    Segment,
)
from ctx.text import StreamView

_LOOK = 1 << 18
_MOST_LISTED = 20_000
_MOST_WARNINGS = 100
_MOST_UNJOINED = 20
_TAIL_LINES = 20
_STDERR_LINES = 10
_ROOTDIR = re.compile(rb"\nrootdir: ([^\n,]+)")
_ROW_FILE = re.compile(rb"\n(?:FAILED|ERROR) ([^\s:]+\.py)::")
_COVERAGE_FAIL = re.compile(rb"\n(?:FAIL Required test coverage|ERROR: Coverage failure)[^\n]*")
_RUNNER_WORD = re.compile(r"(?:^|[/\s])(?:pytest|py\.test)(?:$|\s)")


class PytestProfile(Profile):
    """Output of pytest in all its verbosities, by the shape of the text."""

    version = "pytest/v1"

    def detect(self, ctx: DigestContext) -> str | None:
        """The marks found, or None; only both ends of a stream are looked at."""
        for view in (ctx.stdout, ctx.stderr):
            report = report_shape(view.screen)
            if report is not None:
                return f"{report} on {view.name}"
            marks = _marks(view.screen)
            named = any(_RUNNER_WORD.search(word) for word in ctx.manifest.argv)
            if len(marks) >= 2 or (marks and named and _is_closed(view.screen)):
                return f"{', '.join(marks)} on {view.name}"
        return has_startup_shape(ctx.stderr.screen)

    def host_paths(self, ctx: DigestContext) -> tuple[str, ...]:
        """The root folder of the session."""
        return tuple(
            path for path in _rootdirs(_report_view(ctx).screen) if path.startswith("/") and path.count("/") > 1
        )

    def extract(self, ctx: DigestContext) -> EvidenceGraph | None:
        """Facts of the stream that holds the report, with the other stream's own messages.

        None where the lines look like a report's and nothing of one can be read (its lines were sorted, say): then the
        text is shown as text.
        """
        view = _report_view(ctx)
        if report_shape(view.screen) is not None:
            graph = read_report(ctx, view)
            if graph is not None:
                return graph
        data = view.screen
        code = ctx.manifest.exit_code
        red = code is not None and code not in (0, NO_TESTS)
        runs = split_sessions(data, green_exit=code == 0) if _marks(data) else []
        roots = (*ctx.manifest.host_paths, *_rootdirs(data))
        sessions = [read_session(data, session, failed_by_status=red, roots=roots) for session in runs]
        sessions = [facts for facts in sessions if _says_something(facts)] or sessions[:1]
        listing = bool(sessions) and all(facts.totals is not None and facts.totals.collected_only for facts in sessions)
        troubles = _troubles(ctx, view, sessions)
        witnesses = Witnesses(sessions, [trouble for _, trouble in troubles], ctx.manifest, find_gap(data), listing)
        verdict = judge(witnesses, ctx.total_lines)
        items, left_out = _items(ctx, view, sessions, troubles, verdict, listing, roots)
        if not items and not verdict.aggregate and any(_is_disordered(facts) for facts in sessions):
            return None
        return EvidenceGraph(
            family=self.family,
            profile=self.version,
            outcome=verdict.outcome,
            aggregate=verdict.aggregate,
            counted=verdict.counted,
            headline=verdict.headline,
            items=tuple(items),
            coverage=verdict.coverage,
            operation=ctx.operation(),
            segments=_segments(view, sessions, verdict),
            warnings=tuple(_warnings(view, sessions, witnesses, left_out)),
            excerpts=tuple(_excerpts(ctx, view, sessions, troubles, verdict)),
        )


# Recognising ----------------------------------------------------------------------------------------------------------


def _marks(data: bytes) -> list[str]:
    """Kinds of pytest shapes in the first and last 256 KiB, in a fixed order."""
    looked = data if len(data) <= 2 * _LOOK else data[:_LOOK] + b"\n" + data[-_LOOK:]
    kinds: dict[str, int] = {}
    fenced = False
    anchors = find_anchors(looked)
    if anchors and inside_other_report(looked, anchors[0]):
        return []
    for anchor in anchors:
        kind = _KINDS.get(anchor.mark)
        if kind is None or (anchor.mark is Mark.LATER and anchor.title not in ("PASSES", "warnings summary")):
            continue
        if anchor.totals is not None and anchor.totals.nothing_ran:
            kinds["no tests ran"] = 1
        kinds[kind] = kinds.get(kind, 0) + 1
        fenced = fenced or looked[max(anchor.start - 200, 0) : anchor.start].rstrip().endswith((b"```", b"::", b"~~~"))
    if fenced:
        return []
    rows = 0
    for _ in PROGRESS.finditer(looked):
        rows += 1
        if rows == 2:
            break
    found = [kind for kind, number in kinds.items() for _ in range(2 if kind == "ruled banner" and number > 1 else 1)]
    if rows:
        found.append("progress row")
    if rows > 1:
        found.append("more progress rows")
    return list(dict.fromkeys(found)) if kinds.get("ruled banner", 0) < 2 else list(dict.fromkeys([*found, "banners"]))


def _is_closed(data: bytes) -> bool:
    """Whether a totals line, the one mark there is, stands where a runner prints it, or another mark is alone."""
    anchors = find_anchors(data)
    if any(anchor.mark is not Mark.TOTALS for anchor in anchors) or not anchors:
        return True
    return split_sessions(data)[-1].closing is not None


_KINDS = {
    Mark.START: "ruled banner",
    Mark.FAILING: "ruled banner",
    Mark.SUMMARY: "ruled banner",
    Mark.LATER: "ruled banner",
    Mark.TOTALS: "totals line",
    Mark.CRASH: "internal error",
}


def _report_view(ctx: DigestContext) -> StreamView:
    """The stream that holds the report: stdout unless only stderr has its shape."""
    out, err = ctx.stdout, ctx.stderr
    if report_shape(out.screen) or len(_marks(out.screen)) >= len(_marks(err.screen)):
        return out
    return err


def _is_disordered(facts: SessionFacts) -> bool:
    """Whether a run has heads of sections that tell of failures or totals, and none of them could be read."""
    told = (Mark.FAILING, Mark.SUMMARY, Mark.TOTALS)
    return facts.totals is None and any(anchor.mark in told for anchor in facts.session.anchors)


def _says_something(facts: SessionFacts) -> bool:
    return bool(facts.session.anchors or facts.failing or facts.running)


# Items ----------------------------------------------------------------------------------------------------------------


def _troubles(
    ctx: DigestContext, view: StreamView, sessions: Sequence[SessionFacts]
) -> list[tuple[StreamView, Trouble]]:
    found: list[tuple[StreamView, Trouble]] = []
    refused = ctx.manifest.exit_code == USAGE
    for stream in dict.fromkeys((ctx.stderr.name, ctx.stdout.name)):
        other = ctx.streams[stream]
        if not sessions or other is not view or refused:
            found += [(other, trouble) for trouble in startup_troubles(other.screen, refused=refused)]
    for facts in sessions:
        trouble = internal_error(view.screen, facts.session, exit_code=ctx.manifest.exit_code)
        if trouble is not None:
            found.append((view, trouble))
    if not any(facts.totals for facts in sessions):
        for other in (ctx.stderr, ctx.stdout):
            trouble = fatal_error(other.screen)
            if trouble is not None:
                found.append((other, trouble))
                break
    return found


def _items(
    ctx: DigestContext,
    view: StreamView,
    sessions: Sequence[SessionFacts],
    troubles: Sequence[tuple[StreamView, Trouble]],
    verdict: Verdict,
    listing: bool,
    roots: Sequence[str],
) -> tuple[list[EvidenceItem], int]:
    """All items in the order of the module's docstring, and how many minor ones were left out."""
    items: list[EvidenceItem] = []
    for stream in dict.fromkeys(other.name for other, _ in troubles):
        builder = ItemBuilder(ctx, ctx.streams[stream], roots)
        for other, trouble in troubles:
            if other.name == stream:
                builder.trouble(trouble)
        items += builder.build()
    builder = ItemBuilder(ctx, view, roots)
    left_out = 0
    for facts in sessions:
        left_out += add_session(builder, facts)
        add_running(builder, facts, [ctx.stderr.screen, ctx.stdout.screen])
    if verdict.disagreement and view.line_count:
        closing = next((f.session.closing for f in reversed(sessions) if f.session.closing), None)
        builder.disagreement(verdict.disagreement, *((closing.start, closing.end) if closing else (0, 1)))
    if listing:
        for facts in sessions:
            begin, end = facts.progress
            for number, (node_id, start, stop) in enumerate(listed_tests(view.screen, begin, end)):
                if number < _MOST_LISTED:
                    builder.listed(node_id, start, stop)
                else:
                    left_out += 1
    items += builder.build()
    return items, left_out


def _rootdirs(data: bytes) -> list[str]:
    """The root folder: the header names it; without a header, the folder before a file that a summary row names."""
    match = _ROOTDIR.search(data, 0, 1 << 16)
    if match:
        return [match[1].decode("utf-8", "replace").strip()]
    row = _ROW_FILE.search(data)
    if row is None:
        return []
    whole = re.compile(rb"\n *(/[^\n:]{1,200})/" + re.escape(row[1]) + rb":[0-9]+: ").search(data, 0, row.start())
    return [whole[1].decode("utf-8", "replace")] if whole else []


def _segments(view: StreamView, sessions: Sequence[SessionFacts], verdict: Verdict) -> tuple[Segment, ...]:
    found = []
    for facts, coverage in zip(sessions, verdict.segments, strict=False):
        first = view.line_at(facts.session.start)
        last = view.line_at(max(facts.session.end - 1, facts.session.start))
        found.append(Segment(source=view.source(first, last), family="pytest", coverage=coverage))
    return tuple(found)


# What else a reader should know ---------------------------------------------------------------------------------------


def _warnings(
    view: StreamView, sessions: Sequence[SessionFacts], witnesses: Witnesses, left_out: int
) -> list[GraphWarning]:
    found = []
    for facts in sessions:
        for candidate in facts.unjoined[:_MOST_UNJOINED]:
            line = view.line_at(candidate.start)
            found.append(
                GraphWarning(
                    code="unjoined_block",
                    source=view.source(line),
                    message=f"a block headed {candidate.title!r} belongs to no failure that the totals count",
                )
            )
        if facts.rejected:
            line = view.line_at(facts.rejected[0].start)
            found.append(
                GraphWarning(
                    code="imitated_summary",
                    source=view.source(line),
                    message=f"{len(facts.rejected)} rows look like failures and stand in captured output",
                )
            )
        found += _grouped_warnings(view, facts)
    if witnesses.gap is not None:
        line = view.line_at(witnesses.gap)
        found.append(
            GraphWarning(
                code="input_cut", source=view.source(line), message="the output says that text was left out here"
            )
        )
    if left_out:
        found.append(
            GraphWarning(code="more_rows", source=None, message=f"{left_out} more skipped, expected or listed tests")
        )
    return found


def _grouped_warnings(view: StreamView, facts: SessionFacts) -> list[GraphWarning]:
    """Warnings summaries by category and place."""
    sections = [a for a in facts.session.of(Mark.LATER) if a.title.startswith("warnings summary")]
    if not sections:
        return []
    found = []
    for section in sections[-2:]:
        end = min([a.start for a in facts.session.anchors if a.start > section.start] + [facts.session.end])
        groups = warning_groups(view.screen, section.end, end)
        for group in groups[:_MOST_WARNINGS]:
            line = view.line_at(group.start)
            place = f"{group.path.rsplit('/', 1)[-1]}:{group.line}"
            found.append(
                GraphWarning(
                    code="test_warning",
                    source=view.source(line),
                    message=f"{group.category} at {place} x{group.count}: {group.message[:160]}",
                )
            )
        if len(groups) > _MOST_WARNINGS:
            left = len(groups) - _MOST_WARNINGS
            found.append(GraphWarning(code="test_warning", source=None, message=f"{left} more groups of warnings"))
    return found


def _excerpts(
    ctx: DigestContext,
    view: StreamView,
    sessions: Sequence[SessionFacts],
    troubles: Sequence[tuple[StreamView, Trouble]],
    verdict: Verdict,
) -> list[Excerpt]:
    """The tool's own concluding lines and messages, and the ends of streams where the census may not be whole."""
    found = []
    for stream, trouble in troubles:
        first, last = stream.line_at(trouble.start), stream.line_at(max(trouble.end - 1, trouble.start))
        found.append(ctx.quote(stream.name, max(first, last - 11), last, ExcerptRole.MESSAGE))
    for facts in sessions:
        for match in _COVERAGE_FAIL.finditer(view.screen, max(facts.session.end - 4096, 0), facts.session.end):
            line = view.line_at(match.start() + 1)
            found.append(ctx.quote(view.name, line, line, ExcerptRole.MESSAGE))
        found += [_concluding(ctx, view, anchor) for anchor in facts.session.of(Mark.STOP)[:5]]
        if facts.session.closing is not None:
            found.append(_concluding(ctx, view, facts.session.closing))
    whole = verdict.outcome is Outcome.PASS and verdict.coverage.complete
    cut = any(facts.session.closing is None for facts in sessions) or not sessions
    if view.line_count and not whole and (cut or verdict.outcome is Outcome.UNKNOWN or not verdict.coverage.complete):
        last = view.line_count
        found.append(ctx.quote(view.name, max(last - _TAIL_LINES + 1, 1), last, ExcerptRole.TAIL))
    other = ctx.stderr if view is ctx.stdout else ctx.stdout
    if other.line_count and not whole and not any(stream is other for stream, _ in troubles):
        last = other.line_count
        found.append(ctx.quote(other.name, max(last - _STDERR_LINES + 1, 1), last, ExcerptRole.TAIL))
    return found


def _concluding(ctx: DigestContext, view: StreamView, anchor: Anchor) -> Excerpt:
    line = view.line_at(anchor.start)
    return ctx.quote(view.name, line, line, ExcerptRole.CONCLUSION)
