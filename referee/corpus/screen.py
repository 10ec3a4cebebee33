"""The raw bytes as a terminal would show them: what "occurs in the output" means for decisive strings.

Written apart from the digest library on purpose: the truth of a corpus is not checked with the code that is judged
on it.
"""

import re

_ESCAPE = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]"  # CSI
    r"|(?:\x1b\]|\x9d)[^\x07\x1b\x9c\n]*(?:\x07|\x1b\\|\x9c)?"  # OSC, also one that never ends
    r"|(?:\x1b[PX^_]|[\x90\x98\x9e\x9f])[^\x1b\x9c\n]*(?:\x1b\\|\x9c)?"  # DCS, SOS, PM, APC
    r"|\x1b[ -/]*[0-~]?"
)


def without_escapes(text: str) -> str:
    """`text` without escape sequences; carriage returns stay."""
    return _ESCAPE.sub("", text)


def screen_text(raw: bytes) -> str:
    """`raw` as text without escape sequences, carriage returns resolved to the last state of each line.

    Lines end at LF; a CR before LF belongs to the line end; any other CR goes back to the first column, so that what
    follows overwrites what stood there. Bytes that are not UTF-8 become U+FFFD; UTF-16 needs its byte order mark.
    """
    encoding = "utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8"
    text = raw.decode(encoding, "replace")
    if "\x1b" in text or any(c in text for c in "\x90\x98\x9b\x9d\x9e\x9f"):
        text = _ESCAPE.sub("", text)
    if "\r" not in text and "\b" not in text:
        return text
    return "\n".join(_overwritten(line) for line in text.split("\n"))


def _overwritten(line: str) -> str:
    line = line.removesuffix("\r")
    if "\r" in line:
        shown = ""
        for state in line.split("\r"):
            shown = state + shown[len(state) :]
        line = shown
    if "\b" in line:
        kept: list[str] = []
        for char in line:
            if char != "\b":
                kept.append(char)
            elif kept:
                kept.pop()
        line = "".join(kept)
    return line


def collapsed(text: str) -> str:
    """`text` with every run of blanks and line ends as one blank: wrapped messages compare equal to unwrapped ones."""
    return " ".join(text.split())
