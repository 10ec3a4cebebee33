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
        _debug()
        for line in str(error).splitlines():
            sys.stderr.write(f"ctx {verb}: {line}\n")
        return int(error.exit_code)
    except BrokenPipeError:
        # Python flushes stdout again on exit; there is nobody left to read it.
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return CLOSED_PIPE_STATUS
    except KeyboardInterrupt:
        return INTERRUPTED_STATUS
    except MemoryError:
        sys.stderr.write(f"ctx {verb}: out of memory; give it less at once\n")
        return int(ExitCode.ENVIRONMENT)
    except OSError as error:
        _debug()
        where = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"ctx {verb}: {where}{error.strerror or error}\n")
        return int(ExitCode.ENVIRONMENT)
    return status


def _debug() -> None:
    if os.environ.get("CTX_DEBUG") == "1":
        import traceback

        traceback.print_exc()


def write_text(text: str) -> None:
    """Text to stdout as UTF-8, whatever the locale; lone surrogates as stand-ins, and no NUL to a terminal."""
    sys.stdout.flush()
    if "\x00" in text and sys.stdout.isatty():
        text = text.replace("\x00", "␀\n")
    sys.stdout.buffer.write(text.encode("utf-8", "replace"))
    sys.stdout.buffer.flush()


def write_bytes(data: bytes) -> None:
    """Bytes to stdout as they are."""
    sys.stdout.flush()
    sys.stdout.buffer.write(data)
    sys.stdout.buffer.flush()


def write_json(document: dict[str, Any]) -> None:
    """One JSON document to stdout and nothing else."""
    write_text(json.dumps(document, ensure_ascii=False, indent=None, separators=(", ", ": ")) + "\n")


def say(verb: str, message: str) -> None:
    """A line on stderr."""
    sys.stderr.write(f"ctx {verb}: {message}\n")
    sys.stderr.flush()
