"""The data model: what an extractor found, what it attests, and what a digest delivered.

Lines are 1-based and inclusive. Bytes are 0-based and half-open. Columns are 1-based and count code points.
All records are frozen; a record that contradicts itself raises `EvidenceError` when it is built.

A value that may be missing is the value, `Missing.NOT_PRESENT` (the source does not say) or
`Missing.NOT_PARSED` (the source may say, the extractor could not tell). *Omitted* is a property of one
rendering and lives in the plan and in the `CoverageReceipt` only.
"""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from hashlib import sha256
from types import MappingProxyType
from typing import Any, TypeVar

from ctx.canonical import canonical_json
from ctx.errors import EvidenceError

Scalar = str | int | bool


_Key = TypeVar("_Key")
_Value = TypeVar("_Value")


def _frozen(values: Mapping[_Key, _Value]) -> Mapping[_Key, _Value]:
    return MappingProxyType(dict(values))


class Missing(StrEnum):
    """Why a value is not there."""

    NOT_PRESENT = "not_present"
    """The source does not say."""
    NOT_PARSED = "not_parsed"
    """The source may say; the extractor could not tell."""


class Outcome(StrEnum):
    """The verdict of a capture, from exit status and text."""

    PASS = "pass"
    FAIL = "fail"
    UNKNOWN = "unknown"


class Severity(StrEnum):
    """How much an item weighs; the order of the members is the order of weight."""

    CRITICAL = "critical"
    ERROR = "error"
    WARNING = "warning"
    INFO = "info"


SEVERITY_RANK: Mapping[Severity, int] = _frozen({severity: rank for rank, severity in enumerate(Severity)})


class ItemKind(StrEnum):
    """What an item is."""

    FAILING_TEST = "failing_test"
    ERRORING_TEST = "erroring_test"
    SKIPPED_TEST = "skipped_test"
    XFAILED_TEST = "xfailed_test"
    XPASSED_TEST = "xpassed_test"
    RERUN_TEST = "rerun_test"
    FLAKY_TEST = "flaky_test"
    UNFINISHED_TEST = "unfinished_test"
    LOAD_ERROR = "load_error"
    DIAGNOSTIC = "diagnostic"
    HIT = "hit"
    HUNK = "hunk"
    CHANGE = "change"
    COMMIT = "commit"
    STEP = "step"
    EXCEPTION = "exception"
    ROW = "row"
    VALUE = "value"
    TEMPLATE = "template"
    LINE = "line"
    SYMBOL = "symbol"
    BLOB = "blob"
    DISAGREEMENT = "disagreement"


FAILING_KINDS = frozenset(
    {ItemKind.FAILING_TEST, ItemKind.ERRORING_TEST, ItemKind.UNFINISHED_TEST, ItemKind.LOAD_ERROR}
)
"""Kinds that make a test run fail; each is an identity of the census."""

CENSUS_KINDS = FAILING_KINDS | {ItemKind.DIAGNOSTIC, ItemKind.EXCEPTION}
"""Kinds that the complete identity census must name in a failing digest."""


class Precision(StrEnum):
    """How an extractor read its input."""

    FULL = "full"
    """From a machine-readable format."""
    PARTIAL = "partial"
    """From the text the tool prints for people."""
    FALLBACK = "fallback"
    """Only a generic shape was recognised."""


class CoverageReason(StrEnum):
    """Why coverage is not complete, or what must be known about it."""

    COUNT_MISMATCH = "count_mismatch"
    NO_TOTAL = "no_total"
    EARLY_STOP = "early_stop"
    INTERRUPTED = "interrupted"
    TIMED_OUT = "timed_out"
    KILLED = "killed"
    CAPTURE_INCOMPLETE = "capture_incomplete"
    UPSTREAM_CUT = "upstream_cut"
    PARSE_GAP = "parse_gap"
    TOTALS_DISAGREE = "totals_disagree"
    EXIT_STATUS_DISAGREES = "exit_status_disagrees"
    SUMMARY_MISSING = "summary_missing"
    OUTPUT_SUPPRESSED = "output_suppressed"
    MIXED_FAMILIES = "mixed_families"
    TOOL_CRASHED = "tool_crashed"


@dataclass(frozen=True, kw_only=True, slots=True)
class SourceRef:
    """Where a claim comes from, in raw coordinates of one stream."""

    stream: str
    """`stdout`, `stderr`, or a derived artifact's name."""
    first_line: int
    last_line: int
    first_byte: int = 0
    """Excluded from the canonical form: bytes move with volatile text."""
    end_byte: int = 0

    def __post_init__(self) -> None:
        if not 1 <= self.first_line <= self.last_line:
            raise EvidenceError(f"lines {self.first_line}:{self.last_line} of {self.stream}: need 1 <= first <= last")
        if not 0 <= self.first_byte <= self.end_byte:
            raise EvidenceError(f"bytes {self.first_byte}:{self.end_byte} of {self.stream}: need 0 <= first <= end")

    @property
    def line_count(self) -> int:
        """Lines in the region."""
        return self.last_line - self.first_line + 1

    def to_canonical(self) -> dict[str, Any]:
        return {"stream": self.stream, "first_line": self.first_line, "last_line": self.last_line}


@dataclass(frozen=True, kw_only=True, slots=True)
class Location:
    """A place in a file; the path is workspace-relative where it is inside, `<outside>/name` otherwise."""

    file: str
    line: int | Missing = Missing.NOT_PRESENT
    column: int | Missing = Missing.NOT_PRESENT

    def __str__(self) -> str:
        text = self.file
        for part in (self.line, self.column):
            if isinstance(part, Missing):
                break
            text += f":{part}"
        return text


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceItem:
    """One typed finding."""

    id: str
    """`<kind>:<16 hex>`; unique in its graph and stable over reruns. See `item_id`."""
    kind: ItemKind
    severity: Severity
    identity: str
    """Exactly what a user would paste: never cut, masked or re-cased."""
    location: Location | Missing = Missing.NOT_PRESENT
    failure_class: str | Missing = Missing.NOT_PRESENT
    """Exception class, rule code, signal; as printed."""
    summary: str | Missing = Missing.NOT_PRESENT
    """One line, volatile parts masked, at most 200 columns, cut in the middle and marked."""
    source: SourceRef
    """The line or lines that made the claim."""
    detail: SourceRef | Missing = Missing.NOT_PRESENT
    """The larger region behind it: a whole traceback."""
    fields: Mapping[str, Scalar] = field(default_factory=dict)
    """The family's typed extras: `phase`, `attempt`, `worker`, `code`, `member_count`, `occurrence`."""
    volatile: Mapping[str, Scalar] = field(default_factory=dict)
    """Durations, pids, temporary paths: never in the canonical form, identity or default rendering."""

    def __post_init__(self) -> None:
        if not self.identity:
            raise EvidenceError(f"item {self.id}: an identity is never empty")
        object.__setattr__(self, "fields", _frozen(self.fields))
        object.__setattr__(self, "volatile", _frozen(self.volatile))

    @property
    def signature(self) -> tuple[str, str]:
        """Class and summary: items that share it failed the same way."""
        return (str(self.failure_class), str(self.summary))


def item_id(*, family: str, kind: ItemKind, identity: str, phase: str = "", occurrence: int = 1) -> str:
    """The stable id of an item: `<kind>:<16 hex>` over what distinguishes it in its graph."""
    digest = sha256("\x00".join((family, kind, identity, phase, str(occurrence))).encode("utf-8", "surrogatepass"))
    return f"{kind}:{digest.hexdigest()[:16]}"


@dataclass(frozen=True, kw_only=True, slots=True)
class Coverage:
    """What the extractor understood of the bytes, attested where the full set is at hand.

    `complete` is derived here and nowhere else (S3.1). Where the tool prints no total (`expected` is None) it
    follows the rule that the profile states in its docstring, passed as `complete_when_no_total`.
    """

    unit: str
    """`failing_tests`, `diagnostics`, `lines`, …"""
    parsed: int
    expected: int | None
    """From the tool's own totals; None where it printed none."""
    unmatched_lines: int = 0
    total_lines: int = 0
    input_truncated: bool = False
    precision: Precision = Precision.PARTIAL
    reasons: tuple[CoverageReason, ...] = ()
    complete: bool = False

    def __post_init__(self) -> None:
        if min(self.parsed, self.unmatched_lines, self.total_lines, self.expected or 0) < 0:
            raise EvidenceError(f"coverage of {self.unit}: counts are never negative")
        if len(set(self.reasons)) != len(self.reasons):
            raise EvidenceError(f"coverage of {self.unit}: a reason is named once")
        if not self.complete:
            return
        if self.expected is not None and self.parsed != self.expected:
            raise EvidenceError(f"coverage of {self.unit}: {self.parsed} of {self.expected} parsed is not complete")
        if self.input_truncated:
            raise EvidenceError(f"coverage of {self.unit}: truncated input is never complete")
        against = [reason for reason in self.reasons if reason is not CoverageReason.NO_TOTAL]
        if against:
            raise EvidenceError(f"coverage of {self.unit}: {', '.join(against)} speaks against complete")

    @classmethod
    def attest(
        cls,
        *,
        unit: str,
        parsed: int,
        expected: int | None,
        unmatched_lines: int = 0,
        total_lines: int = 0,
        input_truncated: bool = False,
        precision: Precision = Precision.PARTIAL,
        reasons: tuple[CoverageReason, ...] = (),
        complete_when_no_total: bool = False,
    ) -> "Coverage":
        """Coverage with `complete` and the reasons that follow from the counts derived (S3.1).

        A `parsed` below `expected` adds `count_mismatch`, above it `totals_disagree`; an unknown total adds
        `no_total`; truncated input adds `capture_incomplete` unless a more exact reason is given.
        """
        found = list(dict.fromkeys(reasons))

        def add(reason: CoverageReason) -> None:
            if reason not in found:
                found.append(reason)

        if expected is None:
            add(CoverageReason.NO_TOTAL)
        elif parsed < expected:
            add(CoverageReason.COUNT_MISMATCH)
        elif parsed > expected:
            add(CoverageReason.TOTALS_DISAGREE)
        if input_truncated and not {
            CoverageReason.CAPTURE_INCOMPLETE,
            CoverageReason.UPSTREAM_CUT,
            CoverageReason.KILLED,
            CoverageReason.TIMED_OUT,
        } & set(found):
            add(CoverageReason.CAPTURE_INCOMPLETE)
        against = [reason for reason in found if reason is not CoverageReason.NO_TOTAL]
        counted = complete_when_no_total if expected is None else parsed == expected
        return cls(
            unit=unit,
            parsed=parsed,
            expected=expected,
            unmatched_lines=unmatched_lines,
            total_lines=total_lines,
            input_truncated=input_truncated,
            precision=precision,
            reasons=tuple(found),
            complete=counted and not input_truncated and not against,
        )

    def to_canonical(self) -> dict[str, Any]:
        return {
            "unit": self.unit,
            "parsed": self.parsed,
            "expected": self.expected,
            "unmatched_lines": self.unmatched_lines,
            "total_lines": self.total_lines,
            "input_truncated": self.input_truncated,
            "precision": str(self.precision),
            "reasons": [str(reason) for reason in self.reasons],
            "complete": self.complete,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Operation:
    """What was run, as the headline needs it; `argv` is redacted."""

    handle: str
    argv: tuple[str, ...] = ()
    cwd: str = "."
    exit_code: int | None = None
    signal: int | None = None
    ended_by: str = "unknown"
    """`exit`, `signal`, `timeout`, `reader_closed` or `unknown`."""
    streams: Mapping[str, int] = field(default_factory=dict)
    """Stream name -> lines."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "streams", _frozen(self.streams))


@dataclass(frozen=True, kw_only=True, slots=True)
class GraphWarning:
    """Something the reader of a graph should know that is no item."""

    code: str
    source: SourceRef | None
    message: str


class ExcerptRole(StrEnum):
    """Why captured lines travel with a graph."""

    HEAD = "head"
    """First lines of a stream: always shown by text-like families."""
    TAIL = "tail"
    """Last lines of a stream: always shown where the outcome is no pass."""
    STANDING = "standing"
    """A line that stands out: error words in prefix position, a rare template."""
    CONCLUSION = "conclusion"
    """The tool's own concluding lines."""
    MESSAGE = "message"
    """The tool's own message where it could not run: usage error, internal error."""
    DETAIL = "detail"
    """The region behind an item; `item_id` names it."""


@dataclass(frozen=True, slots=True)
class Cut:
    """Columns cut out of a long line: 1-based, `end_col` half-open; with their size in bytes."""

    first_col: int
    end_col: int
    size: int


@dataclass(frozen=True, kw_only=True, slots=True)
class QuotedLine:
    """One captured line, ready to be shown: masked, redacted, control characters visible."""

    number: int
    """Raw line number."""
    text: str
    """The line without its end, up to its first cut."""
    more: tuple[tuple[Cut, str], ...] = ()
    """Each cut with the text that follows it."""
    narrow: "QuotedLine | None" = None
    """The same line cut to fewer columns, for a rendering short of room; None where the line is short."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Excerpt:
    """Captured lines that a rendering may show, in source order; gaps between numbers are gaps in the text."""

    role: ExcerptRole
    source: SourceRef
    lines: tuple[QuotedLine, ...]
    item_id: str = ""
    rank: int = 1
    """For standing lines: 1 error words, 2 rare template."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Artifact:
    """The whole captured text after safety, for the `inline` rung; never in the canonical form."""

    body: str
    """Both streams as one reader sees them, redacted and escaped, otherwise byte for byte."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Segment:
    """One family's part of an output that holds several."""

    source: SourceRef
    family: str
    coverage: Coverage


@dataclass(frozen=True, kw_only=True, slots=True)
class EvidenceGraph:
    """Everything an extractor understood of one capture."""

    family: str
    profile: str
    """`<family>/vN`."""
    outcome: Outcome
    aggregate: Mapping[str, int]
    """The tool's own classes under the tool's own names, in the tool's order; what was counted by us and not
    printed by the tool is named in `counted`."""
    counted: frozenset[str] = frozenset()
    items: tuple[EvidenceItem, ...]
    coverage: Coverage
    operation: Operation
    headline: str = ""
    """A short statement that replaces or precedes the counts: `no tests ran`, `not collected, listing only`."""
    dialect: str = ""
    """The tool that printed the shape, where the text proves it: `ruff`, `eslint`."""
    segments: tuple[Segment, ...] = ()
    warnings: tuple[GraphWarning, ...] = ()
    excerpts: tuple[Excerpt, ...] = ()
    artifact: Artifact | None = None
    raw_tokens: int = 0
    """`tok` of the whole redacted text: what passing the output on would cost. Excluded from the canonical form."""
    masked_tokens: int = 0
    """`tok` of the masked view, by which decisions are made, so that a volatile digit never flips one (S6.3)."""
    stream_bytes: Mapping[str, int] = field(default_factory=dict)
    """Bytes of the masked text by stream, which reruns share: for omissions. Excluded from the canonical form."""

    def __post_init__(self) -> None:
        object.__setattr__(self, "aggregate", _frozen(self.aggregate))
        object.__setattr__(self, "stream_bytes", _frozen(self.stream_bytes))
        seen: set[str] = set()
        for item in self.items:
            if item.id in seen:
                raise EvidenceError(f"{self.family}: two items with id {item.id} ({item.identity})")
            seen.add(item.id)

    @property
    def census(self) -> tuple[EvidenceItem, ...]:
        """Items of the decision unit: what a failing digest must name."""
        return tuple(item for item in self.items if item.kind in CENSUS_KINDS)

    def to_canonical(self) -> dict[str, Any]:
        """Plain data without volatile fields and byte offsets (S3.5)."""
        return {
            "family": self.family,
            "profile": self.profile,
            "outcome": str(self.outcome),
            "aggregate": dict(self.aggregate),
            "counted": sorted(self.counted),
            "headline": self.headline,
            "dialect": self.dialect,
            "items": [_item(item) for item in self.items],
            "coverage": self.coverage.to_canonical(),
            "operation": {
                "handle": self.operation.handle,
                "argv": list(self.operation.argv),
                "cwd": self.operation.cwd,
                "exit_code": self.operation.exit_code,
                "signal": self.operation.signal,
                "ended_by": self.operation.ended_by,
                "streams": dict(self.operation.streams),
            },
            "segments": [
                {"source": s.source.to_canonical(), "family": s.family, "coverage": s.coverage.to_canonical()}
                for s in self.segments
            ],
            "warnings": [
                {"code": w.code, "source": w.source.to_canonical() if w.source else None, "message": w.message}
                for w in self.warnings
            ],
            "excerpts": [
                {
                    "role": str(e.role),
                    "rank": e.rank,
                    "item_id": e.item_id,
                    "source": e.source.to_canonical(),
                    "lines": [_quoted(line) for line in e.lines],
                }
                for e in self.excerpts
            ],
        }

    @property
    def graph_id(self) -> str:
        """SHA-256 of the canonical form, 64 hex digits."""
        return sha256(canonical_json(self.to_canonical())).hexdigest()


def _value(value: Any) -> Any:
    if isinstance(value, Missing):
        return {"missing": str(value)}
    if isinstance(value, Location):
        return {"file": value.file, "line": _value(value.line), "column": _value(value.column)}
    if isinstance(value, SourceRef):
        return value.to_canonical()
    return value


def _quoted(line: QuotedLine) -> list[Any]:
    return [line.number, line.text, [[cut.first_col, cut.end_col, text] for cut, text in line.more]]


def _item(item: EvidenceItem) -> dict[str, Any]:
    return {
        "id": item.id,
        "kind": str(item.kind),
        "severity": str(item.severity),
        "identity": item.identity,
        "location": _value(item.location),
        "failure_class": _value(item.failure_class),
        "summary": _value(item.summary),
        "source": item.source.to_canonical(),
        "detail": _value(item.detail),
        "fields": dict(item.fields),
    }


class ClassState(StrEnum):
    """How a required fact class left the selection seam."""

    PRESENT = "present"
    STORED = "stored"
    """Present only as a stored artifact behind an address."""
    ABSENT = "absent"
    UNVERIFIABLE = "unverifiable"


@dataclass(frozen=True, kw_only=True, slots=True)
class FactClassState:
    """One fact class over the selection: n of m items carry it."""

    state: ClassState
    with_fact: int
    of: int
    missing_ids: tuple[str, ...] = ()
    """The first eight."""
    missing_count: int = 0

    def to_canonical(self) -> dict[str, Any]:
        return {
            "state": str(self.state),
            "with_fact": self.with_fact,
            "of": self.of,
            "missing_ids": list(self.missing_ids),
            "missing_count": self.missing_count,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class CoverageReceipt:
    """What a digest delivered, computed at the selection seam over typed facts, never from rendered text."""

    graph_id: str
    contract_id: str
    plan_id: str
    epoch_id: str
    items_total: int
    items_named: int
    items_summarised: int
    items_detailed: int
    items_addressable: int
    required_total: int
    required_present: int
    required_stored: int
    classes: Mapping[str, FactClassState]
    omitted_items: int
    omitted_lines: int
    omitted_bytes: int
    complete: bool
    input_truncated: bool
    precision: Precision
    reasons: tuple[CoverageReason, ...]

    def __post_init__(self) -> None:
        object.__setattr__(self, "classes", _frozen(self.classes))

    @property
    def required_fraction(self) -> float:
        """(present + stored) / total; 1 when nothing is required."""
        if self.required_total == 0:
            return 1.0
        return (self.required_present + self.required_stored) / self.required_total

    def to_canonical(self) -> dict[str, Any]:
        return {
            "graph_id": self.graph_id,
            "contract_id": self.contract_id,
            "plan_id": self.plan_id,
            "epoch_id": self.epoch_id,
            "items_total": self.items_total,
            "items_named": self.items_named,
            "items_summarised": self.items_summarised,
            "items_detailed": self.items_detailed,
            "items_addressable": self.items_addressable,
            "required_total": self.required_total,
            "required_present": self.required_present,
            "required_stored": self.required_stored,
            "required_fraction": self.required_fraction,
            "classes": {name: state.to_canonical() for name, state in self.classes.items()},
            "omitted_items": self.omitted_items,
            "omitted_lines": self.omitted_lines,
            "omitted_bytes": self.omitted_bytes,
            "complete": self.complete,
            "input_truncated": self.input_truncated,
            "precision": str(self.precision),
            "reasons": [str(reason) for reason in self.reasons],
        }
