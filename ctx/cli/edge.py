"""The outermost layer of every verb: errors to one or two lines on stderr, documents to stdout, and the exit status."""

import json
import os
import sys
from collections.abc import Callable
from typing import Any

from ctx.errors import CtxError, ExitCode

INTERRUPTED_STATUS = 130
CLOSED_PIPE_STATUS = 141


def guarded(verb: str, work: Callable[[], int]) -> int:
    """Run a verb's body: its status, or that of the error it raised, said in one line.

    A traceback is shown with `CTX_DEBUG=1` only.
    """
    try:
        status = work()
        sys.stdout.flush()
    except CtxError as error:
        debug()
        for line in str(error).split("\n"):
            sys.stderr.write(_shown(f"{_named(verb)}: {line}") + "\n")
        return int(error.exit_code)
    except BrokenPipeError:
        # Python flushes stdout again on exit; there is nobody left to read it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return CLOSED_PIPE_STATUS
    except KeyboardInterrupt:
        return INTERRUPTED_STATUS
    except MemoryError:
        sys.stderr.write(f"{_named(verb)}: out of memory; give it less at once\n")
        return int(ExitCode.ENVIRONMENT)
    except OSError as error:
        debug()
        where = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(_shown(f"{_named(verb)}: {where}{error.strerror or error}") + "\n")
        return int(ExitCode.ENVIRONMENT)
    except Exception as error:  # a fault of ours: one line all the same, and the traceback on request
        debug()
        what = " ".join(f"{type(error).__name__}: {error}".split())[:300]
        sys.stderr.write(_shown(f"{_named(verb)}: a fault in ctx itself: {what}; CTX_DEBUG=1 shows where") + "\n")
        return int(ExitCode.ENVIRONMENT)
    return status


def _shown(message: str) -> str:
    """A message may repeat what a user pasted: secrets masked, control characters visible (S18.3, S18.6)."""
    from ctx.safety.control import visible
    from ctx.safety.redact import Redactor

    return visible(Redactor().redact(message))


def _named(verb: str) -> str:
    return f"ctx {verb}" if verb else "ctx"


def debug() -> None:
    """The traceback of the error at hand, on request."""
    if os.environ.get("CTX_DEBUG") == "1":
        import traceback

        traceback.print_exc()


def standard_streams() -> None:
    """Make descriptors 0, 1 and 2 exist: where one was closed, the next file opened would take its number."""
    for descriptor in (0, 1, 2):
        try:
            os.fstat(descriptor)
        except OSError:
            os.open(os.devnull, os.O_RDWR)
    if sys.stdout is None:
        sys.stdout = os.fdopen(1, "w", encoding="utf-8", errors="replace", closefd=False)
    if sys.stderr is None:
        sys.stderr = os.fdopen(2, "w", encoding="utf-8", errors="replace", closefd=False)


def write_all(descriptor: int, data: bytes | memoryview) -> None:
    """Every byte to a descriptor, also where whoever made it set it not to block."""
    view = memoryview(data)
    while view:
        try:
            view = view[os.write(descriptor, view) :]
        except BlockingIOError:
            import select

            select.select([], [descriptor], [])


def write_text(text: str) -> None:
    """Text to stdout as UTF-8, whatever the locale; lone surrogates as stand-ins, and no NUL to a terminal."""
    if "\x00" in text and sys.stdout.isatty():
        text = text.replace("\x00", "␀\n")
    write_bytes(text.encode("utf-8", "replace"))


def write_bytes(data: bytes) -> None:
    """Bytes to stdout as they are."""
    sys.stdout.flush()
    write_all(1, data)


def write_json(document: dict[str, Any]) -> None:
    """One JSON document to stdout and nothing else."""
    write_text(json.dumps(document, ensure_ascii=False, indent=None, separators=(", ", ": ")) + "\n")


def say(verb: str, message: str) -> None:
    """A line on stderr."""
    sys.stderr.write(_shown(f"{_named(verb)}: {message}") + "\n")
    sys.stderr.flush()
