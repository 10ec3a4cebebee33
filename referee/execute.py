"""One run from corpus folders to a receipt: the body of `referee run`, of `referee.run`, and of `--rerun`."""

import json
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from hashlib import sha256
from pathlib import Path
from typing import Any

from referee.arms import ARMS, find_arm
from referee.arms.command import load_arm_file
from referee.corpus.layout import Corpus
from referee.errors import CorpusError, UsageError
from referee.loop import WORKERS, Results, chosen_cases, load_checked, run_cases
from referee.protocol import CorpusRef, Protocol, Registration, load_protocol, registration_of
from referee.receipts.statement import build_statement, write_receipt
from referee.receipts.summary import markdown_text
from referee.score import Row

JUDGED_FAMILIES = ("lint", "pytest", "text")
"""Families whose profiles are shipped: a run of the whole protocol needs cases of each."""
Progress = Callable[[int, int], None]


@dataclass(frozen=True, kw_only=True, slots=True)
class Receipt:
    """A finished run."""

    statement: dict[str, Any]
    rows: tuple[Row, ...]
    latencies: tuple[tuple[str, str, float], ...] = ()
    """(case, arm, milliseconds of its first delivery): observed."""

    @property
    def verdict(self) -> str:
        """`promote`, `hold` or `reject`."""
        return str(self.statement["predicate"]["reproducible"]["decision"]["verdict"])


@dataclass(frozen=True, kw_only=True, slots=True)
class Request:
    """What the caller of a run asked for."""

    corpora: tuple[Path, ...]
    protocol_file: Path | None = None
    arms: tuple[str, ...] = ()
    """Baseline, treatment, further ones; only without a protocol file."""
    readers: tuple[str, ...] = ()
    cases: tuple[str, ...] = ()
    families: tuple[str, ...] = ()
    workers: int | None = None


def execute(request: Request, progress: Progress = lambda done, total: None) -> Receipt:
    """Verify corpora, run every case, build the receipt.

    Raises:
        UsageError: A protocol, arm, reader, case or family that does not fit.
        CorpusError: A corpus that may not be judged on; refused before any episode.
    """
    if not request.corpora:
        raise UsageError("no corpus; give --corpus DIR, such as corpora/core")
    corpora = load_checked(request.corpora)
    protocol, registration, arm_specs = _protocol(request, corpora)
    exploratory = request.protocol_file is None or bool(request.cases or request.families or request.readers)
    chosen = chosen_cases(corpora, request.cases, request.families)
    if not chosen:
        raise UsageError("no case is left to judge; widen --case or --family")
    workers = WORKERS if request.workers is None else request.workers
    started_at = datetime.now(UTC).isoformat(timespec="seconds").replace("+00:00", "Z")
    results: Results = run_cases(protocol, chosen, workers=workers, progress=progress, arm_specs=arm_specs)
    statement = build_statement(
        protocol,
        corpora,
        chosen,
        results,
        registration=registration,
        exploratory=exploratory,
        protocol_changed=_changed(request.protocol_file, protocol),
        expected_families=() if exploratory else JUDGED_FAMILIES,
        started_at=started_at,
        arm_specs=arm_specs,
    )
    return Receipt(statement=statement, rows=tuple(results.rows), latencies=tuple(results.latencies))


def corpora_of(protocol_file: Path) -> tuple[Path, ...]:
    """Where the corpora that a protocol pins lie in a project: `corpora/<name>` beside the protocol's folder."""
    base = protocol_file.resolve().parent.parent / "corpora"
    return tuple(base / pinned.name for pinned in load_protocol(protocol_file).corpora)


def _named_arms(protocol: Protocol, base: Path) -> tuple[Protocol, dict[str, str]]:
    """The protocol with arm files under their names, and where the files are: a path is another one elsewhere."""
    specs: dict[str, str] = {}
    digests: dict[str, str] = {}
    known = {entry.name for entry in ARMS}

    def named(spec: str) -> str:
        if not spec.endswith(".toml"):
            find_arm(spec).close()
            return spec
        path = next((p for p in (Path(spec), base / spec) if p.exists()), Path(spec))
        name = load_arm_file(path).name
        if name in known or specs.get(name, str(path.resolve())) != str(path.resolve()):
            raise UsageError(f"arm file {spec}: name {name!r} is taken by another arm; give it one of its own")
        specs[name] = str(path.resolve())
        digests[name] = sha256(path.read_bytes()).hexdigest()
        return name

    return (
        replace(
            protocol,
            baseline=named(protocol.baseline),
            treatment=named(protocol.treatment),
            others=tuple(named(spec) for spec in protocol.others),
            arm_files=digests,
        ),
        specs,
    )


def _protocol(request: Request, corpora: Sequence[Corpus]) -> tuple[Protocol, Registration, dict[str, str]]:
    if request.protocol_file is None:
        if len(request.arms) < 2:
            raise UsageError("two arms are compared: give --arm BASELINE --arm TREATMENT, or --protocol FILE")
        protocol = Protocol(
            name="exploratory",
            corpora=tuple(CorpusRef(name=c.name, version=c.version) for c in corpora),
            baseline=request.arms[0],
            treatment=request.arms[1],
            others=request.arms[2:],
        )
        registration = Registration(first_commit="", committed=False)
    else:
        protocol = load_protocol(request.protocol_file)
        if request.arms and request.arms != (protocol.baseline, protocol.treatment, *protocol.others):
            raise UsageError(f"--arm: protocol {protocol.name} fixes its arms; leave --arm out")
        _check_corpora(protocol, corpora)
        registration = registration_of(request.protocol_file)
    if request.readers:
        unknown = [reader for reader in request.readers if reader not in protocol.readers]
        if unknown:
            raise UsageError(f"--reader {unknown[0]}: no such reader; known: {', '.join(protocol.readers)}")
        protocol = replace(protocol, readers=tuple(r for r in protocol.readers if r in request.readers))
    base = request.protocol_file.parent if request.protocol_file else Path()
    named, specs = _named_arms(protocol, base)
    return named, registration, specs


def _check_corpora(protocol: Protocol, corpora: Sequence[Corpus]) -> None:
    """The corpora given are those the protocol pins; a private corpus takes the place of none of them."""
    problems = []
    given = {corpus.name: corpus for corpus in corpora}
    for pinned in protocol.corpora:
        corpus = given.get(pinned.name)
        if corpus is None:
            problems.append(f"corpus {pinned.name}: protocol {protocol.name} needs it; give --corpus with its folder")
        elif corpus.version != pinned.version:
            problems.append(f"corpus {pinned.name}: version {corpus.version}, the protocol pins {pinned.version}")
        elif pinned.manifest_digest and corpus.manifest_digest != pinned.manifest_digest:
            problems.append(f"corpus {pinned.name}: another manifest than the protocol pins")
    for name in given:
        if name not in {pinned.name for pinned in protocol.corpora}:
            problems.append(
                f"corpus {name}: protocol {protocol.name} does not name it; leave --protocol out to judge on it"
            )
    if problems:
        raise CorpusError(problems)


def _changed(protocol_file: Path | None, protocol: Protocol) -> bool:
    """Whether a receipt of this protocol's name was made under another digest."""
    if protocol_file is None:
        return False
    folder = protocol_file.resolve().parent.parent / "receipts" / protocol.name
    for path in sorted(folder.glob("*/receipt.json")):
        try:
            recorded = json.loads(path.read_bytes())["predicate"]["protocol"]["digest"]
        except (OSError, ValueError, KeyError, TypeError):
            continue
        if recorded != protocol.digest:
            return True
    return False


def save(receipt: Receipt, out: Path) -> None:
    """The receipt at `out`, its table and summary beside it."""
    write_receipt(out, receipt.statement, receipt.rows, markdown_text(receipt.statement), receipt.latencies)
