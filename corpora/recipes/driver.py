"""What every recipe shares: run a command in a neutral place, write a case folder, derive the strata.

A work folder (`--work`, for instance `/home/dev`) holds the unpacked packages, the tools and nothing of the project, so
that no path of the capturing machine's project, user or registry can get into a captured byte. Nothing is scrubbed
afterwards: a capture that holds one of the forbidden words is refused.
"""

import json
import os
import re
import shutil
import signal
import subprocess
import time
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from hashlib import sha256
from pathlib import Path
from typing import Any

HERE = Path(__file__).resolve().parent
ESCAPES = re.compile(
    r"(?:\x1b\[|\x9b)[0-?]*[ -/]*[@-~]|\x1b\][^\x07\x1b\n]*(?:\x07|\x1b\\)?"
    r"|\x1b[PX^_][^\x1b\n]*(?:\x1b\\)?|\x1b[ -/]*[0-~]?"
)
VOLATILE = re.compile(r"0x[0-9a-fA-F]{6,}|/tmp/|\bin \d+\.\d+ ?s|\d+\.\d+s\b|\bpid[ =:]|pytest-of-")
SMALL_BYTES, MEDIUM_BYTES, LARGE_BYTES = 1_600, 16_000, 160_000


class RecipeError(Exception):
    """A capture that may not become a case."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """What one command did."""

    stdout: bytes
    stderr: bytes
    exit_code: int | None
    ended_by: str
    duration_ms: int


@dataclass(frozen=True, kw_only=True, slots=True)
class Channel:
    """The second channel: its name, the extension of its kept file, and its bytes."""

    name: str
    ext: str
    body: bytes


@dataclass(kw_only=True, slots=True)
class Work:
    """The neutral place: packages, tools, environment."""

    root: Path
    out: Path
    """The corpus folder that cases are written to."""
    forbidden: tuple[str, ...] = ()
    written: list[str] = field(default_factory=list)

    @property
    def tools(self) -> Path:
        return self.root / "tools"

    @property
    def scratch(self) -> Path:
        path = self.root / "scratch" / str(os.getpid())
        path.mkdir(parents=True, exist_ok=True)
        return path

    def environment(self, *bins: Path, extra: Mapping[str, str] | None = None) -> dict[str, str]:
        """The environment of a captured command: nothing of the caller's but what is listed here."""
        path = [str(b) for b in bins] + ["/usr/local/bin", "/usr/bin", "/bin"]
        return {
            "PATH": ":".join(path),
            "HOME": str(self.root),
            "USER": "dev",
            "LOGNAME": "dev",
            "LANG": "C.UTF-8",
            "LC_ALL": "C.UTF-8",
            "TZ": "UTC",
            "TERM": "dumb",
            "PYTHONDONTWRITEBYTECODE": "1",
            "PYTHONHASHSEED": "0",
            **(extra or {}),
        }

    def run(
        self,
        argv: Sequence[str],
        *,
        cwd: Path,
        env: Mapping[str, str],
        kill_after: float | None = None,
        limit: float = 400,
    ) -> Run:
        """Run `argv` without a terminal; with `kill_after`, SIGKILL its process group after that many seconds."""
        out_path, err_path = self.scratch / "stdout", self.scratch / "stderr"
        started = time.monotonic()
        with out_path.open("wb") as out, err_path.open("wb") as err:
            child = subprocess.Popen(
                list(argv),
                cwd=cwd,
                env=dict(env),
                stdin=subprocess.DEVNULL,
                stdout=out,
                stderr=err,
                start_new_session=True,
            )
            try:
                status: int | None = child.wait(kill_after or limit)
            except subprocess.TimeoutExpired:
                os.killpg(child.pid, signal.SIGKILL)
                child.wait()
                if kill_after is None:
                    raise RecipeError(f"{argv}: over {limit} s") from None
                status = None
        elapsed = int(1000 * (time.monotonic() - started))
        ended_by = "exit"
        if status is None or status < 0:
            status, ended_by = None, "signal"
        return Run(
            stdout=out_path.read_bytes(),
            stderr=err_path.read_bytes(),
            exit_code=status,
            ended_by=ended_by,
            duration_ms=elapsed,
        )

    def write_case(
        self,
        case: str,
        *,
        run: Run,
        argv: Sequence[str],
        tool: str,
        version: str,
        origin: str,
        recipe: str,
        source_repo: str,
        licence: str,
        question: Mapping[str, Any],
        outcome: str,
        counts: Mapping[str, int],
        items: Sequence[Mapping[str, Any]],
        decisive: Sequence[str],
        channel: Channel,
        hostility: str = "none",
    ) -> Path:
        """Write the folder `cases/<case>`; `case` is `<family>/<name>`."""
        folder = self.out / "cases" / case
        for word in self.forbidden:
            if any(word.encode() in data for data in (run.stdout, run.stderr, channel.body, repr(argv).encode())):
                raise RecipeError(f"{case}: holds the forbidden text {word!r}")
        text = plain(run)
        lines = [str(d) for d in dict.fromkeys(decisive)]
        missing = [d for d in lines if d not in text]
        if missing:
            raise RecipeError(f"{case}: decisive strings not in the output: {missing}")
        meta = {
            "id": case,
            "family": case.partition("/")[0],
            "argv": list(argv),
            "tool": tool,
            "tool_version": version,
            "exit_code": run.exit_code,
            "ended_by": run.ended_by,
            "origin": origin,
            "recipe": f"corpora/recipes/{recipe}",
            "source_repo": source_repo,
            "licence": licence,
            "question": question,
            "strata": {
                "size": size_stratum(len(run.stdout) + len(run.stderr)),
                "outcome": outcome,
                "decisive_position": position_stratum(text, lines),
                "stream": stream_stratum(run),
                "hostility": hostility,
            },
            "duration_ms": run.duration_ms,
        }
        truth = {
            "outcome": outcome,
            "counts": dict(counts),
            "items": [{k: v for k, v in item.items() if v not in ("", None)} for item in items],
            "decisive": lines,
            "channel": channel.name,
            "channel_digest": sha256(channel.body).hexdigest(),
        }
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir(parents=True)
        (folder / "stdout.txt").write_bytes(run.stdout)
        (folder / "stderr.txt").write_bytes(run.stderr)
        (folder / f"channel.{channel.ext}").write_bytes(channel.body)
        (folder / "meta.json").write_text(dump(meta))
        (folder / "truth.json").write_text(dump(truth))
        self.written.append(case)
        return folder


def dump(value: Any) -> str:
    """JSON as it is committed: readable, stable, one final line feed."""
    return json.dumps(value, ensure_ascii=False, indent=1, sort_keys=True) + "\n"


def plain(run: Run) -> str:
    """Both streams, escape-free, carriage returns resolved to the last state of a line."""
    decoded = [
        data.decode("utf-16" if data[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace")
        for data in (run.stdout, run.stderr)
    ]
    text = "\n".join(decoded)
    lines = []
    for line in ESCAPES.sub("", text).split("\n"):
        shown = ""
        for state in line.removesuffix("\r").split("\r"):
            shown = state + shown[len(state) :]
        lines.append(shown)
    return "\n".join(lines)


def size_stratum(size: int) -> str:
    """`small` passes inline at most bounds, `flood` is more than a host shows."""
    if size <= SMALL_BYTES:
        return "small"
    if size <= MEDIUM_BYTES:
        return "medium"
    return "large" if size <= LARGE_BYTES else "flood"


def position_stratum(text: str, decisive: Sequence[str]) -> str:
    """Where the decisive strings first stand, by the share of the text before them."""
    places = {
        "head" if at < 0.2 else "tail" if at > 0.8 else "middle"
        for at in (text.find(d) / max(1, len(text)) for d in decisive)
    }
    if not places:
        return "none"
    return places.pop() if len(places) == 1 else "spread"


def stream_stratum(run: Run) -> str:
    """Which streams hold anything."""
    if run.stdout.strip() and run.stderr.strip():
        return "both"
    if run.stderr.strip():
        return "stderr"
    return "stdout" if run.stdout.strip() else "none"


def question(
    text: str, answer: str, *, pattern: str = "", scope: str = "", words: Sequence[str] = ()
) -> dict[str, Any]:
    """A question record of `meta.json`."""
    return {"text": text, "answer": {"type": answer, "pattern": pattern, "scope": scope}, "words": list(words)}


def printed(text: str, message: str) -> str:
    """The first line of `message` as `text` prints it: whole, or as many of its words as stand there in one line."""
    first = message.strip().split("\n")[0].strip()
    if not first or first in text:
        return first
    words = first.split(" ")
    low, high = 0, len(words)
    while low < high:
        middle = (low + high + 1) // 2
        if " ".join(words[:middle]) in text:
            low = middle
        else:
            high = middle - 1
    return " ".join(words[:low])


def stable_lines(text: str, wanted: re.Pattern[str], limit: int) -> list[str]:
    """The first `limit` lines that match `wanted` and hold nothing volatile, without outer blanks."""
    found = []
    for line in text.split("\n"):
        if wanted.search(line) and not VOLATILE.search(line) and len(line) < 300:
            found.append(line.strip())
            if len(found) == limit:
                break
    return found
