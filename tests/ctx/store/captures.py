"""Small captures published by hand, and a store to put them into."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ctx.digest.base import CaptureFacts
from ctx.pipeline import digest_capture
from ctx.store import Store
from ctx.store.manifests import Manifest


def opened(folder: Path) -> tuple[Store, list[str]]:
    """A store, and what it says of damage."""
    said: list[str] = []
    return Store(folder / "store", notice=said.append), said


def published(
    store: Store, out: bytes, *, err: bytes = b"", argv: tuple[str, ...] = ("make",), **observed: Any
) -> Manifest:
    """One capture, stored."""
    streams: Mapping[str, bytes] = {"stdout": out, "stderr": err}
    facts = CaptureFacts(argv=argv, exit_code=1, ended_by="exit")
    return store.publish(streams, facts, digest_capture(streams, facts), **observed)


def manifest_path(store: Store, manifest: Manifest) -> Path:
    """Where a manifest lies."""
    return store.root / "manifests" / manifest.capture_id[:2] / f"{manifest.capture_id}.json"
