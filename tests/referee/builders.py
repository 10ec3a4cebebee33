"""Small cases, deliveries and rows, built by hand, for tests of the referee."""

import json
import shutil
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from referee.cases import AnswerType, Case, Question, Truth, TruthItem
from referee.corpus.freeze import freeze_corpus
from referee.delivery import Capture, Delivery, Fetched, WayBackError
from referee.metrics import determinism
from referee.protocol import CorpusRef, Protocol
from referee.score import Row
from referee.tokens import encoder

ROOT = Path(__file__).resolve().parents[2]
CORE = ROOT / "corpora" / "core"
ENCODING = encoder("o200k_base")
ADDRESS = r"kept:[a-z0-9]+"

ROW = Row(
    case="pytest/one",
    family="pytest",
    cluster="alpha",
    arm="ctx",
    reader="impatient",
    success=True,
    ending="answer",
    turns=1,
    tokens_raw=1000,
    tokens_first=100,
    tokens_delivered=100,
    tokens_retrieved=0,
    tokens_resident=1100,
    cost_uncached=1.0,
    priced_cost=1.0,
    identity_recall_inline=1.0,
    identity_recall_addressable=1.0,
    decisive_recall_inline=1.0,
    decisive_recall_addressable=1.0,
    false_claims=0,
    undeclared_omissions=0,
    unresolvable_addresses=0,
    required_fraction=1.0,
    containment=0.9,
    frontier=0.5,
    small_output_overhead=None,
    deterministic=True,
    lost=0,
    outcome="fail",
    size="small",
    decisive_position="middle",
    stream="stdout",
    hostility="none",
    arm_error="",
)
"""A row with nothing to complain of; tests replace what they are about."""


def one_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    """Repeat deliveries in one other environment instead of two: what a test is about may not be repeats."""
    monkeypatch.setattr(determinism, "ENVIRONMENTS", determinism.ENVIRONMENTS[1:])


def protocol(**values: Any) -> Protocol:
    """A protocol over a corpus `tiny`, `head_tail` against `ctx`."""
    fixed: dict[str, Any] = {
        "name": "test",
        "corpora": (CorpusRef(name="tiny", version="1"),),
        "baseline": "head_tail",
        "treatment": "ctx",
    }
    return Protocol(**{**fixed, **values})


def pair(case: str, cluster: str, *, family: str = "pytest", reader: str = "impatient", **sides: Any) -> list[Row]:
    """Baseline and treatment row of one case; `sides` maps a column to (baseline, treatment)."""
    base = replace(ROW, case=case, cluster=cluster, family=family, reader=reader)
    first = {column: values[0] for column, values in sides.items()}
    second = {column: values[1] for column, values in sides.items()}
    return [replace(base, arm="head_tail", **first), replace(base, arm="ctx", **second)]


def item(identity: str, **values: Any) -> TruthItem:
    """A failing test of truth, or what `values` say."""
    return TruthItem(**{"identity": identity, "kind": "failing_test", **values})


def diagnostic(file: str, line: int, message: str, *, column: int | None = None, code: str = "") -> TruthItem:
    """A diagnostic of truth."""
    place = f"{file}:{line}" + (f":{column}" if column else "")
    said = f"{code} {message}" if code else message
    return TruthItem(
        identity=f"{place}: {said}",
        kind="diagnostic",
        file=file,
        line=line,
        column=column,
        code=code,
        message=message,
    )


def question(answer: AnswerType = AnswerType.IDENTITIES, *, pattern: str = "", words: Sequence[str] = ()) -> Question:
    """A question of one type."""
    return Question(text="What went wrong?", answer=answer, pattern=pattern, words=tuple(words))


def case(
    folder: Path,
    *,
    stdout: str = "",
    items: Sequence[TruthItem] = (),
    decisive: Sequence[str] = (),
    counts: Mapping[str, int] | None = None,
    outcome: str = "fail",
    asked: Question | None = None,
    family: str = "pytest",
) -> Case:
    """A case whose streams lie in `folder`."""
    folder.mkdir(parents=True, exist_ok=True)
    (folder / "stdout.txt").write_bytes(stdout.encode())
    (folder / "stderr.txt").write_bytes(b"")
    return Case(
        id=f"{family}/one",
        family=family,
        argv=("pytest", "-q"),
        tool="pytest",
        tool_version="9",
        exit_code=1,
        ended_by="exit",
        origin="made",
        recipe="",
        source_repo="alpha",
        licence="MIT",
        question=asked or question(),
        truth=Truth(
            outcome=outcome,
            counts=counts or {},
            items=tuple(items),
            decisive=tuple(decisive),
            channel="generator",
            channel_digest="0" * 64,
        ),
        folder=folder,
    )


def capture(stdout: str = "", stderr: str = "") -> Capture:
    """A finished command with status 1."""
    return Capture(argv=("pytest", "-q"), exit_code=1, ended_by="exit", stdout=stdout.encode(), stderr=stderr.encode())


class Shelf:
    """A way back that keeps texts by address, finds lines by word, and remembers what was asked."""

    def __init__(self, kept: Mapping[str, str], searched: str = "") -> None:
        self.kept = dict(kept)
        self.searched = searched
        self.asked: list[str] = []

    def get(self, address: str) -> Fetched:
        self.asked.append(address)
        if address not in self.kept:
            raise WayBackError(f"{address}: not kept")
        return Fetched(text=self.kept[address], body=self.kept[address].encode())

    def whole(self, address: str) -> Fetched:
        return self.get(address)

    def search(self, word: str) -> Fetched:
        self.asked.append(word)
        hits = [line for line in self.searched.splitlines() if word in line]
        if not hits:
            raise WayBackError(f"{word}: no hit")
        return Fetched(text="\n".join(hits) + "\n")


def delivery(text: str, *, kept: Mapping[str, str] | None = None, searched: str = "") -> Delivery:
    """A delivery of `text`; with `kept` or `searched`, one with a way back for `kept:<name>` addresses."""
    back = Shelf(kept or {}, searched) if kept is not None or searched else None
    return Delivery(
        text=text,
        tokens=ENCODING.count(text),
        seconds=0.0,
        address_pattern=ADDRESS if back else "",
        resolver=back,
    )


def tiny_corpus(folder: Path, cases: Iterable[str]) -> Path:
    """A frozen corpus `tiny` of copies of cases of the shipped one."""
    for name in cases:
        shutil.copytree(CORE / "cases" / name, folder / "cases" / name)
    freeze_corpus(folder, "1", name="tiny")
    return folder


def made_case(corpus: Path, name: str, *, stdout: str, truth: Mapping[str, Any], **meta: Any) -> Path:
    """Write a made pytest case into an unfrozen corpus."""
    family = meta.pop("family", "pytest")
    folder = corpus / "cases" / family / name
    folder.mkdir(parents=True)
    channel = json.dumps(dict(truth), sort_keys=True).encode()
    document = {
        "id": f"{family}/{name}",
        "family": family,
        "argv": ["pytest", "-q"],
        "exit_code": 1,
        "origin": "made",
        "source_repo": name,
        "question": {
            "text": "Which tests failed?",
            "answer": {"type": "identities", "pattern": r"[\w./-]+\.py::\S.*", "scope": ""},
            "words": ["FAILED"],
        },
        **meta,
    }
    facts = {"decisive": [], "channel": "generator", "channel_digest": sha256(channel).hexdigest(), **truth}
    (folder / "meta.json").write_text(json.dumps(document))
    (folder / "truth.json").write_text(json.dumps(facts))
    (folder / "channel.json").write_bytes(channel)
    (folder / "stdout.txt").write_text(stdout)
    (folder / "stderr.txt").write_text("")
    return folder
