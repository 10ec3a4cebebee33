"""Contracts are valid, and what the renderer selects satisfies them (S4.1 to S4.10, S5.0.12).

Every case of the corpus is digested with a store. Its receipt must hold each required class as present or as a stored
artifact, or the digest opens with `PARTIAL:` for it; each class that may leave must leave an address that resolves.
"""

import json
from collections.abc import Callable, Mapping
from dataclasses import replace
from functools import cache
from pathlib import Path
from typing import Any

import pytest

import ctx
from ctx.contracts.load import load_contract
from ctx.contracts.model import BUILT_IN_FAMILIES, FactClass, LossSeverity, buildable
from ctx.contracts.selection import ADDRESSED, Selection, check_classes, validate_selection
from ctx.digest import _PROFILES
from ctx.evidence import ClassState, EvidenceGraph, ItemKind

ROOT = Path(__file__).parents[1]
CASES = ROOT / "corpora" / "core" / "cases"
CONTRACTS = ROOT / "ctx" / "contracts"
FAMILIES = ("lint", "pytest", "text")
LARGE_BYTES = 400_000
"""Larger captures are in the corpus tests; here they would take most of the time and show nothing else."""
DELIVERED = (ClassState.PRESENT, ClassState.STORED, ClassState.UNVERIFIABLE)


def _captured(case: Path) -> dict[str, bytes]:
    return {name: (case / f"{name}.txt").read_bytes() for name in ("stdout", "stderr")}


def _cases() -> list[str]:
    """`family/name` of every case of the corpus that is not too large."""
    found = []
    for family in FAMILIES:
        for case in sorted((CASES / family).iterdir()):
            if sum(len(raw) for raw in _captured(case).values()) <= LARGE_BYTES:
                found.append(f"{family}/{case.name}")
    return found


def digest(name: str, store: ctx.Store | None) -> ctx.Rendered:
    case = CASES / name
    meta: Mapping[str, Any] = json.loads((case / "meta.json").read_text(encoding="utf-8"))
    streams = _captured(case)
    return ctx.digest_output(
        streams["stdout"],
        streams["stderr"],
        argv=meta["argv"],
        exit_code=meta["exit_code"],
        signal=9 if meta["ended_by"] == "signal" else None,
        store=store,
    )


Stored = Callable[[str], tuple[ctx.Rendered, ctx.Store]]


@pytest.fixture(scope="module")
def stored(tmp_path_factory: pytest.TempPathFactory) -> Stored:
    """The digest of a case, made and stored once."""
    store = ctx.Store(tmp_path_factory.mktemp("conformance") / "store")
    made: dict[str, ctx.Rendered] = {}

    def get(name: str) -> tuple[ctx.Rendered, ctx.Store]:
        if name not in made:
            made[name] = digest(name, store)
        return made[name], store

    return get


# Contracts ------------------------------------------------------------------------------------------------------------


def test_every_contract_file_loads_and_names_its_own_family() -> None:
    files = sorted(path.stem for path in CONTRACTS.glob("*.toml"))
    assert files == ["generic", *FAMILIES]
    for family in files:
        contract = load_contract(family)
        assert contract.family == family
        assert contract.question.endswith("?")
        assert contract.unacceptable
        assert len(contract.contract_id) == 64
        assert 0 < contract.floor_tokens <= contract.ceiling_tokens


def test_every_family_has_a_contract_and_every_contract_an_extractor() -> None:
    """S4.10: the two lists are one."""
    assert sorted(profile.family for profile in _PROFILES) == sorted(FAMILIES)
    for profile in _PROFILES:
        contract = load_contract(profile.family)
        assert contract.profile == profile.version


@pytest.mark.parametrize("family", FAMILIES)
def test_a_contract_requires_only_what_its_extractor_can_build(family: str) -> None:
    """S4.4: and it never lets a catastrophic class be dropped in silence, nor lists one twice."""
    contract = load_contract(family)
    assert family in BUILT_IN_FAMILIES
    for rules in contract.outcomes.values():
        tiers = [*rules.required, *rules.preferred, *rules.retrievable]
        assert len(set(tiers)) == len(tiers)
        assert all(buildable(fact_class, family) for fact_class in tiers)
    listed = {
        c for rules in contract.outcomes.values() for c in (*rules.required, *rules.preferred, *rules.retrievable)
    }
    assert set(contract.severities) <= listed


def test_generic_never_promises_a_census() -> None:
    """S4.8."""
    generic = load_contract("generic")
    assert not buildable(FactClass.COMPLETE_IDENTITY_CENSUS, "generic")
    assert all(FactClass.COMPLETE_IDENTITY_CENSUS not in rules.required for rules in generic.outcomes.values())


def test_an_identity_lost_is_a_catastrophe_wherever_identities_decide() -> None:
    for family in ("pytest", "lint"):
        contract = load_contract(family)
        assert contract.severity(FactClass.COMPLETE_IDENTITY_CENSUS) is LossSeverity.CATASTROPHIC
        assert FactClass.COMPLETE_IDENTITY_CENSUS in contract.rules("fail").required


# Selections of real captures ------------------------------------------------------------------------------------------


@pytest.mark.parametrize("name", _cases())
def test_a_digest_satisfies_its_contract(name: str, stored: Stored) -> None:
    """S4.5, S4.7: required classes are there, or said to be missing; what left is behind an address that resolves."""
    rendered, store = stored(name)
    contract = load_contract(rendered.family)
    rules = contract.rules(rendered.graph.outcome)
    partial = {line.removeprefix("PARTIAL: ") for line in rendered.text.split("\n") if line.startswith("PARTIAL: ")}
    inline = rendered.plan.rung == "inline"
    for fact_class in rules.required:
        state = rendered.receipt.classes[str(fact_class)]
        # At `inline` nothing is left out, and nothing is added: not even the line that names a gap.
        assert state.state in DELIVERED or str(fact_class) in partial or inline, (fact_class, state)
    for fact_class in rules.retrievable:
        assert rendered.receipt.classes[str(fact_class)].state in DELIVERED, fact_class
    assert rendered.receipt.required_total == len(rules.required)
    if inline:
        assert rendered.addresses == ()
    for address in rendered.addresses:
        assert store.read(address) is not None
    if rendered.receipt.omitted_lines:
        assert any("#std" in address for address in rendered.addresses)
    if rendered.receipt.omitted_items:
        assert f"run:{rendered.meta.handle[:12]}#census" in rendered.addresses


@pytest.mark.parametrize("name", _cases())
def test_a_partial_line_is_printed_exactly_for_what_the_graph_lacks(name: str, stored: Stored) -> None:
    """S4.5: `PARTIAL:` stands for a class that is absent, and for nothing else."""
    rendered, _ = stored(name)
    partial = [line.removeprefix("PARTIAL: ") for line in rendered.text.split("\n") if line.startswith("PARTIAL: ")]
    if rendered.plan.rung == "inline":
        return
    for named in partial:
        assert rendered.receipt.classes[named].state is ClassState.ABSENT
    complete = rendered.graph.coverage.complete
    if FactClass.COMPLETE_IDENTITY_CENSUS in load_contract(rendered.family).rules(rendered.graph.outcome).required:
        assert ("complete_identity_census" in partial) == (not complete)


# Broken selections ----------------------------------------------------------------------------------------------------


@cache
def _graph(name: str) -> EvidenceGraph:
    return digest(name, None).graph


def _whole(graph: EvidenceGraph) -> Selection:
    """A selection that leaves nothing out."""
    ids = frozenset(item.id for item in graph.items)
    return Selection(
        named=ids,
        summarised=ids,
        detailed=ids,
        addressable=ids,
        aggregate=True,
        coverage=True,
        excerpts=graph.excerpts,
        lines={
            name: frozenset(line.number for e in graph.excerpts if e.source.stream == name for line in e.lines)
            for name in graph.operation.streams
        },
        streams=frozenset(graph.operation.streams),
    )


BROKEN = [
    ("lint/mypy-toolz-37", "named", FactClass.COMPLETE_IDENTITY_CENSUS),
    ("lint/mypy-toolz-37", "aggregate", FactClass.AGGREGATE_COUNTS),
    ("lint/mypy-toolz-37", "streams", FactClass.STDOUT),
    ("pytest/toolz-37-default", "named", FactClass.COMPLETE_IDENTITY_CENSUS),
    ("pytest/toolz-37-default", "aggregate", FactClass.AGGREGATE_COUNTS),
    ("pytest/toolz-37-default", "addressable", FactClass.FULL_TRACEBACK),
    ("pytest/toolz-37-default", "streams", FactClass.STDOUT),
    ("text/server-medium", "named", FactClass.STANDING_LINES),
    ("text/migrate-middle-3000", "streams", FactClass.OMISSION_ADDRESS),
    ("text/release-green-words-exit-2", "excerpts", FactClass.CONCLUSION),
]


@pytest.mark.parametrize("name", sorted({name for name, _, _ in BROKEN}))
def test_a_whole_selection_has_no_problem(name: str) -> None:
    graph = _graph(name)
    assert validate_selection(graph, load_contract(graph.family), _whole(graph)) == ()


@pytest.mark.parametrize(("name", "part", "lost"), BROKEN)
def test_a_selection_that_loses_a_class_fails(name: str, part: str, lost: FactClass) -> None:
    """S3.6: over typed facts; the problem names the class and how much of it is there."""
    graph = _graph(name)
    contract = load_contract(graph.family)
    whole = _whole(graph)
    emptied: dict[str, Any] = {part: type(getattr(whole, part))()}
    if part == "named":
        # One identity is enough.
        standing = [i for i in graph.items if i.kind is ItemKind.LINE and i.fields.get("rank") == 1]
        emptied = {"named": whole.named - {(graph.census or standing)[-1].id}}
    if part == "excerpts":
        emptied["lines"] = {}
    broken = replace(whole, **emptied)
    problems = validate_selection(graph, contract, broken)
    assert any(problem.startswith(f"{lost}:") for problem in problems), problems
    state = check_classes(graph, contract, broken)[lost]
    assert state.state is ClassState.ABSENT
    assert state.with_fact < state.of


@pytest.mark.parametrize("name", ["lint/mypy-toolz-37", "pytest/toolz-37-default"])
def test_a_loss_that_is_declared_is_no_problem(name: str) -> None:
    """S4.5: the `PARTIAL:` line is what makes it honest."""
    graph = _graph(name)
    declared = replace(_whole(graph), named=frozenset(), partial=(str(FactClass.COMPLETE_IDENTITY_CENSUS),))
    assert validate_selection(graph, load_contract(graph.family), declared) == ()


def test_without_a_store_addressed_classes_are_said_to_be_lost() -> None:
    """S2.7: no address, one line that says so."""
    rendered = digest("pytest/toolz-37-default", None)
    assert rendered.addresses == ()
    assert "not stored: omitted text cannot be retrieved" in rendered.text
    assert {FactClass.STDOUT, FactClass.STDERR} <= ADDRESSED


def test_most_of_the_corpus_is_walked() -> None:
    walked = _cases()
    assert len(walked) >= 150
    assert {name.partition("/")[0] for name in walked} == set(FAMILIES)
