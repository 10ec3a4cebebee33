"""Grading: an episode's answer against truth, in the question's type (S14.2, S14.11). Text is never looked at."""

import re
from collections.abc import Iterable

from referee.cases import AnswerType, Case
from referee.corpus.verify import expected_answers
from referee.episode import Ending, Episode

_Place = tuple[str, int | None, int | None]
"""File, line, column."""
_PLACE = re.compile(r"^(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?(?::|$)")


def succeeded(case: Case, episode: Episode) -> bool:
    """Whether the answer equals truth.

    A set must be equal, whole, without extras; an answer that was given up is right only if it is whole all the same.
    Where truth has nothing to name, saying so is the right answer and finding nothing is not.
    """
    wanted = expected_answers(case)
    if case.question.answer is AnswerType.IDENTITIES:
        if not wanted:
            return episode.answered_none and not episode.answer and episode.ending is Ending.ANSWER
        return _same_set(case, wanted, episode.answer)
    if not wanted:
        return not episode.answer and episode.ending is Ending.ANSWER
    return bool(episode.answer) and _normal(episode.answer[0]) in {_normal(text) for text in wanted}


def _normal(text: str) -> str:
    return " ".join(text.split())


def _same_set(case: Case, wanted: Iterable[str], answers: Iterable[str]) -> bool:
    if any(item.kind == "diagnostic" for item in case.truth.items):
        return _same_places(case, answers)
    return {_normal(text) for text in wanted} == {_normal(text) for text in answers}


def _same_places(case: Case, answers: Iterable[str]) -> bool:
    """Diagnostics are answered by place; a column counts where both sides have one."""
    wanted: set[_Place] = {(item.file, item.line, item.column) for item in case.truth.items}
    given: set[_Place] = set()
    for answer in answers:
        matched = _PLACE.match(answer)
        if matched is None:
            return False
        column = matched["column"]
        given.add((matched["file"], int(matched["line"]), int(column) if column else None))
    return _all_fit(wanted, given) and _all_fit(given, wanted)


def _all_fit(ones: set[_Place], others: set[_Place]) -> bool:
    """Whether each of `ones` is the same place as one of `others`; compared line by line, since sets may be large."""
    by_line: dict[int | None, list[_Place]] = {}
    for place in others:
        by_line.setdefault(place[1], []).append(place)
    return all(any(_fits(one, other) for other in by_line.get(one[1], ())) for one in ones)


def _fits(wanted: _Place, given: _Place) -> bool:
    """Whether two places of one line number are in the same file, and in the same column where both have one."""
    files = wanted[0] == given[0] or given[0].endswith("/" + wanted[0]) or wanted[0].endswith("/" + given[0])
    columns = wanted[2] is None or given[2] is None or wanted[2] == given[2]
    return files and columns
