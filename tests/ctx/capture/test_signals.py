"""Signals, limits, and strangers that hold the command's pipes (S1.6, S1.7)."""

import signal
import sys
import time
from pathlib import Path

import pytest

from ctx.capture.run import run_command
from tests.ctx.shell import Shell, is_alive, until


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT, signal.SIGHUP])
def test_a_signal_reaches_the_group_and_what_exists_is_published(shell: Shell, number: signal.Signals) -> None:
    """S1.7, S19.44."""
    child = shell.start("run", "--", "sh", "-c", "echo begun; echo $$ > pid; sleep 30 & wait")
    assert until((shell.folder / "pid").exists)
    time.sleep(0.1)
    child.send_signal(number)
    out, err = child.communicate(timeout=20)
    assert child.returncode == 128 + number, err
    assert b"begun" in out
    stats = shell.stats()
    assert (stats["complete"], stats["incomplete_reason"]) == (False, "killed")
    assert (stats["ended_by"], stats["signal"]) == ("signal", int(number))


def test_a_command_that_answers_an_interrupt_keeps_its_own_status(shell: Shell) -> None:
    """S1.5: a test runner that prints its summary on Ctrl-C and ends with 2 ends with 2."""
    child = shell.start("run", "--", "sh", "-c", "trap 'echo summary; exit 2' INT; echo up > up; sleep 30 & wait")
    assert until((shell.folder / "up").exists)
    time.sleep(0.1)
    child.send_signal(signal.SIGINT)
    out, _ = child.communicate(timeout=20)
    assert child.returncode == 2
    assert b"summary" in out


def test_a_command_that_ignores_sigterm_is_killed_after_two_seconds(shell: Shell) -> None:
    """S1.6, S19.44."""
    child = shell.start("run", "--", "sh", "-c", "trap '' TERM; echo up; echo up > up; sleep 30")
    assert until((shell.folder / "up").exists)
    begun = time.monotonic()
    child.terminate()
    out, _ = child.communicate(timeout=20)
    assert 1.5 < time.monotonic() - begun < 8
    assert child.returncode == 128 + signal.SIGKILL
    assert b"up" in out


def test_a_signal_that_our_starter_has_us_ignore_is_ignored(shell: Shell) -> None:
    """`nohup ctx run …` outlives its terminal, as the command without us would."""
    child = shell.start(
        "run", "--", "sh", "-c", "echo up > up; sleep 1; echo done",
        before=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN) and None,
    )  # fmt: skip
    assert until((shell.folder / "up").exists)
    child.send_signal(signal.SIGHUP)
    out, err = child.communicate(timeout=20)
    assert (child.returncode, out, err) == (0, b"done\n", b"")


GRANDCHILD = 'trap "" TERM; echo $$ > grandchild; sleep 20; echo late line'
GROUP = f"echo 'suite started'; sh -c '{GRANDCHILD}' & echo $$ > child; wait"


@pytest.mark.parametrize("by_hand", [False, True])
def test_nothing_of_the_group_outlives_the_limit_or_the_hand_that_stops_it(shell: Shell, by_hand: bool) -> None:
    """S19.45 and the field case of descendants: within seconds, with what was printed, and nobody left."""
    begun = time.monotonic()
    limit = [] if by_hand else ["--timeout", "1"]
    child = shell.start("run", *limit, "--", "sh", "-c", GROUP)
    names = [shell.folder / name for name in ("child", "grandchild")]
    assert until(lambda: all(name.exists() and name.read_text() for name in names))
    if by_hand:
        child.terminate()
    out, _ = child.communicate(timeout=20)
    assert time.monotonic() - begun < 9
    assert child.returncode == (143 if by_hand else 124)
    assert b"suite started" in out
    assert b"late line" not in out
    assert until(lambda: not any(is_alive(int(name.read_text())) for name in names), seconds=1)
    assert shell.stats()["incomplete_reason"] == ("killed" if by_hand else "timeout")


def test_a_stranger_that_keeps_printing_does_not_keep_us(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """A server that the command started in a session of its own holds the pipe and prints for ever."""
    monkeypatch.setattr("ctx.capture.run.CHATTY_STRANGER_SECONDS", 0.6)
    script = "import time\nwhile True:\n    print('still here', flush=True)\n    time.sleep(0.05)"
    begun = time.monotonic()
    captured = run_command(
        ["sh", "-c", f'echo started; setsid "{sys.executable}" -c "{script}" & echo $! > {tmp_path}/pid; sleep 0.3'],
        store_root=tmp_path / "store",
    )
    assert time.monotonic() - begun < 6
    assert captured.held_open
    assert (captured.status, captured.facts.complete) == (0, True)
    assert captured.spool.read("stdout").startswith(b"started\n")
    captured.spool.remove()
    assert until(lambda: not is_alive(int((tmp_path / "pid").read_text())), seconds=5), "its pipe was closed"
