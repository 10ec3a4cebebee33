"""Checking a receipt: every kind of tampering is found and named (S16.4)."""

import json
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from referee.errors import RefereeError
from referee.execute import Receipt
from referee.receipts import verify as module
from referee.receipts.rerun import difference
from referee.receipts.table import load_table, table_text
from referee.receipts.verify import check_receipt, first_difference, load_receipt


def rewritten(receipt: Path, change: Callable[[dict[str, Any]], object]) -> list[str]:
    """Problems of the receipt after `change` of its document, written in canonical form again."""
    document = json.loads(receipt.read_bytes())
    change(document["predicate"])
    receipt.write_bytes(rfc8785.dumps(document) + b"\n")
    return check_receipt(receipt)


def test_an_untouched_receipt_holds(copy: Path) -> None:
    """The control of the tests below."""
    assert check_receipt(copy) == []


def test_one_byte_of_the_table(copy: Path) -> None:
    """A digit in `cases.csv`."""
    table = copy.parent / "cases.csv"
    data = bytearray(table.read_bytes())
    at = data.rindex(b"answer,1,") + len(b"answer,")
    data[at : at + 1] = b"2"
    table.write_bytes(bytes(data))
    assert check_receipt(copy) == ["reproducible.cases_digest: the table beside the receipt is another one"]


def test_a_table_that_was_changed_with_its_digest(copy: Path) -> None:
    """The numbers in the receipt are recomputed from it."""
    rows = load_table(copy.parent / "cases.csv")
    text = (
        table_text(rows)
        .replace("ctx,doubter,false", "ctx,doubter,true")
        .replace("ctx,doubter,true", "ctx,doubter,false")
    )
    (copy.parent / "cases.csv").write_text(text)
    digest = module.table_digest(load_table(copy.parent / "cases.csv"))
    problems = rewritten(copy, lambda p: p["reproducible"].update(cases_digest=digest))
    assert any("reproducible.families" in problem or "reproducible.decision" in problem for problem in problems)


@pytest.mark.parametrize(
    ("change", "named"),
    [
        (
            lambda p: p["reproducible"]["overall"]["arms"]["ctx"].update(success=1.0, tokens_delivered=1),
            "overall.arms.ctx",
        ),
        (lambda p: p["reproducible"]["decision"].update(verdict="promote"), "reproducible.decision.verdict"),
        (lambda p: p["reproducible"]["decision"].update(reasons=[]), "reproducible.decision.reasons"),
        (lambda p: p["reproducible"]["strata"].clear(), "reproducible.strata"),
        (lambda p: p["reproducible"]["failures"].pop(), "reproducible.failures"),
        (lambda p: p["reproducible"]["failures"][0].update(reader="nobody"), "reproducible.failures[0]"),
        (lambda p: p["reproducible"]["failures"][0].update(uncut="yes"), "predicate.reproducible.failures[0].uncut"),
        (lambda p: p["reproducible"]["controls"][0].update(held=False), "decision"),
        (lambda p: p["reproducible"]["controls"].pop(), "predicate.reproducible.controls"),
        (lambda p: p["reproducible"].update(host="somewhere"), "predicate.reproducible.host: unknown key"),
        (lambda p: p["protocol"].update(digest="0" * 64), "protocol.digest"),
        (lambda p: p["protocol"]["parameters"].update(alpha=0.4), "protocol.digest"),
        (lambda p: p["protocol"]["parameters"]["endpoints"].update(tokens="more"), "protocol.parameters.endpoints"),
        (lambda p: p["protocol"].update(exploratory=False), "decision"),
        (lambda p: p["reproducible"]["readers"].clear(), "reproducible.readers"),
    ],
)
def test_a_changed_number_verdict_or_fact(copy: Path, change: Callable[[dict[str, Any]], object], named: str) -> None:
    """Everything that follows from the table is recomputed, and the first path that differs is named."""
    problems = rewritten(copy, change)
    assert problems
    assert any(named in problem for problem in problems), problems


def test_a_control_that_did_not_hold_and_is_said_to(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Controls that the table decides are decided again."""
    monkeypatch.setattr(module, "row_controls", lambda protocol, rows: {"raw": "pytest/x: it is lossy"})
    assert check_receipt(copy) == ["reproducible.controls: raw: the table says pytest/x: it is lossy"]


def test_a_changed_summary(copy: Path) -> None:
    """What people read says what the receipt says."""
    summary = copy.parent / "summary.md"
    summary.write_text(summary.read_text().replace("HOLD", "PROMOTE"))
    assert check_receipt(copy) == ["summary.md: says something else than the receipt"]


def test_a_document_that_is_not_canonical(copy: Path) -> None:
    """The same values with other blanks are other bytes."""
    copy.write_text(json.dumps(json.loads(copy.read_bytes()), indent=1))
    assert check_receipt(copy) == ["the document is not in canonical form"]


def test_a_changed_source_of_what_was_judged(copy: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A subject that differs from the tree is named; for a receipt of another version the tree is left out."""
    changed = [{**e, "digest": {"sha256": "0" * 64}} for e in json.loads(copy.read_bytes())["subject"]]
    monkeypatch.setattr(module, "subjects", lambda families, treatment: changed)
    problems = check_receipt(copy)
    assert len(problems) == len(changed)
    assert any(problem.startswith("contract/pytest: is 000000000000 here") for problem in problems)
    assert check_receipt(copy, tree=False) == []


def test_a_missing_table(copy: Path) -> None:
    """Named with its path."""
    (copy.parent / "cases.csv").unlink()
    (problem,) = check_receipt(copy)
    assert "cases.csv" in problem


@pytest.mark.parametrize(
    ("content", "said"),
    [("{", "no JSON"), ("[]", "no in-toto statement"), ('{"_type": "x"}', "no in-toto statement"), ("\xff", "JSON")],
)
def test_what_is_no_receipt(tmp_path: Path, content: str, said: str) -> None:
    """One message, no crash."""
    path = tmp_path / "receipt.json"
    path.write_text(content, encoding="latin-1")
    with pytest.raises(RefereeError, match=said):
        load_receipt(path)
    with pytest.raises(RefereeError, match="Is a directory"):
        load_receipt(tmp_path)


def test_a_statement_of_another_kind(copy: Path) -> None:
    """Another predicate type is no receipt."""
    document = json.loads(copy.read_bytes())
    document["predicateType"] = "https://slsa.dev/provenance/v1"
    copy.write_text(json.dumps(document))
    with pytest.raises(RefereeError, match="predicate type"):
        check_receipt(copy)


def test_the_first_difference_is_named_with_both_values() -> None:
    """S16.4: the JSON path."""
    left = {"a": [1, {"b": 2}], "c": True}
    assert first_difference(left, {"a": [1, {"b": 3}], "c": True}, "x") == "x.a[1].b: 2, 3"
    assert first_difference(left, {"a": [1], "c": True}, "x") == "x.a: 2 entries, 1 entries"
    assert first_difference(left, {"a": [1, {"b": 2}]}, "x") == "x.c: on one side only"
    assert first_difference({"a": True}, {"a": 1}, "x") == "x.a: true, 1"
    assert first_difference(left, left, "x") == ""


def test_a_second_run_that_differs_is_named(finished: Receipt, copy: Path) -> None:
    """`--rerun` compares the reproducible parts."""
    assert difference(load_receipt(copy), finished) == []
    document = json.loads(copy.read_bytes())
    document["predicate"]["reproducible"]["overall"]["arms"]["ctx"]["turns"] = 9.5
    (problem,) = difference(document, finished)
    assert problem.startswith("predicate.reproducible.overall.arms.ctx.turns: 9.5, ")


def test_a_receipt_without_its_neighbours_is_checked_where_it_lies(copy: Path, tmp_path: Path) -> None:
    """A summary is optional, the table is not."""
    (copy.parent / "summary.md").unlink()
    assert check_receipt(copy) == []
    shutil.move(copy, tmp_path / "receipt.json")
    assert len(check_receipt(tmp_path / "receipt.json")) == 1
