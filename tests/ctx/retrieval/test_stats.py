"""`ctx stats` and `ctx explain` answer without the bytes; sums can be added up again (S8.13, S17.3)."""

import json
import shutil
from pathlib import Path

import pytest

from ctx.retrieval.stats import find_manifest, run_stats, totals
from ctx.store import Store
from ctx.store.blobs import Blobs
from tests.ctx.shell import Shell, flood
from tests.ctx.store.captures import opened, published


def test_no_blob_is_read(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S8.13: shape, sizes, captures, plan: all from the manifest."""
    store, _ = opened(tmp_path)
    manifest = published(store, flood(3000), err=flood(500), argv=("make", "all"))

    def reads(*_: object) -> bytes:
        raise AssertionError("a blob was read")

    for name in ("get", "_raw", "_path"):
        monkeypatch.setattr(Blobs, name, reads)
    found = run_stats(store, find_manifest(store, "last"))
    assert found["handle"] == manifest.handle
    assert found["captures"] == 1
    assert {name: (record["bytes"], record["lines"]) for name, record in found["streams"].items()} == {
        "stdout": (len(flood(3000)), 3000),
        "stderr": (len(flood(500)), 500),
    }
    assert found["command"] == "make all"
    assert found["plan"]["rung"] == found["rung"]
    assert totals(store)["captures"] == 1


def test_statistics_outlive_the_blobs(shell: Shell) -> None:
    """S8.13 by a second channel: the folder is not there."""
    document = shell.ingest(flood(3000), "--exit-code", "1")
    shutil.rmtree(shell.store / "blobs")
    stats = shell.stats(f"run:{document['handle']}")
    assert (stats["raw_tokens"], stats["digest_tokens"]) == (document["raw_tokens"], document["digest_tokens"])
    assert stats["rung"] == document["rung"]


def test_sums_are_sums_and_may_be_negative(shell: Shell) -> None:
    """S8.13: net is printed minus delivered minus fetched; nothing is averaged, nothing below zero is hidden."""
    documents = [shell.ingest(flood(n), "--exit-code", "1") for n in (5, 900, 2000)]
    sums = json.loads(shell.ctx("stats", "--json").stdout)
    assert sums["raw_tokens"] == sum(d["raw_tokens"] for d in documents)
    assert sums["delivered_tokens"] == sum(d["digest_tokens"] for d in documents)
    assert (sums["captures"], sums["fetched_tokens"]) == (3, 0)
    assert sums["net_tokens"] == sums["raw_tokens"] - sums["delivered_tokens"]
    run = f"run:{documents[1]['handle']}#stdout"
    shell.ctx("get", run, "--lines", "1:60")
    once = json.loads(shell.ctx("stats", "--json").stdout)["fetched_tokens"]
    assert 300 < once < 1200
    for _ in range(99):
        Store(shell.store).note_fetch(documents[1]["handle"], once)
    sums = json.loads(shell.ctx("stats", "--json").stdout)
    assert sums["net_tokens"] == sums["raw_tokens"] - sums["delivered_tokens"] - sums["fetched_tokens"]
    assert sums["fetched_tokens"] == 100 * once
    assert sums["net_tokens"] < 0
    assert f"{sums['net_tokens']:,}" in shell.ctx("stats").stdout.decode()


def test_what_a_program_fetches_is_not_a_readers_cost(shell: Shell) -> None:
    """S8.13: a redirect costs no reader anything."""
    document = shell.ingest(flood(900))
    shell.bytes_of(f"run:{document['handle']}#stdout")
    assert json.loads(shell.ctx("stats", "--json").stdout)["fetched_tokens"] == 0


def test_an_empty_store_has_sums_and_no_runs(shell: Shell) -> None:
    """S17.1: totals of nothing are zeros with status 0; a run that is not there is status 1."""
    sums = json.loads(shell.ctx("stats", "--json").stdout)
    assert set(sums.values()) == {0}
    assert shell.ctx("stats", "run:last").returncode == 1
    assert shell.ctx("explain", "run:last").returncode == 1
    assert shell.ctx("stats", "blob:0123456789ab").returncode == 2


def test_an_explanation_says_who_recognised_it_and_why_the_plan(shell: Shell) -> None:
    """S17.3."""
    document = shell.ingest(flood(3000), "--exit-code", "1", "--argv-json", '["make","all"]')
    found = json.loads(shell.ctx("explain", f"run:{document['handle']}", "--json").stdout)
    assert found["family"] == "text"
    assert found["plan"]["plan_id"] == document["plan_id"]
    assert found["plan"]["reasons"]
    assert {row["profile"].partition("/")[0] for row in found["declined"]} >= {"pytest", "lint"}
    assert found["receipt"] == document["coverage_receipt"]
    text = shell.ctx("explain", f"run:{document['handle']}").stdout.decode()
    assert text.startswith(f"run:{document['handle'][:12]} is text (")


def test_running_captures_are_listed_with_what_has_arrived(shell: Shell) -> None:
    """S1.9, field case of the server that stays up: wanted now, not at its end; `run:last` is it, labelled."""
    from tests.ctx.shell import until

    assert json.loads(shell.ctx("stats", "--running", "--json").stdout) == {"running": []}
    shell.ctx("run", "--", "echo", "before")
    child = shell.start(
        "run", "--", "sh", "-c", "echo 'ready in 312 ms'; echo warm >&2; echo up > up; sleep 3; echo end"
    )
    assert until((shell.folder / "up").exists)
    listed = json.loads(shell.ctx("stats", "--running", "--json").stdout)["running"]
    assert [(run["command"].split()[0], run["streams"]) for run in listed] == [
        ("sh", {"stdout": {"bytes": 16, "lines": 1}, "stderr": {"bytes": 5, "lines": 1}})
    ]
    assert b"  stdout: 16 bytes, 1 line so far\n" in shell.ctx("stats", "--running").stdout
    done = shell.ctx("get", "run:last#stdout")
    assert done.stdout == b"ready in 312 ms\n"
    assert b"running since 2" in done.stderr
    assert shell.ctx("get", "run:last#stderr").stdout == b"warm\n"
    assert shell.ctx("get", "run:last").stdout == b"ready in 312 ms\n"
    assert shell.ctx("search", "run:last", "ready").stdout == b"run:last#stdout --lines 1:1  | ready in 312 ms\n"
    manifest = shell.ctx("get", "run:last#manifest")
    assert (manifest.returncode, manifest.stdout) == (1, b"")
    assert b"its command still runs" in manifest.stderr
    shell.ctx("run", "--", "echo", "after")
    assert shell.bytes_of("run:last#stdout") == b"after\n", "a later run is the last one"
    out, _ = child.communicate(timeout=20)
    assert out.endswith(b"end\nwarm\n") or b"end" in out
    assert json.loads(shell.ctx("stats", "--running", "--json").stdout) == {"running": []}
