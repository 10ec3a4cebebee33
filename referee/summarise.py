"""From rows to what a receipt reports: metrics by family, arm and reader; paired statistics; reversals (S15, S16)."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from math import exp, log
from typing import Any

from referee.errors import RunError
from referee.protocol import Protocol
from referee.score import Row
from referee.stats.decide import Finding, adjusted, decide_not_worse, decide_smaller, smallest_detectable
from referee.stats.interval import Interval, paired_interval, sign_flip_p
from referee.stats.mcnemar import Discordant, discordant

MEANS = (
    "success", "turns", "tokens_raw", "tokens_first", "tokens_delivered", "tokens_retrieved", "tokens_resident",
    "cost_uncached", "priced_cost", "identity_recall_inline", "identity_recall_addressable", "decisive_recall_inline",
    "decisive_recall_addressable", "required_fraction", "containment", "frontier",
)  # fmt: skip
SUMS = ("false_claims", "undeclared_omissions", "unresolvable_addresses", "small_output_overhead", "lost")
"""Counted once a case, whoever reads."""
DIGITS = 6


def rounded(value: float | None) -> float | None:
    """Six decimals: what every machine computes alike."""
    return None if value is None else round(float(value), DIGITS) + 0.0


def probability(value: float | None) -> float | None:
    """Six significant digits: a small p is not zero."""
    return None if value is None else float(f"{value:.6g}")


def metrics(rows: Sequence[Row]) -> dict[str, Any]:
    """Means and sums of one group of rows; an undefined mean is None, with how many rows were left out."""
    found: dict[str, Any] = {"rows": len(rows), "cases": len({row.case for row in rows})}
    undefined: dict[str, int] = {}
    for name in MEANS:
        values = [float(v) for row in rows if (v := getattr(row, name)) is not None]
        found[name] = rounded(sum(values) / len(values)) if values else None
        if len(values) < len(rows):
            undefined[name] = len(rows) - len(values)
    once = {row.case: row for row in rows}.values()
    for name in SUMS:
        found[name] = sum(getattr(row, name) or 0 for row in once)
    found["deterministic"] = all(row.deterministic for row in rows)
    found["undefined"] = undefined
    return found


def by_arm(rows: Iterable[Row]) -> dict[str, dict[str, Any]]:
    """Arm -> metrics."""
    groups: dict[str, list[Row]] = {}
    for row in rows:
        groups.setdefault(row.arm, []).append(row)
    return {arm: metrics(groups[arm]) for arm in sorted(groups)}


@dataclass(frozen=True, kw_only=True, slots=True)
class Pair:
    """Treatment and baseline of one (case, reader)."""

    baseline: Row
    treatment: Row


def pairs_of(rows: Iterable[Row], baseline: str, treatment: str) -> list[Pair]:
    """Pairs sorted by case and reader.

    Raises:
        RunError: A side is missing: an error of the run, never a silent drop.
    """
    sides: dict[tuple[str, str], dict[str, Row]] = {}
    for row in rows:
        if row.arm in (baseline, treatment):
            sides.setdefault((row.case, row.reader), {})[row.arm] = row
    pairs = []
    for key in sorted(sides):
        found = sides[key]
        if baseline not in found or treatment not in found:
            side = baseline if baseline not in found else treatment
            raise RunError(f"case {key[0]}, reader {key[1]}: no row of arm {side}; run again")
        pairs.append(Pair(baseline=found[baseline], treatment=found[treatment]))
    return pairs


def preserved(row: Row) -> float:
    """How much of identities and decisive strings is there, inline or one way back away; 1 where truth has none."""
    parts = [row.identity_recall_addressable, row.decisive_recall_addressable]
    known = [part for part in parts if part is not None]
    return sum(known) / len(known) if known else 1.0


def statistics(pairs: Sequence[Pair], protocol: Protocol) -> dict[str, dict[str, Any]]:
    """The three endpoints over some pairs, without adjusted p."""
    level = 1 - protocol.alpha
    clusters = [pair.treatment.cluster for pair in pairs]

    def interval(of: Callable[[Row], float]) -> tuple[list[float], Interval]:
        differences = [of(pair.treatment) - of(pair.baseline) for pair in pairs]
        return differences, paired_interval(differences, clusters, level=level, seed=protocol.seed)

    success, success_interval = interval(lambda row: float(row.success))
    kept, kept_interval = interval(preserved)
    tokens, tokens_interval = interval(lambda row: log(row.tokens_delivered + 1))
    flips = discordant([p.baseline.success for p in pairs], [p.treatment.success for p in pairs])
    kept_losses = sum(preserved(p.treatment) < preserved(p.baseline) for p in pairs)
    whole = _whole_cases(pairs)
    shown, rule = decide_not_worse(success_interval, margin=protocol.margin_success, level=level, losses=flips.lost)
    kept_shown, kept_rule = decide_not_worse(
        kept_interval, margin=protocol.margin_preservation, level=level, losses=kept_losses
    )
    return {
        "success": {
            **_described(success_interval, success, clusters, protocol),
            "unit": "share of episodes, more is better",
            **_flips(whole),
            "readers": {reader: _flips(found) for reader, found in _by_reader(pairs).items()},
            "verdict": str(shown),
            "rule": str(rule),
        },
        "preservation": {
            **_described(kept_interval, kept, clusters, protocol),
            "unit": "share of truth inline or addressable, more is better",
            "lost": kept_losses,
            "p": probability(sign_flip_p(kept, clusters, seed=protocol.seed)),
            "verdict": str(kept_shown),
            "rule": str(kept_rule),
        },
        "tokens": {
            **_described(tokens_interval, tokens, clusters, protocol),
            "unit": "log ratio of tokens delivered, less is better",
            "ratio": rounded(exp(tokens_interval.difference)) if tokens_interval.difference is not None else None,
            "p": probability(sign_flip_p(tokens, clusters, seed=protocol.seed)),
            "verdict": str(decide_smaller(tokens_interval)),
        },
    }


def _flips(found: Discordant) -> dict[str, Any]:
    """Pairs that one side alone won, with McNemar's exact p."""
    return {"won": found.won, "lost": found.lost, "p": probability(found.p)}


def _whole_cases(pairs: Sequence[Pair]) -> Discordant:
    """Over cases: one succeeds where every reader does (S15.5)."""
    sides: dict[str, tuple[bool, bool]] = {}
    for pair in pairs:
        baseline, treatment = sides.get(pair.treatment.case, (True, True))
        sides[pair.treatment.case] = (baseline and pair.baseline.success, treatment and pair.treatment.success)
    return discordant([baseline for baseline, _ in sides.values()], [treatment for _, treatment in sides.values()])


def _by_reader(pairs: Sequence[Pair]) -> dict[str, Discordant]:
    readers = sorted({pair.treatment.reader for pair in pairs})
    own = {reader: [pair for pair in pairs if pair.treatment.reader == reader] for reader in readers}
    return {
        reader: discordant([pair.baseline.success for pair in found], [pair.treatment.success for pair in found])
        for reader, found in own.items()
    }


def _described(
    interval: Interval, differences: Sequence[float], clusters: Sequence[str], protocol: Protocol
) -> dict[str, Any]:
    return {
        "difference": rounded(interval.difference),
        "low": rounded(interval.low),
        "high": rounded(interval.high),
        "method": str(interval.method),
        "undefined": interval.reason,
        "pairs": interval.pairs,
        "clusters": interval.clusters,
        "mde": rounded(smallest_detectable(differences, clusters, alpha=protocol.alpha)),
    }


def family_statistics(pairs: Sequence[Pair], protocol: Protocol) -> dict[str, dict[str, dict[str, Any]]]:
    """Family -> endpoint -> statistics, p adjusted over families for each endpoint."""
    families = sorted({pair.treatment.family for pair in pairs})
    found = {f: statistics([p for p in pairs if p.treatment.family == f], protocol) for f in families}
    for endpoint in ("success", "preservation", "tokens"):
        corrected = adjusted([found[family][endpoint]["p"] for family in families])
        for family, p in zip(families, corrected, strict=True):
            found[family][endpoint]["p_adjusted"] = probability(p)
    return found


def reversals(pairs: Sequence[Pair]) -> list[dict[str, Any]]:
    """Cases in which the treatment is worse, by metric, with the readers that saw it."""
    worse: dict[tuple[str, str, str], list[Pair]] = {}
    for pair in pairs:
        for metric, of in (("success", lambda row: float(row.success)), ("preservation", preserved)):
            if of(pair.treatment) < of(pair.baseline):
                worse.setdefault((pair.treatment.family, pair.treatment.case, metric), []).append(pair)
    rows = []
    for (family, case, metric), found in sorted(worse.items()):
        of = preserved if metric == "preservation" else (lambda row: float(row.success))
        rows.append(
            {
                "family": family,
                "case": case,
                "metric": metric,
                "readers": sorted({pair.treatment.reader for pair in found}),
                "baseline": rounded(of(found[0].baseline)),
                "treatment": rounded(of(found[0].treatment)),
            }
        )
    return rows


def strata(rows: Sequence[Row], protocol: Protocol) -> dict[str, dict[str, dict[str, Any]]]:
    """Stratum -> value -> success and preservation of baseline and treatment."""
    found: dict[str, dict[str, dict[str, Any]]] = {}
    for name in ("outcome", "size", "decisive_position", "stream", "hostility"):
        for value in sorted({getattr(row, name) for row in rows} - {""}):
            chosen = [row for row in rows if getattr(row, name) == value]
            entry: dict[str, Any] = {"cases": len({row.case for row in chosen})}
            for arm in (protocol.baseline, protocol.treatment):
                own = [row for row in chosen if row.arm == arm]
                if own:
                    entry[arm] = {
                        "success": rounded(sum(row.success for row in own) / len(own)),
                        "preservation": rounded(sum(map(preserved, own)) / len(own)),
                        "tokens_delivered": rounded(sum(row.tokens_delivered for row in own) / len(own)),
                    }
            found.setdefault(name, {})[value] = entry
    return found


def no_gain(overall: Mapping[str, Mapping[str, Any]]) -> bool:
    """Neither fewer tokens nor more success was shown."""
    return not any(overall[name]["verdict"] == Finding.SUPERIOR for name in ("tokens", "success"))
