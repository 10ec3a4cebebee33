"""The resolver: the one place where delivery is decided (S6).

`resolve` is a pure function of graph, contract, bounds, session and epoch. The ladder loses detail before identity:

    inline -> pass_summary p1 p2 -> fail_census f1 f2 f3 -> dense d1 d2 d3 d4 -> flood x1 … x5

Contracts list root detail before the one-line summaries, so summaries give way first: the dense and flood steps keep a
short detail of the root, and only the last ones drop it.

Where this differs from the table of the specification: a required census is measured with identities verbatim, so
d3 (identities under their file) is chosen only where verbatim rows exceed the ceiling. An identity that can be pasted
is worth more than the tokens its repeated file name takes.
"""

from ctx.contracts.model import GENERIC, Contract, FactClass, Rung
from ctx.errors import EvidenceError
from ctx.evidence import EvidenceGraph, Outcome, Precision
from ctx.policy.epoch import Epoch
from ctx.policy.plan import Bounds, Census, DeliveryPlan, PlanReason, SessionMove, Summaries
from ctx.policy.session import NO_SESSION, SessionState, SessionSummary

PASS_STEPS = ("p1", "p2")
FAIL_STEPS = ("f1", "f2", "f3")
DENSE_STEPS = ("d1", "d2", "d3", "d4")
GROUPED_STEPS = ("d3", "d4")
FLOOD_STEPS = ("x1", "x2", "x3", "x4", "x5")
DETAIL_LINES = 60
SHORT_DETAIL_LINES = 12
ROOT_DETAIL_LINES = 8
FLOOD_CONTEXT = {"x1": 20, "x2": 8, "x3": 3, "x4": 1, "x5": 0}
"""Lines of each end that a flood shows; x5 prints totals, coverage and the address of the census alone."""
DENSE_CONTEXT = {"d1": 20, "d2": 8, "d3": 5, "d4": 3}
"""Lines of each end that a dense step shows of a text that nothing else was understood of."""

_DETAIL_LINES = {
    "f1": DETAIL_LINES,
    "f2": SHORT_DETAIL_LINES,
    **dict.fromkeys(("d1", "d2", "d3", "x1", "x2"), ROOT_DETAIL_LINES),
}
_STEP_RUNG: dict[str, Rung] = {
    **dict.fromkeys(PASS_STEPS, Rung.PASS_SUMMARY),
    **dict.fromkeys(FAIL_STEPS, Rung.FAIL_CENSUS),
    **dict.fromkeys(DENSE_STEPS, Rung.DENSE),
    **dict.fromkeys(FLOOD_STEPS, Rung.FLOOD),
}
_SUMMARIES = {
    "p2": Summaries.SHARED,
    "d1": Summaries.SHARED,
    "d2": Summaries.CLASS,
    "d3": Summaries.NONE,
    "d4": Summaries.NONE,
    **dict.fromkeys(FLOOD_STEPS, Summaries.NONE),
}
_STEP_REASON = {
    "d1": PlanReason.SHARED_SUMMARIES,
    "d2": PlanReason.CLASSES_ONLY,
    "d3": PlanReason.GROUPED_CENSUS,
    "d4": PlanReason.GROUPED_CENSUS,
    **dict.fromkeys(FLOOD_STEPS, PlanReason.CENSUS_OVER_CEILING),
}


def step_plan(
    step: str,
    *,
    token_budget: int,
    addresses: bool = True,
    details: int = 1,
    focus: tuple[str, ...] = (),
    session_move: SessionMove = SessionMove.NONE,
    reasons: tuple[PlanReason, ...] = (),
) -> DeliveryPlan:
    """The plan that a step of the ladder stands for; `details` counts for f1 alone."""
    census = Census.GROUPED if step in GROUPED_STEPS else Census.STORED if step in FLOOD_STEPS else Census.FULL
    return DeliveryPlan(
        rung=_STEP_RUNG[step],
        inline_items=details if step == "f1" else int(step in _DETAIL_LINES),
        census=census,
        summaries=_SUMMARIES.get(step, Summaries.EACH),
        detail_lines=_DETAIL_LINES.get(step, 0),
        context_lines={**DENSE_CONTEXT, **FLOOD_CONTEXT}.get(step, 1 if step in ("p1", "f1") else 0),
        token_budget=token_budget,
        addresses=addresses,
        focus=focus,
        session_move=session_move,
        reasons=reasons,
    )


def resolve(
    graph: EvidenceGraph,
    contract: Contract,
    bounds: Bounds,
    session: SessionSummary = NO_SESSION,
    epoch: Epoch | None = None,
    focus: tuple[str, ...] = (),
) -> DeliveryPlan:
    """The delivery plan of a graph.

    Raises:
        EvidenceError: The inputs do not belong together: no epoch, another family's contract, an impossible bound.
    """
    if epoch is None:
        raise EvidenceError("resolve: needs exactly one epoch")
    if contract.family not in (graph.family, GENERIC):
        raise EvidenceError(f"resolve: a graph of {graph.family} and the contract of {contract.family}")
    if FactClass.COMPLETE_IDENTITY_CENSUS in contract.rules(graph.outcome).required and contract.family == GENERIC:
        raise EvidenceError("resolve: the generic contract cannot require a census")
    reasons: list[PlanReason] = [] if bounds.stored else [PlanReason.NOT_STORED]
    budget = _budget(graph, bounds, epoch, reasons)
    if graph.artifact is not None and bounds.raw_tokens <= epoch.inline_tokens:
        return _inline(budget, bounds, (*reasons, PlanReason.RAW_SMALL))
    missing = [step for step in steps_of(graph, contract) if step not in bounds.sizes]
    if missing:
        raise EvidenceError(f"resolve: no size of {', '.join(missing)}; measure every step of the ladder")
    if graph.coverage.precision is Precision.FALLBACK:
        reasons.append(PlanReason.PRECISION_FALLBACK)
    step = _step(graph, contract, bounds, budget, reasons)
    step, details, move = _moved(step, _details(step, bounds, budget), graph, contract, bounds, session, reasons)
    note = bounds.sizes.get("session", 0) if move is not SessionMove.NONE else 0
    if graph.artifact is not None and _size(step, details, bounds) + note >= bounds.raw_tokens:
        kept = (reason for reason in reasons if reason not in _SESSION_REASONS)
        return _inline(budget, bounds, (*kept, PlanReason.NOT_SMALLER_THAN_RAW))
    return step_plan(
        step,
        token_budget=budget,
        addresses=bounds.stored,
        details=details,
        focus=focus,
        session_move=move,
        reasons=tuple(dict.fromkeys(reasons)),
    )


_SESSION_REASONS = (PlanReason.SESSION_RICHER, PlanReason.SESSION_LEANER)
"""Said of a move that is made; the output itself is nobody's move."""


def _inline(budget: int, bounds: Bounds, reasons: tuple[PlanReason, ...]) -> DeliveryPlan:
    return DeliveryPlan(rung=Rung.INLINE, token_budget=budget, addresses=bounds.stored, reasons=reasons)


def follows_fail_ladder(graph: EvidenceGraph) -> bool:
    """A failure, or no verdict with an exit status that is known and not zero, or a signal (S6.4, step 3)."""
    operation = graph.operation
    if graph.outcome is Outcome.FAIL:
        return True
    bad_end = operation.signal is not None or operation.exit_code not in (0, None)
    return graph.outcome is Outcome.UNKNOWN and bad_end


def _budget(graph: EvidenceGraph, bounds: Bounds, epoch: Epoch, reasons: list[PlanReason]) -> int:
    base = epoch.budget(graph.family, graph.outcome)
    reasons.append(PlanReason.EPOCH_DEFAULT)
    if follows_fail_ladder(graph):
        base = int(base * epoch.failure_budget_factor)
        reasons.append(PlanReason.FAILURE_BUDGET)
    wanted = max(bounds.floor_tokens, base, bounds.sizes.get("required", 0))
    if wanted == bounds.floor_tokens and wanted > base:
        reasons.append(PlanReason.EVIDENCE_FLOOR)
    elif wanted > max(base, bounds.floor_tokens):
        reasons.append(PlanReason.REQUIRED_OVER_BUDGET)
    if wanted > bounds.ceiling_tokens:
        reasons.append(PlanReason.HARD_CEILING)
    return min(bounds.ceiling_tokens, wanted)


_OUTCOME_REASON = {
    Outcome.PASS: PlanReason.OUTCOME_PASS,
    Outcome.FAIL: PlanReason.OUTCOME_FAIL,
    Outcome.UNKNOWN: PlanReason.OUTCOME_UNKNOWN,
}


def steps_of(graph: EvidenceGraph, contract: Contract) -> tuple[str, ...]:
    """Steps before flood that the outcome and the contract's ladder allow, in order."""
    own: tuple[str, ...] = FAIL_STEPS if follows_fail_ladder(graph) else PASS_STEPS
    return tuple(step for step in (*own, *DENSE_STEPS) if _STEP_RUNG[step] in contract.ladder)


def _step(graph: EvidenceGraph, contract: Contract, bounds: Bounds, budget: int, reasons: list[PlanReason]) -> str:
    """The first step of the outcome's rung that fits, then the first dense one, then the first flood that fits."""
    reasons.append(_OUTCOME_REASON[graph.outcome])
    for step in steps_of(graph, contract):
        if bounds.sizes[step] <= budget:
            if step in _STEP_REASON:
                reasons.append(_STEP_REASON[step])
            return step
    reasons.append(PlanReason.CENSUS_OVER_CEILING)
    for step in FLOOD_STEPS:
        if bounds.sizes.get(step, 0) <= bounds.ceiling_tokens:
            return step
    return FLOOD_STEPS[-1]


def _details(step: str, bounds: Bounds, budget: int) -> int:
    """How many details f1 can print: the root, then further ones in rank order while the budget lasts."""
    if step != "f1":
        return 1
    count = 1
    while bounds.sizes.get(f"f1.{count + 1}", budget + 1) <= budget:
        count += 1
    return count


def _size(step: str, details: int, bounds: Bounds) -> int:
    return bounds.sizes.get(f"{step}.{details}" if details > 1 else step, bounds.sizes.get(step, 0))


def _moved(
    step: str,
    details: int,
    graph: EvidenceGraph,
    contract: Contract,
    bounds: Bounds,
    session: SessionSummary,
    reasons: list[PlanReason],
) -> tuple[str, int, SessionMove]:
    """At most one rung richer or leaner by the session's state; never from inline, never to or from flood.

    A move that would print the same, or more than the ceiling, or leave the contract's ladder, is no move and is not
    announced.
    """
    stay = (step, details, SessionMove.NONE)
    room = bounds.ceiling_tokens - bounds.sizes.get("session", 0)
    if step in FLOOD_STEPS or session.state is SessionState.NORMAL:
        return stay
    fails = follows_fail_ladder(graph)
    allowed = steps_of(graph, contract)
    now = _size(step, details, bounds)
    if session.state is SessionState.RICHER:
        for richer in FAIL_STEPS if fails else PASS_STEPS:
            if richer not in allowed:
                continue
            more = _details(richer, bounds, room)
            if now < _size(richer, more, bounds) <= room:
                reasons.append(PlanReason.SESSION_RICHER)
                return richer, more, SessionMove.RICHER
        return stay
    leaner = "d1" if fails else "p2"
    if step in DENSE_STEPS or leaner not in allowed or bounds.sizes[leaner] + bounds.sizes.get("session", 0) >= now:
        return stay
    reasons.append(PlanReason.SESSION_LEANER)
    return leaner, 1, SessionMove.LEANER
