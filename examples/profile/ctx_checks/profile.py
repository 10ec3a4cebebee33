"""The `checks` family: the nightly data checks of a warehouse.

Recognises
    A totals line `N checks, M failed` and at least one row `ok NAME` or `FAILED NAME: MESSAGE`.
Extracts
    Every failed check with its message; the indented lines under its row are its detail. The totals line.
Complete when
    As many failed checks are listed as the totals line counts. Without a totals line the output is not ours.
Loses
    Names of the checks that passed, in the digest; they stay in the output, by its address.
Content classes
    None: clock times are masked, so that a rerun prints identical bytes.
Example
    `checks: FAIL 2 failed, 76 ok · exit 1 · run:…`, a row for each failed check, the rows behind the first.
"""

import re
from collections.abc import Iterator

import ctx
from ctx.digest.base import DigestContext, Profile
from ctx.evidence import (
    Coverage,
    CoverageReason,
    EvidenceItem,
    Excerpt,
    ExcerptRole,
    ItemKind,
    Missing,
    Outcome,
    Precision,
    Severity,
    SourceRef,
    item_id,
)

_OK = re.compile(r"ok +(\S+)$")
_FAILED = re.compile(r"FAILED +(\S+): (.+)$")
_TOTALS = re.compile(r"(\d+) checks?, (\d+) failed$")


class ChecksProfile(Profile):
    """Failed checks by name, none lost."""

    version = "checks/v1"

    def detect(self, context: DigestContext) -> str | None:
        lines = [text for _, text in context.stdout.lines()]
        rows = sum(bool(_OK.match(line) or _FAILED.match(line)) for line in lines)
        if rows and any(_TOTALS.match(line) for line in lines):
            return f"{rows} rows of checks and a totals line"
        return None

    def extract(self, context: DigestContext) -> "ctx.EvidenceGraph":
        view = context.stdout
        passed = understood = 0
        expected: int | None = None
        conclusions: list[Excerpt] = []
        found: list[tuple[int, str, str]] = []
        for number, text in view.lines():
            if _OK.match(text):
                passed += 1
            elif failed := _FAILED.match(text):
                found.append((number, failed[1], failed[2]))
            elif totals := _TOTALS.match(text):
                expected = int(totals[2])
                conclusions = [context.quote("stdout", number, number, ExcerptRole.CONCLUSION)]
            elif text.strip() and not text.startswith("  "):
                continue
            understood += 1
        items = tuple(self._items(context, found))
        facts = context.manifest
        return ctx.EvidenceGraph(
            family=self.family,
            profile=self.version,
            outcome=_outcome(facts.exit_code, len(items)),
            aggregate={"failed": len(items), "ok": passed},
            items=items,
            coverage=Coverage.attest(
                unit="failed_checks",
                parsed=len(items),
                expected=expected,
                unmatched_lines=view.raw_line_count - understood,
                total_lines=context.total_lines,
                input_truncated=not facts.complete,
                precision=Precision.PARTIAL,
                reasons=(CoverageReason.EXIT_STATUS_DISAGREES,) if facts.exit_code == 0 and items else (),
            ),
            operation=context.operation(),
            excerpts=tuple(conclusions),
        )

    def _items(self, context: DigestContext, found: list[tuple[int, str, str]]) -> Iterator[EvidenceItem]:
        seen: dict[str, int] = {}
        for number, name, message in found:
            seen[name] = seen.get(name, 0) + 1
            yield EvidenceItem(
                id=item_id(family=self.family, kind=ItemKind.DIAGNOSTIC, identity=name, occurrence=seen[name]),
                kind=ItemKind.DIAGNOSTIC,
                severity=Severity.ERROR,
                identity=name,
                summary=context.summary(message),
                source=context.stdout.source(number),
                detail=_detail(context, number),
                fields={"occurrence": seen[name]},
            )


def _outcome(exit_code: int | None, failed: int) -> Outcome:
    """A failure where either says so; a pass needs both."""
    if failed or exit_code not in (0, None):
        return Outcome.FAIL
    return Outcome.PASS if exit_code == 0 else Outcome.UNKNOWN


def _detail(context: DigestContext, number: int) -> SourceRef | Missing:
    """The row with the indented lines under it."""
    view, last = context.stdout, number
    while last < view.line_count and view.line(last + 1).startswith("  "):
        last += 1
    return view.source(number, last) if last > number else Missing.NOT_PRESENT
