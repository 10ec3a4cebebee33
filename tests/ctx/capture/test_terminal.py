"""At a terminal: the command may read what is typed, and is interrupted and stopped as without us (S1.2, S1.7)."""

import os
import pty
import select
import signal
import time
from pathlib import Path

import pytest

from tests.ctx.shell import CTX, Shell, until


class Terminal:
    """A ctx process that has a terminal of its own."""

    def __init__(self, shell: Shell, *words: str) -> None:
        self.text = b""
        self.pid, self.screen = pty.fork()
        if self.pid == 0:
            os.chdir(shell.folder)
            os.execve(CTX, [str(CTX), *words], shell.env)

    def type(self, text: bytes) -> None:
        os.write(self.screen, text)

    def sees(self, text: bytes, *, seconds: float = 10.0) -> bool:
        """Whether `text` comes to stand on the screen."""
        end = time.monotonic() + seconds
        while text not in self.text and time.monotonic() < end:
            if select.select([self.screen], [], [], 0.1)[0]:
                try:
                    self.text += os.read(self.screen, 4096)
                except OSError:  # the other end is closed
                    break
        return text in self.text

    def status(self) -> int:
        """The exit status, once it has ended."""
        end = time.monotonic() + 15
        while time.monotonic() < end:
            self.sees(b"\0never", seconds=0.05)
            pid, status = os.waitpid(self.pid, os.WNOHANG)
            if pid:
                os.close(self.screen)
                return os.waitstatus_to_exitcode(status)
        os.kill(self.pid, signal.SIGKILL)
        os.waitpid(self.pid, 0)
        os.close(self.screen)
        raise AssertionError(f"it did not end; the screen shows {self.text!r}")

    def is_stopped(self) -> bool:
        return b") T " in Path(f"/proc/{self.pid}/stat").read_bytes()


@pytest.fixture(autouse=True)
def _needs_proc() -> None:
    if not Path("/proc/self/stat").exists():
        pytest.skip("looks at /proc")


def test_the_command_reads_what_is_typed(shell: Shell) -> None:
    """S1.2: its group has the terminal, though it is not ours."""
    terminal = Terminal(shell, "run", "--", "sh", "-c", "read line; echo got-$line; exit 4")
    terminal.type(b"hello\n")
    assert terminal.sees(b"got-hello")
    assert terminal.status() == 4


def test_an_interrupt_from_the_keyboard_reaches_the_command(shell: Shell) -> None:
    """S1.7: Ctrl-C."""
    terminal = Terminal(shell, "run", "--", "sh", "-c", "echo up > up; sleep 30")
    assert until((shell.folder / "up").exists)
    terminal.type(b"\x03")
    assert terminal.status() == 130
    assert shell.stats()["ended_by"] == "signal"


def test_a_command_that_is_stopped_stops_us_and_goes_on_with_us(shell: Shell) -> None:
    """Ctrl-Z and `fg`: whoever waits for us learns of it; without that a terminal would hang."""
    terminal = Terminal(shell, "run", "--", "sh", "-c", "echo up > up; read line; echo got-$line")
    assert until((shell.folder / "up").exists)
    time.sleep(0.3)
    terminal.type(b"\x1a")
    assert until(terminal.is_stopped, seconds=5)
    os.kill(terminal.pid, signal.SIGCONT)
    time.sleep(0.3)
    terminal.type(b"again\n")
    assert terminal.sees(b"got-again")
    assert terminal.status() == 0
