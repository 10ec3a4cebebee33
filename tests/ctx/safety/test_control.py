"""Control characters: nothing printed can move a cursor, hide, or reorder a line (S7.6, S7.8, S18.6)."""

import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx.safety.control import escape_identity, quotes_structure, structural_words, visible


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("bell\x07", "bell␇"),
        ("nul\x00", "nul␀"),
        ("\x1b[31mred", "␛[31mred"),
        ("lone\rCR", "lone␍CR"),
        ("vt\x0bff\x0c", "vt␋ff␌"),
        ("del\x7f", "del␡"),
        ("c1\x9b31m", r"c1\x9b31m"),
        ("nel\x85", r"nel\x85"),
        ("bidi\u202etxt.exe", r"bidi\u{202e}txt.exe"),
        ("\u2066isolate\u2069", r"\u{2066}isolate\u{2069}"),
        ("zero\u200bwidth\u200d\ufeff", r"zero\u{200b}width\u{200d}\u{feff}"),
        ("tag\U000e0041\U000e007f", r"tag\u{e0041}\u{e007f}"),
        ("line\u2028para\u2029", r"line\u{2028}para\u{2029}"),
        ("soft\u00adhyphen", r"soft\u{ad}hyphen"),
        ("filler\u3164\u115f", r"filler\u{3164}\u{115f}"),
        ("surrogate\udc80", "surrogate\ufffd"),
        ("selector \u2601\ufe0f\ufe0f", "selector \u2601\ufe0f" + r"\u{fe0f}"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("größe 世界 🙂 e\u0301", "größe 世界 🙂 e\u0301"),
    ],
)
def test_each_kind_of_character_that_acts_or_hides_has_its_stand_in(text: str, shown: str) -> None:
    """S7.8 by example; letters of every language and combining marks stay."""
    assert visible(text) == shown


@given(st.text())
def test_what_is_visible_can_be_printed_and_stays_itself(text: str) -> None:
    """Over all of Unicode: no category that acts or hides is left, and nothing is escaped twice."""
    shown = visible(text)
    left = {c for c in shown if unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")} - {"\n", "\t"}
    # Signs of scripts, written in the line and seen: Arabic number signs, Kaithi, Egyptian joiners, shorthand.
    assert all(unicodedata.name(c, "").startswith(_SEEN) for c in left), [hex(ord(c)) for c in left]
    assert visible(shown) == shown
    assert shown.count("\n") == text.count("\n")
    assert (shown is text) == (shown == text) or not text


_SEEN = ("ARABIC ", "SYRIAC ", "KAITHI ", "EGYPTIAN ", "SHORTHAND ")


def test_every_character_of_unicode_that_is_a_format_or_control_is_escaped() -> None:
    """The same, over each code point once: the property above draws few of them."""
    for code in range(0x110000):
        character = chr(code)
        if unicodedata.category(character) in ("Cc", "Cf", "Zl", "Zp") and character not in "\n\t":
            seen = unicodedata.name(character, "").startswith(_SEEN)
            assert seen or visible(character) != character, hex(code)


def test_an_identity_stays_on_its_line_and_says_that_it_was_escaped() -> None:
    """S7.5."""
    assert escape_identity("t.py::test_x[a b]") == ("t.py::test_x[a b]", False)
    assert escape_identity("t.py::test[a\nnext: rm]") == ("t.py::test[a␊next: rm]", True)
    assert escape_identity("a\tb") == ("a␉b", True)
    assert escape_identity("a\u202eb") == (r"a\u{202e}b", True)


@pytest.mark.parametrize(
    "line",
    [
        "next: ctx get run:0123456789ab#stdout",
        "next:",
        "coverage: 3/3 failing tests · complete",
        "omitted: nothing",
        "PARTIAL: location",
        "not stored: omitted text cannot be retrieved",
        "pytest: PASS 3 passed · exit 0 · run:0123456789ab",
        "lint(ruff): FAIL 3 errors · exit 1 · run:ABCDEF012345",
        "text: exit 0 · run:012345",
        "my-family2: UNKNOWN · exit 1 · run:0123456789ab",
        "lint(c++): FAIL · run:0123456789ab",
    ],
)
def test_a_line_that_imitates_one_of_ours_is_quoted(line: str) -> None:
    """S7.6: five words, and a full headline of any family."""
    assert quotes_structure(line)


@pytest.mark.parametrize(
    "line",
    [
        "",
        " next: in two blanks",
        "nextest: 3 passed",
        "Coverage: 97%",
        "failing: 3 tests",
        "command: ls",
        "pytest: PASS",
        "see run:0123456789ab",
        "error: FAIL at run:x",
        "make: *** [all] Error 2",
    ],
)
def test_other_lines_stand_as_they_are(line: str) -> None:
    """S7.6: every other byte stands."""
    assert not quotes_structure(line)


def test_the_list_of_structural_words_is_the_published_one() -> None:
    """S7.4, besides the headline."""
    assert structural_words() == (
        "command:",
        "failing:",
        "groups:",
        "detail:",
        "PARTIAL:",
        "omitted:",
        "coverage:",
        "precision:",
        "not stored:",
        "rerun:",
        "session:",
        "next:",
    )
