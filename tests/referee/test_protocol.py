"""Protocols: strict load, one digest, and what the project's history says of a file (S15.1, S15.2)."""

import json
import subprocess
import tomllib
from collections.abc import Callable
from dataclasses import fields, replace
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from referee import execute as module
from referee.errors import CorpusError, UsageError
from referee.execute import Request, execute
from referee.ledger import Prices
from referee.protocol import (
    GATE_RULES,
    CorpusRef,
    Protocol,
    load_protocol,
    parse_protocol,
    protocol_from_canonical,
    registration_of,
)
from tests.referee.builders import ROOT, one_environment, protocol, tiny_corpus

TEXT = """
schema = "referee.protocol/v1"
name = "small"
[[corpora]]
name = "tiny"
version = "1"
[arms]
baseline = "head_tail"
treatment = "ctx"
"""


def problems(**document: Any) -> list[str]:
    """What is wrong with TEXT with some keys replaced."""
    with pytest.raises(UsageError) as caught:
        parse_protocol({**tomllib.loads(TEXT), **document}, "small.toml")
    return str(caught.value).splitlines()


def test_what_is_left_out_has_the_value_of_the_specification() -> None:
    """S15.1: margins 0.02, 0, 0.05; alpha 0.05; five clusters; all readers."""
    found = parse_protocol(tomllib.loads(TEXT), "small.toml")
    assert (found.margin_success, found.margin_preservation, found.margin_family_reversal) == (0.02, 0.0, 0.05)
    assert (found.alpha, found.minimum_clusters) == (0.05, 5)
    assert len(found.readers) == 7
    assert found.arms[:2] == ("head_tail", "ctx")
    assert {"raw", "empty", "liar", "truncating", "dead_address"} <= set(found.arms)


def test_the_committed_protocol_loads() -> None:
    """The one that `nox -s receipts` runs."""
    found = load_protocol(ROOT / "protocols" / "core.toml")
    assert (found.name, found.baseline, found.treatment) == ("core", "head_tail", "ctx")


@pytest.mark.parametrize(
    ("document", "said"),
    [
        ({"shema": "x"}, "small.toml: shema: unknown key (did you mean 'schema'?)"),
        ({"schema": "referee.protocol/v2"}, 'small.toml: schema: write "referee.protocol/v1"'),
        ({"name": ""}, "small.toml: name: needs a text"),
        ({"corpora": []}, "small.toml: corpora: needs at least one table"),
        ({"corpora": [{"name": "x"}]}, "small.toml: corpora[0].version: needs a text"),
        ({"corpora": ["x"]}, "small.toml: corpora[0].: is no table"),
        ({"arms": {"baseline": "raw"}}, "small.toml: arms.treatment: needs a text"),
        ({"arms": "raw"}, "small.toml: arms: is no table"),
        ({"readers": "all"}, "small.toml: readers: is no list of texts"),
        ({"readers": ["folower"]}, "small.toml: readers: 'folower' is unknown"),
        ({"encoding": "p50k"}, "small.toml: encoding: 'p50k' is unknown; known: cl100k_base, o200k_base"),
        ({"repeats": 0}, "small.toml: repeats: 0 is no whole number from 1 to 100"),
        ({"repeats": True}, "small.toml: repeats: True is no whole number"),
        ({"seed": 1.5}, "small.toml: seed: 1.5 is no whole number"),
        ({"alpha": "0.05"}, "small.toml: alpha: '0.05' is no number from 0.001 to 0.5"),
        ({"margins": {"success": -1}}, "small.toml: margins.success: -1 is no number from 0 to 1"),
        ({"prices": {"rd": 1}}, "small.toml: prices.rd: unknown key (did you mean 'read'?)"),
        ({"minimum_clusters": 1}, "small.toml: minimum_clusters: 1 is no whole number from 2"),
        ({"endpoints": ["tokens"]}, "small.toml: endpoints: the gate decides by success, preservation, tokens"),
        (
            {"gate_rules": ["false_clam"]},
            "small.toml: gate_rules: 'false_clam' is unknown (did you mean 'false_claim'?)",
        ),
    ],
)
def test_a_mistake_is_named_with_its_key(document: dict[str, Any], said: str) -> None:
    """Unknown keys and values that do not fit are errors, with what would."""
    assert any(line.startswith(said) for line in problems(**document)), problems(**document)


def test_all_mistakes_are_reported_at_once() -> None:
    """Five mistakes, five lines."""
    assert len(problems(alpha=9, repeats=0, seed="x", readers=["nobody"], extra=1)) == 5


def test_no_gate_rule_can_be_left_out() -> None:
    """Hard rules are not up to a protocol; listing all of them is fine."""
    assert parse_protocol({**tomllib.loads(TEXT), "gate_rules": list(GATE_RULES)}, "small.toml").name == "small"
    (problem,) = problems(gate_rules=[rule for rule in GATE_RULES if rule != "false_claim"])
    assert problem.endswith("missing: false_claim")


@pytest.mark.parametrize(("content", "said"), [(None, "No such file"), ("= 1", "not TOML"), ("\xff", "not TOML")])
def test_a_file_that_cannot_be_read(tmp_path: Path, content: str | None, said: str) -> None:
    """One message with the path."""
    file = tmp_path / "p.toml"
    if content is not None:
        file.write_bytes(content.encode("latin-1"))
    with pytest.raises(UsageError, match=said) as caught:
        load_protocol(file)
    assert str(file) in str(caught.value)
    with pytest.raises(UsageError, match="Is a directory"):
        load_protocol(tmp_path)


CHANGES: dict[str, Any] = {
    "name": "other",
    "corpora": (CorpusRef(name="tiny", version="2"),),
    "baseline": "tail",
    "treatment": "ctx@2026.1",
    "others": ("tail",),
    "readers": ("follower",),
    "repeats": 3,
    "seed": 2,
    "encoding": "cl100k_base",
    "inline_tokens": 401,
    "prices": Prices(p_read=0.2),
    "margin_success": 0.03,
    "margin_preservation": 0.01,
    "margin_family_reversal": 0.06,
    "alpha": 0.01,
    "minimum_clusters": 6,
    "budget_tokens": 5,
    "arm_files": {"x": "0" * 64},
    "stop_rule": "another",
}


@pytest.mark.parametrize("name", [field.name for field in fields(Protocol)])
def test_the_digest_covers_every_value(name: str) -> None:
    """A protocol that differs in anything is another one."""
    assert replace(protocol(), **{name: CHANGES[name]}).digest != protocol().digest


def test_the_digest_covers_the_reader_table_and_the_recognisers() -> None:
    """S14.8, S14.6; and the encoding's own digest."""
    found = protocol().to_canonical()
    assert len(found["reader_table"]) == 7
    assert len(found["recognisers"]) == 64
    assert found["encoding_digest"].startswith("446a9538")
    assert found["endpoints"] == {"success": "more", "preservation": "more", "tokens": "less"}


def test_equal_protocols_have_equal_digests_whatever_the_order_of_keys() -> None:
    """Canonical JSON."""
    document = tomllib.loads(TEXT)
    turned = dict(reversed(list(document.items())))
    assert parse_protocol(document, "a").digest == parse_protocol(turned, "b").digest


def test_a_receipt_gives_its_protocol_back() -> None:
    """Through canonical JSON and back, digest and all."""
    original = protocol(others=("tail",), arm_files={"x": "1" * 64}, budget_tokens=7, alpha=0.1)
    again = protocol_from_canonical(json.loads(rfc8785.dumps(original.to_canonical())))
    assert again == original
    assert again.digest == original.digest


# History ------------------------------------------------------------------------------------------------------------

Git = Callable[..., str]


@pytest.fixture
def git(tmp_path: Path) -> Git:
    """A git command in a new repository."""

    def run(*words: str) -> str:
        done = subprocess.run(
            ["git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.org", *words],
            capture_output=True, text=True, check=True,
        )  # fmt: skip
        return done.stdout.strip()

    run("init", "-q")
    return run


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "protocols").mkdir()
    path = tmp_path / "protocols" / "small.toml"
    path.write_text(TEXT)
    return path


def commit(git: Git) -> str:
    git("add", ".")
    git("commit", "-qm", "change")
    return git("rev-parse", "HEAD")


def test_a_file_outside_a_history_is_uncommitted(file: Path) -> None:
    """No repository at all."""
    assert registration_of(file).committed is False


def test_a_file_that_was_never_committed(git: Git, file: Path) -> None:
    """Also where the history has other commits."""
    (file.parent / "other").write_text("x")
    git("add", "protocols/other")
    git("commit", "-qm", "other")
    assert (registration_of(file).committed, registration_of(file).first_commit) == (False, "")


def test_the_first_commit_is_the_oldest_that_holds_these_bytes(git: Git, file: Path) -> None:
    """Later commits that leave it alone do not matter; a change is on record from the change on."""
    first = commit(git)
    (file.parent / "other").write_text("x")
    commit(git)
    assert (registration_of(file).committed, registration_of(file).first_commit) == (True, first)
    file.write_text(TEXT + "alpha = 0.1\n")
    assert registration_of(file).committed is False
    second = commit(git)
    assert (registration_of(file).committed, registration_of(file).first_commit) == (True, second)


def test_bytes_that_an_older_commit_held_are_on_record_since_then_but_not_committed_now(git: Git, file: Path) -> None:
    """Taken back in the work tree, then in a commit: the oldest commit that held them counts."""
    first = commit(git)
    file.write_text(TEXT + "alpha = 0.1\n")
    commit(git)
    file.write_text(TEXT)
    assert (registration_of(file).committed, registration_of(file).first_commit) == (False, first)
    commit(git)
    assert (registration_of(file).committed, registration_of(file).first_commit) == (True, first)


def test_a_staged_change_is_uncommitted(git: Git, file: Path) -> None:
    """Only what a commit holds is on record."""
    commit(git)
    file.write_text(TEXT + "alpha = 0.1\n")
    git("add", ".")
    assert registration_of(file).committed is False


@pytest.fixture(autouse=True)
def _fewer_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    one_environment(monkeypatch)


# What a run makes of it ----------------------------------------------------------------------------------------------


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tiny_corpus(tmp_path_factory.mktemp("protocol"), ["pytest/iniconfig-pass", "pytest/toolz-one-x"])


def facts(corpus: Path, file: Path, **values: Any) -> tuple[dict[str, Any], set[str]]:
    """What the receipt says of its protocol, and the reasons of its decision."""
    receipt = execute(Request(corpora=(corpus,), protocol_file=file, workers=1, **values))
    predicate = receipt.statement["predicate"]
    return predicate["protocol"], {reason["code"] for reason in predicate["reproducible"]["decision"]["reasons"]}


def test_a_committed_protocol_over_its_whole_corpus_is_not_exploratory(git: Git, file: Path, corpus: Path) -> None:
    """S15.2; the corpus is too small for anything else to be met."""
    first = commit(git)
    found, codes = facts(corpus, file)
    assert (found["first_commit"], found["committed"], found["exploratory"]) == (first, True, False)
    assert not codes & {"exploratory", "uncommitted_protocol", "protocol_changed"}
    assert {"family_missing", "too_few_clusters"} <= codes


@pytest.mark.parametrize(
    "part", [{"cases": ("pytest/toolz-one-x",)}, {"families": ("pytest",)}, {"readers": ("follower",)}]
)
def test_a_part_of_the_corpus_is_exploratory(git: Git, file: Path, corpus: Path, part: dict[str, Any]) -> None:
    """S15.2: `--case`, `--family`; fewer readers too."""
    commit(git)
    found, codes = facts(corpus, file, **part)
    assert found["exploratory"] is True
    assert "exploratory" in codes


def test_an_uncommitted_protocol_is_held(git: Git, file: Path, corpus: Path) -> None:
    """S15.2."""
    commit(git)
    file.write_text(TEXT.replace('name = "small"', 'name = "small"\nseed = 4'))
    assert "uncommitted_protocol" in facts(corpus, file)[1]


def test_a_protocol_that_has_a_receipt_under_another_digest_is_changed(git: Git, file: Path, corpus: Path) -> None:
    """S15.2: changed after its first receipt."""
    old = file.parent.parent / "receipts" / "small" / "0123456789ab" / "receipt.json"
    old.parent.mkdir(parents=True)
    old.write_text(json.dumps({"predicate": {"protocol": {"digest": load_protocol(file).digest}}}))
    commit(git)
    assert "protocol_changed" not in facts(corpus, file)[1]
    file.write_text(TEXT.replace('name = "small"', 'name = "small"\nseed = 4'))
    commit(git)
    found, codes = facts(corpus, file)
    assert found["changed"] is True
    assert "protocol_changed" in codes


def test_the_corpora_given_are_those_the_protocol_pins(file: Path, corpus: Path, tmp_path: Path) -> None:
    """Another version, another manifest, one that is missing, one too many: all named at once."""
    file.write_text(TEXT.replace('version = "1"', 'version = "2"'))
    with pytest.raises(CorpusError, match="corpus tiny: version 1, the protocol pins 2"):
        execute(Request(corpora=(corpus,), protocol_file=file))
    file.write_text(TEXT.replace('version = "1"', f'version = "1"\nmanifest_digest = "{"0" * 64}"'))
    with pytest.raises(CorpusError, match="another manifest than the protocol pins"):
        execute(Request(corpora=(corpus,), protocol_file=file))
    file.write_text(TEXT.replace('name = "tiny"', 'name = "huge"'))
    with pytest.raises(CorpusError) as caught:
        execute(Request(corpora=(corpus,), protocol_file=file))
    assert [problem.partition(":")[0] for problem in caught.value.problems] == ["corpus huge", "corpus tiny"]


def test_a_protocol_fixes_its_arms(file: Path, corpus: Path) -> None:
    """`--arm` beside `--protocol` must say the same."""
    with pytest.raises(UsageError, match="fixes its arms"):
        execute(Request(corpora=(corpus,), protocol_file=file, arms=("raw", "ctx")))


def test_an_arm_file_of_a_protocol_lies_beside_it_and_is_in_its_digest(file: Path) -> None:
    """A changed arm file is another protocol; no path is a part of it."""
    arm = file.parent / "last.toml"
    arm.write_text('schema = "referee.arm/v1"\nname = "last20"\nargv = ["tail", "-n", "20"]\n')
    file.write_text(TEXT.replace('"ctx"', '"last.toml"'))
    first, specs = module._named_arms(load_protocol(file), file.parent)
    assert (first.treatment, specs) == ("last20", {"last20": str(arm)})
    assert str(file.parent) not in rfc8785.dumps(first.to_canonical()).decode()
    arm.write_text(arm.read_text().replace("20", "30", 2))
    arm.write_text(arm.read_text().replace("last30", "last20"))
    assert module._named_arms(load_protocol(file), file.parent)[0].digest != first.digest


def test_an_arm_file_cannot_take_the_name_of_a_built_in_arm(file: Path) -> None:
    """A receipt that says `raw` means the raw output."""
    (file.parent / "raw.toml").write_text('schema = "referee.arm/v1"\nname = "raw"\nargv = ["tail"]\n')
    file.write_text(TEXT.replace('"ctx"', '"raw.toml"'))
    with pytest.raises(UsageError, match="name 'raw' is taken"):
        module._named_arms(load_protocol(file), file.parent)
