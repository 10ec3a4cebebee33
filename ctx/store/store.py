"""The store of captures: publish, look up, read (S2.14)."""

import os
import sys
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from ctx.canonical import canonical_json
from ctx.digest.base import CaptureFacts, Span
from ctx.errors import DamagedError, ExpiredError, StoreError, UnknownError
from ctx.store.blobs import Blobs
from ctx.store.catalog import Catalog
from ctx.store.layout import default_location, private_folder
from ctx.store.manifests import Manifest, Manifests, StreamRecord, seal

if TYPE_CHECKING:
    from ctx.digest.rendered import Rendered
    from ctx.retrieval.reply import Reply

INLINE_DERIVED = 32 << 10
"""A derived artifact of at most so many bytes lies in the manifest itself."""


class Store:
    """One store. Opening it writes nothing; folders are made when something is published.

    Args:
        path: Its folder; default: `$CTX_STORE`, else the state folder of the platform.
        notice: Is told of damage that was found and mended; default: a line on stderr.
    """

    def __init__(self, path: "str | Path | None" = None, *, notice: Callable[[str], None] | None = None) -> None:
        self.root = Path(path) if path is not None else default_location(os.environ)
        self.notice = notice or _to_stderr
        self.blobs = Blobs(self.root / "blobs")
        self._manifests = Manifests(self.root / "manifests")
        self._catalog = Catalog(self.root, self._manifests, self.notice)

    # Writing ----------------------------------------------------------------------------------------------------------

    def publish(
        self,
        streams: Mapping[str, bytes],
        facts: CaptureFacts,
        rendered: "Rendered",
        *,
        blobs: Mapping[str, str] | None = None,
        interleave: bytes | None = None,
        started_at: str | None = None,
        duration_ms: int | None = None,
        session: str | None = None,
    ) -> Manifest:
        """Keep a capture with everything its digest points at; the manifest, once it is there for good.

        Args:
            blobs: Digests of streams that were put already.
        Raises:
            StoreError: Something could not be written; nothing that was there before is touched.
        """
        private_folder(self.root)
        graph = rendered.graph
        derived = {
            "digest": self._derive(rendered.text.encode("utf-8", "replace")),
            "receipt": self._derive(canonical_json(rendered.receipt.to_canonical())),
            "graph": self._derive(canonical_json(graph.to_canonical())),
        }
        if rendered.census_text:
            derived["census"] = self._derive(rendered.census_text.encode("utf-8", "replace"))
        manifest = seal(
            Manifest(
                capture_id="",
                handle=rendered.meta.handle,
                argv=facts.argv,
                cwd=facts.cwd,
                exit_code=facts.exit_code,
                signal=facts.signal,
                ended_by=facts.ended_by,
                streams={name: self._record(name, raw, rendered, blobs or {}) for name, raw in streams.items()},
                interleave=self.blobs.put(interleave) if interleave else None,
                complete=facts.complete,
                incomplete_reason=facts.incomplete_reason or None,
                started_at=started_at,
                duration_ms=duration_ms,
                session=session,
                nonce=os.urandom(8).hex(),
                digest={
                    "family": rendered.family,
                    "profile": rendered.meta.profile,
                    "rung": rendered.meta.rung,
                    "plan_id": rendered.meta.plan_id,
                    "contract_id": rendered.meta.contract_id,
                    "epoch_id": rendered.meta.epoch_id,
                    "outcome": str(graph.outcome),
                    "matched": rendered.meta.matched,
                    "declined": [list(pair) for pair in rendered.meta.declined],
                    "plan": rendered.plan.to_canonical(),
                    "sizes": dict(rendered.sizes),
                    "raw_tokens": rendered.raw_tokens,
                    "digest_tokens": rendered.digest_tokens,
                    "content_classes": list(rendered.content_classes),
                    "command": " ".join(graph.operation.argv)[:400],
                },
                derived=derived,
                spans=tuple(
                    (s.token, s.stream, s.kind, s.first_line, s.last_line, s.first_col, s.end_col)
                    for s in rendered.spans
                ),
            )
        )
        self._manifests.put(manifest)
        self._catalog.announce(manifest.capture_id)
        return manifest

    def _derive(self, data: bytes) -> str:
        if len(data) <= INLINE_DERIVED:
            return "text:" + data.decode("utf-8")
        return f"blob:{self.blobs.put(data)}"

    def _record(self, name: str, raw: bytes, rendered: "Rendered", blobs: Mapping[str, str]) -> StreamRecord:
        from ctx.text import sniff_encoding, tok

        encoding = sniff_encoding(raw)
        return StreamRecord(
            blob=blobs.get(name) or self.blobs.put(raw),
            bytes=len(raw),
            lines=rendered.graph.operation.streams.get(name, 0),
            tokens=tok(raw),
            encoding=encoding,
            media_type="application/octet-stream" if encoding == "binary" else "text/plain",
            last_line_ends=raw.endswith(b"\n") or not raw,
        )

    # Looking up -------------------------------------------------------------------------------------------------------

    def resolve(self, name: str, cwd: str | None = None) -> str:
        """The full handle that `name` stands for: a prefix of 6 hex digits or more, or `last`.

        Raises:
            UnknownError: Never in this store, with the nearest handles; or a prefix of several, with candidates.
            ExpiredError: It was removed: what, when, why, and the command to get it again.
        """
        if name == "last":
            newest = self._catalog.newest(cwd)
            if newest is None:
                raise UnknownError("run:last: nothing was captured here yet; capture with `ctx run -- COMMAND`")
            return newest
        found = self._catalog.handles(name)
        if len(found) == 1:
            return found[0][0]
        if found:
            listed = "; ".join(f"run:{handle[:12]} ({command[:60]})" for handle, command in found[:8])
            raise UnknownError(f"run:{name}: a prefix of several runs: {listed}; give more digits")
        self._refuse_expired(name)
        near = ", ".join(f"run:{handle[:12]}" for handle in self._catalog.nearest(name)) or "none: the store is empty"
        raise UnknownError(f"run:{name}: never in this store; nearest: {near}")

    def _refuse_expired(self, name: str) -> None:
        import json

        folder = self.root / "tombstones"
        if not folder.is_dir():
            return
        for path in sorted(folder.glob("*.json")):
            try:
                stone = json.loads(path.read_text(encoding="utf-8"))
            except (OSError, ValueError):
                continue
            if str(stone.get("handle", "")).startswith(name):
                command = " ".join(stone.get("argv", []))
                what = f"run:{name}: removed at {stone.get('removed_at')} ({stone.get('reason')})"
                raise ExpiredError(f"{what}; get it again with: ctx run -- {command}")

    def captures(self, name: str, cwd: str | None = None) -> list[str]:
        """Capture ids of a handle, newest first."""
        return self._catalog.captures(self.resolve(name, cwd))

    def manifest(self, name: str, capture: int = 1, cwd: str | None = None) -> Manifest:
        """The manifest of the `capture`-th newest capture (1 is the newest) of a handle."""
        ids = self.captures(name, cwd)
        if not 1 <= capture <= len(ids):
            raise UnknownError(f"run:{name}: it has {len(ids)} captures; --capture takes 1 to {len(ids)}")
        damaged: DamagedError | None = None
        for capture_id in ids[capture - 1 :]:
            try:
                return self._manifests.get(capture_id)
            except DamagedError as error:
                self.notice(str(error))
                damaged = error
        raise damaged or UnknownError(f"run:{name}: no capture of it can be read")

    def derived(self, manifest: Manifest, name: str) -> bytes:
        """A derived artifact of a capture: `digest`, `census`, `graph`, `receipt`."""
        stored = manifest.derived.get(name)
        if stored is None:
            raise UnknownError(f"run:{manifest.handle[:12]}#{name}: this digest stored none")
        kind, _, rest = stored.partition(":")
        return rest.encode("utf-8") if kind == "text" else self.blobs.get(rest)

    def stream(self, manifest: Manifest, name: str) -> bytes:
        """The raw bytes of a stream."""
        record = manifest.streams.get(name)
        if record is None:
            known = ", ".join(manifest.streams)
            raise UnknownError(f"run:{manifest.handle[:12]}#{name}: no such stream; it has {known}")
        return self.blobs.get(record.blob)

    def span(self, manifest: Manifest, token: str) -> Span:
        """The region behind a span token."""
        for row in manifest.spans:
            if row[0] == token:
                return Span(*row)
        kept = self._catalog.span(manifest.handle, token)
        if kept is not None:
            return kept
        raise UnknownError(f"run:{manifest.handle[:12]} --span {token}: no such region in this run")

    def add_spans(self, handle: str, spans: Iterable[Span]) -> bool:
        """Keep regions that a retrieval named; False where this store cannot be written."""
        try:
            self._catalog.add_spans(handle, spans)
        except StoreError:
            return False
        return True

    def totals(self) -> tuple[int, int, int, int]:
        """Captures, raw tok, digest tok, fetched tok: sums over the whole store."""
        if not self.root.is_dir():
            return 0, 0, 0, 0
        return self._catalog.totals()

    def note_fetch(self, handle: str, tokens: int) -> None:
        """Remember what a reader fetched later, under the name it used; a store that cannot be written forgets it."""
        try:
            self._catalog.note_fetch(handle, tokens)
        except StoreError:
            return

    # Reading for people and programs: see ctx.retrieval ---------------------------------------------------------------

    def read(self, address: str) -> bytes:
        """The exact raw bytes that an address names."""
        from ctx.retrieval.get import read_bytes

        return read_bytes(self, address)

    def get(self, address: str, *, budget_tokens: int | None = None) -> "Reply":
        """What `ctx get` answers to a reader: the region, or a bounded zoom with sub-addresses."""
        from ctx.retrieval.get import get

        return get(self, address, budget_tokens=budget_tokens)

    def search(self, target: str, pattern: str, *, fixed: bool = True, ignore_case: bool = False) -> "Reply":
        """What `ctx search` answers to a reader: addressed hits, all of them counted."""
        from ctx.retrieval.search import search

        return search(self, target, pattern, fixed=fixed, ignore_case=ignore_case)


def _to_stderr(message: str) -> None:
    sys.stderr.write(f"ctx: {message}\n")
