"""`ctx run -- COMMAND…`: run it, keep every byte, print the digest, end with its status."""

import os
import sys
from collections.abc import Sequence
from contextlib import suppress
from dataclasses import dataclass
from typing import TYPE_CHECKING

from ctx.cli.edge import debug, guarded, say, write_all, write_json, write_text
from ctx.errors import ExitCode, UsageError

if TYPE_CHECKING:
    from ctx.capture.run import Captured
    from ctx.digest.rendered import Rendered
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
ADOPTED_BYTES = 4 << 20
"""Killed captures larger than this are left to a verb that reads; a command is not kept waiting for them."""
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
    elif not value:
        raise UsageError("--store: the folder is empty; for example --store DIR")
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
    from ctx.capture.run import LaunchError, run_command
    from ctx.capture.workspace import find_workspace
    from ctx.policy.epoch import active_epoch
    from ctx.store.store import Store

    epoch = active_epoch(options.epoch or os.environ.get("CTX_EPOCH"))
    store = Store(options.store)
    raw = _is_raw(options)
    passing = _Passing() if raw and not options.json else None
    try:
        captured = run_command(
            options.argv,
            store_root=store.root,
            timeout_seconds=options.timeout_seconds,
            passing=passing.take if passing else None,
            workspace=find_workspace(),
            session=os.environ.get("CTX_SESSION"),
        )
    except LaunchError as error:
        say("run", str(error))
        return error.status
    if captured.held_open:
        say("run", "a process that outlived the command still holds its output; what came after is not captured")
    try:
        _deliver(options, captured, store, epoch, passed=passing is not None)
    except BrokenPipeError:
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
    except Exception as error:  # whatever happens to us, the command's output and status reach the user (S6.1)
        debug()
        if isinstance(error, _UnwritableError):
            say("run", str(error))
        else:
            what = " ".join(f"{type(error).__name__}: {error}".split())
            say("run", f"no digest: {what}" + ("" if passing else "; the command's own output follows"))
            if passing is None:
                _pass_on(captured)
        captured.spool.leave(captured.facts)
    return captured.status


def _is_raw(options: Options) -> bool:
    """Whether the command's bytes are wanted: asked for, or read by a program (S1.3)."""
    from ctx.capture.consumer import Consumer, consumer_of

    delivery = options.delivery or os.environ.get("CTX_DELIVERY", "")
    if delivery in ("raw", "digest"):
        return delivery == "raw"
    return consumer_of(1) is Consumer.PROGRAM


class _UnwritableError(Exception):
    """Our own standard output takes nothing more."""


class _Passing:
    """The command's bytes to our own streams while they arrive."""

    def __init__(self) -> None:
        self._closed: set[str] = set()

    def take(self, stream: str, data: bytes) -> bool:
        """Pass a chunk on; false once nobody reads the stream any more."""
        if stream not in self._closed:
            try:
                write_all(1 if stream == "stdout" else 2, data)
            except BrokenPipeError:
                self._closed.add(stream)
            except OSError as error:
                self._closed.add(stream)
                say("run", f"{stream}: {error.strerror or error}; what the command prints is kept all the same")
        return stream not in self._closed


def _pass_on(captured: "Captured") -> None:
    """What was captured to our own streams; whoever does not read it any more does not want it."""
    for stream, descriptor in (("stdout", 1), ("stderr", 2)):
        with suppress(OSError):
            write_all(descriptor, captured.spool.read(stream))


def _deliver(options: Options, captured: "Captured", store: "Store", epoch: "Epoch", *, passed: bool) -> None:
    from ctx.capture.arrival import arrival_log, in_order_of_arrival
    from ctx.capture.publish import Observed, deliver
    from ctx.capture.spool import has_others
    from ctx.capture.workspace import find_workspace

    spool = captured.spool
    if has_others(store.root, spool.folder):
        from ctx.capture.adopt import adopt_orphans

        # Before our own capture is published, so that it is the newest.
        adopt_orphans(store, epoch=epoch, notice=store.notice, largest_bytes=ADOPTED_BYTES)
    streams = {name: spool.read(name) for name in ("stdout", "stderr")}
    both = all(streams.values())

    def in_order() -> str:
        from ctx.retrieval.guard import guarded_text

        return guarded_text(in_order_of_arrival(streams, spool.interleave))

    workspace = find_workspace()
    delivered = deliver(
        streams,
        captured.facts,
        store,
        epoch=epoch,
        focus=options.focus,
        observed=Observed(
            started_at=captured.started_at,
            duration_ms=captured.duration_ms,
            session=os.environ.get("CTX_SESSION"),
            workspace=workspace.name if workspace is not None else None,
            interleave=arrival_log(spool.interleave) if both else None,
        ),
        # A disk that did not take the output is not asked to take it again; what it holds is a cut copy.
        refusal="" if spool.lost_bytes else spool.error,
        inline_text=in_order if both else None,
    )
    if delivered.manifest is None:
        left = spool.leave(captured.facts)
        say("run", f"not stored: {delivered.reason}" + (f"; its bytes lie in {left}" if left else ""))
    else:
        spool.remove()
    _print(options, captured, delivered.rendered, streams, passed=passed)


def _print(
    options: Options, captured: "Captured", rendered: "Rendered", streams: dict[str, bytes], *, passed: bool
) -> None:
    from ctx.text import is_nul_separated

    try:
        if options.json:
            from ctx.cli.documents import digest_document

            write_json(digest_document(rendered))
        elif passed:
            return
        elif (is_nul_separated(streams["stdout"]) and not sys.stdout.isatty()) or _is_raw(options):
            # A machine format (S1.4); or a shell that had not handed its end of the pipe on when we looked first.
            for stream, descriptor in (("stdout", 1), ("stderr", 2)):
                write_all(descriptor, streams[stream])
        else:
            write_text(rendered.text)
    except BrokenPipeError:
        raise
    except OSError as error:
        raise _UnwritableError(f"standard output: {error.strerror or error}") from None  # fmt: skip
