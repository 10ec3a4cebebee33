"""The records of a corpus: a case, its truth and its question (S14.1, S14.2)."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from pathlib import Path


class AnswerType(StrEnum):
    """The form of an answer."""

    OUTCOME = "outcome"
    """One of `pass`, `fail`, `unknown`."""
    IDENTITIES = "identities"
    """A set of identities."""
    COUNT = "count"
    """One number."""
    VALUE = "value"
    """One string."""
    LINE = "line"
    """One whole line."""
    LOCATION = "location"
    """`file:line`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Question:
    """What the reader has to find out; written so that the raw output answers it."""

    text: str
    answer: AnswerType
    pattern: str = ""
    """The form of an answer (a regular expression), never the answer."""
    scope: str = ""
    """Where an answer counts: in lines that this regular expression fits; empty for anywhere in the delivered text."""
    words: tuple[str, ...] = ()
    """Words a reader would search for."""


@dataclass(frozen=True, kw_only=True, slots=True)
class TruthItem:
    """One item that the second channel names."""

    identity: str
    """As a user would paste it: a node id; `file:line:column: CODE message` for a diagnostic."""
    kind: str
    """`failing_test`, `erroring_test`, `load_error`, `diagnostic`, `line`, …"""
    file: str = ""
    line: int | None = None
    column: int | None = None
    code: str = ""
    message: str = ""
    severity: str = ""
    phase: str = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Truth:
    """What really happened, from a channel that is not the output under test."""

    outcome: str
    """`pass`, `fail` or `unknown`."""
    counts: Mapping[str, int]
    items: tuple[TruthItem, ...]
    """Only items of the decision unit (failing tests, diagnostics); passes are counted, not listed."""
    decisive: tuple[str, ...]
    """Exact strings of the raw output (escape codes removed) that the reader's decision hangs on."""
    channel: str
    """The second channel: `junit-xml`, `json-report`, `sarif`, `generator`, `exit-status`, …"""
    channel_digest: str
    """SHA-256 of the kept bytes of that channel."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Case:
    """One captured command with its truth."""

    id: str
    """`<family>/<case>`, unique in its corpus."""
    family: str
    argv: tuple[str, ...]
    tool: str
    tool_version: str
    exit_code: int | None
    ended_by: str
    """`exit`, `signal`, `timeout` or `unknown`."""
    origin: str
    """`captured`, `generated` or `made`."""
    recipe: str
    source_repo: str
    """Cluster of the statistics: the public package the output came from, or the generator."""
    licence: str
    question: Question
    strata: Mapping[str, str] = field(default_factory=dict)
    """`size`, `outcome`, `decisive_position`, `stream`, `hostility`."""
    duration_ms: int = 0
    truth: Truth
    folder: Path
    """Where `stdout.txt` and `stderr.txt` lie; never in a receipt."""

    @property
    def stdout(self) -> bytes:
        return (self.folder / "stdout.txt").read_bytes()

    @property
    def stderr(self) -> bytes:
        return (self.folder / "stderr.txt").read_bytes()
