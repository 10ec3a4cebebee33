"""The pure renderer: graph + contract + plan -> text, one function a rung (DESIGN 6, S7).

It reads no clock, environment, locale, session, store or global, knows no policy, and cannot claim completeness: it
repeats what Coverage says. Order of every digest: identity and outcome, the complete required census, ranked detail,
omissions and coverage, `next:` lines.
"""

from collections.abc import Callable

from ctx.contracts.model import Contract, FactClass, Rung
from ctx.contracts.selection import build_receipt, ordered
from ctx.digest.census_lines import census_each, census_grouped, census_shared
from ctx.digest.flood_lines import flood
from ctx.digest.frame_lines import closing, declare_lost, opening
from ctx.digest.group_lines import shapes, side_items, warning_rows
from ctx.digest.inline_render import render_inline
from ctx.digest.page import Page
from ctx.digest.rendered import Body
from ctx.digest.rows import Ink
from ctx.digest.window_lines import chosen_details, details, folded_windows, windows
from ctx.evidence import EvidenceGraph
from ctx.policy.plan import Census, DeliveryPlan, Summaries

WARNING_ROWS = 5


def render_fail_evidence(graph: EvidenceGraph, contract: Contract, plan: DeliveryPlan, *, epoch_id: str = "") -> Body:
    """The digest of `graph` under `contract` as `plan` decided; the shared entry of all profiles.

    Args:
        epoch_id: Stands beside the plan in the receipt; reaches no byte of the text.
    Returns:
        Text, addresses, spans and receipt; equal arguments give equal bytes.
    """
    if plan.rung is Rung.INLINE:
        return render_inline(graph, contract, plan, epoch_id=epoch_id)
    page, text = _compose(graph, contract, plan)
    receipt = build_receipt(graph, contract, page.selection(), plan_id=plan.plan_id, epoch_id=epoch_id)
    return Body(
        text=text,
        addresses=tuple(page.ink.printed),
        spans=tuple(page.ink.spans.values()),
        receipt=receipt,
        census_text=page.census_text,
    )


def compose_measured(graph: EvidenceGraph, contract: Contract, plan: DeliveryPlan) -> tuple[str, tuple[FactClass, ...]]:
    """For measuring: the text that `render_fail_evidence` prints, and the required classes that it loses."""
    page, text = _compose(graph, contract, plan)
    return text, page.lost


def _compose(graph: EvidenceGraph, contract: Contract, plan: DeliveryPlan) -> tuple[Page, str]:
    page = Page(graph, contract, plan, Ink(graph.operation.handle, addresses=plan.addresses))
    opening(page)
    _RUNGS[plan.rung](page)
    closing(page)
    declare_lost(page)
    return page, "\n".join(page.ink.lines) + "\n"


def _pass_summary(page: Page) -> None:
    """p1 each, p2 grouped: outcome and counts, everything not a plain pass, the concluding lines."""
    grouped = page.plan.summaries is not Summaries.EACH
    census = ordered(page.graph, page.contract, page.graph.census)
    census_each(page, census)
    side_items(page, grouped=grouped)
    warning_rows(page, WARNING_ROWS if grouped else 4 * WARNING_ROWS)
    shapes(page)
    windows(page, page.graph.excerpts, rank=1 if grouped else 2)


def _fail_census(page: Page) -> None:
    """f1 to f3: every identity with place, class and line; details as far as the plan pays."""
    census = ordered(page.graph, page.contract, page.graph.census)
    detailed = frozenset(item.id for item, _ in chosen_details(page))
    census_each(page, census, detailed)
    details(page)
    warning_rows(page, WARNING_ROWS)
    shapes(page)
    windows(page, page.graph.excerpts, rank=2 if page.plan.context_lines else 1)


def _dense(page: Page) -> None:
    """d1 shared summaries, d2 classes, d3 under their file: every identity, the root in short, details by address."""
    census = ordered(page.graph, page.contract, page.graph.census)
    if page.plan.census is Census.GROUPED:
        census_grouped(page, census)
    else:
        census_shared(page, census, classes_only=page.plan.summaries is Summaries.CLASS)
    details(page)
    if page.plan.census is not Census.GROUPED:
        shapes(page)
    folded_windows(page)


_RUNGS: dict[Rung, Callable[[Page], None]] = {
    Rung.PASS_SUMMARY: _pass_summary,
    Rung.FAIL_CENSUS: _fail_census,
    Rung.DENSE: _dense,
    Rung.FLOOD: flood,
}
