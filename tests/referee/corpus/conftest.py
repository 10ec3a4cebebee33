"""A small corpus in a temporary folder, for tests that alter it."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

CHANNEL = b'{"failed": ["t.py::test_a", "t.py::test_b[x - y]"]}\n'
STDOUT = (
    b"..\x1b[31mF\x1b[0mF\n"
    b"E   AssertionError: 1 == 2\n"
    b"FAILED \x1b[31mt.py::test_a\x1b[0m - AssertionError: 1 == 2\n"
    b"FAILED t.py::test_b[x - y] - ValueError: no\n"
    b"working 10%\rworking 100%\r\n"
    b"2 failed, 2 passed in 0.02s\n"
)


def meta_document() -> dict[str, Any]:
    return {
        "id": "pytest/two-failures",
        "family": "pytest",
        "argv": ["pytest", "-q"],
        "tool": "pytest",
        "tool_version": "9.2.0",
        "exit_code": 1,
        "ended_by": "exit",
        "origin": "captured",
        "recipe": "corpora/recipes/pytest_cases.py",
        "source_repo": "example",
        "licence": "MIT",
        "question": {
            "text": "Which tests failed?",
            "answer": {"type": "identities", "pattern": r"\S+\.py::\S.*", "scope": ""},
            "words": ["FAILED"],
        },
        "strata": {"size": "small", "outcome": "fail"},
        "duration_ms": 20,
    }


def truth_document() -> dict[str, Any]:
    return {
        "outcome": "fail",
        "counts": {"failed": 2, "passed": 2},
        "items": [
            {"identity": "t.py::test_a", "kind": "failing_test", "file": "t.py", "line": 3},
            {"identity": "t.py::test_b[x - y]", "kind": "failing_test"},
        ],
        "decisive": ["FAILED t.py::test_a - AssertionError: 1 == 2", "2 failed, 2 passed", "working 100%"],
        "channel": "json-report",
        "channel_digest": sha256(CHANNEL).hexdigest(),
    }


def write_case(corpus: Path, meta: dict[str, Any], truth: dict[str, Any], *, stdout: bytes = STDOUT) -> Path:
    folder = corpus / "cases" / meta["family"] / meta["id"].rpartition("/")[2]
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "meta.json").write_text(json.dumps(meta))
    (folder / "truth.json").write_text(json.dumps(truth))
    (folder / "stdout.txt").write_bytes(stdout)
    (folder / "stderr.txt").write_bytes(b"")
    (folder / "channel.json").write_bytes(CHANNEL)
    return folder


@pytest.fixture
def unfrozen(tmp_path: Path) -> Path:
    """A corpus of one well-formed case and a README, without a manifest."""
    corpus = tmp_path / "small"
    write_case(corpus, meta_document(), truth_document())
    (corpus / "README.md").write_text("A small corpus.\n")
    return corpus


@pytest.fixture
def edit_case(unfrozen: Path) -> Callable[..., Path]:
    """Rewrite the case with other values: `edit_case(meta={...}, truth={...}, drop=[...])`."""

    def edit(
        meta: dict[str, Any] | None = None, truth: dict[str, Any] | None = None, drop: tuple[str, ...] = ()
    ) -> Path:
        new_meta = {**meta_document(), **(meta or {})}
        new_truth = {**truth_document(), **(truth or {})}
        for key in drop:
            new_meta.pop(key, None)
            new_truth.pop(key, None)
        folder = unfrozen / "cases" / "pytest" / "two-failures"
        (folder / "meta.json").write_text(json.dumps(new_meta))
        (folder / "truth.json").write_text(json.dumps(new_truth))
        return unfrozen

    return edit
