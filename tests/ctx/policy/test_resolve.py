"""The resolver as a table: graph, contract, sizes, session and epoch in, one plan out (S6).

Sizes are given by hand, so what is decided is told from what was measured; `tests/laws` runs both together.
"""

from dataclasses import fields, replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx.contracts.load import load_contract
from ctx.contracts.model import Contract, FactClass, OutcomeRules, Rung
from ctx.errors import EvidenceError
from ctx.evidence import Artifact, Coverage, EvidenceGraph, Outcome, Precision
from ctx.policy.epoch import Epoch
from ctx.policy.plan import Bounds, Census, DeliveryPlan, PlanReason, SessionMove, Summaries
from ctx.policy.resolve import DENSE_STEPS, FAIL_STEPS, FLOOD_STEPS, PASS_STEPS, resolve, step_plan
from ctx.policy.session import NO_SESSION, SessionState, SessionSummary
from tests.laws.graphs import failing, graph_of

EPOCH = Epoch(id="2030.1", epoch_id="2030.1@0", inline_tokens=400, budget_tokens=480, failure_budget_factor=2.0)
PYTEST = load_contract("pytest")
RICHER, LEANER = (SessionSummary(state=state) for state in (SessionState.RICHER, SessionState.LEANER))
LADDER = {"p1": 300, "p2": 200, "f1": 800, "f2": 700, "f3": 600, "d1": 500, "d2": 450, "d3": 400, "d4": 380}
"""Every step fits the budget of a failure (960) and of a pass (480)."""


def a_graph(outcome: Outcome = Outcome.FAIL, *, exit_code: int | None = 1, **changed: object) -> EvidenceGraph:
    """A graph of one failing test with its artifact, so that `inline` is possible."""
    graph = graph_of((failing("t.py::test_a"),), outcome=outcome, exit_code=exit_code)
    return replace(graph, artifact=Artifact(body="text"), **changed)


def bounds(raw: int = 5000, *, floor: int = 256, ceiling: int = 4000, stored: bool = True, **sizes: int) -> Bounds:
    """Bounds with the sizes of `LADDER`, changed by name; `required` is the smallest step with whole identities."""
    known = {**LADDER, "required": 450, "session": 20, **{name.replace("_", "."): size for name, size in sizes.items()}}
    return Bounds(raw_tokens=raw, sizes=known, floor_tokens=floor, ceiling_tokens=ceiling, stored=stored)


def decide(
    graph: EvidenceGraph | None = None,
    measured: Bounds | None = None,
    *,
    session: SessionSummary = NO_SESSION,
    contract: Contract = PYTEST,
    epoch: Epoch = EPOCH,
) -> DeliveryPlan:
    return resolve(graph or a_graph(), contract, measured or bounds(), session, epoch)


def over(*steps: str, size: int = 9000) -> dict[str, int]:
    """Sizes with these steps above every budget."""
    return dict.fromkeys(steps, size)


# Step 2: a small output ----------------------------------------------------------------------------------------------


@pytest.mark.parametrize("outcome", list(Outcome))
@pytest.mark.parametrize("session", [NO_SESSION, RICHER, LEANER])
@pytest.mark.parametrize("stored", [True, False])
def test_a_small_output_is_passed_on_whatever_else_is_known(
    outcome: Outcome, session: SessionSummary, stored: bool
) -> None:
    """S6.4.2: exactly up to the epoch's number; no session state and no outcome overrides it."""
    small = decide(a_graph(outcome), bounds(400, stored=stored), session=session)
    assert (small.rung, small.session_move) == (Rung.INLINE, SessionMove.NONE)
    assert small.reasons[-1] is PlanReason.RAW_SMALL
    assert PlanReason.RAW_SMALL not in decide(a_graph(outcome), bounds(401, stored=stored), session=session).reasons


def test_what_has_no_text_to_pass_on_is_never_inline() -> None:
    """Binary output has no artifact: nothing of its bytes is printed (S5.12.1)."""
    assert decide(replace(a_graph(), artifact=None), bounds(1)).rung is Rung.FAIL_CENSUS


# Step 3: the rung by outcome -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "exit_code", "signal", "rung", "reason"),
    [
        (Outcome.PASS, 0, None, Rung.PASS_SUMMARY, PlanReason.OUTCOME_PASS),
        (Outcome.FAIL, 1, None, Rung.FAIL_CENSUS, PlanReason.OUTCOME_FAIL),
        (Outcome.FAIL, 0, None, Rung.FAIL_CENSUS, PlanReason.OUTCOME_FAIL),
        (Outcome.FAIL, None, None, Rung.FAIL_CENSUS, PlanReason.OUTCOME_FAIL),
        (Outcome.UNKNOWN, 0, None, Rung.PASS_SUMMARY, PlanReason.OUTCOME_UNKNOWN),
        (Outcome.UNKNOWN, None, None, Rung.PASS_SUMMARY, PlanReason.OUTCOME_UNKNOWN),
        (Outcome.UNKNOWN, 1, None, Rung.FAIL_CENSUS, PlanReason.OUTCOME_UNKNOWN),
        (Outcome.UNKNOWN, None, 9, Rung.FAIL_CENSUS, PlanReason.OUTCOME_UNKNOWN),
    ],
)
def test_the_rung_follows_from_outcome_and_exit_status(
    outcome: Outcome, exit_code: int | None, signal: int | None, rung: Rung, reason: PlanReason
) -> None:
    """S6.4.3: a signal is no exit status of 0."""
    graph = a_graph(outcome, exit_code=exit_code)
    graph = replace(graph, operation=replace(graph.operation, signal=signal))
    plan = decide(graph)
    assert plan.rung is rung
    assert reason in plan.reasons


# Step 4: the budget --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("outcome", "exit_code", "floor", "required", "budget", "reasons"),
    [
        (Outcome.PASS, 0, 256, 100, 480, {PlanReason.EPOCH_DEFAULT}),
        (Outcome.FAIL, 1, 256, 100, 960, {PlanReason.EPOCH_DEFAULT, PlanReason.FAILURE_BUDGET}),
        (Outcome.UNKNOWN, 0, 256, 100, 480, {PlanReason.EPOCH_DEFAULT}),
        (Outcome.UNKNOWN, 2, 256, 100, 960, {PlanReason.EPOCH_DEFAULT, PlanReason.FAILURE_BUDGET}),
        (Outcome.PASS, 0, 700, 100, 700, {PlanReason.EPOCH_DEFAULT, PlanReason.EVIDENCE_FLOOR}),
        (Outcome.PASS, 0, 256, 900, 900, {PlanReason.EPOCH_DEFAULT, PlanReason.REQUIRED_OVER_BUDGET}),
        (
            Outcome.PASS,
            0,
            256,
            4001,
            4000,
            {PlanReason.EPOCH_DEFAULT, PlanReason.REQUIRED_OVER_BUDGET, PlanReason.HARD_CEILING},
        ),
    ],
)
def test_the_budget_is_bounded_from_both_sides(
    outcome: Outcome, exit_code: int, floor: int, required: int, budget: int, reasons: set[PlanReason]
) -> None:
    """S6.4.4: min(ceiling, max(floor, base, required)), each bound with its reason."""
    plan = decide(a_graph(outcome, exit_code=exit_code), bounds(floor=floor, required=required))
    known = {
        PlanReason.EPOCH_DEFAULT,
        PlanReason.FAILURE_BUDGET,
        PlanReason.EVIDENCE_FLOOR,
        PlanReason.REQUIRED_OVER_BUDGET,
        PlanReason.HARD_CEILING,
    }
    assert plan.token_budget == budget
    assert known & set(plan.reasons) == reasons


def test_the_epoch_s_own_budget_of_a_family_and_outcome_is_the_base() -> None:
    """S13.1."""
    epoch = replace(EPOCH, family_budgets={("pytest", "fail"): 700, ("lint", "fail"): 5, ("pytest", "pass"): 6})
    assert decide(epoch=epoch).token_budget == 1400


@pytest.mark.parametrize("ceiling", [300, 1000, 4000])
@pytest.mark.parametrize("session", [NO_SESSION, RICHER, LEANER])
@pytest.mark.parametrize("budget", [1, 480, 100_000])
def test_no_epoch_session_or_size_raises_the_ceiling(ceiling: int, session: SessionSummary, budget: int) -> None:
    """S6.5: it is the contract's; the budget and every step but the last fits it."""
    epoch = replace(EPOCH, budget_tokens=budget, failure_budget_factor=16.0)
    sizes = {name: size * ceiling // 500 for name, size in LADDER.items()}
    measured = bounds(raw=10**6, ceiling=ceiling, floor=min(256, ceiling), **sizes, x1=ceiling, f1_2=10 * ceiling)
    plan = resolve(a_graph(), PYTEST, measured, session, epoch)
    assert plan.token_budget <= ceiling
    assert size_of(plan, measured) <= ceiling


def size_of(plan: DeliveryPlan, measured: Bounds) -> int:
    """The measured size of the step that a plan stands for."""
    for step in (*PASS_STEPS, *FAIL_STEPS, *DENSE_STEPS, *FLOOD_STEPS):
        made = step_plan(
            step,
            token_budget=plan.token_budget,
            addresses=plan.addresses,
            details=plan.inline_items,
            session_move=plan.session_move,
        )
        if made.plan_id == plan.plan_id:
            name = f"f1.{plan.inline_items}" if step == "f1" and plan.inline_items > 1 else step
            return measured.sizes[name] + (measured.sizes["session"] if plan.session_move != "none" else 0)
    raise AssertionError(f"no step is {plan}")


# Step 5: the first step that fits ------------------------------------------------------------------------------------

EACH = [
    ((), Rung.FAIL_CENSUS, Census.FULL, Summaries.EACH, 60, 1, None),
    (("f1",), Rung.FAIL_CENSUS, Census.FULL, Summaries.EACH, 12, 1, None),
    (("f1", "f2"), Rung.FAIL_CENSUS, Census.FULL, Summaries.EACH, 0, 0, None),
    (FAIL_STEPS, Rung.DENSE, Census.FULL, Summaries.SHARED, 8, 1, PlanReason.SHARED_SUMMARIES),
    ((*FAIL_STEPS, "d1"), Rung.DENSE, Census.FULL, Summaries.CLASS, 8, 1, PlanReason.CLASSES_ONLY),
    ((*FAIL_STEPS, "d1", "d2"), Rung.DENSE, Census.GROUPED, Summaries.NONE, 8, 1, PlanReason.GROUPED_CENSUS),
    ((*FAIL_STEPS, "d1", "d2", "d3"), Rung.DENSE, Census.GROUPED, Summaries.NONE, 0, 0, PlanReason.GROUPED_CENSUS),
    ((*FAIL_STEPS, *DENSE_STEPS), Rung.FLOOD, Census.STORED, Summaries.NONE, 8, 1, PlanReason.CENSUS_OVER_CEILING),
]


@pytest.mark.parametrize(("lost", "rung", "census", "summaries", "lines", "details", "reason"), EACH)
def test_each_step_is_taken_when_the_ones_before_it_are_too_large(
    lost: tuple[str, ...],
    rung: Rung,
    census: Census,
    summaries: Summaries,
    lines: int,
    details: int,
    reason: PlanReason | None,
) -> None:
    """S6.3: detail goes before summaries, summaries before classes, and identities last."""
    plan = decide(measured=bounds(**over(*lost), x1=3000))
    assert (plan.rung, plan.census, plan.summaries) == (rung, census, summaries)
    assert (plan.detail_lines, plan.inline_items) == (lines, details)
    shape = {
        PlanReason.SHARED_SUMMARIES,
        PlanReason.CLASSES_ONLY,
        PlanReason.GROUPED_CENSUS,
        PlanReason.CENSUS_OVER_CEILING,
    }
    assert shape & set(plan.reasons) == ({reason} if reason else set())


def test_a_pass_goes_from_each_to_grouped_and_on_to_dense() -> None:
    """S6.3."""
    graph = a_graph(Outcome.PASS, exit_code=0)
    assert decide(graph).summaries is Summaries.EACH
    grouped = decide(graph, bounds(p1=481))
    assert (grouped.rung, grouped.summaries) == (Rung.PASS_SUMMARY, Summaries.SHARED)
    assert decide(graph, bounds(p1=481, p2=481, d1=480)).rung is Rung.DENSE


def test_a_step_that_has_just_the_budget_fits_and_one_tok_more_does_not() -> None:
    """S6.4.5: size <= token_budget, 960 for this failure."""
    assert decide(measured=bounds(f1=960)).detail_lines == 60
    assert decide(measured=bounds(f1=961)).detail_lines == 12


def test_further_details_are_printed_while_the_budget_lasts() -> None:
    """S6.3: f1 prints the root, then more in rank order."""
    assert decide(measured=bounds(f1_2=900, f1_3=960, f1_4=961)).inline_items == 3
    assert decide(measured=bounds(f1_2=961)).inline_items == 1


def test_a_flood_takes_its_first_step_that_fits_the_ceiling() -> None:
    """S6.7: totals, coverage and the census address always fit."""
    lost = over(*FAIL_STEPS, *DENSE_STEPS)
    assert decide(measured=bounds(**lost, x1=4001, x2=4001, x3=3900)).context_lines == 3
    assert decide(measured=bounds(**lost, **over(*FLOOD_STEPS))).context_lines == 0


@pytest.mark.parametrize(
    ("ladder", "rung"),
    [
        ((Rung.FAIL_CENSUS, Rung.DENSE, Rung.FLOOD), Rung.FAIL_CENSUS),
        ((Rung.DENSE, Rung.FLOOD), Rung.DENSE),
        ((Rung.FLOOD,), Rung.FLOOD),
        ((Rung.FAIL_CENSUS, Rung.FLOOD), Rung.FAIL_CENSUS),
    ],
)
@pytest.mark.parametrize("session", [NO_SESSION, RICHER, LEANER])
def test_a_contract_s_ladder_bounds_every_choice(ladder: tuple[Rung, ...], rung: Rung, session: SessionSummary) -> None:
    """S4.1: a family may have fewer rungs; a session moves to none that its ladder lacks."""
    plan = decide(measured=bounds(x1=3000), contract=replace(PYTEST, ladder=ladder), session=session)
    assert plan.rung in ladder
    if session is NO_SESSION:
        assert plan.rung is rung


# Step 6: the session -------------------------------------------------------------------------------------------------


def test_a_richer_reader_gets_the_next_better_rung() -> None:
    """From dense to the census with details, as far as the ceiling has room for them and for the announcement."""
    lost = {"f1": 970, "f2": 965, "f3": 961}
    assert decide(measured=bounds(**lost)).rung is Rung.DENSE
    plan = decide(measured=bounds(**lost, f1_2=2000, f1_3=3980, f1_4=3981), session=RICHER)
    assert (plan.rung, plan.inline_items, plan.session_move) == (Rung.FAIL_CENSUS, 3, SessionMove.RICHER)
    assert PlanReason.SESSION_RICHER in plan.reasons


def test_a_richer_reader_gets_more_details_of_the_same_rung_where_it_is_the_best() -> None:
    plan = decide(measured=bounds(f1_2=2000), session=RICHER)
    assert (plan.rung, plan.inline_items, plan.session_move) == (Rung.FAIL_CENSUS, 2, SessionMove.RICHER)


def test_a_richer_rendering_that_does_not_fit_the_ceiling_is_no_move() -> None:
    """S6.4.6: nor is one that would print the same, and neither is announced."""
    plan = decide(measured=bounds(**over(*FAIL_STEPS, size=3990)), session=RICHER)
    assert (plan.rung, plan.session_move) == (Rung.DENSE, SessionMove.NONE)
    assert PlanReason.SESSION_RICHER not in plan.reasons
    assert decide(session=RICHER).session_move is SessionMove.NONE


def test_a_leaner_reader_gets_the_next_leaner_rung() -> None:
    """From the census with details to shared summaries; from a pass with each to grouped."""
    plan = decide(session=LEANER)
    assert (plan.rung, plan.summaries, plan.session_move) == (Rung.DENSE, Summaries.SHARED, SessionMove.LEANER)
    assert PlanReason.SESSION_LEANER in plan.reasons
    passed = decide(a_graph(Outcome.PASS, exit_code=0), session=LEANER)
    assert (passed.rung, passed.summaries) == (Rung.PASS_SUMMARY, Summaries.SHARED)


def test_a_leaner_rendering_that_loses_what_is_required_or_saves_nothing_is_no_move() -> None:
    """S6.4.6: a step that loses a required class is measured above the ceiling, so it is never smaller."""
    for size in (4001, 790, 780):
        plan = decide(measured=bounds(d1=size), session=LEANER)
        assert (plan.rung, plan.session_move) == (Rung.FAIL_CENSUS, SessionMove.NONE)
    assert decide(measured=bounds(d1=779), session=LEANER).session_move is SessionMove.LEANER


@pytest.mark.parametrize("session", [RICHER, LEANER])
def test_no_session_moves_a_flood_or_makes_one(session: SessionSummary) -> None:
    """S6.4.6."""
    lost = over(*FAIL_STEPS, *DENSE_STEPS)
    flood = decide(measured=bounds(**lost, x1=3000), session=session)
    assert (flood.rung, flood.session_move) == (Rung.FLOOD, SessionMove.NONE)
    assert decide(measured=bounds(**over(*FAIL_STEPS)), session=session).rung is not Rung.FLOOD


# Step 7: not smaller than raw -----------------------------------------------------------------------------------------


def test_a_digest_that_is_not_smaller_than_the_output_gives_way_to_it() -> None:
    """S6.4.7: at equal size the output itself."""
    plan = decide(measured=bounds(raw=800))
    assert plan.rung is Rung.INLINE
    assert plan.reasons[-1] is PlanReason.NOT_SMALLER_THAN_RAW
    assert decide(measured=bounds(raw=801)).rung is Rung.FAIL_CENSUS
    moved = decide(measured=bounds(raw=1000, f1_2=985), session=RICHER)
    assert (moved.rung, moved.session_move) == (Rung.INLINE, SessionMove.NONE)
    assert PlanReason.SESSION_RICHER not in moved.reasons


# Reasons, ids, purity -------------------------------------------------------------------------------------------------


def test_every_reason_of_the_closed_list_is_reached() -> None:
    """S6.6: eighteen words, each said of some decision of this table."""
    fallback = Coverage.attest(unit="lines", parsed=0, expected=None, precision=Precision.FALLBACK)
    lost = over(*FAIL_STEPS)
    plans = [
        decide(measured=bounds(10)),
        decide(measured=bounds(raw=500)),
        decide(a_graph(Outcome.PASS, exit_code=0)),
        decide(a_graph(Outcome.UNKNOWN)),
        decide(measured=bounds(required=9000)),
        decide(measured=bounds(floor=3000)),
        decide(measured=bounds(**lost)),
        decide(measured=bounds(**lost, d1=9000)),
        decide(measured=bounds(**lost, d1=9000, d2=9000)),
        decide(measured=bounds(**lost, **over(*DENSE_STEPS), x1=10)),
        decide(measured=bounds(f1_2=2000), session=RICHER),
        decide(session=LEANER),
        decide(measured=bounds(stored=False)),
        decide(a_graph(coverage=fallback)),
    ]
    assert {reason for plan in plans for reason in plan.reasons} == set(PlanReason)
    assert len(PlanReason) == 18


def test_without_a_store_the_plan_prints_no_address_and_says_why() -> None:
    """S2.7, S3.7: everything else of the decision is the same."""
    stored, not_stored = decide(), decide(measured=bounds(stored=False))
    assert (stored.addresses, not_stored.addresses) == (True, False)
    assert not_stored.reasons[0] is PlanReason.NOT_STORED
    assert replace(not_stored, addresses=True, reasons=stored.reasons) == stored


OTHER = {
    "rung": Rung.DENSE,
    "inline_items": 7,
    "census": Census.STORED,
    "summaries": Summaries.CLASS,
    "detail_lines": 3,
    "stderr_lines": 9,
    "context_lines": 4,
    "token_budget": 481,
    "focus": ("word",),
    "addresses": False,
    "session_move": SessionMove.LEANER,
}


def test_the_plan_s_id_covers_every_field_but_the_reasons() -> None:
    """S3.7: one decision has one id in every epoch, whatever led to it."""
    plan = DeliveryPlan(rung=Rung.FAIL_CENSUS, token_budget=480)
    assert set(OTHER) | {"reasons"} == {field.name for field in fields(DeliveryPlan)}
    ids = {replace(plan, **{name: value}).plan_id for name, value in OTHER.items()}
    assert len(ids | {plan.plan_id}) == len(OTHER) + 1
    assert replace(plan, reasons=(PlanReason.OUTCOME_FAIL,)).plan_id == plan.plan_id
    assert len(plan.plan_id) == 64
    assert plan.to_canonical()["plan_id"] == plan.plan_id


@given(
    st.sampled_from(list(Outcome)),
    st.sampled_from([0, 1, None]),
    st.integers(1, 6000),
    st.dictionaries(st.sampled_from(sorted(LADDER)), st.integers(1, 6000)),
    st.sampled_from([NO_SESSION, RICHER, LEANER]),
    st.booleans(),
)
def test_equal_arguments_give_one_plan_and_are_left_as_they_were(
    outcome: Outcome, exit_code: int | None, raw: int, sizes: dict[str, int], session: SessionSummary, stored: bool
) -> None:
    """S6.1: pure and total over valid inputs."""
    graph = a_graph(outcome, exit_code=exit_code)
    measured = bounds(raw, stored=stored, **sizes)
    before = dict(measured.sizes)
    plan = decide(graph, measured, session=session)
    assert plan == decide(a_graph(outcome, exit_code=exit_code), bounds(raw, stored=stored, **sizes), session=session)
    assert dict(measured.sizes) == before
    assert len(set(plan.reasons)) == len(plan.reasons)
    assert plan.focus == ()


def test_focus_orders_details_and_decides_nothing() -> None:
    """S3.7: it is a part of the plan, since it reaches the renderer."""
    plain, focused = (resolve(a_graph(), PYTEST, bounds(), NO_SESSION, EPOCH, focus) for focus in ((), ("word",)))
    assert replace(focused, focus=()) == plain


@pytest.mark.parametrize(
    ("changed", "said"),
    [
        ({"floor": 5000}, "floor 5000 and ceiling 4000 are no bounds"),
        ({"floor": 0}, "floor 0 and ceiling 4000 are no bounds"),
        ({"raw": -1}, "a size is never negative"),
        ({"f1": -1}, "a size is never negative"),
    ],
)
def test_bounds_that_contradict_themselves_cannot_be_built(changed: dict[str, int], said: str) -> None:
    """S3.8."""
    with pytest.raises(EvidenceError, match=said):
        bounds(**changed)


def test_arguments_that_do_not_belong_together_are_refused() -> None:
    """S6.1, S4.8: an invalid input raises."""
    with pytest.raises(EvidenceError, match="needs exactly one epoch"):
        resolve(a_graph(), PYTEST, bounds())
    with pytest.raises(EvidenceError, match="a graph of pytest and the contract of lint"):
        decide(contract=load_contract("lint"))
    sizes = {name: size for name, size in LADDER.items() if name != "d4"}
    lacking = Bounds(raw_tokens=5000, sizes=sizes, floor_tokens=1, ceiling_tokens=4000)
    with pytest.raises(EvidenceError, match="no size of d4"):
        decide(measured=lacking)
    census = OutcomeRules(required=(FactClass.COMPLETE_IDENTITY_CENSUS,))
    generic = replace(load_contract("a-family-without-a-file"), outcomes={"default": census})
    with pytest.raises(EvidenceError, match="generic contract cannot require a census"):
        decide(contract=generic)


@pytest.mark.parametrize("budget", [0, -1])
def test_a_plan_has_a_positive_budget(budget: int) -> None:
    """S6.5."""
    with pytest.raises(EvidenceError, match="not a positive number of tok"):
        DeliveryPlan(rung=Rung.INLINE, token_budget=budget)
