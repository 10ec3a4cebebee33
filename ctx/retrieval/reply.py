"""What a retrieval answers."""

from dataclasses import dataclass


@dataclass(frozen=True, kw_only=True, slots=True)
class Reply:
    """One answer of `get` or `search`."""

    text: str
    """What a reader sees: the region after safety, or a bounded view of it with sub-addresses."""
    body: bytes
    """The exact bytes of the region, for a program; empty for a search."""
    header: str
    """Address, selector as resolved, totals, capture: said beside the text, never in it."""
    addresses: tuple[str, ...] = ()
    """Addresses that the text prints, in order."""
    complete: bool = True
    """Everything of the region is in the text."""
    hits: int = 0
    """Hits of a search, all of them."""
    for_pipe: bytes | None = None
    """For a byte selector: what a reader gets through a pipe, the bytes as they are, secrets masked."""
    handle: str = ""
    """The run it is from, 64 hex digits; empty for what is no run."""
