"""What this reader did with earlier digests, as a value (S12.3); the resolver may move a plan by it, nothing else."""

from dataclasses import dataclass
from enum import StrEnum


class SessionState(StrEnum):
    """State of one family in one session."""

    NORMAL = "normal"
    RICHER = "richer"
    LEANER = "leaner"


@dataclass(frozen=True, kw_only=True, slots=True)
class SessionSummary:
    """Counts of confirmed observations and the state they led to; censored ones are not counted."""

    windows: int = 0
    followed: int = 0
    landed: int = 0
    rerun_same: int = 0
    rerun_sliced: int = 0
    narrowed: int = 0
    state: SessionState = SessionState.NORMAL
    entered_at_digest: int = 0


NO_SESSION = SessionSummary()
"""Without a session the plan is the epoch's."""
