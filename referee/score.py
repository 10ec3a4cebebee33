"""One row for each (case, arm, reader): everything that statistics, gate and receipt are made from (S16.3)."""

from collections.abc import Sequence
from dataclasses import dataclass, fields

NONE = ""


@dataclass(frozen=True, kw_only=True, slots=True)
class Row:
    """One episode with the metrics of its delivery; None is undefined, and says so as an empty cell."""

    case: str
    family: str
    cluster: str
    arm: str
    reader: str
    success: bool
    ending: str
    turns: int
    tokens_raw: int
    tokens_first: int
    """Of the first delivery."""
    tokens_delivered: int
    tokens_retrieved: int
    tokens_resident: int
    cost_uncached: float
    priced_cost: float
    identity_recall_inline: float | None
    identity_recall_addressable: float | None
    decisive_recall_inline: float | None
    decisive_recall_addressable: float | None
    false_claims: int
    undeclared_omissions: int
    unresolvable_addresses: int
    required_fraction: float
    containment: float
    frontier: float | None
    small_output_overhead: int | None
    deterministic: bool
    lost: int
    """Identities neither inline nor addressable."""
    outcome: str
    """Of truth: a stratum."""
    size: str
    decisive_position: str
    stream: str
    hostility: str
    arm_error: str


COLUMNS = tuple(field.name for field in fields(Row))
_BOOLS = ("success", "deterministic")
_WHOLE = (
    "turns", "tokens_raw", "tokens_first", "tokens_delivered", "tokens_retrieved", "tokens_resident", "false_claims",
    "undeclared_omissions", "unresolvable_addresses", "lost",
)  # fmt: skip
_FLOATS = ("cost_uncached", "priced_cost", "required_fraction", "containment")
_OPTIONAL_FLOATS = (
    "identity_recall_inline", "identity_recall_addressable", "decisive_recall_inline", "decisive_recall_addressable",
    "frontier",
)  # fmt: skip


def sorted_rows(rows: Sequence[Row]) -> list[Row]:
    """Rows by case, arm, reader."""
    return sorted(rows, key=lambda row: (row.case, row.arm, row.reader))


def cells(row: Row) -> list[str]:
    """A row as the text of its cells, in column order."""
    out = []
    for name in COLUMNS:
        value = getattr(row, name)
        if value is None:
            out.append(NONE)
        elif isinstance(value, bool):
            out.append("true" if value else "false")
        else:
            out.append(repr(value) if isinstance(value, float) else str(value))
    return out


def parse_cells(values: Sequence[str]) -> Row:
    """A row from its cells; ValueError where a cell cannot be what its column holds."""
    parsed: dict[str, object] = {}
    for name, text in zip(COLUMNS, values, strict=True):
        if name in _BOOLS:
            if text not in ("true", "false"):
                raise ValueError(f"{name}: {text!r} is neither true nor false")
            parsed[name] = text == "true"
        elif name in _WHOLE:
            parsed[name] = int(text)
        elif name in _FLOATS:
            parsed[name] = float(text)
        elif name in _OPTIONAL_FLOATS:
            parsed[name] = float(text) if text != NONE else None
        elif name == "small_output_overhead":
            parsed[name] = int(text) if text != NONE else None
        else:
            parsed[name] = text
    return Row(**parsed)  # type: ignore[arg-type]
