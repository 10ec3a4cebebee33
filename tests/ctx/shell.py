"""Real ctx processes with a store of their own, and the rough places they are put into."""

import ctypes
import json
import os
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import pytest

CTX = Path(sys.executable).parent / "ctx"
_PR_CAPBSET_DROP = 24
_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH = 1, 2


class Shell:
    """Runs ctx with a store of its own."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.started: list[subprocess.Popen[bytes]] = []
        self.store = folder / "store"
        self.env = {**os.environ, "CTX_STORE": str(self.store)}
        for name in ("CTX_DELIVERY", "CTX_EPOCH", "CTX_SESSION", "CTX_DEBUG"):
            self.env.pop(name, None)

    def ctx(
        self, *words: str, stdin: bytes = b"", before: Callable[[], None] | None = None, **extra: str
    ) -> "subprocess.CompletedProcess[bytes]":
        """A whole run; its reader is an ancestor, as an agent host is."""
        return subprocess.run(
            [str(CTX), *words],
            input=stdin,
            capture_output=True,
            env={**self.env, **extra},
            cwd=self.folder,
            timeout=60,
            preexec_fn=before,
        )

    def start(self, *words: str, before: Callable[[], None] | None = None) -> "subprocess.Popen[bytes]":
        """A run that is looked after while it goes on."""
        child = subprocess.Popen(
            [str(CTX), *words],
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            env=self.env,
            cwd=self.folder,
            preexec_fn=before,
        )
        self.started.append(child)
        return child

    def end(self) -> None:
        """End what a test that went wrong left running."""
        for child in self.started:
            if child.poll() is None:
                child.kill()
            child.communicate()

    def line(self, text: str) -> "subprocess.CompletedProcess[bytes]":
        """A line of a shell, in which `ctx` is ours."""
        env = {**self.env, "PATH": f"{CTX.parent}:{os.environ['PATH']}"}
        return subprocess.run(["sh", "-c", text], capture_output=True, env=env, cwd=self.folder, timeout=60)

    def file(self, name: str, data: bytes) -> str:
        path = self.folder / name
        path.write_bytes(data)
        return str(path)

    def ingest(self, data: bytes, *words: str, stderr: bytes = b"") -> dict[str, Any]:
        """What `ctx ingest --json` says of two streams."""
        out, err = self.file("out", data), self.file("err", stderr)
        done = self.ctx("ingest", *words, "--stdout", out, "--stderr", err, "--json")
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert isinstance(document, dict)
        return document

    def stats(self, target: str = "run:last") -> dict[str, Any]:
        """What `ctx stats --json` says of a run."""
        done = self.ctx("stats", target, "--json")
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert isinstance(document, dict)
        return document

    def bytes_of(self, address: str, *words: str) -> bytes:
        """The exact bytes behind an address, as a program gets them: into a file."""
        target = self.folder / "reached"
        with target.open("wb") as file:
            done = subprocess.run(
                [str(CTX), "get", *words_of(address), *words],
                stdout=file,
                stderr=subprocess.PIPE,
                env=self.env,
                cwd=self.folder,
                timeout=60,
            )
        assert done.returncode == 0, done.stderr
        return target.read_bytes()

    def spools(self) -> list[Path]:
        """Spool folders that are there."""
        folder = self.store / "spool"
        return sorted(folder.iterdir()) if folder.is_dir() else []


def words_of(address: object) -> Sequence[str]:
    """A printed address as words of a command line."""
    name, _, selector = str(address).partition(" ")
    return [name, *selector.split()]


def flood(lines: int) -> bytes:
    """An output that no digest passes whole."""
    return b"".join(b"step %d of the long job went by without a word\n" % n for n in range(lines))


def until(condition: Callable[[], bool], *, seconds: float = 10.0) -> bool:
    """Whether `condition` comes to hold within `seconds`."""
    end = time.monotonic() + seconds
    while not condition():
        if time.monotonic() > end:
            return False
        time.sleep(0.02)
    return True


def is_alive(pid: int) -> bool:
    """Whether a process runs; one that has ended and waits to be asked about does not."""
    try:
        return b") Z " not in Path(f"/proc/{pid}/stat").read_bytes()
    except OSError:
        return False


def obeys_permissions() -> None:
    """Between fork and exec: a superuser that the mode bits of a file bind like anybody else."""
    if os.geteuid() == 0:
        prctl = ctypes.CDLL(None).prctl
        for capability in (_CAP_DAC_OVERRIDE, _CAP_DAC_READ_SEARCH):
            prctl(_PR_CAPBSET_DROP, capability, 0, 0, 0)


def files_of_at_most(size: int) -> Callable[[], None]:
    """Between fork and exec: no file may grow beyond `size` bytes, as on a disk that fills up."""

    def limit() -> None:
        signal.signal(signal.SIGXFSZ, signal.SIG_IGN)
        resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))

    return limit


@contextmanager
def small_disk(folder: Path, size: str) -> Iterator[Path]:
    """A disk of its own, mounted at `folder`; skips where this user may not mount one."""
    folder.mkdir()
    done = subprocess.run(["mount", "-t", "tmpfs", "-o", f"size={size},mode=700", "tmpfs", folder], capture_output=True)
    if done.returncode != 0:
        pytest.skip("mounting a small disk is not permitted here")
    try:
        yield folder
    finally:
        subprocess.run(["umount", "-l", folder], check=True)


@contextmanager
def mounted_read_only(folder: Path) -> Iterator[None]:
    """A mounted disk that takes nothing for a while."""
    subprocess.run(["mount", "-o", "remount,ro", folder], check=True)
    try:
        yield
    finally:
        subprocess.run(["mount", "-o", "remount,rw", folder], check=True)
