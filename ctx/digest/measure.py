"""How large each step of the ladder would be: the sizes a resolver decides by (S6.3).

Steps are rendered by the renderer itself, so the digest has the size that the plan measured.
"""

from ctx.contracts.model import Contract
from ctx.digest.evidence_render import compose_measured
from ctx.digest.rows import SESSION_NOTES
from ctx.evidence import EvidenceGraph, ExcerptRole
from ctx.policy.plan import SessionMove
from ctx.policy.resolve import DENSE_STEPS, FAIL_STEPS, FLOOD_STEPS, GROUPED_STEPS, PASS_STEPS, step_plan, steps_of
from ctx.text import tok

LEAST_ROW = 4
"""No row of a census takes fewer tok; so many rows alone can exceed a ceiling without being rendered."""


def measure(
    graph: EvidenceGraph, contract: Contract, *, addresses: bool = True, focus: tuple[str, ...] = ()
) -> dict[str, int]:
    """Step -> size in tok; pure. `required` is the smallest rendering with every required class, `session` the line
    that announces a move.

    A step that cannot fit the ceiling by the number of its rows alone has that lower bound in place of its size; flood
    steps are measured where nothing else fits, up to the first that does. A step that loses a required class which
    another one keeps has a size above the ceiling, so that no budget chooses it.
    """
    ceiling = contract.ceiling_tokens
    lost: dict[str, int] = {}

    def size(step: str, details: int = 1) -> int:
        plan = step_plan(step, token_budget=ceiling, addresses=addresses, details=details, focus=focus)
        text, classes = compose_measured(graph, contract, plan)
        lost[step] = len(classes)
        return tok(text)

    sizes: dict[str, int] = {}
    rows = len(graph.census)
    if rows * LEAST_ROW > ceiling:
        sizes.update(dict.fromkeys((*PASS_STEPS, *FAIL_STEPS, *DENSE_STEPS), rows * LEAST_ROW))
    else:
        for step in (*PASS_STEPS, *FAIL_STEPS, *DENSE_STEPS):
            sizes[step] = size(step)
        details = sum(excerpt.role is ExcerptRole.DETAIL for excerpt in graph.excerpts)
        for count in range(2, details + 1):
            sizes[f"f1.{count}"] = size("f1", count)
            if sizes[f"f1.{count}"] > ceiling:
                break
    allowed = steps_of(graph, contract)
    if not any(sizes[step] <= ceiling and lost[step] == 0 for step in allowed):
        for step in FLOOD_STEPS:
            sizes[step] = size(step)
            if sizes[step] <= ceiling:
                break
    _refuse_lossy(sizes, lost, (*allowed, *FLOOD_STEPS), ceiling)
    sizes["required"] = _required(sizes, allowed, ceiling)
    sizes["session"] = max(tok(SESSION_NOTES[move] + "\n") for move in SESSION_NOTES if move is not SessionMove.NONE)
    return sizes


def _refuse_lossy(sizes: dict[str, int], lost: dict[str, int], steps: tuple[str, ...], ceiling: int) -> None:
    """Lift the steps that lose more required classes than the best that fits above every budget."""
    fitting = [lost[step] for step in steps if step in lost and sizes[step] <= ceiling]
    if not fitting:
        return
    for step in steps:
        if lost.get(step, 0) > min(fitting) and step not in FLOOD_STEPS:
            sizes[step] = max(sizes[step], ceiling + 1)


def _required(sizes: dict[str, int], allowed: tuple[str, ...], ceiling: int) -> int:
    """The smallest rendering with every required class; identities stay verbatim while that fits the ceiling."""
    verbatim = min((sizes[step] for step in allowed if step not in GROUPED_STEPS), default=ceiling + 1)
    if verbatim <= ceiling:
        return verbatim
    return min((sizes[step] for step in allowed), default=verbatim)
