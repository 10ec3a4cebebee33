"""The published list: no arm in it, its forms on lines of many tools, and results that do not hang on words (S14.6)."""

import re
from dataclasses import replace
from importlib import resources
from pathlib import Path

import pytest

from referee.arms import ARMS, find_arm
from referee.arms.ctx_arm import ADDRESS_PATTERN
from referee.corpus.layout import load_case
from referee.delivery import Capture, Delivery, Fetched, Resolver, WayBackError, capture_of
from referee.readers.findings import named_findings, placed_findings
from referee.readers.recognisers import parse_recognisers, recognisers
from referee.readers.scripted import READERS, read
from referee.readers.sight import Sight, look
from tests.referee.builders import CORE, ENCODING, question

TEXT = resources.files("referee.readers").joinpath("recognisers.toml").read_text(encoding="utf-8")
FORMS = "\n".join(line for line in TEXT.splitlines() if not line.lstrip().startswith("#"))
KNOWN = recognisers()


@pytest.mark.parametrize("name", [*(entry.name for entry in ARMS), "referee"])
def test_no_entry_names_an_arm(name: str) -> None:
    """S14.6."""
    found = re.findall(rf"(?<![\w-]){re.escape(name)}(?![\w-])", FORMS.replace('schema = "referee.recognisers/v1"', ""))
    assert found == []


def test_no_entry_recognises_an_address() -> None:
    """Addresses come from the arm file's pattern; without one a text has none."""
    text = "FAILED a.py::t\nnext: ctx get run:0123456789ab#stdout --lines 1:4\n"
    assert look(question(), text, "", KNOWN).addresses == ()
    assert look(question(), text, ADDRESS_PATTERN, KNOWN).addresses == ("run:0123456789ab#stdout --lines 1:4",)


def test_a_key_that_is_unknown_is_an_error() -> None:
    """The list is closed."""
    with pytest.raises(TypeError, match="surprise"):
        parse_recognisers("surprise = 'x'\n" + TEXT)


def names(text: str) -> list[str]:
    return [finding.answer for finding in named_findings(text.split("\n"), KNOWN)]


def places(text: str) -> list[str]:
    return [finding.answer for finding in placed_findings(text.split("\n"), KNOWN)]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("FAILED tests/a.py::t - AssertionError: no", ["tests/a.py::t"]),
        ("FAILED a.py::t[x - y] - E", ["a.py::t[x - y]"]),
        ("ERROR a.py::t - fixture 'db' not found", ["a.py::t"]),
        ("[gw1] [ 40%] FAILED a.py::t ", ["a.py::t"]),
        ("a.py::TestA::test_b FAILED                [ 33%]", ["a.py::TestA::test_b"]),
        ("_____ ERROR collecting tests/a.py _____", ["tests/a.py"]),
        ("____ TestA.test_b[1.5] ____\n\nx\ntests/a.py:33: AssertionError", ["tests/a.py::TestA::test_b[1.5]"]),
        (
            "failing: 2 tests\n  a.py::t1  :4  E\n  a.py::t2[x] - y]  :9  E\ncoverage: 2/2",
            ["a.py::t1", "a.py::t2[x] - y]"],
        ),
        (
            "failing: 2 tests\n  tests/a.py\n    ::t1  :4\n    ::T::t2 (setup)\n",
            ["tests/a.py::t1", "tests/a.py::T::t2"],
        ),
        ("failing: 2 findings\n  a.py::t1  :4  E\n  a.py::t2 (unfinished)  no result", ["a.py::t1"]),
        ("FAILED a.py::t[Squeeze   me]", ["a.py::t[Squeeze   me]"]),
        ("FAILED a.py::t[Squeeze   me] - E   x", ["a.py::t[Squeeze   me]"]),
        ("FAILED a.py::t[\\x1b[31mred] - E: no", ["a.py::t[\\x1b[31mred]"]),
        ("____ T.t ____\n\nlib/x.py:3: Error\nFAILED tests/a.py::T::t - Error", ["tests/a.py::T::t"]),
        ("test_failed_login PASSED\na.py::t PASSED", []),
        ("1 failed, 3 passed in 0.1s", []),
    ],
)
def test_tests_that_failed_are_read_off_rows_blocks_and_lists(text: str, found: list[str]) -> None:
    """The forms that runners print, and lists with or without the file as their heading."""
    assert names(text) == found


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ("src/a.py:3:7: F821 undefined name 'x'", ["src/a.py:3:7"]),
        ("src/a.py:3: error: no  [arg-type]", ["src/a.py:3"]),
        ("a.ts(3,7): error TS2304: no", ["a.ts:3:7"]),
        ("C:\\w\\a.c:3:7: error: no", ["C:\\w\\a.c:3:7"]),
        ("error[E0425]: no\n --> src/a.rs:3:7", ["src/a.rs:3:7"]),
        ("note: no\n --> src/a.rs:3:7", []),
        ("src/a.js\n  3:7  error  no  no-undef\n  9:1  warning  x  y", ["src/a.js:3:7", "src/a.js:9:1"]),
        ("In a.sh line 3:\necho $x\n     ^-- SC2086 (info): quote", ["a.sh:3"]),
        ("a.py:3:7: note: see here", []),
        ("a.sh:3:7: note: quote this [SC2086]", ["a.sh:3:7"]),
        ("E402 late import (3): a.py:3:7, b/c.py:9 (printed 2 times), d.py:1:1", ["a.py:3:7", "b/c.py:9", "d.py:1:1"]),
        ("E402 late import: a.py:3:7, b/c.py:9", ["a.py:3:7", "b/c.py:9"]),
        ("E402 late import (3): a.py:3:7, and others", []),
        ("::error title=x,file=a.py,line=3,col=7,endLine=3::F821 no", ["a.py:3:7"]),
    ],
)
def test_diagnostics_are_read_off_places(text: str, found: list[str]) -> None:
    """The forms that linters and compilers print; remarks belong to another diagnostic."""
    assert places(text) == found


def test_a_row_of_many_places_is_read_to_its_end() -> None:
    """Answers are looked for in all of a line."""
    listed = [f"a/very/long/path/to/a/module/file_{number}.py:{number}:1" for number in range(1, 90)]
    assert places(f"  E501 too long ({len(listed)}): " + ", ".join(listed)) == listed


def sight(text: str) -> Sight:
    return look(question(), text, "", KNOWN)


@pytest.mark.parametrize(
    ("text", "total"),
    [
        ("=== 3 failed, 2 passed, 1 error in 0.1s ===", 4),
        ("Found 17 errors.", 17),
        ("✖ 12 problems (10 errors, 2 warnings)", 12),
        ("3 errors, 2 warnings, 1 information", 6),
        ("error: aborting due to 3 previous errors; 2 warnings emitted", 5),
        ("coverage: 37/37 failing tests", 37),
        ("failing: 1,455 tests, 1,400 not shown", 1455),
        ("2 warnings and 1 errors generated.", 3),
        ("3 failed in part one\n5 failed, 1 passed in 1.0s", 5),
        ("all is well", None),
        ("version 3.14", None),
    ],
)
def test_totals(text: str, total: int | None) -> None:
    """What a list is compared with; the last one counts."""
    assert sight(text).total == total


@pytest.mark.parametrize(
    ("text", "missing", "complete"),
    [
        ("... 40 lines omitted", True, False),
        ("… 1,204 more rows", True, False),
        ("[output truncated]", True, False),
        ("12 results not shown", True, False),
        ("omitted: stdout 600 of 628 lines", True, False),
        ("coverage: 37/37 failing tests · complete", False, True),
        ("incomplete", True, False),
        ("not complete", False, False),
        ("to complete the installation", False, False),
        ("complete the form", False, False),
        ("nothing was left out", False, True),
        ("PARTIAL: 3/4", True, False),
    ],
)
def test_statements_about_what_is_missing(text: str, missing: bool, complete: bool) -> None:
    """Marks, and claims that all is there."""
    found = sight(text)
    assert (found.says_missing, found.says_complete) == (missing, complete)


def test_hostile_numbers_do_not_stop_a_reader() -> None:
    """Commas alone are no number; a line of 200,000 characters is read in linear time."""
    for text in ("and , more", ",, failed", "failing: , tests", "1/, failing", "x" * 200_000 + " 3 failed"):
        sight(text)


class _Renamed:
    """A way back behind other words."""

    def __init__(self, inner: Resolver, there: "Words") -> None:
        self.inner, self.words = inner, there

    def get(self, address: str) -> Fetched:
        try:
            return Fetched(text=self.words.new(self.inner.get(self.words.old(address)).text))
        except WayBackError as error:
            raise WayBackError(self.words.new(str(error))) from error

    whole = get

    def search(self, word: str) -> Fetched:
        try:
            return Fetched(text=self.words.new(self.inner.search(self.words.old(word)).text))
        except WayBackError as error:
            raise WayBackError(self.words.new(str(error))) from error


class Words:
    """Marks and addresses under other names of the same length, in every case of writing."""

    PAIRS = (
        ("omitted", "ozittex"), ("truncated", "truxxated"), ("complete", "cozzlete"), ("partial", "pqrtiql"),
        ("failed", "fazzed"), ("failing", "fazzing"), ("error", "ezzor"), ("passed", "pqzzed"), ("run:", "vau:"),
        ("kept:", "zept:"),
    )  # fmt: skip

    def _swap(self, text: str, pairs: tuple[tuple[str, str], ...]) -> str:
        for before, after in pairs:
            for form in (str.lower, str.upper, str.capitalize):
                text = text.replace(form(before), form(after))
        return text

    def new(self, text: str) -> str:
        return self._swap(text, self.PAIRS)

    def old(self, text: str) -> str:
        return self._swap(text, tuple((after, before) for before, after in self.PAIRS))

    def delivery(self, given: Delivery) -> Delivery:
        return replace(
            given,
            text=self.new(given.text),
            address_pattern=self.new(given.address_pattern),
            resolver=_Renamed(given.resolver, self) if given.resolver else None,
        )

    def capture(self, given: Capture) -> Capture:
        return replace(given, stdout=self.new(given.stdout.decode("utf-8", "replace")).encode())


@pytest.mark.parametrize("arm", ["ctx", "head_tail", "dead_address", "tail"])
@pytest.mark.parametrize(
    "name", ["pytest/toolz-37-default", "pytest/inflection-200-q", "lint/ruff-toolz-concise", "pytest/iniconfig-pass"]
)
def test_marks_and_addresses_under_other_names_give_equal_results(name: str, arm: str) -> None:
    """S14.6: renamed in the texts and in the list alike, nothing changes but tokens and the names themselves."""
    case = load_case(Path(CORE / "cases" / name))
    words = Words()
    renamed = parse_recognisers(re.sub("'[^'\n]*'", lambda form: words.new(form[0]), TEXT))
    assert renamed.digest != KNOWN.digest
    asked = case.question
    reworded = replace(asked, words=tuple(map(words.new, asked.words)), pattern=words.new(asked.pattern))
    made = find_arm(arm)
    try:
        given = made.deliver(capture_of(case), ENCODING)
        for reader in READERS:
            if reader.read_tokens is not None:
                continue  # Other words have other tokens: it would read to another place.
            one = read(
                reader, case_id=case.id, question=asked, capture=capture_of(case), arm="a", delivery=given,
                encoder=ENCODING, known=KNOWN,
            )  # fmt: skip
            other = read(
                reader, case_id=case.id, question=reworded, capture=words.capture(capture_of(case)), arm="b",
                delivery=words.delivery(given), encoder=ENCODING, known=renamed,
            )  # fmt: skip
            assert other.answer == tuple(map(words.new, one.answer))
            assert (other.ending, other.answered_none) == (one.ending, one.answered_none)
            assert [(t.action, t.resolved) for t in other.turns] == [(t.action, t.resolved) for t in one.turns]
    finally:
        made.close()
