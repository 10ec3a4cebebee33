"""The receipt document: an in-toto Statement v1 in canonical JSON (S16.1, S16.2).

`predicate.reproducible` is everything that follows from protocol, corpora, code, epoch and encoding, byte for byte on
any machine; `predicate.observed` is what may differ.
"""

import os
import platform
import tempfile
from collections.abc import Mapping, Sequence
from hashlib import sha256
from pathlib import Path
from typing import Any

import rfc8785

from referee.arms import find_arm
from referee.controls import run_controls
from referee.corpus.layout import Corpus
from referee.errors import RefereeError
from referee.gate.rules import Evidence, decide
from referee.protocol import Protocol, Registration
from referee.receipts.subjects import subjects
from referee.receipts.table import table_digest, table_text
from referee.run import Loss, Results
from referee.score import Row
from referee.summarise import by_arm, family_statistics, pairs_of, reversals, statistics, strata
from referee.tokens import RANK_DIGESTS

STATEMENT_TYPE = "https://in-toto.io/Statement/v1"
PREDICATE_TYPE = "urn:ctx-referee:receipt:v1"
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
) -> dict[str, Any]:
    """The receipt of a finished run."""
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
    families = {row.family for row in results.rows}
    return {
        "_type": STATEMENT_TYPE,
        "subject": subjects(families, protocol.treatment) or [_arm_subject(protocol)],
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
                "baseline": _arm(protocol.baseline),
                "treatment": _arm(protocol.treatment),
                "others": [_arm(spec) for spec in protocol.arms[2:]],
            },
            "environment": {
                "python": platform.python_version(),
                "encoding": protocol.encoding,
                "encoding_digest": RANK_DIGESTS[protocol.encoding],
            },
            "reproducible": derived,
            "observed": {
                "started_at": started_at,
                "machine": {"system": platform.system(), "processor": platform.machine()},
                "latency": {arm: _percentiles(times) for arm, times in sorted(results.latency_ms.items())},
                "live": [],
            },
        },
    }


def _arm(spec: str) -> dict[str, Any]:
    arm = find_arm(spec)
    try:
        return {"name": spec, "config": dict(arm.config())}
    finally:
        arm.close()


def _arm_subject(protocol: Protocol) -> dict[str, Any]:
    digest = sha256(rfc8785.dumps(_arm(protocol.treatment))).hexdigest()
    return {"name": f"arm/{protocol.treatment}", "digest": {"sha256": digest}}


def _percentiles(times: Sequence[float]) -> dict[str, float]:
    ordered = sorted(times)

    def at(share: float) -> float:
        return round(ordered[min(len(ordered) - 1, int(share * len(ordered)))], 3) if ordered else 0.0

    return {"p50_ms": at(0.5), "p95_ms": at(0.95)}


def failures(protocol: Protocol, rows: Sequence[Row], losses: Sequence[Loss]) -> list[dict[str, Any]]:
    """Episodes of the treatment that failed, with what its delivery lost; sorted by case and reader."""
    lost = {(loss.case, loss.arm): loss for loss in losses}
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


def write_receipt(out: Path, statement: Mapping[str, Any], rows: Sequence[Row], summary: str) -> None:
    """The receipt at `out` with its table and summary beside it, each written beside and renamed, the receipt last.

    Raises:
        RefereeError: It cannot be written; what was there before stays.
    """
    try:
        out.parent.mkdir(parents=True, exist_ok=True)
        _replace(out.parent / "cases.csv", table_text(rows).encode())
        _replace(out.parent / "summary.md", summary.encode())
        _replace(out, statement_bytes(statement))
    except OSError as error:
        raise RefereeError(f"{out}: {error.strerror or error}; nothing was overwritten in part") from None


def _replace(path: Path, data: bytes) -> None:
    descriptor, temporary = tempfile.mkstemp(prefix=f".{path.name}.", suffix=".partial", dir=path.parent)
    try:
        with os.fdopen(descriptor, "wb") as file:
            file.write(data)
            file.flush()
            os.fsync(file.fileno())
        os.chmod(temporary, 0o644)
        os.replace(temporary, path)
    except OSError:
        Path(temporary).unlink(missing_ok=True)
        raise
