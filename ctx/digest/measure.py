"""How large each step of the ladder would be: the sizes a resolver decides by (S6.3).

Steps are rendered by the renderer itself, so the digest has the size that the plan measured.
"""

from ctx.contracts.model import Contract, FactClass
from ctx.digest.evidence_render import compose_text
from ctx.evidence import EvidenceGraph, ExcerptRole, ItemKind
from ctx.policy.resolve import DENSE_STEPS, FAIL_STEPS, FLOOD_STEPS, PASS_STEPS, step_plan
from ctx.text import tok

LEAST_ROW = 4
"""No row of a census takes fewer tok; so many rows alone can exceed a ceiling without being rendered."""


def measure(
    graph: EvidenceGraph, contract: Contract, *, addresses: bool = True, focus: tuple[str, ...] = ()
) -> dict[str, int]:
    """Step -> size in tok, `required` included; pure.

    A step that cannot fit the ceiling, by the number of its rows alone, has that lower bound in place of its size.
    """

    def size(step: str, details: int = 1) -> int:
        plan = step_plan(step, token_budget=contract.ceiling_tokens, addresses=addresses, details=details, focus=focus)
        return tok(compose_text(graph, contract, plan))

    sizes: dict[str, int] = {}
    rows = len(graph.census)
    if rows * LEAST_ROW > contract.ceiling_tokens:
        sizes.update(dict.fromkeys((*PASS_STEPS, *FAIL_STEPS, *DENSE_STEPS), rows * LEAST_ROW))
    else:
        for step in (*PASS_STEPS, *FAIL_STEPS, *DENSE_STEPS):
            sizes[step] = size(step)
        details = sum(excerpt.role is ExcerptRole.DETAIL for excerpt in graph.excerpts)
        for count in range(2, details + 1):
            sizes[f"f1.{count}"] = size("f1", count)
            if sizes[f"f1.{count}"] > contract.ceiling_tokens:
                break
    if min(sizes[step] for step in DENSE_STEPS) > contract.ceiling_tokens:
        for step in FLOOD_STEPS:
            sizes[step] = size(step)
    sizes["required"] = _required(graph, contract, sizes)
    return sizes


def _required(graph: EvidenceGraph, contract: Contract, sizes: dict[str, int]) -> int:
    """The smallest rendering with every required class; identities stay verbatim while that fits the ceiling."""
    required = contract.rules(graph.outcome).required
    needs_rows = (FactClass.COMPLETE_IDENTITY_CENSUS in required and bool(graph.census)) or (
        FactClass.STANDING_LINES in required and any(item.kind is ItemKind.LINE for item in graph.items)
    )
    if not needs_rows:
        return min(sizes["p2"], sizes["f3"])
    verbatim = min(sizes[step] for step in ("f3", "d1", "d2"))
    return verbatim if verbatim <= contract.ceiling_tokens else min(sizes["d3"], sizes["d4"])
