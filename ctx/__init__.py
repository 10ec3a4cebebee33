"""ctx: digests of command output in which every omission is declared and every omitted byte has an address.

The public names, loaded on first use; everything else is private to the package.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from ctx.api import digest_output
    from ctx.contracts.load import load_contract
    from ctx.contracts.model import Contract
    from ctx.digest.base import Profile
    from ctx.digest.lintprof import LintProfile
    from ctx.digest.pytestprof import PytestProfile
    from ctx.digest.rendered import Rendered
    from ctx.digest.textprof import TextProfile
    from ctx.errors import CtxError
    from ctx.evidence import Coverage, CoverageReceipt, EvidenceGraph, EvidenceItem
    from ctx.policy.epoch import Epoch, active_epoch
    from ctx.retrieval.reply import Reply
    from ctx.store import Store

_HOMES = {
    "Contract": "ctx.contracts.model",
    "Coverage": "ctx.evidence",
    "CoverageReceipt": "ctx.evidence",
    "CtxError": "ctx.errors",
    "Epoch": "ctx.policy.epoch",
    "EvidenceGraph": "ctx.evidence",
    "EvidenceItem": "ctx.evidence",
    "LintProfile": "ctx.digest.lintprof",
    "Profile": "ctx.digest.base",
    "PytestProfile": "ctx.digest.pytestprof",
    "Rendered": "ctx.digest.rendered",
    "Reply": "ctx.retrieval.reply",
    "Store": "ctx.store",
    "TextProfile": "ctx.digest.textprof",
    "active_epoch": "ctx.policy.epoch",
    "digest_output": "ctx.api",
    "load_contract": "ctx.contracts.load",
}

__all__ = [
    "Contract",
    "Coverage",
    "CoverageReceipt",
    "CtxError",
    "Epoch",
    "EvidenceGraph",
    "EvidenceItem",
    "LintProfile",
    "Profile",
    "PytestProfile",
    "Rendered",
    "Reply",
    "Store",
    "TextProfile",
    "active_epoch",
    "digest_output",
    "load_contract",
]


def __getattr__(name: str) -> object:
    if name not in _HOMES:
        raise AttributeError(f"module 'ctx' has no attribute {name!r}")
    from importlib import import_module

    return getattr(import_module(_HOMES[name]), name)
