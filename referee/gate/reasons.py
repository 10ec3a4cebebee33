"""The closed vocabulary of verdicts and reasons (S15.7)."""

from dataclasses import dataclass
from enum import StrEnum


class Verdict(StrEnum):
    """What the gate says."""

    PROMOTE = "promote"
    HOLD = "hold"
    REJECT = "reject"


class ReasonCode(StrEnum):
    """Why; the first nine reject, the next ten hold, the last alone promotes."""

    FALSE_CLAIM = "false_claim"
    UNDECLARED_OMISSION = "undeclared_omission"
    UNRESOLVABLE_ADDRESS = "unresolvable_address"
    CATASTROPHIC_LOSS = "catastrophic_loss"
    NONDETERMINISTIC_DIGEST = "nondeterministic_digest"
    FAMILY_REVERSAL = "family_reversal"
    INFERIOR_SUCCESS = "inferior_success"
    INFERIOR_PRESERVATION = "inferior_preservation"
    SMALL_OUTPUT_OVERHEAD = "small_output_overhead"
    INCONCLUSIVE = "inconclusive"
    TOO_FEW_CLUSTERS = "too_few_clusters"
    EXPLORATORY = "exploratory"
    UNCOMMITTED_PROTOCOL = "uncommitted_protocol"
    PROTOCOL_CHANGED = "protocol_changed"
    NO_GAIN = "no_gain"
    FAMILY_MISSING = "family_missing"
    ARM_ERRORS = "arm_errors"
    CONTROL_FAILED = "control_failed"
    SUBJECT_MISMATCH = "subject_mismatch"
    ALL_RULES_MET = "all_rules_met"


REJECTING = frozenset(list(ReasonCode)[:9])
HOLDING = frozenset(list(ReasonCode)[9:19])


@dataclass(frozen=True, kw_only=True, slots=True)
class Reason:
    """One reason with the cases it stands on."""

    code: ReasonCode
    family: str = ""
    """Empty: over all families."""
    cases: tuple[str, ...] = ()
    detail: str = ""

    def to_canonical(self) -> dict[str, object]:
        """Plain data."""
        return {"code": str(self.code), "family": self.family, "cases": list(self.cases), "detail": self.detail}


@dataclass(frozen=True, kw_only=True, slots=True)
class Decision:
    """Verdict and every reason that applies."""

    verdict: Verdict
    reasons: tuple[Reason, ...]

    def to_canonical(self) -> dict[str, object]:
        """Plain data."""
        return {"verdict": str(self.verdict), "reasons": [reason.to_canonical() for reason in self.reasons]}
