"""The loop over case x arm x reader (S14, S15). The clock is read here, and only for what is observed."""

import os
from collections.abc import Callable, Iterable, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field
from pathlib import Path

from referee.arms import find_arm
from referee.cases import Case
from referee.corpus.layout import Corpus, load_corpus
from referee.corpus.verify import verify_corpus
from referee.delivery import capture_of, one_channel
from referee.episode import Episode
from referee.errors import CorpusError, UsageError
from referee.grading import succeeded
from referee.ledger import cost_of
from referee.metrics.determinism import digests_elsewhere, text_digest
from referee.metrics.preservation import preservation
from referee.protocol import Protocol
from referee.readers.scripted import READERS, read
from referee.score import Row, sorted_rows
from referee.tokens import encoder

WORKERS = max(1, min(4, os.cpu_count() or 1))


@dataclass(frozen=True, kw_only=True, slots=True)
class Loss:
    """What one arm lost or claimed on one case, in words: for the list of failures."""

    case: str
    arm: str
    lost: tuple[str, ...]
    notes: tuple[str, ...]


@dataclass(slots=True)
class Results:
    """Everything a run found."""

    rows: list[Row] = field(default_factory=list)
    losses: list[Loss] = field(default_factory=list)
    episodes: dict[tuple[str, str, str], Episode] = field(default_factory=dict)
    """(case, arm, reader) -> episode; for controls and for people, not part of a receipt."""
    latency_ms: dict[str, list[float]] = field(default_factory=dict)
    """Arm -> time of each first delivery; observed."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Task:
    corpus: Path
    case_id: str
    arms: tuple[str, ...]
    protocol: Protocol


def load_checked(folders: Sequence[Path]) -> tuple[Corpus, ...]:
    """Corpora that verify; a corpus with one changed byte is refused before any episode.

    Raises:
        CorpusError: Every problem found.
    """
    corpora = []
    for folder in folders:
        problems = verify_corpus(folder)
        if problems:
            raise CorpusError(problems)
        corpora.append(load_corpus(folder))
    return tuple(corpora)


def chosen_cases(corpora: Iterable[Corpus], cases: Sequence[str], families: Sequence[str]) -> list[tuple[Corpus, Case]]:
    """The cases to judge, all of them where nothing is chosen.

    Raises:
        UsageError: A case or family that is not there.
    """
    everything = [(corpus, case) for corpus in corpora for case in corpus.cases]
    known_families = sorted({case.family for _, case in everything})
    for family in families:
        if family not in known_families:
            raise UsageError(f"family {family!r}: not in this corpus; it has {', '.join(known_families)}")
    known_cases = {case.id for _, case in everything}
    for name in cases:
        if name not in known_cases:
            near = sorted(known for known in known_cases if known.split("/")[-1][:4] == name.split("/")[-1][:4])[:3]
            raise UsageError(f"case {name!r}: not in this corpus; near it: {', '.join(near) or 'none'}")
    return [
        (corpus, case)
        for corpus, case in everything
        if (not cases or case.id in cases) and (not families or case.family in families)
    ]


def run_cases(
    protocol: Protocol,
    chosen: Sequence[tuple[Corpus, Case]],
    *,
    workers: int = WORKERS,
    progress: Callable[[int, int], None] = lambda done, total: None,
) -> Results:
    """Every case by every arm and reader of the protocol; rows sorted by case, arm, reader."""
    tasks = [
        _Task(corpus=Path(corpus.folder), case_id=case.id, arms=protocol.arms, protocol=protocol)
        for corpus, case in chosen
    ]
    for spec in protocol.arms:
        find_arm(spec).close()
    results = Results()
    # The largest outputs first: the pool ends together.
    order = sorted(range(len(tasks)), key=lambda i: -(len(chosen[i][1].stdout) + len(chosen[i][1].stderr)))
    if workers == 1 or len(tasks) < 4:
        for done, index in enumerate(order, 1):
            _collect(results, _judge(tasks[index]))
            progress(done, len(tasks))
    else:
        with ProcessPoolExecutor(max_workers=workers) as pool:
            for done, found in enumerate(pool.map(_judge, [tasks[i] for i in order]), 1):
                _collect(results, found)
                progress(done, len(tasks))
    _mark_nondeterministic(results, protocol, chosen)
    results.rows = sorted_rows(results.rows)
    results.losses.sort(key=lambda loss: (loss.case, loss.arm))
    return results


def _collect(results: Results, found: Results) -> None:
    results.rows += found.rows
    results.losses += found.losses
    results.episodes.update(found.episodes)
    for arm, times in found.latency_ms.items():
        results.latency_ms.setdefault(arm, []).extend(times)


def _judge(task: _Task) -> Results:
    """One case by every arm and reader."""
    case = next(case for case in _corpus(task.corpus).cases if case.id == task.case_id)
    counter = encoder(task.protocol.encoding)
    capture = capture_of(case)
    raw_tokens = counter.count(one_channel(capture))
    results = Results()
    for spec in task.arms:
        arm = find_arm(spec)
        try:
            delivery = arm.deliver(capture, counter)
            repeats = [arm.deliver(capture, counter).text for _ in range(task.protocol.repeats - 1)]
            kept = preservation(
                case,
                capture,
                delivery,
                counter,
                inline_tokens=task.protocol.inline_tokens,
                raw_tokens=raw_tokens,
            )
            results.latency_ms.setdefault(spec, []).append(delivery.seconds * 1000)
            if kept.lost or kept.notes:
                results.losses.append(Loss(case=case.id, arm=spec, lost=kept.lost, notes=kept.notes))
            for reader in READERS:
                if reader.name not in task.protocol.readers:
                    continue
                episode = read(
                    reader,
                    case_id=case.id,
                    question=case.question,
                    capture=capture,
                    arm=spec,
                    delivery=delivery,
                    encoder=counter,
                )
                results.episodes[(case.id, spec, reader.name)] = episode
                cost = cost_of(episode.turns, task.protocol.prices)
                results.rows.append(
                    Row(
                        case=case.id,
                        family=case.family,
                        cluster=case.source_repo or "unknown",
                        arm=spec,
                        reader=reader.name,
                        success=succeeded(case, episode),
                        ending=str(episode.ending),
                        turns=len(episode.turns),
                        tokens_raw=raw_tokens,
                        tokens_first=delivery.tokens,
                        tokens_delivered=cost.tokens_delivered,
                        tokens_retrieved=cost.tokens_retrieved,
                        tokens_resident=cost.tokens_resident,
                        cost_uncached=cost.cost_uncached,
                        priced_cost=cost.priced_cost,
                        identity_recall_inline=kept.identity_recall_inline,
                        identity_recall_addressable=kept.identity_recall_addressable,
                        decisive_recall_inline=kept.decisive_recall_inline,
                        decisive_recall_addressable=kept.decisive_recall_addressable,
                        false_claims=kept.false_claims,
                        undeclared_omissions=kept.undeclared_omissions,
                        unresolvable_addresses=kept.unresolvable_addresses,
                        required_fraction=kept.required_fraction,
                        containment=kept.containment,
                        frontier=kept.frontier,
                        small_output_overhead=kept.small_output_overhead,
                        deterministic=all(text == delivery.text for text in repeats),
                        lost=len(kept.lost),
                        outcome=case.truth.outcome,
                        size=case.strata.get("size", ""),
                        decisive_position=case.strata.get("decisive_position", ""),
                        hostility=case.strata.get("hostility", ""),
                        arm_error=delivery.arm_error,
                    )
                )
        finally:
            arm.close()
    return results


_LOADED: dict[Path, Corpus] = {}


def _corpus(folder: Path) -> Corpus:
    if folder not in _LOADED:
        _LOADED[folder] = load_corpus(folder)
    return _LOADED[folder]


def _mark_nondeterministic(results: Results, protocol: Protocol, chosen: Sequence[tuple[Corpus, Case]]) -> None:
    """Deliver the treatment again in other environments, and mark the cases whose bytes differ."""
    from dataclasses import replace

    spec = protocol.treatment
    arm = find_arm(spec)
    if not arm.spec:
        return
    counter = encoder(protocol.encoding)
    here = {}
    try:
        for _, case in chosen:
            here[case.id] = text_digest(arm.deliver(capture_of(case), counter).text)
    finally:
        arm.close()
    folders = sorted({Path(corpus.folder) for corpus, _ in chosen})
    elsewhere = digests_elsewhere(folders, here, spec, protocol.encoding)
    differing = {name for found in elsewhere for name, digest in here.items() if found.get(name) != digest}
    results.rows = [
        replace(row, deterministic=False) if row.arm == spec and row.case in differing else row for row in results.rows
    ]
