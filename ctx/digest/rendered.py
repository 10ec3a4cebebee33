"""What a rendering is: the text, the plan it executed, the receipt of what it delivered."""

from dataclasses import dataclass, field
from typing import Any

from ctx.digest.base import Span
from ctx.evidence import CoverageReceipt, EvidenceGraph
from ctx.policy.plan import DeliveryPlan


@dataclass(frozen=True, kw_only=True, slots=True)
class DigestMeta:
    """How a digest came about (S3.9)."""

    profile: str
    """Version of the profile, as `meta_profile_version` stamped it."""
    matched: str
    """Reason of the detection."""
    declined: tuple[tuple[str, str], ...]
    """Profiles that declined before it, with their reasons."""
    handle: str
    """64 hex digits."""
    rung: str
    plan_id: str
    contract_id: str
    epoch_id: str

    def to_canonical(self) -> dict[str, Any]:
        """Plain data."""
        return {
            "profile": self.profile,
            "matched": self.matched,
            "declined": [{"profile": name, "reason": reason} for name, reason in self.declined],
            "handle": self.handle,
            "rung": self.rung,
            "plan_id": self.plan_id,
            "contract_id": self.contract_id,
            "epoch_id": self.epoch_id,
        }


@dataclass(frozen=True, kw_only=True, slots=True)
class Body:
    """The text of one rendering and what it prints and selects; made by the pure renderer."""

    text: str
    addresses: tuple[str, ...]
    """Every address the text prints, with its selector, in order, each once."""
    spans: tuple[Span, ...]
    """Regions behind the `--span` tokens that the text prints."""
    receipt: CoverageReceipt
    census_text: str = ""
    """The stored census, one line an identity with location, class and region; empty unless the text points at it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Rendered:
    """A digest with everything that made it."""

    text: str
    receipt: CoverageReceipt
    plan: DeliveryPlan
    meta: DigestMeta
    graph: EvidenceGraph
    addresses: tuple[str, ...]
    spans: tuple[Span, ...]
    census_text: str
    digest_tokens: int
    """In tok."""
    raw_tokens: int
    """In tok of the redacted text: what passing the output on would have cost."""
    family: str
    content_classes: tuple[str, ...] = ()
    host_paths: tuple[str, ...] = ()
    """With the classes above: what masked this capture, so that columns of masked text can be found again."""
    sizes: dict[str, int] = field(default_factory=dict)
    """Steps that the resolver weighed, in tok."""
