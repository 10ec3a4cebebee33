"""From captured bytes to a digest that a store keeps, or to the same digest without addresses (S2.7)."""

from collections.abc import Mapping
from dataclasses import dataclass

from ctx.digest.base import CaptureFacts
from ctx.digest.rendered import Rendered
from ctx.errors import StoreError
from ctx.pipeline import digest_capture
from ctx.policy.epoch import Epoch
from ctx.store.manifests import Manifest
from ctx.store.store import Store

LARGE_BYTES = 1 << 20
"""From this size on, hashing and compressing run beside the digest."""


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
    interleave: bytes | None = None,
    started_at: str | None = None,
    duration_ms: int | None = None,
    session: str | None = None,
) -> Delivered:
    """Digest and publish; a store that cannot take the capture costs addresses, nothing else."""
    large = {name: raw for name, raw in streams.items() if len(raw) >= LARGE_BYTES}
    if large:
        from concurrent.futures import ThreadPoolExecutor

        with ThreadPoolExecutor(max_workers=2) as pool:
            pending = {name: pool.submit(store.blobs.put, raw) for name, raw in large.items()}
            rendered = digest_capture(streams, facts, epoch=epoch, focus=focus)
    else:
        pending = {}
        rendered = digest_capture(streams, facts, epoch=epoch, focus=focus)
    try:
        blobs = {name: future.result() for name, future in pending.items()}
        manifest = store.publish(
            streams,
            facts,
            rendered,
            blobs=blobs,
            interleave=interleave,
            started_at=started_at,
            duration_ms=duration_ms,
            session=session,
        )
    except StoreError as error:
        unstored = digest_capture(streams, facts, epoch=epoch, focus=focus, stored=False)
        return Delivered(rendered=unstored, manifest=None, reason=str(error))
    return Delivered(rendered=rendered, manifest=manifest)
