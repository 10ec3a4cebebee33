"""`ctx run -- COMMAND…`: run it, keep every byte, print the digest, end with its status."""

import os
import sys
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING

from ctx.cli.edge import guarded, say, write_bytes, write_json, write_text
from ctx.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from ctx.capture.run import Captured
    from ctx.policy.epoch import Epoch
    from ctx.store.store import Store

HELP = """Usage: ctx run [OPTIONS] -- COMMAND...

  Run COMMAND exactly as given, keep every byte it prints, and print a digest.

  Example: ctx run -- pytest -q

  A terminal or an agent host gets the digest. A file, or a program at the other
  end of the pipe (ctx run -- x | wc -l), gets the command's bytes unchanged.
  The exit status is the command's own; 124 after --timeout, 126 and 127 where
  it could not be started, 128 + N after signal N.

Options:
  --timeout SECONDS  End the command's process group after so many seconds.
  --raw              Print the command's bytes, whoever reads them.
  --digest           Print the digest, whoever reads it.
  --focus WORD       Order details by this word; may be given more than once.
  --epoch ID         Policy table, an id or a .toml file; default: the shipped one.
  --store DIR        Where captures are kept; default: $CTX_STORE.
  --json             Print one JSON document instead of the digest.
  --help             Show this message and exit.
"""
_VALUED = ("--timeout", "--focus", "--epoch", "--store")
_FLAGS = ("--raw", "--digest", "--json", "--help")


@dataclass(slots=True)
class Options:
    """The words before the command."""

    argv: tuple[str, ...] = ()
    timeout_seconds: float | None = None
    delivery: str = ""
    """`raw`, `digest`, or empty: whoever reads decides."""
    focus: tuple[str, ...] = ()
    epoch: str | None = None
    store: str | None = None
    json: bool = False
    help: bool = False


def parse_options(words: Sequence[str]) -> Options:
    """The options of `ctx run`; the command starts after `--`, or at the first word that is no option.

    Raises:
        UsageError: Unknown options with the nearest known, values missing or malformed, no command.
    """
    options = Options()
    position = 0
    while position < len(words):
        word = words[position]
        if word == "--":
            position += 1
            break
        if not word.startswith("-") or word == "-":
            break
        name, equals, value = word.partition("=")
        if name in _VALUED:
            if not equals:
                position += 1
                if position >= len(words):
                    raise UsageError(f"{name} needs a value; for example {name} {_example(name)} -- pytest -q")
                value = words[position]
            _set(options, name, value)
        elif word in _FLAGS:
            _flag(options, word)
        else:
            import difflib

            near = difflib.get_close_matches(name, [*_VALUED, *_FLAGS], n=1)
            hint = f"did you mean {near[0]}?" if near else f"known: {', '.join([*_VALUED, *_FLAGS])}"
            raise UsageError(f"no such option {name}; {hint}")
        position += 1
    options.argv = tuple(words[position:])
    if not options.argv and not options.help:
        raise UsageError("no command; for example: ctx run -- pytest -q")
    return options


def _example(name: str) -> str:
    return {"--timeout": "60", "--focus": "login", "--epoch": "2026.1", "--store": "DIR"}[name]


def _set(options: Options, name: str, value: str) -> None:
    if name == "--timeout":
        try:
            seconds = float(value)
        except ValueError:
            seconds = 0.0
        if not 0 < seconds < 1e9:
            raise UsageError(f"--timeout {value}: not a positive number of seconds; for example --timeout 60")
        options.timeout_seconds = seconds
    elif name == "--focus":
        options.focus = (*options.focus, value)
    elif name == "--epoch":
        options.epoch = value
    else:
        options.store = value


def _flag(options: Options, name: str) -> None:
    if name == "--json":
        options.json = True
    elif name == "--help":
        options.help = True
    else:
        chosen = name.removeprefix("--")
        if options.delivery and options.delivery != chosen:
            raise UsageError("--raw and --digest exclude each other; give one of them")
        options.delivery = chosen


def main(words: Sequence[str]) -> int:
    """The verb; its status is the command's."""
    return guarded("run", lambda: _run(words))


def _run(words: Sequence[str]) -> int:
    options = parse_options(words)
    if options.help:
        write_text(HELP)
        return ExitCode.OK
    from ctx.capture.consumer import Consumer, consumer_of
    from ctx.capture.run import LaunchError, run_command
    from ctx.policy.epoch import active_epoch
    from ctx.store.store import Store

    epoch = active_epoch(options.epoch or os.environ.get("CTX_EPOCH"))
    store = Store(options.store)
    delivery = options.delivery or os.environ.get("CTX_DELIVERY", "")
    if delivery not in ("raw", "digest"):
        delivery = "raw" if consumer_of(1) is Consumer.PROGRAM else "digest"
    passing = _Passing() if delivery == "raw" and not options.json else None
    try:
        captured = run_command(
            options.argv,
            store_root=store.root,
            timeout_seconds=options.timeout_seconds,
            passing=passing.take if passing else None,
            workspace=Path.cwd(),
        )
    except LaunchError as error:
        say("run", str(error))
        return error.status
    if captured.held_open:
        say("run", "a process that outlived the command still holds its output; what came after is not captured")
    try:
        _deliver(options, captured, store, epoch, quiet=passing is not None)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except Exception as error:  # whatever happens to us, the command's output and status reach the user (S6.1)
        if os.environ.get("CTX_DEBUG") == "1":
            import traceback

            traceback.print_exc()
        say("run", f"no digest: {type(error).__name__}: {error}; the command's own output follows")
        if passing is None:
            _pass_on(captured)
    return captured.status


class _Passing:
    """The command's bytes to our own streams while they arrive; a reader that left ends the passing, not the run."""

    def __init__(self) -> None:
        self._closed: set[int] = set()

    def take(self, stream: str, data: bytes) -> None:
        descriptor = 1 if stream == "stdout" else 2
        view = memoryview(data)
        while view and descriptor not in self._closed:
            try:
                view = view[os.write(descriptor, view) :]
            except OSError:
                self._closed.add(descriptor)


def _pass_on(captured: "Captured") -> None:
    for stream, descriptor in (("stdout", 1), ("stderr", 2)):
        data = memoryview(captured.spool.read(stream))
        while data:
            data = data[os.write(descriptor, data) :]


def _deliver(options: Options, captured: "Captured", store: "Store", epoch: "Epoch", *, quiet: bool) -> None:
    from ctx.capture.arrival import in_order_of_arrival
    from ctx.capture.publish import deliver
    from ctx.text import is_nul_separated, tok

    streams = {name: captured.spool.read(name) for name in ("stdout", "stderr")}
    delivered = deliver(
        streams,
        captured.facts,
        store,
        epoch=epoch,
        focus=options.focus,
        interleave=captured.spool.interleave_log() if all(streams.values()) else None,
        started_at=captured.started_at,
        duration_ms=captured.duration_ms,
        session=os.environ.get("CTX_SESSION"),
    )
    rendered = delivered.rendered
    if delivered.manifest is None:
        kept = f"; its bytes lie in {captured.spool.folder}" if captured.spool.folder else ""
        say("run", f"not stored: {delivered.reason}{kept}")
    else:
        captured.spool.remove()
    if rendered.meta.rung == "inline" and all(streams.values()):
        from ctx.retrieval.guard import guarded_text

        ordered = guarded_text(in_order_of_arrival(streams, captured.spool.interleave))
        rendered = replace(rendered, text=ordered, digest_tokens=tok(ordered))
    if options.json:
        from ctx.cli.documents import digest_document

        write_json(digest_document(rendered))
    elif quiet:
        return
    elif is_nul_separated(streams["stdout"]) and not sys.stdout.isatty():
        write_bytes(streams["stdout"])
    else:
        write_text(rendered.text)
