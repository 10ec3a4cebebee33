"""Canonical JSON (RFC 8785), content ids, and the one table of volatile classes (S1.15).

A *volatile* run is text that differs between two runs of the same command on the same sources: measured time,
time stamps, process ids, the random part of a temporary path. Masking replaces each run by its class name,
line by line, so equal masked text means equal line numbers. Handles are digests of masked text; every rung but
`inline` shows masked text.

The patterns are written in the common part of three regular expression dialects (Python, RE2, Rust): ASCII classes,
no look-around, no back-reference, nothing that crosses a line end.
"""

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum
from functools import cache
from hashlib import sha256
from typing import Any


def canonical_json(value: Any) -> bytes:
    """`value` as RFC 8785 JSON.

    Lone surrogates, which stand for bytes of an argv that are not UTF-8, are written as `\\xNN`: RFC 8785 has no
    form for them.
    """
    import rfc8785

    try:
        return rfc8785.dumps(value)
    except (UnicodeEncodeError, rfc8785.CanonicalizationError):
        return rfc8785.dumps(_without_surrogates(value))


def _without_surrogates(value: Any) -> Any:
    if isinstance(value, str):
        return value.encode("utf-8", "surrogateescape").decode("utf-8", "backslashreplace")
    if isinstance(value, dict):
        return {_without_surrogates(key): _without_surrogates(item) for key, item in value.items()}
    if isinstance(value, list | tuple):
        return [_without_surrogates(item) for item in value]
    return value


def content_id(value: Any) -> str:
    """SHA-256 of the canonical JSON of `value`, 64 hex digits."""
    return sha256(canonical_json(value)).hexdigest()


class VolatileClass(StrEnum):
    """What kind of text changes between two runs of the same command."""

    ELAPSED = "elapsed"
    """A report of measured time; an integer limit ("timed out after 30s") is not one."""
    TIMESTAMP = "timestamp"
    PID = "pid"
    """After pid-like words, or in `[n]` program tags."""
    TMP_PATH = "tmp_path"
    """The random part of a path in a temporary folder."""
    HEX_ADDRESS = "hex_address"
    """`0x` and six or more digits."""
    WORKER = "worker"
    """The worker of a parallel test runner."""
    PORT = "port"
    """An ephemeral port after a loopback address."""
    RUN_UUID = "run_uuid"
    HOST_PATH = "host_path"
    """The absolute prefix of the workspace, the home folder and the interpreter."""


_UNIT = r"(?:ns|us|µs|ms|s|secs?|seconds?|m|min|minutes?)"
_MONTH = r"(?:Jan|Feb|Mar|Apr|May|Jun|Jul|Aug|Sep|Oct|Nov|Dec)"
_CLOCK = r"[0-2][0-9]:[0-5][0-9]:[0-6][0-9](?:[.,][0-9]+)?"
_ZONE = r"(?: ?(?:Z|UTC|GMT|[+-][0-9]{2}:?[0-9]{2}))?"

# Each row: class, pattern, replacement with \1 for the kept prefix. Order matters where one class holds another.
_ROWS: tuple[tuple[VolatileClass, str, str], ...] = (
    (
        VolatileClass.RUN_UUID,
        r"\b[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}\b",
        r"<run_uuid>",
    ),
    (
        VolatileClass.TIMESTAMP,
        rf"\b[0-9]{{4}}[-/][0-9]{{2}}[-/][0-9]{{2}}[T _]{_CLOCK}{_ZONE}",
        r"<timestamp>",
    ),
    (
        VolatileClass.TIMESTAMP,
        r"\b(?:(?:Mon|Tue|Wed|Thu|Fri|Sat|Sun),? )?"
        rf"(?:{_MONTH} {{1,2}}[0-9]{{1,2}}|[0-9]{{1,2}} {_MONTH}(?: [0-9]{{4}})?) "
        rf"{_CLOCK}(?: (?:[A-Z]{{3,4}} )?[0-9]{{4}})?{_ZONE}",
        r"<timestamp>",
    ),
    (
        VolatileClass.TIMESTAMP,
        rf"\b[0-9]{{1,2}}/{_MONTH}/[0-9]{{4}}:{_CLOCK}{_ZONE}",
        r"<timestamp>",
    ),
    (VolatileClass.ELAPSED, r"(\bTime Elapsed )[0-9]{2}:[0-9]{2}:[0-9]{2}(?:\.[0-9]+)?", r"\1<elapsed>"),
    (VolatileClass.TIMESTAMP, rf"(^|[ \[(\"'=,|>]){_CLOCK}\b", r"\1<timestamp>"),
    (VolatileClass.ELAPSED, r"(\b(?:real|user|sys)[ \t]+)[0-9]+m[0-9]+[.,][0-9]+s\b", r"\1<elapsed>"),
    (
        VolatileClass.ELAPSED,
        r"(\bin )[0-9]+\.[0-9]+ ?s(?:econds?)?\b(?: \([0-9]+:[0-9]{2}:[0-9]{2}\))?",
        r"\1<elapsed>",
    ),
    (VolatileClass.ELAPSED, r"(\bin )(?:[0-9]+m ?)?[0-9]+(?:\.[0-9]+)?(?:ms|µs|us|ns| ms)\b", r"\1<elapsed>"),
    (
        VolatileClass.ELAPSED,
        rf"(\b(?:[Dd]one|[Ff]inished|[Cc]ompleted|[Bb]uilt|[Cc]ompiled|[Ss]ucceeded|[Ff]ailed|tests?) in )"
        rf"(?:[0-9]+m ?)?[0-9]+(?:\.[0-9]+)? ?{_UNIT}\b",
        r"\1<elapsed>",
    ),
    (
        VolatileClass.ELAPSED,
        r"(\b(?:took|[Ee]lapsed(?: time)?|[Dd]uration|[Tt]ime|[Tt]otal time)[:=]? {0,2})"
        rf"[0-9]+(?:\.[0-9]+)? ?{_UNIT}\b",
        r"\1<elapsed>",
    ),
    (VolatileClass.ELAPSED, rf"([(\[])[0-9]+(?:\.[0-9]+)? ?{_UNIT}([)\]])", r"\1<elapsed>\2"),
    # pytest --durations: which tests stand in the list changes with the times, so the whole row is volatile.
    (VolatileClass.ELAPSED, r"(^)[0-9]+\.[0-9]+s (?:call|setup|teardown)\b.*$", r"\1<elapsed>"),
    (VolatileClass.ELAPSED, r"(^\()[0-9]+( durations < [0-9.]+s hidden)", r"\1<elapsed>\2"),
    (VolatileClass.HEX_ADDRESS, r"\b0x[0-9a-fA-F]{6,}\b", r"<hex_address>"),
    (VolatileClass.PID, r"(\b(?:pid|PID|Pid)(?:[ =:#]| = |: ))[0-9]+\b", r"\1<pid>"),
    (VolatileClass.PID, r"(\b[Pp]rocess (?:id )?#?)[0-9]{2,}\b", r"\1<pid>"),
    (VolatileClass.PID, r"((?:^|[ \t])[A-Za-z][A-Za-z0-9_./-]*\[)[0-9]{3,7}(\]: )", r"\1<pid>\2"),
    (
        VolatileClass.PID,
        r"(: line [0-9]+: +)[0-9]+( +(?:Killed|Aborted|Segmentation fault|Terminated)\b)",
        r"\1<pid>\2",
    ),
    (VolatileClass.HOST_PATH, r"(^rootdir: ).+?((?:, (?:configfile|inifile|testpaths): .*)?$)", r"\1<host_path>\2"),
    (VolatileClass.HOST_PATH, r"(\bpluggy-[0-9.a-z]+ -- ).+$", r"\1<host_path>"),
    (
        VolatileClass.TMP_PATH,
        r"((?:/private)?(?:/tmp|/var/tmp|/dev/shm|/var/folders/[^/ \t\n]+/[^/ \t\n]+/T)/)"
        r"(?:pytest-of-[^/ \t\n]+/pytest-[0-9]+|[^/ \t\n'\":,;()\[\]{}<>]*[0-9][^/ \t\n'\":,;()\[\]{}<>]*"
        r"|tmp[a-z_]{6,}|tmp\.[A-Za-z]{6,}|[^/ \t\n'\":,;()\[\]{}<>]+-[a-z_]{8}\b)",
        r"\1<tmp_path>",
    ),
    # pytest's own folders, wherever the temporary folder of the machine is.
    (VolatileClass.TMP_PATH, r"/pytest-of-[^/ \t\n]+/pytest-[0-9]+", r"/<tmp_path>"),
    (VolatileClass.WORKER, r"\bgw[0-9]+\b", r"<worker>"),
    (VolatileClass.WORKER, r"(^\[?)worker-[0-9]+\b", r"\1<worker>"),
    (
        VolatileClass.PORT,
        r"((?:\b127\.[0-9]+\.[0-9]+\.[0-9]+|\blocalhost|\[::1\]|\b0\.0\.0\.0):)(?:[3-5][0-9]{4}|6[0-5][0-9]{3})\b",
        r"\1<port>",
    ),
)

ALL_VOLATILE = frozenset(VolatileClass)

# Literals of which a text needs at least one before any pattern of the class is tried; a cheap way past plain text.
_NEEDS: dict[VolatileClass, tuple[str, ...]] = {
    VolatileClass.RUN_UUID: ("-",),
    VolatileClass.TIMESTAMP: (":",),
    VolatileClass.ELAPSED: ("s", "m"),
    VolatileClass.HEX_ADDRESS: ("0x",),
    VolatileClass.PID: ("pid", "PID", "Pid", "rocess", "]: ", ": line "),
    VolatileClass.TMP_PATH: ("/tmp/", "/dev/shm/", "/var/folders/"),
    VolatileClass.WORKER: ("gw", "worker-"),
    VolatileClass.PORT: ("127.", "localhost:", "[::1]:", "0.0.0.0:"),
}


@dataclass(frozen=True, slots=True)
class VolatileRule:
    """One row of the table, compiled for text."""

    volatile_class: VolatileClass
    source: str
    replacement: str
    needs: tuple[str, ...]
    """Literals of which a text must hold one for the pattern to match."""

    @property
    def pattern(self) -> "re.Pattern[str]":
        """The compiled pattern; most texts need few of them."""
        return _compiled(self.source)


@cache
def _compiled(source: str) -> "re.Pattern[str]":
    return re.compile(source, re.ASCII | re.MULTILINE)


_RULES: dict[str, VolatileRule] = {}


def _rule(row: tuple[VolatileClass, str, str]) -> VolatileRule:
    name, pattern, replacement = row
    if pattern not in _RULES:
        _RULES[pattern] = VolatileRule(name, pattern, replacement, _needs(name, pattern))
    return _RULES[pattern]


def _needs(name: VolatileClass, pattern: str) -> tuple[str, ...]:
    if pattern == _RULED:
        return (">",)
    if name is VolatileClass.HOST_PATH:
        return ("rootdir: ",) if "rootdir" in pattern else ("pluggy-",) if "pluggy" in pattern else ("/",)
    if name is VolatileClass.TMP_PATH and pattern.startswith("/pytest-of-"):
        return ("/pytest-of-",)
    return _NEEDS[name]


# A rule line is padded to a fixed width, so the padding moves when the time inside it gets a digit more. What stands
# between two class names holds no bracket: each character is then tried once, whatever the line.
_RULED = r"^(==|--|__)[=_-]*( [^<>\n]*(?:<[a-z_]+>[^<>\n]*)+ )(==|--|__)[=_-]*$"


class Masker:
    """Masks the volatile classes that are not content for a family.

    Args:
        content: Classes that the family shows and that enter its handle (S1.16).
        host_paths: Absolute prefixes known to the capture (workspace, home, interpreter), in any order.
    """

    def __init__(self, *, content: Iterable[VolatileClass] = (), host_paths: Iterable[str] = ()) -> None:
        kept = frozenset(content)
        rules = [_rule(row) for row in _ROWS if row[0] not in kept]
        if VolatileClass.HOST_PATH not in kept:
            prefixes = {path.rstrip("/") for path in host_paths}
            for path in sorted(prefixes, key=lambda p: (len(p), p)):
                if path.count("/") >= 2:
                    row = (VolatileClass.HOST_PATH, re.escape(path) + r"([^A-Za-z0-9_.-]|$)", r"<host_path>\1")
                    rules.insert(0, _rule(row))
        if rules:
            rules.append(_rule((VolatileClass.ELAPSED, _RULED, r"\1\2\3")))
        self.rules: tuple[VolatileRule, ...] = tuple(rules)

    def mask(self, text: str) -> str:
        """`text` (one line or many) with every volatile run replaced by `<class>`; the number of lines is kept."""
        for rule in self.rules:
            if any(literal in text for literal in rule.needs):
                text = rule.pattern.sub(rule.replacement, text)
        return text
