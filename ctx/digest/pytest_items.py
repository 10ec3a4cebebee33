"""Findings of a pytest capture as evidence items: identities, places, one-line summaries.

Everything that costs the same for one item and for ten thousand is done once: raw coordinates and masking are
resolved for all items together.
"""

import re
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass, field

from ctx.digest.base import SUMMARY_COLUMNS, DigestContext
from ctx.digest.pytest_facts import Finding, SessionFacts
from ctx.digest.pytest_places import Places
from ctx.digest.pytest_rows import Row, Started, decode, file_of
from ctx.digest.pytest_sections import line_text
from ctx.digest.pytest_startup import Trouble, stack_function
from ctx.evidence import EvidenceItem, ItemKind, Location, Missing, Scalar, Severity, item_id
from ctx.safety.control import visible
from ctx.text import StreamView

FAMILY = "pytest"
MOST_OTHERS = 1000
"""Skipped and expected-to-fail tests that become items; the rest is counted in a warning."""
_RAW_SUMMARY = 4000
_SKIP_GROUP = re.compile(r"\[([0-9]+)\] (.*?)(?::([0-9]+))?: (.*)\Z")


@dataclass(slots=True)
class Draft:
    """An item before its coordinates and its masked summary are known."""

    kind: ItemKind
    severity: Severity
    identity: str
    source: int
    """Index in `Places`, as are the other two."""
    detail: int | None = None
    stdout: int | None = None
    location: Location | None = None
    failure_class: str = ""
    summary: str = ""
    phase: str = ""
    fields: dict[str, Scalar] = field(default_factory=dict)
    volatile: dict[str, Scalar] = field(default_factory=dict)


class ItemBuilder:
    """Collects drafts over one stream and turns them into items together.

    Args:
        ctx: Masks and redacts summaries.
        view: The stream that all drafts point into.
        roots: Absolute folders that node ids are relative to: `rootdir` and what the capture knows.
    """

    def __init__(self, ctx: DigestContext, view: StreamView, roots: Iterable[str]) -> None:
        self._ctx = ctx
        self._data = view.screen
        self._places = Places(view)
        self._roots = sorted({root.rstrip("/") + "/" for root in roots if root}, key=len, reverse=True)
        self.drafts: list[Draft] = []

    def finding(self, finding: Finding, reruns: int) -> None:
        """A failing test, an erroring set-up or tear-down, or a file that did not load."""
        row = finding.row
        kind = ItemKind.FAILING_TEST
        if row.status == "ERROR":
            kind = ItemKind.LOAD_ERROR if finding.phase == "collect" else ItemKind.ERRORING_TEST
        draft = Draft(
            kind,
            Severity.ERROR,
            row.node_id,
            self._places.add(row.start, row.end),
            failure_class=finding.failure_class,
            summary=finding.summary,
            phase=finding.phase,
        )
        if finding.phase:
            draft.fields["phase"] = finding.phase
        if row.subtest:
            draft.fields["subtest"] = row.subtest
        if finding.chain:
            draft.fields["chain"] = " -> ".join(finding.chain)
        if finding.from_heading:
            draft.fields["identity_from"] = "heading"
        if reruns:
            draft.fields["reruns"] = reruns
        if row.cut:
            draft.fields["cut"] = True
        if row.unsure:
            draft.fields["identity_from"] = "guessed split"
        if row.worker:
            draft.volatile["worker"] = row.worker
        if finding.block is not None:
            # The traceback alone: captured output below it has a region of its own.
            captures = finding.block.captures
            traceback_end = captures[0][0] if captures else finding.block.end
            draft.detail = self._places.add(finding.block.start, self._trimmed(finding.block.start, traceback_end))
            for start, end in finding.block.captures:
                if b"stdout" in line_text(self._data, start):
                    draft.stdout = self._places.add(start, self._trimmed(start, end))
                    break
        elif finding.place is not None:
            draft.detail = self._places.add(finding.place.start, finding.place.end)
        if finding.frame is not None:
            draft.location = self.location(finding.frame.path, finding.frame.line, file_of(row.node_id))
        self.drafts.append(draft)

    def detail_is_source(self) -> None:
        """The last finding's whole region is its own record: a report entry."""
        self.drafts[-1].detail = self.drafts[-1].source

    def other(self, row: Row, kind: ItemKind, severity: Severity, fields: dict[str, Scalar] | None = None) -> None:
        """A skipped, expected-to-fail, unexpectedly passing or flaky test."""
        draft = Draft(kind, severity, row.node_id, self._places.add(row.start, row.end), summary=row.message)
        draft.fields.update(fields or {})
        if row.status == "SKIPPED":
            group = _SKIP_GROUP.match(row.node_id)
            if group is not None:
                draft.identity = f"{group[2]}:{group[3]}" if group[3] else group[2]
                draft.summary = group[4]
                draft.fields["member_count"] = int(group[1])
                draft.location = self.location(group[2], int(group[3] or 0), "")
            elif " - " in row.node_id:
                draft.identity, _, draft.summary = row.node_id.partition(" - ")
        self.drafts.append(draft)

    def running(self, started: Started, why: str) -> None:
        """The test, or where only files are named the file, that had no result when the output ended."""
        draft = Draft(
            ItemKind.UNFINISHED_TEST, Severity.ERROR, started.name, self._places.add(started.start, started.end)
        )
        draft.failure_class = "timeout" if b" Timeout +++" in line_text(self._data, started.start) else ""
        draft.summary = f"no result: {why}"
        if started.done is not None:
            draft.summary = f"no further result after {started.done} tests of this file: {why}"
        if not started.whole:
            draft.fields["cut"] = True
            draft.summary += "; the name stands in a line that was cut"
        self.drafts.append(draft)

    def trouble(self, trouble: Trouble) -> None:
        """The tool's own message about itself."""
        kind = {"conftest": ItemKind.LOAD_ERROR, "usage": ItemKind.DIAGNOSTIC}.get(trouble.kind, ItemKind.EXCEPTION)
        location = self.location(trouble.path, trouble.line, "") if trouble.path else None
        identity = trouble.identity
        if trouble.kind == "conftest" and location is not None:
            identity = location.file
        place = self._places.add(trouble.start, trouble.end)
        draft = Draft(kind, Severity.CRITICAL, identity, place, detail=place, location=location)
        draft.failure_class, draft.summary = trouble.failure_class, trouble.summary
        if kind is ItemKind.LOAD_ERROR:
            draft.fields["phase"] = draft.phase = "collect"
        self.drafts.append(draft)

    def disagreement(self, text: str, start: int, end: int) -> None:
        """Two witnesses that contradict each other."""
        draft = Draft(ItemKind.DISAGREEMENT, Severity.ERROR, "exit status against report", self._places.add(start, end))
        draft.summary = text
        self.drafts.append(draft)

    def listed(self, node_id: str, start: int, end: int) -> None:
        """A test of a listing."""
        self.drafts.append(Draft(ItemKind.ROW, Severity.INFO, node_id, self._places.add(start, end)))

    def location(self, path: str, line: int, file: str) -> Location:
        """A printed path relative to the workspace; `<outside>/name` where it lies elsewhere."""
        plain = path.replace("\\", "/") if re.match(r"[A-Za-z]:\\", path) else path
        if file and (plain == file or plain.endswith("/" + file)):
            plain = file
        else:
            for root in self._roots:
                if plain.startswith(root):
                    plain = plain[len(root) :]
                    break
        if plain.startswith(("/", "../")) or re.match(r"[A-Za-z]:/", plain):
            plain = "<outside>/" + plain.rsplit("/", 1)[-1]
        return Location(file=plain, line=line if line > 0 else Missing.NOT_PRESENT)

    def build(self) -> list[EvidenceItem]:
        """Items of all drafts, in their order."""
        refs = self._places.refs()
        summaries = self._summaries([draft.summary for draft in self.drafts])
        seen: Counter[tuple[ItemKind, str, str]] = Counter()
        items = []
        for draft, summary in zip(self.drafts, summaries, strict=True):
            key = (draft.kind, draft.identity, draft.phase)
            seen[key] += 1
            if seen[key] > 1:
                draft.fields["occurrence"] = seen[key]
            if draft.stdout is not None:
                section = refs[draft.stdout]
                draft.fields["stdout_ref"] = f"{section.first_line}:{section.last_line}"
            items.append(
                EvidenceItem(
                    id=item_id(
                        family=FAMILY, kind=draft.kind, identity=draft.identity, phase=draft.phase, occurrence=seen[key]
                    ),
                    kind=draft.kind,
                    severity=draft.severity,
                    identity=draft.identity,
                    location=draft.location or Missing.NOT_PRESENT,
                    failure_class=draft.failure_class or Missing.NOT_PRESENT,
                    summary=summary or Missing.NOT_PRESENT,
                    source=refs[draft.source],
                    detail=refs[draft.detail] if draft.detail is not None else Missing.NOT_PRESENT,
                    fields=draft.fields,
                    volatile=draft.volatile,
                )
            )
        return items

    def _trimmed(self, start: int, end: int) -> int:
        """`end` without blank lines before it."""
        tail = self._data[max(start, end - 4096) : end]
        return max(end - (len(tail) - len(tail.rstrip())), start + 1)

    def _summaries(self, texts: list[str]) -> list[str]:
        """One line each: masked and redacted together, then cut in the middle to 200 columns."""
        if not texts:
            return []
        single = [" ".join(_shortened(text).split()) for text in texts]
        masked = self._ctx.masker.mask("\n".join(single))
        redacted = self._ctx.redactor.redact(masked).split("\n")
        if len(redacted) != len(single):
            redacted = [self._ctx.redactor.redact(line) for line in masked.split("\n")]
            redacted = [line.replace("\n", " ") for line in redacted]
        return [_one_line(visible(line)) for line in redacted]


def _shortened(text: str) -> str:
    if len(text) <= _RAW_SUMMARY:
        return text
    return text[: _RAW_SUMMARY // 2] + text[-_RAW_SUMMARY // 2 :]


def _one_line(line: str) -> str:
    if len(line) <= SUMMARY_COLUMNS:
        return line
    half = (SUMMARY_COLUMNS - 3) // 2
    return f"{line[:half]}…{line[-half:]}"


def add_session(builder: ItemBuilder, facts: SessionFacts) -> int:
    """Items of one run: failing ones in order of their rows, then the others; answers how many others were left out."""
    reruns = Counter(row.node_id for row in facts.others if row.status == "RERUN")
    failing = {finding.row.node_id for finding in facts.failing}
    findings = facts.failing
    if facts.parallel:
        findings = sorted(findings, key=lambda f: (f.row.node_id, f.phase, f.row.subtest))
    for finding in findings:
        builder.finding(finding, reruns[finding.row.node_id])
    others = [row for row in facts.others if row.status in ("SKIPPED", "XFAIL", "XPASS")]
    flaky: dict[str, Row] = defaultdict()
    for row in facts.others:
        if row.status == "RERUN" and row.node_id not in failing:
            flaky.setdefault(row.node_id, row)
    if facts.parallel:
        others.sort(key=lambda row: (row.status, row.node_id))
        flaky = dict(sorted(flaky.items()))
    for row in flaky.values():
        builder.other(row, ItemKind.FLAKY_TEST, Severity.WARNING, {"reruns": reruns[row.node_id]})
    for row in others[:MOST_OTHERS]:
        kind, severity = _OTHERS[row.status]
        builder.other(row, kind, severity)
    return max(len(others) - MOST_OTHERS, 0)


_OTHERS = {
    "SKIPPED": (ItemKind.SKIPPED_TEST, Severity.INFO),
    "XFAIL": (ItemKind.XFAILED_TEST, Severity.INFO),
    "XPASS": (ItemKind.XPASSED_TEST, Severity.WARNING),
}


def add_running(builder: ItemBuilder, facts: SessionFacts, dumps: list[bytes]) -> None:
    """What was running when the output ended; a dumped stack names the function where the rows do not."""
    for started in facts.running:
        why = "the run ended before it"
        for data in dumps:
            function = stack_function(data, started.name) if started.done is not None else None
            if function is not None:
                why = f"the dumped stack stands in {function[0]}, line {function[1]}"
                break
        builder.running(started, why)


def row_text(data: bytes, start: int) -> str:
    """The line at `start` as text."""
    return decode(line_text(data, start))
