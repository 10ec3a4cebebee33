"""The verdict of a pytest capture: outcome, coverage of the census, and which witnesses contradict each other."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from ctx.digest.base import CaptureFacts
from ctx.digest.pytest_facts import SessionFacts
from ctx.digest.pytest_sections import Mark
from ctx.digest.pytest_startup import Trouble
from ctx.evidence import Coverage, CoverageReason, Outcome, Precision

INTERRUPTED, INTERNAL, USAGE, NO_TESTS = 2, 3, 4, 5
"""Exit statuses of pytest besides 0 and 1."""
_TIMED_OUT = 124
_HALT = re.compile(r"stopping after|Interrupted: stopping|maxfail")


@dataclass(slots=True)
class Witnesses:
    """Everything the verdict is made from."""

    sessions: Sequence[SessionFacts]
    troubles: Sequence[Trouble]
    manifest: CaptureFacts
    gap: int | None = None
    """Offset of a mark that says that text was left out."""
    listing: bool = False

    @property
    def failing(self) -> int:
        """Failing items of all runs."""
        return sum(len(facts.failing) for facts in self.sessions)

    @property
    def claimed(self) -> int:
        """Failures that totals count."""
        return sum(facts.expected or 0 for facts in self.sessions)

    @property
    def ran(self) -> int:
        """Tests with a result, by the totals."""
        return sum(facts.totals.ran for facts in self.sessions if facts.totals)

    @property
    def ended_from_outside(self) -> bool:
        """A signal or a time limit of the caller ended the run."""
        facts = self.manifest
        code = facts.exit_code
        return (
            facts.ended_by in ("timeout", "signal")
            or facts.signal is not None
            or (code is not None and (code >= 128 or code == _TIMED_OUT or code < 0))
        )

    @property
    def stops(self) -> list[str]:
        """Texts of the `!!!` lines."""
        return [anchor.title for facts in self.sessions for anchor in facts.session.of(Mark.STOP)]


@dataclass(frozen=True, slots=True)
class Verdict:
    """Outcome, counts and coverage."""

    outcome: Outcome
    aggregate: Mapping[str, int]
    counted: frozenset[str]
    headline: str
    coverage: Coverage
    segments: tuple[Coverage, ...]
    disagreement: str = ""
    """Both witnesses, named; empty where they agree."""
    notes: list[str] = field(default_factory=list)


def judge(witnesses: Witnesses, total_lines: int) -> Verdict:
    """The verdict over all runs of a capture (S3.1, S3.4, S5.1.12 to S5.1.16)."""
    outcome, disagreement = _outcome(witnesses)
    aggregate, counted = _aggregate(witnesses)
    common = _common_reasons(witnesses, disagreement)
    parts = tuple(_coverage(witnesses, (facts,), common, total_lines) for facts in witnesses.sessions)
    whole = parts[0] if len(parts) == 1 else _coverage(witnesses, witnesses.sessions, common, total_lines)
    return Verdict(
        outcome=outcome,
        aggregate=aggregate,
        counted=counted,
        headline=_headline(witnesses),
        coverage=whole,
        segments=parts if len(parts) > 1 else (),
        disagreement=disagreement,
    )


def _outcome(witnesses: Witnesses) -> tuple[Outcome, str]:
    code = witnesses.manifest.exit_code
    red = witnesses.claimed > 0 or witnesses.failing > 0
    told = _told(witnesses)
    if witnesses.ended_from_outside:
        return Outcome.FAIL, ""
    if code is None:
        agreed = witnesses.claimed > 0 or (witnesses.failing > 0 and not _has_totals(witnesses))
        return (Outcome.FAIL, "") if agreed or witnesses.troubles else (Outcome.UNKNOWN, "")
    if code == 0:
        if red:
            return Outcome.FAIL, f"exit status 0 against {told}"
        if witnesses.listing or not witnesses.ran or not _has_totals(witnesses):
            return Outcome.UNKNOWN, ""
        return Outcome.PASS, ""
    if code == NO_TESTS and not red:
        return Outcome.UNKNOWN, ""
    explained = red or witnesses.troubles or witnesses.stops or not _has_totals(witnesses)
    if not explained:
        return Outcome.FAIL, f"exit status {code} against {told}"
    return Outcome.FAIL, ""


def _has_totals(witnesses: Witnesses) -> bool:
    return bool(witnesses.sessions) and all(facts.totals is not None for facts in witnesses.sessions)


def _told(witnesses: Witnesses) -> str:
    parts = []
    for facts in witnesses.sessions:
        if facts.totals is not None:
            counts = ", ".join(f"{n} {name}" for name, n in facts.totals.counts.items())
            parts.append(f'the totals line "{counts or "no tests ran"}"')
        elif facts.failing:
            parts.append(f"{len(facts.failing)} failures named in the report")
    return " and ".join(parts) or "the report"


def _aggregate(witnesses: Witnesses) -> tuple[dict[str, int], frozenset[str]]:
    """The tool's classes; without totals, the failures that were counted here."""
    counts: dict[str, int] = {}
    counted: set[str] = set()
    for facts in witnesses.sessions:
        if facts.totals is not None:
            found: Mapping[str, int] = facts.totals.counts
        else:
            errors = sum(1 for finding in facts.failing if finding.row.status == "ERROR")
            found = {name: n for name, n in (("failed", len(facts.failing) - errors), ("errors", errors)) if n}
            counted.update(found)
        for name, number in found.items():
            counts[name] = counts.get(name, 0) + number
    return counts, frozenset(counted)


def _headline(witnesses: Witnesses) -> str:
    totals = [facts.totals for facts in witnesses.sessions if facts.totals is not None]
    if witnesses.listing:
        return "collected, not run"
    if not totals or witnesses.ran or witnesses.claimed:
        return ""
    if witnesses.manifest.exit_code == USAGE:
        return "could not run"
    return "no tests ran"


def _common_reasons(witnesses: Witnesses, disagreement: str) -> list[CoverageReason]:
    reasons = []
    manifest = witnesses.manifest
    if manifest.ended_by == "timeout" or (manifest.exit_code == _TIMED_OUT and not _has_totals(witnesses)):
        reasons.append(CoverageReason.TIMED_OUT)
    elif witnesses.ended_from_outside and not _has_totals(witnesses):
        reasons.append(CoverageReason.KILLED)
    if not manifest.complete:
        reasons.append(CoverageReason.CAPTURE_INCOMPLETE)
    if witnesses.gap is not None:
        reasons.append(CoverageReason.UPSTREAM_CUT)
    if disagreement:
        reasons.append(CoverageReason.EXIT_STATUS_DISAGREES)
    code = manifest.exit_code
    vanished = any(facts.broken_off and not facts.timed_out for facts in witnesses.sessions)
    if witnesses.troubles or (vanished and code not in (0, None) and not witnesses.ended_from_outside):
        reasons.append(CoverageReason.TOOL_CRASHED)
    return reasons


def _session_reasons(facts: SessionFacts) -> list[CoverageReason]:
    reasons = []
    stops = [anchor.title for anchor in facts.session.of(Mark.STOP)]
    if any(_HALT.search(title) for title in stops):
        reasons.append(CoverageReason.EARLY_STOP)
    elif any("timeout" in title.lower() for title in stops):
        reasons.append(CoverageReason.TIMED_OUT)
    elif stops:
        reasons.append(CoverageReason.INTERRUPTED)
    if facts.head_missing:
        reasons.append(CoverageReason.UPSTREAM_CUT)
    damaged = facts.contradicts_blocks or facts.uncertain
    if damaged or any(finding.row.cut or finding.row.unsure for finding in facts.failing):
        reasons.append(CoverageReason.PARSE_GAP)
    expected = facts.expected
    unnamed = expected is not None and len(facts.failing) < expected and facts.summary is None
    if unnamed or any(finding.guessed for finding in facts.failing):
        reasons.append(CoverageReason.OUTPUT_SUPPRESSED)
    if expected is None and facts.summary is None:
        reasons.append(CoverageReason.SUMMARY_MISSING)
    if facts.timed_out:
        reasons.append(CoverageReason.TIMED_OUT)
    return reasons


def _coverage(
    witnesses: Witnesses, sessions: Sequence[SessionFacts], common: list[CoverageReason], total_lines: int
) -> Coverage:
    reasons = list(common)
    for facts in sessions:
        reasons += _session_reasons(facts)
    numbers = [facts.expected for facts in sessions]
    expected = None if not sessions or witnesses.listing or None in numbers else sum(n or 0 for n in numbers)
    stopped = CoverageReason.EARLY_STOP in reasons
    return Coverage.attest(
        unit="failing_tests_until_stop" if stopped else "failing_tests",
        parsed=sum(len(facts.failing) for facts in sessions),
        expected=expected,
        unmatched_lines=0,
        total_lines=total_lines,
        input_truncated=not witnesses.manifest.complete
        or CoverageReason.UPSTREAM_CUT in reasons
        or CoverageReason.KILLED in reasons
        or CoverageReason.TIMED_OUT in reasons,
        precision=Precision.PARTIAL,
        reasons=tuple(dict.fromkeys(reasons)),
    )
