"""The published list of what scripted readers recognise, loaded from `recognisers.toml` (S14.6)."""

import re
import tomllib
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from hashlib import sha256
from importlib import resources
from typing import Any

LINE_CHARACTERS = 2_000
"""Marks are looked for in so much of a line; answers in all of it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class VerdictForm:
    """A form that says how the command went."""

    says: str
    strength: int
    form: re.Pattern[str]
    claim: bool
    """Whether it is a claim of the text's author; an exit status is a fact that is passed on."""


@dataclass(frozen=True, kw_only=True, slots=True, eq=False)
class Recognisers:
    """The compiled list; each field is the key of the same name in the file."""

    digest: str
    """SHA-256 of the file."""
    quote: re.Pattern[str]
    omission: tuple[re.Pattern[str], ...]
    hidden: tuple[re.Pattern[str], ...]
    incomplete: tuple[re.Pattern[str], ...]
    complete: tuple[re.Pattern[str], ...]
    totals: tuple[re.Pattern[str], ...]
    failing_list: re.Pattern[str]
    failing_rows: tuple[re.Pattern[str], ...]
    row_file: re.Pattern[str]
    no_result: re.Pattern[str]
    row_ends: tuple[str, ...]
    places: tuple[re.Pattern[str], ...]
    place_list: re.Pattern[str]
    listed_place: re.Pattern[str]
    arrow: re.Pattern[str]
    lead: re.Pattern[str]
    file_heading: re.Pattern[str]
    file_row: re.Pattern[str]
    test_row: re.Pattern[str]
    remark: re.Pattern[str]
    verdicts: tuple[VerdictForm, ...]
    orders: tuple[re.Pattern[str], ...]
    order_verdicts: Mapping[str, re.Pattern[str]]

    def unquoted(self, line: str) -> tuple[str, bool]:
        """The line without its quote mark, and whether it had one."""
        stripped = self.quote.sub("", line, count=1)
        return stripped, stripped is not line and len(stripped) < len(line)


def parse_recognisers(text: str) -> Recognisers:
    """The list from TOML; a key that is missing or unknown is a programming error and raises."""
    document: dict[str, Any] = tomllib.loads(text)
    document.pop("schema")
    verdicts = tuple(
        VerdictForm(
            says=entry["says"], strength=entry["strength"], form=re.compile(form), claim=entry.get("claim", True)
        )
        for entry in document.pop("verdicts")
        for form in entry["forms"]
    )
    values: dict[str, Any] = {
        "row_ends": tuple(document.pop("row_ends")),
        "order_verdicts": {says: re.compile(form) for says, form in document.pop("order_verdicts").items()},
    }
    for key, value in document.items():
        values[key] = re.compile(value) if isinstance(value, str) else tuple(re.compile(form) for form in value)
    return Recognisers(digest=sha256(text.encode()).hexdigest(), verdicts=verdicts, **values)


@cache
def recognisers() -> Recognisers:
    """The shipped list."""
    return parse_recognisers(
        resources.files("referee.readers").joinpath("recognisers.toml").read_text(encoding="utf-8")
    )
