"""A census too large to print: exact totals, groups that sum to them, samples, and all of it behind one address."""

from collections.abc import Callable, Sequence

from ctx.contracts.selection import ordered
from ctx.digest import rows
from ctx.digest.census_lines import census_heading
from ctx.digest.group_lines import GROUP_ROWS
from ctx.digest.page import Page
from ctx.digest.rows import number, plural
from ctx.digest.window_lines import details, trimmed, windows
from ctx.evidence import EvidenceItem, ExcerptRole, ItemKind, Location, Missing
from ctx.text import tok

FLOOD_SAMPLES = 3
SAMPLE_COLUMNS = 200
BOUNDED_COLUMNS = 120
_FLOOD_ROLES = (ExcerptRole.CONCLUSION, ExcerptRole.MESSAGE, ExcerptRole.TAIL, ExcerptRole.HEAD)


def flood(page: Page) -> None:
    """Exact totals, groups that sum to them, first identities of each group, the stored census behind one address.

    The last step prints the totals and the address alone: they always fit.
    """
    graph = page.graph
    census = ordered(graph, page.contract, graph.census)
    items = census or tuple(item for item in graph.items if item.kind is ItemKind.LINE)
    room = page.plan.context_lines > 0
    if items:
        heading = census_heading(page, items) if census else f"groups: {plural(len(items), 'line')} that stand out"
        _census(page, items, heading, _samples(items, page.contract.ceiling_tokens // 4) if room else [])
    if room:
        _groups(page, items, always=bool(census))
    details(page)
    kept = [trimmed(e, page.plan.context_lines) for e in graph.excerpts if e.role in _FLOOD_ROLES]
    windows(page, [e for e in kept if e.lines], rank=0)


def _census(page: Page, items: Sequence[EvidenceItem], heading: str, shown: Sequence[EvidenceItem]) -> None:
    """The census goes to the store; under its number and address stand the samples."""
    page.store_census(items)
    address = page.ink.stream("census")
    note = f" · all of them: {address}" if address else ""
    page.ink.add(f"{heading}, {number(len(items) - len(shown))} not shown{note}")
    for item in shown:
        claim = _bounded(rows.claim_text(item))
        page.ink.add(rows.census_row(item, claim=claim, region=""))
        page.named.add(item.id)
        if not isinstance(item.summary, Missing) and claim == rows.claim_text(item):
            page.summarised.add(item.id)


def _groups(page: Page, items: Sequence[EvidenceItem], *, always: bool) -> None:
    """Counts by file and by class, each summing to the total; without a census only where there is more than one."""
    by: tuple[tuple[str, Callable[[EvidenceItem], str]], ...] = (("file", _file_of), ("class", _class_of))
    for noun, key in by:
        counted = rows.tallies((key(item) for item in items), limit=GROUP_ROWS)
        informs = len(counted) > 1 and any(count > 1 for _, count in counted)
        if items and (always or informs):
            page.ink.add(f"groups: by {noun}, {number(len(items))} in all")
            page.ink.extend(f"  {name}" + (f"  {number(count)}" if count else "") for name, count in counted)


def _samples(items: Sequence[EvidenceItem], budget_tokens: int) -> list[EvidenceItem]:
    """The first identities of each class, most severe first, bounded so that totals and address always fit."""
    seen: dict[str, int] = {}
    shown = []
    spent = 0
    for item in items:
        key = _class_of(item)
        if key not in seen and len(seen) == GROUP_ROWS:
            continue
        seen[key] = seen.get(key, 0) + 1
        if seen[key] > FLOOD_SAMPLES or len(item.identity) > SAMPLE_COLUMNS:
            continue
        spent += tok(rows.census_row(item, claim=_bounded(rows.claim_text(item)), region=""))
        if spent > budget_tokens:
            break
        shown.append(item)
    return shown


def _bounded(claim: str) -> str:
    """A name or claim short enough for a list of groups: at most 120 columns, fewer where each of them is dear."""
    if len(claim) <= BOUNDED_COLUMNS // 3:
        return claim
    columns = BOUNDED_COLUMNS if tok(claim) <= BOUNDED_COLUMNS // 2 else BOUNDED_COLUMNS // 3
    if len(claim) <= columns:
        return claim
    half = columns // 2 - 1
    return f"{claim[:half]}…{claim[-half:]}"


def _file_of(item: EvidenceItem) -> str:
    if isinstance(item.location, Location):
        return _bounded(item.location.file)
    return _bounded(item.identity.partition("::")[0]) if "::" in item.identity else "no file"


def _class_of(item: EvidenceItem) -> str:
    if isinstance(item.failure_class, Missing):
        return str(item.fields.get("template", "no class"))
    return _bounded(item.failure_class)
