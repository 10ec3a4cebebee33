"""How every digest of evidence begins and ends: identity and outcome; omissions, coverage and `next:` lines."""

import shlex

from ctx.contracts.model import Contract
from ctx.contracts.selection import ADDRESSED, lost_classes, missing_from_graph, ordered
from ctx.digest import rows
from ctx.digest.page import Page
from ctx.digest.rows import number, plural
from ctx.evidence import EvidenceGraph, ItemKind
from ctx.policy.plan import SessionMove

NEXT_LINES = 3


def opening(page: Page) -> None:
    """Identity and outcome, the command, what is missing of the required classes, and witnesses that disagree."""
    graph, ink = page.graph, page.ink
    ink.add(rows.headline(graph, ink))
    if graph.operation.argv:
        ink.add(rows.command_line(graph.operation.argv))
    page.partial = tuple(str(name) for name in missing_from_graph(graph, page.contract))
    for name in page.partial:
        ink.add(f"PARTIAL: {name}")
    for item in graph.items:
        if item.kind is ItemKind.DISAGREEMENT:
            claim = rows.claim_text(item) or item.identity
            ink.add(f"detail: witnesses disagree: {claim}")
            page.named.add(item.id)
    if page.plan.session_move is not SessionMove.NONE:
        ink.add(rows.SESSION_NOTES[page.plan.session_move])


def closing(page: Page) -> None:
    """Omissions by stream, coverage, and what to do next."""
    graph, ink, operation = page.graph, page.ink, page.graph.operation
    hidden = []
    for stream, total in operation.streams.items():
        shown = len(page.lines.get(stream, ()))
        if not total or shown >= total:
            if total:
                page.streams.add(stream)
            continue
        address = ink.stream(stream)
        if address:
            page.streams.add(stream)
        hidden.append(
            f"{stream} {number(total - shown)} of {plural(total, 'line')}" + (f" ({address})" if address else "")
        )
    if hidden:
        ink.add("omitted: " + ", ".join(hidden))
    shown_lines = sum(len(numbers) for numbers in page.lines.values())
    ink.extend(rows.coverage_lines(graph.coverage, shown_lines=shown_lines))
    if not page.plan.addresses:
        ink.add("not stored: omitted text cannot be retrieved")
        if operation.argv:
            ink.add("rerun: " + shlex.join(operation.argv))
        return
    ink.extend(_next(page, bool(hidden or ink.spans)))


def _next(page: Page, omitted: bool) -> list[str]:
    """First what is not shown, then the stored census, then the narrowed rerun; none if nothing was omitted."""
    if not omitted:
        return []
    graph, ink = page.graph, page.ink
    found = []
    if page.first_hidden is not None:
        found.append(f"next: ctx get {ink.region(page.first_hidden)}")
    if page.census_text:
        found.append(f"next: ctx get {ink.stream('census')}")
    rerun = narrowed_rerun(graph, page.contract)
    if rerun:
        found.append(f"next: {rerun}")
    if not found:
        for stream, total in graph.operation.streams.items():
            if len(page.lines.get(stream, ())) < total:
                found.append(f"next: ctx get {ink.stream(stream)}")
                break
        else:  # every line is shown, one of them cut
            span = next(iter(ink.spans.values()))
            found.append(f"next: ctx get {ink.stream(span.stream, f'--span {span.token}')}")
    return found[:NEXT_LINES]


def narrowed_rerun(graph: EvidenceGraph, contract: Contract) -> str:
    """The command of a test run narrowed to the first failing test, where the launcher is known from the argv."""
    if graph.family != "pytest":
        return ""
    argv = graph.operation.argv
    launcher: list[str] = []
    for word in argv:
        launcher.append(word)
        if word.rpartition("/")[2] in ("pytest", "py.test"):
            break
    else:
        return ""
    if len(launcher) > 4 or any(word in ("-c", "sh", "bash") for word in launcher):
        return ""
    for item in ordered(graph, contract, graph.census):
        if item.kind in (ItemKind.FAILING_TEST, ItemKind.ERRORING_TEST) and "\n" not in item.identity:
            return shlex.join([*launcher, item.identity])
    return ""


def declare_lost(page: Page) -> None:
    """Say `PARTIAL:` at the top for a required class that this rendering had no room for."""
    lost = lost_classes(page.graph, page.contract, page.selection())
    page.lost = tuple(name for name in lost if page.plan.addresses or name not in ADDRESSED)
    position = len(page.partial) + 1 + bool(page.graph.operation.argv)
    page.ink.lines[position:position] = [f"PARTIAL: {name}" for name in page.lost]
    page.partial = (*page.partial, *map(str, page.lost))
