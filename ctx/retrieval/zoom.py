"""Bounded zoom: a region too large for one reply as a smaller view with sub-addresses (S8.9, S8.10).

A zoom shows the beginning, the end and lines that stand out of its region, marks every gap with its address, and ends
with at most three `next:` lines that cover everything it does not show whole. Every sub-region is strictly smaller than
its parent, in lines or, inside one line, in columns; so following `next:` reaches every byte in finitely many steps.
"""

from collections.abc import Sequence

from ctx.digest.base import Span, span_token
from ctx.digest.rows import number, plural
from ctx.digest.telling_lines import is_standing
from ctx.retrieval.guard import guarded
from ctx.retrieval.region import Region
from ctx.retrieval.reply import Reply
from ctx.safety.control import GUTTER, visible
from ctx.safety.redact import Redactor
from ctx.store.store import Store
from ctx.text import tok

EDGE_LINES = 8
STANDING_LINES = 8
LINE_COLUMNS = 240
PARTS = 3
LEAST_COLUMNS = 40
"""So much of each end of a line is shown, however small the budget: every part of it is then smaller than it."""


def zoom(store: Store, region: Region, *, header: str, budget_tokens: int) -> Reply:
    """The bounded view of a region that does not fit `budget_tokens` (tok)."""
    if region.columns is not None or (region.first_line == region.last_line and region.lines is None):
        return _zoom_line(store, region, header=header, budget_tokens=budget_tokens)
    return _zoom_lines(region, header=header, budget_tokens=budget_tokens)


def _zoom_lines(region: Region, *, header: str, budget_tokens: int) -> Reply:
    numbers: Sequence[int] = range(region.first_line, region.last_line + 1) if region.lines is None else region.lines
    edge = EDGE_LINES
    while True:
        shown = _chosen(region, numbers, edge)
        rows, addresses = _lines(region, numbers, shown)
        text = "\n".join([f"detail: {region.base} {_selector(region)}, {plural(len(numbers), 'line')}", *rows]) + "\n"
        if edge == 1 or tok(text) <= budget_tokens:
            break
        edge //= 2
    return Reply(
        text=text,
        body=region.raw(),
        header=header,
        addresses=tuple(addresses),
        complete=False,
        handle=region.handle,
    )


def _selector(region: Region) -> str:
    if region.lines is not None:
        return visible(Redactor().redact(str(region.address.selector)))
    return f"--lines {region.first_line}:{region.last_line}"


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


def _lines(region: Region, numbers: Sequence[int], shown: list[int]) -> tuple[list[str], list[str]]:
    """Rows and addresses. What is not shown whole, a line cut in its middle too, lies in one of the `next:` parts."""
    out: list[str] = []
    addresses: list[str] = []
    whole: set[int] = set()
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
            hidden = len(text[LINE_COLUMNS // 2 : -LINE_COLUMNS // 2].encode("utf-8", "replace"))
            head, tail = text[: LINE_COLUMNS // 2], text[-LINE_COLUMNS // 2 :]
            text = f"{head} … {number(hidden)} bytes omitted ({address}) … {tail}"
        else:
            whole.add(line)
        out.append(GUTTER + text)
        previous = line
    parts = [f"{region.base} --lines {first}:{last}" for first, last in _thirds([n for n in numbers if n not in whole])]
    addresses.extend(part for part in parts if part not in addresses)
    out.extend(f"next: ctx get {part}" for part in parts)
    return out, addresses


def _thirds(lines: Sequence[int]) -> list[tuple[int, int]]:
    """At most three ranges that cover `lines`, each strictly smaller than their whole."""
    if not lines:
        return []
    size = -(-len(lines) // PARTS)
    return [(lines[at], lines[min(at + size, len(lines)) - 1]) for at in range(0, len(lines), size)]


def _zoom_line(store: Store, region: Region, *, header: str, budget_tokens: int) -> Reply:
    """One line, or columns of one: its edges, and spans that partition what lies between."""
    line = region.traced()
    first, end = region.columns or (1, len(line.shown) + 1)
    end = min(end, len(line.shown) + 1)
    keep = max(LEAST_COLUMNS, min((end - first) // 4, budget_tokens // 2))
    if end - first <= 2 * keep:
        text = visible(line.readable(first - 1, end - 1)) + "\n"
        return Reply(text=guarded(text), body=region.raw(), header=header, handle=region.handle)
    inner = (first + keep, end - keep)
    step = -(-(inner[1] - inner[0]) // PARTS)
    spans = [_span(region, at, min(at + step, inner[1])) for at in range(inner[0], inner[1], step)]
    if region.handle != "last" and store.add_spans(region.handle, spans):
        addresses = [f"{region.base} --span {span.token}" for span in spans]
    else:  # nothing can be named; what the line holds can be had by its bytes
        begin, stop = region.view.raw_range(region.first_line, region.first_line)
        addresses = [f"{region.base} --bytes {begin}:{stop}"]
    hidden = len(line.readable(inner[0] - 1, inner[1] - 1).encode("utf-8", "replace"))
    head, tail = (visible(line.readable(*edge)) for edge in ((first - 1, inner[0] - 1), (inner[1] - 1, end - 1)))
    rows = [
        f"detail: {region.base} line {region.first_line}, columns {first}:{end}",
        f"{GUTTER}{head} … {number(hidden)} bytes omitted … {tail}",
        *(f"next: ctx get {address}" for address in addresses),
    ]
    return Reply(
        text="\n".join(rows) + "\n",
        body=region.raw(),
        header=header,
        addresses=tuple(addresses),
        complete=False,
        handle=region.handle,
    )


def _span(region: Region, first_col: int, end_col: int) -> Span:
    line = region.first_line
    token = span_token(region.handle, region.stream, "columns", line, line, first_col, end_col)
    return Span(token, region.stream, "columns", line, line, first_col, end_col)
