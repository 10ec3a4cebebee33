"""The command line of ctx: wires verbs, each of which imports what it alone needs.

`ctx run` stands in front of every command of an agent, so it takes a path of its own that loads no command framework.
"""

import gc
import os
import sys
from contextlib import suppress
from typing import NoReturn, cast

from ctx.cli.edge import CLOSED_PIPE_STATUS, guarded, standard_streams

COLLECT_FROM_OBJECTS = 100_000
"""A command lives for a moment: looking for cycles while modules load takes a sixth of its start."""

DISTRIBUTION = "ctx-referee"


def main() -> None:
    """Entry of the console script `ctx`."""
    standard_streams()
    gc.set_threshold(COLLECT_FROM_OBJECTS, 20, 20)
    words = sys.argv[1:]
    status = dispatch(words)
    if words[:1] == ["run"]:
        _leave(status)
    gc.freeze()  # on the way out, the interpreter would look for cycles in all that was loaded
    sys.exit(status)


def _leave(status: int) -> NoReturn:
    """End without taking the interpreter down, which takes a tenth of what `ctx run` adds to a command.

    Every file of ours is closed by whoever wrote it; only the standard streams hold something back.
    """
    for stream in (sys.stdout, sys.stderr):
        with suppress(OSError, ValueError):
            stream.flush()
    os._exit(status)


def dispatch(words: list[str]) -> int:
    """Run one command line; its exit status."""
    if words[:1] == ["run"]:
        from ctx.cli.run import main as run

        return run(words[1:])
    if words == ["--version"]:
        return guarded("", _version)
    verb = next((word for word in words if not word.startswith("-")), "")
    return guarded(verb, lambda: _typer(words))


def _version() -> int:
    from importlib.metadata import version

    sys.stdout.write(f"ctx {version(DISTRIBUTION)}\n")
    return 0


def _typer(words: list[str]) -> int:
    import typer

    from ctx.cli.verbs import build_app
    from ctx.errors import UsageError

    # The framework exports its base classes through their children only.
    usage_error = cast("type[typer.BadParameter]", typer.BadParameter.__bases__[0])
    try:
        status = build_app()(args=words, prog_name="ctx", standalone_mode=False)
    except usage_error as error:
        message = " ".join(error.format_message().split())
        if words and type(error).__name__ != "NoArgsIsHelpError":
            verb = "" if message.startswith("No such command") or words[0].startswith("-") else f"{words[0]} "
            raise UsageError(f"{message.rstrip('.')}; see ctx {verb}--help") from None
        sys.stdout.write(error.format_message() + "\n")
        return 2
    except typer.Abort:
        return 130
    except SystemExit:  # the framework ends so where whoever read our output has left, and only then
        return CLOSED_PIPE_STATUS
    return int(status or 0)
