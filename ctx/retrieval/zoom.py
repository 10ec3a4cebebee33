"""Bounded zoom: a region too large for one reply as a smaller view with sub-addresses (S8.9, S8.10).

A zoom shows the beginning, the end and lines that stand out of its region, marks every gap with its address, and ends
with at most three `next:` lines that partition what lies between beginning and end. Every sub-region is strictly
smaller than its parent, in lines or, inside one line, in columns; so following `next:` reaches every byte in finitely
many steps.
"""

from collections.abc import Sequence

from ctx.digest.base import Span, span_token
from ctx.digest.rows import number, plural
from ctx.digest.textprof import is_standing
from ctx.retrieval.region import Region
from ctx.retrieval.reply import Reply
from ctx.safety.control import GUTTER
from ctx.store.store import Store
from ctx.text import tok

EDGE_LINES = 8
STANDING_LINES = 8
LINE_COLUMNS = 240
PARTS = 3


def zoom(store: Store, region: Region, *, header: str, budget_tokens: int) -> Reply:
    """The bounded view of a region that does not fit `budget_tokens` (tok)."""
    if region.columns is not None or (region.first_line == region.last_line and region.lines is None):
        return _zoom_line(store, region, header=header, budget_tokens=budget_tokens)
    return _zoom_lines(store, region, header=header, budget_tokens=budget_tokens)


def _zoom_lines(store: Store, region: Region, *, header: str, budget_tokens: int) -> Reply:
    numbers: Sequence[int] = region.lines or range(region.first_line, region.last_line + 1)
    edge = EDGE_LINES
    while True:
        shown = _chosen(region, numbers, edge)
        out, addresses = _lines(store, region, numbers, shown)
        if edge == 1 or tok("\n".join(out)) <= budget_tokens:
            break
        edge //= 2
    return Reply(
        text="\n".join([f"detail: {region.base} {_selector(region)}, {plural(len(numbers), 'line')}", *out]) + "\n",
        body=region.raw(),
        header=header,
        addresses=tuple(addresses),
        complete=False,
    )


def _selector(region: Region) -> str:
    return (
        str(region.address.selector) if region.lines is not None else f"--lines {region.first_line}:{region.last_line}"
    )


def _chosen(region: Region, numbers: Sequence[int], edge: int) -> list[int]:
    head, tail = list(numbers[:edge]), list(numbers[max(edge, len(numbers) - edge) :])
    middle = numbers[edge : max(edge, len(numbers) - edge)]
    standing: list[int] = []
    for line in middle[:20_000]:
        if len(standing) == STANDING_LINES or edge == 1:
            break
        if is_standing(region.line_text(line)[:400]):
            standing.append(line)
    return [*head, *standing, *tail]


def _lines(store: Store, region: Region, numbers: Sequence[int], shown: list[int]) -> tuple[list[str], list[str]]:
    out: list[str] = []
    addresses: list[str] = []
    following: list[str] = []
    position = {line: place for place, line in enumerate(numbers)} if region.lines is not None else None
    previous: int | None = None
    for line in shown:
        first_hidden = previous + 1 if previous is not None else None
        if first_hidden is not None and position is None and line > first_hidden:
            address = f"{region.base} --lines {first_hidden}:{line - 1}"
            addresses.append(address)
            out.append(f"{GUTTER}… {plural(line - first_hidden, 'line')} omitted ({address})")
        elif position is not None and previous is not None and position[line] > position[previous] + 1:
            out.append(f"{GUTTER}… {plural(position[line] - position[previous] - 1, 'matching line')} omitted")
        text = region.line_text(line)
        if len(text) > LINE_COLUMNS:
            address = f"{region.base} --lines {line}:{line}"
            addresses.append(address)
            following.append(address)
            hidden = len(text[LINE_COLUMNS // 2 : -LINE_COLUMNS // 2].encode("utf-8", "replace"))
            head, tail = text[: LINE_COLUMNS // 2], text[-LINE_COLUMNS // 2 :]
            text = f"{head} … {number(hidden)} bytes omitted ({address}) … {tail}"
        out.append(GUTTER + text)
        previous = line
    hidden_lines = [line for line in numbers if line not in set(shown)]
    parts = [f"{region.base} --lines {first}:{last}" for first, last in _thirds(hidden_lines)]
    addresses.extend(parts)
    out.extend(f"next: ctx get {address}" for address in [*parts, *following][:PARTS])
    return out, addresses


def _thirds(lines: Sequence[int]) -> list[tuple[int, int]]:
    """At most three ranges that cover `lines`, each strictly smaller than their whole."""
    if not lines:
        return []
    size = -(-len(lines) // PARTS)
    return [(lines[at], lines[min(at + size, len(lines)) - 1]) for at in range(0, len(lines), size)]


def _zoom_line(store: Store, region: Region, *, header: str, budget_tokens: int) -> Reply:
    """One line, or columns of one: its edges, and spans that partition what lies between."""
    columns = region.columns
    text = region.columns_text() if columns else _masked_line(region)
    first = columns[0] if columns else 1
    keep = max(40, min(len(text) // 4, budget_tokens))
    inner = (first + keep, first + len(text) - keep)
    step = max(1, -(-(inner[1] - inner[0]) // PARTS))
    spans = [_span(region, at, min(at + step, inner[1])) for at in range(inner[0], inner[1], step)]
    stored = store.add_spans(region.handle, spans)
    hidden = text[keep : len(text) - keep]
    if stored:
        addresses = [f"{region.base} --span {span.token}" for span in spans]
    else:
        begin, end = region.view.raw_range(region.first_line, region.first_line)
        addresses = [f"{region.base} --bytes {begin}:{end}"]
    mark = f" … {number(len(hidden.encode('utf-8', 'replace')))} bytes omitted … "
    from ctx.safety.control import GUTTER, visible

    lines = [
        f"detail: {region.base} line {region.first_line}, columns {first}:{first + len(text)}",
        GUTTER + visible(text[:keep]) + mark + visible(text[len(text) - keep :]),
        *(f"next: ctx get {address}" for address in addresses),
    ]
    return Reply(
        text="\n".join(lines) + "\n", body=region.raw(), header=header, addresses=tuple(addresses), complete=False
    )


def _masked_line(region: Region) -> str:
    from dataclasses import replace

    return replace(region, columns=(1, 1 << 40)).columns_text()


def _span(region: Region, first_col: int, end_col: int) -> Span:
    line = region.first_line
    token = span_token(region.handle, region.stream, "columns", line, line, first_col, end_col)
    return Span(token, region.stream, "columns", line, line, first_col, end_col)
