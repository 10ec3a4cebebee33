"""Intervals over clusters, McNemar, adjusted p and what they decide (S15.4 to S15.6)."""

import random
from statistics import NormalDist

import numpy as np
import pytest

from referee.stats.decide import Finding, Rule, adjusted, decide_not_worse, decide_smaller, smallest_detectable
from referee.stats.interval import Interval, Method, Undefined, paired_interval, sign_flip_p
from referee.stats.mcnemar import Discordant, discordant, loss_bound

NORMAL = NormalDist()


def bca_by_hand(sums: np.ndarray, counts: np.ndarray, level: float) -> tuple[float, float]:
    """Efron's BCa bounds of a ratio of sums over clusters, written out from the paper; shares no code with scipy."""
    generator = np.random.default_rng(99)
    size = len(sums)
    observed = sums.sum() / counts.sum()
    chosen = generator.integers(0, size, size=(40_000, size))
    means = sums[chosen].sum(axis=1) / counts[chosen].sum(axis=1)
    z0 = NORMAL.inv_cdf(float(((means < observed).mean() + (means <= observed).mean()) / 2))
    left_out = np.array([np.delete(sums, i).sum() / np.delete(counts, i).sum() for i in range(size)])
    deviations = left_out.mean() - left_out
    acceleration = (deviations**3).sum() / (6 * (deviations**2).sum() ** 1.5)
    bounds = []
    for tail in ((1 - level) / 2, (1 + level) / 2):
        z = z0 + NORMAL.inv_cdf(tail)
        bounds.append(float(np.quantile(means, NORMAL.cdf(z0 + z / (1 - acceleration * z)))))
    return bounds[0], bounds[1]


def skewed(clusters: int = 14) -> tuple[list[float], list[str]]:
    """Differences of unequal clusters, most near zero, a few large."""
    generator = random.Random(5)
    differences, names = [], []
    for number in range(clusters):
        for _ in range(2 + number % 4):
            differences.append(generator.expovariate(1.0) * (5 if number % 7 == 0 else 1) - 0.8)
            names.append(f"repo-{number:02}")
    return differences, names


def test_bounds_are_bca_over_clusters() -> None:
    """S15.4, against the formula of the paper with resamples of its own."""
    differences, names = skewed()
    found = paired_interval(differences, names, level=0.95, seed=7)
    order = sorted(set(names))
    sums = np.array([sum(d for d, n in zip(differences, names, strict=True) if n == name) for name in order])
    counts = np.array([float(names.count(name)) for name in order])
    low, high = bca_by_hand(sums, counts, 0.95)
    assert found.method is Method.BCA
    assert found.difference == pytest.approx(sum(differences) / len(differences))
    assert found.low == pytest.approx(low, abs=0.03)
    assert found.high == pytest.approx(high, abs=0.05)
    # The percentile interval is another one here: the test can tell them apart.
    assert (found.pairs, found.clusters) == (len(differences), 14)


def test_whole_clusters_are_resampled_not_pairs() -> None:
    """Twenty equal pairs of a cluster are one observation: repeating them does not narrow the bounds."""
    differences, names = skewed()
    once = paired_interval(differences, names, level=0.95, seed=7)
    often = paired_interval(differences * 20, names * 20, level=0.95, seed=7)
    assert (often.low, often.high) == pytest.approx((once.low, once.high), abs=1e-9)


def test_equal_seeds_give_equal_bounds_and_the_order_of_pairs_does_not_matter() -> None:
    """S15.4: the protocol's seed, and nothing else."""
    differences, names = skewed()
    pairs = list(zip(differences, names, strict=True))
    random.Random(1).shuffle(pairs)
    shuffled = paired_interval([d for d, _ in pairs], [n for _, n in pairs], level=0.95, seed=7)
    assert shuffled == paired_interval(differences, names, level=0.95, seed=7)
    assert shuffled != paired_interval(differences, names, level=0.95, seed=8)


def test_sums_are_exact_whatever_the_order_of_a_cluster() -> None:
    """1e16 + 1 - 1e16 is 1, also where floating point says 0."""
    first = paired_interval([1e16, 1.0, -1e16, 5.0, 6.0], ["a", "a", "a", "b", "c"], level=0.95, seed=1)
    again = paired_interval([1e16, -1e16, 1.0, 5.0, 6.0], ["a", "a", "a", "b", "c"], level=0.95, seed=1)
    assert first == again
    assert first.difference == pytest.approx(12 / 5)


@pytest.mark.parametrize(
    ("differences", "clusters", "reason"),
    [
        ([], [], Undefined.FEW_CLUSTERS),
        ([1.0, 0.0, -1.0], ["a", "a", "a"], Undefined.FEW_CLUSTERS),
        ([0.0, 0.0, 0.0], ["a", "b", "c"], Undefined.NO_VARIATION),
        ([0.1, 0.2, 0.3], ["a", "b", "c"][:1] * 3, Undefined.FEW_CLUSTERS),
        ([1.0, 1.0], ["a", "b"], Undefined.NO_VARIATION),
        ([0.1 + 0.2, 0.3], ["a", "b"], Undefined.NO_VARIATION),
    ],
)
def test_bounds_are_undefined_and_say_why(differences: list[float], clusters: list[str], reason: str) -> None:
    """S15.4: fewer than two clusters, or no variation."""
    found = paired_interval(differences, clusters, level=0.95, seed=1)
    assert (found.low, found.high, found.method) == (None, None, Method.UNDEFINED)
    assert found.reason == reason
    assert decide_smaller(found) is Finding.INCONCLUSIVE


def test_few_clusters_take_the_sign_flip_distribution() -> None:
    """Below ten clusters: three clusters 1, 2, 3 deviate by -1, 0, 1; the largest flipped mean deviation is 2/3."""
    found = paired_interval([1.0, 2.0, 3.0], ["a", "b", "c"], level=0.95, seed=1)
    assert found.method is Method.SIGN_FLIP
    assert (found.low, found.high) == pytest.approx((2 - 2 / 3, 2 + 2 / 3))


def test_sign_flip_p_counts_flips_at_least_as_extreme() -> None:
    """Sums 1, 2, 3: of eight flips only the two that keep all signs alike reach 6."""
    assert sign_flip_p([1.0, 2.0, 3.0], ["a", "b", "c"], seed=1) == 2 / 8
    assert sign_flip_p([0.0, 0.0], ["a", "b"], seed=1) == 1.0
    assert sign_flip_p([1.0, 2.0], ["a", "a"], seed=1) is None


@pytest.mark.parametrize("level", [0.0, 1.0, 1.5])
def test_a_level_outside_its_range_is_refused(level: float) -> None:
    """And lengths that differ."""
    with pytest.raises(ValueError, match="level"):
        paired_interval([1.0], ["a"], level=level, seed=1)
    with pytest.raises(ValueError, match="zip"):
        paired_interval([1.0], ["a", "b"], level=0.95, seed=1)


def test_mcnemar_is_exact() -> None:
    """S15.5: 0 against 7 discordant pairs is 2 * 0.5**7; concordant pairs do not count."""
    assert Discordant(won=0, lost=7).p == pytest.approx(0.015625)
    assert Discordant(won=7, lost=0).p == pytest.approx(0.015625)
    # 1 against 5: 2 * (1 + 6) / 64.
    assert Discordant(won=1, lost=5).p == pytest.approx(0.21875)
    assert Discordant(won=0, lost=0).p == 1.0
    assert discordant([True] * 145 + [False] * 25, [True] * 138 + [False] * 32) == Discordant(won=0, lost=7)


def test_benjamini_hochberg_adjusts_what_is_defined() -> None:
    """By hand: 0.005 * 4/1, 0.01 * 4/2, 0.03 * 4/3, 0.04 * 4/4, each at most the next larger one."""
    assert adjusted([0.01, None, 0.04, 0.03, 0.005]) == pytest.approx([0.02, None, 0.04, 0.04, 0.02])
    assert adjusted([None, None]) == [None, None]
    assert adjusted([0.2]) == [0.2]


def bounds(low: float | None, high: float | None, *, reason: str = "", pairs: int = 100) -> Interval:
    """An interval with these bounds."""
    return Interval(difference=0.0, low=low, high=high, method=Method.BCA, pairs=pairs, clusters=12, reason=reason)


@pytest.mark.parametrize(
    ("low", "high", "finding"),
    [
        (0.001, 0.2, Finding.SUPERIOR),
        (-0.019, 0.2, Finding.NON_INFERIOR),
        (-0.02, 0.2, Finding.INCONCLUSIVE),
        (-0.2, -0.0199, Finding.INCONCLUSIVE),
        (-0.2, -0.021, Finding.INFERIOR),
        (-0.2, 0.2, Finding.INCONCLUSIVE),
    ],
)
def test_more_is_better_is_decided_against_the_margin(low: float, high: float, finding: Finding) -> None:
    """S15.5, margin 0.02: the lower bound above minus the margin; an interval that crosses it decides nothing."""
    assert decide_not_worse(bounds(low, high), margin=0.02, level=0.95, losses=3) == (finding, Rule.INTERVAL)


def test_a_margin_of_zero_wants_a_lower_bound_above_zero_or_no_loss() -> None:
    """Preservation: margin 0."""
    assert decide_not_worse(bounds(0.0, 0.2), margin=0, level=0.95, losses=1)[0] is Finding.INCONCLUSIVE
    assert decide_not_worse(bounds(0.0, 0.2), margin=0, level=0.95, losses=0)[0] is Finding.NON_INFERIOR
    assert decide_not_worse(bounds(-0.1, -0.01), margin=0, level=0.95, losses=9)[0] is Finding.INFERIOR


@pytest.mark.parametrize(
    ("pairs", "margin", "losses", "found"),
    [
        # 0.05 ** (1 / n) gives the bound: 0.0199 at 149 pairs, 0.0200 at 148.
        (149, 0.02, 0, (Finding.NON_INFERIOR, Rule.EXACT_LOSS_BOUND)),
        (148, 0.02, 0, (Finding.INCONCLUSIVE, Rule.NOTHING)),
        (3, 0.0, 0, (Finding.NON_INFERIOR, Rule.NO_LOSS)),
        (149, 0.02, 1, (Finding.INCONCLUSIVE, Rule.NOTHING)),
    ],
)
def test_without_variation_and_loss_the_exact_bound_decides(
    pairs: int, margin: float, losses: int, found: tuple[Finding, Rule]
) -> None:
    """Undefined bounds decide nothing; the bound on a loss rate of which none was seen may."""
    interval = bounds(None, None, reason=Undefined.NO_VARIATION, pairs=pairs)
    assert decide_not_worse(interval, margin=margin, level=0.95, losses=losses) == found


def test_too_few_clusters_decide_nothing_however_many_pairs() -> None:
    """S15.4: fewer than two clusters."""
    interval = bounds(None, None, reason=Undefined.FEW_CLUSTERS, pairs=10_000)
    assert decide_not_worse(interval, margin=0.02, level=0.95, losses=0)[0] is Finding.INCONCLUSIVE


def test_the_exact_bound_is_clopper_pearson() -> None:
    """Zero of 60: 1 - 0.05 ** (1 / 60) = 0.0487."""
    assert loss_bound(60, level=0.95) == pytest.approx(1 - 0.05 ** (1 / 60))
    assert loss_bound(0, level=0.95) == 1.0


@pytest.mark.parametrize(
    ("low", "high", "finding"),
    [
        (-0.5, -0.001, Finding.SUPERIOR),
        (-0.5, 0.0, Finding.INCONCLUSIVE),
        (0.1, 0.2, Finding.INFERIOR),
        (-0.1, 0.2, Finding.INCONCLUSIVE),
    ],
)
def test_less_is_better_wants_the_upper_bound_below_zero(low: float, high: float, finding: Finding) -> None:
    """S15.5: superiority for tokens."""
    assert decide_smaller(bounds(low, high)) is finding


def test_smallest_detectable_difference_is_two_quantiles_of_standard_errors() -> None:
    """S15.6: cluster means 0 and 2 have standard error 1; 1.95996 + 0.84162 of them at 80 % power."""
    assert smallest_detectable([0.0, 2.0], ["a", "b"], alpha=0.05) == pytest.approx(2.80158, abs=1e-4)
    assert smallest_detectable([0.0, 2.0], ["a", "a"], alpha=0.05) is None
    assert smallest_detectable([1.0, 1.0], ["a", "b"], alpha=0.05) is None
