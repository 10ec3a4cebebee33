"""The referee's command as a process of its own."""

import os
import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from referee.corpus.freeze import freeze_corpus
from tests.referee.builders import made_case

PROGRAM = "import sys; from referee.cli.app import main; main()"


def referee(
    *words: str | Path, cwd: Path | None = None, env: Mapping[str, str] | None = None, before: str = ""
) -> subprocess.CompletedProcess[str]:
    """Run `referee WORDS`; `before` is Python that runs first in that process."""
    return subprocess.run(
        [sys.executable, "-c", before + PROGRAM, *map(str, words)],
        capture_output=True,
        text=True,
        cwd=cwd,
        env={**os.environ, **(env or {})},
        timeout=120,
        check=False,
    )


@pytest.fixture(scope="session")
def corpus(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Three cases: two that fail, one that passes."""
    folder = tmp_path_factory.mktemp("cli") / "private"
    for number in (1, 2):
        names = [f"tests/test_{number}.py::test_{n}" for n in range(4)]
        rows = "".join(f"FAILED {name} - assert {number} == 9\n" for name in names)
        made_case(
            folder,
            f"red-{number}",
            stdout=f"{'tests/test_ok.py::test_fine PASSED' * 1}\n" * 120 + rows + "=== 4 failed in 0.10s ===\n",
            truth={
                "outcome": "fail",
                "counts": {"failed": 4},
                "items": [{"identity": name} for name in names],
                "decisive": ["4 failed"],
            },
        )
    made_case(
        folder,
        "green",
        stdout="=== 3 passed in 0.10s ===\n",
        truth={"outcome": "pass", "counts": {"passed": 3}, "items": []},
        exit_code=0,
    )
    freeze_corpus(folder, "1", name="private")
    return folder
