"""How much of what a decision hangs on a delivery keeps, inline or one way back away (S14.11, S14.12)."""

import re
from collections.abc import Sequence
from dataclasses import dataclass

import ctx
from referee.cases import Case
from referee.delivery import Capture, Delivery, WayBackError, one_channel, placeless
from referee.metrics.claims import judge_claims
from referee.metrics.visible import Text, prepared, shows, visible
from referee.tokens import Encoder

FETCHES = 400
"""Addresses that are fetched of one delivery at most; more are counted as resolved by their first ones."""
_LINES = re.compile(r"#(?P<stream>stdout|stderr) --lines (?P<first>\d+):(?P<last>\d+)$")
_WHOLE = re.compile(r"#(?P<stream>stdout|stderr)$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Preservation:
    """Metrics of one delivery; recalls over an empty set of truth are None."""

    identity_recall_inline: float | None
    identity_recall_addressable: float | None
    decisive_recall_inline: float | None
    decisive_recall_addressable: float | None
    false_claims: int
    undeclared_omissions: int
    unresolvable_addresses: int
    required_fraction: float
    containment: float
    frontier: float | None
    small_output_overhead: int | None
    """Tokens over raw, where raw is at most the inline bound; None elsewhere."""
    lost: tuple[str, ...]
    """Identities that are neither inline nor addressable."""
    notes: tuple[str, ...]
    """The false claims, omissions and dead addresses, in words."""


def preservation(
    case: Case, capture: Capture, delivery: Delivery, encoder: Encoder, *, inline_tokens: int, raw_tokens: int
) -> Preservation:
    """The metrics of `delivery`.

    Args:
        inline_tokens: Up to so many raw tokens an output counts as small.
        raw_tokens: Tokens of the output as a host shows it.
    """
    text = prepared(delivery.text)
    fetched, dead = fetch_all(capture, delivery)
    reachable = prepared("\n".join([delivery.text, *fetched]))
    items = case.truth.items
    inline = [item for item in items if visible(item, text)]
    addressable = [item for item in items if item in inline or visible(item, reachable)]
    decisive = case.truth.decisive
    claims = judge_claims(case, capture, delivery, text, reachable)
    oracle = encoder.count(oracle_text(case))
    return Preservation(
        identity_recall_inline=_share(len(inline), len(items)),
        identity_recall_addressable=_share(len(addressable), len(items)),
        decisive_recall_inline=_share(sum(shows(text, d) for d in decisive), len(decisive)),
        decisive_recall_addressable=_share(sum(shows(text, d) or shows(reachable, d) for d in decisive), len(decisive)),
        false_claims=len(claims.false_claims),
        undeclared_omissions=len(claims.undeclared),
        unresolvable_addresses=len(dead),
        required_fraction=_required(case, text, reachable),
        containment=round(1 - delivery.tokens / raw_tokens, 6) if raw_tokens else 0.0,
        frontier=round(oracle / delivery.tokens, 6) if delivery.tokens else None,
        small_output_overhead=max(0, delivery.tokens - raw_tokens) if raw_tokens <= inline_tokens else None,
        lost=tuple(item.identity for item in items if item not in addressable),
        notes=(
            *map(placeless, claims.false_claims),
            *(f"undeclared: {name}" for name in claims.undeclared[:5]),
            *map(placeless, dead),
        ),
    )


def _share(part: int, whole: int) -> float | None:
    return round(part / whole, 6) if whole else None


def oracle_text(case: Case) -> str:
    """Truth's own minimal rendering: the outcome, the counts, one line an identity."""
    counts = ", ".join(f"{number} {name}" for name, number in case.truth.counts.items())
    return "\n".join([case.truth.outcome, counts, *(item.identity for item in case.truth.items)])


def printed_addresses(delivery: Delivery) -> tuple[str, ...]:
    """Every address of a delivery: those it lists, else those its pattern finds."""
    if delivery.addresses:
        return tuple(a for a in delivery.addresses if re.fullmatch(delivery.address_pattern, a))
    if not delivery.address_pattern:
        return ()
    # Whole matches: a pattern may have groups of its own.
    return tuple(dict.fromkeys(found[0] for found in re.finditer(delivery.address_pattern, delivery.text)))


def fetch_all(capture: Capture, delivery: Delivery) -> tuple[list[str], list[str]]:
    """Texts behind all printed addresses, and those that failed or gave other bytes than they claim."""
    texts: list[str] = []
    dead: list[str] = []
    if delivery.resolver is None:
        return texts, [f"dead: {address}" for address in printed_addresses(delivery)]
    for address in printed_addresses(delivery)[:FETCHES]:
        try:
            fetched = delivery.resolver.whole(address)
        except WayBackError:
            # Why it failed may hold a folder of this machine; a receipt says the same on every one.
            dead.append(f"dead: {address}")
            continue
        claimed = claimed_bytes(capture, address)
        if claimed is not None and fetched.body is not None and fetched.body != claimed:
            dead.append(f"other bytes: {address}")
        texts.append(fetched.text)
    return texts, dead


def claimed_bytes(capture: Capture, address: str) -> bytes | None:
    """The exact bytes that an address of lines of a stream claims; None where the address claims no lines."""
    streams = {"stdout": capture.stdout, "stderr": capture.stderr}
    whole = _WHOLE.search(address)
    if whole:
        return streams[whole["stream"]]
    matched = _LINES.search(address)
    if not matched or streams[matched["stream"]][:2] in (b"\xff\xfe", b"\xfe\xff"):
        return None
    lines = streams[matched["stream"]].split(b"\n")
    ended = [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])
    return b"".join(ended[int(matched["first"]) - 1 : int(matched["last"])])


def _required(case: Case, text: Text, reachable: Text) -> float:
    """The contract's required classes over truth, the same for every arm: the mean of what is held of each."""
    required: Sequence[str] = ctx.load_contract(case.family).required(case.truth.outcome)
    parts = [part for name in required if (part := _held(name, case, text, reachable)) is not None]
    return round(sum(parts) / len(parts), 6) if parts else 1.0


def _held(name: str, case: Case, text: Text, reachable: Text) -> float | None:
    items = case.truth.items
    if name == "aggregate_counts":
        counts = {n: c for n, c in case.truth.counts.items() if n not in ("items", "unnamed", "answer") and c}
        if not counts:
            return None
        return sum(bool(re.search(rf"(?<!\d){count}(?!\d)", text.plain)) for count in counts.values()) / len(counts)
    if name == "complete_identity_census" and items:
        return sum(visible(item, text) or visible(item, reachable) for item in items) / len(items)
    if name == "location":
        placed = [item for item in items if item.line is not None and item.file]
        if not placed:
            return None
        return sum(bool(text.at_number(item.line or 0)) for item in placed) / len(placed)
    if name in ("conclusion", "standing_lines") and case.truth.decisive:
        return sum(shows(text, d) for d in case.truth.decisive) / len(case.truth.decisive)
    return None


__all__ = ["Preservation", "fetch_all", "one_channel", "oracle_text", "preservation", "printed_addresses"]
