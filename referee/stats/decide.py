"""What an interval decides: non-inferior, superior, inferior, or nothing (S15.5)."""

from collections.abc import Sequence
from enum import StrEnum

import numpy as np

from referee.stats.distributions import benjamini_hochberg, normal_quantile
from referee.stats.interval import EQUAL, Interval, Undefined, cluster_sums
from referee.stats.mcnemar import loss_bound


class Finding(StrEnum):
    """What was shown of the treatment."""

    SUPERIOR = "superior"
    NON_INFERIOR = "non_inferior"
    INFERIOR = "inferior"
    INCONCLUSIVE = "inconclusive"


class Rule(StrEnum):
    """What a finding rests on."""

    INTERVAL = "interval"
    EXACT_LOSS_BOUND = "exact_loss_bound"
    """No variation and no loss: the exact bound on the loss rate is within the margin."""
    NO_LOSS = "no_loss"
    """No variation, no loss, and a margin of zero, which asks for exactly that."""
    NOTHING = "nothing"
    """Undefined: nothing was shown."""


def decide_not_worse(interval: Interval, *, margin: float, level: float, losses: int) -> tuple[Finding, Rule]:
    """A difference where more is better, against a margin.

    Non-inferior where the lower bound is above minus the margin. Undefined bounds decide nothing; where they are
    undefined because no cluster differs from another and no pair was lost, the exact bound on the loss rate decides.

    Args:
        losses: Pairs in which the treatment is worse.
    """
    if interval.low is None or interval.high is None:
        if interval.reason != Undefined.NO_VARIATION or losses:
            return Finding.INCONCLUSIVE, Rule.NOTHING
        if margin == 0:
            return Finding.NON_INFERIOR, Rule.NO_LOSS
        if loss_bound(interval.pairs, level=level) <= margin:
            return Finding.NON_INFERIOR, Rule.EXACT_LOSS_BOUND
        return Finding.INCONCLUSIVE, Rule.NOTHING
    if interval.low > 0:
        return Finding.SUPERIOR, Rule.INTERVAL
    if interval.low > -margin or (interval.low >= 0 and losses == 0):
        return Finding.NON_INFERIOR, Rule.INTERVAL
    return (Finding.INFERIOR if interval.high < -margin else Finding.INCONCLUSIVE), Rule.INTERVAL


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
    corrected = iter(benjamini_hochberg(known))
    return [None if p is None else next(corrected) for p in p_values]


def smallest_detectable(
    differences: Sequence[float], clusters: Sequence[str], *, alpha: float, power: float = 0.8
) -> float | None:
    """The smallest mean difference this corpus could have shown: (z_alpha/2 + z_power) standard errors over clusters.

    None with fewer than two clusters, or where they do not vary.
    """
    sums, counts = cluster_sums(differences, clusters)
    if len(sums) < 2:
        return None
    means = sums / counts
    if np.ptp(means) <= EQUAL:
        return None
    error = float(np.std(means, ddof=1)) / float(np.sqrt(len(means)))
    return (normal_quantile(1 - alpha / 2) + normal_quantile(power)) * error
