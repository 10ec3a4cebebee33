"""Loading contracts: one TOML file a family, every problem of a file reported at once and located (S4.4)."""

import tomllib
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import Any

from ctx.canonical import VolatileClass, content_id
from ctx.contracts.model import (
    GENERIC,
    LADDER,
    SCHEMA,
    Contract,
    FactClass,
    LossSeverity,
    OutcomeRules,
    Rung,
    StableOrder,
    buildable,
)
from ctx.errors import ContractError

_LARGEST = 1_000_000_000
_TOP = ("schema", "family", "profile", "decision_unit", "question", "unacceptable", "content_classes")
_TABLES = ("outcomes", "loss_severities", "ladder", "rendering")
_TIERS = ("required", "preferred", "retrievable")
_OUTCOMES = ("fail", "pass", "default")
_RENDERING = ("stable_order", "evidence_floor_tokens", "hard_ceiling_tokens")


def load_contract(family: str, folders: Iterable[Path] = ()) -> Contract:
    """The contract of `family`, or `generic` where it has no file of its own (S4.8).

    Args:
        family: As in `EvidenceGraph.family`.
        folders: Further folders, searched after the packaged one: those of entry-point profiles.
    Raises:
        ContractError: The file has problems, or two files claim the family.
    """
    found = [text for text in (_packaged(family), *(_beside(folder, family) for folder in folders)) if text is not None]
    if len(found) > 1:
        raise ContractError([f"{family}.toml: two files for one family; keep one of them"])
    if found:
        return parse_contract(found[0], f"{family}.toml")
    generic = _packaged(GENERIC)
    assert generic is not None, "generic.toml is part of the package"
    return parse_contract(generic, f"{GENERIC}.toml")


def packaged_families() -> tuple[str, ...]:
    """Families that have a contract in the package, sorted."""
    names = (entry.name for entry in Path(__file__).parent.iterdir())
    return tuple(sorted(name.removesuffix(".toml") for name in names if name.endswith(".toml")))


def _packaged(family: str) -> str | None:
    if not family.replace("_", "").replace("-", "").isalnum():
        return None
    return _beside(Path(__file__).parent, family)


def _beside(folder: Path, family: str) -> str | None:
    path = folder / f"{family}.toml"
    return path.read_text(encoding="utf-8") if path.is_file() else None


def parse_contract(text: str, name: str) -> Contract:
    """A contract from TOML `text`; `name` is the file's name in messages.

    Raises:
        ContractError: With every problem, each `file: path: what; what would fit`.
    """
    try:
        document = tomllib.loads(text)
    except tomllib.TOMLDecodeError as error:
        raise ContractError([f"{name}: not TOML: {error}; compare with the example in docs/profiles.md"]) from None
    reader = _Reader(name)
    contract = reader.contract(document)
    if reader.problems:
        raise ContractError(reader.problems)
    return contract


class _Reader:
    """Typed getters over one document that collect problems and go on."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.problems: list[str] = []

    def problem(self, path: str, what: str, fits: str = "") -> None:
        self.problems.append(f"{self.name}: {path}: {what}" + (f"; {fits}" if fits else ""))

    def contract(self, document: Mapping[str, Any]) -> Contract:
        self.known_keys(document, "", (*_TOP, *_TABLES))
        if document.get("schema") != SCHEMA:
            self.problem("schema", f'unknown schema "{document.get("schema", "")}"', f'write "{SCHEMA}"')
        family = self.text(document, "family")
        outcomes = self.outcomes(document, family)
        ladder = self.ladder(document)
        floor, ceiling, order = self.rendering(document)
        census = any(FactClass.COMPLETE_IDENTITY_CENSUS in rules.required for rules in outcomes.values())
        if census and Rung.FLOOD not in ladder:
            self.problem("ladder.rungs", "a census is required, so the ladder needs its last rung", 'add "flood"')
        return Contract(
            family=family,
            profile=self.text(document, "profile"),
            decision_unit=self.text(document, "decision_unit"),
            question=self.text(document, "question"),
            unacceptable=self.text(document, "unacceptable"),
            outcomes=outcomes,
            severities=self.severities(document, outcomes),
            content_classes=frozenset(
                self.members(document.get("content_classes", []), "content_classes", VolatileClass, "volatile class")
            ),
            ladder=ladder,
            stable_order=order,
            floor_tokens=floor,
            ceiling_tokens=ceiling,
            contract_id=content_id(document) if not self.problems else "",
        )

    def known_keys(self, table: Mapping[str, Any], path: str, known: tuple[str, ...]) -> None:
        for key in table:
            if key not in known:
                self.problem(f"{path}.{key}".lstrip("."), f'unknown key "{key}"', _nearest(key, known))

    def text(self, document: Mapping[str, Any], key: str) -> str:
        value = document.get(key)
        if not isinstance(value, str) or not value.strip():
            self.problem(key, "is missing" if value is None else "is empty or no text", "write a text")
            return ""
        return value

    def table(self, document: Mapping[str, Any], key: str) -> Mapping[str, Any]:
        value = document.get(key, {})
        if not isinstance(value, dict):
            self.problem(key, "is no table", f"write [{key}]")
            return {}
        return value

    def members(self, value: Any, path: str, enum: Any, noun: str) -> list[Any]:
        if not isinstance(value, list):
            self.problem(path, "is no list", f"write a list, each entry a {noun}")
            return []
        found = []
        for position, entry in enumerate(value):
            try:
                found.append(enum(entry))
            except ValueError:
                self.problem(f"{path}[{position}]", f'unknown {noun} "{entry}"', _nearest(str(entry), list(enum)))
        return found

    def outcomes(self, document: Mapping[str, Any], family: str) -> dict[str, OutcomeRules]:
        tables = self.table(document, "outcomes")
        self.known_keys(tables, "outcomes", _OUTCOMES)
        if "default" not in tables:
            self.problem("outcomes.default", "is missing", "every contract says what holds for an unknown outcome")
        rules = {}
        for outcome in _OUTCOMES:
            if outcome in tables:
                rules[outcome] = self.tiers(tables[outcome], f"outcomes.{outcome}", family)
        rules.setdefault("default", OutcomeRules())
        return rules

    def tiers(self, table: Any, path: str, family: str) -> OutcomeRules:
        if not isinstance(table, dict):
            self.problem(path, "is no table", f"write [{path}]")
            return OutcomeRules()
        self.known_keys(table, path, _TIERS)
        seen: dict[FactClass, str] = {}
        tiers: dict[str, tuple[FactClass, ...]] = {}
        for tier in _TIERS:
            listed = table.get(tier, [])
            classes = self.members(listed, f"{path}.{tier}", FactClass, "fact class")
            for fact_class in classes:
                place = f"{path}.{tier}[{listed.index(fact_class)}]"
                if fact_class in seen:
                    what = f'"{fact_class}" stands in {seen[fact_class]} already'
                    self.problem(place, what, "a class belongs to one tier of an outcome")
                seen[fact_class] = tier
                never = family == GENERIC and fact_class is FactClass.COMPLETE_IDENTITY_CENSUS
                if never or (tier == "required" and not buildable(fact_class, family)):
                    what = f'no extractor of family "{family}" can build "{fact_class}"'
                    self.problem(place, what, "require what the extractor attests")
            tiers[tier] = tuple(classes)
        return OutcomeRules(**tiers)

    def severities(
        self, document: Mapping[str, Any], outcomes: Mapping[str, OutcomeRules]
    ) -> dict[FactClass, LossSeverity]:
        placed = {c for rules in outcomes.values() for c in (*rules.required, *rules.preferred, *rules.retrievable)}
        found: dict[FactClass, LossSeverity] = {}
        for key, value in self.table(document, "loss_severities").items():
            path = f"loss_severities.{key}"
            if key not in list(FactClass):
                self.problem(path, f'unknown fact class "{key}"', _nearest(key, list(FactClass)))
                continue
            if value not in list(LossSeverity):
                self.problem(path, f'unknown severity "{value}"', _nearest(str(value), list(LossSeverity)))
                continue
            if FactClass(key) not in placed:
                self.problem(path, "is in no tier of any outcome", "place the class or leave its severity out")
            found[FactClass(key)] = LossSeverity(value)
        return found

    def ladder(self, document: Mapping[str, Any]) -> tuple[Rung, ...]:
        table = self.table(document, "ladder")
        self.known_keys(table, "ladder", ("rungs",))
        if "rungs" not in table:
            return LADDER
        rungs = self.members(table["rungs"], "ladder.rungs", Rung, "rung")
        order = [LADDER.index(rung) for rung in rungs if rung in LADDER]
        if len(order) != len(rungs) or order != sorted(set(order)):
            fits = "list " + ", ".join(LADDER) + " in this order; inline is implied, detail is lost before identity"
            self.problem("ladder.rungs", "is no ladder that loses detail before identity", fits)
        return tuple(rungs)

    def rendering(self, document: Mapping[str, Any]) -> tuple[int, int, StableOrder]:
        table = self.table(document, "rendering")
        self.known_keys(table, "rendering", _RENDERING)
        floor = self.budget(table, "evidence_floor_tokens", 128)
        ceiling = self.budget(table, "hard_ceiling_tokens", 4000)
        if floor > ceiling:
            what = f"floor {floor} is above the ceiling {ceiling}"
            self.problem("rendering.evidence_floor_tokens", what, "a floor is at most hard_ceiling_tokens")
        order = self.members([table.get("stable_order", "occurrence")], "rendering.stable_order", StableOrder, "order")
        return floor, ceiling, order[0] if order else StableOrder.OCCURRENCE

    def budget(self, table: Mapping[str, Any], key: str, default: int) -> int:
        value = table.get(key, default)
        if isinstance(value, bool) or not isinstance(value, int) or value <= 0:
            self.problem(f"rendering.{key}", f"{value!r} is no positive integer", "budgets are whole tok")
            return default
        if value > _LARGEST:
            self.problem(f"rendering.{key}", f"{value} is too large", f"write at most {_LARGEST}")
            return default
        return value


def _nearest(word: str, known: Iterable[str]) -> str:
    choices = [str(choice) for choice in known]
    import difflib

    close = difflib.get_close_matches(word, choices, n=1)
    return f'did you mean "{close[0]}"?' if close else "known: " + ", ".join(choices)
