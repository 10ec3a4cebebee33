"""What a digest counts besides its census: tests that are no plain pass, warnings, shapes of lines."""

from collections.abc import Sequence

from ctx.digest import rows
from ctx.digest.page import Page
from ctx.digest.rows import number, plural
from ctx.evidence import EvidenceItem, ItemKind

GROUP_ROWS = 12
_SIDE_KINDS = (
    ItemKind.XPASSED_TEST,
    ItemKind.FLAKY_TEST,
    ItemKind.RERUN_TEST,
    ItemKind.XFAILED_TEST,
    ItemKind.SKIPPED_TEST,
)


def side_items(page: Page, *, grouped: bool) -> None:
    """What is not a plain pass: skips, expected failures, reruns, each or grouped with exact counts."""
    for kind in _SIDE_KINDS:
        items = [item for item in page.graph.items if item.kind is kind]
        if not items:
            continue
        noun = kind.removesuffix("_test").replace("_", " ")
        page.ink.add(f"groups: {number(_printed(items))} {noun}")
        page.named.update(item.id for item in items)
        if grouped:
            _by_reason(page, items)
        else:
            page.ink.extend(rows.census_row(item, claim=rows.claim_text(item), region="") for item in items)


def _by_reason(page: Page, items: Sequence[EvidenceItem]) -> None:
    """Items counted under the reason they give, most frequent first, each with the address of its first."""
    counted: dict[str, list[EvidenceItem]] = {}
    for item in items:
        counted.setdefault(rows.claim_text(item) or "no reason given", []).append(item)
    for claim, alike in sorted(counted.items(), key=lambda row: (-len(row[1]), row[0]))[:GROUP_ROWS]:
        address = page.ink.region(alike[0].source)
        page.ink.add(f"  {number(_printed(alike))}  {claim}" + (f"  first: {address}" if address else ""))
    rest = len(counted) - GROUP_ROWS
    if rest > 0:
        page.ink.add(f"  other: {plural(rest, 'reason')}")


def _printed(items: Sequence[EvidenceItem]) -> int:
    return sum(rows.member_count(item) for item in items)


def warning_rows(page: Page, limit: int) -> None:
    """The first `limit` warnings with their addresses, and how many more there are."""
    warnings = page.graph.warnings
    if not warnings or limit <= 0:
        return
    page.ink.add(f"groups: {plural(len(warnings), 'kind')} of warning")
    for warning in warnings[:limit]:
        address = page.ink.region(warning.source) if warning.source else ""
        page.ink.add("  " + "  ".join(part for part in (warning.message, address) if part))
    if len(warnings) > limit:
        page.ink.add(f"  other: {plural(len(warnings) - limit, 'kind')}")


def shapes(page: Page) -> None:
    """What most lines of a stream look like, with exact counts that sum to its lines."""
    by_stream: dict[str, list[EvidenceItem]] = {}
    for item in page.graph.items:
        if item.kind is ItemKind.TEMPLATE:
            by_stream.setdefault(item.source.stream, []).append(item)
    for stream, items in by_stream.items():
        total = items[0].fields.get("stream_lines", 0)
        counted = _printed(items)
        page.ink.add(f"groups: {stream}, {number(int(total))} lines by shape, numbers as #")
        for item in items:
            page.ink.add(f"  {number(rows.member_count(item))}  {rows.identity_text(item, counted=False)}")
            page.named.add(item.id)
        if int(total) > counted:
            page.ink.add(f"  {number(int(total) - counted)}  other")
