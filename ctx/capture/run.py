"""Running one command and keeping everything it prints (S1.1 to S1.10).

The command is exactly the argv it was given. It gets a process group of its own, our standard input unread, and two
pipes; what arrives is spooled at once. Signals that we receive go to the group. Nothing that happens to the capture
changes the exit status.
"""

import os
import selectors
import signal
import subprocess
import time
from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

from ctx.capture.moment import now
from ctx.capture.spool import Spool, open_spool
from ctx.digest.base import CaptureFacts

CHUNK = 1 << 16
KILL_AFTER_SECONDS = 2.0
STRANGER_SECONDS = 1.0
"""How long pipes are waited for that a stranger holds open after the command is gone."""
TIMEOUT_STATUS = 124
NOT_EXECUTABLE_STATUS = 126
NOT_FOUND_STATUS = 127
_FORWARDED = (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)


@dataclass(frozen=True, kw_only=True, slots=True)
class Captured:
    """One finished command."""

    facts: CaptureFacts
    status: int
    """What `ctx run` ends with."""
    spool: Spool
    started_at: str
    """RFC 3339, UTC, milliseconds."""
    duration_ms: int
    held_open: bool
    """A process that outlived the command still holds its output."""


class LaunchError(Exception):
    """The command could not be started; `status` is what a shell would end with."""

    def __init__(self, message: str, status: int) -> None:
        super().__init__(message)
        self.status = status


def run_command(
    argv: Sequence[str],
    *,
    store_root: Path,
    timeout_seconds: float | None = None,
    passing: Callable[[str, bytes], None] | None = None,
    workspace: Path | None = None,
) -> Captured:
    """Run `argv` to its end.

    Args:
        timeout_seconds: Ends the group with SIGTERM, then SIGKILL two seconds later; None: no limit.
        passing: Gets every chunk as it arrives: (stream, bytes).
    Raises:
        LaunchError: Not found (127), or found and not executable (126).
    """
    started_at = now()
    begun = time.monotonic()
    spool = open_spool(store_root, tuple(argv), started_at)
    try:
        child = _launch(argv)
    except LaunchError:
        spool.remove()
        raise
    loop = _Loop(child, spool, passing, begun, timeout_seconds)
    loop.run()
    spool.close()
    code = child.returncode
    ended_by = "timeout" if loop.timed_out else "signal" if code < 0 else "exit"
    incomplete = "spool_write_error" if spool.error and spool.folder is not None else ""
    if loop.timed_out:
        incomplete = incomplete or "timeout"
    elif loop.forwarded is not None:
        incomplete = incomplete or "killed"
    facts = CaptureFacts(
        argv=tuple(argv),
        cwd=".",
        exit_code=None if code < 0 or loop.timed_out else code,
        signal=-code if code < 0 and not loop.timed_out else None,
        ended_by=ended_by,
        complete=not incomplete,
        incomplete_reason=incomplete,
        host_paths=_host_paths(workspace),
    )
    status = TIMEOUT_STATUS if loop.timed_out else 128 - code if code < 0 else code
    return Captured(
        facts=facts,
        status=status,
        spool=spool,
        started_at=started_at,
        duration_ms=int((time.monotonic() - begun) * 1000),
        held_open=loop.held_open,
    )


def _host_paths(workspace: Path | None) -> tuple[str, ...]:
    """Prefixes that differ between hosts: the workspace and the home folder; masked in what is shown."""
    home = os.path.expanduser("~")
    found = [str(workspace)] if workspace is not None else []
    return tuple(path for path in (*found, home) if path.count("/") >= 2)


def _launch(argv: Sequence[str]) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            list(argv), stdin=None, stdout=subprocess.PIPE, stderr=subprocess.PIPE, process_group=0, bufsize=0
        )
    except FileNotFoundError:
        raise LaunchError(f"{argv[0]}: command not found", NOT_FOUND_STATUS) from None
    except (PermissionError, IsADirectoryError, NotADirectoryError) as error:
        raise LaunchError(f"{argv[0]}: {error.strerror}", NOT_EXECUTABLE_STATUS) from None
    except OSError as error:
        raise LaunchError(f"{argv[0]}: {error.strerror or error}", NOT_EXECUTABLE_STATUS) from None


class _Loop:
    """Moves bytes from the two pipes until the command and its output have ended."""

    def __init__(
        self,
        child: "subprocess.Popen[bytes]",
        spool: Spool,
        passing: Callable[[str, bytes], None] | None,
        begun: float,
        timeout_seconds: float | None,
    ) -> None:
        self.child = child
        self.spool = spool
        self.passing = passing
        self.begun = begun
        self.deadline = None if timeout_seconds is None else begun + timeout_seconds
        self.timed_out = False
        self.held_open = False
        self.forwarded: int | None = None
        self._kill_at: float | None = None
        self._gone_at: float | None = None

    def run(self) -> None:
        terminal = _Foreground(self.child.pid)
        previous = {number: signal.signal(number, self._forward) for number in _FORWARDED}
        try:
            self._pump()
        finally:
            for number, handler in previous.items():
                signal.signal(number, handler)
            terminal.restore()
        self.child.wait()

    def _forward(self, number: int, _frame: object) -> None:
        self.forwarded = number
        _signal_group(self.child.pid, number)
        if self._kill_at is None and number != signal.SIGINT:
            self._kill_at = time.monotonic() + KILL_AFTER_SECONDS

    def _pump(self) -> None:
        selector = selectors.DefaultSelector()
        assert self.child.stdout is not None
        assert self.child.stderr is not None
        for name, pipe in (("stdout", self.child.stdout), ("stderr", self.child.stderr)):
            selector.register(pipe, selectors.EVENT_READ, name)
        pidfd = os.pidfd_open(self.child.pid) if hasattr(os, "pidfd_open") else None
        if pidfd is not None:
            selector.register(pidfd, selectors.EVENT_READ, "")
        try:
            open_pipes = 2
            while open_pipes:
                for key, _ in selector.select(self._wait()):
                    if not key.data:
                        selector.unregister(key.fileobj)
                        continue
                    data = os.read(key.fd, CHUNK)
                    if not data:
                        selector.unregister(key.fileobj)
                        open_pipes -= 1
                        continue
                    self._gone_at = None
                    self._take(key.data, data)
                if self._over():
                    self.held_open = open_pipes > 0
                    return
        finally:
            selector.close()
            if pidfd is not None:
                os.close(pidfd)
            self.child.stdout.close()
            self.child.stderr.close()

    def _take(self, stream: str, data: bytes) -> None:
        self.spool.write(stream, data, int((time.monotonic() - self.begun) * 1e6))
        if self.passing is not None:
            self.passing(stream, data)

    def _wait(self) -> float | None:
        """Seconds until something must be done though nothing arrives; None: nothing is due."""
        if self.child.poll() is not None:
            return 0.05
        due = [moment for moment in (self.deadline, self._kill_at) if moment is not None]
        if not due:
            return None if hasattr(os, "pidfd_open") else 0.05
        return max(0.0, min(due) - time.monotonic())

    def _over(self) -> bool:
        now = time.monotonic()
        if self.child.poll() is None:
            if self.deadline is not None and now >= self.deadline:
                self.timed_out, self.deadline = True, None
                _signal_group(self.child.pid, signal.SIGTERM)
                self._kill_at = now + KILL_AFTER_SECONDS
            elif self._kill_at is not None and now >= self._kill_at:
                _signal_group(self.child.pid, signal.SIGKILL)
                self._kill_at = now + KILL_AFTER_SECONDS
            return False
        if self.timed_out and self._gone_at is None:
            _signal_group(self.child.pid, signal.SIGKILL)
        if self._gone_at is None:
            self._gone_at = now
        return now - self._gone_at >= STRANGER_SECONDS


def _signal_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return


class _Foreground:
    """Lends the terminal to the command's group, so that it may read what the user types."""

    def __init__(self, group: int) -> None:
        self._terminal: int | None = None
        try:
            if os.isatty(0) and os.tcgetpgrp(0) == os.getpgrp():
                self._ignored = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
                os.tcsetpgrp(0, group)
                self._terminal = 0
        except OSError:
            self._terminal = None

    def restore(self) -> None:
        if self._terminal is None:
            return
        with suppress(OSError):
            os.tcsetpgrp(self._terminal, os.getpgrp())
        signal.signal(signal.SIGTTOU, self._ignored)
