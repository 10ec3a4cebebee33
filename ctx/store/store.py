"""The store of captures: publish, look up, read (S2.14)."""

import os
import re
import sys
from collections.abc import Callable, Iterable, Mapping
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from ctx.canonical import canonical_json
from ctx.digest.base import CaptureFacts, Span
from ctx.errors import DamagedError, ExpiredError, StoreError, UnknownError, UsageError
from ctx.store.blobs import Blobs
from ctx.store.layout import ANNOUNCED, append_line, default_location, private_folder
from ctx.store.manifests import Manifest, Manifests, StreamRecord, seal
from ctx.store.spans import Spans

if TYPE_CHECKING:
    from ctx.digest.rendered import Rendered
    from ctx.retrieval.reply import Reply
    from ctx.store.catalog import Catalog

INLINE_DERIVED = 32 << 10
"""A derived artifact of at most so many bytes lies in the manifest itself."""


_FETCHED = "fetched.list"
_FETCHED_LINE = re.compile(r"\S+ ([0-9]{1,12})")


@dataclass(frozen=True, kw_only=True, slots=True)
class Found:
    """A capture that a name led to."""

    manifest: Manifest
    ordinal: int
    """Which capture of its handle it is; 1 is the newest."""
    captures: int
    """How many captures the handle has."""


class Store:
    """One store. Opening it writes nothing; folders are made when something is published.

    Args:
        path: Its folder; default: `$CTX_STORE`, else the state folder of the platform.
        notice: Is told of damage that was found and mended; default: a line on stderr.
    """

    def __init__(self, path: "str | Path | None" = None, *, notice: Callable[[str], None] | None = None) -> None:
        if path is not None and not str(path):
            raise UsageError("the folder of the store is empty; for example --store DIR")
        self.root = Path(path) if path is not None else default_location(os.environ)
        self.notice = notice or _to_stderr
        self.blobs = Blobs(self.root / "blobs")
        self._manifests = Manifests(self.root / "manifests")
        self._spans = Spans(self.root / "spans")
        self._index: Catalog | None = None

    @property
    def _catalog(self) -> "Catalog":
        """The index; a writer needs none, and a command that only captures does not pay for its database."""
        if self._index is None:
            from ctx.store.catalog import Catalog

            self._index = Catalog(self.root, self._manifests, self.notice)
        return self._index

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
        workspace: str | None = None,
    ) -> Manifest:
        """Keep a capture with everything its digest points at; the manifest, once it is there for good.

        Args:
            blobs: Digests of streams that were put already.
            workspace: Name of the workspace that `run:last` is scoped to.
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
                workspace=workspace,
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
                    "host_paths": list(rendered.host_paths),
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
        try:
            append_line(self.root / ANNOUNCED, manifest.capture_id)
        except StoreError:
            self._manifests.remove(manifest.capture_id)
            raise
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

    def resolve(self, name: str, workspace: str | None = None) -> str:
        """The full handle that `name` stands for: a prefix of 6 hex digits or more, or `last`.

        Args:
            workspace: Scopes `last`; None: the newest of the whole store.
        Raises:
            UnknownError: Never in this store, with the nearest handles; or a prefix of several, with candidates.
            ExpiredError: It was removed: what, when, why, and the command to get it again.
        """
        if name == "last":
            newest = self.newest(workspace)
            if newest is None:
                raise UnknownError("run:last: nothing was captured here yet; capture with `ctx run -- COMMAND`")
            return newest[0]
        if not self._is_there():
            raise UnknownError(f"run:{name}: never in this store; there is none at {self.root}")
        found = self._catalog.handles(name)
        if len(found) == 1:
            return found[0][0]
        if found:
            listed = "; ".join(f"run:{handle[:12]} ({command[:60]})" for handle, command in found[:8])
            raise UnknownError(f"run:{name}: a prefix of several runs: {listed}; give more digits")
        self._refuse_expired(name)
        near = ", ".join(f"run:{handle[:12]}" for handle in self._catalog.nearest(name)) or "none: the store is empty"
        aside = self._manifests.set_aside_count()
        damaged = f"; {aside} damaged manifests were set aside in {self.root / 'lost+found'}" if aside else ""
        raise UnknownError(f"run:{name}: never in this store; nearest: {near}{damaged}")

    def newest(self, workspace: str | None = None) -> tuple[str, str] | None:
        """Handle and start (RFC 3339) of the newest capture, of one workspace where it is named."""
        return self._catalog.newest(workspace) if self._is_there() else None

    def _is_there(self) -> bool:
        """Whether there is a store at all: asking for something makes none."""
        return self.root.is_dir()

    def _refuse_expired(self, name: str) -> None:
        import json
        import shlex

        from ctx.safety.control import visible
        from ctx.safety.redact import Redactor

        folder = self.root / "tombstones"
        if not folder.is_dir():
            return
        for path in sorted(folder.glob("*.json")):
            try:
                stone = json.loads(path.read_text(encoding="utf-8"))
                handle, argv = str(stone["handle"]), tuple(str(word) for word in stone["argv"])
                removed_at, reason = str(stone["removed_at"]), str(stone["reason"])
            except (OSError, ValueError, KeyError, TypeError):
                continue
            if handle.startswith(name):
                command = visible(shlex.join(Redactor().redact_words(argv)))
                what = f"run:{name}: removed at {visible(removed_at)} ({visible(reason)})"
                raise ExpiredError(f"{what}; get it again with: ctx run -- {command}")

    def captures(self, name: str, workspace: str | None = None) -> list[str]:
        """Capture ids of a handle, newest first."""
        return self._catalog.captures(self.resolve(name, workspace))

    def manifest(self, name: str, capture: int = 1, workspace: str | None = None) -> Manifest:
        """The manifest of the `capture`-th newest capture (1 is the newest) of a handle."""
        return self.find(name, capture, workspace).manifest

    def find(self, name: str, capture: int = 1, workspace: str | None = None) -> Found:
        """The `capture`-th newest capture of a handle; where its manifest is damaged, that is named, and an older one
        of the same handle, which has the same text, takes its place.

        Raises:
            UnknownError, ExpiredError: See `resolve`; or the handle has fewer captures.
            DamagedError: No manifest of the handle can be read.
        """
        ids = self.captures(name, workspace)
        if not 1 <= capture <= len(ids):
            raise UnknownError(f"run:{name}: it has {len(ids)} captures; --capture takes 1 to {len(ids)}")
        damaged: DamagedError | None = None
        for ordinal, capture_id in enumerate(ids[capture - 1 :], capture):
            try:
                return Found(manifest=self._manifests.get(capture_id), ordinal=ordinal, captures=len(ids))
            except DamagedError as error:
                if self._manifests.has(capture_id):
                    self.notice(f"{error}; set aside as {self._manifests.set_aside(capture_id)}")
                else:
                    self.notice(str(error))
                damaged = error
        raise damaged or UnknownError(f"run:{name}: no capture of it can be read")

    def derived(self, manifest: Manifest, name: str) -> bytes:
        """A derived artifact of a capture: `digest`, `census`, `graph`, `receipt`."""
        stored = manifest.derived.get(name)
        if stored is None:
            raise UnknownError(f"run:{manifest.handle[:12]}#{name}: this digest stored none")
        kind, _, rest = stored.partition(":")
        return rest.encode("utf-8") if kind == "text" else self._blob(manifest, name, rest)

    def stream(self, manifest: Manifest, name: str) -> bytes:
        """The raw bytes of a stream."""
        record = manifest.streams.get(name)
        if record is None:
            known = ", ".join(manifest.streams)
            raise UnknownError(f"run:{manifest.handle[:12]}#{name}: no such stream; it has {known}")
        return self._blob(manifest, name, record.blob)

    def interleave(self, manifest: Manifest) -> bytes:
        """The order of arrival, one JSON list a line."""
        if manifest.interleave is None:
            raise UnknownError(f"run:{manifest.handle[:12]}#interleave: the order of arrival was not recorded")
        return self._blob(manifest, "interleave", manifest.interleave)

    def _blob(self, manifest: Manifest, name: str, digest: str) -> bytes:
        """A blob that a manifest names: where it is missing, the store is damaged."""
        try:
            return self.blobs.get(digest)
        except UnknownError:
            where = f"run:{manifest.handle[:12]}#{name}: its blob {digest} is gone from {self.blobs.root}"
            raise DamagedError(f"{where}; capture the same command again") from None

    def span(self, manifest: Manifest, token: str) -> Span:
        """The region behind a span token."""
        for row in manifest.spans:
            if row[0] == token:
                return Span(*row)
        kept = self._spans.get(manifest.handle, token)
        if kept is not None:
            return kept
        raise UnknownError(f"run:{manifest.handle[:12]} --span {token}: no such region in this run")

    def content_span(self, digest: str, token: str) -> Span | None:
        """The region of a blob or file, by its content's SHA-256, that a retrieval named."""
        return self._spans.get(digest, token)

    def add_spans(self, handle: str, spans: Iterable[Span]) -> bool:
        """Keep regions that a retrieval named; False where this store cannot be written."""
        try:
            self._spans.add(handle, spans)
        except StoreError:
            return False
        return True

    def totals(self) -> tuple[int, int, int, int]:
        """Captures, raw tok, digest tok, fetched tok: sums over the whole store."""
        if not self._is_there():
            return 0, 0, 0, 0
        return (*self._catalog.totals(), self._fetched_tokens())

    def note_fetch(self, handle: str, tokens: int) -> None:
        """Remember what a reader fetched later; a store that cannot be written forgets it."""
        if self._is_there():
            with suppress(StoreError):
                append_line(self.root / _FETCHED, f"{handle} {tokens}")

    def _fetched_tokens(self) -> int:
        try:
            text = (self.root / _FETCHED).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return 0
        found = (_FETCHED_LINE.fullmatch(line) for line in text.split("\n"))
        return sum(int(row[1]) for row in found if row is not None)

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
