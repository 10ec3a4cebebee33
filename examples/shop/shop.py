"""Prices of a small shop, in cents; two of its tests fail, so that there is something to look at."""

from dataclasses import dataclass


@dataclass(frozen=True)
class Line:
    """So many pieces of one article."""

    article: str
    pieces: int
    cents: int


RATES = {"DE": 19, "FR": 20, "LU": 17}


def total(lines: list[Line]) -> int:
    """Sum of all lines, in cents."""
    return sum(line.pieces * line.cents for line in lines)


def discounted(cents: int, percent: int) -> int:
    """What is left after a discount."""
    return cents - cents * percent // 100


def with_tax(cents: int, country: str) -> int:
    """Price with the country's tax, rounded to whole cents."""
    return cents + cents * RATES[country] // 100


def in_words(cents: int) -> str:
    """`12.30 EUR`."""
    return f"{cents // 100}.{cents % 100:02} EUR"
