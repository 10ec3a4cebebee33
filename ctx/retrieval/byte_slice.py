"""Bytes from the middle of a text for a reader: secrets masked, though the cut may go through one (S8.3, S18.3)."""

from ctx.canonical import Masker, VolatileClass
from ctx.retrieval.columns import traced_line
from ctx.safety.redact import Redactor

LOOK_BYTES = 8 << 10
"""How far beyond each end of a slice a secret is looked for; no shape of one is longer."""
_NO_MASK = Masker(content=VolatileClass)


def masked_bytes(raw: bytes, first: int, end: int, key_lines: frozenset[int]) -> bytes:
    """Bytes `first`..`end` (0-based, half-open) of `raw`, exact but for secrets.

    Args:
        key_lines: Lines of `raw` that are text of a private key.
    """
    low = max(raw.rfind(b"\n", 0, first) + 1, first - LOOK_BYTES)
    stop = raw.find(b"\n", end)
    high = min(stop if stop >= 0 else len(raw), end + LOOK_BYTES)
    window = raw[low:high]
    text = window.decode("utf-8", "surrogateescape")
    if not key_lines and Redactor().redact(text) == text:
        return raw[first:end]
    out: list[bytes] = []
    at, number = low, raw.count(b"\n", 0, low) + 1
    for line in window.split(b"\n"):
        out.append(_line_slice(line, first - at, end - at, secret=number in key_lines))
        at += len(line) + 1
        if first < at <= end:
            out.append(b"\n")
        number += 1
    return b"".join(out)


def _line_slice(line: bytes, first: int, end: int, *, secret: bool) -> bytes:
    """Bytes `first`..`end` of one line, which may lie outside it."""
    first, end = max(first, 0), min(end, len(line))
    if first >= end:
        return b""
    # One character a byte: columns are then bytes, and a cut through a character gives back its halves.
    traced = traced_line(line.decode("latin-1"), _NO_MASK, secret=secret)
    return traced.readable_raw(first, end).encode("latin-1", "replace")
