"""Epochs: committed, versioned tables of delivery defaults (S13).

`epochs/<id>.toml` holds `schema`, `id`, `parent`, `[defaults]`, `[family.<name>]` (budget by outcome), `[session]` and
`[promoted.<family>]`. Exactly one epoch is active; its id is `<id>@<12 hex of the canonical content>`.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any

from ctx.canonical import content_id
from ctx.contracts.model import BUILT_IN_FAMILIES
from ctx.errors import ContractError
from ctx.evidence import Outcome

SCHEMA = "ctx.epoch/v1"
PACKAGED = "2026.1"
"""The epoch that a release ships as its default."""
_ID = re.compile(r"[0-9]{4}(?:\.[0-9]+|-[0-9a-z-]+)")
_LARGEST = 1_000_000_000
_TOP = ("schema", "id", "parent", "defaults", "family", "session", "promoted")
_DEFAULTS = ("inline_tokens", "budget_tokens", "failure_budget_factor", "reply_tokens")
_SESSION = (
    "richer_after_reruns",
    "normal_after_quiet",
    "leaner_after_landings",
    "leaner_window",
    "normal_after_reruns",
)
_PROMOTED = ("profile", "contract_id", "sources_digest", "receipt", "receipt_digest", "verdict")


@dataclass(frozen=True, kw_only=True, slots=True)
class Epoch:
    """One table of policy defaults; all sizes in tok."""

    id: str
    epoch_id: str
    """`<id>@<12 hex>`."""
    content_digest: str = ""
    """SHA-256 of the canonical content, 64 hex digits."""
    parent: str = ""
    inline_tokens: int = 400
    budget_tokens: int = 480
    failure_budget_factor: float = 2.0
    reply_tokens: int = 1200
    family_budgets: Mapping[tuple[str, str], int] = field(default_factory=dict)
    """(family, outcome) -> budget."""
    session: Mapping[str, int] = field(default_factory=dict)

    def budget(self, family: str, outcome: Outcome) -> int:
        """Base budget of a family and outcome, before the failure factor."""
        return self.family_budgets.get((family, str(outcome)), self.budget_tokens)


def active_epoch(name: str | None = None) -> Epoch:
    """The packaged epoch `name` (default: the one this release ships), or the one in the file `name`, a path that
    ends in `.toml`.

    Raises:
        ContractError: No such epoch, or a file with problems.
    """
    wanted = name or PACKAGED
    if wanted.endswith(".toml"):
        return load_epoch(Path(wanted))
    bare = wanted.partition("@")[0]
    text = _packaged_text(bare)
    if text is None:
        raise ContractError([f"epoch {wanted}: not there; known: {', '.join(packaged_epochs())}"])
    epoch = parse_epoch(text, f"{bare}.toml")
    if "@" in wanted and epoch.epoch_id != wanted:
        raise ContractError([f"epoch {wanted}: the file is {epoch.epoch_id}; an edited table is a new file"])
    return epoch


def packaged_epochs() -> tuple[str, ...]:
    """Ids of the epochs that are shipped, sorted."""
    return tuple(sorted(path.name.removesuffix(".toml") for path in _folder().iterdir() if path.name.endswith(".toml")))


def _folder() -> Path:
    packaged = Path(__file__).parents[1] / "epochs"
    return packaged if packaged.is_dir() else Path(__file__).resolve().parents[2] / "epochs"


def _packaged_text(name: str) -> str | None:
    if not _ID.fullmatch(name):
        return None
    entry = _folder().joinpath(f"{name}.toml")
    return entry.read_text(encoding="utf-8") if entry.is_file() else None


def load_epoch(path: Path) -> Epoch:
    """An epoch from a file of the user's, held to the contracts of its families too.

    Raises:
        ContractError: It cannot be read, or has problems.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ContractError([f"epoch {path}: {said}; give a file such as epochs/{PACKAGED}.toml"]) from None
    return parse_epoch(text, path.name, ceilings=family_ceilings(), beside=path.parent)


def family_ceilings() -> dict[str, int]:
    """Family -> hard ceiling of its contract, in tok: no budget may be above it."""
    from ctx.contracts.load import load_contract, packaged_families

    return {family: load_contract(family).ceiling_tokens for family in packaged_families()}


def parse_epoch(
    text: str, name: str, *, ceilings: Mapping[str, int] | None = None, beside: Path | None = None
) -> Epoch:
    """An epoch from TOML; all problems at once, each located.

    Args:
        ceilings: Ceilings of the contracts, which bound the table's sizes; None for a table that was checked when it
            was packaged: a command does not read every contract to start.
        beside: A folder where the parent may lie, besides the packaged ones.
    Raises:
        ContractError: With every problem, each `file: path: what; what would fit`.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ContractError([f"{name}: not TOML: {error}; compare with epochs/{PACKAGED}.toml"]) from None
    reader = _Reader(name, document)
    epoch = reader.epoch()
    if ceilings is not None:
        reader.hold_to(epoch, ceilings)
    reader.parent(epoch.parent, beside)
    if reader.problems:
        raise ContractError(reader.problems)
    digest = content_id(document)
    return replace(epoch, epoch_id=f"{epoch.id}@{digest[:12]}", content_digest=digest)


class _Reader:
    """Typed getters over one document that collect problems and go on."""

    def __init__(self, name: str, document: Mapping[str, Any]) -> None:
        self.name = name
        self.document = document
        self.problems: list[str] = []

    def problem(self, path: str, what: str) -> None:
        self.problems.append(f"{self.name}: {path}: {what}")

    def epoch(self) -> Epoch:
        document = self.document
        self.known(document, "", _TOP)
        if document.get("schema") != SCHEMA:
            self.problem("schema", f'unknown schema "{document.get("schema", "")}"; write "{SCHEMA}"')
        identifier = document.get("id", "")
        if not isinstance(identifier, str) or not _ID.fullmatch(identifier):
            self.problem("id", f'"{identifier}" is no epoch id; write YYYY.N')
        elif f"{identifier}.toml" != self.name:
            self.problem("id", f'"{identifier}" does not fit the file name {self.name}')
        defaults = self.table(document, "", "defaults")
        self.known(defaults, "defaults", _DEFAULTS)
        for family, table in self.tables("promoted"):
            self.promoted(table, f"promoted.{family}")
        return Epoch(
            id=str(identifier),
            epoch_id="",
            parent=self.word(document, "parent"),
            inline_tokens=self.positive(defaults, "defaults", "inline_tokens", 400),
            budget_tokens=self.positive(defaults, "defaults", "budget_tokens", 480),
            failure_budget_factor=self.factor(defaults),
            reply_tokens=self.positive(defaults, "defaults", "reply_tokens", 1200),
            family_budgets=self.budgets(),
            session=self.session(),
        )

    def known(self, table: Mapping[str, Any], path: str, known: tuple[str, ...]) -> None:
        for key in table:
            if key not in known:
                self.problem(f"{path}.{key}".lstrip("."), f'unknown key "{key}"; known: {", ".join(known)}')

    def table(self, table: Mapping[str, Any], path: str, key: str) -> Mapping[str, Any]:
        value = table.get(key, {})
        if not isinstance(value, dict):
            where = f"{path}.{key}".lstrip(".")
            self.problem(where, f"is no table; write [{where}]")
            return {}
        return value

    def tables(self, key: str) -> list[tuple[str, Mapping[str, Any]]]:
        """The tables under `[key]`, one a family; a family without extractor is a problem."""
        table = self.table(self.document, "", key)
        for family in table:
            if family not in BUILT_IN_FAMILIES:
                self.problem(
                    f"{key}.{family}", f'unknown family "{family}"; known: {", ".join(sorted(BUILT_IN_FAMILIES))}'
                )
        return [(family, self.table(table, key, family)) for family in table]

    def word(self, table: Mapping[str, Any], key: str) -> str:
        value = table.get(key, "")
        if not isinstance(value, str):
            self.problem(key, f"{value!r} is no text; write one in quotes")
            return ""
        return value

    def positive(self, table: Mapping[str, Any], path: str, key: str, default: int) -> int:
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
            self.problem(f"{path}.{key}", f"{value!r} is no positive integer")
            return default
        if value > _LARGEST:
            self.problem(f"{path}.{key}", f"{value} is too large; write at most {_LARGEST}")
            return default
        return value

    def factor(self, defaults: Mapping[str, Any]) -> float:
        value = defaults.get("failure_budget_factor", 2.0)
        if isinstance(value, bool) or not isinstance(value, int | float) or not 1 <= value <= 16:
            self.problem("defaults.failure_budget_factor", f"{value!r} is no number from 1 to 16")
            return 2.0
        return float(value)

    def budgets(self) -> dict[tuple[str, str], int]:
        found = {}
        outcomes = tuple(str(outcome) for outcome in Outcome)
        for family, table in self.tables("family"):
            self.known(table, f"family.{family}", outcomes)
            for outcome in outcomes:
                if outcome in table:
                    found[(family, outcome)] = self.positive(table, f"family.{family}", outcome, 480)
        return found

    def session(self) -> dict[str, int]:
        table = self.table(self.document, "", "session")
        self.known(table, "session", _SESSION)
        found = {key: self.positive(table, "session", key, 1) for key in table if key in _SESSION}
        landings, window = found.get("leaner_after_landings", 4), found.get("leaner_window", 5)
        if landings > window:
            what = f"{landings} landings do not fit a window of {window}; write at most leaner_window"
            self.problem("session.leaner_after_landings", what)
        return found

    def promoted(self, table: Mapping[str, Any], path: str) -> None:
        self.known(table, path, _PROMOTED)
        for key in _PROMOTED:
            if not isinstance(table.get(key), str) or not table[key]:
                self.problem(f"{path}.{key}", "is missing or no text; an entry is written from a verified receipt")
        if table.get("verdict") not in (None, "promote"):
            self.problem(f"{path}.verdict", f'"{table["verdict"]}" promotes nothing; only "promote" does')

    def hold_to(self, epoch: Epoch, ceilings: Mapping[str, int]) -> None:
        """A size above the ceiling of a contract would promise what no digest may be."""
        lowest = min(ceilings.values())
        for key, size in (("inline_tokens", epoch.inline_tokens), ("budget_tokens", epoch.budget_tokens)):
            if size > lowest:
                self.problem(f"defaults.{key}", f"{size} is above the ceiling of a contract; write at most {lowest}")
        for (family, outcome), size in epoch.family_budgets.items():
            ceiling = ceilings.get(family, lowest)
            if size > ceiling:
                what = f"{size} is above the ceiling of its contract; write at most {ceiling}"
                self.problem(f"family.{family}.{outcome}", what)

    def parent(self, parent: str, beside: Path | None) -> None:
        if not parent:
            return
        own = parent == self.document.get("id")
        there = _ID.fullmatch(parent) and (
            _folder().joinpath(f"{parent}.toml").is_file()
            or (beside is not None and beside.joinpath(f"{parent}.toml").is_file())
        )
        if own or not there:
            what = "is the table itself" if own else "is not there"
            self.problem("parent", f'"{parent}" {what}; known: {", ".join(packaged_epochs())}')
