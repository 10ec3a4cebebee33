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

_LARGE = 2 << 20
_WINDOW = 8 << 20


def content_handle(streams: Mapping[str, StreamView], facts: CaptureFacts, masker: Masker) -> str:
    """The handle of a capture, 64 hex digits, before identities are known."""
    return content_id(
        {
            "argv": list(facts.argv),
            "cwd": facts.cwd,
            "exit_code": facts.exit_code,
            "signal": facts.signal,
            "ended_by": facts.ended_by,
            "complete": facts.complete,
            "streams": {name: masked_digest(view.screen, masker) for name, view in streams.items()},
        }
    )


def handle_with_identities(handle: str, identities: Iterable[str], masker: Masker) -> str:
    """`handle`, refined by the identities that masking would have changed; the same handle where there are none."""
    volatile = [identity for identity in identities if masker.mask(identity) != identity]
    return content_id({"handle": handle, "identities": volatile}) if volatile else handle


def masked_digest(screen: bytes, masker: Masker) -> str:
    """SHA-256 of the masked screen view; streams over 2 MiB are masked by a vectorised engine with equal results."""
    hasher = sha256()
    if len(screen) <= _LARGE:
        hasher.update(_masked(screen, masker))
    else:
        for window in _windows(screen):
            hasher.update(_masked_fast(window, masker))
    return hasher.hexdigest()


def _windows(data: bytes) -> Iterator[bytes]:
    """Pieces of about 8 MiB that end at line ends."""
    start = 0
    while start < len(data):
        end = min(start + _WINDOW, len(data))
        if end < len(data):
            cut = data.rfind(b"\n", start, end)
            following = data.find(b"\n", end)
            end = cut + 1 if cut >= start else (following + 1 if following >= 0 else len(data))
        yield data[start:end]
        start = end


def _masked(data: bytes, masker: Masker) -> bytes:
    return masker.mask(data.decode("utf-8", "surrogateescape")).encode("utf-8", "surrogateescape")


def _masked_fast(window: bytes, masker: Masker) -> bytes:
    """As `_masked`, but only the lines that any rule may touch pass through it.

    A vectorised engine finds those lines. Where it is not installed, or the window is not UTF-8, every line does.
    """
    touched = _touched_lines(window, masker)
    if touched is None:
        return _masked(window, masker)
    pieces: list[bytes] = []
    done = 0
    for start, end in touched:
        pieces.append(window[done:start])
        pieces.append(_masked(window[start:end], masker))
        done = end
    pieces.append(window[done:])
    return b"".join(pieces)


def _touched_lines(window: bytes, masker: Masker) -> list[tuple[int, int]] | None:
    """Byte ranges (half-open, without line ends) of the lines that some rule matches; None where it cannot tell."""
    try:
        import polars
    except ImportError:
        return None
    try:
        window.decode("utf-8")
    except UnicodeDecodeError:
        return None
    lines = polars.Series("line", [window.decode("utf-8")]).str.split("\n").explode()
    ends = lines.str.len_bytes().cast(polars.Int64) + 1
    stops = ends.cum_sum() - 1
    hit = lines.str.contains(_combined(masker))
    if not hit.any():
        return []
    frame = polars.DataFrame({"start": stops - ends + 1, "stop": stops}).filter(hit)
    return list(zip(frame["start"].to_list(), frame["stop"].to_list(), strict=True))


def _combined(masker: Masker) -> str:
    parts = [re.escape(path).replace(r"\-", "-") for path in masker.host_paths]
    parts += [rule.source for rule in masker.rules]
    return "|".join(f"(?:{part})" for part in parts).replace(r"\b", r"(?-u:\b)")
