"""The gate: every reason code has what triggers it and only it (S15.7)."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest

from referee.gate.reasons import HOLDING, REJECTING, ReasonCode, Verdict
from referee.gate.rules import CASES_LISTED, Evidence, decide
from tests.referee.builders import ROW, protocol

BASELINE = replace(ROW, arm="head_tail", tokens_delivered=900)


def shown(**verdicts: Any) -> dict[str, dict[str, Any]]:
    """Statistics of a treatment that is better in everything; `endpoint=(difference, verdict)` replaces one."""
    found: dict[str, Any] = {
        "success": (0.1, "superior"),
        "preservation": (0.1, "superior"),
        "tokens": (-1.0, "superior"),
    }
    found |= verdicts
    return {name: {"difference": d, "verdict": v, "clusters": 6} for name, (d, v) in found.items()}


def evidence(**values: Any) -> Evidence:
    """Evidence that meets every rule; tests replace what they are about."""
    held = {"name": "raw", "held": True, "detail": ""}
    fixed: dict[str, Any] = {
        "protocol": protocol(),
        "rows": [BASELINE, ROW],
        "families": {"pytest": shown()},
        "overall": shown(),
        "controls": [held],
        "expected_families": ("pytest",),
    }
    return Evidence(**{**fixed, **values})


def with_row(**values: Any) -> Callable[[], Evidence]:
    """Evidence whose treatment has a row with these values."""
    return lambda: evidence(rows=[BASELINE, replace(ROW, **values)])


TRIGGERS: dict[ReasonCode, Callable[[], Evidence]] = {
    ReasonCode.FALSE_CLAIM: with_row(false_claims=1),
    ReasonCode.UNDECLARED_OMISSION: with_row(undeclared_omissions=1),
    ReasonCode.UNRESOLVABLE_ADDRESS: with_row(unresolvable_addresses=1),
    ReasonCode.CATASTROPHIC_LOSS: with_row(lost=1),
    ReasonCode.NONDETERMINISTIC_DIGEST: with_row(deterministic=False),
    ReasonCode.SMALL_OUTPUT_OVERHEAD: with_row(small_output_overhead=1),
    ReasonCode.FAMILY_REVERSAL: lambda: evidence(families={"pytest": shown(success=(-0.06, "non_inferior"))}),
    ReasonCode.INFERIOR_SUCCESS: lambda: evidence(overall=shown(success=(-0.04, "inferior"))),
    ReasonCode.INFERIOR_PRESERVATION: lambda: evidence(overall=shown(preservation=(-0.04, "inferior"))),
    ReasonCode.INCONCLUSIVE: lambda: evidence(overall=shown(success=(0.0, "inconclusive"))),
    ReasonCode.TOO_FEW_CLUSTERS: lambda: evidence(protocol=protocol(minimum_clusters=7)),
    ReasonCode.EXPLORATORY: lambda: evidence(exploratory=True),
    ReasonCode.UNCOMMITTED_PROTOCOL: lambda: evidence(committed=False),
    ReasonCode.PROTOCOL_CHANGED: lambda: evidence(protocol_changed=True),
    ReasonCode.NO_GAIN: lambda: evidence(overall=shown(success=(0.0, "non_inferior"), tokens=(0.0, "inconclusive"))),
    ReasonCode.FAMILY_MISSING: lambda: evidence(expected_families=("pytest", "lint")),
    ReasonCode.ARM_ERRORS: with_row(arm_error="profile raised"),
    ReasonCode.CONTROL_FAILED: lambda: evidence(controls=[{"name": "raw", "held": False, "detail": "lossy"}]),
    ReasonCode.SUBJECT_MISMATCH: lambda: evidence(subject_problems=["contract/pytest: is another one here"]),
}


def codes(found: Evidence) -> set[ReasonCode]:
    return {reason.code for reason in decide(found).reasons}


def test_evidence_that_meets_every_rule_promotes_for_that_reason_alone() -> None:
    """S15.7: `all_rules_met`, alone."""
    decision = decide(evidence())
    assert decision.verdict is Verdict.PROMOTE
    assert [reason.code for reason in decision.reasons] == [ReasonCode.ALL_RULES_MET]


@pytest.mark.parametrize("code", [code for code in ReasonCode if code is not ReasonCode.ALL_RULES_MET])
def test_each_reason_has_a_trigger_of_its_own(code: ReasonCode) -> None:
    """S15.7: one fault gives one code, and the verdict its group stands for."""
    decision = decide(TRIGGERS[code]())
    assert {reason.code for reason in decision.reasons} == {code}
    assert decision.verdict is (Verdict.REJECT if code in REJECTING else Verdict.HOLD)


def test_the_codes_are_the_ones_of_the_specification() -> None:
    """S15.7 lists nine to reject and ten to hold."""
    assert {str(code) for code in REJECTING} == {
        "false_claim", "undeclared_omission", "unresolvable_address", "catastrophic_loss", "nondeterministic_digest",
        "family_reversal", "inferior_success", "inferior_preservation", "small_output_overhead",
    }  # fmt: skip
    assert {str(code) for code in HOLDING} == {
        "inconclusive", "too_few_clusters", "exploratory", "uncommitted_protocol", "protocol_changed", "no_gain",
        "family_missing", "arm_errors", "control_failed", "subject_mismatch",
    }  # fmt: skip


@pytest.mark.parametrize("code", sorted(REJECTING))
def test_no_gain_offsets_a_reason_to_reject(code: ReasonCode) -> None:
    """S15.7: a treatment that saves nearly everything and answers everything is rejected all the same."""
    found = TRIGGERS[code]()
    splendid = {**found.overall, "tokens": {"difference": -9.0, "verdict": "superior", "clusters": 6}}
    if code not in (ReasonCode.INFERIOR_SUCCESS, ReasonCode.FAMILY_REVERSAL):
        splendid["success"] = {"difference": 1.0, "verdict": "superior", "clusters": 6}
    assert decide(replace(found, overall=splendid)).verdict is Verdict.REJECT


def test_all_reasons_that_apply_are_listed_and_the_worst_decides() -> None:
    """S15.7: all reasons, rejecting ones first, holding ones too."""
    found = evidence(rows=[BASELINE, replace(ROW, false_claims=2, unresolvable_addresses=1)], exploratory=True)
    assert codes(found) == {ReasonCode.FALSE_CLAIM, ReasonCode.UNRESOLVABLE_ADDRESS, ReasonCode.EXPLORATORY}
    assert decide(found).verdict is Verdict.REJECT


def test_nothing_to_count_is_no_pass() -> None:
    """S15.7: refuse unless shown."""
    empty = Evidence(protocol=protocol(), rows=[], families={}, overall={})
    decision = decide(empty)
    assert decision.verdict is Verdict.HOLD
    assert {ReasonCode.TOO_FEW_CLUSTERS, ReasonCode.NO_GAIN, ReasonCode.INCONCLUSIVE} <= codes(empty)


def test_a_reason_names_its_cases_once_each_whoever_read_them() -> None:
    """Seven readers of one bad delivery are one bad case."""
    rows = [
        replace(ROW, case=f"pytest/{name}", reader=reader, false_claims=1)
        for name in ("b", "a")
        for reader in ("impatient", "follower")
    ]
    (reason,) = decide(evidence(rows=[*rows, BASELINE])).reasons
    assert sorted(reason.cases) == ["pytest/a", "pytest/b"]
    assert reason.family == "pytest"
    assert reason.detail == "2 false claims"


def test_a_fault_of_the_baseline_is_no_reason() -> None:
    """Only the treatment is judged."""
    bad = replace(BASELINE, false_claims=5, lost=9, undeclared_omissions=3, arm_error="x", deterministic=False)
    assert decide(evidence(rows=[bad, ROW])).verdict is Verdict.PROMOTE
    assert decide(evidence(rows=[ROW, bad])).verdict is Verdict.PROMOTE


def test_a_long_list_of_cases_is_cut_but_its_count_is_whole() -> None:
    """The receipt stays readable; the number is of all."""
    rows = [replace(ROW, case=f"pytest/{number:03}", lost=1) for number in range(CASES_LISTED + 5)]
    (reason,) = decide(evidence(rows=[*rows, BASELINE])).reasons
    assert len(reason.cases) == CASES_LISTED
    assert reason.detail == f"{CASES_LISTED + 5} identities lost"


def test_a_reversal_within_the_margin_is_none() -> None:
    """S15.1: margin 0.05, in the unit of the endpoint."""
    within = evidence(families={"pytest": shown(success=(-0.05, "non_inferior"))})
    assert decide(within).verdict is Verdict.PROMOTE


def test_a_reversal_names_the_family_and_the_cases_that_got_worse() -> None:
    """DESIGN 14: any family reversal beyond its margin; other families do not make up for it."""
    worse = [replace(BASELINE, case="lint/x", family="lint"), replace(ROW, case="lint/x", family="lint", success=False)]
    found = evidence(
        rows=[BASELINE, ROW, *worse],
        families={"pytest": shown(), "lint": shown(success=(-1.0, "non_inferior"))},
    )
    (reason,) = decide(found).reasons
    assert (reason.code, reason.family, reason.cases) == (ReasonCode.FAMILY_REVERSAL, "lint", ("lint/x",))


def test_one_family_that_decides_nothing_holds_the_whole() -> None:
    """S16.1 shows `inconclusive` with its family."""
    found = evidence(families={"pytest": shown(preservation=(0.0, "inconclusive"))})
    (reason,) = decide(found).reasons
    assert (reason.code, reason.family) == (ReasonCode.INCONCLUSIVE, "pytest")


def test_more_success_alone_is_a_gain() -> None:
    """S15.5: tokens need not fall where success rises."""
    assert decide(evidence(overall=shown(tokens=(0.3, "inferior")))).verdict is Verdict.PROMOTE
