"""The record of one reader acting on one delivery: turns, ending, answer (S14.7, S14.10)."""

from dataclasses import dataclass
from enum import StrEnum


class Action(StrEnum):
    """What a turn did to get its text."""

    DELIVER = "deliver"
    """The first delivery."""
    FOLLOW = "follow"
    SEARCH = "search"
    RERUN = "rerun"
    SLICE = "slice"
    OBEY = "obey"
    """Did what a delivered text told its reader to do."""


class Ending(StrEnum):
    """How an episode ended."""

    ANSWER = "answer"
    GIVE_UP = "give_up"
    """The reader emits what it has, marked incomplete."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Turn:
    """One row of the ledger."""

    turn: int
    """1 for the first delivery."""
    action: Action
    delivered_tokens: int
    """d: what this turn put before the reader, paid whole even where the reader takes only its beginning."""
    written_tokens: int
    """o: what the reader wrote to get it; the last turn's row also holds the answer."""
    address: str = ""
    """What was asked for: an address, a word, a slice."""
    resolved: bool = True
    """False where the way back returned nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Episode:
    """One case, one arm, one reader, from the question to the answer."""

    case: str
    arm: str
    reader: str
    turns: tuple[Turn, ...]
    ending: Ending
    answer: tuple[str, ...]
    """What the reader says, as read off the texts; graded against truth elsewhere. Empty: it found nothing."""
    answered_none: bool = False
    """The reader says that there is nothing to name (a clean run), which is not the same as finding nothing."""
