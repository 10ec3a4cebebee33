"""From captured bytes to a digest that a store keeps, or to the same digest without addresses (S2.7)."""

from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace

from ctx.digest.base import CaptureFacts
from ctx.digest.rendered import Rendered
from ctx.errors import StoreError
from ctx.pipeline import digest_capture
from ctx.policy.epoch import Epoch
from ctx.store.manifests import Manifest
from ctx.store.store import Store
from ctx.text import tok

LARGE_BYTES = 1 << 20
"""From this size on, hashing and compressing run beside the digest."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Observed:
    """What is noted of a capture and never part of a digest."""

    started_at: str | None = None
    """RFC 3339, UTC, milliseconds."""
    duration_ms: int | None = None
    session: str | None = None
    workspace: str | None = None
    """Name of the workspace it ran in."""
    interleave: bytes | None = None
    """Order of arrival, one JSON list a line."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Delivered:
    """A digest, and the capture in the store behind it."""

    rendered: Rendered
    manifest: Manifest | None
    """None: not stored; `reason` says why."""
    reason: str = ""


def deliver(
    streams: Mapping[str, bytes],
    facts: CaptureFacts,
    store: Store,
    *,
    epoch: Epoch,
    focus: tuple[str, ...] = (),
    observed: Observed | None = None,
    refusal: str = "",
    inline_text: Callable[[], str] | None = None,
) -> Delivered:
    """Digest and publish; a store that cannot take the capture costs addresses, nothing else.

    Args:
        refusal: Why the store is not to be asked at all; empty: it is.
        inline_text: What a small output passed whole is shown as, where the caller knows the order of its streams.
    """
    if refusal:
        return _unstored(streams, facts, epoch, focus, inline_text, refusal)
    large = {name: raw for name, raw in streams.items() if len(raw) >= LARGE_BYTES}
    if large:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(max_workers=2) as pool:
            pending = {name: pool.submit(store.blobs.put, raw) for name, raw in large.items()}
            rendered = digest_capture(streams, facts, epoch=epoch, focus=focus)
    else:
        pending = {}
        rendered = digest_capture(streams, facts, epoch=epoch, focus=focus)
    rendered = _as_shown(rendered, inline_text)
    noted = observed or Observed()
    try:
        manifest = store.publish(
            streams,
            facts,
            rendered,
            blobs={name: future.result() for name, future in pending.items()},
            interleave=noted.interleave,
            started_at=noted.started_at,
            duration_ms=noted.duration_ms,
            session=noted.session,
            workspace=noted.workspace,
        )
    except (StoreError, OSError) as error:
        return _unstored(streams, facts, epoch, focus, inline_text, str(error))
    return Delivered(rendered=rendered, manifest=manifest)


def _unstored(
    streams: Mapping[str, bytes],
    facts: CaptureFacts,
    epoch: Epoch,
    focus: tuple[str, ...],
    inline_text: Callable[[], str] | None,
    reason: str,
) -> Delivered:
    rendered = digest_capture(streams, facts, epoch=epoch, focus=focus, stored=False)
    return Delivered(rendered=_as_shown(rendered, inline_text), manifest=None, reason=reason)


def _as_shown(rendered: Rendered, inline_text: Callable[[], str] | None) -> Rendered:
    if inline_text is None or rendered.meta.rung != "inline":
        return rendered
    text = inline_text()
    return replace(rendered, text=text, digest_tokens=tok(text))
