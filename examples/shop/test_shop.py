import pytest
from shop import Line, discounted, in_words, total, with_tax


def test_total_of_nothing():
    assert total([]) == 0


def test_total_counts_pieces():
    assert total([Line("pen", 3, 120), Line("ink", 1, 899)]) == 1259


@pytest.mark.parametrize("percent", [0, 10, 25, 100])
def test_discount_is_a_share_of_the_price(percent):
    assert discounted(1000, percent) == 1000 - 10 * percent


@pytest.mark.parametrize("country", ["DE", "FR", "LU"])
def test_tax_is_added(country):
    assert with_tax(1000, country) > 1000


def test_tax_is_rounded_to_the_nearest_cent():
    basket = [Line("pen", 3, 120), Line("ink", 1, 899)]
    assert total(basket) == 1259
    assert with_tax(total(basket), "FR") == 1511
    assert with_tax(899, "DE") == 1070


def test_unknown_country_is_refused():
    with pytest.raises(ValueError, match="no rate for XX"):
        with_tax(1000, "XX")


@pytest.mark.parametrize("cents", range(0, 1500, 10))
def test_price_in_words(cents):
    euros, rest = divmod(cents, 100)
    assert in_words(cents) == f"{euros}.{rest:02} EUR"
