"""`ctx get`: the text behind an address, whole or as a bounded zoom."""

from ctx.addresses import Address, Scheme, parse_address
from ctx.retrieval.guard import guarded
from ctx.retrieval.region import Region, find_region, safe_text
from ctx.retrieval.reply import Reply
from ctx.retrieval.zoom import zoom
from ctx.safety.redact import Redactor
from ctx.store.store import Store
from ctx.text import tok

REPLY_TOKENS = 1200
"""Default budget of a reply, in tok; the epoch's `reply_tokens` takes its place where an epoch is at hand."""


def read_bytes(store: Store, address: str) -> bytes:
    """The exact raw bytes that `address` names."""
    return find_region(store, parse_address(address)).raw()


def get(
    store: Store,
    address: str | Address,
    *,
    capture: int = 1,
    context: int = 0,
    budget_tokens: int | None = None,
    cwd: str | None = None,
) -> Reply:
    """The answer to a reader.

    Args:
        budget_tokens: Lowers the reply budget (tok); never raises it.
    """
    parsed = parse_address(address) if isinstance(address, str) else address
    if parsed.scheme is Scheme.REPO:
        from ctx.retrieval.repo import get_repo

        return get_repo(parsed, context=context)
    region = find_region(store, parsed, capture=capture, context=context, cwd=cwd)
    budget = min(budget_tokens or REPLY_TOKENS, REPLY_TOKENS)
    if parsed.scheme is Scheme.RUN and parsed.stream is None and parsed.selector is None:
        text = region.view.raw.decode("utf-8", "replace")
        return Reply(text=text, body=region.view.raw, header=_header(region, text))
    if region.byte_range is not None:
        return _bytes(region)
    text = region.text()
    header = _header(region, text)
    if tok(text) > budget:
        return zoom(store, region, header=header, budget_tokens=budget)
    return Reply(text=guarded(text), body=region.raw(), header=header)


def _bytes(region: Region) -> Reply:
    """A byte range: exact on a pipe, unless it holds a secret."""
    raw = region.raw()
    text = raw.decode("utf-8", "surrogateescape")
    redacted = Redactor().redact(text)
    body = raw if redacted == text else redacted.encode("utf-8", "surrogateescape")
    shown = safe_text(body, "utf-8")
    return Reply(text=shown, body=body, header=_header(region, shown), exact=True)


def _header(region: Region, text: str) -> str:
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
    parts = [region.base, where, f"{tok(text):,} tok (estimate)", region.capture]
    return " · ".join(part for part in parts if part)
