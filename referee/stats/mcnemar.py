"""McNemar's exact test for paired success (S15.5)."""

from dataclasses import dataclass

from scipy.stats import binomtest


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
        total = self.won + self.lost
        return float(binomtest(self.won, total, 0.5).pvalue) if total else 1.0


def discordant(baseline: list[bool], treatment: list[bool]) -> Discordant:
    """Counts over pairs in the same order."""
    pairs = list(zip(baseline, treatment, strict=True))
    return Discordant(won=sum(t and not b for b, t in pairs), lost=sum(b and not t for b, t in pairs))


def loss_bound(pairs: int, *, level: float) -> float:
    """Upper bound of the loss rate where no loss was seen in `pairs` pairs: the exact (Clopper-Pearson) bound."""
    return float(binomtest(0, pairs, alternative="less").proportion_ci(level, method="exact").high) if pairs else 1.0
