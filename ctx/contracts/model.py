"""What a contract is: the facts that may never leave a digest, those that give way, and those behind an address."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from types import MappingProxyType

from ctx.canonical import VolatileClass
from ctx.evidence import Outcome


class Rung(StrEnum):
    """How much of the evidence a digest carries, best first."""

    INLINE = "inline"
    PASS_SUMMARY = "pass_summary"
    FAIL_CENSUS = "fail_census"
    DENSE = "dense"
    FLOOD = "flood"


SCHEMA = "ctx.evidence-contract/v1"
GENERIC = "generic"
LADDER = (Rung.PASS_SUMMARY, Rung.FAIL_CENSUS, Rung.DENSE, Rung.FLOOD)
"""Rungs a contract may list, each losing detail before identity; `inline` is implied."""


class FactClass(StrEnum):
    """A class of facts that a contract can place in a tier (S4.3)."""

    AGGREGATE_COUNTS = "aggregate_counts"
    COMPLETE_IDENTITY_CENSUS = "complete_identity_census"
    LOCATION = "location"
    FAILURE_CLASS = "failure_class"
    ONE_LINE_SUMMARY = "one_line_summary"
    ROOT_DETAIL = "root_detail"
    FULL_TRACEBACK = "full_traceback"
    STDOUT = "stdout"
    STDERR = "stderr"
    FULL_TEXT = "full_text"
    CONCLUSION = "conclusion"
    HEADER = "header"
    ROW_COUNT = "row_count"
    SHAPE = "shape"
    PARSE_STATE = "parse_state"
    GROUP_TOTALS = "group_totals"
    STANDING_LINES = "standing_lines"
    SIGNATURES = "signatures"
    CONTENT_HASH = "content_hash"
    SIZE = "size"
    MEDIA_TYPE = "media_type"
    COVERAGE_ATTESTATION = "coverage_attestation"
    OMISSION_ADDRESS = "omission_address"


class LossSeverity(StrEnum):
    """What losing a class costs the reader; a catastrophic one is compacted, never dropped."""

    CATASTROPHIC = "catastrophic"
    MAJOR = "major"
    MINOR = "minor"


class StableOrder(StrEnum):
    """The order in which items are printed."""

    OCCURRENCE = "occurrence"
    SEVERITY = "severity"
    FILE = "file"
    RANK = "rank"


_TESTS = frozenset({"pytest", "testrun"})
_ITEMS = _TESTS | {"lint", "search", "diff", "vcs", "build", "trace", "table", "json", "log", "source", "binary"}
_TEXTUAL = frozenset({"text", "generic", "log", "build"})
_COUNTED = _ITEMS - {"binary"}

BUILDABLE: Mapping[FactClass, frozenset[str] | None] = MappingProxyType(
    {
        FactClass.AGGREGATE_COUNTS: _COUNTED,
        FactClass.COMPLETE_IDENTITY_CENSUS: _ITEMS,
        FactClass.LOCATION: _TESTS | {"lint", "search", "diff", "build", "trace", "source"},
        FactClass.FAILURE_CLASS: _TESTS | {"lint", "build", "trace"},
        FactClass.ONE_LINE_SUMMARY: None,
        FactClass.ROOT_DETAIL: _TESTS | {"lint", "build", "trace", "diff"},
        FactClass.FULL_TRACEBACK: None,
        FactClass.STDOUT: None,
        FactClass.STDERR: None,
        FactClass.FULL_TEXT: None,
        FactClass.CONCLUSION: _TEXTUAL | _TESTS | {"lint", "trace", "vcs"},
        FactClass.HEADER: frozenset({"table"}),
        FactClass.ROW_COUNT: frozenset({"table"}),
        FactClass.SHAPE: frozenset({"json"}),
        FactClass.PARSE_STATE: frozenset({"json"}),
        FactClass.GROUP_TOTALS: frozenset({"search", "lint", "log"}),
        FactClass.STANDING_LINES: _TEXTUAL,
        FactClass.SIGNATURES: frozenset({"source"}),
        FactClass.CONTENT_HASH: frozenset({"binary"}),
        FactClass.SIZE: frozenset({"binary"}),
        FactClass.MEDIA_TYPE: frozenset({"binary"}),
        FactClass.COVERAGE_ATTESTATION: None,
        FactClass.OMISSION_ADDRESS: None,
    }
)
"""Built-in families whose extractor can build a class; None: every family. Families of third parties are not listed
and may require any class but `complete_identity_census` without an extractor, which is refused when applied."""

BUILT_IN_FAMILIES = _ITEMS | _TEXTUAL


def buildable(fact_class: FactClass, family: str) -> bool:
    """Whether an extractor of `family` can build `fact_class`."""
    families = BUILDABLE[fact_class]
    if family == GENERIC and fact_class is FactClass.COMPLETE_IDENTITY_CENSUS:
        return False
    return families is None or family in families or family not in BUILT_IN_FAMILIES


@dataclass(frozen=True, kw_only=True, slots=True)
class OutcomeRules:
    """The three tiers of one outcome."""

    required: tuple[FactClass, ...] = ()
    """May not leave the digest."""
    preferred: tuple[FactClass, ...] = ()
    """Gives way under pressure, last listed first."""
    retrievable: tuple[FactClass, ...] = ()
    """May leave when an exact address stays."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Contract:
    """One family's evidence contract, validated when loaded."""

    family: str
    profile: str
    decision_unit: str
    question: str
    unacceptable: str
    outcomes: Mapping[str, OutcomeRules]
    """`fail`, `pass`, `default`; `default` is always there."""
    severities: Mapping[FactClass, LossSeverity] = field(default_factory=dict)
    content_classes: frozenset[VolatileClass] = frozenset()
    ladder: tuple[Rung, ...] = LADDER
    stable_order: StableOrder = StableOrder.OCCURRENCE
    floor_tokens: int = 128
    """In tok."""
    ceiling_tokens: int = 4000
    """In tok; no epoch, session or flag raises it."""
    contract_id: str = ""
    """SHA-256 of the parsed document in canonical JSON, 64 hex digits."""

    def rules(self, outcome: Outcome | str) -> OutcomeRules:
        """The rules of an outcome; unknown ones and absent tables use `default`."""
        return self.outcomes.get(str(outcome), self.outcomes["default"])

    def required(self, outcome: Outcome | str) -> tuple[str, ...]:
        """Names of the required classes of an outcome."""
        return tuple(str(fact_class) for fact_class in self.rules(outcome).required)

    def severity(self, fact_class: FactClass | str) -> LossSeverity:
        """What losing a class costs; `minor` where the contract does not say."""
        return self.severities.get(FactClass(fact_class), LossSeverity.MINOR)
