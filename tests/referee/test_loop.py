"""The loop over cases, arms and readers, and what rows become (S14, S15.3)."""

import random
from dataclasses import replace
from math import exp, log
from pathlib import Path
from typing import Any

import pytest

import referee
from referee import loop as module
from referee.corpus.layout import Corpus, load_corpus
from referee.errors import CorpusError, RunError, UsageError
from referee.execute import Request, execute
from referee.loop import chosen_cases, judged_elsewhere, load_checked, run_cases
from referee.metrics.determinism import Elsewhere
from referee.protocol import Protocol
from referee.score import Row, cells, parse_cells
from referee.summarise import metrics, pairs_of, preserved, reversals, statistics, strata
from tests.referee.builders import ROW, one_environment, pair, protocol, tiny_corpus

NAMES = ("pytest/iniconfig-eight-tb-line", "pytest/iniconfig-pass", "text/cp-one-missing")


@pytest.fixture(scope="module")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Corpus:
    return load_corpus(tiny_corpus(tmp_path_factory.mktemp("run"), NAMES))


@pytest.fixture(autouse=True)
def _fewer_repeats(monkeypatch: pytest.MonkeyPatch) -> None:
    one_environment(monkeypatch)


def fixed(**values: Any) -> Protocol:
    return protocol(**{"readers": ("impatient", "follower"), **values})


def test_there_is_a_row_for_each_case_arm_and_reader(corpus: Corpus) -> None:
    """Sorted; those of controls too."""
    chosen = [(corpus, case) for case in corpus.cases]
    results = run_cases(fixed(), chosen, workers=1)
    keys = [(row.case, row.arm, row.reader) for row in results.rows]
    assert keys == sorted((name, arm, reader) for name in NAMES for arm in fixed().arms for reader in fixed().readers)
    assert {row.cluster for row in results.rows if row.case == "pytest/iniconfig-pass"} == {"pypi:iniconfig"}
    assert all(row.deterministic for row in results.rows)


def test_processes_and_order_do_not_reach_the_rows(corpus: Corpus) -> None:
    """One process or three, cases in another order."""
    chosen = [(corpus, case) for case in corpus.cases]
    assert run_cases(fixed(), chosen[::-1], workers=3).rows == run_cases(fixed(), chosen, workers=1).rows


def test_what_is_asked_for_is_chosen(corpus: Corpus) -> None:
    """By case, by family; a name that is not there is an error with its neighbours."""
    assert [case.id for _, case in chosen_cases([corpus], (), ("text",))] == ["text/cp-one-missing"]
    assert [case.id for _, case in chosen_cases([corpus], (NAMES[1],), ())] == [NAMES[1]]
    with pytest.raises(UsageError, match="near it: pytest/iniconfig-pass"):
        chosen_cases([corpus], ("pytest/iniconfig-pas",), ())
    with pytest.raises(UsageError, match="it has pytest, text"):
        chosen_cases([corpus], (), ("lint",))


def test_a_case_that_stands_twice_is_an_error_of_the_run(corpus: Corpus) -> None:
    """Never a silent drop."""
    with pytest.raises(RunError, match="in more than one corpus"):
        run_cases(fixed(), [(corpus, corpus.cases[0])] * 2, workers=1)


def test_a_treatment_that_is_the_baseline_is_held_for_no_gain(corpus: Corpus) -> None:
    """S15.8, with the very same arm named twice."""
    request = Request(corpora=(Path(corpus.folder),), arms=("tail", "tail"), readers=("impatient",), workers=1)
    found = execute(request).statement["predicate"]["reproducible"]
    assert {entry["difference"] for entry in found["overall"]["statistics"].values()} == {0}
    assert "no_gain" in {reason["code"] for reason in found["decision"]["reasons"]}
    assert found["reversals"] == []


def test_a_corpus_that_does_not_verify_is_refused(corpus: Corpus, tmp_path: Path) -> None:
    """S15.8: before any episode."""
    (Path(corpus.folder) / "stray.txt").write_text("x")
    try:
        with pytest.raises(CorpusError, match=r"stray\.txt: not listed"):
            load_checked([Path(corpus.folder)])
    finally:
        (Path(corpus.folder) / "stray.txt").unlink()
    assert load_checked([Path(corpus.folder)])[0].name == "tiny"


def test_a_text_that_differs_elsewhere_is_marked_and_a_row_that_does_is_a_problem(
    corpus: Corpus, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A fact about the arm in the one case, about the referee in the other."""
    chosen = [(corpus, case) for case in corpus.cases]
    honest: list[Elsewhere] = []

    def kept(*arguments: Any, **values: Any) -> list[Elsewhere]:
        honest.extend(real(*arguments, **values))
        return honest

    real = module.runs_elsewhere
    monkeypatch.setattr(module, "runs_elsewhere", kept)
    assert run_cases(fixed(), chosen, workers=1).repeat_problem == ""

    other = [replace(found, digests={**found.digests, NAMES[1]: "0" * 64}) for found in honest]
    monkeypatch.setattr(module, "runs_elsewhere", lambda *arguments, **values: other)
    results = run_cases(fixed(), chosen, workers=1)
    assert {(row.case, row.arm) for row in results.rows if not row.deterministic} == {(NAMES[1], "ctx")}
    assert results.repeat_problem == ""

    eight = NAMES[0]
    own = tuple(("x", *row[1:]) if (row[0], row[3]) == (eight, "ctx") else row for row in honest[0].rows)
    moved = {**honest[0].digests, eight: "0" * 64}
    monkeypatch.setattr(
        module, "runs_elsewhere", lambda *arguments, **values: [replace(honest[0], digests=moved, rows=own)]
    )
    results = run_cases(fixed(), chosen, workers=1)
    assert {(row.case, row.arm) for row in results.rows if not row.deterministic} == {(eight, "ctx")}
    assert results.repeat_problem == ""

    bent = (("pytest/iniconfig-pass", *honest[0].rows[0][1:]), *honest[0].rows[1:])
    monkeypatch.setattr(module, "runs_elsewhere", lambda *arguments, **values: [replace(honest[0], rows=bent)])
    assert "another result" in run_cases(fixed(), chosen, workers=1).repeat_problem


def test_a_case_of_middle_size_of_each_family_is_judged_elsewhere(corpus: Corpus) -> None:
    """For the last control."""
    sizes = sorted((len(c.stdout) + len(c.stderr), c.id) for c in corpus.cases if c.family == "pytest")
    assert judged_elsewhere([(corpus, case) for case in corpus.cases]) == [sizes[1][1], "text/cp-one-missing"]


# Rows -----------------------------------------------------------------------------------------------------------------


def test_a_row_survives_its_cells() -> None:
    """Undefined is empty; truth values, numbers and texts come back as they were."""
    for row in (
        ROW,
        replace(ROW, identity_recall_inline=None, frontier=None, small_output_overhead=0, arm_error="a, b\nc"),
        replace(ROW, arm_error='quoted "x"\r\ny\rz'),
        replace(ROW, priced_cost=1 / 3, containment=-0.25, success=False),
    ):
        assert parse_cells(cells(row)) == row


def test_a_side_that_is_missing_is_an_error_of_the_run() -> None:
    """S15.3: which case, which reader, which arm."""
    rows = pair("pytest/a", "x")
    with pytest.raises(RunError, match="case pytest/a, reader impatient: no row of arm head_tail"):
        pairs_of(rows[1:], "head_tail", "ctx")
    with pytest.raises(RunError, match="no row of arm ctx"):
        pairs_of(rows[:1], "head_tail", "ctx")


def test_undefined_values_are_left_out_of_means_with_their_number() -> None:
    """S14.12."""
    rows = [replace(ROW, case=f"c{n}", identity_recall_inline=value) for n, value in enumerate((1.0, 0.5, None))]
    found = metrics(rows)
    assert found["identity_recall_inline"] == 0.75
    assert found["undefined"] == {"identity_recall_inline": 1}
    assert metrics([rows[2]])["identity_recall_inline"] is None


def test_what_a_delivery_does_is_counted_once_whoever_reads_it() -> None:
    """Seven readers of one false claim see one false claim."""
    rows = [replace(ROW, reader=f"r{n}", false_claims=2, lost=1) for n in range(7)]
    assert (metrics(rows)["false_claims"], metrics(rows)["lost"]) == (2, 1)


@pytest.mark.parametrize(
    ("ids", "key", "value"), [(0.5, 1.0, 0.75), (None, 0.4, 0.4), (0.2, None, 0.2), (None, None, 1.0)]
)
def test_preservation_is_the_mean_of_what_truth_has(ids: float | None, key: float | None, value: float) -> None:
    """Inline or addressable; with nothing to keep, nothing is lost."""
    row = replace(ROW, identity_recall_addressable=ids, decisive_recall_addressable=key)
    assert preserved(row) == pytest.approx(value)


def rows_of(outcomes: list[tuple[bool, bool]], reader: str) -> list[Row]:
    return [
        row
        for number, sides in enumerate(outcomes)
        for row in pair(f"pytest/c{number}", f"k{number}", reader=reader, success=sides)
    ]


def test_mcnemar_is_by_reader_and_over_cases_that_every_reader_answers() -> None:
    """S15.5: reader one wins 3 and loses 1; the case it loses is lost by both; case 2 is won by one of two only."""
    one = rows_of([(False, True), (False, True), (False, True), (True, False), (True, True)], "impatient")
    two = rows_of([(False, True), (False, True), (False, False), (True, True), (True, True)], "follower")
    found = statistics(pairs_of([*one, *two], "head_tail", "ctx"), protocol())["success"]
    assert found["readers"]["impatient"] == {"won": 3, "lost": 1, "p": pytest.approx(0.625)}
    assert found["readers"]["follower"] == {"won": 2, "lost": 0, "p": pytest.approx(0.5)}
    # Over cases: 0 and 1 won, 2 not won, 3 lost, 4 equal.
    assert (found["won"], found["lost"], found["p"]) == (2, 1, pytest.approx(1.0))
    # Over pairs: (5 won - 1 lost) / 10.
    assert found["difference"] == pytest.approx(0.4)
    assert (found["pairs"], found["clusters"]) == (10, 5)


def test_tokens_are_compared_by_their_ratio() -> None:
    """Mean log ratio; a treatment that halves every output has ratio one half."""
    rows = [
        row
        for number in range(12)
        for row in pair(f"pytest/c{number}", f"k{number}", tokens_delivered=(199 + 200 * number, 99 + 100 * number))
    ]
    found = statistics(pairs_of(rows, "head_tail", "ctx"), protocol())["tokens"]
    assert found["ratio"] == pytest.approx(0.5, abs=1e-6)
    assert found["undefined"] == "no variation between clusters"
    assert found["verdict"] == "inconclusive"
    varied = [replace(row, tokens_delivered=row.tokens_delivered + n % 5) for n, row in enumerate(rows)]
    found = statistics(pairs_of(varied, "head_tail", "ctx"), protocol())["tokens"]
    ratios = [
        log(t.tokens_delivered + 1) - log(b.tokens_delivered + 1)
        for b, t in zip(varied[::2], varied[1::2], strict=True)
    ]
    assert found["ratio"] == pytest.approx(exp(sum(ratios) / 12), abs=1e-5)
    assert found["verdict"] == "superior"
    assert found["high"] < 0


def test_statistics_do_not_depend_on_the_order_of_rows() -> None:
    """Rounded and unrounded."""
    generator = random.Random(2)
    rows = [
        row
        for number in range(40)
        for row in pair(
            f"pytest/c{number}",
            f"k{number % 13}",
            success=(generator.random() < 0.5, generator.random() < 0.7),
            tokens_delivered=(generator.randrange(50, 9000), generator.randrange(50, 3000)),
            identity_recall_addressable=(generator.random(), 1.0),
        )
    ]
    shuffled = generator.sample(rows, len(rows))
    assert statistics(pairs_of(rows, "head_tail", "ctx"), protocol()) == statistics(
        pairs_of(shuffled, "head_tail", "ctx"), protocol()
    )


def test_reversals_are_listed_case_by_case_with_the_readers_that_saw_them() -> None:
    """DESIGN 14; an improvement elsewhere hides none."""
    rows = [
        *pair("pytest/a", "x", reader="follower", success=(True, False)),
        *pair("pytest/a", "x", reader="doubter", success=(True, False)),
        *pair("pytest/a", "x", reader="skimmer", success=(False, True)),
        *pair("lint/b", "y", family="lint", identity_recall_addressable=(1.0, 0.5)),
    ]
    found = reversals(pairs_of(rows, "head_tail", "ctx"))
    assert [(r["case"], r["metric"], r["readers"], r["baseline"], r["treatment"]) for r in found] == [
        ("lint/b", "preservation", ["impatient"], 1.0, 0.75),
        ("pytest/a", "success", ["doubter", "follower"], 1.0, 0.0),
    ]


def test_every_stratum_is_reported() -> None:
    """S15.6."""
    rows = [*pair("pytest/a", "x", size=("small", "small")), *pair("pytest/b", "y", size=("flood", "flood"))]
    found = strata(rows, protocol())
    assert set(found["size"]) == {"small", "flood"}
    assert found["size"]["flood"]["cases"] == 1
    assert {"outcome", "size", "decisive_position", "stream", "hostility"} == set(found)


def test_the_library_runs_a_protocol_file_as_often_as_one_likes(tmp_path: Path, corpus: Corpus) -> None:
    """S17.6: `referee.run(protocol) -> Receipt`; corpora lie beside the protocol's folder, or are given."""
    (tmp_path / "protocols").mkdir()
    file = tmp_path / "protocols" / "lib.toml"
    file.write_text(
        'schema = "referee.protocol/v1"\nname = "lib"\nreaders = ["impatient"]\n'
        '[[corpora]]\nname = "tiny"\nversion = "1"\n[arms]\nbaseline = "raw"\ntreatment = "tail"\n'
    )
    receipt = referee.run(file, [corpus.folder])
    assert {row.arm for row in receipt.rows} >= {"raw", "tail"}
    (tmp_path / "corpora").mkdir()
    (tmp_path / "corpora" / "tiny").symlink_to(corpus.folder)
    assert referee.run(str(file)).rows == receipt.rows
