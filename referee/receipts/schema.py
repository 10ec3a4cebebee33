"""The form of a receipt, and what its reproducible part may never hold (S16.1, S16.2).

A host name, a user name or an absolute path in `predicate.reproducible` fails. Text that a corpus holds is the same on
every machine, whatever paths stand in it: identities in `failures[].lost` and in notes that quote one are left alone.
"""

import getpass
import re
import socket
import tempfile
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

from referee.controls import NAMES

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:ctx-referee:receipt:v1"
REPRODUCIBLE = (
    "cases_digest", "controls", "decision", "failures", "families", "overall", "readers", "reversals", "strata",
)  # fmt: skip
_SHAPES: Mapping[str, Mapping[str, type | tuple[type, ...]]] = {
    "": {"_type": str, "subject": list, "predicateType": str, "predicate": dict},
    "predicate": {
        "protocol": dict, "corpora": list, "arms": dict, "environment": dict, "reproducible": dict, "observed": dict,
    },
    "predicate.protocol": {
        "name": str, "digest": str, "first_commit": str, "committed": bool, "changed": bool, "exploratory": bool,
        "expected_families": list, "parameters": dict,
    },
    "predicate.arms": {"baseline": dict, "treatment": dict, "others": list},
    "predicate.environment": {"python": str, "packages_digest": str, "encoding": str, "encoding_digest": str},
    "predicate.reproducible": {
        "cases_digest": str, "controls": list, "decision": dict, "failures": list, "families": dict, "overall": dict,
        "readers": dict, "reversals": list, "strata": dict,
    },
    "predicate.reproducible.decision": {"verdict": str, "reasons": list},
    "predicate.observed": {"started_at": str, "machine": dict, "latency": dict, "live": list},
}  # fmt: skip
_ROWS: Mapping[str, Mapping[str, type | tuple[type, ...]]] = {
    "subject": {"name": str, "digest": dict},
    "predicate.corpora": {"name": str, "version": str, "manifest_digest": str, "cases": int, "clusters": int},
    "predicate.reproducible.controls": {"name": str, "held": bool, "detail": str},
    "predicate.reproducible.failures": {
        "case": str, "reader": str, "arm": str, "ending": str, "uncut": bool, "lost": list, "notes": list,
    },
    "predicate.reproducible.decision.reasons": {"code": str, "family": str, "cases": list, "detail": str},
}  # fmt: skip
_PATH = re.compile(r"(?<![\w./:~-])(?:/[\w.+@-]+/[\w.+@/-]*|[A-Za-z]:\\\w|~[\w-]*/\w|file://)")
_QUOTING = "undeclared: "
"""A note that begins so quotes an identity of the corpus."""


def shape_problems(receipt: Mapping[str, Any]) -> list[str]:
    """Where a document is not in the form of a receipt: a key that is missing, unknown, or holds another kind."""
    problems: list[str] = []
    for path, shape in _SHAPES.items():
        entry = _at(receipt, path)
        problems += _shape(entry, shape, path)
    for path, shape in _ROWS.items():
        rows = _at(receipt, path)
        for position, row in enumerate(rows if isinstance(rows, list) else []):
            problems += _shape(row, shape, f"{path}[{position}]")
    controls = _at(receipt, "predicate.reproducible.controls")
    names = tuple(entry.get("name") for entry in controls or () if isinstance(entry, dict))
    if names != NAMES:
        problems.append(f"predicate.reproducible.controls: expected {', '.join(NAMES)}")
    return problems


def _shape(entry: Any, shape: Mapping[str, type | tuple[type, ...]], path: str) -> Iterator[str]:
    if not isinstance(entry, dict):
        yield f"{path or 'receipt'}: expected an object"
        return
    prefix = f"{path}." if path else ""
    for key, kind in shape.items():
        if key not in entry:
            yield f"{prefix}{key}: missing"
        elif not isinstance(entry[key], kind) or (isinstance(entry[key], bool) and kind is int):
            yield f"{prefix}{key}: {entry[key]!r} is of another kind"
    for key in sorted(set(entry) - set(shape)):
        yield f"{prefix}{key}: unknown key"


def _at(document: Any, path: str) -> Any:
    for key in path.split(".") if path else ():
        document = document.get(key) if isinstance(document, dict) else None
    return document


def place_problems(reproducible: Mapping[str, Any]) -> list[str]:
    """Absolute paths in the reproducible part, by JSON path."""
    return [
        f"reproducible{path}: holds an absolute path: {text[:80]!r}"
        for path, text in _texts(reproducible)
        if _PATH.search(text)
    ]


def machine_problems(reproducible: Mapping[str, Any]) -> list[str]:
    """Names of this machine and its user in the reproducible part; for whoever writes a receipt."""
    problems = []
    for kind, name in _names_here():
        form = re.compile(rf"(?<![\w-]){re.escape(name)}(?![\w-])")
        problems += [
            f"reproducible{path}: holds the {kind} of this machine"
            for path, text in _texts(reproducible)
            if form.search(text)
        ]
    return problems


def _names_here() -> Iterator[tuple[str, str]]:
    host = socket.gethostname()
    if len(host) > 3 and not host.startswith("localhost"):
        yield "host name", host
    try:
        user = getpass.getuser()
    except (KeyError, OSError, ImportError):
        user = ""
    if user:
        # A user's name alone may be any word ("root"); with a host or a home it is the user.
        yield "user name", f"{user}@{host}"
    for kind, place in (("home folder", Path.home()), ("working folder", Path.cwd())):
        if len(place.parts) > 1:
            yield kind, str(place)
    yield "temporary folder", tempfile.gettempdir()


def _texts(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    """Every text with its JSON path, but those that quote the corpus."""
    if isinstance(value, str):
        yield path, value
    elif isinstance(value, Mapping):
        for key, entry in value.items():
            yield f"{path}.{key}", str(key)
            if not (key == "lost" and ".failures" in path):
                yield from _texts(entry, f"{path}.{key}")
    elif isinstance(value, list | tuple):
        for position, entry in enumerate(value):
            if not (isinstance(entry, str) and path.endswith(".notes") and entry.startswith(_QUOTING)):
                yield from _texts(entry, f"{path}[{position}]")
