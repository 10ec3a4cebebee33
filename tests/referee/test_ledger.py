"""What an episode costs, against an example worked by hand (S14.10)."""

import pytest

from referee.episode import Action, Turn
from referee.ledger import Prices, cost_of

PRICES = Prices(p_in=1.0, p_read=0.1, p_write=1.25, p_out=5.0, base_tokens=1000, horizon_turns=4)


def turn(number: int, delivered: int, written: int) -> Turn:
    action = Action.DELIVER if number == 1 else Action.FOLLOW
    return Turn(turn=number, action=action, delivered_tokens=delivered, written_tokens=written)


THREE = [turn(1, 200, 10), turn(2, 50, 20), turn(3, 30, 40)]
"""b = 1000, h = 4; contexts before the turns: 1000, 1210, 1280; after the last: 1350."""


def test_delivered_counts_every_turn_and_retrieved_all_but_the_first() -> None:
    """200 + 50 + 30, and 50 + 30."""
    cost = cost_of(THREE, PRICES)
    assert (cost.tokens_delivered, cost.tokens_retrieved) == (280, 80)


def test_an_early_output_is_resident_longest() -> None:
    """200 * (3 + 4) + 50 * (2 + 4) + 30 * (1 + 4)."""
    assert cost_of(THREE, PRICES).tokens_resident == 1400 + 300 + 150


def test_uncached_every_turn_pays_its_whole_context() -> None:
    """(1000 + 200) + 10*5, (1210 + 50) + 20*5, (1280 + 30) + 40*5, then 4 * 1350."""
    assert cost_of(THREE, PRICES).cost_uncached == pytest.approx(1250 + 1360 + 1510 + 5400)


def test_cached_a_turn_pays_to_write_what_is_new_and_to_read_what_stands() -> None:
    """200*1.25 + 1000*.1 + 10*5, 50*1.25 + 1210*.1 + 20*5, 30*1.25 + 1280*.1 + 40*5, then 4 * 1350 * .1."""
    expected = (250 + 100 + 50) + (62.5 + 121 + 100) + (37.5 + 128 + 200) + 540
    assert cost_of(THREE, PRICES).priced_cost == pytest.approx(expected)


def test_one_turn_without_a_horizon() -> None:
    """The smallest episode."""
    cost = cost_of([turn(1, 7, 3)], Prices(base_tokens=0, horizon_turns=0))
    assert (cost.tokens_delivered, cost.tokens_retrieved, cost.tokens_resident) == (7, 0, 7)
    assert cost.cost_uncached == pytest.approx(7 + 15)
    assert cost.priced_cost == pytest.approx(8.75 + 15)


def test_the_order_of_deliveries_matters() -> None:
    """The same tokens, the large one last: less is resident and less is paid."""
    late = cost_of([turn(1, 30, 40), turn(2, 50, 20), turn(3, 200, 10)], PRICES)
    early = cost_of(THREE, PRICES)
    assert late.tokens_delivered == early.tokens_delivered
    assert late.tokens_resident < early.tokens_resident
