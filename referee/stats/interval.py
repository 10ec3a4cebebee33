"""Intervals of mean paired differences, resampling whole clusters (S15.4)."""

from collections.abc import Sequence
from dataclasses import dataclass
from enum import StrEnum
from math import fsum

import numpy as np

from referee.stats.distributions import bca_bounds

RESAMPLES = 10_000
FEW_CLUSTERS = 10
"""Below this the bootstrap is too narrow: the sign-flip distribution over all clusters takes its place."""
EQUAL = 1e-12
"""Cluster means that are no further apart show no variation: what summing in floating point leaves over."""
_ALL_FLIPS = 16
"""Up to so many clusters every flip is enumerated."""


class Method(StrEnum):
    """How bounds were found."""

    BCA = "bca"
    SIGN_FLIP = "sign_flip"
    UNDEFINED = "undefined"
    """There are no bounds; they decide nothing."""


class Undefined(StrEnum):
    """Why there are no bounds."""

    FEW_CLUSTERS = "fewer than two clusters"
    NO_VARIATION = "no variation between clusters"
    NOT_FINITE = "the bounds are not finite"


@dataclass(frozen=True, kw_only=True, slots=True)
class Interval:
    """Bounds of a mean difference, in the unit of the differences."""

    difference: float | None
    low: float | None
    high: float | None
    method: Method
    pairs: int
    clusters: int
    reason: str = ""
    """Why the bounds are undefined; empty where they are not."""


def cluster_sums(differences: Sequence[float], clusters: Sequence[str]) -> tuple[np.ndarray, np.ndarray]:
    """Sum of differences and number of pairs by cluster, clusters in sorted order."""
    by_cluster: dict[str, list[float]] = {}
    for difference, cluster in zip(differences, clusters, strict=True):
        by_cluster.setdefault(cluster, []).append(difference)
    names = sorted(by_cluster)
    # Exact summation: the order of the pairs must not reach the bounds.
    sums = np.array([fsum(by_cluster[name]) for name in names])
    return sums, np.array([float(len(by_cluster[name])) for name in names])


def paired_interval(differences: Sequence[float], clusters: Sequence[str], *, level: float, seed: int) -> Interval:
    """Two-sided interval for the mean paired difference.

    Args:
        differences: Treatment minus baseline, one value a pair.
        clusters: Source repository of each pair, same order.
        level: Confidence, in (0, 1).
        seed: From the protocol; equal seeds give equal bounds on every machine.
    Returns:
        BCa bounds over clusters; with fewer than ten clusters, where the bootstrap is too narrow, bounds from the exact
        sign-flip distribution; undefined with fewer than two clusters, or where all of them show the same difference.
    Raises:
        ValueError: A level outside (0, 1), or lengths that differ.
    Source:
        Efron (1987), Better bootstrap confidence intervals, JASA 82(397), over clusters instead of pairs.
    """
    if not 0 < level < 1:
        raise ValueError(f"level {level}: not in the open interval (0, 1)")
    pairs = len(differences)
    sums, counts = cluster_sums(differences, clusters)
    mean = float(sums.sum() / counts.sum()) if pairs else None

    def undefined(reason: Undefined) -> Interval:
        return Interval(
            difference=mean,
            low=None,
            high=None,
            method=Method.UNDEFINED,
            pairs=pairs,
            clusters=len(sums),
            reason=str(reason),
        )

    if len(sums) < 2:
        return undefined(Undefined.FEW_CLUSTERS)
    if np.ptp(sums / counts) <= EQUAL:
        return undefined(Undefined.NO_VARIATION)
    if len(sums) < FEW_CLUSTERS:
        low, high = _sign_flip_bounds(sums, counts, level)
        method = Method.SIGN_FLIP
    else:
        low, high = bca_bounds(sums, counts, level=level, seed=seed, resamples=RESAMPLES)
        method = Method.BCA
    if not np.isfinite(low) or not np.isfinite(high):
        return undefined(Undefined.NOT_FINITE)
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
