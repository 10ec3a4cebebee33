"""Controls: what every receipt shows of the referee itself (S15.8); each fails on rows that are bent its way."""

from dataclasses import replace

import pytest

from referee import controls as module
from referee.cases import Case
from referee.controls import NAMES, row_controls, run_controls
from referee.corpus.freeze import freeze_corpus
from referee.corpus.layout import Corpus, load_corpus
from referee.loop import Results, run_cases
from referee.protocol import Protocol
from referee.score import Row
from tests.referee.builders import made_case, protocol

READERS = ("impatient", "follower", "rerunner")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    """A case with failures all over it, one with a decisive end, and a passing one."""
    folder = tmp_path_factory.mktemp("controls")
    names = [f"tests/test_{n}.py::test_{n}" for n in range(30)]
    made_case(
        folder,
        "spread",
        stdout="".join(f"FAILED {name} - assert {n} == 0\n{'noise ' * 20}\n" for n, name in enumerate(names))
        + "30 failed in 1.00s\n",
        truth={
            "outcome": "fail",
            "counts": {"failed": 30},
            "items": [{"identity": name} for name in names],
            "decisive": ["30 failed in 1.00s"],
        },
        strata={"decisive_position": "tail"},
    )
    made_case(
        folder,
        "single",
        stdout="working\n" * 40 + "FAILED tests/test_a.py::test_one - ValueError: no\n1 failed in 0.10s\n",
        truth={
            "outcome": "fail",
            "counts": {"failed": 1},
            "items": [{"identity": "tests/test_a.py::test_one"}],
            "decisive": ["ValueError: no"],
        },
        strata={"decisive_position": "tail"},
    )
    made_case(
        folder,
        "clean",
        stdout="3 passed in 0.10s\n",
        truth={"outcome": "pass", "counts": {"passed": 3}, "items": []},
        exit_code=0,
    )
    freeze_corpus(folder, "1", name="controls")
    return load_corpus(folder)


@pytest.fixture(scope="module")
def judged(corpus: Corpus) -> tuple[Protocol, list[tuple[Corpus, Case]], Results]:
    """The controls' arms on that corpus, `head_tail` against `tail`."""
    fixed = protocol(treatment="tail", readers=READERS)
    chosen = [(corpus, case) for case in corpus.cases]
    return fixed, chosen, run_cases(fixed, chosen, workers=1)


Judged = tuple[Protocol, list[tuple[Corpus, Case]], Results]


def bent(rows: list[Row], arm: str, **values: object) -> list[Row]:
    """The rows with one value of one arm's failing cases replaced."""
    return [replace(row, **values) if row.arm == arm and row.outcome == "fail" else row for row in rows]


def test_every_control_of_the_specification_runs_and_holds(judged: Judged) -> None:
    """The nine rows of S15.8, in its order."""
    found = run_controls(*judged)
    assert [entry["name"] for entry in found] == list(NAMES)
    assert [entry for entry in found if not entry["held"]] == []
    assert len(NAMES) == 9


@pytest.mark.parametrize(
    ("name", "arm", "values"),
    [
        ("raw", "raw", {"identity_recall_inline": 0.9}),
        ("raw", "raw", {"decisive_recall_addressable": 0.5}),
        ("raw", "raw", {"containment": 0.1}),
        ("raw", "raw", {"undeclared_omissions": 1}),
        ("raw", "raw", {"false_claims": 1}),
        ("lying", "liar", {"false_claims": 0}),
        ("truncating", "truncating", {"decisive_recall_addressable": 1.0}),
        ("truncating", "truncating", {"undeclared_omissions": 0, "identity_recall_inline": 0.5}),
        ("dead_address", "dead_address", {"unresolvable_addresses": 0}),
    ],
)
def test_a_referee_that_misses_what_is_wrong_fails_its_control(
    judged: Judged, name: str, arm: str, values: dict[str, object]
) -> None:
    """One bent metric fails one control and no other."""
    fixed, _, results = judged
    problems = row_controls(fixed, bent(results.rows, arm, **values))
    assert [control for control, problem in problems.items() if problem] == [name]


def test_without_rows_the_raw_control_does_not_hold() -> None:
    """Nothing to count is no pass."""
    assert row_controls(protocol(), [])["raw"]


def test_a_success_without_any_text_fails_the_control(judged: Judged) -> None:
    """Empty arm: a reader that takes no slice of the raw output cannot know."""
    fixed, chosen, results = judged
    guessed = replace_rows(results, bent(results.rows, "empty", success=True))
    assert held(run_controls(fixed, chosen, guessed)) == {**dict.fromkeys(NAMES, True), "empty": False}


def test_rows_that_differ_in_another_environment_fail_the_control(judged: Judged) -> None:
    """The last row of S15.8."""
    fixed, chosen, results = judged
    other = replace_rows(results, results.rows)
    other.repeat_problem = "environment 1: pytest/single, arm raw, reader impatient: another result"
    assert held(run_controls(fixed, chosen, other))["repeat"] is False


def test_an_answer_that_is_right_for_any_truth_fails_the_shuffled_control(
    judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Graders that look at something else than truth."""
    monkeypatch.setattr(module, "succeeded", lambda case, episode: True)
    assert held(run_controls(*judged))["shuffled_truth"] is False


def test_a_verifier_that_accepts_anything_fails_the_tampered_control(
    judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    """One byte, one truth field, one extra file: each must be refused."""
    monkeypatch.setattr(module, "verify_corpus", lambda folder: [])
    assert held(run_controls(*judged))["tampered_corpus"] is False


def test_a_baseline_that_is_the_treatment_shows_no_difference_and_no_gain(
    judged: Judged, monkeypatch: pytest.MonkeyPatch
) -> None:
    """`hold: no_gain`; statistics that find a difference between twins fail it."""
    fixed, _, results = judged
    assert not row_controls(fixed, results.rows)["treatment_is_baseline"]

    def biased(pairs: object, fixed: Protocol) -> dict[str, dict[str, object]]:
        found = {"difference": 0.1, "verdict": "superior", "clusters": 5}
        return {name: dict(found) for name in ("success", "preservation", "tokens")}

    monkeypatch.setattr(module, "statistics", biased)
    assert row_controls(fixed, results.rows)["treatment_is_baseline"]


def replace_rows(results: Results, rows: list[Row]) -> Results:
    """The same results with other rows."""
    return Results(
        rows=rows,
        losses=results.losses,
        episodes=results.episodes,
        latencies=results.latencies,
        digests=results.digests,
    )


def held(found: list[dict[str, object]]) -> dict[object, object]:
    return {entry["name"]: entry["held"] for entry in found}
