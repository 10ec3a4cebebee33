"""What an interval decides: non-inferior, superior, inferior, or nothing (S15.5)."""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np
from scipy.stats import false_discovery_control

from referee.stats.interval import Interval, Method
from referee.stats.mcnemar import loss_bound


class Finding(StrEnum):
    """What was shown of the treatment."""

    SUPERIOR = "superior"
    NON_INFERIOR = "non_inferior"
    INFERIOR = "inferior"
    INCONCLUSIVE = "inconclusive"


def decide_not_worse(interval: Interval, *, margin: float, level: float, losses: int) -> Finding:
    """A difference where more is better, against a margin.

    Where every cluster shows the same difference of zero, resampling says nothing: then none of the pairs was lost, and
    the exact bound on the loss rate decides against the margin (at least 0.05; a margin of zero asks for no loss).
    """
    if interval.low is None or interval.high is None:
        return Finding.INCONCLUSIVE
    if interval.method is Method.CONSTANT:
        if interval.low > 0:
            return Finding.SUPERIOR
        if interval.low == 0 and losses == 0:
            within = margin == 0 or loss_bound(interval.pairs, level=level) <= max(margin, 0.05)
            return Finding.NON_INFERIOR if within else Finding.INCONCLUSIVE
        return Finding.INFERIOR if interval.high < -margin else Finding.NON_INFERIOR
    if interval.low > 0:
        return Finding.SUPERIOR
    if interval.low > -margin or (interval.low >= 0 and losses == 0):
        return Finding.NON_INFERIOR
    return Finding.INFERIOR if interval.high < -margin else Finding.INCONCLUSIVE


def decide_smaller(interval: Interval) -> Finding:
    """A difference where less is better: superior if its upper bound is below zero."""
    if interval.low is None or interval.high is None:
        return Finding.INCONCLUSIVE
    if interval.high < 0:
        return Finding.SUPERIOR
    return Finding.INFERIOR if interval.low > 0 else Finding.INCONCLUSIVE


def adjusted(p_values: Sequence[float | None]) -> list[float | None]:
    """Benjamini-Hochberg over the values that are defined; the others stay None."""
    known = [p for p in p_values if p is not None]
    if not known:
        return list(p_values)
    corrected = iter(false_discovery_control(known, method="bh").tolist())
    return [None if p is None else float(next(corrected)) for p in p_values]


def smallest_detectable(
    differences: Sequence[float], clusters: Sequence[str], *, alpha: float, power: float = 0.8
) -> float | None:
    """The smallest mean difference this corpus could have shown: (z_alpha/2 + z_power) standard errors over clusters.

    None with fewer than two clusters.
    """
    from scipy.stats import norm

    from referee.stats.interval import cluster_sums

    sums, counts = cluster_sums(differences, clusters)
    if len(sums) < 2:
        return None
    means = sums / counts
    error = float(np.std(means, ddof=1)) / float(np.sqrt(len(means)))
    return float((norm.ppf(1 - alpha / 2) + norm.ppf(power)) * error)
