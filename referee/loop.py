"""The loop over case x arm x reader (S14, S15). The clock is read here, and only for what is observed.

Not `run.py`: `referee.run` is the function of that name, and a module would take its place once imported.
"""

import difflib
import os
import signal
from collections import Counter
from collections.abc import Callable, Container, Iterable, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass, field, replace
from pathlib import Path

from referee.arms import find_arm
from referee.arms.base import Arm
from referee.cases import Case
from referee.corpus.layout import Corpus, load_corpus
from referee.corpus.verify import verify_corpus
from referee.delivery import Capture, capture_of, one_channel
from referee.episode import Episode
from referee.errors import CorpusError, RunError, UsageError
from referee.grading import succeeded
from referee.ledger import cost_of
from referee.metrics.determinism import runs_elsewhere, text_digest
from referee.metrics.preservation import preservation
from referee.protocol import Protocol
from referee.readers.scripted import READERS, read
from referee.score import Row, cells, sorted_rows
from referee.tokens import encoder

PROBLEMS_LISTED = 20
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
    latencies: list[tuple[str, str, float]] = field(default_factory=list)
    """(case, arm, milliseconds of the first delivery); observed."""
    digests: dict[tuple[str, str], str] = field(default_factory=dict)
    """(case, arm) -> digest of the first delivery's text."""
    repeat_problem: str = ""
    """What rows of a run in another environment differ in; empty where they are equal."""


@dataclass(frozen=True, kw_only=True, slots=True)
class _Task:
    corpus: Path
    case_id: str
    protocol: Protocol
    arm_specs: Mapping[str, str]


def load_checked(folders: Sequence[Path]) -> tuple[Corpus, ...]:
    """Corpora that verify; a corpus with one changed byte is refused before any episode.

    Raises:
        CorpusError: Every problem found.
    """
    corpora = []
    for folder in folders:
        problems = verify_corpus(folder)
        if problems:
            raise CorpusError(_refused(folder, problems))
        corpora.append(load_corpus(folder))
    return tuple(corpora)


def _refused(folder: Path, problems: Sequence[str]) -> list[str]:
    """What a corpus is refused for: the first problems, how many there are, and what to do."""
    if not folder.is_dir():
        return list(problems)
    more = f", {PROBLEMS_LISTED} listed" if len(problems) > PROBLEMS_LISTED else ""
    count = "1 problem" if len(problems) == 1 else f"{len(problems)} problems"
    advice = "restore its files, or freeze a new version with referee corpus freeze"
    return [*problems[:PROBLEMS_LISTED], f"corpus {folder}: refused, {count}{more}; {advice}"]


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
            near = difflib.get_close_matches(name, sorted(known_cases), n=3, cutoff=0.5)
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
    arm_specs: Mapping[str, str] | None = None,
) -> Results:
    """Every case by every arm and reader of the protocol; rows sorted by case, arm, reader.

    Args:
        arm_specs: Name of an arm -> what `find_arm` makes it from, where that is not its name (arm files).
    Raises:
        UsageError: An arm that is not known.
        RunError: A case id that stands in the corpora twice.
    """
    specs = dict(arm_specs or {})
    counted = Counter(case.id for _, case in chosen)
    twice = sorted(name for name, count in counted.items() if count > 1)
    if twice:
        raise RunError(f"case {twice[0]}: in more than one corpus; rename it in one of them")
    tasks = [
        _Task(corpus=Path(corpus.folder), case_id=case.id, protocol=protocol, arm_specs=specs)
        for corpus, case in chosen
    ]
    for name in protocol.arms:
        find_arm(specs.get(name, name)).close()
    results = Results()
    # The largest outputs first: the pool ends together.
    order = sorted(range(len(tasks)), key=lambda i: -(len(chosen[i][1].stdout) + len(chosen[i][1].stderr)))
    if workers == 1 or len(tasks) < 4:
        for done, index in enumerate(order, 1):
            _collect(results, _judge(tasks[index]))
            progress(done, len(tasks))
    else:
        # An interrupt is for the process that was asked to run: workers that print their own end help nobody.
        with ProcessPoolExecutor(workers, initializer=signal.signal, initargs=(signal.SIGINT, signal.SIG_IGN)) as pool:
            for done, found in enumerate(pool.map(_judge, [tasks[i] for i in order]), 1):
                _collect(results, found)
                progress(done, len(tasks))
    results.rows = sorted_rows(results.rows)
    results.losses.sort(key=lambda loss: (loss.case, loss.arm))
    results.latencies.sort()
    _compare_elsewhere(results, protocol, chosen, specs)
    return results


def _collect(results: Results, found: Results) -> None:
    results.rows += found.rows
    results.losses += found.losses
    results.latencies += found.latencies
    results.episodes.update(found.episodes)
    results.digests.update(found.digests)


def _judge(task: _Task) -> Results:
    case = next(case for case in _corpus(task.corpus).cases if case.id == task.case_id)
    return judge_case(case, task.protocol, task.arm_specs)


def judge_case(case: Case, protocol: Protocol, arm_specs: Mapping[str, str]) -> Results:
    """One case by every arm and reader; see `run_cases` for `arm_specs`."""
    counter = encoder(protocol.encoding)
    capture = capture_of(case)
    raw_tokens = counter.count(one_channel(capture))
    results = Results()
    for name in protocol.arms:
        arm = find_arm(arm_specs.get(name, name))
        try:
            _judge_arm(results, case, capture, protocol, name, arm, raw_tokens)
        finally:
            arm.close()
    return results


def _judge_arm(
    results: Results, case: Case, capture: Capture, protocol: Protocol, name: str, arm: Arm, raw_tokens: int
) -> None:
    counter, budget = encoder(protocol.encoding), protocol.budget_tokens or None
    delivery = arm.deliver(capture, counter, budget)
    repeats = [arm.deliver(capture, counter, budget).text for _ in range(protocol.repeats - 1)]
    kept = preservation(case, capture, delivery, counter, inline_tokens=protocol.inline_tokens, raw_tokens=raw_tokens)
    results.latencies.append((case.id, name, delivery.seconds * 1000))
    results.digests[(case.id, name)] = text_digest(delivery.text)
    if kept.lost or kept.notes:
        results.losses.append(Loss(case=case.id, arm=name, lost=kept.lost, notes=kept.notes))
    for reader in READERS:
        if reader.name not in protocol.readers:
            continue
        episode = read(
            reader,
            case_id=case.id,
            question=case.question,
            capture=capture,
            arm=name,
            delivery=delivery,
            encoder=counter,
        )
        results.episodes[(case.id, name, reader.name)] = episode
        cost = cost_of(episode.turns, protocol.prices)
        results.rows.append(
            Row(
                case=case.id,
                family=case.family,
                cluster=case.source_repo or "unknown",
                arm=name,
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
                stream=case.strata.get("stream", ""),
                hostility=case.strata.get("hostility", ""),
                arm_error=delivery.arm_error,
            )
        )


_LOADED: dict[Path, Corpus] = {}


def _corpus(folder: Path) -> Corpus:
    if folder not in _LOADED:
        _LOADED[folder] = load_corpus(folder)
    return _LOADED[folder]


def judged_elsewhere(chosen: Sequence[tuple[Corpus, Case]]) -> list[str]:
    """The case of middle size of each family: what is judged again in other environments, for a control."""
    by_family: dict[str, list[tuple[int, str]]] = {}
    for _, case in chosen:
        by_family.setdefault(case.family, []).append((len(case.stdout) + len(case.stderr), case.id))
    return [sorted(sized)[len(sized) // 2][1] for _, sized in sorted(by_family.items())]


def _compare_elsewhere(
    results: Results, protocol: Protocol, chosen: Sequence[tuple[Corpus, Case]], specs: Mapping[str, str]
) -> None:
    """Deliver the treatment again in other environments; mark the cases whose bytes differ, and rows that do."""
    name = protocol.treatment
    here = {case.id: results.digests[(case.id, name)] for _, case in chosen}
    judged = judged_elsewhere(chosen)
    found = runs_elsewhere(
        sorted({Path(corpus.folder) for corpus, _ in chosen}),
        here,
        specs.get(name, name),
        protocol,
        arm_specs=specs,
        judged=judged,
    )
    unequal = {case for other in found for case, digest in here.items() if other.digests.get(case) != digest}
    own = [cells(row) for row in results.rows if row.case in judged]
    results.repeat_problem = next(
        (
            f"environment {number}: {problem}"
            for number, other in enumerate(found, 1)
            if (problem := _differing(own, other.rows, name, unequal))
        ),
        "",
    )
    results.rows = [
        replace(row, deterministic=False) if row.arm == name and row.case in unequal else row for row in results.rows
    ]


def _differing(
    here: Sequence[Sequence[str]], there: Sequence[Sequence[str]], treatment: str, unequal: Container[str]
) -> str:
    """The first row that is another one in another environment; a treatment whose bytes differ has its own reason."""
    if len(here) != len(there):
        return f"{len(there)} rows instead of {len(here)}"
    for ours, theirs in zip(here, there, strict=True):
        case, arm, reader = ours[0], ours[3], ours[4]
        if list(ours) != list(theirs) and not (arm == treatment and case in unequal):
            return f"{case}, arm {arm}, reader {reader}: another result"
    return ""
