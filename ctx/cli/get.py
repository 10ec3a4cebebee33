"""`ctx get`: the text behind an address."""

import os
import stat
import sys
from collections.abc import Sequence

from ctx.addresses import parse_address
from ctx.capture.consumer import Consumer, consumer_of
from ctx.cli.edge import write_bytes, write_json, write_text
from ctx.cli.opened import opened_store, workspace_name
from ctx.errors import ExitCode
from ctx.retrieval.get import get as get_reply
from ctx.text import tok


def get(
    *,
    address: str,
    selectors: Sequence[tuple[str, str | None]],
    context: int,
    capture: int,
    budget: int | None,
    store: str | None,
    json: bool,
) -> int:
    """The verb. Stdout: the region and nothing else (or its bounded zoom, to a reader); stderr: the header."""
    given = [word for flag, value in selectors if value is not None for word in (flag, value)]
    parsed = parse_address(address, given)
    opened = opened_store(store)
    reply = get_reply(
        opened, parsed, capture=capture, context=context, budget_tokens=budget, workspace=workspace_name()
    )
    if json:
        write_json(
            {
                "address": str(parsed),
                "header": reply.header,
                "text": reply.text,
                "complete": reply.complete,
                "addresses": list(reply.addresses),
            }
        )
        return ExitCode.OK
    program = consumer_of(1) is Consumer.PROGRAM
    if not program and os.path.isdir(opened.root):
        opened.note_fetch(reply.handle or parsed.name, tok(reply.text))
    if not program or sys.stderr.isatty():
        sys.stderr.write(reply.header + "\n")
        sys.stderr.flush()
    if program:
        write_bytes(reply.body)
    elif reply.for_pipe is not None and _is_pipe(1):
        write_bytes(reply.for_pipe)
    else:
        write_text(reply.text)
    return ExitCode.OK


def _is_pipe(descriptor: int) -> bool:
    mode = os.fstat(descriptor).st_mode
    return stat.S_ISFIFO(mode) or stat.S_ISSOCK(mode)
