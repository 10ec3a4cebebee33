"""Intervals of mean paired differences, resampling whole clusters (S15.4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum

import numpy as np
from scipy import stats

RESAMPLES = 10_000
FEW_CLUSTERS = 10
"""Below this the bootstrap is too narrow: the sign-flip distribution over all clusters takes its place."""
_ALL_FLIPS = 16
"""Up to so many clusters every flip is enumerated."""


class Method(StrEnum):
    """How bounds were found."""

    BCA = "bca"
    SIGN_FLIP = "sign_flip"
    CONSTANT = "constant"
    """Every cluster shows the same difference: there is nothing to resample, and the bounds are that difference."""
    UNDEFINED = "undefined"
    """Fewer than two clusters: decides nothing."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """Bounds of a mean difference, in the unit of the differences."""

    difference: float | None
    low: float | None
    high: float | None
    method: Method
    pairs: int
    clusters: int


def cluster_sums(differences: Sequence[float], clusters: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Sum of differences and number of pairs by cluster, clusters in sorted order."""
    names = sorted(set(clusters))
    place = {name: index for index, name in enumerate(names)}
    sums, counts = np.zeros(len(names)), np.zeros(len(names))
    for difference, cluster in zip(differences, clusters, strict=True):
        sums[place[cluster]] += difference
        counts[place[cluster]] += 1
    return sums, counts


def paired_interval(differences: Sequence[float], clusters: Sequence[str], *, level: float, seed: int) -> Interval:
    """Two-sided interval for the mean paired difference.

    Args:
        differences: Treatment minus baseline, one value a pair.
        clusters: Source repository of each pair, same order.
        level: Confidence, in (0, 1).
        seed: From the protocol; equal seeds give equal bounds on every machine.
    Returns:
        BCa bounds over clusters; with fewer than ten clusters, bounds from the exact sign-flip distribution; undefined
        with fewer than two.
    Source:
        Efron (1987), Better bootstrap confidence intervals, JASA 82(397), over clusters instead of pairs.
    """
    if not 0 < level < 1:
        raise ValueError(f"level {level}: not in the open interval (0, 1)")
    pairs = len(differences)
    sums, counts = cluster_sums(differences, clusters)
    if len(sums) == 0:
        return Interval(difference=None, low=None, high=None, method=Method.UNDEFINED, pairs=0, clusters=0)
    mean = float(sums.sum() / counts.sum())
    if len(sums) < 2:
        return Interval(difference=mean, low=None, high=None, method=Method.UNDEFINED, pairs=pairs, clusters=1)
    means = sums / counts
    if np.ptp(means) == 0:
        return Interval(difference=mean, low=mean, high=mean, method=Method.CONSTANT, pairs=pairs, clusters=len(sums))
    if len(sums) < FEW_CLUSTERS:
        low, high = _sign_flip_bounds(sums, counts, level)
        method = Method.SIGN_FLIP
    else:
        found = stats.bootstrap(
            (sums, counts),
            lambda s, n, axis=-1: s.sum(axis=axis) / n.sum(axis=axis),
            paired=True,
            vectorized=True,
            n_resamples=RESAMPLES,
            confidence_level=level,
            method="BCa",
            rng=np.random.default_rng(seed),
        ).confidence_interval
        low, high = float(found.low), float(found.high)
        method = Method.BCA
    if not np.isfinite(low) or not np.isfinite(high):
        return Interval(difference=mean, low=None, high=None, method=Method.UNDEFINED, pairs=pairs, clusters=len(sums))
    return Interval(difference=mean, low=low, high=high, method=method, pairs=pairs, clusters=len(sums))


def _sign_flip_bounds(sums: np.ndarray, counts: np.ndarray, level: float) -> tuple[float, float]:
    """Bounds by inverting the sign-flip test: the mean, plus and minus the quantile of flipped deviations."""
    mean = sums.sum() / counts.sum()
    deviations = sums - mean * counts
    flips = _flips(len(sums))
    spread = np.abs(flips @ deviations) / counts.sum()
    reach = float(np.quantile(spread, level, method="higher"))
    return float(mean - reach), float(mean + reach)


def _flips(count: int) -> np.ndarray:
    """All 2^k sign vectors; shape (2^k, k)."""
    numbers = np.arange(2 ** min(count, _ALL_FLIPS))
    return 1.0 - 2.0 * ((numbers[:, None] >> np.arange(count)[None, :]) & 1)


def sign_flip_p(differences: Sequence[float], clusters: Sequence[str], *, seed: int) -> float | None:
    """Two-sided p of no mean difference, flipping whole clusters; None with fewer than two clusters."""
    sums, _ = cluster_sums(differences, clusters)
    if len(sums) < 2:
        return None
    if not sums.any():
        return 1.0
    observed = abs(sums.sum())
    if len(sums) <= _ALL_FLIPS:
        flips = _flips(len(sums))
    else:
        flips = np.random.default_rng(seed).choice([-1.0, 1.0], size=(RESAMPLES, len(sums)))
        flips[0] = 1.0
    return float((np.abs(flips @ sums) >= observed * (1 - 1e-12)).mean())
