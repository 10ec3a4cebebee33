"""The null plan: the captured text itself, byte for byte after safety (S6.4, S7.6).

Most outputs are small and take this way, so it stands apart from the renderer of evidence and loads nothing of it.
"""

from ctx.contracts.model import Contract
from ctx.contracts.selection import Selection, build_receipt
from ctx.digest.rendered import Body
from ctx.evidence import EvidenceGraph
from ctx.policy.plan import DeliveryPlan
from ctx.safety.control import GUTTER, quotes_structure


def inline_text(graph: EvidenceGraph) -> str:
    """The artifact; only a line that imitates a structural line of ours gets the gutter."""
    assert graph.artifact is not None, "a graph that may be inlined carries its artifact"
    body = graph.artifact.body
    if not any(quotes_structure(line) for line in body.split("\n")):
        return body
    return "\n".join(GUTTER + line if quotes_structure(line) else line for line in body.split("\n"))


def render_inline(graph: EvidenceGraph, contract: Contract, plan: DeliveryPlan, *, epoch_id: str = "") -> Body:
    """The whole output: nothing left out, no header, footer or address."""
    selection = Selection(aggregate=bool(graph.aggregate), inline=True)
    receipt = build_receipt(graph, contract, selection, plan_id=plan.plan_id, epoch_id=epoch_id)
    return Body(text=inline_text(graph), addresses=(), spans=(), receipt=receipt)
