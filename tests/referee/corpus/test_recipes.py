"""The recipes: a mutator that plants the same defects everywhere, and truth read from reports, not from text."""

import json
from collections.abc import Iterator
from pathlib import Path
from types import ModuleType

import pytest

RECIPES = Path(__file__).resolve().parents[3] / "corpora" / "recipes"

SUITE = """\
import unittest


def test_one():
    value = 1
    assert value == 1


def test_two():
    assert [1] == [1], "naïve"


class TestThree(unittest.TestCase):
    def test_three(self):
        self.assertEqual(3, 3)


def test_nothing_to_break():
    pass
"""


@pytest.fixture
def recipes(monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """The recipes' folder on the import path, for one test."""
    monkeypatch.syspath_prepend(str(RECIPES))
    return


def load(name: str) -> ModuleType:
    import importlib

    return importlib.import_module(name)


def planted(folder: Path, seed: int, number: int) -> str:
    (folder / "tests").mkdir(parents=True)
    (folder / "tests" / "test_suite.py").write_text(SUITE)
    load("mutate").plant_in_tests(folder, "tests", seed=seed, number=number)
    return (folder / "tests" / "test_suite.py").read_text()


@pytest.mark.usefixtures("recipes")
def test_the_mutator_plants_the_same_defects_for_the_same_seed(tmp_path: Path) -> None:
    """S14.3: a generator knows what it planted, on every machine."""
    first = planted(tmp_path / "a", 1, 2)
    assert planted(tmp_path / "b", 1, 2) == first
    assert first != SUITE
    compile(first, "test_suite.py", "exec")


@pytest.mark.usefixtures("recipes")
def test_the_mutator_changes_only_what_it_breaks(tmp_path: Path) -> None:
    """As many functions as asked for, at most those with an assertion; the other lines stay byte for byte."""
    everything = planted(tmp_path / "all", 3, 99)
    kept = [line for line in SUITE.split("\n") if line in everything.split("\n")]
    assert len(SUITE.split("\n")) - len(kept) <= 3
    assert "def test_nothing_to_break():\n    pass\n" in everything
    assert planted(tmp_path / "none", 3, 0) == SUITE


def events(*rows: dict[str, object]) -> bytes:
    return b"".join(json.dumps({"event": "report", **row}).encode() + b"\n" for row in rows)


@pytest.mark.usefixtures("recipes")
def test_reports_become_items_with_phase_and_counts_as_the_runner_has_them() -> None:
    """S5.1.6, S5.1.11: a call failure and a teardown error are two items; expected failures keep their names."""
    truth = load("pytest_truth").read_reports(
        events(
            {"nodeid": "t.py::a", "when": "setup", "outcome": "passed"},
            {
                "nodeid": "t.py::a",
                "when": "call",
                "outcome": "failed",
                "message": "assert 1",
                "frames": [["/x/t.py", 3]],
            },
            {"nodeid": "t.py::a", "when": "teardown", "outcome": "failed", "message": "boom", "frames": []},
            {"nodeid": "t.py::b", "when": "call", "outcome": "skipped", "wasxfail": "later"},
            {"nodeid": "t.py::c", "when": "call", "outcome": "passed", "wasxfail": ""},
            {"nodeid": "t.py::d", "when": "setup", "outcome": "skipped"},
            {"nodeid": "t.py::e", "when": "call", "outcome": "passed"},
        )
    )
    assert truth.counts == {"failed": 1, "errors": 1, "xfailed": 1, "xpassed": 1, "skipped": 1, "passed": 1}
    assert [(i["identity"], i["kind"], i.get("phase"), i["line"]) for i in truth.items] == [
        ("t.py::a", "failing_test", None, 3),
        ("t.py::a", "erroring_test", "teardown", None),
    ]


@pytest.mark.usefixtures("recipes")
def test_a_run_without_an_end_names_the_test_that_was_running() -> None:
    """S5.1.13: the last test that started and did not finish; a cut last line of the record is no row."""
    body = json.dumps({"event": "start", "nodeid": "t.py::slow"}).encode() + b'\n{"event": "rep'
    truth = load("pytest_truth").read_reports(body)
    assert truth.unfinished == "t.py::slow"
    assert truth.exit_status is None


@pytest.mark.usefixtures("recipes")
@pytest.mark.parametrize(
    ("text", "named"),
    [
        ("FAILED t.py::test_a - no", True),
        ("FAILED t.py::test_ab - no", False),
        ("FAILED t.py::test_a[1]", False),
        ("FAILED t.py::test_a::test_b", False),
        ("FAILED x/t.py::test_a", False),
        ("t.py::test_a[1]\nt.py::test_a PASSED", True),
        ("t.py::test_a", True),
    ],
)
def test_an_identity_is_named_only_as_a_whole(text: str, named: bool) -> None:
    """S5.1.4: a longer id does not name a shorter one."""
    assert load("pytest_truth").named("t.py::test_a", text) is named


@pytest.mark.usefixtures("recipes")
def test_diagnostics_keep_what_the_text_prints() -> None:
    """S5.3.2: parts that the text does not print are left out; a line number elsewhere in the text is no proof."""
    lint_truth = load("lint_truth")
    row = {
        "file": "/w/a.c",
        "line": 7,
        "column": 3,
        "code": "-Wx",
        "message": "unused 'n'\nmore",
        "severity": "warning",
    }
    text = "a.c:7:3: warning: unused 'n' [-Wx]\n12 warnings generated.\n"
    items, unnamed = lint_truth.printed_rows([row, {**row, "line": 12}], text, folder="/w", columns=True)
    assert [item["identity"] for item in items] == ["a.c:7:3: -Wx unused 'n'"]
    assert unnamed == 1
    plain, _ = lint_truth.printed_rows([row], "a.c:7: warning: unused 'n'\n", folder="/w", columns=False)
    assert plain[0]["identity"] == "a.c:7: unused 'n'"


@pytest.mark.usefixtures("recipes")
def test_readers_even_out_the_column_bases_of_mypy_and_pyright() -> None:
    """FORMAT-FACTS: both count columns from 0 in JSON and from 1 in text."""
    lint_truth = load("lint_truth")
    mypy = b'{"file": "a.py", "line": 2, "column": 4, "message": "no", "code": "misc", "severity": "error"}\n'
    assert next(iter(lint_truth.mypy(mypy)))["column"] == 5
    start = {"line": 1, "character": 4}
    report = {
        "generalDiagnostics": [{"file": "/a.py", "range": {"start": start}, "message": "no", "severity": "error"}]
    }
    (found,) = lint_truth.pyright(json.dumps(report).encode())
    assert (found["line"], found["column"]) == (2, 5)


@pytest.mark.usefixtures("recipes")
@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("x: one two three four", "one two three four"),
        ("one two\n   three four", "one two"),
        ("nothing of it", ""),
    ],
)
def test_a_message_is_cut_to_what_one_line_prints(text: str, shown: str) -> None:
    """FORMAT-FACTS 19: mypy wraps; the part on the first line is what a reader can find."""
    assert load("driver").printed(text, "one two three four\nsecond line") == shown
