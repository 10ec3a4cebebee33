"""Lines of any output that tell something by themselves, whoever printed them: an error, or that text was left out.

Patterns are compiled when a line is first held against them: a command without output needs none.
"""

import re
from collections.abc import Iterator

from ctx.digest.handle import line_windows
from ctx.text import StreamView

_VECTOR_FROM_BYTES = 1 << 20
"""From this size on a vectorised engine looks for loud words."""
_MAX_COLUMNS = 4096

# Error words count where a program puts them: at the start of a line, after a prefix that ends in a colon, bracket or
# wide blank, or written in capitals near the start; never inside a longer word or a sentence about errors.
_WORDS = (
    r"(?:fatal error|error|fatal|failed|failure|panic|panicked|exception|critical|severe|abort(?:ed)?|killed|"
    r"segmentation fault|core dumped|out of memory|permission denied|access denied|denied|command not found|not found|"
    r"no such file or directory|cannot|can't|could not|couldn't|unable to|(?:connection )?refused|timed out|timeout|"
    r"unreachable|undefined reference|unresolved|conflict|corrupt(?:ed)?|invalid|unknown option|unrecognized|usage|"
    r"falhou|erro|fehler|erreur|errore)"
)
_PREFIXED = (
    rf"(?i)^[^A-Za-z]{{0,40}}(?:\w+ )?{_WORDS}\b(?![\w-])"
    rf"|^.{{0,200}}?(?:[:>\]|)*!-]|[ \t][ \t]|\t) ?(?:\w+ )?{_WORDS}\b(?![\w-])"
    r"|\bexit(?:ed)?(?: with)? (?:code|status)[ :=]+[1-9]"
)
_CASED = (
    r"^.{0,120}?\b(?:ERROR|ERR|FATAL|CRIT|CRITICAL|SEVERE|PANIC|EMERG|ALERT|FAILED|FAILURE)\b"
    r"|\b[A-Z]\w*(?:Error|Exception|Panic|Fault)\b(?::|$| at )"
    r"|\bpanicked at\b|^Traceback \(most recent call last|^Exception in thread|^ *Caused by: "
    r"|\bSIG(?:SEGV|ABRT|KILL|BUS|ILL|FPE)\b|\bE!|\*\*\* "
)
_LOUD = (
    rb"(?i)error|fatal|fail|panic|exception|critical|severe|emerg|alert|abort|killed|fault|dumped|memory|denied|"
    rb"not found|no such|cannot|can't|could|unable|refused|timed? ?out|unreach|undefined|unresolved|conflict|corrupt|"
    rb"invalid|unknown|unrecogni|usage|exit|sig(?:segv|abrt|kill|bus|ill|fpe)|falhou|erro|fehler|err|crit|"
    rb"traceback|caused by|\*\*\* |e!"
)
"""Holds a part of everything that `_PREFIXED` and `_CASED` accept: candidates are found with it."""
_ZERO = r"(?i)\b(?:0|no) (?:errors?|failures?|failed|conflicts?|exceptions?)\b|\berrors?[:=] ?0\b"
_PROMPT = r"(?:\[[yY](?:es)?/[nN]o?\]|\((?:y|yes)/(?:n|no)\)|[Pp]assword(?: for [^:]+)?:|\?) ?$"
_GAP_WORDS = (b"runcated", b"mitted", b"lided", b"more lines", b"lines skipped", b"TRUNCATED", b"OMITTED")
"""What each mark of left-out text holds: looked for first, since the whole grammar of a mark is dear."""
_GAP_LINE = (
    rb"(?:[\[<({*~]|\.\.\.|\xe2\x80\xa6|-{2,3}[ \[])[^\n]{0,80}"
    rb"(?:[Tt]runcated|[Oo]mitted|[Ee]lided|more lines|lines skipped|TRUNCATED|OMITTED)"
    rb"[^\n]{0,80}(?:[\])>}*~-]|\.\.\.|\xe2\x80\xa6)\s*"
)
_MARK_SEARCH_BYTES = 4 << 20
"""Larger texts are not searched for marks: no host hands on so much."""


def is_standing(text: str) -> bool:
    """Whether a line stands out by itself: an error word where a program puts one, and no zero before it."""
    return bool(re.search(_PREFIXED, text) or re.search(_CASED, text)) and not re.search(_ZERO, text)


def standing_lines(view: StreamView) -> Iterator[int]:
    """Screen lines of rank 1, in order; linear in the size of the stream."""
    previous = 0
    for line in _loud_lines(view):
        previous = line
        if is_standing(view.line(line)[:_MAX_COLUMNS]):
            yield line
    last = view.line_count
    if last and last != previous and re.search(_PROMPT, view.line(last)[-200:]):
        yield last


def _loud_lines(view: StreamView) -> Iterator[int]:
    """Screen lines with a word of `_LOUD` in them, in order: candidates, found cheaply."""
    if len(view.screen) <= _VECTOR_FROM_BYTES:
        yield from _loud_lines_searched(view)
        return
    try:
        import polars
    except ImportError:
        yield from _loud_lines_searched(view)
        return
    first = 1
    for window in line_windows(view.screen):
        lines = window.decode("utf-8", "replace").removesuffix("\n").split("\n")
        loud = polars.Series("line", lines, dtype=polars.String).str.contains(_LOUD.decode("ascii"))
        yield from (first + index for index in loud.arg_true().to_list())
        first += len(lines)


def _loud_lines_searched(view: StreamView) -> Iterator[int]:
    screen = view.screen
    loud = re.compile(_LOUD)
    match = loud.search(screen)
    while match is not None:
        line = view.line_at(match.start())
        yield line
        end = screen.find(b"\n", match.end())
        match = loud.search(screen, end) if end >= 0 else None


def find_gap(data: bytes) -> int | None:
    """Offset of a line by which somebody says that text was left out; sought in the sizes that hosts hand on."""
    if len(data) > _MARK_SEARCH_BYTES:
        return None
    found = [at for word in _GAP_WORDS if (at := _gap_with(data, word)) is not None]
    return min(found) if found else None


def _gap_with(data: bytes, word: bytes) -> int | None:
    at = data.find(word)
    while at >= 0:
        start = data.rfind(b"\n", max(at - 200, 0), at) + 1
        end = data.find(b"\n", at)
        line = data[start : end if end >= 0 else len(data)].removesuffix(b"\r")
        if len(line) < 200 and re.fullmatch(_GAP_LINE, line) and b"Full output truncated" not in line:
            return start
        at = data.find(word, at + len(word))
    return None
