"""What a reader fetched later is taken off the saving, however it named the run (S8.13)."""

import json
import os
import subprocess
import sys
from pathlib import Path

CTX = Path(sys.executable).parent / "ctx"


def test_fetches_by_handle_by_last_and_by_search_count_alike(tmp_path: Path) -> None:
    """The same region costs the same under both names of its run; a search costs what it prints; nothing else does."""

    def ctx(*words: str, stdin: bytes = b"") -> bytes:
        done = subprocess.run(
            [str(CTX), *words],
            input=stdin,
            stdout=subprocess.PIPE,
            env={**os.environ, "CTX_STORE": str(tmp_path / "store"), "CTX_EPOCH": ""},
            cwd=tmp_path,
            timeout=60,
            check=True,
        )
        return done.stdout

    def sums() -> dict[str, int]:
        return dict(json.loads(ctx("stats", "--json")))

    handle = json.loads(ctx("ingest", "--json", stdin=b"".join(b"line %d of a log\n" % n for n in range(900))))[
        "handle"
    ]
    before = sums()
    assert before["fetched_tokens"] == 0

    ctx("get", f"run:{handle}#stdout", "--lines", "40:60")
    by_handle = sums()["fetched_tokens"]
    assert by_handle > 0
    ctx("get", "run:last#stdout", "--lines", "40:60")
    assert sums()["fetched_tokens"] == 2 * by_handle

    ctx("search", "run:last", "line 77 of")
    after = sums()
    assert after["fetched_tokens"] > 2 * by_handle
    assert after["net_tokens"] == after["raw_tokens"] - after["delivered_tokens"] - after["fetched_tokens"]
    assert (after["raw_tokens"], after["delivered_tokens"]) == (before["raw_tokens"], before["delivered_tokens"])
