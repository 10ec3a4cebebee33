"""The `lint` family: diagnostics with a place in a file, whoever printed them.

Recognises
    At least one diagnostic by its grammar (a severity word or rule code after a place, a block with an arrow, a row
    under its file's heading), a known machine format, or a tool's own clean line ("All checks passed!", "Success: no
    issues found in 3 source files"). A tool's name in the command is no evidence; a listing of hits is none, and
    neither are warnings in the long log of something else that failed.
Extracts
    Every diagnostic of both streams, without a cap: identity `file:line:column: CODE message` with the parts that are
    printed, severity by table, the block behind it; totals and clean lines.
    The place that led to a diagnostic (`expanded at`, `required from`) stands beside it.
Complete when
    The parsed diagnostics equal the tools' own totals, each total counting the rows of its own tool; where a tool
    prints none, when the exit status agrees (not zero with diagnostics, or zero) and nothing says that a part is not
    here: a missing total of a tool that always ends with one, a tool that stopped by itself, a compiler that failed
    without an error, an output that begins or ends inside a diagnostic, a host's mark, a pipe into `head` or `tail`.
Loses
    Source excerpts, carets and notes leave the census; each is behind its diagnostic's address.
Content classes
    None: diagnostics hold no volatile text of their own.
Example
    `lint(ruff): FAIL 12 errors · exit 1 · run:…`, then one row a diagnostic, errors first.
"""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ctx.digest.base import DigestContext, Profile
from ctx.digest.lint_blocks import StreamReader
from ctx.digest.lint_machine import read_machine
from ctx.digest.lint_model import (
    ERRORS_AND_WARNINGS,
    ERRORS_AND_WORSE,
    EVERY_SEVERITY,
    Finding,
    Head,
    Reading,
    Total,
)
from ctx.digest.rows import plural
from ctx.digest.telling_lines import find_gap
from ctx.evidence import (
    SEVERITY_RANK,
    Coverage,
    CoverageReason,
    EvidenceGraph,
    EvidenceItem,
    Excerpt,
    ExcerptRole,
    ItemKind,
    Location,
    Missing,
    Outcome,
    Precision,
    Severity,
    SourceRef,
    item_id,
)
from ctx.text import StreamView

DETECTION_LINES = 20_000
"""So many lines from the start, and as many from the end, are judged by `detect`."""
TAIL_LINES = 12
MESSAGE_LINES = 12
_DIALECT_NAMES = {"cc": "gcc", "tsc-pretty": "tsc", "python": "", "msvc": "", "ld": "", "github": ""}
_ALWAYS_TOTALS = {
    "ruff": EVERY_SEVERITY,
    "mypy": ERRORS_AND_WORSE,
    "eslint": ERRORS_AND_WARNINGS,
    "pyright": EVERY_SEVERITY,
    "javac": ERRORS_AND_WARNINGS,
    "tsc-pretty": ERRORS_AND_WORSE,
    "rustc": ERRORS_AND_WARNINGS,
}
"""Dialects whose tool ends with a total unless it is told not to, and the severities that it counts."""
_COUNTED_BY: Mapping[str, frozenset[str]] = {
    "ruff": frozenset(("ruff", "python", "github", "tsc-pretty")),
    "mypy": frozenset(("mypy", "")),
    "pyright": frozenset(("pyright",)),
    "eslint": frozenset(("eslint", "msvc", "")),
    "tsc": frozenset(("tsc-pretty", "tsc")),
    "clang": frozenset(("cc", "msvc", "")),
    "javac": frozenset(("javac", "maven", "rubocop", "go", "msvc", "cc", "")),
    "rustc": frozenset(("rustc", "")),
    "dotnet": frozenset(("msvc", "")),
}
"""Dialect of a total -> dialects of the rows that it can count: one output may hold several tools."""
_QUIET = frozenset(("-q", "--quiet", "-qq", "--no-error-summary", "--silent", "-s"))
_SHORTENED = re.compile(r"\|\s*(?:head|tail)\b")
_COUNTED = {Severity.CRITICAL: "errors", Severity.ERROR: "errors", Severity.WARNING: "warnings", Severity.INFO: "notes"}


class LintProfile(Profile):
    """Diagnostics of compilers, type checkers and linters."""

    version = "lint/v1"

    def detect(self, ctx: DigestContext) -> str | None:
        readings = [_sample(view) for view in ctx.streams.values() if view.line_count and view.encoding != "binary"]
        placed = [reading for reading in readings if reading.machine or _placed(reading)]
        if placed and not _is_beside_the_point(ctx, readings):
            named = placed[0]
            if named.machine:
                return f"machine-readable diagnostics on {named.stream}"
            return f"{len(named.findings)} diagnostics on {named.stream}"
        for reading in readings:
            clean = [total.clean for _, _, total in reading.totals if total.clean and total.dialect != "pylint"]
            rated = [total for _, _, total in reading.totals if total.dialect == "pylint"]
            if (clean or rated) and not placed:
                return f"a clean line on {reading.stream}: {clean[0] if clean else 'rated'}"
        return None

    def extract(self, ctx: DigestContext) -> EvidenceGraph:
        readings = [
            read_machine(view) or StreamReader(view).read()
            for view in ctx.streams.values()
            if view.line_count and view.encoding != "binary"
        ]
        covered = _covered(readings)
        items, covered_items = _items(ctx, readings, covered)
        tally = _tally(readings, items, frozenset(item.id for item in covered_items))
        outcome, disagreement = _verdict(ctx, items, tally, readings)
        coverage = _coverage(ctx, readings, items, tally, covered, covered_items)
        if disagreement:
            items.append(_disagreement(ctx, disagreement, readings))
        return EvidenceGraph(
            family=self.family,
            profile=self.version,
            outcome=outcome,
            aggregate=tally.aggregate,
            counted=tally.counted,
            items=tuple(items),
            coverage=coverage,
            operation=ctx.operation(),
            headline="" if tally.aggregate else tally.clean,
            dialect=_dialect(readings),
            excerpts=tuple(_excerpts(ctx, readings, outcome, coverage, bool(items))),
        )


def _sample(view: StreamView) -> Reading:
    """What detection looks at: a document as a whole, else the beginning of a stream, else its end."""
    machine = read_machine(view)
    if machine is not None:
        return machine
    reading = StreamReader(view).read(1, DETECTION_LINES)
    if _placed(reading) or view.line_count <= DETECTION_LINES:
        return reading
    end = StreamReader(view).read(max(1, view.line_count - DETECTION_LINES))
    return end if _placed(end) else reading


FOREIGN_LINES = 40


def _is_beside_the_point(ctx: DigestContext, readings: Sequence[Reading]) -> bool:
    """Whether a command failed, and its few warnings stand in a text of another kind: then the text decides."""
    if ctx.manifest.exit_code in (0, None):
        return False
    findings = [finding for reading in readings for finding in reading.findings]
    lines = sum(reading.lines for reading in readings)
    understood = sum(reading.understood for reading in readings)
    errors = any(finding.head.weight in ERRORS_AND_WORSE for finding in findings)
    return not errors and lines >= FOREIGN_LINES and understood * 4 < lines


def _placed(reading: Reading) -> bool:
    """Whether a finding has a place or a code: `prog.py: error: unrecognized arguments` alone is a usage message."""
    heads = (finding.head for finding in reading.findings)
    return any(head.line is not None or head.code or head.place or head.dialect == "eslint" for head in heads)


# Items ----------------------------------------------------------------------------------------------------------------


def identity_of(head: Head) -> str:
    """`file:line:column: CODE message`, with the parts that the tool prints."""
    place = head.place or ":".join(
        str(part) for part in (head.file, head.line, head.column) if part is not None and part != ""
    )
    # javac's categories are words that its messages begin with: they keep their brackets.
    code = f"[{head.code}]" if head.dialect == "javac" else head.code
    claim = f"{code} {head.message}" if head.code else head.message
    return f"{place}: {claim}" if place else claim


def _items(
    ctx: DigestContext, readings: Sequence[Reading], covered: frozenset[int]
) -> tuple[list[EvidenceItem], list[EvidenceItem]]:
    """Diagnostics, errors first, files that cannot be read first of all, and those that a total counts.

    The same diagnostic printed twice is one item.

    Args:
        covered: `id` of the findings that a total counts.
    """
    grouped: dict[tuple[str, str, str, int], list[tuple[Reading, Finding]]] = {}
    for reading in readings:
        for finding in reading.findings:
            head = finding.head
            key = (identity_of(head), head.word.lower(), head.through, finding.caret if head.column is None else 0)
            grouped.setdefault(key, []).append((reading, finding))
    items = []
    counted = []
    first: set[str] = set()
    occurrences: dict[str, int] = {}
    for (identity, word, through, _), members in grouped.items():
        reading, finding = members[0]
        head = finding.head
        source, detail = _regions(ctx.streams[reading.stream], finding)
        occurrences[identity] = occurrences.get(identity, 0) + 1
        fields: dict[str, str | int | bool] = {"severity_word": word} if word else {}
        if len(members) > 1:
            fields["member_count"] = len(members)
        if head.symbol:
            fields["symbol"] = head.symbol
        if finding.cut:
            fields["cut"] = True
        item_key = item_id(family="lint", kind=ItemKind.DIAGNOSTIC, identity=identity, occurrence=occurrences[identity])
        items.append(
            EvidenceItem(
                id=item_key,
                kind=ItemKind.DIAGNOSTIC,
                severity=head.weight,
                identity=identity,
                location=_location(head),
                failure_class=head.code or head.word or Missing.NOT_PRESENT,
                summary=_summary(head, through),
                source=source,
                detail=detail,
                fields=fields,
            )
        )
        if id(finding) in covered:
            counted.append(items[-1])
        if head.hides_others:
            first.add(item_key)
    return sorted(items, key=lambda item: (SEVERITY_RANK[item.severity], item.id not in first)), counted


def _regions(view: StreamView, finding: Finding) -> tuple[SourceRef, SourceRef | Missing]:
    """The claim and the region behind it; lines are asked for in rising order, which an index answers in one pass."""
    if finding.last <= finding.first:
        return view.source(finding.line), Missing.NOT_PRESENT
    head = view.source(finding.first)
    claim = view.source(finding.line) if finding.line > finding.first else head
    tail = view.source(finding.last)
    detail = SourceRef(
        stream=view.name,
        first_line=head.first_line,
        last_line=tail.last_line,
        first_byte=head.first_byte,
        end_byte=tail.end_byte,
    )
    return claim, detail


def _covered(readings: Sequence[Reading]) -> frozenset[int]:
    """`id` of each finding that a total of its own tool counts: one below it, or one in a stream without rows."""
    found: set[int] = set()
    elsewhere: set[tuple[str, Severity]] = set()
    for reading in readings:
        last: dict[tuple[str, Severity], int] = {}
        for number, _, total in reading.totals:
            last.update({(total.dialect, severity): number for severity in total.covers})
        dialects = {finding.head.dialect for finding in reading.findings}
        elsewhere.update(key for key in last if not any(_counts(key[0], dialect) for dialect in dialects))
        for finding in reading.findings:
            if any(line > finding.line and _is_counted(finding, key) for key, line in last.items()):
                found.add(id(finding))
    for reading in readings:
        for finding in reading.findings:
            if any(_is_counted(finding, key) for key in elsewhere):
                found.add(id(finding))
    return frozenset(found)


def _is_counted(finding: Finding, key: tuple[str, Severity]) -> bool:
    return finding.head.weight is key[1] and _counts(key[0], finding.head.dialect)


def _counts(total: str, row: str) -> bool:
    """Whether a total of one dialect can count rows of another."""
    own = _COUNTED_BY.get(total)
    return own is None or row in own


def _summary(head: Head, through: str) -> str | Missing:
    """The place that led to the diagnostic, behind its severity where no code stands in the identity."""
    if not through:
        return Missing.NOT_PRESENT
    return through if head.code or not head.word else f"{head.word}, {through}"


def _location(head: Head) -> Location | Missing:
    if not head.file:
        return Missing.NOT_PRESENT
    return Location(
        file=head.file,
        line=Missing.NOT_PRESENT if head.line is None else head.line,
        column=Missing.NOT_PRESENT if head.column is None else head.column,
    )


def _disagreement(ctx: DigestContext, text: str, readings: Sequence[Reading]) -> EvidenceItem:
    stream = readings[0].stream if readings else "stdout"
    line = max(readings[0].last_understood, 1) if readings else 1
    return EvidenceItem(
        id=item_id(family="lint", kind=ItemKind.DISAGREEMENT, identity=text),
        kind=ItemKind.DISAGREEMENT,
        severity=Severity.ERROR,
        identity=text,
        summary=ctx.summary(text),
        source=ctx.streams[stream].source(line),
    )


# Totals ---------------------------------------------------------------------------------------------------------------


@dataclass(kw_only=True, slots=True)
class _Tally:
    """What the tool's own concluding lines add up to."""

    aggregate: dict[str, int]
    counted: frozenset[str]
    expected: int | None
    """All totals added; None where there is none."""
    clean: str
    reasons: tuple[CoverageReason, ...]


def _tally(readings: Sequence[Reading], items: Sequence[EvidenceItem], covered: frozenset[str]) -> _Tally:
    """The tool's own totals, and what we count besides: all items, or those that no total speaks of."""
    totals = _effective([total for reading in readings for _, _, total in reading.totals])
    clean = next((total.clean for total in totals if total.clean), "")
    reasons = tuple(dict.fromkeys(reason for total in totals for reason in total.reasons))
    aggregate: dict[str, int] = {}
    expected = 0
    for total in totals:
        expected += total.counts["problems"] if "problems" in total.counts else sum(total.counts.values())
        for name, count in total.counts.items():
            aggregate[name] = aggregate.get(name, 0) + count
    totalled = set(aggregate)
    for item in items:
        if item.id in covered:
            continue
        name = _COUNTED[item.severity]
        name = f"further {name}" if name in totalled else name
        aggregate[name] = aggregate.get(name, 0) + 1
    if totalled:
        return _Tally(
            aggregate=aggregate,
            counted=frozenset(aggregate) - totalled,
            expected=expected,
            clean=clean,
            reasons=reasons,
        )
    if not aggregate and clean:
        aggregate = {"errors": 0}
    return _Tally(
        aggregate=aggregate,
        counted=frozenset(aggregate),
        expected=None,
        clean=clean,
        reasons=reasons,
    )


def _effective(totals: list[Total]) -> list[Total]:
    """Totals that count: a cap's full number replaces the number shown, a crate is counted once by each class."""
    capped = {total.unit for total in totals if total.shown_less}
    kept = [total for total in totals if total.unit not in capped or total.shown_less]
    generated = any(total.dialect == "rustc" and set(total.counts) == {"warnings"} for total in kept)
    result: list[Total] = []
    seen: set[tuple[str, str, tuple[tuple[str, int], ...]]] = set()
    for total in kept:
        counts = dict(total.counts)
        if total.dialect == "rustc":
            if generated and "errors" in counts:
                counts.pop("warnings", None)
            key = (total.dialect, total.unit, tuple(counts.items()))
            if key in seen:
                continue
            seen.add(key)
        result.append(
            Total(
                dialect=total.dialect,
                counts=counts,
                covers=total.covers,
                clean=total.clean,
                unit=total.unit,
                reasons=total.reasons,
            )
        )
    return result


# Verdict and coverage -------------------------------------------------------------------------------------------------


def _verdict(
    ctx: DigestContext, items: Sequence[EvidenceItem], tally: _Tally, readings: Sequence[Reading]
) -> tuple[Outcome, str]:
    """Outcome from exit status and text, and the sentence that names witnesses who disagree (S3.4)."""
    facts = ctx.manifest
    errors = [item for item in items if item.severity in (Severity.ERROR, Severity.CRITICAL)]
    counted = tally.aggregate.get("errors", tally.aggregate.get("problems", 0))
    if facts.signal is not None or facts.ended_by == "timeout":
        return Outcome.FAIL, ""
    if facts.exit_code is None:
        if errors or counted:
            return Outcome.FAIL, ""
        return (Outcome.PASS if tally.clean and facts.complete else Outcome.UNKNOWN), ""
    if facts.exit_code != 0:
        if not items and tally.clean:
            return Outcome.FAIL, f"exit status {facts.exit_code}, but the tool says: {tally.clean}"
        return Outcome.FAIL, ""
    if counted and errors and not any(reading.machine for reading in readings):
        said = "printed" if "errors" in tally.counted else "counted by the tool"
        be = "is" if counted == 1 else "are"
        return Outcome.FAIL, f"exit status 0, but {plural(counted, 'error')} {be} {said}"
    return (Outcome.PASS if facts.complete else Outcome.UNKNOWN), ""


def _coverage(
    ctx: DigestContext,
    readings: Sequence[Reading],
    items: Sequence[EvidenceItem],
    tally: _Tally,
    covered: frozenset[int],
    covered_items: Sequence[EvidenceItem],
) -> Coverage:
    facts = ctx.manifest
    reasons = [*tally.reasons, *(reason for reading in readings for reason in reading.reasons)]
    if not facts.complete:
        reasons.append(CoverageReason.CAPTURE_INCOMPLETE)
    if facts.ended_by == "timeout":
        reasons.append(CoverageReason.TIMED_OUT)
    elif facts.signal is not None:
        reasons.append(CoverageReason.KILLED)
    if any(reading.crashed for reading in readings):
        reasons.append(CoverageReason.TOOL_CRASHED)
    if any(finding.cut for reading in readings for finding in reading.findings):
        reasons.append(CoverageReason.PARSE_GAP)
    if any(not reading.closed for reading in readings) or _cut_upstream(ctx, readings):
        reasons.append(CoverageReason.UPSTREAM_CUT)
    machine = bool(readings) and all(reading.machine for reading in readings if reading.findings)
    if _lacks_total(ctx, readings, covered):
        reasons.append(CoverageReason.SUMMARY_MISSING)
    if _unexplained(ctx, readings):
        reasons.append(CoverageReason.EXIT_STATUS_DISAGREES)
    parsed, expected = len(items), None
    if tally.expected is not None:
        printed = sum(_members(item) for item in covered_items)
        own = tally.expected if tally.expected != printed else len(covered_items)
        expected = own + len(items) - len(covered_items)
    whole = not any(reading.messages for reading in readings) or bool(items)
    agrees = facts.exit_code is not None and (facts.exit_code == 0 or bool(items))
    understood = sum(reading.understood for reading in readings)
    total = sum(reading.lines for reading in readings)
    return Coverage.attest(
        unit="diagnostics",
        parsed=parsed,
        expected=expected,
        unmatched_lines=max(0, total - understood),
        total_lines=total,
        input_truncated=not facts.complete or CoverageReason.UPSTREAM_CUT in reasons,
        precision=Precision.FULL if machine and items else Precision.PARTIAL,
        reasons=tuple(dict.fromkeys(reasons)),
        complete_when_no_total=whole and agrees,
    )


def _lacks_total(ctx: DigestContext, readings: Sequence[Reading], covered: frozenset[int]) -> bool:
    """Whether a tool that always ends with a total printed a diagnostic that none counts: a part is not there."""
    if _QUIET.intersection(ctx.manifest.argv):
        return False
    # `2 files would be reformatted` ends a run as a total does, and counts something else.
    totals = [total for reading in readings for _, _, total in reading.totals]
    ended = {total.dialect for total in totals if not total.covers and not total.clean}
    return any(
        id(finding) not in covered
        and finding.head.dialect not in ended
        and finding.head.weight in _ALWAYS_TOTALS.get(finding.head.dialect, ())
        for reading in readings
        if not reading.machine
        for finding in reading.findings
    )


_FAIL_ON_ERRORS = frozenset(("cc", "javac", "rustc"))
"""Dialects of compilers: warnings alone never fail a run."""


def _unexplained(ctx: DigestContext, readings: Sequence[Reading]) -> bool:
    """Whether a compiler failed and nothing in its output says why: the error is in a part that is not there."""
    if ctx.manifest.exit_code in (0, None) or any(reading.messages for reading in readings):
        return False
    heads = [finding.head for reading in readings for finding in reading.findings]
    return (
        bool(heads)
        and all(head.dialect in _FAIL_ON_ERRORS for head in heads)
        and not any(head.weight in ERRORS_AND_WORSE for head in heads)
    )


def _members(item: EvidenceItem) -> int:
    count = item.fields.get("member_count", 1)
    return count if isinstance(count, int) else 1


def _cut_upstream(ctx: DigestContext, readings: Sequence[Reading]) -> bool:
    """A mark of a host that dropped a part, or an output that ends inside a line; a whole document is neither."""
    whole = {reading.stream for reading in readings if reading.machine and reading.closed}
    counted = any(total.covers for reading in readings for _, _, total in reading.totals)
    if not counted and any(_SHORTENED.search(word) for word in ctx.manifest.argv):
        return True
    for view in ctx.streams.values():
        if view.name in whole:
            continue
        if find_gap(view.screen) is not None:
            return True
        if view.raw and not view.raw.endswith(b"\n") and view.line_count > 1:
            return True
    return False


def _dialect(readings: Sequence[Reading]) -> str:
    """The tool that printed the rows, where it is one; empty where several did or nothing tells."""
    printed = {finding.head.dialect for reading in readings for finding in reading.findings}
    if len({_DIALECT_NAMES.get(name, name) for name in printed} - {""}) > 1:
        return ""
    votes: dict[str, int] = {}
    for reading in readings:
        for name, count in reading.dialects.items():
            votes[name] = votes.get(name, 0) + count
    if not votes:
        return ""
    ranked = sorted(votes.items(), key=lambda entry: (-entry[1], entry[0]))
    best = ranked[0][0]
    if best == "cc":
        return "clang" if "clang" in votes else next((reading.hint for reading in readings if reading.hint), "")
    if best in ("python", "javac") and "ruff" in votes:
        return "ruff"
    return _DIALECT_NAMES.get(best, best)


def _excerpts(
    ctx: DigestContext, readings: Sequence[Reading], outcome: Outcome, coverage: Coverage, named: bool
) -> list[Excerpt]:
    """The tool's totals, lines that look like errors of something else, and ends where the census is not whole."""
    found: list[Excerpt] = []
    for reading in readings:
        view = ctx.streams[reading.stream]
        for number, _, _ in reading.totals[-4:]:
            found.append(ctx.quote(reading.stream, number, number, ExcerptRole.CONCLUSION))
        loud = reading.messages
        half = MESSAGE_LINES // 2
        for number in loud if len(loud) <= MESSAGE_LINES else (*loud[:half], *loud[-half:]):
            found.append(ctx.quote(reading.stream, number, number, ExcerptRole.MESSAGE))
        unsure = outcome is not Outcome.PASS and (not named or not coverage.complete)
        after = view.line_count - reading.last_understood
        if not reading.machine and (unsure or (after > 0 and outcome is not Outcome.PASS)):
            first = max(1, view.line_count - (TAIL_LINES if unsure else min(after, TAIL_LINES)) + 1)
            found.append(ctx.quote(reading.stream, first, view.line_count, ExcerptRole.TAIL))
    return found
