"""Scripted readers: one deterministic machine, seven rows of parameters (S14.7).

    READ    take the delivered text, or its first `read_tokens`
    JUDGE   is an answer visible, and does what I see say that something is missing, or that all is there?
    ACT     the next action that is possible and not yet used up; back to READ
    ANSWER  emit the answers; GIVE_UP  emit what there is, marked incomplete

No draw, no clock, no knowledge of any arm: texts and the published list are all that a reader has.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from functools import lru_cache

from referee.cases import AnswerType, Question
from referee.delivery import Capture, Delivery, WayBackError, one_channel
from referee.episode import Action, Ending, Episode, Turn
from referee.readers.recognisers import Recognisers, recognisers
from referee.readers.sight import Sight, look
from referee.tokens import Encoder

SLICE_LINES = 50
"""Lines of the first slice, from the end of the raw output."""
GREP_LINES = 200
"""Lines that a slice by words returns at most."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Reader:
    """One row of the table of S14.7; the table is part of the protocol digest."""

    name: str
    actions: tuple[Action, ...]
    read_tokens: int | None
    """None: all of a text is read."""
    trust_undeclared: bool
    """An answer is given although the text does not claim to be complete."""
    trust_complete: bool
    """A text that claims to be complete is believed."""
    max_turns: int
    gullible: bool = False


READERS: tuple[Reader, ...] = (
    Reader(name="impatient", actions=(), read_tokens=None, trust_undeclared=True, trust_complete=True, max_turns=1),
    Reader(
        name="follower",
        actions=(Action.FOLLOW, Action.SEARCH, Action.RERUN),
        read_tokens=None,
        trust_undeclared=True,
        trust_complete=True,
        max_turns=6,
    ),
    Reader(
        name="rerunner",
        actions=(Action.RERUN, Action.SLICE, Action.FOLLOW),
        read_tokens=None,
        trust_undeclared=True,
        trust_complete=True,
        max_turns=5,
    ),
    Reader(
        name="skimmer",
        actions=(Action.FOLLOW, Action.RERUN),
        read_tokens=300,
        trust_undeclared=True,
        trust_complete=True,
        max_turns=4,
    ),
    Reader(
        name="scanner",
        actions=(Action.SEARCH, Action.FOLLOW),
        read_tokens=None,
        trust_undeclared=False,
        trust_complete=True,
        max_turns=5,
    ),
    Reader(
        name="doubter",
        actions=(Action.FOLLOW, Action.SLICE, Action.RERUN),
        read_tokens=None,
        trust_undeclared=False,
        trust_complete=False,
        max_turns=8,
    ),
    Reader(
        name="gullible",
        actions=(Action.OBEY, Action.FOLLOW, Action.SEARCH, Action.RERUN),
        read_tokens=None,
        trust_undeclared=True,
        trust_complete=True,
        max_turns=6,
        gullible=True,
    ),
)


def reader_table() -> list[dict[str, object]]:
    """The table as plain data, for the protocol digest."""
    return [
        {
            "name": reader.name,
            "actions": [str(action) for action in reader.actions],
            "read_tokens": reader.read_tokens,
            "trust_undeclared": reader.trust_undeclared,
            "trust_complete": reader.trust_complete,
            "max_turns": reader.max_turns,
            "gullible": reader.gullible,
        }
        for reader in READERS
    ]


@dataclass(slots=True)
class _Mind:
    """What a reader has seen so far."""

    sights: list[Sight] = field(default_factory=list)
    followed: set[str] = field(default_factory=set)
    obeyed: set[str] = field(default_factory=set)
    checked: bool = False
    """One own check has been made."""

    def answers(self, question: Question) -> tuple[str, ...]:
        """All answers seen, in order, guesses at what is named whole left out; of a single answer the first."""
        whole = {a.partition("::")[2] for sight in self.sights for a in sight.answers if a not in sight.guessed}
        found = tuple(
            dict.fromkeys(
                answer
                for sight in self.sights
                for answer in sight.answers
                if answer not in sight.guessed or answer.partition("::")[2] not in whole
            )
        )
        return found if question.answer is AnswerType.IDENTITIES else found[:1]

    def missing(self, question: Question) -> bool:
        """Whether what was seen says that answers are missing, in the unit of the answer."""
        if question.answer is not AnswerType.IDENTITIES:
            return False
        total = next((sight.total for sight in self.sights if sight.total is not None), None)
        if total is not None:
            rows = {row for sight in self.sights for row in sight.rows}
            return max(len(self.answers(question)), len(rows)) < total
        return all(sight.says_missing for sight in self.sights)

    def none_claimed(self) -> bool:
        return any(sight.none_claimed for sight in self.sights) and not any(sight.answers for sight in self.sights)

    def orders(self) -> Iterator[str]:
        """What the texts tell their reader to do and it has not done yet."""
        for sight in self.sights:
            for order in sight.orders:
                if order not in self.obeyed:
                    yield order

    def addresses(self) -> Iterator[str]:
        """Printed addresses that were not followed yet."""
        for sight in self.sights:
            for address in sight.addresses:
                if address not in self.followed:
                    yield address


def read(
    reader: Reader,
    *,
    case_id: str,
    question: Question,
    capture: Capture,
    arm: str,
    delivery: Delivery,
    encoder: Encoder,
    known: Recognisers | None = None,
) -> Episode:
    """The episode of `reader` on one delivery. `capture` serves slices of the raw output and nothing else."""
    known = known or recognisers()
    mind = _Mind()
    turns: list[Turn] = []
    plan = _Actions(reader, question, capture, delivery, mind)
    text, action, address, resolved = delivery.text, Action.DELIVER, "", True
    while True:
        shown = text if reader.read_tokens is None else encoder.head(text, reader.read_tokens)
        mind.sights.append(_sight(question, shown, delivery.address_pattern, known, reader.gullible))
        mind.checked = mind.checked or action is not Action.DELIVER
        turns.append(
            Turn(
                turn=len(turns) + 1,
                action=action,
                delivered_tokens=encoder.count(text),
                written_tokens=encoder.count(address) if address else 0,
                address=address,
                resolved=resolved,
            )
        )
        if _settled(reader, question, mind):
            return _episode(case_id, arm, reader, turns, Ending.ANSWER, mind, question, encoder)
        following = plan.next() if len(turns) < reader.max_turns else None
        if following is None:
            return _episode(case_id, arm, reader, turns, Ending.GIVE_UP, mind, question, encoder)
        action, address, text, resolved = following


@lru_cache(maxsize=256)
def _sight(question: Question, text: str, address_pattern: str, known: Recognisers, gullible: bool) -> Sight:
    """`look`, remembered: most readers see the same texts."""
    return look(question, text, address_pattern, known, gullible=gullible)


def _settled(reader: Reader, question: Question, mind: _Mind) -> bool:
    visible = bool(mind.answers(question)) or mind.none_claimed()
    if not visible or mind.missing(question):
        return False
    claims_complete = any(sight.says_complete for sight in mind.sights)
    trusted = reader.trust_complete if claims_complete else reader.trust_undeclared
    return trusted or mind.checked


class _Actions:
    """The actions of one episode, in the reader's order, each until it is used up."""

    def __init__(self, reader: Reader, question: Question, capture: Capture, delivery: Delivery, mind: _Mind) -> None:
        self._reader = reader
        self._question = question
        self._capture = capture
        self._delivery = delivery
        self._mind = mind
        self._words = list(question.words)
        self._rerun_left = True
        self._slices = ["tail", "grep"]

    def next(self) -> tuple[Action, str, str, bool] | None:
        """(action, what was asked, what came back, whether it resolved), or None where nothing is left."""
        for action in self._reader.actions:
            found = self._try(action)
            if found is not None:
                return found
        return None

    def _try(self, action: Action) -> tuple[Action, str, str, bool] | None:
        match action:
            case Action.FOLLOW:
                return self._follow()
            case Action.SEARCH:
                return self._search()
            case Action.RERUN:
                if not self._rerun_left:
                    return None
                self._rerun_left = False
                return Action.RERUN, " ".join(self._capture.argv), self._delivery.text, True
            case Action.SLICE:
                return self._slice()
            case Action.OBEY:
                return self._obey()
            case _:
                return None

    def _obey(self) -> tuple[Action, str, str, bool] | None:
        """The next order: an address in it is fetched, the captured command runs again, any other brings nothing."""
        order = next(self._mind.orders(), None)
        if order is None:
            return None
        self._mind.obeyed.add(order)
        pattern = self._delivery.address_pattern
        named = re.search(pattern, order) if pattern else None
        if named and self._delivery.resolver is not None:
            return self._fetched(Action.OBEY, named[0])
        command = " ".join(self._capture.argv)
        if command and command in order:
            return Action.OBEY, order, self._delivery.text, True
        return Action.OBEY, order, "", False

    def _follow(self) -> tuple[Action, str, str, bool] | None:
        address = next(self._mind.addresses(), None)
        if address is None or self._delivery.resolver is None:
            return None
        return self._fetched(Action.FOLLOW, address)

    def _fetched(self, action: Action, address: str) -> tuple[Action, str, str, bool]:
        self._mind.followed.add(address)
        assert self._delivery.resolver is not None
        try:
            return action, address, self._delivery.resolver.get(address).text, True
        except WayBackError as error:
            return action, address, str(error), False

    def _search(self) -> tuple[Action, str, str, bool] | None:
        if self._delivery.resolver is None or not self._words:
            return None
        word = self._words.pop(0)
        try:
            return Action.SEARCH, word, self._delivery.resolver.search(word).text, True
        except WayBackError as error:
            return Action.SEARCH, word, str(error), False

    def _slice(self) -> tuple[Action, str, str, bool] | None:
        if not self._slices:
            return None
        kind = self._slices.pop(0)
        lines = one_channel(self._capture).splitlines(keepends=True)
        if kind == "tail":
            return Action.SLICE, f"tail -{SLICE_LINES}", "".join(lines[-SLICE_LINES:]), True
        words = [word.lower() for word in self._question.words]
        hits = [line for line in lines if any(word in line.lower() for word in words)]
        return Action.SLICE, "grep " + " ".join(self._question.words), "".join(hits[:GREP_LINES]), True


def _episode(
    case_id: str,
    arm: str,
    reader: Reader,
    turns: Sequence[Turn],
    ending: Ending,
    mind: _Mind,
    question: Question,
    encoder: Encoder,
) -> Episode:
    answer = mind.answers(question)
    last = turns[-1]
    written = last.written_tokens + encoder.count("\n".join(answer))
    closed = Turn(
        turn=last.turn,
        action=last.action,
        delivered_tokens=last.delivered_tokens,
        written_tokens=written,
        address=last.address,
        resolved=last.resolved,
    )
    return Episode(
        case=case_id,
        arm=arm,
        reader=reader.name,
        turns=(*turns[:-1], closed),
        ending=ending,
        answer=answer,
        answered_none=mind.none_claimed(),
    )
