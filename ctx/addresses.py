"""Addresses: names that resolve to bytes. One grammar, one parser, one formatter (S8).

    address   = run | blob | repo
    run       = "run:" ( handle | "last" ) [ "#" stream ]        no stream: the digest again
    handle    = 6 to 64 hex digits
    stream    = stdout | stderr | interleave | census | graph | receipt | manifest | report.N
    blob      = "blob:" 6 to 64 hex digits
    repo      = "repo:" relative path [ "@" 8 hex digits of the content hash ]
    selector  = --lines A:B | --span TOKEN | --symbol NAME | --match REGEX | --bytes A:B

Lines are 1-based and inclusive, bytes 0-based and half-open. Hex digits are read in either case and written in lower.
"""

import re
import shlex
from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

from ctx.errors import AddressError

EXAMPLES = {
    "run": "run:0123456789ab#stdout --lines 3:9",
    "blob": "blob:0123456789ab",
    "repo": "repo:src/app.py@01234567 --lines 3:9",
}
MATCH_COLUMNS = 1000
STREAMS = ("stdout", "stderr", "interleave", "census", "graph", "receipt", "manifest")


class Scheme(StrEnum):
    """What kind of thing an address names."""

    RUN = "run"
    BLOB = "blob"
    REPO = "repo"


@dataclass(frozen=True, slots=True)
class Lines:
    """Lines `first`..`last`, 1-based, inclusive."""

    first: int
    last: int

    def __str__(self) -> str:
        return f"--lines {self.first}:{self.last}"


@dataclass(frozen=True, slots=True)
class Bytes:
    """Bytes `first`..`end`, 0-based, half-open."""

    first: int
    end: int

    def __str__(self) -> str:
        return f"--bytes {self.first}:{self.end}"


@dataclass(frozen=True, slots=True)
class SpanToken:
    """A named region: 10 hex digits."""

    token: str

    def __str__(self) -> str:
        return f"--span {self.token}"


@dataclass(frozen=True, slots=True)
class Symbol:
    """A symbol by its name or dotted suffix."""

    name: str

    def __str__(self) -> str:
        return f"--symbol {shlex.quote(self.name)}"


@dataclass(frozen=True, slots=True)
class Match:
    """Lines in which a linear-time pattern matches."""

    pattern: str

    def __str__(self) -> str:
        return f"--match {shlex.quote(self.pattern)}"


Selector = Lines | Bytes | SpanToken | Symbol | Match


@dataclass(frozen=True, kw_only=True, slots=True)
class Address:
    """A parsed address."""

    scheme: Scheme
    name: str
    """Handle, `last`, blob digest, or relative path."""
    stream: str | None = None
    content_hash: str | None = None
    """First 8 hex digits of the content that a `repo:` address was minted against."""
    selector: Selector | None = None

    @property
    def base(self) -> str:
        """The address without its selector."""
        text = f"{self.scheme}:{self.name}"
        if self.stream is not None:
            text += f"#{self.stream}"
        if self.content_hash is not None:
            text += f"@{self.content_hash}"
        return text

    def __str__(self) -> str:
        return format_address(self)


def format_address(address: Address) -> str:
    """The one printed form; `parse_address` reads it back to the same value."""
    base = address.base
    if address.scheme is Scheme.REPO and _UNQUOTED.search(base):
        base = shlex.quote(base)
    return base if address.selector is None else f"{base} {address.selector}"


_UNQUOTED = re.compile(r"[^\w@%+=:,./-]", re.ASCII)
"""What a shell might read as something else than itself."""
_HEX = re.compile(r"[0-9a-fA-F]+")
_DERIVED = re.compile(r"report\.[0-9]{1,4}")
_RANGE = re.compile(r"([0-9]{1,15}):([0-9]{1,15})")
_FLAGS = ("--lines", "--span", "--symbol", "--match", "--bytes")


def parse_address(text: str, selector_args: Sequence[str] = ()) -> Address:
    """The address that `text` writes, with its selector in the text or in `selector_args`.

    Raises:
        AddressError: Names the offending part, its 1-based column in the text (selector words included, joined by
            blanks) and a valid example.
    """
    base, words, columns = _split(text)
    offset = len(text) + 2
    for word in selector_args:
        words.append(word)
        columns.append(offset)
        offset += len(word) + 1
    address = _base(base)
    selector = _selector(words, columns, address.scheme)
    return Address(
        scheme=address.scheme,
        name=address.name,
        stream=address.stream,
        content_hash=address.content_hash,
        selector=selector,
    )


def _fail(part: str, column: int, what: str, example: str) -> AddressError:
    shown = part if len(part) <= 60 else part[:57] + "…"
    return AddressError(f'address column {column}: "{shown}": {what}; for example {example}')


def _split(text: str) -> tuple[str, list[str], list[int]]:
    """The base and the selector's words with their columns; a base with blanks is quoted, or followed by a flag."""
    if text[:1] in ("'", '"'):
        base, start = _quoted_base(text)
        rest = text[start:]
    else:
        flag = re.search(r" --[a-z]", text)
        cut = flag.start() if flag else len(text)
        base, rest, start = text[:cut], text[cut:], cut
    if not rest.strip():
        return base, [], []
    try:
        words = shlex.split(rest)
    except ValueError:
        raise _fail(rest.strip(), start + 2, "the quotes of the selector do not fit", EXAMPLES["run"]) from None
    columns = []
    position = start
    for word in words:
        found = text.find(word, position)
        columns.append((found if found >= 0 else position) + 1)
        position = (found if found >= 0 else position) + len(word)
    return base, words, columns


def _quoted_base(text: str) -> tuple[str, int]:
    """The shell word that `text` begins with, unquoted, and where it ends: quoted parts side by side are one word."""
    base, at = "", 0
    while at < len(text) and not text[at].isspace():
        if text[at] in "'\"":
            end = text.find(text[at], at + 1)
            if end < 0:
                raise _fail(text, 1, "the quote is not closed", EXAMPLES["repo"])
            base, at = base + text[at + 1 : end], end + 1
        else:
            base, at = base + text[at], at + 1
    return base, at


def _base(text: str) -> Address:
    scheme, colon, rest = text.partition(":")
    if not colon or scheme not in list(Scheme):
        raise _fail(text, 1, "an address begins with run:, blob: or repo:", EXAMPLES["run"])
    column = len(scheme) + 2
    if scheme == Scheme.RUN:
        return _run(rest, column)
    if scheme == Scheme.BLOB:
        return Address(scheme=Scheme.BLOB, name=_digits(rest, column, "a blob", EXAMPLES["blob"]))
    return _repo(rest, column)


def _digits(text: str, column: int, noun: str, example: str) -> str:
    if not _HEX.fullmatch(text):
        raise _fail(text, column, f"{noun} is named by hex digits", example)
    if not 6 <= len(text) <= 64:
        raise _fail(text, column, f"{noun} is named by 6 to 64 hex digits, not {len(text)}", example)
    return text.lower()


def _run(text: str, column: int) -> Address:
    name, hash_sign, stream = text.partition("#")
    handle = name if name == "last" else _digits(name, column, "a run", EXAMPLES["run"])
    if not hash_sign:
        return Address(scheme=Scheme.RUN, name=handle)
    if stream not in STREAMS and not _DERIVED.fullmatch(stream):
        what = f"no such stream; known: {', '.join(STREAMS)}, report.1"
        raise _fail(stream, column + len(name) + 1, what, EXAMPLES["run"])
    return Address(scheme=Scheme.RUN, name=handle, stream=stream)


def _repo(text: str, column: int) -> Address:
    path, at, tail = text.rpartition("@")
    content_hash: str | None = None
    if at and re.fullmatch(r"[0-9a-fA-F]{8}", tail):
        content_hash = tail.lower()
    else:
        path = text
    for segment in path.split("/"):
        if segment in ("", ".", ".."):
            what = "a path is relative, without empty, . or .. parts"
            raise _fail(path, column, what, EXAMPLES["repo"])
    if any(ord(character) < 32 for character in path) or "\\" in path:
        raise _fail(path, column, "a path holds no control characters or backslashes", EXAMPLES["repo"])
    return Address(scheme=Scheme.REPO, name=path, content_hash=content_hash)


def _selector(words: Sequence[str], columns: Sequence[int], scheme: Scheme) -> Selector | None:
    if not words:
        return None
    example = EXAMPLES[scheme]
    flag, column = words[0], columns[0]
    value: str | None = None
    if "=" in flag and flag.partition("=")[0] in _FLAGS:
        flag, _, value = flag.partition("=")
        extra, extra_columns = list(words[1:]), list(columns[1:])
        value_column = column + len(flag) + 1
    else:
        extra, extra_columns = list(words[2:]), list(columns[2:])
        value = words[1] if len(words) > 1 else None
        value_column = columns[1] if len(words) > 1 else column
    if flag not in _FLAGS:
        raise _fail(flag, column, f"no such selector; known: {', '.join(_FLAGS)}", example)
    if value is None or value == "":
        raise _fail(flag, column, "the selector needs a value", example)
    if extra:
        second = extra[0].partition("=")[0] in _FLAGS
        what = "at most one selector" if second else "this word belongs to nothing"
        raise _fail(extra[0], extra_columns[0], what, example)
    return _select(flag, value, value_column, example)


def _select(flag: str, value: str, column: int, example: str) -> Selector:
    if flag in ("--lines", "--bytes"):
        return _range(flag, value, column, example)
    if flag == "--span":
        if not re.fullmatch(r"[0-9a-fA-F]{10}", value):
            raise _fail(value, column, "a span is named by 10 hex digits", "run:0123456789ab#stdout --span 0123456789")
        return SpanToken(value.lower())
    if flag == "--symbol":
        return Symbol(value)
    if len(value) > MATCH_COLUMNS:
        raise _fail(value, column, f"a pattern has at most {MATCH_COLUMNS} characters", example)
    return Match(value)


def _range(flag: str, value: str, column: int, example: str) -> Lines | Bytes:
    found = _RANGE.fullmatch(value)
    if found is None:
        raise _fail(value, column, "a range is two numbers with a colon between them", example)
    first, last = int(found[1]), int(found[2])
    if flag == "--bytes":
        if first > last:
            raise _fail(value, column, "the range ends before it begins", example)
        return Bytes(first, last)
    if first < 1:
        raise _fail(value, column, "lines count from 1", example)
    if last < first:
        raise _fail(value, column, "the range ends before it begins", example)
    return Lines(first, last)
