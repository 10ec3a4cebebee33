"""Captured text made safe to look at: control characters visible, nothing that moves a cursor or reorders a line.

`visible` is applied to the text of lines, so a carriage return inside it is a lone one. Nothing is dropped in silence:
what cannot be shown as itself is shown as a stand-in.
"""

import re

# C0 without TAB and LF, DEL, C1; bidi controls and marks, zero-width and other invisible format characters; tag
# characters; line and paragraph separators, which some programs take for line ends; lone surrogates.
_UNSAFE = re.compile(
    "[\x00-\x08\x0b-\x1f\x7f-\x9f\u00ad\u061c\u180b-\u180e\u200b-\u200f\u2028-\u202e\u2060-\u206f\ufeff\ufff9-\ufffb"
    "\ud800-\udfff\U000e0000-\U000e007f]"
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
_HEADLINE = re.compile(r"[a-z]+(?:\([a-z0-9_+-]+\))?: (?:PASS|FAIL|UNKNOWN)\b.*\brun:[0-9a-f]{6,64}\b")


def visible(text: str) -> str:
    """`text` with every character that could act on a terminal or hide shown as a stand-in; LF and TAB stay."""
    if text.isascii() and text.isprintable():
        return text
    return _UNSAFE.sub(_stand_in, text)


def _stand_in(match: "re.Match[str]") -> str:
    code = ord(match[0])
    if code == 0x0D:
        return "␍"
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
    """An identity on one line, and whether anything in it had to be escaped; escaped ones are marked and addressed."""
    shown = visible(text.replace("\n", "␊"))
    return shown, shown != text


def quotes_structure(line: str) -> bool:
    """Whether a captured line imitates a structural line of ours and needs the gutter even at `inline` (S7.6)."""
    return line.startswith(_IMITATED) or _HEADLINE.match(line) is not None


def structural_words() -> tuple[str, ...]:
    """The published list of words that begin structural lines."""
    return _STRUCTURE
