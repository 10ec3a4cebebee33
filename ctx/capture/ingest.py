"""Bytes that something else captured (S1.13): what is not told stays unknown, never 0, empty or complete."""

import difflib
import json
from collections.abc import Sequence
from pathlib import Path

from ctx.digest.base import CaptureFacts
from ctx.errors import UsageError


def read_input(name: str, path: str | None) -> bytes:
    """The bytes of `--stdout` or `--stderr`; `-` is standard input; absent: empty.

    Raises:
        UsageError: Missing, a directory, or not readable.
    """
    if path is None:
        return b""
    if path == "-":
        import sys

        return sys.stdin.buffer.read()
    try:
        return Path(path).read_bytes()
    except OSError as error:
        what = error.strerror or str(error)
        raise UsageError(f"--{name} {path}: {what}; give a readable file, or - for standard input") from None


def parse_argv(text: str | None, words: Sequence[str]) -> tuple[str, ...]:
    """The command from `--argv-json` or from the words after `--`.

    Raises:
        UsageError: Not a JSON list of texts, or both given.
    """
    if text is None:
        return tuple(words)
    if words:
        raise UsageError("--argv-json and a command after -- exclude each other; give one of them")
    try:
        value = json.loads(text)
    except ValueError as error:
        raise UsageError(f'--argv-json: no JSON ({error}); for example \'["pytest","-q"]\'') from None
    if not isinstance(value, list) or not all(isinstance(word, str) for word in value):
        raise UsageError('--argv-json: not a list of texts; for example \'["pytest","-q"]\'')
    return tuple(value)


INCOMPLETE = ("declared", "output_limit", "reader_closed", "spool_write_error", "timeout", "killed")
"""Why bytes of a capture are missing; the list is closed (SPEC 1, `capture.reason`)."""


def parse_incomplete(word: str | None) -> str | None:
    """The reason behind `--incomplete`.

    Raises:
        UsageError: No such reason; names the nearest.
    """
    if word is None or word in INCOMPLETE:
        return word
    near = difflib.get_close_matches(word, INCOMPLETE, n=1)
    hint = f"did you mean {near[0]}?" if near else f"known: {', '.join(INCOMPLETE)}"
    raise UsageError(f"--incomplete {word}: no such reason; {hint}")


def ingest_facts(
    argv: tuple[str, ...], *, exit_code: int | None, signal: int | None, incomplete: str | None, timed_out: bool = False
) -> CaptureFacts:
    """Facts of a capture from elsewhere; an exit code of 128 + N is kept as it is, since a shell may mean it."""
    if signal is not None:
        ended_by = "signal"
    elif timed_out:
        ended_by = "timeout"
    else:
        ended_by = "unknown" if exit_code is None else "exit"
    return CaptureFacts(
        argv=argv,
        exit_code=exit_code,
        signal=signal,
        ended_by=ended_by,
        complete=incomplete is None,
        incomplete_reason=incomplete or "",
    )
