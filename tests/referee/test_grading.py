"""Answers against truth, in the question's type (S14.2, S14.11)."""

from pathlib import Path

import pytest

from referee.cases import AnswerType
from referee.episode import Action, Ending, Episode, Turn
from referee.grading import succeeded
from tests.referee.builders import case, diagnostic, item, question

TURN = Turn(turn=1, action=Action.DELIVER, delivered_tokens=1, written_tokens=0)


def said(*answer: str, ending: Ending = Ending.ANSWER, none: bool = False) -> Episode:
    """An episode that ended with this answer."""
    return Episode(
        case="pytest/one", arm="raw", reader="follower", turns=(TURN,), ending=ending, answer=answer, answered_none=none
    )


def test_an_outcome_is_one_word_of_truth(tmp_path: Path) -> None:
    """`outcome`."""
    asked = case(tmp_path, outcome="fail", asked=question(AnswerType.OUTCOME))
    assert succeeded(asked, said("fail"))
    assert not succeeded(asked, said("pass"))
    assert not succeeded(asked, said())


def test_a_set_is_equal_or_wrong(tmp_path: Path) -> None:
    """`identities`: nothing missing, nothing extra, order and repeats do not matter."""
    asked = case(tmp_path, items=[item("a.py::t1"), item("a.py::t2[x  y]")])
    assert succeeded(asked, said("a.py::t2[x  y]", "a.py::t1", "a.py::t1"))
    assert not succeeded(asked, said("a.py::t1"))
    assert not succeeded(asked, said("a.py::t1", "a.py::t2[x  y]", "a.py::t3"))
    assert not succeeded(asked, said())


def test_what_was_given_up_is_right_where_it_is_whole_all_the_same(tmp_path: Path) -> None:
    """GIVE_UP emits what it has."""
    asked = case(tmp_path, items=[item("a.py::t1")])
    assert succeeded(asked, said("a.py::t1", ending=Ending.GIVE_UP))


def test_where_nothing_is_to_name_saying_so_is_right_and_finding_nothing_is_not(tmp_path: Path) -> None:
    """An empty set is an answer that needs positive evidence."""
    asked = case(tmp_path, items=[], outcome="pass")
    assert succeeded(asked, said(none=True))
    assert not succeeded(asked, said())
    assert not succeeded(asked, said("a.py::ghost", none=True))
    assert not succeeded(asked, said(none=True, ending=Ending.GIVE_UP))


@pytest.mark.parametrize(
    ("answer", "right"),
    [
        ("src/a.py:3:7", True),
        ("src/a.py:3", True),
        ("/home/dev/src/a.py:3:7", True),
        ("a.py:3:7", True),
        ("src/a.py:3:8", False),
        ("src/a.py:4:7", False),
        ("src/ba.py:3:7", False),
        ("rc/a.py:3:7", False),
        ("F821 undefined name", False),
    ],
)
def test_a_diagnostic_is_answered_by_its_place(tmp_path: Path, answer: str, right: bool) -> None:
    """A column counts where both sides have one; a path may be written longer or shorter, at its separators."""
    asked = case(tmp_path, items=[diagnostic("src/a.py", 3, "undefined", column=7, code="F821")])
    assert succeeded(asked, said(answer)) is right


def test_two_places_need_two_answers(tmp_path: Path) -> None:
    """Sets of places are compared both ways."""
    asked = case(tmp_path, items=[diagnostic("a.c", 3, "x"), diagnostic("a.c", 9, "x")])
    assert succeeded(asked, said("a.c:9", "a.c:3"))
    assert not succeeded(asked, said("a.c:3"))
    assert not succeeded(asked, said("a.c:3", "a.c:9", "a.c:10"))


def test_a_count_is_a_number_of_truth(tmp_path: Path) -> None:
    """`count`: `counts["answer"]`."""
    asked = case(tmp_path, counts={"answer": 17, "failed": 3}, asked=question(AnswerType.COUNT))
    assert succeeded(asked, said("17"))
    assert not succeeded(asked, said("3"))
    assert not succeeded(asked, said("170"))


@pytest.mark.parametrize("kind", [AnswerType.LINE, AnswerType.VALUE, AnswerType.LOCATION])
def test_a_single_answer_is_compared_whole_with_blanks_as_one(tmp_path: Path, kind: AnswerType) -> None:
    """`value`, `line`, `location`: the identity of the item, or the decisive string."""
    asked = case(tmp_path, decisive=["fatal: disk  full at x.c:4"], asked=question(kind))
    assert succeeded(asked, said("fatal: disk full at x.c:4"))
    assert not succeeded(asked, said("fatal: disk full"))
    assert not succeeded(asked, said("other", "fatal: disk full at x.c:4"))
