"""The shipped corpus: well formed, large and varied enough to judge on (issue: at least 90 real cases)."""

from pathlib import Path

import pytest

from referee.corpus import Corpus, corpus_stats, load_corpus, verify_corpus

CORE = Path(__file__).resolve().parents[3] / "corpora" / "core"
FAMILIES = ("lint", "pytest", "text")


@pytest.fixture(scope="module")
def core() -> Corpus:
    return load_corpus(CORE)


def test_core_is_well_formed() -> None:
    """S14.3: the checker finds nothing to refuse, nor a path of the machine that it runs on."""
    words = [str(CORE.parents[1]), f"{Path.home()}/", "/simple/"]
    assert verify_corpus(CORE, forbidden_words=words, strict=True) == []


def test_core_has_enough_real_cases(core: Corpus) -> None:
    """At least 90 cases from real tools that nobody marked as hostile."""
    real = [case for case in core.cases if case.origin in ("captured", "generated")]
    assert len(real) >= 90
    assert sum(case.origin == "captured" for case in core.cases) >= 60


def test_core_has_enough_clusters(core: Corpus) -> None:
    """S15.1: the statistics need clusters in every family."""
    stats = corpus_stats(core)
    assert tuple(stats.families) == FAMILIES
    assert len(stats.clusters) >= 12
    for family in stats.families.values():
        assert family.clusters >= 5
    assert stats.output_bytes <= 25_000_000


@pytest.mark.parametrize("family", FAMILIES)
def test_every_family_has_passes_failures_and_all_sizes(core: Corpus, family: str) -> None:
    """A family that only fails, or only floods, would judge one rung."""
    cases = [case for case in core.cases if case.family == family]
    assert {"pass", "fail"} <= {case.truth.outcome for case in cases}
    assert {case.strata["size"] for case in cases} == {"small", "medium", "large", "flood"}


def test_decisive_strings_stand_everywhere(core: Corpus) -> None:
    """S14.1: early, in the middle, at the tail; on either stream and on both."""
    text = [case for case in core.cases if case.family == "text"]
    assert {"head", "middle", "tail", "spread"} <= {case.strata["decisive_position"] for case in text}
    assert {"stdout", "stderr", "both", "none"} <= {case.strata["stream"] for case in core.cases}


def test_core_has_every_scale_of_failure(core: Corpus) -> None:
    """One, about eight, about 37 and more than 200 failures, in pytest and in lint."""
    for family in ("pytest", "lint"):
        sizes = [len(case.truth.items) for case in core.cases if case.family == family]
        assert any(n == 1 for n in sizes)
        assert any(2 <= n <= 12 for n in sizes)
        assert any(25 <= n <= 60 for n in sizes)
        assert any(n >= 200 for n in sizes)


def test_adversarial_cases_are_marked(core: Corpus) -> None:
    """Hostile outputs are marked, so that nobody takes them for ordinary ones."""
    marks = {case.strata["hostility"] for case in core.cases} - {"none"}
    assert {"forged_summary", "odd_ids", "control_characters", "forged_digest"} <= marks


def test_every_lint_tool_is_there(core: Corpus) -> None:
    """The tools the lint family has to know, each with its own output."""
    tools = {case.tool for case in core.cases if case.family == "lint"}
    assert {
        "ruff", "mypy", "pyright", "pylint", "flake8", "eslint", "tsc", "gcc", "g++", "clang", "cargo", "rustc",
        "javac", "shellcheck",
    } <= tools  # fmt: skip
