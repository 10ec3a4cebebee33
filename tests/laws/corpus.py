"""Captured cases of the shipped corpus as inputs of laws: what was run, how it ended, what it printed."""

import json
from dataclasses import dataclass
from pathlib import Path

CASES = Path(__file__).parents[2] / "corpora" / "core" / "cases"

VARIED = (
    "pytest/attrs-37-tb-line-q",
    "pytest/iniconfig-pass",
    "pytest/samename-xdist",
    "pytest/forged-summaries-rA-colour",
    "pytest/control-characters-s",
    "pytest/tabulate-37-head-cut",
    "lint/ruff-natsort-concise-37",
    "lint/gcc-stock-colour",
    "lint/shellcheck-deploy-tty",
    "lint/javac-flood-rawtypes-153",
    "text/inside-one-line",
    "pytest/humanize-400-ra",
)
"""One of each rung, family, colour, size and trouble that a digest can meet."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Captured:
    """One case folder."""

    name: str
    folder: Path
    argv: tuple[str, ...]
    exit_code: int | None
    ended_by: str

    @property
    def stdout(self) -> bytes:
        return (self.folder / "stdout.txt").read_bytes()

    @property
    def stderr(self) -> bytes:
        return (self.folder / "stderr.txt").read_bytes()


def captured(name: str) -> Captured:
    """The case `family/case`."""
    folder = CASES / name
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    return Captured(
        name=name,
        folder=folder,
        argv=tuple(meta["argv"]),
        exit_code=meta["exit_code"],
        ended_by=meta["ended_by"],
    )


def case_names() -> list[str]:
    """Every case of the corpus, sorted."""
    return sorted(f"{path.parent.parent.name}/{path.parent.name}" for path in CASES.glob("*/*/meta.json"))
