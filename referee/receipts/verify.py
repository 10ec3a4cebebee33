"""Checking a receipt: schema, table, derived numbers and decision recomputed, subjects against the tree (S16.4)."""

import json
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import rfc8785

from referee.controls import row_controls
from referee.errors import RefereeError
from referee.protocol import Protocol, protocol_from_canonical
from referee.receipts.schema import PREDICATE_TYPE, STATEMENT_TYPE, place_problems, shape_problems
from referee.receipts.statement import LOST_LISTED, conclusions
from referee.receipts.subjects import subject_problems, subjects
from referee.receipts.summary import markdown_text
from referee.receipts.table import load_table, table_digest
from referee.score import Row


def load_receipt(path: Path) -> dict[str, Any]:
    """A receipt as parsed JSON.

    Raises:
        RefereeError: Missing, a directory, or no receipt.
    """
    try:
        document = json.loads(path.read_bytes())
    except OSError as error:
        raise RefereeError(f"{path}: {error.strerror or error}; give a receipt.json") from None
    except ValueError as error:
        raise RefereeError(f"{path}: no JSON: {error}") from None
    if not isinstance(document, dict) or document.get("_type") != STATEMENT_TYPE:
        raise RefereeError(f"{path}: no in-toto statement; a receipt has _type {STATEMENT_TYPE}")
    if document.get("predicateType") != PREDICATE_TYPE:
        raise RefereeError(f"{path}: predicate type {document.get('predicateType')!r} is not {PREDICATE_TYPE}")
    return document


def protocol_of(receipt: Mapping[str, Any]) -> Protocol:
    """The protocol that a receipt records."""
    return protocol_from_canonical(receipt["predicate"]["protocol"]["parameters"])


def check_receipt(path: Path, *, tree: bool = True) -> list[str]:
    """Problems of a receipt with its table; empty where it holds.

    Args:
        tree: Whether its subjects must equal the installed sources.
    """
    receipt = load_receipt(path)
    problems = shape_problems(receipt)
    if problems:
        return [f"schema: {problem}" for problem in problems]
    try:
        problems += _contents(path, receipt)
        if tree and not problems:
            rows = load_table(path.parent / "cases.csv")
            current = subjects({row.family for row in rows}, protocol_of(receipt).treatment)
            problems += subject_problems(receipt["subject"], current) if current else []
    except RefereeError as error:
        problems.append(str(error))
    except (KeyError, TypeError, ValueError, AttributeError) as error:
        problems.append(f"schema: {type(error).__name__}: {error}")
    return problems


def _contents(path: Path, receipt: Mapping[str, Any]) -> Iterator[str]:
    """Parts of a receipt that disagree with each other or with the files beside it."""
    recorded, facts = receipt["predicate"]["reproducible"], receipt["predicate"]["protocol"]
    protocol = protocol_of(receipt)
    if path.read_bytes() != rfc8785.dumps(dict(receipt)) + b"\n":
        yield "the document is not in canonical form"
    meant = json.loads(rfc8785.dumps(protocol.to_canonical()))
    if difference := first_difference(meant, facts["parameters"], "protocol.parameters"):
        yield f"{difference} (what this version judges by, then written)"
    if protocol.digest != facts["digest"]:
        yield f"protocol.digest: is {protocol.digest[:12]} by its parameters, {facts['digest'][:12]} is written"
    yield from place_problems(recorded)
    rows = load_table(path.parent / "cases.csv")
    if table_digest(rows) != recorded["cases_digest"]:
        yield "reproducible.cases_digest: the table beside the receipt is another one"
        return
    derived = conclusions(
        protocol,
        rows,
        controls=recorded["controls"],
        expected_families=facts["expected_families"],
        exploratory=facts["exploratory"],
        committed=facts["committed"],
        protocol_changed=facts["changed"],
    )
    derived["failures"] = recorded["failures"]
    difference = first_difference(json.loads(rfc8785.dumps(derived)), recorded, "reproducible")
    if difference:
        yield f"{difference} (recomputed, then written)"
    yield from _failures(protocol, rows, recorded["failures"])
    for name, problem in row_controls(protocol, rows).items():
        written = next(control for control in recorded["controls"] if control["name"] == name)
        if written["held"] != (not problem):
            yield f"reproducible.controls: {name}: the table says {problem or 'that it held'}"
    summary = path.parent / "summary.md"
    if summary.exists() and summary.read_text(encoding="utf-8") != markdown_text(receipt):
        yield "summary.md: says something else than the receipt"


def _failures(protocol: Protocol, rows: Sequence[Row], recorded: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    """Whether the failures listed are those of the table, with as many losses as it counts."""
    expected = [row for row in rows if row.arm == protocol.treatment and not row.success]
    uncut = {(row.case, row.reader): row.success for row in rows if row.arm == "raw"}
    if len(expected) != len(recorded):
        yield f"reproducible.failures: {len(expected)} by the table, {len(recorded)} are listed"
        return
    for position, (row, entry) in enumerate(zip(expected, recorded, strict=True)):
        found = (entry["case"], entry["reader"], entry["arm"], entry["ending"], entry["uncut"], len(entry["lost"]))
        told = (row.case, row.reader, row.arm, row.ending, uncut.get((row.case, row.reader)))
        if found != (*told, min(row.lost, LOST_LISTED)):
            yield f"reproducible.failures[{position}]: is not what the table says of {row.case}, reader {row.reader}"
            return


def first_difference(left: Any, right: Any, path: str) -> str:
    """The first JSON path at which two documents differ, with both values; empty where they are equal."""
    for found in _differences(left, right, path):
        return found
    return ""


def _differences(left: Any, right: Any, path: str) -> Iterator[str]:
    if isinstance(left, dict) and isinstance(right, dict):
        for key in sorted({*left, *right}):
            if key not in left or key not in right:
                yield f"{path}.{key}: on one side only"
            else:
                yield from _differences(left[key], right[key], f"{path}.{key}")
    elif isinstance(left, list) and isinstance(right, list):
        if len(left) != len(right):
            yield f"{path}: {len(left)} entries, {len(right)} entries"
        for position, (one, other) in enumerate(zip(left, right, strict=False)):
            yield from _differences(one, other, f"{path}[{position}]")
    elif left != right or isinstance(left, bool) != isinstance(right, bool):
        yield f"{path}: {json.dumps(left)[:120]}, {json.dumps(right)[:120]}"
