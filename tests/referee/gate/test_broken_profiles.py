"""A profile that is broken in one way is rejected by the gate, for that reason and no other (issue text, DESIGN 14)."""

from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from referee.execute import Receipt, Request, execute
from tests.referee.builders import ROOT, one_environment, tiny_corpus

CASES = (
    "pytest/attrs-37-tb-line-q",
    "pytest/humanize-37-xdist-q",
    "pytest/iniconfig-pass",
    "pytest/tabulate-37-head-cut",
    "pytest/tabulate-37-q-colour",
    "pytest/toolz-37-default",
)
"""Large enough for a digest, but for the one that passes: a small output is passed on whole by any profile."""
UNREGISTERED = {"exploratory", "uncommitted_protocol"}
"""What every run without a committed protocol is held for."""

Judged = Callable[[str], Receipt]


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_corpus(tmp_path_factory.mktemp("tiny"), CASES)


@pytest.fixture
def judged(corpus: Path, monkeypatch: pytest.MonkeyPatch) -> Judged:
    """The receipt of `ctx` with the profile of that name in the place of the shipped one, against `head_tail`."""
    # Repeats run in processes of their own; they make the arm from its spec, and import the profile.
    monkeypatch.setenv("PYTHONPATH", str(ROOT))
    one_environment(monkeypatch)

    def run(profile: str) -> Receipt:
        arm = f"ctx+tests.referee.broken_profiles:{profile}" if profile else "ctx"
        request = Request(corpora=(corpus,), arms=("head_tail", arm), readers=("impatient", "follower"), workers=1)
        return execute(request)

    return run


def decision(receipt: Receipt) -> dict[str, Any]:
    found: dict[str, Any] = receipt.statement["predicate"]["reproducible"]["decision"]
    return found


def codes(receipt: Receipt) -> set[str]:
    return {reason["code"] for reason in decision(receipt)["reasons"]} - UNREGISTERED


def test_the_shipped_profile_is_not_rejected(judged: Judged) -> None:
    """The control of the tests below: nothing but the missing protocol speaks against it."""
    receipt = judged("")
    assert receipt.verdict == "hold"
    assert not codes(receipt) & {
        "false_claim", "undeclared_omission", "unresolvable_address", "catastrophic_loss", "nondeterministic_digest",
    }  # fmt: skip


@pytest.mark.parametrize(
    ("profile", "code", "case"),
    [
        ("DropsIdentity", "catastrophic_loss", "pytest/toolz-37-default"),
        ("ClaimsComplete", "false_claim", "pytest/tabulate-37-head-cut"),
        ("PrintsDeadAddress", "unresolvable_address", "pytest/attrs-37-tb-line-q"),
        ("Nondeterministic", "nondeterministic_digest", "pytest/tabulate-37-q-colour"),
        ("HidesIdentity", "undeclared_omission", "pytest/humanize-37-xdist-q"),
    ],
)
def test_a_broken_profile_is_rejected_with_its_own_code(judged: Judged, profile: str, code: str, case: str) -> None:
    """Each fault has its code, the code names the cases, and no other hard rule is blamed."""
    receipt = judged(profile)
    hard = {
        "false_claim",
        "undeclared_omission",
        "unresolvable_address",
        "catastrophic_loss",
        "nondeterministic_digest",
    }
    assert receipt.verdict == "reject"
    assert codes(receipt) & hard == {code}
    (reason,) = (reason for reason in decision(receipt)["reasons"] if reason["code"] == code)
    assert case in reason["cases"]
    assert reason["family"] == "pytest"
    assert "pytest/iniconfig-pass" not in reason["cases"]


def test_a_profile_that_raises_is_an_arm_error_and_is_scored(judged: Judged) -> None:
    """S14.5: not dropped; here the arm delivers nothing, and its omissions count."""
    receipt = judged("Raises")
    assert {"arm_errors", "undeclared_omission"} <= codes(receipt)
    rows = [row for row in receipt.rows if row.arm.startswith("ctx+") and row.case == "pytest/toolz-37-default"]
    assert {(row.tokens_first, row.arm_error) for row in rows} == {(0, "RuntimeError: this profile is broken")}
