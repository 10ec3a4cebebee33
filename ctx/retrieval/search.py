"""`ctx search`: every hit counted, the first ones shown with their addresses, the rest reachable (S8.12)."""

import shlex

from ctx.addresses import Scheme, parse_address
from ctx.digest.rows import number, plural
from ctx.errors import UnknownError, UsageError
from ctx.retrieval.get import REPLY_TOKENS
from ctx.retrieval.region import Region, compile_pattern, find_region, matching_lines
from ctx.retrieval.reply import Reply
from ctx.safety.control import GUTTER
from ctx.store.store import Store
from ctx.text import tok

COLUMNS = 300


def search(
    store: Store,
    target: str,
    pattern: str,
    *,
    fixed: bool = False,
    ignore_case: bool = False,
    capture: int = 1,
    budget_tokens: int | None = None,
    cwd: str | None = None,
) -> Reply:
    """Hits of `pattern` in a run (both streams, then its stored census) or in one stream.

    Each shown hit is `ADDRESS` and its line behind the gutter; what does not fit the budget (tok) is counted, with the
    address that lists it.
    """
    if not pattern:
        raise UsageError("search: the pattern is empty; give the text to look for")
    compiled = compile_pattern(pattern, fixed=fixed, ignore_case=ignore_case)
    budget = min(budget_tokens or REPLY_TOKENS, REPLY_TOKENS)
    out: list[str] = []
    addresses: list[str] = []
    hits = size = 0
    for region in _regions(store, target, capture, cwd):
        lines = [n for n in matching_lines(region.view, compiled) if region.first_line <= n <= region.last_line]
        hits += len(lines)
        for position, line in enumerate(lines):
            address = f"{region.base} --lines {line}:{line}"
            row = f"{address}  {GUTTER}{_excerpt(region, line, compiled)}"
            size += tok(row)
            if size > budget and addresses:
                rest = len(lines) - position
                again = _again(region, pattern, fixed, lines[position])
                out.append(f"omitted: {plural(rest, 'more hit')} in #{region.stream} ({again})")
                addresses.append(again)
                break
            out.append(row)
            addresses.append(address)
    header = f"{target} · {plural(hits, 'hit')}"
    text = "\n".join(out) + ("\n" if out else "")
    return Reply(text=text, body=b"", header=header, addresses=tuple(addresses), complete=True, hits=hits)


def _regions(store: Store, target: str, capture: int, cwd: str | None) -> list[Region]:
    address = parse_address(target if ":" in target else f"run:{target}")
    if address.scheme is Scheme.REPO:
        raise UsageError(f"search {target}: search files with your own tools; runs and blobs are searched here")
    if address.scheme is Scheme.BLOB or address.stream is not None:
        return [find_region(store, address, capture=capture, cwd=cwd)]
    regions = []
    for stream in ("stdout", "stderr", "census"):
        try:
            named = parse_address(f"run:{address.name}#{stream}")
            regions.append(find_region(store, named, capture=capture, cwd=cwd))
        except UnknownError:
            if stream == "stdout":
                raise
    return regions


def _excerpt(region: Region, line: int, compiled) -> str:  # type: ignore[no-untyped-def]
    text = region.line_text(line)
    if len(text) <= COLUMNS:
        return text
    found = compiled.search(text)
    start = max(0, (found.start() if found else 0) - COLUMNS // 4)
    before = f"… {number(start)} columns … " if start else ""
    after = len(text) - start - COLUMNS
    return before + text[start : start + COLUMNS] + (f" … {number(after)} columns …" if after > 0 else "")


def _again(region: Region, pattern: str, fixed: bool, first_line: int) -> str:
    """The address of the hits that were not shown: all matching lines, or the lines from the first of them."""
    if len(pattern) > 200:
        return f"{region.base} --lines {first_line}:{region.last_line}"
    import re2

    return f"{region.base} --match {shlex.quote(re2.escape(pattern) if fixed else pattern)}"
