"""Prints ratios of this build against sha256sum and a bare interpreter, all measured in one run on one machine.

python -m tests.bench [start] [ingest] [linear] [tokens]
"""

import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from tests.bench.pytest_log import write_log

ROOT = Path(__file__).resolve().parents[2]
BIN = Path(sys.executable).parent


def timed(argv: Sequence[str | Path], env: dict[str, str], *, runs: int) -> tuple[float, float]:
    """Median seconds and largest resident megabytes of a whole process."""
    seconds, megabytes = [], 0.0
    for _ in range(runs):
        started = time.perf_counter()
        child = subprocess.Popen([str(word) for word in argv], env=env, stdout=subprocess.DEVNULL)
        _, status, usage = os.wait4(child.pid, 0)
        child.returncode = os.waitstatus_to_exitcode(status)
        seconds.append(time.perf_counter() - started)
        megabytes = max(megabytes, usage.ru_maxrss / 1024)
    return statistics.median(seconds), megabytes


def start(folder: Path, env: dict[str, str]) -> None:
    """The fixed cost of a command."""
    bare, _ = timed([sys.executable, "-I", "-c", "pass"], env, runs=21)
    ours, _ = timed([BIN / "ctx", "run", "--", "true"], env, runs=21)
    print(f"start    ctx run -- true: {ours * 1000:.0f} ms, bare interpreter {bare * 1000:.0f} ms: {ours / bare:.1f}x")


def ingest(folder: Path, env: dict[str, str]) -> None:
    """Throughput and memory on a 100 MB report."""
    log = folder / "large.txt"
    write_log(log, passing=1_180_000, failing=200)
    argv = [BIN / "ctx", "ingest", "--argv-json", '["pytest","-v"]', "--exit-code", "1", "--stdout", log]
    reference, _ = timed(["sha256sum", log], env, runs=5)
    ours, megabytes = timed(argv, env, runs=5)
    size = log.stat().st_size / 1e6
    ratio = f"{ours / reference:.1f}x"
    print(f"ingest   {size:.0f} MB: {ours:.2f} s, sha256sum {reference:.2f} s: {ratio}, {megabytes:.0f} MB resident")


def linear(folder: Path, env: dict[str, str]) -> None:
    """Time per failure at 1,000 and at 10,000 failures."""
    each = {}
    for failing in (1_000, 10_000):
        log = folder / f"failing-{failing}.txt"
        write_log(log, passing=100, failing=failing)
        argv = [BIN / "ctx", "ingest", "--argv-json", '["pytest"]', "--exit-code", "1", "--stdout", log]
        seconds, _ = timed(argv, env, runs=3)
        each[failing] = seconds / failing
    print(
        f"linear   {each[1_000] * 1e3:.2f} ms a failure at 1,000, {each[10_000] * 1e3:.2f} ms at 10,000: "
        f"{each[10_000] / each[1_000]:.2f}x"
    )


def tokens(folder: Path, env: dict[str, str]) -> None:
    """Error of the size estimate against the pinned encoding, over the corpus."""
    from ctx.text import tok
    from referee.tokens import count_tokens

    errors = []
    for path in sorted((ROOT / "corpora" / "core" / "cases").glob("*/*/std*.txt")):
        text = path.read_bytes().decode("utf-8", "replace")
        if len(text) >= 200:
            exact = count_tokens(text, "o200k_base")
            errors.append((tok(text) - exact) / exact)
    ranked = sorted(abs(error) for error in errors)
    print(
        f"tokens   tok/v1 against o200k_base over {len(errors)} streams: mean {statistics.mean(errors):+.1%}, "
        f"mean absolute {statistics.mean(ranked):.1%}, 95th percentile {ranked[int(len(ranked) * 0.95)]:.1%}"
    )


PARTS: dict[str, Callable[[Path, dict[str, str]], None]] = {
    "start": start,
    "ingest": ingest,
    "linear": linear,
    "tokens": tokens,
}


def main(names: Sequence[str]) -> int:
    unknown = [name for name in names if name not in PARTS]
    if unknown:
        print(f"bench: no part {json.dumps(unknown[0])}; known: {', '.join(PARTS)}", file=sys.stderr)
        return 2
    with tempfile.TemporaryDirectory() as temporary:
        folder = Path(temporary)
        env = {**os.environ, "CTX_STORE": str(folder / "store")}
        for name in names or PARTS:
            PARTS[name](folder, env)
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
