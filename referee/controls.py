"""Controls that run in every receipt: a referee that does not catch what is wrong on purpose proves nothing (S15.8)."""

import json
import shutil
import tempfile
from collections.abc import Iterator, Sequence
from dataclasses import replace
from pathlib import Path

from referee.cases import Case
from referee.corpus.freeze import freeze_corpus
from referee.corpus.layout import Corpus
from referee.corpus.verify import expected_answers, verify_corpus
from referee.episode import Action
from referee.gate.reasons import ReasonCode, Verdict
from referee.gate.rules import Evidence, decide
from referee.grading import succeeded
from referee.loop import Results
from referee.protocol import Protocol
from referee.readers.scripted import READERS
from referee.score import Row
from referee.summarise import family_statistics, pairs_of, statistics

Control = dict[str, object]
NAMES = (
    "raw",
    "empty",
    "lying",
    "truncating",
    "dead_address",
    "tampered_corpus",
    "shuffled_truth",
    "treatment_is_baseline",
    "repeat",
)
"""Every control, in the order of S15.8."""


def run_controls(protocol: Protocol, chosen: Sequence[tuple[Corpus, Case]], results: Results) -> list[Control]:
    """Every control, in a fixed order: name, whether it held, and what was seen."""
    found = {
        **row_controls(protocol, results.rows),
        "empty": _empty(chosen, results),
        "tampered_corpus": _tampered(chosen),
        "shuffled_truth": _shuffled(chosen, results),
        "repeat": results.repeat_problem,
    }
    return [{"name": name, "held": not found[name], "detail": found[name]} for name in NAMES]


def row_controls(protocol: Protocol, rows: Sequence[Row]) -> dict[str, str]:
    """Controls that the table alone decides, for whoever checks a receipt to decide again: name -> problem."""
    return {
        "raw": _raw(rows),
        "lying": _lying(protocol, rows),
        "truncating": _truncating(rows),
        "dead_address": _dead_address(rows),
        "treatment_is_baseline": _same(protocol, rows),
    }


def _once(rows: Sequence[Row], arm: str) -> list[Row]:
    return list({row.case: row for row in rows if row.arm == arm}.values())


def _raw(rows: Sequence[Row]) -> str:
    """Preservation 1, containment 0, no undeclared omission."""
    if not _once(rows, "raw"):
        return "no case was judged"
    for row in _once(rows, "raw"):
        recalls = (
            row.identity_recall_inline,
            row.decisive_recall_inline,
            row.identity_recall_addressable,
            row.decisive_recall_addressable,
        )
        if any(recall is not None and recall < 1 for recall in recalls):
            return f"{row.case}: the raw output does not preserve everything"
        if row.containment != 0 or row.undeclared_omissions or row.false_claims:
            return f"{row.case}: the raw output is said to omit or claim something"
    return ""


def _empty(chosen: Sequence[tuple[Corpus, Case]], results: Results) -> str:
    """No success where the answer is not empty, for readers that do not take slices of the raw output."""
    sliceless = {reader.name for reader in READERS if Action.SLICE not in reader.actions}
    answered = {case.id for _, case in chosen if expected_answers(case)}
    for row in results.rows:
        if row.arm == "empty" and row.reader in sliceless and row.case in answered and row.success:
            return f"{row.case}, reader {row.reader}: success without any text"
    return ""


def _lying(protocol: Protocol, rows: Sequence[Row]) -> str:
    """A false claim on every failing case, and the verdict that follows from it."""
    failing = [row for row in _once(rows, "liar") if row.outcome == "fail"]
    for row in failing:
        if not row.false_claims:
            return f"{row.case}: a lie was not caught"
    if not failing:
        return ""
    verdict = decide(_evidence(replace(protocol, treatment="liar"), rows))
    return "" if verdict.verdict is Verdict.REJECT else f"the lying arm is not rejected: {verdict.verdict}"


def _truncating(rows: Sequence[Row]) -> str:
    """Cases whose decisive strings stand at the end are lost, and the omissions are counted."""
    own = _once(rows, "truncating")
    for row in own:
        recall = row.decisive_recall_addressable
        if row.decisive_position == "tail" and row.tokens_first < row.tokens_raw and recall is not None and recall >= 1:
            return f"{row.case}: a silent head is said to keep the decisive end"
    incomplete = [row for row in own if row.identity_recall_inline is not None and row.identity_recall_inline < 1]
    silent = [row.case for row in incomplete if not row.undeclared_omissions]
    return f"{silent[0]}: an omission that nothing declares was not counted" if silent else ""


def _dead_address(rows: Sequence[Row]) -> str:
    """Addresses that do not resolve are counted."""
    for row in _once(rows, "dead_address"):
        if not row.unresolvable_addresses:
            return f"{row.case}: a dead address was not counted"
    return ""


def _tampered(chosen: Sequence[tuple[Corpus, Case]]) -> str:
    """One changed byte, one changed truth field, one extra file: each refused."""
    if not chosen:
        return "no case to tamper with"
    _, case = min(chosen, key=lambda pair: (len(pair[1].stdout) + len(pair[1].stderr) or 1 << 40, pair[1].id))
    with tempfile.TemporaryDirectory() as folder:
        for name, spoil in (("byte", _spoil_byte), ("truth", _spoil_truth), ("file", _spoil_listing)):
            corpus = Path(folder) / name
            target = corpus / "cases" / case.family / case.folder.name
            shutil.copytree(case.folder, target)
            freeze_corpus(corpus, "1", name="tampered")
            if verify_corpus(corpus):
                return f"{case.id}: an intact copy does not verify"
            spoil(target)
            if not verify_corpus(corpus):
                return f"{case.id}: a corpus with a changed {name} was not refused"
    return ""


def _spoil_byte(target: Path) -> None:
    path = target / "stdout.txt" if (target / "stdout.txt").stat().st_size else target / "stderr.txt"
    data = bytearray(path.read_bytes() or b" ")
    data[0] ^= 1
    path.write_bytes(bytes(data))


def _spoil_truth(target: Path) -> None:
    path = target / "truth.json"
    truth = json.loads(path.read_text(encoding="utf-8"))
    truth["outcome"] = "pass" if truth["outcome"] != "pass" else "fail"
    path.write_text(json.dumps(truth), encoding="utf-8")


def _spoil_listing(target: Path) -> None:
    (target / "extra.txt").write_text("extra", encoding="utf-8")


def _shuffled(chosen: Sequence[tuple[Corpus, Case]], results: Results) -> str:
    """Graders use truth: against another case's truth an answer is right only where the two truths agree."""
    ordered = sorted((case for _, case in chosen), key=lambda case: case.id)
    for case, other in _neighbours(ordered):
        for reader in READERS:
            episode = results.episodes.get((case.id, "raw", reader.name))
            if episode is None or not succeeded(case, episode):
                continue
            if succeeded(other, episode) and not _agree(case, other):
                return f"{case.id}: its answer is graded right against the truth of {other.id}"
    return ""


def _agree(one: Case, other: Case) -> bool:
    """Whether two truths give the same answer, in what the grader compares: places for diagnostics."""
    places = [{(item.file, item.line) for item in case.truth.items if item.line} for case in (one, other)]
    return set(expected_answers(one)) == set(expected_answers(other)) or (bool(places[0]) and places[0] == places[1])


def _neighbours(cases: Sequence[Case]) -> Iterator[tuple[Case, Case]]:
    """Each case with the next one of the same type of answer."""
    by_type: dict[str, list[Case]] = {}
    for case in cases:
        by_type.setdefault(str(case.question.answer), []).append(case)
    for group in by_type.values():
        if len(group) > 1:
            yield from zip(group, [*group[1:], group[0]], strict=True)


def _same(protocol: Protocol, rows: Sequence[Row]) -> str:
    """A treatment that is the baseline shows no difference and no gain."""
    twins = [replace(row, arm=arm) for row in rows if row.arm == protocol.baseline for arm in ("same", "twin")]
    compared = replace(protocol, baseline="same", treatment="twin")
    evidence = _evidence(compared, twins)
    if any(found["difference"] for found in evidence.overall.values()):
        return "a treatment that is the baseline differs from it"
    codes = {reason.code for reason in decide(evidence).reasons}
    return "" if ReasonCode.NO_GAIN in codes else "a treatment that is the baseline is said to gain"


def _evidence(protocol: Protocol, rows: Sequence[Row]) -> Evidence:
    pairs = pairs_of(rows, protocol.baseline, protocol.treatment)
    return Evidence(
        protocol=protocol,
        rows=rows,
        families=family_statistics(pairs, protocol),
        overall=statistics(pairs, protocol),
    )
