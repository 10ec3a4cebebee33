"""The receipt document: an in-toto Statement v1 in canonical JSON (S16.1, S16.2).

`predicate.reproducible` is everything that follows from protocol, corpora, code, epoch and encoding, byte for byte on
any machine; `predicate.observed` is what may differ.
"""

import csv
import io
import os
import platform
import tempfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from importlib import metadata
from pathlib import Path
from typing import Any

import rfc8785

from referee.arms import find_arm
from referee.controls import run_controls
from referee.corpus.layout import Corpus
from referee.errors import EnvironmentProblem, RunError, UsageError
from referee.gate.rules import Evidence, decide
from referee.loop import Loss, Results
from referee.protocol import Protocol, Registration
from referee.receipts.schema import PREDICATE_TYPE, STATEMENT_TYPE, machine_problems, place_problems
from referee.receipts.subjects import subjects
from referee.receipts.table import table_digest, table_text
from referee.score import Row
from referee.summarise import by_arm, family_statistics, pairs_of, reversals, statistics, strata
from referee.tokens import RANK_DIGESTS

LOST_LISTED = 5


def conclusions(
    protocol: Protocol,
    rows: Sequence[Row],
    *,
    controls: Sequence[Mapping[str, Any]],
    expected_families: Sequence[str],
    exploratory: bool,
    committed: bool,
    protocol_changed: bool,
) -> dict[str, Any]:
    """Everything that is derived from the table: what `verify` recomputes and compares."""
    pairs = pairs_of(rows, protocol.baseline, protocol.treatment)
    family_stats = family_statistics(pairs, protocol)
    overall_stats = statistics(pairs, protocol) if pairs else {}
    families = sorted({row.family for row in rows})
    decision = decide(
        Evidence(
            protocol=protocol,
            rows=rows,
            families=family_stats,
            overall=overall_stats,
            controls=controls,
            expected_families=expected_families,
            exploratory=exploratory,
            committed=committed,
            protocol_changed=protocol_changed,
        )
    )
    readers = sorted({row.reader for row in rows})
    return {
        "cases_digest": table_digest(rows),
        "controls": [dict(control) for control in controls],
        "families": {
            family: {
                "arms": by_arm(row for row in rows if row.family == family),
                "statistics": family_stats.get(family, {}),
            }
            for family in families
        },
        "overall": {"arms": by_arm(rows), "statistics": overall_stats},
        "readers": {reader: {"arms": by_arm(row for row in rows if row.reader == reader)} for reader in readers},
        "strata": strata(rows, protocol),
        "reversals": reversals(pairs),
        "decision": decision.to_canonical(),
    }


def build_statement(
    protocol: Protocol,
    corpora: Sequence[Corpus],
    chosen: Sequence[tuple[Corpus, Any]],
    results: Results,
    *,
    registration: Registration,
    exploratory: bool,
    protocol_changed: bool,
    expected_families: Sequence[str],
    started_at: str,
    arm_specs: Mapping[str, str] | None = None,
) -> dict[str, Any]:
    """The receipt of a finished run.

    Raises:
        RunError: Its reproducible part names this machine, its user or a place on it.
    """
    specs = dict(arm_specs or {})
    controls = run_controls(protocol, chosen, results)
    derived = conclusions(
        protocol,
        results.rows,
        controls=controls,
        expected_families=expected_families,
        exploratory=exploratory,
        committed=registration.committed,
        protocol_changed=protocol_changed,
    )
    derived["failures"] = failures(protocol, results.rows, results.losses)
    found = [*place_problems(derived), *machine_problems(derived)]
    if found:
        raise RunError(f"{found[0]}; the reproducible part of a receipt is the same on every machine")
    families = {row.family for row in results.rows}
    return {
        "_type": STATEMENT_TYPE,
        "subject": subjects(families, protocol.treatment) or [_arm_subject(protocol.treatment, specs)],
        "predicateType": PREDICATE_TYPE,
        "predicate": {
            "protocol": {
                "name": protocol.name,
                "digest": protocol.digest,
                "first_commit": registration.first_commit,
                "committed": registration.committed,
                "changed": protocol_changed,
                "exploratory": exploratory,
                "expected_families": list(expected_families),
                "parameters": protocol.to_canonical(),
            },
            "corpora": [
                {
                    "name": corpus.name,
                    "version": corpus.version,
                    "manifest_digest": corpus.manifest_digest,
                    "cases": len(corpus.cases),
                    "clusters": len({case.source_repo for case in corpus.cases}),
                }
                for corpus in corpora
            ],
            "arms": {
                "baseline": _arm(protocol.baseline, specs),
                "treatment": _arm(protocol.treatment, specs),
                "others": [_arm(name, specs) for name in protocol.arms if name not in protocol.compared],
            },
            "environment": {
                "python": platform.python_version(),
                "packages_digest": packages_digest(),
                "encoding": protocol.encoding,
                "encoding_digest": RANK_DIGESTS[protocol.encoding],
            },
            "reproducible": derived,
            "observed": {
                "started_at": started_at,
                "machine": {"system": platform.system(), "processor": platform.machine()},
                "latency": {
                    arm: _percentiles([ms for _, name, ms in results.latencies if name == arm])
                    for arm in sorted({name for _, name, _ in results.latencies})
                },
                "live": [],
            },
        },
    }


def _arm(name: str, specs: Mapping[str, str]) -> dict[str, Any]:
    arm = find_arm(specs.get(name, name))
    try:
        config = dict(arm.config())
    finally:
        arm.close()
    epoch = {"epoch": config["epoch"]} if "epoch" in config else {}
    return {"name": name, **epoch, "config": config}


def _arm_subject(name: str, specs: Mapping[str, str]) -> dict[str, Any]:
    digest = sha256(rfc8785.dumps(_arm(name, specs))).hexdigest()
    return {"name": f"arm/{name}", "digest": {"sha256": digest}}


def packages_digest() -> str:
    """SHA-256 over name and version of every installed package; in the environment, never in what is compared."""
    found = sorted({f"{d.metadata['Name'].lower()}=={d.version}" for d in metadata.distributions()})
    return sha256("\n".join(found).encode()).hexdigest()


def _percentiles(times: Sequence[float]) -> dict[str, float]:
    ordered = sorted(times)

    def at(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3) if ordered else 0.0

    return {"p50_ms": at(0.5), "p95_ms": at(0.95)}


def failures(protocol: Protocol, rows: Sequence[Row], losses: Sequence[Loss]) -> list[dict[str, Any]]:
    """Episodes of the treatment that failed, with what its delivery lost; sorted by case and reader."""
    lost = {(loss.case, loss.arm): loss for loss in losses}
    uncut = {(row.case, row.reader): row.success for row in rows if row.arm == "raw"}
    found = []
    for row in rows:
        if row.arm != protocol.treatment or row.success:
            continue
        loss = lost.get((row.case, row.arm))
        found.append(
            {
                "case": row.case,
                "reader": row.reader,
                "arm": row.arm,
                "ending": row.ending,
                # Whether the same reader finds the answer in the output as it is.
                "uncut": uncut[row.case, row.reader],
                "lost": list(loss.lost[:LOST_LISTED]) if loss else [],
                "notes": list(loss.notes[:LOST_LISTED]) if loss else [],
            }
        )
    return found


def statement_bytes(statement: Mapping[str, Any]) -> bytes:
    """Canonical JSON with a line end."""
    return rfc8785.dumps(dict(statement)) + b"\n"


def reproducible_digest(statement: Mapping[str, Any]) -> str:
    """SHA-256 of the reproducible part, 64 hex digits."""
    return sha256(rfc8785.dumps(statement["predicate"]["reproducible"])).hexdigest()


def observed_text(latencies: Sequence[tuple[str, str, float]]) -> str:
    """`observed.csv`: what may differ between two runs, a row for each first delivery."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(("case", "arm", "latency_ms"))
    writer.writerows((case, arm, f"{ms:.3f}") for case, arm, ms in latencies)
    return out.getvalue()


def check_out(out: Path) -> None:
    """Whether a receipt can be written at `out`, asked before the run: nobody waits for a run that cannot be kept.

    Raises:
        UsageError: `out` is a folder or a device, or would lie below a file.
        EnvironmentProblem: Its folder cannot be made or written to.
    """
    if out.is_dir():
        raise UsageError(f"--out {out}: is a folder; give a file such as {out / 'receipt.json'}")
    if out.exists() and not out.is_file():
        raise UsageError(f"--out {out}: is no plain file; give a path such as /tmp/receipt/receipt.json")
    if out.name in _TABLES:
        raise UsageError(f"--out {out}: {out.name} is the name of a table beside it; give a name such as receipt.json")
    other = next((path for path in sorted(out.parent.glob("*.json")) if path != out and _is_receipt(path)), None)
    if other is not None:
        raise UsageError(f"--out {out}: {other.name} and its tables lie there; give a folder of its own")
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        with tempfile.NamedTemporaryFile(prefix=f".{out.name}.", suffix=".partial", dir=out.parent) as probe:
            probe.write(b"\n")
    except (FileExistsError, NotADirectoryError):
        raise UsageError(f"--out {out}: {out.parent} is no folder; give a path below a folder") from None
    except OSError as error:
        raise EnvironmentProblem(
            f"--out {out}: {out.parent} cannot be written to ({error.strerror or error}); give another place"
        ) from None


def _is_receipt(path: Path) -> bool:
    try:
        return PREDICATE_TYPE.encode() in path.read_bytes()
    except OSError:
        return False


_TABLES = ("cases.csv", "observed.csv", "summary.md")


def write_receipt(
    out: Path,
    statement: Mapping[str, Any],
    rows: Sequence[Row],
    summary: str,
    latencies: Sequence[tuple[str, str, float]] = (),
) -> None:
    """The receipt at `out`, its tables and summary beside it: all written beside first, then renamed, it last.

    Raises:
        EnvironmentProblem: They cannot be written; what was there before stays.
    """
    contents = {
        "cases.csv": table_text(rows).encode(),
        "observed.csv": observed_text(latencies).encode(),
        "summary.md": summary.encode(),
        out.name: statement_bytes(statement),
    }
    written: dict[str, str] = {}
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        for name, data in contents.items():
            written[name] = _beside(out.parent / name, data)
        for name, temporary in list(written.items()):
            os.replace(temporary, out.parent / name)
            del written[name]
    except OSError as error:
        raise EnvironmentProblem(
            f"{out}: the receipt cannot be written ({error.strerror or error}); make room or give another --out"
        ) from None
    finally:
        for temporary in written.values():
            Path(temporary).unlink(missing_ok=True)


def _beside(path: Path, data: bytes) -> str:
    """A complete temporary file beside `path`; its name says that it is partial until it is renamed."""
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
    return temporary
