"""`ctx search`: every hit counted, the first ones shown with their addresses, the rest reachable (S8.12)."""

import re
import shlex
from contextlib import suppress
from dataclasses import replace

from ctx.addresses import Scheme, parse_address
from ctx.digest.rows import number, plural
from ctx.errors import UnknownError, UsageError
from ctx.retrieval.get import REPLY_TOKENS
from ctx.retrieval.region import Region, compile_pattern, find_region, matching_lines
from ctx.retrieval.reply import Reply
from ctx.safety.control import GUTTER, visible
from ctx.store.store import Store
from ctx.text import tok

COLUMNS = 300
REST_TOKENS = 60
"""What the line that addresses the other hits of one stream may take, in tok."""


def search(
    store: Store,
    target: str,
    pattern: str,
    *,
    fixed: bool = False,
    ignore_case: bool = False,
    capture: int = 1,
    budget_tokens: int | None = None,
    workspace: str | None = None,
) -> Reply:
    """Hits of `pattern` in a run (both streams, then its stored census), in one stream, a blob or a file.

    A hit is a line, shown as `ADDRESS` and its text behind the gutter. Where they do not all fit the budget (tok), one
    of each shape is shown, a shape being a line but for its numbers; every other hit is counted, with the address that
    lists it: rows and counts left out sum to the hits.
    """
    if not pattern:
        raise UsageError("search: the pattern is empty; give the text to look for")
    compiled = compile_pattern(pattern, fixed=fixed, ignore_case=ignore_case)
    budget = min(budget_tokens or REPLY_TOKENS, REPLY_TOKENS)
    regions = _regions(store, target, capture, workspace)
    found = [
        (region, line)
        for region in regions
        for line in matching_lines(region.view, compiled)
        if region.first_line <= line <= region.last_line
    ]
    rows = _rows(found, compiled, budget, shapes=False)
    if len(rows) < len(found):
        rows = _rows(found, compiled, budget - REST_TOKENS * len(regions), shapes=True)
    out, addresses = [text for _, _, text in rows], [address for _, address, _ in rows]
    shown = {(region.stream, line) for (region, line), _, _ in rows}
    for region in regions:
        rest = [line for other, line in found if other is region and (region.stream, line) not in shown]
        if rest:
            again = _again(region, pattern, fixed=fixed, ignore_case=ignore_case)
            if again is None:
                again = f"{region.base} --lines {rest[0]}:{rest[-1]}"
            out.append(f"omitted: {plural(len(rest), 'more hit')} in #{region.stream} ({again})")
            addresses.append(again)
    text = "\n".join(out) + ("\n" if out else "")
    handle = regions[0].handle if regions[0].address.scheme is Scheme.RUN else ""
    return Reply(
        text=text,
        body=b"",
        header=_header(target, regions, found),
        addresses=tuple(addresses),
        complete=len(rows) == len(found),
        hits=len(found),
        handle=handle,
    )


_Hit = tuple[Region, int]


def _rows(found: list[_Hit], compiled, budget: int, *, shapes: bool) -> list[tuple[_Hit, str, str]]:  # type: ignore[no-untyped-def]
    """Hits that fit the budget (at least one), in order: hit, address, row; with `shapes` the first of each shape."""
    alike: dict[str, int] = {}
    if shapes:
        for region, line in found:
            shape = _shape(region, line)
            alike[shape] = alike.get(shape, 0) + 1
    rows: list[tuple[_Hit, str, str]] = []
    size = 0
    for region, line in found:
        more = 0
        if shapes:
            more = alike.pop(_shape(region, line), 0) - 1
            if more < 0:
                continue
        address = f"{region.base} --lines {line}:{line}"
        row = f"{address}  {GUTTER}{_excerpt(region, line, compiled)}"
        if more:
            row += f"\n{GUTTER}… {number(more)} more of this shape"
        size += tok(f"{row}\n")
        if size > budget and rows:
            break
        rows.append(((region, line), address, row))
    return rows


_NUMBERS = re.compile(r"0x[0-9a-fA-F]+|[0-9]+")


def _shape(region: Region, line: int) -> str:
    screen = region.view.screen_lines_of(line, line)[0]
    return f"{region.stream} {_NUMBERS.sub('#', region.view.line(screen)[:COLUMNS])}"


def _header(target: str, regions: list[Region], found: list[_Hit]) -> str:
    counts = [(region.stream, sum(other is region for other, _ in found)) for region in regions]
    where = ", ".join(f"{number(count)} in #{stream}" for stream, count in counts if count)
    several = sum(count > 0 for _, count in counts) > 1
    parts = [visible(target), plural(len(found), "hit") + (f" ({where})" if several else ""), regions[0].capture]
    return " · ".join(part for part in parts if part)


def _regions(store: Store, target: str, capture: int, workspace: str | None) -> list[Region]:
    address = parse_address(target if ":" in target else f"run:{target}")
    if address.scheme is Scheme.REPO:
        from ctx.retrieval.repo import find_repo

        return [find_repo(store, address).region]
    if address.scheme is Scheme.BLOB or address.stream is not None:
        return [find_region(store, address, capture=capture, workspace=workspace)]
    first = find_region(store, replace(address, stream="stdout"), capture=capture, workspace=workspace)
    regions = [first]
    for stream in ("stderr", "census"):
        # By the handle that answered: another run may have become the last one meanwhile.
        named = replace(address, name=first.handle, stream=stream)
        with suppress(UnknownError):
            regions.append(find_region(store, named, capture=capture, workspace=workspace))
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


def _again(region: Region, pattern: str, *, fixed: bool, ignore_case: bool) -> str | None:
    """The address of all hits of a region; None where a pattern cannot say it."""
    if len(pattern) > 200 or not pattern.isprintable() or region.address.selector is not None:
        return None
    import re2

    plain = re2.escape(pattern) if fixed else pattern
    return f"{region.base} --match {shlex.quote(f'(?i){plain}' if ignore_case else plain)}"
