"""The census as lines: each item with what is said of it, those that say the same together, or all under their file."""

from collections.abc import Sequence

from ctx.contracts.model import StableOrder
from ctx.digest import rows
from ctx.digest.page import Page
from ctx.digest.rows import number, plural
from ctx.evidence import EvidenceItem, Missing, Outcome, Severity, SourceRef

_SEVERITY_NOUNS = {
    Severity.CRITICAL: "critical finding",
    Severity.ERROR: "error",
    Severity.WARNING: "warning",
    Severity.INFO: "note",
}


def census_each(page: Page, items: Sequence[EvidenceItem], detailed: frozenset[str] = frozenset()) -> None:
    """A row an item with class, one line and region.

    Args:
        detailed: Ids of items whose detail follows; they need no region.
    """
    if not items:
        return
    base = base_stream(items)
    note = "--lines of" if any(item.id not in detailed for item in items) and page.plan.addresses else ""
    headings = {members[0].id: heading for heading, members in _by_severity(page, items, note)}
    for item in items:
        if item.id in headings:
            page.ink.add(headings[item.id])
        region = "" if item.id in detailed else page.ink.row_region(region_of(item), base)
        page.ink.add(rows.census_row(item, claim=rows.claim_text(item), region=region))
        page.named.add(item.id)
        page.addressable.add(item.id)
        if not isinstance(item.summary, Missing):
            page.summarised.add(item.id)
        if item.id not in detailed and not isinstance(item.detail, Missing):
            page.hide(item.detail)


def census_shared(page: Page, items: Sequence[EvidenceItem], *, classes_only: bool) -> None:
    """Identities under their class and message, each signature printed once; a signature of one stays one row.

    Where identity is a place with a message (a diagnostic), the message stands once, in one row with its places.
    """
    for heading, members in _by_severity(page, items):
        page.ink.add(heading)
        groups: dict[tuple[str, str], list[EvidenceItem]] = {}
        for item in members:
            failure = "" if isinstance(item.failure_class, Missing) else item.failure_class
            said = rows.said_at(item)
            claim = failure if classes_only else rows.claim_text(item)
            groups.setdefault((said, "" if said else claim), []).append(item)
        for (said, claim), alike in groups.items():
            _signature(page, alike, said=said, claim=claim)
            page.named.update(item.id for item in alike)
            if not classes_only:
                page.summarised.update(item.id for item in alike if not isinstance(item.summary, Missing))
    if items:
        page.store_census(items)
        page.hide(region_of(items[0]))


def _signature(page: Page, alike: Sequence[EvidenceItem], *, said: str, claim: str) -> None:
    if len(alike) == 1:
        page.ink.add(rows.census_row(alike[0], claim=claim, region=""))
    elif said:
        page.ink.extend(rows.places_rows(alike, said))
    else:
        if claim:
            page.ink.add(f"  {claim} ({number(len(alike))})")
        indent = "    " if claim else "  "
        page.ink.extend(rows.census_row(item, claim="", region="", indent=indent) for item in alike)


def census_grouped(page: Page, items: Sequence[EvidenceItem]) -> None:
    """Identities under their file: heading and row together are the identity, whole."""
    if not items:
        return
    for heading, alike in _by_severity(page, items):
        page.ink.add(heading + " · under their file")
        for name, members in rows.grouped_by_file(alike).items():
            if name:
                page.ink.add(f"  {name}")
            for item in members:
                page.ink.add(rows.census_row(item, claim="", region="", indent="    " if name else "  ", drop=name))
                page.named.add(item.id)
    page.store_census(items)
    page.hide(region_of(items[0]))


def census_heading(page: Page, items: Sequence[EvidenceItem], note: str = "", *, noun: str = "") -> str:
    base = base_stream(items)
    address = page.ink.stream(base) if note else ""
    word = "failing:" if page.graph.outcome is not Outcome.PASS else "groups:"
    if not noun:
        mixed = any(item.kind is not items[0].kind for item in items)
        noun = "finding" if mixed else page.contract.decision_unit.replace("_", " ")
    return f"{word} {_counted(page, items, noun)}" + (f" · {note} {address}" if address else "")


def _by_severity(page: Page, items: Sequence[EvidenceItem], note: str = "") -> list[tuple[str, Sequence[EvidenceItem]]]:
    """The census in parts with a heading each: one part, or errors, warnings and the rest where the family ranks."""
    if not items:
        return []
    found: dict[Severity, list[EvidenceItem]] = {}
    for item in items:
        found.setdefault(item.severity, []).append(item)
    if page.contract.stable_order is not StableOrder.SEVERITY or len(found) == 1:
        return [(census_heading(page, items, note), items)]
    return [
        (census_heading(page, part, note if first == 0 else "", noun=_SEVERITY_NOUNS[severity]), part)
        for first, (severity, part) in enumerate(found.items())
    ]


def _counted(page: Page, items: Sequence[EvidenceItem], noun: str) -> str:
    """How many there are: as the tool counts where it says a total, else as it printed them, repeats included."""
    printed = sum(rows.member_count(item) for item in items)
    if page.graph.coverage.expected is not None or printed == len(items):
        return plural(len(items), noun)
    return f"{plural(printed, noun)} in {plural(len(items), 'row')}"


def base_stream(items: Sequence[EvidenceItem]) -> str:
    return region_of(items[0]).stream if items else "stdout"


def region_of(item: EvidenceItem) -> SourceRef:
    return item.source if isinstance(item.detail, Missing) else item.detail
