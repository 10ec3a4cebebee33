"""What is fixed before a run: protocol files `protocols/<name>.toml` (S15.1, S15.2).

A protocol names corpora with their versions, arms (baseline and treatment), readers, repeats, seed, encoding, prices,
horizon, margins, alpha and the least number of clusters. Its digest is in the receipt, with the commit that first held
it. Unknown keys are errors, and one load reports all problems.
"""

import difflib
import subprocess
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field, replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import rfc8785

from referee.errors import UsageError
from referee.gate.reasons import HOLDING, REJECTING, ReasonCode
from referee.ledger import Prices
from referee.readers.recognisers import recognisers
from referee.readers.scripted import READERS, reader_table
from referee.tokens import RANK_DIGESTS

SCHEMA = "referee.protocol/v1"
GIT_SECONDS = 20
CONTROL_ARMS = ("raw", "empty", "liar", "truncating", "dead_address")
"""Arms that every receipt needs for its controls, whatever the protocol compares (S15.8)."""
_TOP = (
    "schema", "name", "corpora", "arms", "readers", "repeats", "seed", "encoding", "inline_tokens", "prices",
    "horizon_turns", "base_tokens", "budget_tokens", "endpoints", "margins", "alpha", "minimum_clusters", "gate_rules",
    "stop_rule",
)  # fmt: skip
_PRICES = ("input", "read", "write", "output")
_MARGINS = ("success", "preservation", "family_reversal")
ENDPOINTS = {"success": "more", "preservation": "more", "tokens": "less"}
"""Primary endpoint -> which direction is better."""
GATE_RULES = tuple(str(code) for code in ReasonCode if code in REJECTING | HOLDING)
"""Every reason the gate knows, in its order; a protocol may list them, never leave one out."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusRef:
    """A corpus as the protocol pins it."""

    name: str
    version: str
    manifest_digest: str = ""
    """SHA-256 of its manifest; checked where it is given."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Protocol:
    """Everything that was chosen before the run."""

    name: str
    corpora: tuple[CorpusRef, ...]
    baseline: str
    treatment: str
    others: tuple[str, ...] = ()
    """Further arms that are measured beside the two."""
    readers: tuple[str, ...] = tuple(reader.name for reader in READERS)
    repeats: int = 2
    seed: int = 1
    encoding: str = "o200k_base"
    inline_tokens: int = 400
    """Raw outputs of at most so many tokens count as small."""
    prices: Prices = field(default_factory=Prices)
    margin_success: float = 0.02
    margin_preservation: float = 0.0
    margin_family_reversal: float = 0.05
    alpha: float = 0.05
    minimum_clusters: int = 5
    budget_tokens: int = 0
    """What arms that take a budget are told; 0 leaves it to them."""
    arm_files: Mapping[str, str] = field(default_factory=dict)
    """Name of an arm that an arm file describes -> SHA-256 of the file."""
    stop_rule: str = "one pass over every case; no look at results before the end"

    @property
    def compared(self) -> tuple[str, str]:
        """Baseline and treatment."""
        return (self.baseline, self.treatment)

    @property
    def arms(self) -> tuple[str, ...]:
        """Every arm that runs: the two, the others, and those the controls need."""
        return tuple(dict.fromkeys((self.baseline, self.treatment, *self.others, *CONTROL_ARMS)))

    def to_canonical(self) -> dict[str, Any]:
        """Plain data; with the reader table and the recognisers' digest it is what the protocol digest covers."""
        return {
            "schema": SCHEMA,
            "name": self.name,
            "corpora": [
                {"name": c.name, "version": c.version, "manifest_digest": c.manifest_digest} for c in self.corpora
            ],
            "arms": {"baseline": self.baseline, "treatment": self.treatment, "others": list(self.others)},
            "arm_files": dict(self.arm_files),
            "readers": list(self.readers),
            "repeats": self.repeats,
            "seed": self.seed,
            "encoding": self.encoding,
            "encoding_digest": RANK_DIGESTS[self.encoding],
            "inline_tokens": self.inline_tokens,
            "prices": {
                "input": self.prices.p_in,
                "read": self.prices.p_read,
                "write": self.prices.p_write,
                "output": self.prices.p_out,
            },
            "base_tokens": self.prices.base_tokens,
            "horizon_turns": self.prices.horizon_turns,
            "budget_tokens": self.budget_tokens,
            "endpoints": dict(ENDPOINTS),
            "gate_rules": list(GATE_RULES),
            "margins": {
                "success": self.margin_success,
                "preservation": self.margin_preservation,
                "family_reversal": self.margin_family_reversal,
            },
            "alpha": self.alpha,
            "minimum_clusters": self.minimum_clusters,
            "stop_rule": self.stop_rule,
            "reader_table": reader_table(),
            "recognisers": recognisers().digest,
        }

    @property
    def digest(self) -> str:
        """SHA-256 over everything that was fixed, 64 hex digits."""
        return sha256(rfc8785.dumps(self.to_canonical())).hexdigest()


def load_protocol(path: Path) -> Protocol:
    """A protocol from its file.

    Raises:
        UsageError: Missing, no TOML, or with problems; all of them, each with its key.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(
            f"protocol {path}: {error.strerror or error}; give a file such as protocols/core.toml"
        ) from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"protocol {path}: not TOML: {error}") from None
    return parse_protocol(document, path.name)


def parse_protocol(document: Mapping[str, Any], name: str) -> Protocol:
    """A protocol from parsed TOML; see `load_protocol`."""
    reader = _Reader(name)
    protocol = reader.protocol(document)
    if reader.problems:
        raise UsageError("\n".join(reader.problems))
    return protocol


def _near(word: str, known: Iterable[str]) -> str:
    close = difflib.get_close_matches(word, list(known), n=1)
    return f" (did you mean {close[0]!r}?)" if close else ""


def protocol_from_canonical(parameters: Mapping[str, Any]) -> Protocol:
    """The protocol that `Protocol.to_canonical` gave; what follows from other values (digests, tables) is left out.

    Raises:
        UsageError: As `load_protocol` does.
        KeyError: A value is missing.
    """
    followed = ("encoding_digest", "reader_table", "recognisers", "arm_files", "endpoints")
    document = {key: value for key, value in parameters.items() if key not in followed}
    return replace(parse_protocol(document, "receipt"), arm_files=dict(parameters["arm_files"]))


class _Reader:
    """Typed getters that collect problems."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[str] = []

    def problem(self, key: str, what: str) -> None:
        self.problems.append(f"{self.name}: {key}: {what}")

    def known(self, table: Mapping[str, Any], path: str, keys: tuple[str, ...]) -> None:
        for key in table:
            if key not in keys:
                self.problem(f"{path}{key}", f"unknown key{_near(key, keys)}; known: {', '.join(keys)}")

    def text(self, table: Mapping[str, Any], key: str, path: str = "", default: str | None = None) -> str:
        value = table.get(key, default)
        if not isinstance(value, str) or (not value and default is None):
            self.problem(f"{path}{key}", "needs a text")
            return ""
        return value

    def number(
        self, table: Mapping[str, Any], key: str, default: float, *, low: float, high: float, path: str = ""
    ) -> float:
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int | float) or not low <= value <= high:
            self.problem(f"{path}{key}", f"{value!r} is no number from {low:g} to {high:g}")
            return default
        return float(value)

    def whole(self, table: Mapping[str, Any], key: str, default: int, *, low: int = 0, high: int = 2**31) -> int:
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or not low <= value <= high:
            self.problem(key, f"{value!r} is no whole number from {low} to {high}")
            return default
        return value

    def table(self, document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        value = document.get(key, {})
        if not isinstance(value, dict):
            self.problem(key, "is no table")
            return {}
        return value

    def names(self, table: Mapping[str, Any], key: str, path: str = "") -> tuple[str, ...]:
        value = table.get(key, [])
        if not isinstance(value, list) or not all(isinstance(entry, str) and entry for entry in value):
            self.problem(f"{path}{key}", "is no list of texts")
            return ()
        return tuple(value)

    def protocol(self, document: Mapping[str, Any]) -> Protocol:
        self.known(document, "", _TOP)
        if document.get("schema") != SCHEMA:
            self.problem("schema", f'write "{SCHEMA}"')
        arms, margins, prices = (
            self.table(document, "arms"),
            self.table(document, "margins"),
            self.table(document, "prices"),
        )
        self.known(arms, "arms.", ("baseline", "treatment", "others"))
        self.known(margins, "margins.", _MARGINS)
        self.known(prices, "prices.", _PRICES)
        encoding = self.text(document, "encoding", default="o200k_base")
        if encoding not in RANK_DIGESTS:
            self.problem("encoding", f"{encoding!r} is unknown; known: {', '.join(sorted(RANK_DIGESTS))}")
            encoding = "o200k_base"
        readers = self.names(document, "readers") or tuple(reader.name for reader in READERS)
        for reader in readers:
            if reader not in {known.name for known in READERS}:
                self.problem("readers", f"{reader!r} is unknown; known: {', '.join(r.name for r in READERS)}")
        endpoints = self.names(document, "endpoints")
        if endpoints and tuple(endpoints) != tuple(ENDPOINTS):
            self.problem("endpoints", f"the gate decides by {', '.join(ENDPOINTS)}; list these")
        rules = self.names(document, "gate_rules")
        if rules:
            for rule in rules:
                if rule not in GATE_RULES:
                    self.problem("gate_rules", f"{rule!r} is unknown{_near(rule, GATE_RULES)}")
            missing = [rule for rule in GATE_RULES if rule not in rules]
            if missing:
                self.problem("gate_rules", f"no rule can be left out; missing: {', '.join(missing)}")
        return Protocol(
            name=self.text(document, "name"),
            corpora=self.corpora(document),
            baseline=self.text(arms, "baseline", "arms."),
            treatment=self.text(arms, "treatment", "arms."),
            others=self.names(arms, "others", "arms."),
            readers=readers,
            repeats=self.whole(document, "repeats", 2, low=1, high=100),
            seed=self.whole(document, "seed", 1),
            encoding=encoding,
            inline_tokens=self.whole(document, "inline_tokens", 400, low=1),
            prices=Prices(
                p_in=self.number(prices, "input", 1.0, low=0, high=1000, path="prices."),
                p_read=self.number(prices, "read", 0.1, low=0, high=1000, path="prices."),
                p_write=self.number(prices, "write", 1.25, low=0, high=1000, path="prices."),
                p_out=self.number(prices, "output", 5.0, low=0, high=1000, path="prices."),
                base_tokens=self.whole(document, "base_tokens", 2000),
                horizon_turns=self.whole(document, "horizon_turns", 10, high=10_000),
            ),
            margin_success=self.number(margins, "success", 0.02, low=0, high=1, path="margins."),
            margin_preservation=self.number(margins, "preservation", 0.0, low=0, high=1, path="margins."),
            margin_family_reversal=self.number(margins, "family_reversal", 0.05, low=0, high=1, path="margins."),
            alpha=self.number(document, "alpha", 0.05, low=0.001, high=0.5),
            minimum_clusters=self.whole(document, "minimum_clusters", 5, low=2),
            budget_tokens=self.whole(document, "budget_tokens", 0),
            stop_rule=self.text(document, "stop_rule", default="one pass over every case"),
        )

    def corpora(self, document: Mapping[str, Any]) -> tuple[CorpusRef, ...]:
        entries = document.get("corpora", [])
        if not isinstance(entries, list) or not entries:
            self.problem("corpora", "needs at least one table with name and version")
            return ()
        found = []
        for position, entry in enumerate(entries):
            path = f"corpora[{position}]."
            if not isinstance(entry, dict):
                self.problem(path, "is no table")
                continue
            self.known(entry, path, ("name", "version", "manifest_digest"))
            found.append(
                CorpusRef(
                    name=self.text(entry, "name", path),
                    version=self.text(entry, "version", path),
                    manifest_digest=self.text(entry, "manifest_digest", path, default=""),
                )
            )
        return tuple(found)


@dataclass(frozen=True, kw_only=True, slots=True)
class Registration:
    """Whether a protocol was on record before it ran."""

    first_commit: str
    """The commit that first held the file; empty where there is none."""
    committed: bool
    """The file is as the newest commit holds it."""


def registration_of(path: Path) -> Registration:
    """What the project's history says of a protocol file; outside a history it is uncommitted.

    The first commit is the oldest one that holds the file with these bytes: a file that was changed and committed again
    is on record from the change on.
    """
    folder, name = path.resolve().parent, path.name
    clean = _git(folder, "status", "--porcelain", "--", name)
    content = _git(folder, "hash-object", "--", name)
    if clean is None or content is None:
        return Registration(first_commit="", committed=False)
    history = _git(folder, "log", "--format=%H", f"--find-object={content.strip()}", "--", name)
    commits = (history or "").split()
    if not commits:
        return Registration(first_commit="", committed=False)
    return Registration(first_commit=commits[-1], committed=not clean.strip())


def _git(folder: Path, *words: str) -> str | None:
    try:
        done = subprocess.run(
            ["git", "-C", str(folder), *words], capture_output=True, timeout=GIT_SECONDS, check=False, text=True
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return done.stdout if done.returncode == 0 else None
