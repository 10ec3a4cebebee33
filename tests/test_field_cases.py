"""Every field case about one output holds, asked for as a program asks: `ctx ingest --json`, then `ctx get`."""

import json
import os
import re
import shlex
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from tests.field_cases import FOLDER, Answer, FieldCase, load, names, problems

CTX = Path(sys.executable).parent / "ctx"

LATER: dict[str, str] = {
    "identity/hook-chatter-is-not-files": "vcs: a commit that was made is a pass",
    "scale/diff-with-a-huge-deletion": "diff: files and removed lines",
    "verdict/names-with-fail-in-them": "testrun: node:test",
    "verdict/passed-on-second-try": "testrun: nextest",
}
"""Cases whose family is not built yet -> what is missing today."""

REPLIES = 60
"""Bound for following addresses; no case needs as many."""


def ctx(store: Path, *words: str) -> "subprocess.CompletedProcess[bytes]":
    env = {name: value for name, value in os.environ.items() if not name.startswith("CTX_")}
    return subprocess.run([str(CTX), *words], capture_output=True, env={**env, "CTX_STORE": str(store)}, timeout=60)


def ingest(case: FieldCase, folder: Path, store: Path) -> tuple[dict[str, Any], dict[str, Any], int]:
    for name, data in (("stdout", case.stdout), ("stderr", case.stderr)):
        (folder / name).write_bytes(data)
    done = ctx(
        store,
        *("ingest", "--json", "--graph", str(folder / "graph.json"), "--argv-json", json.dumps(case.meta["argv"])),
        *("--exit-code", str(case.meta["exit_code"]), "--stdout", str(folder / "stdout")),
        *("--stderr", str(folder / "stderr")),
    )
    assert done.returncode == 0, done.stderr.decode()
    return json.loads(done.stdout), json.loads((folder / "graph.json").read_bytes()), done.returncode


def run(case: FieldCase, store: Path) -> tuple[dict[str, Any], dict[str, Any], int]:
    """The case's own program under `ctx run`, which knows the order of arrival."""
    done = ctx(store, "run", "--json", "--", sys.executable, "-I", str(FOLDER / case.name / "gen.py"))
    return json.loads(done.stdout), {}, done.returncode


def passed_on(case: FieldCase, folder: Path, store: Path) -> bytes:
    """What a program that reads `ctx run` in a pipe gets."""
    (folder / "stdout").write_bytes(case.stdout)
    return ctx(store, "run", "--raw", "--", "cat", str(folder / "stdout")).stdout


def follow(store: Path, addresses: list[str]) -> str:
    """Bodies of the addresses and of every `next:` in the replies."""
    bodies, todo, seen = [], list(addresses), set()
    while todo and len(seen) < REPLIES:
        address = todo.pop(0)
        if address in seen:
            continue
        seen.add(address)
        done = ctx(store, "get", *shlex.split(address))
        assert done.returncode == 0, (address, done.stderr.decode())
        body = done.stdout.decode("utf-8", "replace")
        bodies.append(re.sub(r"(?m)^\| ", "", body))
        todo += [line.removeprefix("next: ctx get ") for line in body.split("\n") if line.startswith("next: ctx get ")]
    return "\n".join(bodies)


@pytest.fixture(scope="module")
def store(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return tmp_path_factory.mktemp("store")


@pytest.mark.parametrize("name", names())
def test_a_field_case_holds(name: str, tmp_path: Path, store: Path, request: pytest.FixtureRequest) -> None:
    if name in LATER:
        request.applymarker(pytest.mark.xfail(reason=LATER[name], strict=True))
    case = load(name)
    if case.meta.get("consumer"):
        assert passed_on(case, tmp_path, store) == case.stdout
        return
    if case.meta.get("runnable"):
        document, graph, status = run(case, store)
    else:
        document, graph, status = ingest(case, tmp_path, store)
    wants_more = any("retrievable" in expectation for expectation in case.meta["expect"])
    fetched = follow(store, list(document["addresses"])) if wants_more else ""
    answer = Answer(document=document, items=tuple(graph.get("items", ())), fetched=fetched, exit_code=status)
    assert not problems(case, answer), document["digest"]
