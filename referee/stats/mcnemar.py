"""McNemar's exact test for paired success (S15.5)."""

from dataclasses import dataclass

from referee.stats.distributions import binomial_p, bound_of_none_seen


@dataclass(frozen=True, kw_only=True, slots=True)
class Discordant:
    """Pairs in which one side alone succeeded."""

    won: int
    """Treatment alone."""
    lost: int
    """Baseline alone."""

    @property
    def p(self) -> float:
        """Exact two-sided p; 1 where no pair differs."""
        return binomial_p(self.won, self.won + self.lost)


def discordant(baseline: list[bool], treatment: list[bool]) -> Discordant:
    """Counts over pairs in the same order."""
    pairs = list(zip(baseline, treatment, strict=True))
    return Discordant(won=sum(t and not b for b, t in pairs), lost=sum(b and not t for b, t in pairs))


def loss_bound(pairs: int, *, level: float) -> float:
    """Upper bound of the loss rate where no loss was seen in `pairs` pairs: the exact (Clopper-Pearson) bound."""
    return bound_of_none_seen(pairs, level=level)
