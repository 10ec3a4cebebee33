"""`ctx search`: addressed hits; status 1 where there is none."""

import sys

from ctx.capture.consumer import Consumer, consumer_of
from ctx.cli.edge import say, write_json, write_text
from ctx.cli.opened import opened_store, workspace_name
from ctx.errors import ExitCode
from ctx.retrieval.search import search as search_reply
from ctx.text import tok


def search(
    *, target: str, pattern: str, fixed: bool, ignore_case: bool, capture: int, budget: int | None, store: str | None,
    json: bool,
) -> int:  # fmt: skip
    """The verb."""
    opened = opened_store(store)
    reply = search_reply(
        opened,
        target,
        pattern,
        fixed=fixed,
        ignore_case=ignore_case,
        capture=capture,
        budget_tokens=budget,
        workspace=workspace_name(),
    )
    if json:
        write_json({"header": reply.header, "hits": reply.hits, "text": reply.text, "addresses": list(reply.addresses)})
    elif reply.hits:
        sys.stderr.write(reply.header + "\n")
        sys.stderr.flush()
        if consumer_of(1) is not Consumer.PROGRAM:
            opened.note_fetch(reply.handle or target, tok(reply.text))
        write_text(reply.text)
    else:
        say("search", f"no hit in {target}; every line of it was searched")
    return ExitCode.OK if reply.hits else ExitCode.FAILED
