"""Law: a rerun that differs only in time, process ids and temporary paths prints identical bytes (S1.15, S19.30).

Once with real runs of one suite, and once with every volatile run of a captured output written anew.
"""

import os
import subprocess
import sys
from pathlib import Path
from random import Random

import pytest

from ctx import Rendered, digest_output

CTX = Path(sys.executable).parent / "ctx"

SUITE = """
import os, tempfile, threading, time, uuid
import pytest

class Thing:
    pass

@pytest.mark.parametrize("n", range(14))
def test_with_noise(n, tmp_path):
    started = time.time()
    print(f"pid {os.getpid()} at {time.strftime('%Y-%m-%d %H:%M:%S')} in {tmp_path}")
    print(f"run {uuid.uuid4()} took {time.time() - started:.3f} s")
    print("a long and quiet line of the program under test, number", n, "of fourteen")
    made = Thing()
    assert made is None, f"{made!r} stands in {tmp_path / 'out.txt'}"

def test_passes():
    assert True
"""


def run(folder: Path, store: Path, tmp: Path, home: Path) -> bytes:
    """The digest of a real run of the suite, as an agent gets it."""
    for made in (folder, tmp, home):
        made.mkdir(parents=True, exist_ok=True)
    (folder / "test_noise.py").write_text(SUITE, encoding="utf-8")
    (folder / "pytest.ini").write_text("[pytest]\naddopts = -p no:cacheprovider\n", encoding="utf-8")
    env = {"PATH": f"{CTX.parent}:{os.environ['PATH']}", "HOME": str(home), "TMPDIR": str(tmp), "CTX_STORE": str(store)}
    done = subprocess.run(
        [str(CTX), "run", "--digest", "--", "python", "-m", "pytest", "-q", "-p", "no:randomly"],
        capture_output=True,
        cwd=folder,
        env=env,
        timeout=120,
    )
    assert done.returncode == 1, done.stderr
    return done.stdout


def test_a_real_suite_run_twice_has_one_digest_and_both_captures_are_kept(tmp_path: Path) -> None:
    """Another folder, home, numbered temporary folder, process and second: one text, one handle, two captures."""
    store = tmp_path / "store"
    first = run(tmp_path / "one", store, tmp_path / "t", tmp_path / "h1")
    second = run(tmp_path / "two" / "deeper", store, tmp_path / "t", tmp_path / "h2")
    assert b"14 failed, 1 passed" in first
    assert second == first
    stated = subprocess.run(
        [str(CTX), "get", first.decode().split("run:")[1][:12].join(("run:", "#stdout")), "--lines", "1:1"],
        capture_output=True,
        env={**os.environ, "CTX_STORE": str(store)},
        timeout=60,
    )
    assert b"capture 1 of 2" in stated.stdout + stated.stderr


ROW = "FAILED test_{n}.py::test_{n} - AssertionError: {what} is not there"


def report(seed: int) -> bytes:
    """What `pytest -q -n` printed, every volatile part of it drawn from `seed`, everything else fixed."""
    draw = Random(seed)

    def folder() -> str:
        return f"/tmp/pytest-of-user{draw.randrange(9)}/pytest-{draw.randrange(1000)}/popen-gw{draw.randrange(8)}"

    lines = ["F" * 60, "=" * 31 + " FAILURES " + "=" * 32]
    for n in range(60):
        lines += [
            f"_____ test_{n} _____",
            f"[gw{draw.randrange(16)}] linux -- Python 3.11.2 /usr/bin/python3",
            "",
            f"    def test_{n}():",
            ">       assert thing is None",
            f"E       AssertionError: <Thing object at 0x{draw.randrange(1 << 40, 1 << 44):012x}> is not there",
            "",
            f"test_{n}.py:7: AssertionError",
            "----------------------------- Captured stdout call -----------------------------",
            f"server on 127.0.0.1:{draw.randrange(32768, 60000)} with pid {draw.randrange(300, 4_000_000)}",
            f"2026-0{draw.randrange(1, 9)}-11 0{draw.randrange(9)}:11:12,{draw.randrange(1000):03} start",
            f"wrote {folder()}/out.txt, took {draw.randrange(9)}.{draw.randrange(10)} ms",
        ]
    lines.append("=" * 27 + " short test summary info " + "=" * 28)
    lines += [ROW.format(n=n, what=f"<Thing object at 0x{draw.randrange(1 << 44):012x}>") for n in range(60)]
    lines.append(f"60 failed in {draw.randrange(100)}.{draw.randrange(100):02}s")
    return ("\n".join(lines) + "\n").encode()


def test_twenty_reruns_with_other_volatile_text_are_one_digest() -> None:
    """S19.30: byte for byte, with one handle, one plan and one receipt."""
    made = [digest_output(report(seed), argv=("pytest", "-q", "-n", "4"), exit_code=1) for seed in range(20)]
    assert len({report(seed) for seed in range(20)}) == 20
    assert "60/60 failing tests" in made[0].text
    for found in made[1:]:
        assert found.text == made[0].text
        assert facts(found) == facts(made[0])


def facts(rendered: Rendered) -> tuple[object, ...]:
    """Everything that reruns must share besides the text."""
    return (
        rendered.meta,
        rendered.plan,
        rendered.receipt.to_canonical(),
        rendered.graph.graph_id,
        rendered.addresses,
        rendered.spans,
    )


@pytest.mark.parametrize(
    ("old", "new"),
    [
        (b"AssertionError: <Thing", b"AssertionError: <Thong"),
        (b"test_7.py:7:", b"test_7.py:8:"),
        (b"60 failed", b"60 failed, 1 passed"),
    ],
)
def test_any_other_change_is_another_handle(old: bytes, new: bytes) -> None:
    """The mask is not so wide that two different outputs share a name."""
    text = report(1)
    changed = text.replace(old, new)
    assert changed != text
    handles = [digest_output(raw, argv=("pytest", "-q"), exit_code=1).meta.handle for raw in (text, changed)]
    assert handles[0] != handles[1]
