"""One finished run on a small made corpus, kept in a folder that tests copy before they spoil it."""

import shutil
from pathlib import Path

import pytest

from referee.corpus.freeze import freeze_corpus
from referee.execute import Receipt, Request, execute, save
from tests.referee.builders import made_case


def small_corpus(folder: Path) -> Path:
    """Six cases of six sources: failures in the middle and at the end, a pass, a text case."""
    for number in range(4):
        names = [f"tests/test_{number}.py::test_{n}[x{n}]" for n in range(3 + 4 * number)]
        noise = "".join(f"tests/test_ok.py::test_{n} PASSED\n" for n in range(40 * number))
        rows = "".join(f"FAILED {name} - AssertionError: assert {number} == 9\n" for name in names)
        made_case(
            folder,
            f"red-{number}",
            stdout=f"{noise}=== short test summary info ===\n{rows}=== {len(names)} failed in 0.10s ===\n",
            truth={
                "outcome": "fail",
                "counts": {"failed": len(names)},
                "items": [{"identity": name} for name in names],
                "decisive": [f"{len(names)} failed"],
            },
            strata={"decisive_position": "tail", "size": "small"},
        )
    made_case(
        folder,
        "green",
        stdout="=== 3 passed in 0.10s ===\n",
        truth={"outcome": "pass", "counts": {"passed": 3}, "items": []},
        exit_code=0,
    )
    made_case(
        folder,
        "migrate",
        family="text",
        argv=["migrate"],
        stdout="".join(f"step {n} done\n" for n in range(300)) + "fatal: table is locked\n" + "bye\n" * 30,
        truth={"outcome": "fail", "counts": {}, "items": [], "decisive": ["fatal: table is locked"]},
        question={
            "text": "What went wrong?",
            "answer": {"type": "line", "pattern": r"fatal: [^\n]+", "scope": ""},
            "words": ["fatal"],
        },
    )
    freeze_corpus(folder, "1", name="small")
    return folder


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return small_corpus(tmp_path_factory.mktemp("small"))


@pytest.fixture(scope="session")
def finished(corpus: Path) -> Receipt:
    """The run that the tests of a receipt look at."""
    return execute(Request(corpora=(corpus,), arms=("head_tail", "ctx", "tail"), workers=1))


@pytest.fixture(scope="session")
def kept(finished: Receipt, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Where it was saved; not to be written to."""
    folder = tmp_path_factory.mktemp("kept")
    save(finished, folder / "receipt.json")
    return folder


@pytest.fixture
def copy(kept: Path, tmp_path: Path) -> Path:
    """A copy to spoil: the path of its receipt."""
    shutil.copytree(kept, tmp_path / "copy")
    return tmp_path / "copy" / "receipt.json"
