"""What `nox -s receipts` runs: the protocol twice, the receipt under receipts/, the gate (S17.7)."""

import json
import subprocess
import sys
from pathlib import Path

import pytest

from referee.receipts import publish_run as module
from referee.receipts.publish_run import publish
from referee.receipts.statement import reproducible_digest
from tests.referee.builders import ROOT

PROTOCOL = """
schema = "referee.protocol/v1"
name = "small"
readers = ["impatient", "follower"]
[[corpora]]
name = "small"
version = "1"
[arms]
baseline = "head_tail"
treatment = "ctx"
"""


@pytest.fixture
def file(tmp_path: Path) -> Path:
    (tmp_path / "protocols").mkdir()
    path = tmp_path / "protocols" / "small.toml"
    path.write_text(PROTOCOL)
    return path


def test_the_receipt_lies_under_its_protocol_and_the_digest_of_what_is_reproducible(
    file: Path, corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """S16.1; status 1, since an uncommitted protocol cannot promote."""
    assert publish(file, (corpus,), tmp_path / "receipts") == 1
    out = capsys.readouterr().out
    (receipt,) = (tmp_path / "receipts").glob("*/*/receipt.json")
    document = json.loads(receipt.read_bytes())
    assert receipt.parent.parent.name == "small"
    assert receipt.parent.name == reproducible_digest(document)[:12]
    assert sorted(path.name for path in receipt.parent.iterdir()) == [
        "cases.csv", "observed.csv", "receipt.json", "summary.md",
    ]  # fmt: skip
    assert "a second run, in one process, gave byte-identical reproducible parts" in out
    assert out.startswith("verdict: HOLD")


def test_a_second_run_that_differs_is_named(
    file: Path, corpus: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """By JSON path, and it fails."""
    monkeypatch.setattr(module, "difference", lambda recorded, again: ["predicate.reproducible.x: 1, 2"])
    assert publish(file, (corpus,), tmp_path / "receipts") == 1
    assert "predicate.reproducible.x: 1, 2" in capsys.readouterr().err


def test_bad_input_is_one_line_and_its_status(tmp_path: Path) -> None:
    """As a process of its own, the way nox calls it."""
    done = subprocess.run(
        [sys.executable, "-m", "referee.receipts.publish_run", "--protocol", "gone.toml", "--corpus", "gone"],
        capture_output=True, text=True, cwd=ROOT, timeout=60, check=False,
    )  # fmt: skip
    assert done.returncode == 1
    assert done.stderr.startswith("receipts: gone: no such folder")
    assert len(done.stderr.splitlines()) == 1
