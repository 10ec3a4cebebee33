"""`ctx get`: the text behind an address, whole or as a bounded zoom."""

from dataclasses import replace

from ctx.addresses import Address, Scheme, parse_address
from ctx.retrieval.byte_slice import masked_bytes
from ctx.retrieval.guard import guarded
from ctx.retrieval.region import Region, find_region, safe_text
from ctx.retrieval.reply import Reply
from ctx.retrieval.zoom import zoom
from ctx.safety.control import visible
from ctx.store.store import Store
from ctx.text import tok

REPLY_TOKENS = 1200
"""Default budget of a reply, in tok; the epoch's `reply_tokens` takes its place where an epoch is at hand."""


def read_bytes(store: Store, address: str) -> bytes:
    """The exact raw bytes that `address` names."""
    parsed = parse_address(address)
    if parsed.scheme is Scheme.REPO:
        from ctx.retrieval.repo import find_repo

        return find_repo(store, parsed).region.raw()
    return find_region(store, parsed).raw()


def get(
    store: Store,
    address: str | Address,
    *,
    capture: int = 1,
    context: int = 0,
    budget_tokens: int | None = None,
    workspace: str | None = None,
) -> Reply:
    """The answer to a reader.

    Args:
        budget_tokens: Lowers the reply budget (tok); never raises it.
        workspace: Scopes `run:last`.
    """
    parsed = parse_address(address) if isinstance(address, str) else address
    budget = min(budget_tokens or REPLY_TOKENS, REPLY_TOKENS)
    note = ""
    if parsed.scheme is Scheme.REPO:
        from ctx.retrieval.repo import find_repo

        found = find_repo(store, parsed, context=context)
        region, note = found.region, found.note
    else:
        region = find_region(store, parsed, capture=capture, context=context, workspace=workspace)
    handle = region.handle if parsed.scheme is Scheme.RUN else ""
    if parsed.scheme is Scheme.RUN and parsed.selector is None and region.stream == "digest":
        text = region.view.raw.decode("utf-8", "replace")
        return Reply(text=text, body=region.view.raw, header=_header(region, text, note), handle=handle)
    if region.byte_range is not None:
        return _bytes(region, note, handle)
    text = region.text()
    header = _header(region, text, note)
    if tok(text) > budget:
        return replace(zoom(store, region, header=header, budget_tokens=budget), handle=handle)
    return Reply(text=guarded(text), body=region.raw(), header=header, handle=handle)


def _bytes(region: Region, note: str, handle: str) -> Reply:
    """A byte range: exact for a program and, but for secrets, on a reader's pipe; escaped on a terminal."""
    assert region.byte_range is not None
    first, end = region.byte_range
    shown = masked_bytes(region.view.raw, first, end, region.key_lines)
    text = safe_text(shown, "utf-8")
    return Reply(
        text=guarded(text), body=region.raw(), header=_header(region, text, note), for_pipe=shown, handle=handle
    )


def _header(region: Region, text: str, note: str) -> str:
    total = region.view.raw_line_count
    if total == 0:
        where = "empty: 0 lines"
    elif region.byte_range is not None:
        where = f"bytes {region.byte_range[0]}:{region.byte_range[1]} of {len(region.view.raw):,}"
    elif region.lines is not None:
        where = f"{len(region.lines):,} of {total:,} lines match"
    elif region.columns is not None:
        where = f"line {region.first_line}, columns {region.columns[0]}:{region.columns[1]}"
    else:
        where = f"lines {region.first_line}:{region.last_line} of {total:,}"
    if region.clamped:
        where += " (clamped to the end)"
    parts = [visible(region.base), where, f"{tok(text):,} tok (estimate)", region.capture, note]
    return " · ".join(part for part in parts if part)
