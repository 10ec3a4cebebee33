"""The JSON documents that programs rely on (S7.16)."""

from typing import Any

from ctx.digest.rendered import Rendered


def digest_document(rendered: Rendered) -> dict[str, Any]:
    """What `--json` prints of a digest: the same facts, the same redaction."""
    graph = rendered.graph
    return {
        "handle": rendered.meta.handle,
        "digest": rendered.text,
        "digest_tokens": rendered.digest_tokens,
        "raw_tokens": rendered.raw_tokens,
        "family": rendered.family,
        "profile": rendered.meta.profile,
        "rung": rendered.meta.rung,
        "plan_id": rendered.meta.plan_id,
        "outcome": str(graph.outcome),
        "aggregate": dict(graph.aggregate),
        "coverage": graph.coverage.to_canonical(),
        "coverage_receipt": rendered.receipt.to_canonical(),
        "addresses": list(rendered.addresses),
        "plan": rendered.plan.to_canonical(),
        "meta": rendered.meta.to_canonical(),
    }
