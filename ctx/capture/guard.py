"""What happens to a command when we are killed and cannot do anything any more (S1.8, S19.43).

Two nets. The command asks the kernel for a signal when its parent dies; that reaches the command itself, not what it
has started. A guard, a small process of ours, waits at the end of a pipe that only we hold open: when it closes without
a word, we are gone, and the guard ends the whole group.
"""

import os
import signal
import sys
from collections.abc import Callable
from contextlib import suppress

_PR_SET_PDEATHSIG = 1
_MOST_DESCRIPTORS = 1 << 16


def ask_for_death_signal() -> Callable[[], None] | None:
    """What the child does before it becomes the command; None where the system offers no such signal."""
    if not sys.platform.startswith("linux"):
        return None
    try:
        import ctypes

        prctl = ctypes.CDLL(None).prctl
    except (ImportError, OSError, AttributeError):
        return None
    parent = os.getpid()

    def ask() -> None:
        prctl(_PR_SET_PDEATHSIG, signal.SIGKILL, 0, 0, 0)
        if os.getppid() != parent:  # it died before it could be asked for
            os._exit(1)

    return ask


class Guard:
    """Ends a process group when this process dies without having called `dismiss`."""

    def __init__(self, group: int) -> None:
        self._word: int | None = None
        self._pid = 0
        _reap()
        try:
            ours, self._word = os.pipe()
            self._pid = os.fork()
        except OSError:  # no process to be had: the command runs without this net
            return
        if self._pid == 0:
            _stand_guard(ours, group)
        os.close(ours)

    def dismiss(self) -> None:
        """The group is nobody's business any more."""
        if self._word is None:
            return
        with suppress(OSError):
            os.write(self._word, b".")
        os.close(self._word)
        self._word = None
        # Nobody waits for it to end: that would cost every command a change of process.
        _dismissed.append(self._pid)


_dismissed: list[int] = []
"""Guards that were sent home and not asked about yet; a process that runs many commands clears them one by one."""


def _reap() -> None:
    for pid in tuple(_dismissed):
        with suppress(OSError):
            if os.waitpid(pid, os.WNOHANG)[0] == 0:
                continue
        _dismissed.remove(pid)


def _stand_guard(pipe: int, group: int) -> None:
    """The guard's whole life; it holds nothing of ours open, least of all the other end of its pipe."""
    try:
        os.setsid()
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            signal.signal(number, signal.SIG_IGN)
        os.closerange(0, pipe)
        os.closerange(pipe + 1, _most_descriptors())
        if not os.read(pipe, 1):
            os.killpg(group, signal.SIGKILL)
    finally:
        os._exit(0)


def _most_descriptors() -> int:
    try:
        import resource

        return min(resource.getrlimit(resource.RLIMIT_NOFILE)[0], _MOST_DESCRIPTORS)
    except (ImportError, OSError, ValueError):
        return 1 << 10
