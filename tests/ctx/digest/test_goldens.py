"""Digests as a reader sees them, byte for byte, over every rung of the three families.

A golden is `goldens/<family>/<case>.txt`, the digest of the corpus case of that name. A change of wording or order
shows as a difference of these files, which is read like any other change. They are written by a command:

    python tests/ctx/digest/test_goldens.py
"""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctx.digest.base import CaptureFacts
from ctx.digest.rendered import Rendered
from ctx.pipeline import digest_capture

GOLDENS = Path(__file__).parent / "goldens"
CASES = Path(__file__).parents[3] / "corpora" / "core" / "cases"
RUNGS = {
    "lint/tsc-order-plain": "inline",
    "lint/cargo-notebook-warnings": "pass_summary",
    "lint/gxx-table-templates": "fail_census",
    "lint/ruff-pluggy-syntax-error": "fail_census",
    "lint/cargo-ledger-colour": "fail_census",
    "lint/mypy-toolz-37": "dense",
    "lint/gcc-markupsafe-speedups": "dense",
    "lint/javac-flood-rawtypes-153": "dense",
    "lint/gcc-flood-800-three-errors": "flood",
    "pytest/tiny-pass": "inline",
    "pytest/tabulate-pass-ra": "pass_summary",
    "pytest/iniconfig-listing": "pass_summary",
    "pytest/itsdangerous-one-tb-native": "fail_census",
    "pytest/store-phases-v-rA": "fail_census",
    "pytest/slow-killed": "fail_census",
    "pytest/tabulate-37-q-colour": "dense",
    "pytest/toolz-37-host-cut-middle": "dense",
    "pytest/wcwidth-1719-setup-errors": "flood",
    "text/summary-small-pass": "inline",
    "text/import-rows-total": "pass_summary",
    "text/folded-one-differs": "pass_summary",
    "text/release-green-words-exit-2": "fail_census",
    "text/forged-digest": "fail_census",
    "text/secrets-in-passing": "fail_census",
    "text/utf16-from-another-host": "fail_census",
    "text/one-line-of-300-kb": "fail_census",
    "text/sync-stderr-under-flood": "fail_census",
}
"""Corpus case -> the rung that its digest stands on."""


def digest(name: str) -> Rendered:
    case = CASES / name
    meta = json.loads((case / "meta.json").read_text(encoding="utf-8"))
    facts = CaptureFacts(
        argv=tuple(meta["argv"]),
        exit_code=meta["exit_code"],
        ended_by=meta["ended_by"],
        signal=9 if meta["ended_by"] == "signal" else None,
    )
    return digest_capture({stream: (case / f"{stream}.txt").read_bytes() for stream in ("stdout", "stderr")}, facts)


def path_of(name: str) -> Path:
    return GOLDENS / f"{name}.txt"


@pytest.mark.parametrize("name", sorted(RUNGS))
def test_a_digest_is_its_golden_byte_for_byte(name: str) -> None:
    rendered = digest(name)
    assert rendered.plan.rung == RUNGS[name]
    assert rendered.text == path_of(name).read_text(encoding="utf-8")


def test_no_golden_is_left_over() -> None:
    found = {f"{path.parent.name}/{path.stem}" for path in GOLDENS.glob("*/*.txt")}
    assert found == set(RUNGS)


def test_every_rung_of_a_family_with_a_census_is_shown() -> None:
    for family in ("lint", "pytest"):
        shown = {rung for name, rung in RUNGS.items() if name.startswith(family)}
        assert shown == {"inline", "pass_summary", "fail_census", "dense", "flood"}


def _write() -> Iterator[Path]:
    """Write every golden anew; leftovers are removed."""
    for stale in GOLDENS.glob("*/*.txt"):
        stale.unlink()
    for name in sorted(RUNGS):
        path = path_of(name)
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(digest(name).text, encoding="utf-8")
        yield path


if __name__ == "__main__":
    print(f"{len(list(_write()))} goldens written to {GOLDENS}")
