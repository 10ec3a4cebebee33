"""`ctx ingest`: keep and digest bytes that something else captured."""

import os
from collections.abc import Sequence
from pathlib import Path

from ctx.canonical import canonical_json
from ctx.capture.ingest import ingest_facts, parse_argv, parse_incomplete, read_input
from ctx.capture.moment import now
from ctx.capture.publish import Observed, deliver
from ctx.cli.documents import digest_document
from ctx.cli.edge import say, write_json, write_text
from ctx.cli.opened import workspace_name
from ctx.errors import ExitCode, UsageError
from ctx.policy.epoch import active_epoch
from ctx.store.store import Store


def ingest(
    *,
    stdout: str | None,
    stderr: str | None,
    exit_code: int | None,
    signal: int | None,
    argv_json: str | None,
    words: Sequence[str],
    incomplete: str | None,
    store: str | None,
    json: bool,
    graph: str | None,
    focus: Sequence[str],
    epoch: str | None,
) -> int:
    """The verb: 0, or 1 where the capture could not be stored."""
    argv = parse_argv(argv_json, words)
    if stdout is None and stderr is None:
        stdout = "-"
    if stdout == "-" and stderr == "-":
        raise UsageError("--stdout - and --stderr -: standard input can be one of them")
    if graph is not None and not Path(graph).parent.is_dir():
        raise UsageError(f"--graph {graph}: no such folder")
    streams = {"stdout": read_input("stdout", stdout), "stderr": read_input("stderr", stderr)}
    delivered = deliver(
        streams,
        ingest_facts(argv, exit_code=exit_code, signal=signal, incomplete=parse_incomplete(incomplete)),
        Store(store),
        epoch=active_epoch(epoch or os.environ.get("CTX_EPOCH")),
        focus=tuple(focus),
        observed=Observed(started_at=now(), session=os.environ.get("CTX_SESSION"), workspace=workspace_name()),
    )
    rendered = delivered.rendered
    if graph is not None:
        Path(graph).write_bytes(canonical_json(rendered.graph.to_canonical()) + b"\n")
    if json:
        write_json(digest_document(rendered))
    else:
        write_text(rendered.text)
    if delivered.manifest is None:
        say("ingest", f"not stored: {delivered.reason}")
        return ExitCode.FAILED
    return ExitCode.OK
