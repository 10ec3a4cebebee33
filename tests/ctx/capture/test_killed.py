"""What a killed capture leaves behind, and who takes it up (S1.8, S1.9, S19.43)."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ctx.capture import guard
from ctx.capture.adopt import adopt_orphans
from ctx.capture.run import run_command
from ctx.capture.spool import Spool, SpoolState, has_others, open_spool, orphans, running
from ctx.digest.base import CaptureFacts
from ctx.policy.epoch import active_epoch
from ctx.store import Store
from tests.ctx.shell import Shell, is_alive, until


def killed(shell: Shell, script: str) -> None:
    """Run a shell script under ctx, and kill ctx itself once the script has written the file `ready`."""
    child = shell.start("run", "--", "sh", "-c", script)
    assert until(lambda: (shell.folder / "ready").exists())
    time.sleep(0.2)
    child.kill()
    child.communicate(timeout=20)
    assert child.returncode == -signal.SIGKILL


def test_nothing_of_the_group_outlives_us(shell: Shell) -> None:
    """S1.8: the command, what it started, and our own guard are gone."""
    killed(shell, "echo $$ > child; sh -c 'echo $$ > grandchild; sleep 30' & sleep 0.3; echo > ready; wait")
    pids = [int((shell.folder / name).read_text()) for name in ("child", "grandchild")]
    assert until(lambda: not any(is_alive(pid) for pid in pids), seconds=5)


def test_the_next_run_adopts_a_killed_capture_with_what_it_had(shell: Shell) -> None:
    """S1.8: truncated, said so, before its own capture, so that the newest stays the newest; the spool is gone."""
    killed(
        shell, "echo first line; echo to the other >&2; echo second, with no end | tr -d '\\n'; echo > ready; sleep 30"
    )
    assert len(shell.spools()) == 1
    done = shell.ctx("run", "--", "echo", "afterwards")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"afterwards\n", b"")
    assert shell.spools() == []
    assert shell.bytes_of("run:last#stdout") == b"afterwards\n"
    assert json.loads(shell.ctx("stats", "--json").stdout)["captures"] == 2
    manifests = [json.loads(path.read_bytes()) for path in (shell.store / "manifests").rglob("*.json")]
    (adopted,) = [found for found in manifests if found["argv"][0] == "sh"]
    assert adopted["capture"] == {"complete": False, "reason": "killed"}
    assert (adopted["exit_code"], adopted["signal"], adopted["ended_by"]) == (None, None, "unknown")
    assert shell.bytes_of(f"run:{adopted['handle']}#stdout") == b"first line\nsecond, with no end"
    assert shell.bytes_of(f"run:{adopted['handle']}#stderr") == b"to the other\n"


def test_a_question_adopts_too_and_the_killed_capture_is_the_last(shell: Shell) -> None:
    """S1.8: `ctx get run:last` right after the accident."""
    killed(shell, "echo it was here; echo > ready; sleep 30")
    assert shell.bytes_of("run:last#stdout") == b"it was here\n"
    stats = shell.stats()
    assert (stats["complete"], stats["incomplete_reason"]) == (False, "killed")
    assert shell.spools() == []


def test_killed_between_the_end_of_the_command_and_publication(shell: Shell) -> None:
    """S19.43: nobody can say that the copy is whole, so nobody does."""
    script = (
        "import os, signal\n"
        "from pathlib import Path\n"
        "from ctx.capture.run import run_command\n"
        f"run_command(['echo', 'all of it'], store_root=Path({str(shell.store)!r}))\n"
        "os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", script], cwd=shell.folder).returncode == -signal.SIGKILL
    store = Store(shell.store)
    # Its guard, which has just been sent home, may hold the lock for a moment longer.
    assert until(lambda: adopt_orphans(store, epoch=active_epoch(None), notice=store.notice) == 1)
    manifest = store.manifest("last")
    assert (manifest.complete, manifest.incomplete_reason) == (False, "killed")
    assert store.stream(manifest, "stdout") == b"all of it\n"


def test_a_capture_that_still_runs_is_left_alone_and_visible(shell: Shell) -> None:
    """S1.8, S1.9: its owner holds it, whatever its process id says to others."""
    child = shell.start("run", "--", "sh", "-c", "echo up; echo > ready; sleep 1.5; echo down")
    assert until(lambda: (shell.folder / "ready").exists())
    time.sleep(0.2)
    assert list(orphans(shell.store)) == []
    (seen,) = running(shell.store)
    assert seen.state.argv[:2] == ("sh", "-c")
    assert (seen.folder / "stdout").read_bytes() == b"up\n"
    assert shell.ctx("run", "--", "true").returncode == 0
    out, _ = child.communicate(timeout=20)
    assert out == b"up\ndown\n"
    assert shell.stats()["complete"] is True


# Spools by hand -----------------------------------------------------------------------------------------------------

STATE = SpoolState(
    argv=("make", "all"), cwd="sub", workspace="0123456789abcdef", started_at="2026-01-02T03:04:05.678Z", session="s-1"
)


def left_behind(root: Path, out: bytes, *, state: SpoolState = STATE) -> Path:
    """A spool whose owner is gone: another process has written it and died."""
    pid = os.fork()
    if pid == 0:
        spool = open_spool(root, state)
        spool.write("stdout", out, 0)
        os._exit(0)
    os.waitpid(pid, 0)
    (folder,) = [path for path in (root / "spool").iterdir() if path.name.startswith(f"{pid}-")]
    return folder


def adopt(store: Store, said: list[str] | None = None, *, largest_bytes: int | None = None) -> int:
    notice = (said if said is not None else []).append
    return adopt_orphans(store, epoch=active_epoch(None), notice=notice, largest_bytes=largest_bytes)


def test_an_adopted_capture_keeps_what_its_owner_knew(tmp_path: Path) -> None:
    """S1.8: argv, folder, workspace, start and session come from the state file."""
    store = Store(tmp_path / "store")
    left_behind(store.root, b"half a b")
    assert adopt(store) == 1
    manifest = store.manifest("last", workspace="0123456789abcdef")
    assert (manifest.argv, manifest.cwd, manifest.session) == (("make", "all"), "sub", "s-1")
    assert manifest.started_at == "2026-01-02T03:04:05.678Z"
    assert store.stream(manifest, "stdout") == b"half a b"
    assert not has_others(store.root)


def test_a_large_spool_waits_for_a_start_that_has_the_time(tmp_path: Path) -> None:
    """A command is not kept waiting for somebody else's megabytes."""
    store = Store(tmp_path / "store")
    left_behind(store.root, b"x" * 5000)
    assert adopt(store, largest_bytes=4999) == 0
    assert has_others(store.root)
    assert adopt(store, largest_bytes=5000) == 1


def test_two_that_start_at_once_adopt_once(tmp_path: Path) -> None:
    """A spool is claimed before it is read."""
    store = Store(tmp_path / "store")
    left_behind(store.root, b"once")
    (claimed,) = orphans(store.root)
    assert adopt(store) == 0
    claimed.release()
    assert adopt(store) == 1


def test_a_damaged_state_file_costs_its_argv_and_not_the_bytes(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    (left_behind(store.root, b"still here") / "state.json").write_bytes(b"{\x00")
    assert adopt(store) == 1
    manifest = store.manifest("last")
    assert (manifest.argv, manifest.complete) == ((), False)
    assert store.stream(manifest, "stdout") == b"still here"


def test_a_folder_whose_owner_died_before_it_began_is_cleared(tmp_path: Path) -> None:
    store = Store(tmp_path / "store")
    (left_behind(store.root, b"") / "state.json").unlink()
    (folder,) = (store.root / "spool").iterdir()
    (folder / "stdout").unlink()
    assert adopt(store) == 0
    assert not has_others(store.root)


def test_a_spool_that_nobody_can_read_is_met_once_and_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A fault of ours over somebody else's bytes is no reason to meet it at every start, nor to throw them away."""
    store = Store(tmp_path / "store")
    folder = left_behind(store.root, b"poison")

    def fails(*_: object, **__: object) -> None:
        raise RuntimeError("no reading this")

    said: list[str] = []
    monkeypatch.setattr("ctx.capture.adopt.digest_capture", fails)
    assert adopt(store, said) == 0
    assert not has_others(store.root)
    kept = store.root / "lost+found" / f"spool.{folder.name}"
    assert said == [f"a killed capture could not be read (RuntimeError: no reading this); it lies in {kept}"]
    assert (kept / "stdout").read_bytes() == b"poison"


def test_a_capture_that_could_not_be_stored_is_stored_later_as_what_it_was(tmp_path: Path) -> None:
    """S2.7: its owner saw the end of the command, so nothing of it is called truncated."""
    store = Store(tmp_path / "store")
    spool: Spool = open_spool(store.root, STATE)
    spool.write("stdout", b"whole\n", 0)
    ended = CaptureFacts(argv=STATE.argv, cwd="sub", exit_code=3, ended_by="exit")
    assert spool.leave(ended) == spool.folder
    state = json.loads((spool.folder / "state.json").read_bytes()) if spool.folder else {}
    state["pid"] = 1 << 30  # the owner has gone on to end
    (spool.folder / "state.json").write_text(json.dumps(state)) if spool.folder else None
    assert adopt(store) == 1
    manifest = store.manifest("last")
    assert (manifest.exit_code, manifest.ended_by, manifest.complete) == (3, "exit", True)


def test_a_guard_that_is_sent_home_ends_nothing_and_is_cleared(tmp_path: Path) -> None:
    """S1.8: what a command leaves running on purpose goes on; no guard stays behind."""
    for number in range(3):
        captured = run_command(
            ["sh", "-c", f"sleep 20 > /dev/null 2>&1 & echo $! > {tmp_path}/pid-{number}"],
            store_root=tmp_path / "store",
        )
        assert captured.status == 0
        captured.spool.remove()
    time.sleep(0.2)
    pids = [int((tmp_path / f"pid-{number}").read_text()) for number in range(3)]
    assert all(is_alive(pid) for pid in pids)
    for pid in pids:
        os.kill(pid, signal.SIGKILL)
    guard._reap()
    assert guard._dismissed == []
