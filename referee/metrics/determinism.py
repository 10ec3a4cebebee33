"""Are a delivery's bytes the same over repeats and environments? (S14.11, S15.8)

Every case is delivered again in this process, and once in a process of its own for each environment: another hash seed,
locale, time zone, terminal width, home, temporary folder and working folder. A difference is a fact about the arm.
"""

import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterable, Mapping, Sequence
from hashlib import sha256
from pathlib import Path

from referee.errors import EnvironmentProblem

TIMEOUT_SECONDS = 900
ENVIRONMENTS: tuple[Mapping[str, str], ...] = (
    {"PYTHONHASHSEED": "1", "LC_ALL": "C", "LANG": "C", "TZ": "UTC", "COLUMNS": "40"},
    {"PYTHONHASHSEED": "4242", "LC_ALL": "C.UTF-8", "LANG": "de_DE.UTF-8", "TZ": "Asia/Tokyo", "COLUMNS": "200"},
)


def text_digest(text: str) -> str:
    """SHA-256 of a delivered text."""
    return sha256(text.encode("utf-8", "surrogatepass")).hexdigest()


def digests_elsewhere(
    corpora: Sequence[Path], case_ids: Iterable[str], arm_spec: str, encoding: str
) -> list[Mapping[str, str]]:
    """For each environment: case id -> digest of the delivered text, made in a process of its own.

    Raises:
        EnvironmentProblem: A process failed; says how.
    """
    results = []
    names = sorted(case_ids)
    for environment in ENVIRONMENTS:
        with tempfile.TemporaryDirectory() as folder:
            request = {
                "corpora": [str(path.resolve()) for path in corpora],
                "cases": names,
                "arm": arm_spec,
                "encoding": encoding,
            }
            done = subprocess.run(
                [sys.executable, "-m", "referee.metrics.determinism"],
                input=json.dumps(request).encode(),
                capture_output=True,
                cwd=folder,
                env={**_kept(), **environment, "HOME": folder, "TMPDIR": folder},
                timeout=TIMEOUT_SECONDS,
                check=False,
            )
        if done.returncode:
            last = done.stderr.decode("utf-8", "replace").strip().splitlines()[-1:] or ["no message"]
            raise EnvironmentProblem(f"arm {arm_spec}: a repeat in another environment failed: {last[0]}")
        results.append(json.loads(done.stdout))
    return results


def _kept() -> dict[str, str]:
    return {name: os.environ[name] for name in ("PATH", "PYTHONPATH", "VIRTUAL_ENV") if name in os.environ}


def _serve() -> None:
    """The other process: deliver the requested cases and print their digests."""
    from referee.arms import find_arm
    from referee.corpus.layout import load_corpus
    from referee.delivery import capture_of
    from referee.tokens import encoder

    request = json.load(sys.stdin)
    wanted = set(request["cases"])
    arm = find_arm(request["arm"])
    counter = encoder(request["encoding"])
    found = {}
    try:
        for corpus in request["corpora"]:
            for case in load_corpus(corpus).cases:
                if case.id in wanted:
                    found[case.id] = text_digest(arm.deliver(capture_of(case), counter).text)
    finally:
        arm.close()
    json.dump(found, sys.stdout, sort_keys=True)


if __name__ == "__main__":
    _serve()
