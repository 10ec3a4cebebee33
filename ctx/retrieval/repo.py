"""`repo:` addresses: lines of a file of the workspace, bound to the content they were minted against (S8.6).

An address with a hash is made when a file is read here; its content is then kept as a blob, so that lines that have
moved since can be found again. They are served only if they stand exactly once in the new content.
"""

from contextlib import suppress
from dataclasses import dataclass, replace
from hashlib import sha256
from pathlib import Path

from ctx.addresses import Address, Lines
from ctx.errors import RefusedError, StoreError, UnknownError
from ctx.retrieval.region import Region, selected
from ctx.safety.confine import confined_path
from ctx.store.store import Store
from ctx.text import LineIndex, StreamView

KEPT_BYTES = 8 << 20
"""Of a larger file no content is kept: its lines are refused once it has changed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class RepoRegion:
    """Lines of a file."""

    region: Region
    note: str = ""
    """`relocated: 40:52 -> 61:73`."""


def find_repo(store: Store, address: Address, *, context: int = 0, workspace: Path | None = None) -> RepoRegion:
    """The addressed part of a file inside the workspace.

    Args:
        workspace: Paths are relative to it; default: the current folder.
    Raises:
        RefusedError: Outside the workspace, denied, or changed so that the lines cannot be told.
        UnknownError: No such file or lines.
    """
    path = confined_path(workspace or Path.cwd(), address.name, store=store.root)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UnknownError(f"{address.base}: {error.strerror or error}") from None
    digest = sha256(raw).hexdigest()
    note = ""
    minted = address.content_hash
    if minted is not None and minted != digest[:8]:
        moved = _relocated(store, address, raw)
        if moved is None or not isinstance(address.selector, Lines):
            raise RefusedError(
                f"{address.base}: the file changed since this address was made (now @{digest[:8]}) and its lines "
                f"cannot be told; read it again: ctx get repo:{address.name}"
            )
        was, now = str(address.selector).partition(" ")[2], str(moved).partition(" ")[2]
        note = f"relocated: {was} -> {now}" if was != now else "changed elsewhere"
        address = replace(address, selector=moved)
    if len(raw) <= KEPT_BYTES and store.root.is_dir():
        with suppress(StoreError):
            store.blobs.put(raw, digest)
    address = replace(address, content_hash=digest[:8])
    whole = Region(
        address=address, handle=digest, stream="file", view=StreamView("file", raw), first_line=1, last_line=0
    )
    return RepoRegion(region=selected(store, whole, context), note=note)


def _relocated(store: Store, address: Address, raw: bytes) -> Lines | None:
    """Where the addressed lines of the old content stand in the new one, if they stand there once."""
    if not isinstance(address.selector, Lines) or address.content_hash is None:
        return None
    for digest in store.blobs.complete(address.content_hash):
        try:
            old = store.blobs.get(digest)
        except (StoreError, UnknownError):
            continue
        index = LineIndex(old)
        first, last = address.selector.first, min(address.selector.last, index.count)
        wanted = old[index.start_of(first) : index.start_of(last + 1)].rstrip(b"\n")
        if first > last or not wanted.strip():
            return None
        found = _whole_lines(raw, wanted)
        if len(found) != 1:
            return None
        begin = LineIndex(raw).line_at(found[0])
        return Lines(begin, begin + last - first)
    return None


def _whole_lines(text: bytes, wanted: bytes) -> list[int]:
    """Offsets at which `wanted` stands as whole lines, at most two."""
    found: list[int] = []
    at = text.find(wanted)
    while at >= 0 and len(found) < 2:
        end = at + len(wanted)
        if (at == 0 or text[at - 1 : at] == b"\n") and (end == len(text) or text[end : end + 1] in (b"\n", b"\r")):
            found.append(at)
        at = text.find(wanted, at + 1)
    return found
