"""The delivery decision as a value (S3.7, S3.8); nothing here decides."""

from collections.abc import Mapping
from dataclasses import dataclass, fields
from enum import StrEnum
from types import MappingProxyType
from typing import Any

from ctx.canonical import content_id
from ctx.contracts.model import Rung
from ctx.errors import EvidenceError


class Census(StrEnum):
    """How the identities are printed."""

    FULL = "full"
    GROUPED = "grouped"
    """Heading and row together are the identity, whole."""
    STORED = "stored"
    """Behind one address that lists them all."""


class Summaries(StrEnum):
    """How summaries are printed."""

    EACH = "each"
    SHARED = "shared"
    CLASS = "class"
    NONE = "none"


class SessionMove(StrEnum):
    """What this reader's behaviour changed."""

    NONE = "none"
    RICHER = "richer"
    LEANER = "leaner"


class PlanReason(StrEnum):
    """Why a plan is what it is (S6.6)."""

    RAW_SMALL = "raw_small"
    NOT_SMALLER_THAN_RAW = "not_smaller_than_raw"
    OUTCOME_PASS = "outcome_pass"
    OUTCOME_FAIL = "outcome_fail"
    OUTCOME_UNKNOWN = "outcome_unknown"
    FAILURE_BUDGET = "failure_budget"
    REQUIRED_OVER_BUDGET = "required_over_budget"
    EVIDENCE_FLOOR = "evidence_floor"
    HARD_CEILING = "hard_ceiling"
    SHARED_SUMMARIES = "shared_summaries"
    CLASSES_ONLY = "classes_only"
    GROUPED_CENSUS = "grouped_census"
    CENSUS_OVER_CEILING = "census_over_ceiling"
    SESSION_RICHER = "session_richer"
    SESSION_LEANER = "session_leaner"
    EPOCH_DEFAULT = "epoch_default"
    PRECISION_FALLBACK = "precision_fallback"
    NOT_STORED = "not_stored"


@dataclass(frozen=True, kw_only=True, slots=True)
class DeliveryPlan:
    """What a renderer executes; `plan_id` covers everything but the reasons."""

    rung: Rung
    inline_items: int = 0
    """Items printed with detail."""
    census: Census = Census.FULL
    summaries: Summaries = Summaries.EACH
    detail_lines: int = 0
    """Lines of detail an item may take; 0 prints none."""
    stderr_lines: int = 0
    """Lines of the stderr windows."""
    context_lines: int = 0
    """Lines of the stdout windows."""
    token_budget: int
    """In tok."""
    focus: tuple[str, ...] = ()
    """Orders detail, nothing else."""
    addresses: bool = True
    """False only when nothing was stored: an address is printed only if this reader can redeem it."""
    session_move: SessionMove = SessionMove.NONE
    reasons: tuple[PlanReason, ...] = ()

    def __post_init__(self) -> None:
        if self.token_budget <= 0:
            raise EvidenceError(f"plan: token_budget {self.token_budget} is not a positive number of tok")

    def to_canonical(self) -> dict[str, Any]:
        """Plain data with `plan_id` and reasons."""
        return {**self._decision(), "reasons": [str(r) for r in self.reasons], "plan_id": self.plan_id}

    def _decision(self) -> dict[str, Any]:
        decision: dict[str, Any] = {}
        for field in fields(self):
            if field.name == "reasons":
                continue
            value = getattr(self, field.name)
            decision[field.name] = list(value) if isinstance(value, tuple) else value
        return decision

    @property
    def plan_id(self) -> str:
        """SHA-256 over everything but the reasons, 64 hex digits."""
        return content_id(self._decision())


@dataclass(frozen=True, kw_only=True, slots=True)
class Bounds:
    """What a resolver may not exceed, and the sizes it decides by; all in tok of the masked, redacted view."""

    raw_tokens: int
    sizes: Mapping[str, int]
    """Step of S6.3 (`p1`, `f1`, …) -> tok; `required` is the smallest rendering with every required class."""
    floor_tokens: int
    ceiling_tokens: int
    stored: bool = True
    """This reader can redeem addresses."""
    safety_version: str = "safety/v1"

    def __post_init__(self) -> None:
        if not 0 < self.floor_tokens <= self.ceiling_tokens:
            raise EvidenceError(f"bounds: floor {self.floor_tokens} and ceiling {self.ceiling_tokens} are no bounds")
        if min((self.raw_tokens, *self.sizes.values())) < 0:
            raise EvidenceError("bounds: a size is never negative")
        object.__setattr__(self, "sizes", MappingProxyType(dict(self.sizes)))
