"""Handles: the names of volatile-normalised content (S1.15).

Two captures that differ only in timing, process ids or temporary paths have one handle. It covers argv, cwd, the end
of the process, whether the capture is whole, and the masked lines of every stream. Text inside an identity is content:
where masking would touch it, the identities enter the handle too.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from hashlib import sha256

from ctx.canonical import Masker, content_id
from ctx.digest.base import CaptureFacts
from ctx.text import StreamView

KEPT_BYTES = 4 << 20
"""Up to this size the masked screen of a stream is kept for profiles that compare its lines."""
_LARGE = 1 << 20
_WINDOW = 8 << 20
_PIECE = 256 << 10


def content_handle(
    streams: Mapping[str, StreamView],
    facts: CaptureFacts,
    masker: Masker,
    *,
    kept: dict[str, bytes] | None = None,
    sizes: dict[str, int] | None = None,
) -> str:
    """The handle of a capture, 64 hex digits, before identities are known.

    Args:
        kept: Takes the masked screens of streams that are small enough to be looked at again.
        sizes: Takes the bytes of each masked screen, which reruns share.
    """
    digests = {name: _stream_digest(name, view.screen, masker, kept, sizes) for name, view in streams.items()}
    return content_id(
        {
            "argv": list(facts.argv),
            "cwd": facts.cwd,
            "exit_code": facts.exit_code,
            "signal": facts.signal,
            "ended_by": facts.ended_by,
            "complete": facts.complete,
            "streams": digests,
        }
    )


def _stream_digest(
    name: str, screen: bytes, masker: Masker, kept: dict[str, bytes] | None, sizes: dict[str, int] | None
) -> str:
    hasher, size, pieces = sha256(), 0, []
    for piece in _masked_pieces(screen, masker):
        hasher.update(piece)
        size += len(piece)
        if kept is not None and len(screen) <= KEPT_BYTES:
            pieces.append(piece)
    if kept is not None and len(screen) <= KEPT_BYTES:
        kept[name] = b"".join(pieces)
    if sizes is not None:
        sizes[name] = size
    return hasher.hexdigest()


def handle_with_identities(handle: str, identities: Iterable[str], masker: Masker) -> str:
    """`handle`, refined by the identities that masking would have changed; the same handle where there are none."""
    volatile = [identity for identity in identities if masker.mask(identity) != identity]
    return content_id({"handle": handle, "identities": volatile}) if volatile else handle


def masked_digest(screen: bytes, masker: Masker) -> str:
    """SHA-256 of the masked screen view; streams over 1 MiB are masked by a vectorised engine with equal results."""
    hasher = sha256()
    for piece in _masked_pieces(screen, masker):
        hasher.update(piece)
    return hasher.hexdigest()


def _masked_pieces(screen: bytes, masker: Masker) -> Iterator[bytes]:
    if len(screen) <= _LARGE:
        yield _masked(screen, masker)
    else:
        for window in line_windows(screen):
            yield _masked_fast(window, masker)


def line_windows(data: bytes, size: int = _WINDOW) -> Iterator[bytes]:
    """Pieces of about `size` bytes that end at line ends; joined they are `data`."""
    start = 0
    while start < len(data):
        end = min(start + size, len(data))
        if end < len(data):
            cut = data.rfind(b"\n", start, end)
            following = data.find(b"\n", end)
            end = cut + 1 if cut >= start else (following + 1 if following >= 0 else len(data))
        yield data[start:end]
        start = end


def _masked(data: bytes, masker: Masker) -> bytes:
    return masker.mask(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _masked_fast(window: bytes, masker: Masker) -> bytes:
    """As `_masked`, but only the lines that a rule may touch pass through it.

    A vectorised engine finds them: first the pieces of the window in which any rule matches, then their lines. Where it
    is not installed, or the window is not UTF-8, every line is masked.
    """
    try:
        import polars

        pieces = [piece.decode("utf-8") for piece in line_windows(window, _PIECE)]
    except (ImportError, UnicodeDecodeError):
        return _masked(window, masker)
    pattern = _combined(masker)
    hit = polars.Series("piece", pieces, dtype=polars.String).str.contains(pattern)
    return b"".join(
        _masked_lines(piece, masker, pattern) if touched else piece.encode("utf-8")
        for piece, touched in zip(pieces, hit, strict=True)
    )


def _masked_lines(piece: str, masker: Masker, pattern: str) -> bytes:
    """`piece` with the lines that `pattern` finds masked, rule by rule in the same order as `Masker.mask`."""
    import polars

    lines = piece.split("\n")
    series = polars.Series("line", lines, dtype=polars.String)
    touched = series.str.contains(pattern).arg_true()
    masked = series.gather(touched)
    for rule in masker.rules:
        masked = masked.str.replace_all(_vectorised(rule.source), _GROUP.sub(r"${\1}", rule.replacement))
    for number, line in zip(touched.to_list(), masked.to_list(), strict=True):
        lines[number] = line
    return "\n".join(lines).encode("utf-8")


_GROUP = re.compile(r"\\([0-9])")


def _vectorised(source: str) -> str:
    """A pattern of the table in the dialect of the vectorised engine: ASCII word boundaries, line anchors."""
    return "(?m)" + source.replace(r"\b", r"(?-u:\b)")


def _combined(masker: Masker) -> str:
    return _vectorised("|".join(f"(?:{rule.source})" for rule in masker.rules))
