"""Epochs: a table of defaults that is read strictly, names every mistake, and bears the digest of its meaning (S13)."""

from pathlib import Path

import pytest

from ctx.canonical import content_id
from ctx.contracts.load import load_contract, packaged_families
from ctx.errors import ContractError
from ctx.evidence import Outcome
from ctx.policy.epoch import PACKAGED, active_epoch, family_ceilings, load_epoch, packaged_epochs, parse_epoch

FULL = """
schema = "ctx.epoch/v1"
id = "2031.4"
parent = "2026.1"

[defaults]
inline_tokens = 300
budget_tokens = 500
failure_budget_factor = 3
reply_tokens = 900

[family.pytest]
fail = 800

[family.text]
pass = 100
unknown = 200

[session]
richer_after_reruns = 1
normal_after_quiet = 3
leaner_after_landings = 4
leaner_window = 5
normal_after_reruns = 1

[promoted.pytest]
profile = "pytest/v1"
contract_id = "aa"
sources_digest = "bb"
receipt = "receipts/core/cc"
receipt_digest = "dd"
verdict = "promote"
"""


def problems(text: str, **changed: object) -> tuple[str, ...]:
    """What a strict reading says of a table."""
    with pytest.raises(ContractError) as caught:
        parse_epoch(text, "2031.4.toml", ceilings={"pytest": 4000, "text": 4000, "lint": 2000}, **changed)  # type: ignore[arg-type]
    return caught.value.problems


def test_a_table_is_read_as_it_is_written() -> None:
    """S13.1."""
    epoch = parse_epoch(FULL, "2031.4.toml", ceilings=family_ceilings())
    assert (epoch.id, epoch.parent) == ("2031.4", "2026.1")
    assert (epoch.inline_tokens, epoch.budget_tokens, epoch.reply_tokens) == (300, 500, 900)
    assert epoch.failure_budget_factor == 3.0
    assert epoch.budget("pytest", Outcome.FAIL) == 800
    assert epoch.budget("text", Outcome.PASS) == 100
    assert epoch.budget("text", Outcome.UNKNOWN) == 200
    assert epoch.session["leaner_window"] == 5


def test_what_a_table_does_not_say_is_the_default() -> None:
    """S6.9: 400, 480, 2.0 and 1,200 tok; a family or outcome without a row has the general budget."""
    epoch = parse_epoch('schema = "ctx.epoch/v1"\nid = "2031.4"\n', "2031.4.toml")
    assert (epoch.inline_tokens, epoch.budget_tokens, epoch.failure_budget_factor, epoch.reply_tokens) == (
        400,
        480,
        2.0,
        1200,
    )
    assert epoch.budget("lint", Outcome.FAIL) == 480
    assert parse_epoch(FULL, "2031.4.toml").budget("pytest", Outcome.PASS) == 500


@pytest.mark.parametrize(
    ("old", "new", "said"),
    [
        ('"ctx.epoch/v1"', '"ctx.epoch/v2"', 'schema: unknown schema "ctx.epoch/v2"; write "ctx.epoch/v1"'),
        ('id = "2031.4"', 'id = "lean"', 'id: "lean" is no epoch id; write YYYY.N'),
        ('id = "2031.4"', 'id = "2031.5"', 'id: "2031.5" does not fit the file name 2031.4.toml'),
        ("inline_tokens = 300", "inline_tokens = 0", "defaults.inline_tokens: 0 is no positive integer"),
        ("inline_tokens = 300", "inline_tokens = true", "defaults.inline_tokens: True is no positive integer"),
        ("budget_tokens = 500", 'budget_tokens = "500"', "defaults.budget_tokens: '500' is no positive integer"),
        ("budget_tokens = 500", "budget_tokens = 1.5", "defaults.budget_tokens: 1.5 is no positive integer"),
        (
            "reply_tokens = 900",
            "reply_tokens = 1000000000001",
            "defaults.reply_tokens: 1000000000001 is too large; write at most 1000000000",
        ),
        (
            "reply_tokens = 900",
            "reply_tokens = 2026-12-01",
            "defaults.reply_tokens: datetime.date(2026, 12, 1) is no positive integer",
        ),
        ("reply_tokens = 900", "reply_tokens = -1", "defaults.reply_tokens: -1 is no positive integer"),
        ("factor = 3", "factor = 0.5", "defaults.failure_budget_factor: 0.5 is no number from 1 to 16"),
        ("factor = 3", "factor = nan", "defaults.failure_budget_factor: nan is no number from 1 to 16"),
        ("fail = 800", "fail = 0", "family.pytest.fail: 0 is no positive integer"),
        ("fail = 800", "fial = 800", 'family.pytest.fial: unknown key "fial"; known: pass, fail, unknown'),
        (
            "leaner_window = 5",
            "leaner_window = 3",
            "session.leaner_after_landings: 4 landings do not fit a window of 3; write at most leaner_window",
        ),
        (
            "leaner_window = 5",
            "window = 5",
            'session.window: unknown key "window"; known: richer_after_reruns, normal_after_quiet, '
            "leaner_after_landings, leaner_window, normal_after_reruns",
        ),
        ('parent = "2026.1"', 'parent = "1999.1"', 'parent: "1999.1" is not there; known: PACKAGED'),
        ('parent = "2026.1"', 'parent = "2031.4"', 'parent: "2031.4" is the table itself; known: PACKAGED'),
        ('parent = "2026.1"', 'parent = "../2026.1"', 'parent: "../2026.1" is not there; known: PACKAGED'),
        ('parent = "2026.1"', "parent = 7", "parent: 7 is no text; write one in quotes"),
        (
            "inline_tokens = 300",
            "inline_tokens = 2001",
            "defaults.inline_tokens: 2001 is above the ceiling of a contract; write at most 2000",
        ),
        (
            "budget_tokens = 500",
            "budget_tokens = 2001",
            "defaults.budget_tokens: 2001 is above the ceiling of a contract; write at most 2000",
        ),
        (
            "fail = 800",
            "fail = 4001",
            "family.pytest.fail: 4001 is above the ceiling of its contract; write at most 4000",
        ),
        (
            'verdict = "promote"',
            'verdict = "hold"',
            'promoted.pytest.verdict: "hold" promotes nothing; only "promote" does',
        ),
        (
            'receipt = "receipts/core/cc"\n',
            "",
            "promoted.pytest.receipt: is missing or no text; an entry is written from a verified receipt",
        ),
        (
            "[defaults]",
            "[default]",
            'default: unknown key "default"; known: schema, id, parent, defaults, family, session, promoted',
        ),
    ],
)
def test_each_mistake_is_located_and_says_what_would_fit(old: str, new: str, said: str) -> None:
    """S13.3, S4.4."""
    assert old in FULL
    said = said.replace("PACKAGED", ", ".join(packaged_epochs()))
    assert problems(FULL.replace(old, new, 1)) == (f"2031.4.toml: {said}",)


@pytest.mark.parametrize("key", ["family", "promoted"])
def test_a_family_that_nobody_extracts_is_unknown(key: str) -> None:
    """S13.3."""
    table = {
        "family": "[family.pytset]\nfail = 1\n",
        "promoted": FULL[FULL.index("[promoted") :].replace("pytest]", "pytset]"),
    }
    found = problems(FULL[: FULL.index("[family")] + table[key])
    assert len(found) == 1
    assert found[0].startswith(f'2031.4.toml: {key}.pytset: unknown family "pytset"; known: binary, ')


@pytest.mark.parametrize(
    ("text", "where"),
    [
        ("defaults = 3", "defaults"),
        ("family = []", "family"),
        ("family = {pytest = 800}", "family.pytest"),
        ("session = 'x'", "session"),
        ("promoted = 1", "promoted"),
    ],
)
def test_a_value_in_the_place_of_a_table_is_located(text: str, where: str) -> None:
    found = problems(f'schema = "ctx.epoch/v1"\nid = "2031.4"\n{text}\n')
    assert found == (f"2031.4.toml: {where}: is no table; write [{where}]",)


def test_one_reading_names_every_mistake() -> None:
    """A file with seven mistakes reports them all."""
    text = FULL.replace("300", "0").replace("= 3\n", '= "x"\n', 1).replace("[family.pytest]", "[family.pytset]")
    text = text.replace('"2031.4"', '"x"').replace("pass = 100", "pass = -1").replace('"2026.1"', '"no"')
    text = text.replace("leaner_window = 5", "leaner_window = 0")
    found = problems(text)
    assert [line.split(": ")[1] for line in found] == [
        "id",
        "defaults.inline_tokens",
        "defaults.failure_budget_factor",
        "family.pytset",
        "family.text.pass",
        "session.leaner_window",
        "session.leaner_after_landings",
        "parent",
    ]


def test_what_is_no_toml_is_named() -> None:
    found = problems("schema = \n")
    assert len(found) == 1
    assert found[0].startswith("2031.4.toml: not TOML: ")


def test_the_id_covers_meaning_and_not_form() -> None:
    """S13.2: comments and order are no meaning; a number is."""
    import tomllib

    epoch = parse_epoch(FULL, "2031.4.toml")
    assert epoch.epoch_id == f"2031.4@{content_id(tomllib.loads(FULL))[:12]}"
    assert epoch.content_digest == content_id(tomllib.loads(FULL))
    lines = FULL.replace("[family.text]\npass = 100\nunknown = 200\n", "")
    moved = lines + "# later\n[family.text]\nunknown = 200\npass = 100\n"
    assert parse_epoch(moved, "2031.4.toml").epoch_id == epoch.epoch_id
    assert parse_epoch(FULL.replace("300", "301"), "2031.4.toml").epoch_id != epoch.epoch_id


def test_an_edited_table_under_an_old_id_is_refused() -> None:
    """S13.2: the id that a receipt names is the content it was made with."""
    assert active_epoch(active_epoch().epoch_id) == active_epoch()
    with pytest.raises(ContractError, match=r"epoch 2026\.1@0+: the file is 2026\.1@.*an edited table is a new"):
        active_epoch("2026.1@000000000000")


@pytest.mark.parametrize("name", ["2099.9", "../epochs/2026.1", "2026.1/../2026.1", "", "x"])
def test_an_epoch_that_is_not_there_is_named_with_those_that_are(name: str) -> None:
    """No path leads to a table but one that ends in `.toml`."""
    if not name:
        assert active_epoch(name).id == PACKAGED
        return
    with pytest.raises(ContractError, match=r"not there; known: .*2026\.1"):
        active_epoch(name)


def test_a_parent_beside_the_file_is_found(tmp_path: Path) -> None:
    """A chain of tables that are tried before they are shipped."""
    (tmp_path / "2031.3.toml").write_text(FULL.replace('"2031.4"', '"2031.3"'))
    file = tmp_path / "2031.4.toml"
    file.write_text(FULL.replace('"2026.1"', '"2031.3"'))
    assert load_epoch(file).parent == "2031.3"
    (tmp_path / "2031.3.toml").unlink()
    with pytest.raises(ContractError, match=r'parent: "2031\.3" is not there'):
        load_epoch(file)


@pytest.mark.parametrize("name", packaged_epochs())
def test_a_shipped_table_is_within_every_contract(name: str) -> None:
    """What a command does not check when it starts is checked here."""
    file = Path(__file__).parents[3] / "epochs" / f"{name}.toml"
    assert load_epoch(file) == active_epoch(name)
    assert set(family_ceilings()) == set(packaged_families())
    assert all(load_contract(family).ceiling_tokens == ceiling for family, ceiling in family_ceilings().items())


def test_the_first_epoch_has_the_numbers_of_the_specification() -> None:
    """S6.9, S12.4."""
    epoch = active_epoch("2026.1")
    assert (epoch.inline_tokens, epoch.budget_tokens, epoch.failure_budget_factor, epoch.reply_tokens) == (
        400,
        480,
        2.0,
        1200,
    )
    assert dict(epoch.session) == {
        "richer_after_reruns": 1,
        "normal_after_quiet": 3,
        "leaner_after_landings": 4,
        "leaner_window": 5,
        "normal_after_reruns": 1,
    }
