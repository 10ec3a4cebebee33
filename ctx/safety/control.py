"""Captured text made safe to look at: control characters visible, nothing that moves a cursor or reorders a line.

`visible` is applied to the text of lines without their line ends, so a carriage return inside it is a lone one.
Nothing is dropped in silence: what cannot be shown as itself is shown as a stand-in.

    C0 but LF and TAB, DEL        control pictures, U+2400 + n and U+2421
    lone CR                       `␍`
    C1                            `\\x9b`
    characters that do not show   `\\u{202e}`: bidi controls, zero-width characters and joiners, tag characters, fillers,
                                  line and paragraph separators
    undecodable bytes             U+FFFD

The joiner inside an emoji sequence is escaped as well: telling a harmless one apart needs tables that change with every
edition of Unicode, and a reader loses nothing that it could act on. One variation selector after a character stays,
because it only picks a shape; a second one in a row carries nothing a screen shows and is escaped.
"""

import re

GUTTER = "| "
"""Stands before each captured line, so that it is never taken for one of ours."""
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u034f\u061c\u115f\u1160\u17b4\u17b5\u180b-\u180f\u200b-\u200f\u2028-\u202e"
    "\u2060-\u206f\u3164\ufeff\uffa0\ufff9-\ufffb\ud800-\udfff\U0001bca0-\U0001bca3\U0001d173-\U0001d17a"
    "\U000e0000-\U000e00ff\U000e01f0-\U000e0fff]|(?<=[\ufe00-\ufe0f\U000e0100-\U000e01ef])[\ufe00-\ufe0f\U000e0100-\U000e01ef]"
)
_STRUCTURE = (
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
"""What a structural line of a digest begins with, besides its headline; the list is closed and published (S7.4)."""
_IMITATED = ("next:", "coverage:", "omitted:", "PARTIAL:", "not stored:")
# A family, perhaps with its tool, then an outcome word or the exit status, then the handle: what no tool prints by
# chance. Hex digits in either case, because the address grammar reads both.
_HEADLINE = re.compile(
    r"[a-z][a-z0-9_-]*(?:\([^()\s]+\))?: (?:(?:PASS|FAIL|UNKNOWN)\b|exit ).*\brun:[0-9a-fA-F]{6,64}\b"
)


def visible(text: str) -> str:
    """`text` with every character that could act on a terminal or hide shown as a stand-in; LF and TAB stay.

    Returns:
        The same object when nothing has to be done; applied twice it changes nothing more.
    """
    if (text.isascii() and text.isprintable()) or _UNSAFE.search(text) is None:
        return text
    return _UNSAFE.sub(_stand_in, text)


def _stand_in(match: "re.Match[str]") -> str:
    code = ord(match[0])
    if code < 0x20:
        return chr(0x2400 + code)
    if code == 0x7F:
        return "␡"
    if code < 0xA0:
        return f"\\x{code:02x}"
    if 0xD800 <= code <= 0xDFFF:
        return "\ufffd"
    return f"\\u{{{code:x}}}"


def escape_identity(text: str) -> tuple[str, bool]:
    """An identity on one line, and whether anything in it had to be escaped; escaped ones are marked and addressed.

    Line ends and TAB are escaped too: a census row is one line, and its columns stand apart by blanks (S7.5).
    """
    shown = visible(text).replace("\n", "␊").replace("\t", "␉")
    return shown, shown != text


def quotes_structure(line: str) -> bool:
    """Whether a captured line imitates a structural line of ours and needs the gutter even at `inline` (S7.6)."""
    return line.startswith(_IMITATED) or _HEADLINE.match(line) is not None


def structural_words() -> tuple[str, ...]:
    """The published list of words that begin structural lines."""
    return _STRUCTURE
