"""What an episode costs, turn by turn (S14.10).

With T turns, base b, horizon h (further turns of the session after the answer), d_i delivered and o_i written:

    context_t        = b + sum(i < t) (d_i + o_i)
    tokens_delivered = d_1 + … + d_T            tokens_retrieved = d_2 + … + d_T
    tokens_resident  = sum(i) d_i * (T - i + 1 + h)
    cost_uncached    = sum(t) [ (context_t + d_t) * p_in + o_t * p_out ]  + h * context_(T+1) * p_in
    priced_cost      = sum(t) [ d_t * p_write + context_t * p_read + o_t * p_out ] + h * context_(T+1) * p_read
"""

from collections.abc import Sequence
from dataclasses import dataclass

from referee.episode import Turn


@dataclass(frozen=True, kw_only=True, slots=True)
class Prices:
    """Ratios to the price of one uncached input token; protocol values."""

    p_in: float = 1.0
    p_read: float = 0.1
    p_write: float = 1.25
    p_out: float = 5.0
    base_tokens: int = 2000
    """b: what stands in the context before the first delivery."""
    horizon_turns: int = 10
    """h."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Cost:
    """Sums over one episode, in tokens and in prices of one input token."""

    tokens_delivered: int
    tokens_retrieved: int
    tokens_resident: int
    cost_uncached: float
    priced_cost: float


def cost_of(turns: Sequence[Turn], prices: Prices) -> Cost:
    """The cost of an episode of at least one turn."""
    delivered = [turn.delivered_tokens for turn in turns]
    written = [turn.written_tokens for turn in turns]
    horizon, count = prices.horizon_turns, len(turns)
    uncached = priced = 0.0
    context = prices.base_tokens
    for d, o in zip(delivered, written, strict=True):
        uncached += (context + d) * prices.p_in + o * prices.p_out
        priced += d * prices.p_write + context * prices.p_read + o * prices.p_out
        context += d + o
    return Cost(
        tokens_delivered=sum(delivered),
        tokens_retrieved=sum(delivered[1:]),
        tokens_resident=sum(d * (count - i + horizon) for i, d in enumerate(delivered)),
        cost_uncached=round(uncached + horizon * context * prices.p_in, 6),
        priced_cost=round(priced + horizon * context * prices.p_read, 6),
    )
