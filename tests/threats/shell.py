"""The command line with a store of its own, as an attacker's output meets it."""

import json
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

CTX = Path(sys.executable).parent / "ctx"
_OURS = ("CTX_DELIVERY", "CTX_EPOCH", "CTX_SESSION", "CTX_DEBUG")


class Shell:
    """Runs ctx in a folder, every capture in one store."""

    def __init__(self, folder: Path) -> None:
        self.folder = folder
        self.env = {name: value for name, value in os.environ.items() if name not in _OURS}
        self.env["CTX_STORE"] = str(folder / "store")

    def ctx(self, *words: str, **extra: str) -> "subprocess.CompletedProcess[bytes]":
        """One command; nothing is asserted of its status."""
        return subprocess.run(
            [str(CTX), *words], capture_output=True, env={**self.env, **extra}, cwd=self.folder, timeout=60
        )

    def ingest(self, stdout: bytes, *words: str, stderr: bytes = b"") -> dict[str, Any]:
        """The JSON document of captured bytes."""
        (self.folder / "out").write_bytes(stdout)
        (self.folder / "err").write_bytes(stderr)
        done = self.ctx("ingest", "--stdout", "out", "--stderr", "err", "--json", *words)
        assert done.returncode == 0, done.stderr
        document = json.loads(done.stdout)
        assert isinstance(document, dict)
        return document

    def all_of(self, lines: Sequence[Sequence[str]]) -> list[str]:
        """What each command line prints to a reader, both streams; one process runs them all, since there are many."""
        done = subprocess.run(
            [sys.executable, "-c", _EACH],
            input=json.dumps(lines).encode(),
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            env=self.env,
            cwd=self.folder,
            timeout=120,
        )
        assert done.returncode == 0, done.stdout
        return done.stdout.decode("utf-8", "replace").split("\x1e")[1:]


_EACH = """
import json, sys
from ctx.cli.app import dispatch
for words in json.loads(sys.stdin.read()):
    sys.stdout.write("\x1e")
    sys.stdout.flush()
    dispatch(words)
    sys.stdout.flush()
    sys.stderr.flush()
"""
