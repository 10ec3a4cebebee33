"""Checking a receipt: schema, table, derived numbers and decision recomputed, subjects against the tree (S16.4)."""

import json
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import rfc8785

from referee.errors import RefereeError
from referee.protocol import Protocol, parse_protocol
from referee.receipts.statement import PREDICATE_TYPE, STATEMENT_TYPE, conclusions
from referee.receipts.subjects import subject_problems, subjects
from referee.receipts.table import load_table, table_digest

_FORBIDDEN = ("/home/", "/root/", "/tmp/", "/Users/", "C:\\\\")


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
    parameters = dict(receipt["predicate"]["protocol"]["parameters"])
    document = {
        "schema": parameters["schema"],
        "name": parameters["name"],
        "corpora": parameters["corpora"],
        "arms": parameters["arms"],
        "readers": parameters["readers"],
        "repeats": parameters["repeats"],
        "seed": parameters["seed"],
        "encoding": parameters["encoding"],
        "inline_tokens": parameters["inline_tokens"],
        "prices": parameters["prices"],
        "base_tokens": parameters["base_tokens"],
        "horizon_turns": parameters["horizon_turns"],
        "endpoints": parameters["endpoints"],
        "margins": parameters["margins"],
        "alpha": parameters["alpha"],
        "minimum_clusters": parameters["minimum_clusters"],
        "stop_rule": parameters["stop_rule"],
    }
    return parse_protocol(document, "receipt")


def check_receipt(path: Path, *, tree: bool = True) -> list[str]:
    """Problems of a receipt with its table; empty where it holds.

    Args:
        tree: Whether its subjects must equal the installed sources.
    """
    receipt = load_receipt(path)
    problems: list[str] = []
    try:
        predicate = receipt["predicate"]
        recorded = predicate["reproducible"]
        facts = predicate["protocol"]
        protocol = protocol_of(receipt)
        if path.read_bytes() != rfc8785.dumps(receipt) + b"\n":
            problems.append("the document is not in canonical form")
        if protocol.digest != facts["digest"]:
            problems.append(
                f"protocol.digest: is {protocol.digest[:12]} by its parameters, {facts['digest'][:12]} is written"
            )
        rows = load_table(path.parent / "cases.csv")
        if table_digest(rows) != recorded["cases_digest"]:
            problems.append("reproducible.cases_digest: the table beside the receipt is another one")
            return problems
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
            problems.append(f"{difference} (recomputed, then written)")
        if any(word in rfc8785.dumps(recorded).decode() for word in _FORBIDDEN):
            problems.append("reproducible: holds an absolute path")
        if tree:
            current = subjects({row.family for row in rows}, protocol.treatment)
            problems += subject_problems(receipt["subject"], current) if current else []
    except (KeyError, TypeError, ValueError) as error:
        problems.append(f"schema: {type(error).__name__}: {error}")
    except RefereeError as error:
        problems.append(str(error))
    return problems


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
