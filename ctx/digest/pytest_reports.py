"""Machine-readable reports of pytest: JUnit XML, JSON lines (`--report-log`), JSON (pytest-json-report).

They name every result, so precision is `full`. JUnit XML names a test by class and name; its file is found by the
places in the failure's own text, and only where there are none by the shape of the dotted name.
"""

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any
from xml.parsers import expat

from ctx.digest.base import DigestContext
from ctx.digest.pytest_blocks import Candidate, read_block, split_class, test_frame
from ctx.digest.pytest_facts import Finding
from ctx.digest.pytest_items import ItemBuilder
from ctx.digest.pytest_rows import Row
from ctx.evidence import Coverage, CoverageReason, EvidenceGraph, ItemKind, Outcome, Precision, Severity
from ctx.text import StreamView

_JUNIT = re.compile(rb"\s*(?:<\?xml[^>]*\?>\s*)?(?:<testsuites[^>]*>\s*)?<testsuite[^>]* name=\"pytest\"")
_LOG_LINE = re.compile(
    rb'\s*\{"(?:pytest_version"|[^\n]{0,4000}"\$report_type": "(?:SessionStart|CollectReport|TestReport)")'
)
_JSON_REPORT = re.compile(rb'\s*\{\s*"created": [0-9.]+,\s*"duration": [0-9.]+,\s*"exitcode": ')
_ON_PHASE = re.compile(r'failed on (setup|teardown) with "(.*?)"?\Z', re.DOTALL)


@dataclass(slots=True)
class Result:
    """One failing, skipped or unexpectedly passing result; bytes 0-based, half-open."""

    node_id: str
    phase: str
    kind: ItemKind
    message: str
    text: str
    start: int
    end: int
    path: str = ""
    line: int = 0


@dataclass(slots=True)
class Report:
    """A whole report."""

    results: list[Result] = field(default_factory=list)
    counts: dict[str, int] = field(default_factory=dict)
    counted: bool = False
    """The counts are ours: the report prints none."""
    expected: int | None = None
    """Failures the report itself counts."""
    whole: bool = False
    root: str = ""
    exit_status: int | None = None

    @property
    def failing(self) -> list[Result]:
        """Results that make the run fail."""
        return [result for result in self.results if result.kind in _FAILING]


_FAILING = (ItemKind.FAILING_TEST, ItemKind.ERRORING_TEST, ItemKind.LOAD_ERROR)


def report_shape(data: bytes) -> str | None:
    """The kind of report that a stream is from its first byte on, or None."""
    head = data[:8192]
    if _JUNIT.match(head):
        return "JUnit XML of pytest"
    if _LOG_LINE.match(head):
        return "pytest report log"
    if _JSON_REPORT.match(head):
        return "pytest JSON report"
    return None


def read_report(ctx: DigestContext, view: StreamView) -> EvidenceGraph | None:
    """The graph of a report stream; None where it cannot be read as one."""
    data = view.screen
    report: Report | None
    if _JUNIT.match(data[:8192]):
        report = _read_junit(data)
    elif _LOG_LINE.match(data[:8192]):
        report = _read_log(data)
    else:
        report = _read_json(data)
    if report is None:
        return None
    builder = ItemBuilder(ctx, view, [*ctx.manifest.host_paths, report.root])
    for result in sorted(report.results, key=lambda r: r.kind not in _FAILING):
        _add(builder, result)
    coverage = _coverage(ctx, report)
    if CoverageReason.EXIT_STATUS_DISAGREES in coverage.reasons:
        told = f"exit status {ctx.manifest.exit_code} against {len(report.failing)} failing results of the report"
        builder.disagreement(told, 0, 1)
    return EvidenceGraph(
        family="pytest",
        profile="pytest/v1",
        outcome=_outcome(ctx, report),
        aggregate=report.counts,
        counted=frozenset(report.counts) if report.counted else frozenset(),
        items=tuple(builder.build()),
        coverage=coverage,
        operation=ctx.operation(),
    )


def _add(builder: ItemBuilder, result: Result) -> None:
    status = {ItemKind.FAILING_TEST: "FAILED", ItemKind.SKIPPED_TEST: "SKIP", ItemKind.XFAILED_TEST: "XFAIL"}
    row = Row(status.get(result.kind, "ERROR"), result.node_id, result.message, result.start, result.end)
    if result.kind not in _FAILING:
        builder.other(row, result.kind, Severity.INFO)
        return
    text = b"\n" + result.text.encode("utf-8", "replace")
    block = Candidate("", 0, 0, captured=False, end=len(text))
    reading = read_block(text, block)
    finding = Finding(row, result.phase)
    message = result.message.partition("\n")[0] or (reading.error_lines[-1] if reading.error_lines else reading.other)
    finding.failure_class, finding.summary = split_class(message)
    if message.startswith("[XPASS(strict)]"):
        finding.failure_class = "xpass_strict"
    elif not finding.failure_class:
        finding.failure_class = reading.raised if split_class(reading.raised)[0] else ""
    finding.frame = test_frame(reading, result.node_id)
    builder.finding(finding, 0)
    builder.detail_is_source()
    if finding.frame is None and result.path:
        builder.drafts[-1].location = builder.location(result.path, result.line, result.node_id.partition("::")[0])


def _outcome(ctx: DigestContext, report: Report) -> Outcome:
    code = ctx.manifest.exit_code if ctx.manifest.exit_code is not None else report.exit_status
    if report.failing or (code is not None and code not in (0, 5)):
        return Outcome.FAIL
    ran = sum(n for name, n in report.counts.items() if name in ("passed", "tests", "total"))
    return Outcome.PASS if code == 0 and report.whole and ran else Outcome.UNKNOWN


def _coverage(ctx: DigestContext, report: Report) -> Coverage:
    reasons = []
    if not ctx.manifest.complete:
        reasons.append(CoverageReason.CAPTURE_INCOMPLETE)
    if not report.whole:
        reasons.append(CoverageReason.UPSTREAM_CUT)
    if report.exit_status == 2:
        reasons.append(CoverageReason.INTERRUPTED)
    code = ctx.manifest.exit_code
    if code is not None and (code == 0) is bool(report.failing):
        reasons.append(CoverageReason.EXIT_STATUS_DISAGREES)
    return Coverage.attest(
        unit="failing_tests",
        parsed=len(report.failing),
        expected=report.expected if report.whole else None,
        total_lines=ctx.total_lines,
        input_truncated=not ctx.manifest.complete or not report.whole,
        precision=Precision.FULL,
        reasons=tuple(reasons),
        # A report log prints no totals; its first and its last record vouch for what is between them.
        complete_when_no_total=report.counted and report.whole,
    )


# JUnit XML ------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class _Part:
    """One `failure`, `error` or `skipped` element; a test may have several."""

    kind: str
    message: str
    reason: str
    start: int
    end: int = 0
    text: list[str] = field(default_factory=list)


class _JUnitReader:
    """Expat handlers; expat itself bounds the expansion of entities."""

    def __init__(self) -> None:
        self.case: dict[str, str] | None = None
        self.part: _Part | None = None
        self.totals: dict[str, int] = {}
        self.parts: list[tuple[dict[str, str], _Part]] = []
        self.parser = expat.ParserCreate()
        self.parser.buffer_text = True
        self.parser.StartElementHandler = self._start
        self.parser.EndElementHandler = self._end
        self.parser.CharacterDataHandler = self._text

    def _start(self, name: str, attributes: dict[str, str]) -> None:
        if name == "testsuite":
            for key in ("failures", "errors", "skipped", "tests"):
                if attributes.get(key, "").isdigit():
                    self.totals[key] = self.totals.get(key, 0) + int(attributes[key])
        elif name == "testcase":
            self.case = attributes
        elif name in ("failure", "error", "skipped") and self.case is not None:
            message, reason = attributes.get("message", ""), attributes.get("type", "")
            self.part = _Part(name, message, reason, self.parser.CurrentByteIndex)

    def _end(self, name: str) -> None:
        if name in ("failure", "error", "skipped") and self.part is not None and self.case is not None:
            self.part.end = self.parser.CurrentByteIndex
            self.parts.append((self.case, self.part))
            self.part = None
        elif name == "testcase":
            self.case = None

    def _text(self, text: str) -> None:
        if self.part is not None:
            self.part.text.append(text)


def _read_junit(data: bytes) -> Report:
    reader = _JUnitReader()
    report = Report(counts=reader.totals)
    try:
        reader.parser.Parse(data, True)
        report.whole = True
    except expat.ExpatError:
        # What was read before the cut stays.
        report.whole = False
    modules: dict[str, str] = {}
    report.results = [_junit_result(case, part, modules) for case, part in reader.parts]
    if "failures" in reader.totals:
        report.expected = reader.totals["failures"] + reader.totals.get("errors", 0)
    return report


def _junit_result(case: dict[str, str], part: _Part, modules: dict[str, str]) -> Result:
    text = "".join(part.text)
    node_id = _junit_id(case, text, modules)
    phase, message = "call", part.message
    kind = ItemKind.FAILING_TEST
    if part.kind == "skipped":
        kind = ItemKind.XFAILED_TEST if part.reason == "pytest.xfail" else ItemKind.SKIPPED_TEST
    elif part.kind == "error":
        on_phase = _ON_PHASE.match(message)
        kind, phase = ItemKind.ERRORING_TEST, "setup"
        if on_phase is not None:
            phase, message = on_phase[1], on_phase[2]
        elif message == "collection failure" or not case.get("classname"):
            kind, phase, message = ItemKind.LOAD_ERROR, "collect", ""
    return Result(node_id, phase, kind, message, text, part.start, part.end)


def _junit_id(case: dict[str, str], text: str, modules: dict[str, str]) -> str:
    name = case.get("name", "")
    dotted = case.get("classname", "") or name
    collected = not case.get("classname")
    file = case.get("file", "")
    parts = dotted.split(".")
    length = 0
    if file:
        length = file.removesuffix(".py").replace("\\", "/").count("/") + 1
    else:
        for size in range(len(parts), 0, -1):
            path = "/".join(parts[:size]) + ".py"
            if re.search(rf"(?:^|[\s/'\"]){re.escape(path)}[:\"']", text):
                modules[".".join(parts[:size])] = path
                file, length = path, size
                break
    if not file:
        for size in range(len(parts), 0, -1):
            if ".".join(parts[:size]) in modules:
                file, length = modules[".".join(parts[:size])], size
                break
    if not file:
        length = next((i + 1 for i, part in enumerate(parts) if re.match(r"test_|.*_test\Z", part)), 0)
        length = length or next((i for i, part in enumerate(parts) if i and part[:1].isupper()), len(parts))
        file = "/".join(parts[:length]) + ".py"
    if collected:
        return file
    return "::".join([file, *parts[length:], name])


# JSON -----------------------------------------------------------------------------------------------------------------


def _lines(data: bytes) -> Iterator[tuple[int, int, bytes]]:
    offset = 0
    while offset < len(data):
        end = data.find(b"\n", offset)
        end = len(data) if end < 0 else end
        yield offset, end, data[offset:end]
        offset = end + 1


def _read_log(data: bytes) -> Report:
    report = Report(counted=True)
    # A record that cannot be read is one that somebody cut.
    begun = data.lstrip().startswith(b'{"pytest_version"') or b'"SessionStart"' in data[:4096]
    counts = {"failed": 0, "passed": 0, "skipped": 0, "xfailed": 0, "xpassed": 0, "errors": 0}
    for start, end, line in _lines(data):
        if b'"outcome": "passed"' in line and b'"wasxfail"' not in line:
            counts["passed"] += b'"when": "call"' in line
            continue
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            begun = begun and not line.strip()
            continue
        if not isinstance(entry, dict):
            continue
        if entry.get("$report_type") == "SessionFinish":
            report.whole = True
            status = entry.get("exitstatus")
            report.exit_status = status if isinstance(status, int) else None
        elif entry.get("$report_type") in ("TestReport", "CollectReport"):
            _log_entry(report, counts, entry, start, end)
    report.whole = report.whole and begun
    report.counts = {name: number for name, number in counts.items() if number}
    return report


def _log_entry(report: Report, counts: dict[str, int], entry: dict[str, Any], start: int, end: int) -> None:
    outcome = entry.get("outcome")
    expected = "wasxfail" in entry
    phase = "collect" if entry.get("$report_type") == "CollectReport" else str(entry.get("when", "call"))
    message, text, path, line = _longrepr(entry.get("longrepr"))
    if outcome == "failed":
        kind = {"call": ItemKind.FAILING_TEST, "collect": ItemKind.LOAD_ERROR}.get(phase, ItemKind.ERRORING_TEST)
        counts["failed" if phase == "call" else "errors"] += 1
    elif outcome == "skipped":
        kind = ItemKind.XFAILED_TEST if expected else ItemKind.SKIPPED_TEST
        counts["xfailed" if expected else "skipped"] += 1
    else:
        if expected and phase == "call":
            counts["xpassed"] += 1
        return
    node_id = str(entry.get("nodeid") or "") or "(no node id)"
    report.results.append(Result(node_id, phase, kind, message, text, start, end, path, line))


def _longrepr(longrepr: Any) -> tuple[str, str, str, int]:
    """Message, text, path and line of a serialised failure, whatever of it is there."""
    if isinstance(longrepr, str):
        return "", longrepr, "", 0
    if isinstance(longrepr, list) and len(longrepr) == 3:
        return str(longrepr[2]).removeprefix("Skipped: "), "", str(longrepr[0]), _number(longrepr[1])
    if not isinstance(longrepr, dict):
        return "", "", "", 0
    crash = longrepr.get("reprcrash")
    crash = crash if isinstance(crash, dict) else {}
    lines: list[str] = []
    chain = longrepr.get("chain")
    links = [link[0] for link in chain if isinstance(link, list) and link] if isinstance(chain, list) else []
    for link in links or [longrepr.get("reprtraceback")]:
        entries = link.get("reprentries") if isinstance(link, dict) else None
        for entry in entries if isinstance(entries, list) else []:
            data = entry.get("data") if isinstance(entry, dict) else None
            place = data.get("reprfileloc") if isinstance(data, dict) else None
            if isinstance(place, dict):
                lines.append(f"{place.get('path')}:{place.get('lineno')}: {place.get('message') or ''}")
    message = str(crash.get("message") or "")
    return message, "\n".join(lines), str(crash.get("path") or ""), _number(crash.get("lineno"))


def _number(value: Any) -> int:
    return value if isinstance(value, int) and not isinstance(value, bool) else 0


def _read_json(data: bytes) -> Report | None:
    try:
        document = json.loads(data)
    except (ValueError, RecursionError):
        return None
    report = Report(whole=True, root=str(document.get("root") or ""), exit_status=_number(document.get("exitcode")))
    summary = document.get("summary")
    if isinstance(summary, dict):
        report.counts = {str(name): number for name, number in summary.items() if isinstance(number, int)}
    offset = 0
    broken = 0
    for entry in [*_dicts(document.get("collectors")), *_dicts(document.get("tests"))]:
        node_id = str(entry.get("nodeid") or "") or "(no node id)"
        needle = b'"nodeid": ' + json.dumps(node_id).encode()
        at = data.find(needle, offset)
        offset = at if at >= 0 else offset
        found = _json_results(entry, node_id, offset, offset + len(needle))
        report.results += found
        broken += any(result.kind in _FAILING for result in found)
    counted = report.counts.get("failed", 0) + report.counts.get("error", 0)
    collected = sum(1 for entry in _dicts(document.get("collectors")) if entry.get("outcome") == "failed")
    # The summary counts tests; one that fails twice has two results here.
    report.expected = len(report.failing) if counted + collected == broken else counted + collected
    return report


def _dicts(value: Any) -> list[dict[str, Any]]:
    return [entry for entry in value if isinstance(entry, dict)] if isinstance(value, list) else []


def _json_results(entry: dict[str, Any], node_id: str, start: int, end: int) -> list[Result]:
    found = []
    if entry.get("outcome") == "failed" and "setup" not in entry and "longrepr" in entry:
        text = str(entry["longrepr"])
        found.append(Result(node_id, "collect", ItemKind.LOAD_ERROR, "", text, start, end))
    for phase in ("setup", "call", "teardown"):
        part = entry.get(phase)
        if not isinstance(part, dict):
            continue
        crash = part.get("crash") if isinstance(part.get("crash"), dict) else {}
        message = str(crash.get("message") or "") if crash else ""
        place = (str(crash.get("path") or ""), _number(crash.get("lineno"))) if crash else ("", 0)
        text = str(part.get("longrepr") or "")
        if part.get("outcome") == "failed":
            kind = ItemKind.FAILING_TEST if phase == "call" else ItemKind.ERRORING_TEST
            found.append(Result(node_id, phase, kind, message, text, start, end, *place))
        elif part.get("outcome") == "skipped":
            kind = ItemKind.XFAILED_TEST if entry.get("outcome") == "xfailed" else ItemKind.SKIPPED_TEST
            found.append(Result(node_id, phase, kind, message, "", start, end, *place))
    return found
