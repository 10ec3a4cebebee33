"""The census of the pytest family against recorded truth (S5.0.12, S5.1.3 to S5.1.6).

Every folder of `tests/profiles/pytest/` that holds a `truth.json` is a real capture; its truth was recorded by a plugin
that hears the runner's own report objects. The model for the census tests of other families.
"""

import json
from collections import Counter
from pathlib import Path
from typing import Any

import pytest

from ctx.digest.base import CaptureFacts, DigestContext
from ctx.digest.pytestprof import PytestProfile
from ctx.evidence import CoverageReason, EvidenceGraph, ItemKind, Location, Missing, Outcome, SourceRef
from ctx.text import StreamView

CASES = Path(__file__).parent / "profiles" / "pytest"
FAILING = (ItemKind.FAILING_TEST, ItemKind.ERRORING_TEST, ItemKind.LOAD_ERROR)

UNNAMED = {
    "crash": "dots only, the interpreter died before any block",
    "exits": "dots only, the process left before any block",
    "internal": "dots only, the runner broke before any block",
    "pytest-exit": "dots only, pytest.exit() skips the blocks",
    "mixed-rN-no": "neither summary nor blocks nor result rows",
}
"""Captures whose text names no failing test at all."""
HEADINGS_ONLY = {"mixed-rN", "mixed-xfail-tb"}
"""No summary rows and no result rows: blocks name tests without their files."""
NO_PHASES = {"mixed-tb-no", "mixed7-tb-no", "mixed-durations", "sugar", "sugar-short"}
"""Nothing in the text says in which phase an error was raised."""
AMBIGUOUS = {"custom-q-no"}
"""Ids and messages both hold ` - `, and nothing but the summary names the tests."""
DECLINED = {"mixed-no-terminal", "tldr", "tldr-v"}
"""No report, or one in the manner of unittest: another family's, and only what a test printed looks like pytest."""


def context(case: Path, **streams: bytes) -> DigestContext:
    meta = json.loads((case / "meta.json").read_text(encoding="utf-8"))
    views = {
        name: StreamView(name, streams.get(name, (case / f"{name}.txt").read_bytes())) for name in ("stdout", "stderr")
    }
    return DigestContext(streams=views, manifest=CaptureFacts(argv=tuple(meta["argv"]), exit_code=meta["exit_code"]))


def extract(case: Path) -> EvidenceGraph:
    ctx = context(case)
    profile = PytestProfile()
    assert profile.detect(ctx) is not None
    graph = profile.extract(ctx)
    assert graph is not None
    return graph


def truth(case: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((case / "truth.json").read_text(encoding="utf-8"))
    # A worker that dies reports for the test without a phase.
    for fact in loaded["failing"]:
        fact["phase"] = "call" if fact["phase"] == "???" else fact["phase"]
    return loaded


def names() -> list[str]:
    return sorted(folder.name for folder in CASES.iterdir() if (folder / "truth.json").exists())


NAMED = [name for name in names() if name not in {*UNNAMED, *HEADINGS_ONLY, *AMBIGUOUS, *DECLINED, "conftest-broken"}]


@pytest.mark.parametrize("name", NAMED)
def test_the_census_is_the_set_of_recorded_failures(name: str) -> None:
    graph = extract(CASES / name)
    expected = Counter((fact["id"], fact["phase"]) for fact in truth(CASES / name)["failing"])
    found = Counter((item.identity, str(item.fields.get("phase", ""))) for item in graph.items if item.kind in FAILING)
    if name in NO_PHASES:
        known = Counter({key: n for key, n in found.items() if key[1]})
        assert known <= expected
        expected = Counter(identity for identity, _ in expected.elements())
        found = Counter(identity for identity, _ in found.elements())
    assert found == expected


@pytest.mark.parametrize("name", sorted(UNNAMED))
def test_a_report_without_names_claims_none_and_is_never_complete(name: str) -> None:
    """S5.1.3, S5.1.13: what the text does not name is missing, and said to be."""
    graph = extract(CASES / name)
    assert [item.identity for item in graph.items if item.kind in FAILING] == []
    assert truth(CASES / name)["failing"]
    assert not graph.coverage.complete
    assert graph.outcome is Outcome.FAIL


@pytest.mark.parametrize("name", sorted(HEADINGS_ONLY))
def test_headings_alone_give_every_test_but_no_claim_of_completeness(name: str) -> None:
    """S5.1.3: each failing test is an item; one whose file nothing names keeps the name that is printed."""
    graph = extract(CASES / name)
    recorded = Counter(fact["id"] for fact in truth(CASES / name)["failing"])
    found = [item for item in graph.items if item.kind in FAILING]
    assert len(found) == recorded.total() == graph.coverage.expected
    for item in found:
        exact = item.identity in recorded
        assert exact or [key for key in recorded if key.endswith("::" + item.identity)], item.identity
    assert CoverageReason.OUTPUT_SUPPRESSED in graph.coverage.reasons
    assert not graph.coverage.complete


@pytest.mark.parametrize("name", sorted(AMBIGUOUS))
def test_a_row_that_can_be_split_twice_is_kept_without_a_claim_of_completeness(name: str) -> None:
    """S5.1.4: the whole row stays behind the item; the guess is marked and nothing is called complete."""
    graph = extract(CASES / name)
    found = [item for item in graph.items if item.kind in FAILING]
    assert len(found) == len(truth(CASES / name)["failing"])
    assert [item.identity for item in found if item.fields.get("identity_from") == "guessed split"]
    assert CoverageReason.PARSE_GAP in graph.coverage.reasons
    assert not graph.coverage.complete


@pytest.mark.parametrize("name", sorted(DECLINED))
def test_what_is_no_report_of_the_runner_is_declined(name: str) -> None:
    """S5.0.5, S5.0.6: rows and totals that a test printed make no pytest report of another reporter's output."""
    assert PytestProfile().detect(context(CASES / name)) is None


@pytest.mark.parametrize("name", NAMED)
def test_a_complete_census_is_as_large_as_the_truth(name: str) -> None:
    """S3.1, S5.1.16."""
    graph = extract(CASES / name)
    if graph.coverage.complete:
        assert graph.coverage.parsed == len(truth(CASES / name)["failing"])


_CRASH_IN_TEST_FILE = [
    name
    for name in NAMED
    if name.startswith(("mixed", "many", "collect", "report", "fixtures")) and name not in NO_PHASES
]


@pytest.mark.parametrize("name", _CRASH_IN_TEST_FILE)
def test_class_and_place_are_those_of_the_recorded_crash(name: str) -> None:
    """S5.1.7: where the raise stands in the test's own file, the location is exactly that line."""
    graph = extract(CASES / name)
    facts = truth(CASES / name)["failing"]
    by_key: dict[tuple[str, str], list[dict[str, Any]]] = {}
    for fact in facts:
        by_key.setdefault((fact["id"], fact["phase"]), []).append(fact)
    compared = 0
    for item in graph.items:
        if item.kind not in FAILING:
            continue
        options = by_key[item.identity, str(item.fields.get("phase", ""))]
        if len(options) != 1 or "raised_at" not in options[0]:
            continue
        file, _, line = options[0]["raised_at"].rpartition(":")
        own_file = file == item.identity.partition("::")[0]
        if own_file and isinstance(item.location, Location) and "<outside>" not in item.location.file:
            assert (item.location.file, item.location.line) == (file, int(line)), item.identity
            compared += 1
        message = options[0]["message"]
        if not isinstance(item.failure_class, Missing) and item.failure_class != "xpass_strict":
            head = message.partition(":")[0]
            assert item.failure_class == ("AssertionError" if message.startswith("assert ") else head), item.identity
    if any(isinstance(item.detail, SourceRef) for item in graph.items if item.kind is ItemKind.FAILING_TEST):
        assert compared


@pytest.mark.parametrize(
    ("name", "plain"),
    [("mixed-color", "mixed-tb-auto"), ("mixed-color-v", "mixed-v"), ("mixed-narrow", "mixed-tb-short")],
)
def test_colour_and_width_change_no_fact(name: str, plain: str) -> None:
    """S19.1: census, counts and locations of the coloured (narrow) run equal those of the plain one."""
    one, other = extract(CASES / name), extract(CASES / plain)

    def facts(graph: EvidenceGraph) -> list[object]:
        return [
            # In 40 columns the summary keeps no class of a failure without traceback.
            (i.identity, i.fields.get("phase"), str(i.location), "narrow" in name or i.failure_class)
            for i in graph.items
            if i.kind in FAILING
        ]

    assert facts(one) == facts(other)
    assert one.aggregate == other.aggregate
    assert one.coverage.complete
    assert other.coverage.complete


def test_every_capture_is_walked() -> None:
    assert len(NAMED) > 70
    assert set(UNNAMED) | HEADINGS_ONLY | DECLINED <= set(names())
    real = [name for name in names() if json.loads((CASES / name / "meta.json").read_text())["origin"] == "real"]
    assert len(real) == len(names())
