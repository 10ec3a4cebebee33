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
from contextlib import ExitStack, suppress
from dataclasses import dataclass
from pathlib import Path
from typing import IO

from ctx.capture.guard import Guard, ask_for_death_signal
from ctx.capture.moment import now
from ctx.capture.spool import Spool, SpoolState, open_spool
from ctx.capture.workspace import Workspace
from ctx.digest.base import CaptureFacts

CHUNK = 1 << 16
KILL_AFTER_SECONDS = 2.0
STRANGER_SECONDS = 1.0
"""How long pipes that a stranger holds open are waited for, after the command is gone, while nothing comes."""
CHATTY_STRANGER_SECONDS = 5.0
"""The same, while something comes."""
READER_GONE_SECONDS = 2.0
"""How long a command may go on printing after whoever read it has left; then its pipe is closed, as it would have been
without us."""
READER_GONE_BYTES = 8 << 20
"""The same in bytes."""
TIMEOUT_STATUS = 124
NOT_EXECUTABLE_STATUS = 126
NOT_FOUND_STATUS = 127
_ENDED, _SIGNAL = "ended", "signal"
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
    passing: Callable[[str, bytes], bool] | None = None,
    workspace: Workspace | None = None,
    session: str | None = None,
) -> Captured:
    """Run `argv` to its end.

    Args:
        timeout_seconds: Ends the group with SIGTERM, then SIGKILL two seconds later; None: no limit.
        passing: Gets every chunk as it arrives: (stream, bytes); false once nobody reads that stream any more.
        workspace: Where it runs.
        session: Opaque id from the host.
    Raises:
        LaunchError: Not found (127), or found and not executable (126).
    """
    started_at = now()
    begun = time.monotonic()
    state = SpoolState(
        argv=tuple(argv),
        cwd=workspace.cwd if workspace is not None else ".",
        workspace=workspace.name if workspace is not None else None,
        started_at=started_at,
        session=session,
    )
    spool = open_spool(store_root, state)
    loop = _Loop(spool, passing, begun, timeout_seconds)
    try:
        code = loop.run(argv)
    except LaunchError:
        spool.remove()
        raise
    spool.close()
    facts = _facts(argv, code, loop, spool, workspace)
    status = TIMEOUT_STATUS if loop.timed_out else 128 - code if code < 0 else code
    return Captured(
        facts=facts,
        status=status,
        spool=spool,
        started_at=started_at,
        duration_ms=int((time.monotonic() - begun) * 1000),
        held_open=loop.held_open,
    )


def _facts(argv: Sequence[str], code: int, loop: "_Loop", spool: Spool, workspace: Workspace | None) -> CaptureFacts:
    ended_by = "timeout" if loop.timed_out else "reader_closed" if loop.cut else "signal" if code < 0 else "exit"
    if spool.lost_bytes:
        incomplete = "spool_write_error"
    elif loop.timed_out:
        incomplete = "timeout"
    elif loop.forwarded is not None:
        incomplete = "killed"
    else:
        incomplete = "reader_closed" if loop.cut else ""
    return CaptureFacts(
        argv=tuple(argv),
        cwd=workspace.cwd if workspace is not None else ".",
        exit_code=None if code < 0 or loop.timed_out else code,
        signal=-code if code < 0 and not loop.timed_out else None,
        ended_by=ended_by,
        complete=not incomplete,
        incomplete_reason=incomplete,
        host_paths=_host_paths(workspace),
    )


def _host_paths(workspace: Workspace | None) -> tuple[str, ...]:
    """Prefixes that differ between hosts: the workspace and the home folder; masked in what is shown."""
    home = os.path.expanduser("~")
    found = [str(workspace.root)] if workspace is not None else []
    return tuple(path for path in (*found, home) if path.count("/") >= 2)


def _launch(argv: Sequence[str]) -> "subprocess.Popen[bytes]":
    try:
        return subprocess.Popen(
            list(argv),
            stdin=None,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            process_group=0,
            bufsize=0,
            # Descriptors that we were given are the command's (a job server's, say); ours close by themselves.
            close_fds=False,
            preexec_fn=ask_for_death_signal(),
        )
    except FileNotFoundError:
        if "/" in argv[0] and os.path.exists(argv[0]):
            raise LaunchError(f"{argv[0]}: its interpreter was not found", NOT_EXECUTABLE_STATUS) from None
        raise LaunchError(f"{argv[0]}: command not found", NOT_FOUND_STATUS) from None
    except OSError as error:
        raise LaunchError(f"{argv[0]}: {error.strerror or error}", NOT_EXECUTABLE_STATUS) from None


class _Loop:
    """Moves bytes from the two pipes until the command and its output have ended."""

    child: "subprocess.Popen[bytes]"

    def __init__(
        self,
        spool: Spool,
        passing: Callable[[str, bytes], bool] | None,
        begun: float,
        timeout_seconds: float | None,
    ) -> None:
        self.spool = spool
        self.passing = passing
        self.begun = begun
        self.deadline = None if timeout_seconds is None else begun + timeout_seconds
        self.timed_out = False
        self.held_open = False
        self.cut = False
        """A pipe of the command was closed because nobody read it any more."""
        self.forwarded: int | None = None
        self._launched = False
        self._kill_at: float | None = None
        self._gone_at: float | None = None
        self._quiet_since = 0.0
        self._unread: dict[str, tuple[float, int]] = {}
        """Streams whose reader has left: since when, and how much came since."""
        self._open: dict[str, IO[bytes]] = {}
        self._awake: int | None = None

    def run(self, argv: Sequence[str]) -> int:
        """The command's return code, negative for a signal."""
        with ExitStack() as undo:
            for number in _FORWARDED:
                # A signal that our starter has us ignore (nohup, a background job) is the command's to ignore, too.
                if signal.getsignal(number) is not signal.SIG_IGN:
                    undo.callback(signal.signal, number, signal.signal(number, self._received))
            self._awake = _woken_by_signals(undo)
            self.child = _launch(argv)
            self._launched = True
            guard = Guard(self.child.pid)
            undo.callback(guard.dismiss)
            terminal = _Foreground(self.child.pid)
            undo.callback(terminal.restore)
            if self.forwarded is not None:  # it came while the command was being started
                self._forward(self.forwarded)
            self._pump(terminal)
            if self.timed_out or self.forwarded is not None:
                _signal_group(self.child.pid, signal.SIGKILL)
            return self.child.wait()

    def _received(self, number: int, _frame: object) -> None:
        again = self.forwarded is not None
        self.forwarded = number
        if self._launched:
            self._forward(number, again=again)

    def _forward(self, number: int, *, again: bool = False) -> None:
        """Pass a signal on. A command may take its time over an interrupt; over anything else, or a second one, not."""
        _signal_group(self.child.pid, number)
        if self._kill_at is None and (again or number != signal.SIGINT):
            self._kill_at = time.monotonic() + KILL_AFTER_SECONDS

    def _pump(self, terminal: "_Foreground") -> None:
        selector = selectors.DefaultSelector()
        assert self.child.stdout is not None
        assert self.child.stderr is not None
        self._open = {"stdout": self.child.stdout, "stderr": self.child.stderr}
        for name, pipe in self._open.items():
            selector.register(pipe, selectors.EVENT_READ, name)
        pidfd = os.pidfd_open(self.child.pid) if hasattr(os, "pidfd_open") else None
        if pidfd is not None:
            selector.register(pidfd, selectors.EVENT_READ, _ENDED)
        if self._awake is not None:
            selector.register(self._awake, selectors.EVENT_READ, _SIGNAL)
        try:
            while self._open:
                for key, _ in selector.select(self._wait()):
                    if key.data == _ENDED:
                        selector.unregister(key.fileobj)
                        continue
                    if key.data == _SIGNAL:
                        os.read(key.fd, CHUNK)
                        terminal.stop_with(self.child.pid)
                        continue
                    data = os.read(key.fd, CHUNK)
                    if data:
                        self._take(key.data, data)
                    if not data or self._is_cut(key.data):
                        selector.unregister(key.fileobj)
                        self._open.pop(key.data).close()
                if self._over():
                    self.held_open = bool(self._open)
                    return
        finally:
            selector.close()
            if pidfd is not None:
                os.close(pidfd)
            self.child.stdout.close()
            self.child.stderr.close()

    def _take(self, stream: str, data: bytes) -> None:
        moment = time.monotonic()
        self._quiet_since = moment
        self.spool.write(stream, data, int((moment - self.begun) * 1e6))
        if self.passing is not None and not self.passing(stream, data):
            since, size = self._unread.get(stream, (moment, 0))
            self._unread[stream] = since, size + len(data)

    def _is_cut(self, stream: str) -> bool:
        since, size = self._unread.get(stream, (0.0, 0))
        if size == 0 or (time.monotonic() - since < READER_GONE_SECONDS and size < READER_GONE_BYTES):
            return False
        self.cut = True
        return True

    def _wait(self) -> float | None:
        """Seconds until something must be done though nothing arrives; None: nothing is due."""
        if self.child.poll() is not None:
            return 0.05
        due = [moment for moment in (self.deadline, self._kill_at) if moment is not None]
        if not due:
            return None if hasattr(os, "pidfd_open") else 0.05
        return max(0.0, min(due) - time.monotonic())

    def _over(self) -> bool:
        """Whether nothing more is waited for: the command is gone, and whoever else holds its pipes had their time."""
        moment = time.monotonic()
        if self.child.poll() is None:
            if self.deadline is not None and moment >= self.deadline:
                self.timed_out, self.deadline = True, None
                _signal_group(self.child.pid, signal.SIGTERM)
                self._kill_at = moment + KILL_AFTER_SECONDS
            elif self._kill_at is not None and moment >= self._kill_at:
                _signal_group(self.child.pid, signal.SIGKILL)
                self._kill_at = moment + KILL_AFTER_SECONDS
            return False
        ended = self.timed_out or self.forwarded is not None
        if self._gone_at is None:
            self._gone_at = self._quiet_since = moment
            if self.timed_out:
                _signal_group(self.child.pid, signal.SIGKILL)
        if ended:
            return moment - self._gone_at >= STRANGER_SECONDS
        return moment - self._quiet_since >= STRANGER_SECONDS or moment - self._gone_at >= CHATTY_STRANGER_SECONDS


def _woken_by_signals(undo: ExitStack) -> int | None:
    """A pipe that becomes readable when a signal arrives: waiting goes on after one, and would not see what it set."""
    try:
        reading, writing = os.pipe()
        for descriptor in (reading, writing):
            undo.callback(os.close, descriptor)
            os.set_blocking(descriptor, False)
        # A command that is stopped at the terminal says so by this signal alone.
        undo.callback(signal.signal, signal.SIGCHLD, signal.signal(signal.SIGCHLD, lambda *_: None))
        undo.callback(signal.set_wakeup_fd, signal.set_wakeup_fd(writing, warn_on_full_buffer=False))
    except (OSError, ValueError):  # no descriptor to be had
        return None
    return reading


def _signal_group(pid: int, number: int) -> None:
    try:
        os.killpg(pid, number)
    except (ProcessLookupError, PermissionError):
        return


class _Foreground:
    """Lends the terminal to the command's group, so that it may read what the user types."""

    def __init__(self, group: int) -> None:
        self._group = group
        self._terminal: int | None = None
        self._ignored: object = None
        try:
            if os.isatty(0) and os.tcgetpgrp(0) == os.getpgrp():
                self._ignored = signal.signal(signal.SIGTTOU, signal.SIG_IGN)
                self._terminal = 0
                self._lend()
        except OSError:
            self._terminal = None

    def _lend(self) -> None:
        assert self._terminal is not None
        os.tcsetpgrp(self._terminal, self._group)
        # It may have asked for the terminal before it had it, and been stopped for that; or the user stopped it.
        os.killpg(self._group, signal.SIGCONT)

    def stop_with(self, pid: int) -> None:
        """Where the user has stopped the command, stop too: the terminal is the shell's until it lets us go on."""
        if self._terminal is None or not _is_stopped(pid):
            return
        with suppress(OSError):
            os.tcsetpgrp(self._terminal, os.getpgrp())
            os.kill(os.getpid(), signal.SIGSTOP)
            self._lend()

    def restore(self) -> None:
        """Take the terminal back."""
        if self._terminal is None:
            return
        with suppress(OSError):
            os.tcsetpgrp(self._terminal, os.getpgrp())
        signal.signal(signal.SIGTTOU, self._ignored)  # type: ignore[arg-type]


def _is_stopped(pid: int) -> bool:
    try:
        return os.waitid(os.P_PID, pid, os.WSTOPPED | os.WNOHANG) is not None
    except (OSError, AttributeError):
        return False
