"""Captured lines in a digest: the details of items, and windows on what else a stream says."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import replace

from ctx.contracts.selection import detail_order
from ctx.digest import rows
from ctx.digest.page import Page
from ctx.digest.rows import number, plural
from ctx.evidence import EvidenceItem, Excerpt, ExcerptRole, ItemKind, Precision, QuotedLine, SourceRef


def details(page: Page) -> None:
    """The details that the plan pays for, each under its identity with its address."""
    for item, excerpt in chosen_details(page):
        identity = rows.identity_text(item)
        address = page.ink.region(excerpt.source)
        page.ink.add(f"detail: {identity}" + (f" ({address})" if address else ""))
        lines = shortened(excerpt.lines, page.plan.detail_lines)
        page.quote(lines, excerpt.source.stream)
        page.detailed.add(item.id)
        page.addressable.add(item.id)
        if len(lines) < excerpt.source.line_count:
            page.hide(excerpt.source)


def chosen_details(page: Page) -> list[tuple[EvidenceItem, Excerpt]]:
    """The items whose details the plan pays for, each with its captured lines."""
    if page.plan.inline_items <= 0 or page.plan.detail_lines <= 0:
        return []
    by_item = {e.item_id: e for e in page.graph.excerpts if e.role is ExcerptRole.DETAIL}
    chosen = []
    for item in detail_order(page.graph, page.contract, page.plan.focus):
        if item.id in by_item:
            chosen.append((item, by_item[item.id]))
        if len(chosen) == page.plan.inline_items:
            break
    return chosen


def shortened(lines: Sequence[QuotedLine], limit: int) -> tuple[QuotedLine, ...]:
    """At most `limit` lines: the first third and the last two thirds, since a traceback ends with its reason."""
    if len(lines) <= limit:
        return tuple(lines)
    head = max(limit // 3, 1)
    return (*lines[:head], *lines[len(lines) - (limit - head) :])


def windows(page: Page, excerpts: Iterable[Excerpt], *, rank: int) -> None:
    """Captured lines besides details: messages, conclusions, ends, and lines that stand out up to `rank`.

    Families without structure live from these windows, so the gaps at their edges are marked too.
    """
    textual = page.graph.coverage.precision is Precision.FALLBACK
    for stream, lines in rows.merged(_chosen_windows(page, excerpts, rank)).items():
        total = page.graph.operation.streams.get(stream, 0)
        fresh = [line for line in lines if textual or line.number not in page.lines.get(stream, ())]
        if not fresh:
            continue
        address = page.ink.stream(stream) if textual else ""
        note = f" ({address}, {plural(total, 'line')})" if address else f" ({plural(total, 'line')})"
        page.ink.add(f"detail: {stream}{note}")
        if textual and not page.wide:
            fresh = [line.narrow or line for line in fresh]
        page.quote(fresh, stream, edges=(1, total) if textual else None)
        page.hide(_first_gap(stream, fresh, total))
    for item in page.graph.items:
        if item.kind is ItemKind.LINE and item.source.first_line in page.lines.get(item.source.stream, ()):
            page.named.add(item.id)
            page.addressable.add(item.id)


def _chosen_windows(page: Page, excerpts: Iterable[Excerpt], rank: int) -> list[Excerpt]:
    """The windows to print; one that says nothing new is selected all the same."""
    said = rows.counts_phrase(page.graph)
    chosen = []
    for excerpt in excerpts:
        if excerpt.role is ExcerptRole.DETAIL or (excerpt.role is ExcerptRole.STANDING and excerpt.rank > rank):
            continue
        page.excerpts.append(excerpt)
        # A totals line that says what the headline says already is one line of evidence printed twice (S7.15).
        if excerpt.role is ExcerptRole.CONCLUSION and said and all(_says_only(said, line) for line in excerpt.lines):
            continue
        chosen.append(excerpt)
    return chosen


_RULED_REST = re.compile(r"[=\s]*(?:in <elapsed>)?[=\s]*")


def _says_only(said: str, line: QuotedLine) -> bool:
    """Whether a totals line is the phrase of the headline, a rule around it and the time, and nothing else."""
    return said in line.text and _RULED_REST.fullmatch(line.text.replace(said, "", 1)) is not None


def _first_gap(stream: str, lines: Sequence[QuotedLine], total: int) -> SourceRef | None:
    """The first run of lines of a stream that `lines` leave out."""
    following = 1
    for line in lines:
        if line.number > following:
            return SourceRef(stream=stream, first_line=following, last_line=line.number - 1)
        following = line.number + 1
    return SourceRef(stream=stream, first_line=following, last_line=total) if following <= total else None


def folded_windows(page: Page) -> None:
    """The windows with exact repeats of a standing line folded into its first occurrence, counted there."""
    standing = [item for item in page.graph.items if item.kind is ItemKind.LINE]
    first: dict[str, EvidenceItem] = {}
    counts: dict[str, int] = {}
    for item in standing:
        first.setdefault(item.identity, item)
        counts[item.identity] = counts.get(item.identity, 0) + 1
    kept = {item.id for item in first.values()}
    reduced = [
        e for e in page.graph.excerpts if e.role is not ExcerptRole.STANDING or not e.item_id or e.item_id in kept
    ]
    if page.graph.coverage.precision is Precision.FALLBACK:
        reduced = [trimmed(e, page.plan.context_lines) for e in reduced]
    windows(page, reduced, rank=1)
    repeated = [(identity, count) for identity, count in counts.items() if count > 1]
    if repeated:
        page.ink.add(f"groups: {plural(len(repeated), 'line')} printed more than once")
        for identity, count in repeated:
            page.ink.add(f"  {number(count)} times, first at line {first[identity].source.first_line}")
        shown = {item.identity for item in standing if item.id in page.named}
        page.named.update(item.id for item in standing if item.identity in shown)


def trimmed(excerpt: Excerpt, limit: int) -> Excerpt:
    """At most `limit` lines: the last of an end, the first of a beginning."""
    if excerpt.role in (ExcerptRole.TAIL, ExcerptRole.CONCLUSION):
        return replace(excerpt, lines=excerpt.lines[max(len(excerpt.lines) - limit, 0) :])
    return replace(excerpt, lines=excerpt.lines[:limit])
