"""Captured text for a reader: after safety, with lines that imitate ours behind the gutter."""

from ctx.retrieval.region import safe_text
from ctx.safety.control import quotes_structure
from ctx.text import sniff_encoding


def guarded(text: str) -> str:
    """Lines that imitate structural lines of a digest get the gutter; every other line stands as it is."""
    lines = text.split("\n")
    if not any(quotes_structure(line) for line in lines):
        return text
    return "\n".join(f"| {line}" if quotes_structure(line) else line for line in lines)


def guarded_text(raw: bytes) -> str:
    """Raw bytes as a reader may see them."""
    return guarded(safe_text(raw, sniff_encoding(raw)))
