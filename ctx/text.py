"""Captured bytes as lines and as a screen shows them, with the way back to raw coordinates; token sizes.

A *line* ends at LF and nowhere else; a last line without LF is a line; one CR before LF belongs to the line end.
The *screen view* has escape sequences removed, carriage returns resolved to the last state of an overwritten line
and backspaces applied (S5.0.3). Where a stream holds none of these, the screen view is the raw stream itself.
"""

import re
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Iterator

from ctx.errors import EvidenceError
from ctx.evidence import SourceRef

_BLOCK = 1 << 16
_SNIFF = 1 << 16

# ECMA-48: CSI, OSC, DCS/SOS/PM/APC and other escapes, in their 7-bit forms and in the 8-bit forms as UTF-8 writes them.
# A string sequence that is never terminated ends with its line.
_ESCAPES = re.compile(
    rb"(?:\x1b\[|\xc2\x9b)[0-?]*[ -/]*[@-~]"
    rb"|(?:\x1b\]|\xc2\x9d)[^\x07\x1b\n\xc2]*(?:\xc2(?!\x9c)[^\x07\x1b\n\xc2]*)*(?:\x07|\x1b\\|\xc2\x9c)?"
    rb"|(?:\x1b[PX^_]|\xc2[\x90\x98\x9e\x9f])[^\x1b\n\xc2]*(?:\xc2(?!\x9c)[^\x1b\n\xc2]*)*(?:\x1b\\|\xc2\x9c)?"
    rb"|\x1b[ -/]*[0-~]?"
)
_NEEDS_SCREEN = re.compile(rb"[\x1b\x08]|\xc2[\x80-\x9f]|\r(?!\n)")
_WORD = re.compile(r"[^\W\d_]+")


class LineIndex:
    """Sparse line index over bytes: the number of LFs before each block of 64 KiB."""

    __slots__ = ("_before", "_data", "_last", "count")

    def __init__(self, data: bytes) -> None:
        self._data = data
        before = array("Q", [0])
        total = 0
        for start in range(0, len(data), _BLOCK):
            total += data.count(b"\n", start, start + _BLOCK)
            before.append(total)
        self._before = before
        # LFs before the line that was asked for last, and its offset: neighbours are mostly asked for in order.
        self._last = (0, 0)
        self.count = total + (1 if data and not data.endswith(b"\n") else 0)

    def line_at(self, offset: int) -> int:
        """1-based line that holds the byte at `offset`."""
        block = offset // _BLOCK
        return self._before[block] + self._data.count(b"\n", block * _BLOCK, offset) + 1

    def start_of(self, line: int) -> int:
        """Offset of the first byte of `line`; `count + 1` gives the end of the data."""
        if line <= 1:
            return 0
        if line > self.count:
            return len(self._data)
        wanted = line - 1  # LFs before the line
        block = bisect_left(self._before, wanted) - 1
        passed, offset = self._before[block], block * _BLOCK
        if passed < self._last[0] <= wanted:
            passed, offset = self._last
        for _ in range(wanted - passed):
            offset = self._data.index(b"\n", offset) + 1
        self._last = (wanted, offset)
        return offset


class StreamView:
    """One captured stream: raw bytes, screen view, and the map between them.

    Args:
        name: `stdout`, `stderr`, or a derived artifact's name.
        raw: The exact bytes.

    Line numbers of the methods are those of the screen view, which equal raw line numbers except where text of
    another program follows an overwritten line; `raw_line` and `source` lead back.
    """

    __slots__ = ("_index", "_map", "_raw_index", "encoding", "name", "raw", "screen", "undecodable")

    def __init__(self, name: str, raw: bytes) -> None:
        self.name = name
        self.raw = raw
        self.encoding = sniff_encoding(raw)
        self._map: array[int] | None = None
        self._raw_index: LineIndex | None = None
        text = raw
        if self.encoding.startswith("utf-16"):
            text = raw.decode(self.encoding, "replace").lstrip("\ufeff").encode("utf-8", "replace")
        if _needs_screen(text):
            text, self._map = _whole_lines(text, *_screen(text))
        self.screen = text
        self._index = LineIndex(text)

    @property
    def line_count(self) -> int:
        """Lines of the screen view."""
        return self._index.count

    @property
    def raw_line_count(self) -> int:
        """Lines of the raw stream: what addresses count."""
        if self.encoding.startswith("utf-16"):
            return self._map[-1] if self._map else self._index.count
        return self.raw_index.count

    @property
    def raw_index(self) -> LineIndex:
        """Line index over the raw bytes."""
        if self.screen is self.raw:
            return self._index
        if self._raw_index is None:
            self._raw_index = LineIndex(self.raw)
        return self._raw_index

    def line(self, number: int) -> str:
        """Screen line `number` without its end; undecodable bytes as U+FFFD.

        Raises:
            EvidenceError: `number` outside 1..line_count.
        """
        if not 1 <= number <= self.line_count:
            raise EvidenceError(f"line {number} of {self.name}: it has {self.line_count} lines")
        start = self._index.start_of(number)
        end = self.screen.find(b"\n", start)
        return _decode(self.screen[start : end if end >= 0 else len(self.screen)])

    def lines(self, first: int = 1, last: int | None = None) -> Iterator[tuple[int, str]]:
        """Screen lines `first`..`last` (inclusive, clamped) with their numbers."""
        last = self.line_count if last is None else min(last, self.line_count)
        if first > last:
            return
        offset = self._index.start_of(max(first, 1))
        for number in range(max(first, 1), last + 1):
            end = self.screen.find(b"\n", offset)
            if end < 0:
                end = len(self.screen)
            yield number, _decode(self.screen[offset:end])
            offset = end + 1

    def line_at(self, offset: int) -> int:
        """Screen line that holds byte `offset` of the screen view."""
        return self._index.line_at(offset)

    def start_of(self, line: int) -> int:
        """Byte offset in the screen view at which screen line `line` starts."""
        return self._index.start_of(line)

    def raw_line(self, screen_line: int) -> int:
        """Raw line that screen line `screen_line` came from."""
        return self._map[screen_line - 1] if self._map is not None else screen_line

    def screen_lines_of(self, first_raw: int, last_raw: int) -> tuple[int, int]:
        """First and last screen line that came from raw lines `first_raw`..`last_raw` (inclusive)."""
        if self._map is None:
            return first_raw, last_raw
        return bisect_left(self._map, first_raw) + 1, bisect_right(self._map, last_raw)

    def source(self, first: int, last: int | None = None) -> SourceRef:
        """Raw coordinates of screen lines `first`..`last` (inclusive; one line without `last`)."""
        first_raw = self.raw_line(first)
        last_raw = self.raw_line(first if last is None else last)
        first_byte, end_byte = self.raw_range(first_raw, last_raw)
        return SourceRef(
            stream=self.name, first_line=first_raw, last_line=last_raw, first_byte=first_byte, end_byte=end_byte
        )

    def raw_range(self, first_raw: int, last_raw: int) -> tuple[int, int]:
        """Byte range (half-open) of raw lines `first_raw`..`last_raw`, line ends included."""
        if not self.encoding.startswith("utf-16"):
            return self.raw_index.start_of(first_raw), self.raw_index.start_of(last_raw + 1)
        bom = 2
        decoded = self.raw.decode(self.encoding, "replace").lstrip("\ufeff").split("\n")
        width = [len(line.encode("utf-16-le", "replace")) + 2 for line in decoded]
        start = bom + sum(width[: first_raw - 1])
        end = start + sum(width[first_raw - 1 : last_raw])
        # The byte order mark belongs to the first line.
        return (0 if first_raw == 1 else min(start, len(self.raw))), min(end, len(self.raw))


def _needs_screen(text: bytes) -> bool:
    """Whether `text` holds escape sequences, backspaces or carriage returns inside a line; cheap where it does not."""
    if b"\x1b" in text or b"\x08" in text:
        return True
    return (b"\xc2" in text or b"\r" in text) and _NEEDS_SCREEN.search(text) is not None


def plain_text(raw: bytes, encoding: str) -> str:
    """`raw` decoded, with escape sequences removed and nothing else: carriage returns and line ends stay."""
    if encoding.startswith("utf-16"):
        raw = raw.decode(encoding, "replace").lstrip("\ufeff").encode("utf-8", "replace")
    return _ESCAPES.sub(b"", raw).decode("utf-8", "replace")


def is_nul_separated(raw: bytes) -> bool:
    """Records that end with NUL and no line end between them (`-z`, `-print0`): a machine format (S1.4)."""
    return raw.endswith(b"\x00") and b"\n" not in raw


def sniff_encoding(raw: bytes) -> str:
    """`utf-8`, `utf-16-le`, `utf-16-be` (by BOM) or `binary`, judged on the first 64 KiB (S1.18).

    Binary is a NUL outside UTF-16, or more than a tenth of control bytes.
    """
    if raw.startswith(b"\xff\xfe"):
        return "utf-16-le"
    if raw.startswith(b"\xfe\xff"):
        return "utf-16-be"
    sample = raw[:_SNIFF]
    if b"\x00" in sample:
        return "binary"
    control = len(sample) - len(sample.translate(None, delete=_CONTROL))
    return "binary" if control * 10 > len(sample) else "utf-8"


_CONTROL = bytes(set(range(32)) - {0x08, 0x09, 0x0A, 0x0C, 0x0D, 0x1B}) + b"\x7f"


def _decode(line: bytes) -> str:
    if line.endswith(b"\r"):
        line = line[:-1]
    return line.decode("utf-8", "replace")


def _screen(text: bytes) -> "tuple[bytes, array[int] | None]":
    """The screen view of UTF-8 `text`, and the raw line of each of its lines where the two differ."""
    text = _ESCAPES.sub(b"", text)
    if not re.search(rb"\x08|\r(?!\n)", text):
        return text, None
    out: list[bytes] = []
    origin = array("L")
    split = False
    lines = text.split(b"\n")
    ends = lines.pop() if lines[-1] == b"" else None
    for number, line in enumerate(lines, 1):
        if b"\r" not in line and b"\x08" not in line:
            out.append(line)
            origin.append(number)
            continue
        states = _last_states(line)
        split = split or len(states) > 1
        for state in states:
            out.append(state)
            origin.append(number)
    body = b"\n".join(out)
    return body + (b"\n" if ends is not None else b""), origin if split else None


def _whole_lines(text: bytes, screen: bytes, origin: "array[int] | None") -> "tuple[bytes, array[int] | None]":
    """A last line of nothing but escapes stays a line, so that the view has every line of the raw stream."""
    unfinished = bool(text) and not text.endswith(b"\n")
    empty = not screen or screen.endswith(b"\n")
    return (screen + b"\n" if unfinished and empty else screen), origin


def _last_states(line: bytes) -> list[bytes]:
    """What a terminal is left with after `line`: one state for each writer of an overwritten line.

    Redraws of one writer share their first word; text with another first word was written by somebody else after
    the last redraw, and starts a line of its own.
    """
    states: list[tuple[str, str]] = []
    for part in line.decode("utf-8", "surrogateescape").rstrip("\r").split("\r"):
        part = _backspaced(part)
        if not part.strip():
            continue
        word = _WORD.search(part)
        key = word[0] if word else ""
        if states and states[-1][0] == key:
            states[-1] = (key, part)
        else:
            states.append((key, part))
    return [part.encode("utf-8", "surrogateescape") for _, part in states] or [b""]


def _backspaced(part: str) -> str:
    if "\b" not in part:
        return part
    out: list[str] = []
    for character in part:
        if character != "\b":
            out.append(character)
        elif out:
            out.pop()
    return "".join(out)


# Token sizes ------------------------------------------------------------------------------------------------------

TOK_VERSION = "tok/v1"
"""Version of the estimator; it is part of the plan's input, so a change of weights is a change of version."""


def _classes() -> bytes:
    table = bytearray(b"o" * 256)
    for value in range(256):
        character = chr(value)
        if value >= 0xC0:
            table[value] = ord("x")
        elif value >= 0x80:
            table[value] = ord("y")
        elif character.islower():
            table[value] = ord("a")
        elif character.isupper():
            table[value] = ord("A")
        elif character.isdigit():
            table[value] = ord("0")
        elif character == " ":
            table[value] = ord(" ")
        elif character in "\n\r\t":
            table[value] = ord("n")
        elif character in "=-_*#~.":
            table[value] = ord("-")
    return bytes(table)


_CLASSES = _classes()
# Thousandths of a token for each occurrence of one or two neighbouring byte classes (a lower case, A upper case,
# 0 digit, blank, n line end or tab, - rule character, o other ASCII, x and y lead and continuation bytes of UTF-8).
# Non-negative least squares of o200k_base counts over logs, sessions, tool output and source: mean error 2.3 %.
_WEIGHTS: tuple[tuple[bytes, int], ...] = (
    (b"a", 58),
    (b"A", 205),
    (b"n", 761),
    (b"-", 21),
    (b"o", 219),
    (b"x", 83),
    (b"y", 209),
    (b" a", 765),
    (b"oa", 658),
    (b"-a", 89),
    (b"na", 610),
    (b"aA", 333),
    (b"0a", 611),
    (b"a0", 1336),
    (b" 0", 1923),
    (b"-0", 1713),
    (b"o0", 1297),
    (b"A0", 1763),
    (b" A", 502),
    (b"oA", 249),
    (b"nA", 334),
    (b"a-", 1117),
    (b"0-", 311),
    (b" -", 1581),
    (b"o-", 374),
    (b"n-", 1280),
    (b"ao", 650),
    (b"0o", 667),
    (b"Ao", 259),
    (b" o", 932),
    (b"no", 925),
    (b"  ", 23),
    (b"000", 782),
)
_EXACT_BYTES = 1 << 20
_SAMPLE = 1 << 14
_STRIDE = 1 << 18
_SAMPLES = 128


def tok(text: str | bytes) -> int:
    """Size of `text` in `tok`: a deterministic linear estimate of its o200k_base tokens that needs no data (S2.12).

    Beyond 1 MiB, blocks of 16 KiB at equal distances (256 KiB, or 128 blocks in all) are measured and scaled.
    Special-token markers count as plain text. The answer is never below 1 for a text that is not empty.
    """
    data = text.encode("utf-8", "replace") if isinstance(text, str) else text
    if not data:
        return 0
    if len(data) <= _EXACT_BYTES:
        return max(1, (_thousandths(data) + 500) // 1000)
    sampled = total = 0
    for start in range(0, len(data), max(_STRIDE, len(data) // _SAMPLES)):
        block = data[start : start + _SAMPLE]
        sampled += len(block)
        total += _thousandths(block)
    return max(1, total * len(data) // sampled // 1000)


def _thousandths(data: bytes) -> int:
    classes = data.translate(_CLASSES)
    return sum(classes.count(pattern) * weight for pattern, weight in _WEIGHTS)
