"""Manifests: one canonical JSON document a capture, the truth of the store (SPEC 1, `ctx.manifest/v1`)."""

import json
import os
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

from ctx.canonical import canonical_json
from ctx.errors import DamagedError, StoreError
from ctx.store.layout import private_folder, write_atomically

SCHEMA = "ctx.manifest/v1"


@dataclass(frozen=True, kw_only=True, slots=True)
class StreamRecord:
    """One stream of a capture."""

    blob: str
    bytes: int
    lines: int
    tokens: int
    """In tok."""
    encoding: str
    media_type: str = "text/plain"
    last_line_ends: bool = True


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """One capture: what ran, how it ended, where its bytes lie, and what was derived from them."""

    capture_id: str
    handle: str
    argv: tuple[str, ...]
    cwd: str
    exit_code: int | None
    signal: int | None
    ended_by: str
    streams: Mapping[str, StreamRecord]
    interleave: str | None = None
    complete: bool = True
    incomplete_reason: str | None = None
    started_at: str | None = None
    duration_ms: int | None = None
    session: str | None = None
    workspace: str | None = None
    """Name of the workspace it ran in (a hash of its place): what `run:last` is scoped to (S2.1)."""
    nonce: str = ""
    digest: Mapping[str, Any] = field(default_factory=dict)
    """What the digest of this capture was: family, profile, rung, sizes, ids, and the redacted command."""
    derived: Mapping[str, str] = field(default_factory=dict)
    """Derived artifacts: `digest`, `census`, `graph`, `receipt` -> `text:…` where it is short, else `blob:<digest>`."""
    spans: tuple[tuple[str, str, str, int, int, int | None, int | None], ...] = ()
    """(token, stream, kind, first_line, last_line, first_col, end_col)."""

    def to_json(self) -> dict[str, Any]:
        """Plain data; `capture_id` is the SHA-256 of the rest."""
        return {
            "schema": SCHEMA,
            "capture_id": self.capture_id,
            "handle": self.handle,
            "argv": list(self.argv),
            "cwd": self.cwd,
            "exit_code": self.exit_code,
            "signal": self.signal,
            "ended_by": self.ended_by,
            "streams": {
                name: {
                    "blob": record.blob,
                    "bytes": record.bytes,
                    "lines": record.lines,
                    "tokens": record.tokens,
                    "encoding": record.encoding,
                    "media_type": record.media_type,
                    "last_line_ends": record.last_line_ends,
                }
                for name, record in self.streams.items()
            },
            "interleave": self.interleave,
            "capture": {"complete": self.complete, "reason": self.incomplete_reason},
            "source": None,
            "started_at": self.started_at,
            "duration_ms": self.duration_ms,
            "session": self.session,
            "workspace": self.workspace,
            "nonce": self.nonce,
            "digest": dict(self.digest),
            "derived": dict(self.derived),
            "spans": [list(span) for span in self.spans],
        }


def seal(manifest: Manifest) -> Manifest:
    """`manifest` with its capture id."""
    from dataclasses import replace

    return replace(manifest, capture_id=_identity(manifest.to_json()))


def _identity(document: Mapping[str, Any]) -> str:
    return sha256(canonical_json({k: v for k, v in document.items() if k != "capture_id"})).hexdigest()


def parse_manifest(data: bytes, name: str) -> Manifest:
    """A manifest from its bytes.

    Raises:
        DamagedError: No JSON, another schema, or content that is not what its name says.
    """
    try:
        document = json.loads(data)
        if document["schema"] != SCHEMA:
            raise DamagedError(f"manifest {name}: schema {document['schema']!r} is not {SCHEMA}")
        if _identity(document) != document["capture_id"]:
            raise DamagedError(f"manifest {name}: its content is not what its name says")
        return Manifest(
            capture_id=document["capture_id"],
            handle=document["handle"],
            argv=tuple(document["argv"]),
            cwd=document["cwd"],
            exit_code=document["exit_code"],
            signal=document["signal"],
            ended_by=document["ended_by"],
            streams={stream: StreamRecord(**record) for stream, record in document["streams"].items()},
            interleave=document["interleave"],
            complete=document["capture"]["complete"],
            incomplete_reason=document["capture"]["reason"],
            started_at=document["started_at"],
            duration_ms=document["duration_ms"],
            session=document["session"],
            workspace=document.get("workspace"),
            nonce=document["nonce"],
            digest=document["digest"],
            derived=document["derived"],
            spans=tuple((*span,) for span in document["spans"]),
        )
    except DamagedError:
        raise
    except (ValueError, KeyError, TypeError, AttributeError, RecursionError) as error:
        raise DamagedError(f"manifest {name}: damaged ({type(error).__name__}: {error})") from None


class Manifests:
    """The manifests of one store."""

    def __init__(self, root: Path) -> None:
        self.root = root
        self._lost = root.parent / "lost+found"

    def put(self, manifest: Manifest) -> None:
        """Publish a sealed manifest."""
        private_folder(self.root.parent, self.root.name, manifest.capture_id[:2])
        write_atomically(self._path(manifest.capture_id), canonical_json(manifest.to_json()))

    def get(self, capture_id: str) -> Manifest:
        """The manifest of a capture.

        Raises:
            DamagedError: It cannot be read, or it is not what its name says.
        """
        path = self._path(capture_id)
        try:
            manifest = parse_manifest(path.read_bytes(), path.name)
        except FileNotFoundError:
            where = f"damaged; it lies in {self._lost}" if self._set_aside_path(capture_id).exists() else "not there"
            raise DamagedError(f"manifest {path.name}: {where}") from None
        except OSError as error:
            raise DamagedError(f"manifest {path.name}: {error.strerror or error}") from None
        if manifest.capture_id != capture_id:
            raise DamagedError(f"manifest {path.name}: its content is that of capture {manifest.capture_id}")
        return manifest

    def has(self, capture_id: str) -> bool:
        """Whether there is a manifest under this id, sound or not."""
        return self._path(capture_id).exists()

    def written_ns(self, capture_id: str) -> int:
        """When a manifest was written, as its file says; orders what began in the same millisecond."""
        try:
            return self._path(capture_id).stat().st_mtime_ns
        except OSError:
            return 0

    def remove(self, capture_id: str) -> None:
        """Take back a manifest that nobody was told of."""
        with suppress(OSError):
            self._path(capture_id).unlink(missing_ok=True)

    def set_aside(self, capture_id: str) -> str:
        """Move a damaged manifest to `lost+found/`; where it lies now, for a message (S2.4)."""
        target = self._set_aside_path(capture_id)
        try:
            private_folder(self.root.parent, self._lost.name)
            os.replace(self._path(capture_id), target)
        except (OSError, StoreError):  # it may lie where it is: it is named whenever somebody meets it
            return str(self._path(capture_id))
        return str(target)

    def set_aside_count(self) -> int:
        """Damaged manifests that were set aside."""
        try:
            return sum(name.startswith("manifest.") for name in os.listdir(self._lost))
        except OSError:
            return 0

    def capture_ids(self) -> Iterator[str]:
        """Ids of all manifests, sorted."""
        if not self.root.is_dir():
            return
        for folder in sorted(entry.name for entry in os.scandir(self.root) if entry.is_dir(follow_symlinks=False)):
            for name in sorted(os.listdir(self.root / folder)):
                if name.endswith(".json") and not name.startswith("."):
                    yield name.removesuffix(".json")

    def _path(self, capture_id: str) -> Path:
        return self.root / capture_id[:2] / f"{capture_id}.json"

    def _set_aside_path(self, capture_id: str) -> Path:
        return self._lost / f"manifest.{capture_id}.json"
