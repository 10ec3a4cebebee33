"""The home of scipy: what the statistics take from it, loaded when it is first asked for.

Importing it takes longer than everything else a command does before it runs; a misspelt option should not wait for it.
"""

from collections.abc import Sequence
from statistics import NormalDist

import numpy as np


def bca_bounds(sums: np.ndarray, counts: np.ndarray, *, level: float, seed: int, resamples: int) -> tuple[float, float]:
    """BCa bounds of ``sums.sum() / counts.sum()``, resampling positions; not finite where they cannot be found."""
    from scipy import stats

    found = stats.bootstrap(
        (sums, counts),
        lambda s, n, axis=-1: s.sum(axis=axis) / n.sum(axis=axis),
        paired=True,
        vectorized=True,
        n_resamples=resamples,
        confidence_level=level,
        method="BCa",
        rng=np.random.default_rng(seed),
    ).confidence_interval
    return float(found.low), float(found.high)


def binomial_p(successes: int, trials: int) -> float:
    """Exact two-sided p of `successes` in `trials` at even odds; 1 where there is no trial."""
    from scipy import stats

    return float(stats.binomtest(successes, trials, 0.5).pvalue) if trials else 1.0


def bound_of_none_seen(trials: int, *, level: float) -> float:
    """Upper Clopper-Pearson bound of a rate of which nothing was seen in `trials`; 1 where there is no trial."""
    return 1 - (1 - level) ** (1 / trials) if trials else 1.0


def benjamini_hochberg(p_values: Sequence[float]) -> list[float]:
    """Adjusted p-values, in the order given."""
    from scipy import stats

    return [float(p) for p in stats.false_discovery_control(p_values, method="bh")]


def normal_quantile(probability: float) -> float:
    """Of the standard normal distribution."""
    return NormalDist().inv_cdf(probability)
