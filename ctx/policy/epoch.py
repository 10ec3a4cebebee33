"""Epochs: committed, versioned tables of delivery defaults (S13).

`epochs/<id>.toml` holds `schema`, `id`, `parent`, `[defaults]`, `[family.<name>]` (budget by outcome), `[session]` and
`[promoted.<family>]`. Exactly one epoch is active; its id is `<id>@<12 hex of the canonical content>`.
"""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from ctx.canonical import content_id
from ctx.errors import ContractError
from ctx.evidence import Outcome

SCHEMA = "ctx.epoch/v1"
PACKAGED = "2026.1"
"""The epoch that a release ships as its default."""
_ID = re.compile(r"[0-9]{4}(?:\.[0-9]+|-[0-9a-z-]+)")
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
    """An epoch from a file.

    Raises:
        ContractError: It cannot be read, or has problems.
    """
    try:
        text = path.read_text(encoding="utf-8")
    except (OSError, UnicodeDecodeError) as error:
        said = error.strerror if isinstance(error, OSError) else "not UTF-8"
        raise ContractError([f"epoch {path}: {said}; give a file such as epochs/{PACKAGED}.toml"]) from None
    return parse_epoch(text, path.name)


def parse_epoch(text: str, name: str) -> Epoch:
    """An epoch from TOML; all problems at once, each located."""
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ContractError([f"{name}: not TOML: {error}"]) from None
    problems: list[str] = []

    def problem(path: str, what: str) -> None:
        problems.append(f"{name}: {path}: {what}")

    def unknown(table: Mapping[str, Any], path: str, known: tuple[str, ...]) -> None:
        for key in table:
            if key not in known:
                problem(f"{path}.{key}".lstrip("."), f'unknown key "{key}"; known: {", ".join(known)}')

    def positive(table: Mapping[str, Any], path: str, key: str, default: int) -> int:
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
            problem(f"{path}.{key}", f"{value!r} is no positive integer")
            return default
        return value

    unknown(document, "", _TOP)
    if document.get("schema") != SCHEMA:
        problem("schema", f'unknown schema "{document.get("schema", "")}"; write "{SCHEMA}"')
    identifier = document.get("id", "")
    if not isinstance(identifier, str) or not _ID.fullmatch(identifier):
        problem("id", f'"{identifier}" is no epoch id; write YYYY.N')
    elif f"{identifier}.toml" != name:
        problem("id", f'"{identifier}" does not fit the file name {name}')
    defaults = document.get("defaults", {})
    unknown(defaults, "defaults", _DEFAULTS)
    factor = defaults.get("failure_budget_factor", 2.0)
    if isinstance(factor, bool) or not isinstance(factor, int | float) or not 1 <= factor <= 16:
        problem("defaults.failure_budget_factor", f"{factor!r} is no number from 1 to 16")
        factor = 2.0
    budgets: dict[tuple[str, str], int] = {}
    for family, table in document.get("family", {}).items():
        unknown(table, f"family.{family}", ("pass", "fail", "unknown"))
        for outcome in ("pass", "fail", "unknown"):
            if outcome in table:
                budgets[(family, outcome)] = positive(table, f"family.{family}", outcome, 480)
    session = document.get("session", {})
    unknown(session, "session", _SESSION)
    for family, table in document.get("promoted", {}).items():
        unknown(table, f"promoted.{family}", _PROMOTED)
    epoch = Epoch(
        id=str(identifier),
        epoch_id=f"{identifier}@{content_id(document)[:12]}",
        content_digest=content_id(document),
        parent=str(document.get("parent", "")),
        inline_tokens=positive(defaults, "defaults", "inline_tokens", 400),
        budget_tokens=positive(defaults, "defaults", "budget_tokens", 480),
        failure_budget_factor=float(factor),
        reply_tokens=positive(defaults, "defaults", "reply_tokens", 1200),
        family_budgets=budgets,
        session={key: positive(session, "session", key, 1) for key in session},
    )
    if problems:
        raise ContractError(problems)
    return epoch
