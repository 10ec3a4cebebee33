"""The profiles in order of detection, and the digest of one run.

First match wins; specific shapes stand before general ones and `text/v1` is last. Profiles of third parties come from
the entry point group `ctx.profiles`: before the built-in of their family where they say so, else before `text/v1`.
"""

import re
from dataclasses import replace

from ctx.canonical import Masker
from ctx.contracts.load import load_contract
from ctx.contracts.model import Contract, Rung
from ctx.contracts.selection import detail_order
from ctx.digest.base import DigestContext, Profile
from ctx.digest.handle import content_handle, handle_with_identities
from ctx.digest.inline_render import render_inline
from ctx.digest.lazy import LazyProfile
from ctx.digest.rendered import Body, DigestMeta, Rendered
from ctx.digest.safe_graph import safe_graph
from ctx.digest.textprof import TextProfile
from ctx.evidence import Artifact, EvidenceGraph, ExcerptRole, Missing
from ctx.policy.epoch import Epoch
from ctx.policy.plan import Bounds, DeliveryPlan
from ctx.policy.resolve import DETAIL_LINES, resolve
from ctx.policy.session import NO_SESSION, SessionSummary
from ctx.safety.control import visible
from ctx.text import is_nul_separated, plain_text, tok

_PROFILES: tuple[Profile, ...] = (
    LazyProfile("pytest/v1", "ctx.digest.pytestprof", "PytestProfile"),
    LazyProfile("lint/v1", "ctx.digest.lintprof", "LintProfile"),
    TextProfile(),
)
"""Order of detection; a profile's module is loaded when a capture has lines for it to judge."""

_PRINTED = re.compile(r"run:[0-9a-f]{6,64}(?:#[a-z.0-9]+(?: --(?:lines|span) [0-9a-f:]+)?)?")
_DETAILS = 12
"""Details that travel with a graph: as many as a plan could pay for."""
_EXACT_BYTES = 256 << 10
"""Up to this size the masked view is measured; above it sizes are far beyond every bound."""


def profiles_in_order() -> tuple[Profile, ...]:
    """Built-in profiles with those of third parties in their places."""
    from ctx.digest.plugins import third_party_profiles

    order = list(_PROFILES[:-1])
    for profile in third_party_profiles():
        built_in = [place for place, known in enumerate(order) if known.family == profile.family]
        order.insert(built_in[0] if built_in and profile.before_built_in else len(order), profile)
    return (*order, _PROFILES[-1])


def detect(ctx: DigestContext, profiles: tuple[Profile, ...]) -> tuple[Profile, str, tuple[tuple[str, str], ...]]:
    """The profile that claims a capture, its reason, and who declined before it; a profile that raises declines."""
    declined: list[tuple[str, str]] = []
    if not any(view.raw for view in ctx.streams.values()):
        return profiles[-1], "no output: nothing to recognise", ()
    for profile in profiles:
        try:
            reason = profile.detect(ctx)
        except Exception as error:
            declined.append((profile.version, _said(ctx, f"raised {type(error).__name__}: {error}")))
            continue
        if reason is not None:
            return profile.loaded(), _said(ctx, reason), tuple(declined)
        declined.append((profile.version, "its shape is not there"))
    last = _PROFILES[-1]
    return last, "fallback: nothing else claimed it", tuple(declined)


def _said(ctx: DigestContext, text: str) -> str:
    """What a profile says of a capture, on one line: it may quote captured text."""
    return visible(ctx.redactor.redact(" ".join(str(text).split())))[:300]


def render_run_digest(
    ctx: DigestContext,
    *,
    epoch: Epoch,
    session: SessionSummary = NO_SESSION,
    stored: bool = True,
    profiles: tuple[Profile, ...] | None = None,
) -> Rendered:
    """The digest of one capture: detect, extract, resolve, render; pure but for the profiles it is given.

    Args:
        stored: Whether this reader can redeem addresses; without a store none is printed.
        profiles: Replaces the built-in tuple: the same profile with a change, for an experiment.
    """
    if profiles is None:
        profiles = profiles_in_order() if any(view.raw for view in ctx.streams.values()) else _PROFILES
    profile, matched, declined = detect(ctx, profiles)
    contract = load_contract(profile.family, profile.contract_folders())
    content = profile.content_classes | contract.content_classes
    host_paths = (*ctx.manifest.host_paths, *profile.host_paths(ctx))
    ctx.masker = Masker(content=content, host_paths=host_paths)
    ctx.handle = content_handle(ctx.streams, ctx.manifest, ctx.masker, kept=ctx.masked, sizes=ctx.masked_bytes)
    graph = profile.extract(ctx)
    own = profile.render(ctx)
    if graph is None:
        graph = replace(TextProfile().extract(ctx), family=profile.family, profile=profile.version)
        contract = contract if contract.family == profile.family else load_contract("generic")
    graph = _completed(safe_graph(graph, ctx), ctx, contract)
    sizes = _sizes(graph, contract, epoch, stored=stored, focus=ctx.focus)
    bounds = Bounds(
        raw_tokens=graph.masked_tokens,
        sizes=sizes,
        floor_tokens=contract.floor_tokens,
        ceiling_tokens=contract.ceiling_tokens,
        stored=stored,
    )
    plan = resolve(graph, contract, bounds, session, epoch, ctx.focus)
    body = _body(graph, contract, plan, epoch_id=epoch.epoch_id)
    text, addresses = body.text, body.addresses
    if own is not None and plan.rung is not Rung.INLINE:
        own = _safe_rendering(own, ctx)
        if _may_replace(own, graph, plan, contract):
            text, addresses = own, _addresses_in(own)
        else:
            declined = (*declined, (profile.version, "its own rendering was refused: too large, or with addresses"))
    return Rendered(
        text=text,
        receipt=body.receipt,
        plan=plan,
        meta=DigestMeta(
            profile=ctx.meta_profile_version or profile.version,
            matched=matched,
            declined=declined,
            handle=graph.operation.handle,
            rung=str(plan.rung),
            plan_id=plan.plan_id,
            contract_id=contract.contract_id,
            epoch_id=epoch.epoch_id,
        ),
        graph=graph,
        addresses=addresses,
        spans=(*ctx.spans.values(), *body.spans),
        census_text=body.census_text,
        digest_tokens=tok(text),
        raw_tokens=graph.raw_tokens,
        family=graph.family,
        content_classes=tuple(sorted(content)),
        host_paths=host_paths,
        sizes=sizes,
    )


def _safe_rendering(text: str, ctx: DigestContext) -> str:
    """What a profile rendered by itself, after safety: it may hold captured text as it came (S18.8)."""
    return "\n".join(visible(line) for line in ctx.redactor.redact(text).split("\n"))


def _may_replace(own: str, graph: EvidenceGraph, plan: DeliveryPlan, contract: Contract) -> bool:
    """Whether a profile's own rendering keeps the bounds that hold for every digest (S6.4, S6.7, S2.7)."""
    size = tok(own)
    smaller = graph.artifact is None or size < graph.masked_tokens
    return size <= contract.ceiling_tokens and smaller and (plan.addresses or not _addresses_in(own))


def _sizes(
    graph: EvidenceGraph, contract: Contract, epoch: Epoch, *, stored: bool, focus: tuple[str, ...]
) -> dict[str, int]:
    """The sizes of the ladder's steps; none for a small output, which is passed on whatever they are.

    The renderer of evidence is loaded here: five of six outputs never need it, and start-up is a budget.
    """
    if graph.artifact is not None and graph.masked_tokens <= epoch.inline_tokens:
        return {}
    from ctx.digest.measure import measure

    return measure(graph, contract, addresses=stored, focus=focus)


def _body(graph: EvidenceGraph, contract: Contract, plan: DeliveryPlan, *, epoch_id: str) -> Body:
    if plan.rung is Rung.INLINE:
        return render_inline(graph, contract, plan, epoch_id=epoch_id)
    from ctx.digest.evidence_render import render_fail_evidence

    return render_fail_evidence(graph, contract, plan, epoch_id=epoch_id)


def _completed(graph: EvidenceGraph, ctx: DigestContext, contract: Contract) -> EvidenceGraph:
    """The graph with what every family needs: final handle, sizes, the artifact where it may be inlined, details."""
    handle = handle_with_identities(ctx.handle, (item.identity for item in graph.items), ctx.masker)
    artifact, masked_tokens, raw_tokens = _artifact(ctx, contract.ceiling_tokens)
    details = []
    for item in detail_order(graph, contract, ctx.focus)[:_DETAILS]:
        if isinstance(item.detail, Missing):
            continue
        view = ctx.streams[item.detail.stream]
        first, last = view.screen_lines_of(item.detail.first_line, item.detail.last_line)
        details.append(
            ctx.quote(item.detail.stream, first, last, ExcerptRole.DETAIL, item_id=item.id, limit=2 * DETAIL_LINES)
        )
    return replace(
        graph,
        operation=replace(graph.operation, handle=handle),
        excerpts=(*graph.excerpts, *details),
        artifact=artifact,
        raw_tokens=raw_tokens,
        masked_tokens=masked_tokens,
        stream_bytes=dict(ctx.masked_bytes),
    )


def _artifact(ctx: DigestContext, ceiling_tokens: int) -> tuple[Artifact | None, int, int]:
    """The whole text after safety where it is small enough to be inlined; its size in tok, masked and as it is."""
    views = [view for view in ctx.streams.values() if view.raw]
    if any(view.encoding == "binary" for view in views):
        size = sum(tok(view.raw) for view in views)
        records = len(views) == 1 and is_nul_separated(views[0].raw) and size <= ceiling_tokens
        return _records(views[0].raw, ctx) if records else (None, size, size)
    if sum(len(view.raw) for view in views) > _EXACT_BYTES:
        size = sum(tok(view.screen) for view in views)
        return None, size, size
    text = ""
    for view in views:
        if text and not text.endswith("\n"):
            text += "\n"
        text += plain_text(view.raw, view.encoding)
    redacted = ctx.redactor.redact(text)
    masked_tokens = tok(ctx.masker.mask(redacted))
    if masked_tokens > ceiling_tokens:
        return None, masked_tokens, tok(redacted)
    lines = redacted.split("\n")
    body = "\n".join(visible(line[:-1]) + "\r" if line.endswith("\r") else visible(line) for line in lines)
    return Artifact(body=body), masked_tokens, tok(body)


def _records(raw: bytes, ctx: DigestContext) -> tuple[Artifact | None, int, int]:
    """NUL-separated records: they are passed on as they came where they are small, since a program asked for them."""
    try:
        text = ctx.redactor.redact(raw.decode("utf-8"))
    except UnicodeDecodeError:
        return None, tok(raw), tok(raw)
    body = "\x00".join(visible(record) for record in text.split("\x00"))
    return Artifact(body=body), tok(body), tok(body)


def _addresses_in(text: str) -> tuple[str, ...]:
    return tuple(dict.fromkeys(match[0] for match in _PRINTED.finditer(text)))
