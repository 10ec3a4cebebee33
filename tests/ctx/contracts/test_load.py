"""Contracts: every load error with its place, several at once; ids that depend on meaning alone (S4)."""

import re
from pathlib import Path

import pytest

from ctx.contracts.load import load_contract, packaged_families, parse_contract
from ctx.contracts.model import Contract, FactClass, LossSeverity, Rung, StableOrder
from ctx.errors import ContractError
from ctx.evidence import Outcome

GOOD = """
schema        = "ctx.evidence-contract/v1"
family        = "pytest"
profile       = "pytest/v1"
decision_unit = "failing_test"
question      = "Which tests failed?"
unacceptable  = "A failing test that the digest does not name."

[outcomes.fail]
required    = ["aggregate_counts", "complete_identity_census", "location"]
preferred   = ["root_detail", "one_line_summary"]
retrievable = ["full_traceback", "stdout", "stderr"]

[outcomes.default]
required = ["aggregate_counts"]

[loss_severities]
complete_identity_census = "catastrophic"

[ladder]
rungs = ["pass_summary", "fail_census", "dense", "flood"]

[rendering]
stable_order          = "occurrence"
evidence_floor_tokens = 256
hard_ceiling_tokens   = 4000
"""


def problems(text: str, name: str = "pytest.toml") -> list[str]:
    with pytest.raises(ContractError) as caught:
        parse_contract(text, name)
    return list(caught.value.problems)


def changed(old: str, new: str) -> str:
    assert old in GOOD
    return GOOD.replace(old, new)


def test_a_contract_is_read_as_it_is_written() -> None:
    contract = parse_contract(GOOD, "pytest.toml")
    assert contract.family == "pytest"
    assert contract.required(Outcome.FAIL) == ("aggregate_counts", "complete_identity_census", "location")
    assert contract.rules(Outcome.FAIL).preferred == (FactClass.ROOT_DETAIL, FactClass.ONE_LINE_SUMMARY)
    assert contract.severity("complete_identity_census") is LossSeverity.CATASTROPHIC
    assert contract.severity("location") is LossSeverity.MINOR, "S4.1: minor where the contract does not say"
    assert (contract.floor_tokens, contract.ceiling_tokens) == (256, 4000)
    assert contract.stable_order is StableOrder.OCCURRENCE


def test_unknown_and_absent_outcomes_use_default() -> None:
    """S4.2"""
    contract = parse_contract(GOOD, "pytest.toml")
    assert contract.required(Outcome.UNKNOWN) == contract.required(Outcome.PASS) == ("aggregate_counts",)


def test_defaults_of_budgets_order_and_ladder() -> None:
    """S4.1"""
    contract = parse_contract(re.sub(r"\[ladder\].*", "", GOOD, flags=re.DOTALL), "pytest.toml")
    assert (contract.floor_tokens, contract.ceiling_tokens) == (128, 4000)
    assert contract.ladder == (Rung.PASS_SUMMARY, Rung.FAIL_CENSUS, Rung.DENSE, Rung.FLOOD)
    assert contract.stable_order is StableOrder.OCCURRENCE


ERRORS = [
    (
        "unknown key",
        ("decision_unit", "decison_unit"),
        'pytest.toml: decison_unit: unknown key "decison_unit"; did you mean "decision_unit"?',
    ),
    ("unknown table key", ("stable_order  ", "stabel_order  "), 'rendering.stabel_order: unknown key "stabel_order"'),
    (
        "unknown outcome",
        ("[outcomes.fail]", "[outcomes.failed]"),
        'pytest.toml: outcomes.failed: unknown key "failed"; did you mean "fail"?',
    ),
    (
        "unknown class",
        ('"complete_identity_census", "location"', '"complete_identity_census", "locaton"'),
        'pytest.toml: outcomes.fail.required[2]: unknown fact class "locaton"; did you mean "location"?',
    ),
    (
        "class in two tiers",
        ('"full_traceback", "stdout"', '"full_traceback", "location"'),
        'pytest.toml: outcomes.fail.retrievable[1]: "location" stands in required already; '
        "a class belongs to one tier of an outcome",
    ),
    (
        "missing default",
        ("[outcomes.default]", "[outcomes.pass]"),
        "pytest.toml: outcomes.default: is missing; every contract says what holds for an unknown outcome",
    ),
    (
        "wrong schema",
        ("contract/v1", "contract/v9"),
        'pytest.toml: schema: unknown schema "ctx.evidence-contract/v9"; write "ctx.evidence-contract/v1"',
    ),
    ("empty text", ('"Which tests failed?"', '" "'), "pytest.toml: question: is empty or no text; write a text"),
    ("missing text", ('question      = "Which tests failed?"', ""), "pytest.toml: question: is missing; write a text"),
    (
        "text budget",
        ("hard_ceiling_tokens   = 4000", 'hard_ceiling_tokens = "4000"'),
        "pytest.toml: rendering.hard_ceiling_tokens: '4000' is no positive integer; budgets are whole tok",
    ),
    (
        "negative budget",
        ("tokens = 256", "tokens = -1"),
        "pytest.toml: rendering.evidence_floor_tokens: -1 is no positive integer; budgets are whole tok",
    ),
    ("a truth value is no budget", ("tokens = 256", "tokens = true"), "evidence_floor_tokens: True is no positive"),
    (
        "floor above ceiling",
        ("tokens = 256", "tokens = 4001"),
        "pytest.toml: rendering.evidence_floor_tokens: floor 4001 is above the ceiling 4000; "
        "a floor is at most hard_ceiling_tokens",
    ),
    (
        "unknown severity",
        ('"catastrophic"', '"catastrophe"'),
        'pytest.toml: loss_severities.complete_identity_census: unknown severity "catastrophe"; '
        'did you mean "catastrophic"?',
    ),
    (
        "unknown order",
        ('"occurrence"', '"occurence"'),
        'pytest.toml: rendering.stable_order[0]: unknown order "occurence"; did you mean "occurrence"?',
    ),
    (
        "unknown rung",
        ('"dense"', '"desne"'),
        'pytest.toml: ladder.rungs[2]: unknown rung "desne"; did you mean "dense"?',
    ),
    (
        "inline in a ladder",
        ('"pass_summary", "fail', '"inline", "fail'),
        "ladder.rungs: is no ladder that loses detail",
    ),
    (
        "ladder that loses identity before detail",
        ('"fail_census", "dense", "flood"', '"flood", "fail_census", "dense"'),
        "pytest.toml: ladder.rungs: is no ladder that loses detail before identity; "
        "list pass_summary, fail_census, dense, flood in this order; inline is implied, detail is lost before identity",
    ),
    (
        "ladder without flood",
        (', "dense", "flood"', ', "dense"'),
        'pytest.toml: ladder.rungs: a census is required, so the ladder needs its last rung; add "flood"',
    ),
    (
        "class nobody builds",
        ('required = ["aggregate_counts"]', 'required = ["row_count"]'),
        'pytest.toml: outcomes.default.required[0]: no extractor of family "pytest" can build "row_count"; '
        "require what the extractor attests",
    ),
    (
        "severity of a class in no tier",
        ('complete_identity_census = "catastrophic"', 'signatures = "minor"'),
        "pytest.toml: loss_severities.signatures: is in no tier of any outcome; "
        "place the class or leave its severity out",
    ),
    ("severity of an unknown class", ('census = "cat', 'cenus = "cat'), 'unknown fact class "complete_identity_cenus"'),
    (
        "content class",
        ("[outcomes.fail]", 'content_classes = ["timestmp"]\n[outcomes.fail]'),
        'content_classes[0]: unknown volatile class "timestmp"; did you mean "timestamp"?',
    ),
    (
        "a tier that is no list",
        ('required = ["aggregate_counts"]', "required = 3"),
        "outcomes.default.required: is no list",
    ),
    ("an outcome that is no table", ("[outcomes.fail]", "[[outcomes.fail]]"), "outcomes.fail: is no table"),
    ("no TOML", ("[ladder]", "[ladder"), "pytest.toml: not TOML: "),
]


@pytest.mark.parametrize(("old_new", "message"), [row[1:] for row in ERRORS], ids=[row[0] for row in ERRORS])
def test_each_load_error_is_located_and_says_what_would_fit(old_new: tuple[str, str], message: str) -> None:
    """S4.4"""
    found = problems(changed(*old_new))
    assert any(message in problem for problem in found), found
    for problem in found:
        assert re.fullmatch(r"pytest\.toml: .+?: .+; .+", problem, re.DOTALL), problem


def test_one_load_reports_all_mistakes() -> None:
    """S4.4, S19.56"""
    text = GOOD
    for old, new in (
        ('"location"]', '"locaton"]'),
        ("question      = ", "qestion      = "),
        ("[outcomes.fail]", "[outcomes.failing]"),
        ('"occurrence"', '"random"'),
        ('"root_detail", "one', '"aggregate_counts", "one'),
        ("tokens   = 4000", 'tokens   = "many"'),
        ("tokens = 256", "tokens = 9999"),
    ):
        assert old in text
        text = text.replace(old, new)
    found = "\n".join(problems(text.replace("[outcomes.failing]", "[outcomes.fail]").replace("default", "defualt")))
    for part in (
        'unknown fact class "locaton"',
        'unknown key "qestion"',
        "question: is missing",
        'unknown key "defualt"',
        "outcomes.default: is missing",
        'unknown order "random"',
        '"aggregate_counts" stands in required already',
        "'many' is no positive integer",
        "floor 9999 is above the ceiling",
    ):
        assert part in found


def test_a_key_in_the_place_of_a_table_is_located() -> None:
    found = problems('schema = "ctx.evidence-contract/v1"\nladder = 3\noutcomes = []\nrendering = "wide"\n', "x.toml")
    for key in ("ladder", "outcomes", "rendering"):
        assert f"x.toml: {key}: is no table; write [{key}]" in found


def test_two_files_for_one_family_are_refused(tmp_path: Path) -> None:
    """S4.4"""
    (tmp_path / "pytest.toml").write_text(GOOD)
    with pytest.raises(ContractError, match=r"pytest\.toml: two files for one family; keep one of them"):
        load_contract("pytest", [tmp_path])


def test_a_contract_beside_a_third_party_profile_goes_through_the_same_checks(tmp_path: Path) -> None:
    """S4.9"""
    (tmp_path / "mytool.toml").write_text(GOOD.replace('"pytest"', '"mytool"').replace("locat", "lokat"))
    with pytest.raises(
        ContractError, match=r'mytool\.toml: outcomes\.fail\.required\[2\]: unknown fact class "lokation"'
    ):
        load_contract("mytool", [tmp_path])
    (tmp_path / "mytool.toml").write_text(GOOD.replace('"pytest"', '"mytool"'))
    assert load_contract("mytool", [tmp_path]).family == "mytool"


@pytest.mark.parametrize("family", ["no_such_family", "../text", "text/../pytest", "", "TEXT "])
def test_a_family_without_a_file_uses_generic(family: str) -> None:
    """S4.8; a name that is no plain word never reaches a path."""
    assert load_contract(family).family == "generic"


@pytest.mark.parametrize("tier", ["required", "preferred", "retrievable"])
def test_generic_can_list_no_census_in_any_tier(tier: str) -> None:
    """S4.8: it can never satisfy one vacuously."""
    text = f"""
schema = "ctx.evidence-contract/v1"
family = "generic"
profile = "generic/v1"
decision_unit = "line"
question = "?"
unacceptable = "!"
[outcomes.default]
{tier} = ["complete_identity_census"]
"""
    assert any('can build "complete_identity_census"' in problem for problem in problems(text, "generic.toml"))


def test_contract_id_depends_on_meaning_alone() -> None:
    """S4.9: comments, blanks and the order of keys and tables do not change it; a value does."""
    contract = parse_contract(GOOD, "pytest.toml")
    head, outcomes = GOOD.split("[outcomes.fail]")
    shuffled = "\n".join(reversed(head.strip().splitlines())) + "\n# a comment\n[outcomes.fail]" + outcomes
    assert parse_contract(shuffled, "other.toml").contract_id == contract.contract_id
    assert len(contract.contract_id) == 64
    for old, new in (("256", "257"), ('"Which tests failed?"', '"Which failed?"'), ('"occurrence"', '"file"')):
        assert parse_contract(changed(old, new), "pytest.toml").contract_id != contract.contract_id


def test_the_order_of_preferred_is_meaning() -> None:
    """S4.6: preferred gives way last-listed first."""
    swapped = changed('"root_detail", "one_line_summary"', '"one_line_summary", "root_detail"')
    assert parse_contract(swapped, "p.toml").contract_id != parse_contract(GOOD, "p.toml").contract_id


@pytest.mark.parametrize("family", packaged_families())
def test_packaged_contracts_load_under_their_own_name(family: str) -> None:
    contract = load_contract(family)
    assert isinstance(contract, Contract)
    assert contract.family == family
