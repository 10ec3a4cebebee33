"""Are a delivery's bytes the same over repeats and environments? (S14.11, S15.8)

Every case is delivered again in this process, and once in a process of its own for each environment: another hash seed,
locale, time zone, terminal width, home, temporary folder and working folder. A difference is a fact about the arm.
A few cases are judged there from beginning to end as well, by every arm and reader: rows that differ are a fact about
the referee, and a control of it.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from referee.errors import EnvironmentProblem
from referee.protocol import Protocol

TIMEOUT_SECONDS = 900
ENVIRONMENTS: tuple[Mapping[str, str], ...] = (
    {"PYTHONHASHSEED": "1", "LC_ALL": "C", "LANG": "C", "TZ": "UTC", "COLUMNS": "40"},
    {"PYTHONHASHSEED": "4242", "LC_ALL": "C.UTF-8", "LANG": "de_DE.UTF-8", "TZ": "Asia/Tokyo", "COLUMNS": "200"},
)


def text_digest(text: str) -> str:
    """SHA-256 of a delivered text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


@dataclass(frozen=True, kw_only=True, slots=True)
class Elsewhere:
    """What one other environment gave."""

    digests: Mapping[str, str]
    """Case id -> digest of the delivered text."""
    rows: tuple[tuple[str, ...], ...]
    """Cells of the rows of the cases that were judged there from beginning to end."""


def runs_elsewhere(
    corpora: Sequence[Path],
    case_ids: Iterable[str],
    arm_spec: str,
    protocol: Protocol,
    *,
    arm_specs: Mapping[str, str],
    judged: Sequence[str],
) -> list[Elsewhere]:
    """Every environment's deliveries and rows, made in processes of their own that run side by side.

    Args:
        arm_specs: Name of an arm -> what makes it in another process, where that is not its name.
        judged: Cases that are judged there too, by every arm and reader.
    Raises:
        EnvironmentProblem: A process failed; says how.
    """
    request = {
        "corpora": [str(path.resolve()) for path in corpora],
        "cases": sorted(case_ids),
        "arm": arm_spec,
        "arm_specs": dict(arm_specs),
        "protocol": protocol.to_canonical(),
        "judged": list(judged),
    }
    with ThreadPoolExecutor(max_workers=len(ENVIRONMENTS)) as pool:
        return list(pool.map(lambda environment: _elsewhere(environment, request), ENVIRONMENTS))


def _elsewhere(environment: Mapping[str, str], request: Mapping[str, object]) -> Elsewhere:
    with tempfile.TemporaryDirectory() as folder:
        try:
            done = subprocess.run(
                [sys.executable, "-m", "referee.metrics.determinism"],
                input=json.dumps(request).encode(),
                capture_output=True,
                cwd=folder,
                env={**_kept(), **environment, "HOME": folder, "TMPDIR": folder},
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise EnvironmentProblem(
                f"arm {request['arm']}: a repeat in another environment took over {TIMEOUT_SECONDS} s"
            ) from None
    if done.returncode:
        last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no message"]
        raise EnvironmentProblem(f"arm {request['arm']}: a repeat in another environment failed: {last[0]}")
    answer = json.loads(done.stdout)
    return Elsewhere(digests=answer["digests"], rows=tuple(tuple(row) for row in answer["rows"]))


def _kept() -> dict[str, str]:
    return {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "VIRTUAL_ENV") if name in os.environ}


def _serve() -> None:
    """The other process: deliver the requested cases and print their digests; judge some of them to the end."""
    from referee.arms import find_arm
    from referee.corpus.layout import load_corpus
    from referee.delivery import capture_of
    from referee.loop import judge_case
    from referee.protocol import protocol_from_canonical
    from referee.score import cells, sorted_rows
    from referee.tokens import encoder

    request = json.load(sys.stdin)
    wanted = set(request["cases"])
    protocol = protocol_from_canonical(request["protocol"])
    arm = find_arm(request["arm"])
    counter = encoder(protocol.encoding)
    digests, rows = {}, []
    budget = protocol.budget_tokens or None
    try:
        for corpus in request["corpora"]:
            for case in load_corpus(corpus).cases:
                if case.id in wanted:
                    digests[case.id] = text_digest(arm.deliver(capture_of(case), counter, budget).text)
                if case.id in request["judged"]:
                    rows += judge_case(case, protocol, request["arm_specs"]).rows
    finally:
        arm.close()
    json.dump({"digests": digests, "rows": [cells(row) for row in sorted_rows(rows)]}, sys.stdout, sort_keys=True)


if __name__ == "__main__":
    _serve()
