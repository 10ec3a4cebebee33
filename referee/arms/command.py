"""Any external command as an arm, described by an arm file.

An arm file is TOML::

    schema          = "referee.arm/v1"
    name            = "shortener"
    argv            = ["shorten", "--max", "{budget}"]      # no shell; see the placeholders
    feed            = "stdin"                               # stdin | file | wrap
    exit            = "any"                                 # any | zero | child: which status is no arm error
    address_pattern = 'shorten get (?P<id>[0-9a-f]+)'       # how its way back looks; leave out if it has none
    resolver_argv   = ["shorten", "get", "{address}"]
    search_argv     = ["shorten", "grep", "{word}"]
    timeout_seconds = 30
    version_argv    = ["shorten", "--version"]

Placeholders: `{file}` the output in a file (feed `file`), `{stdout}` and `{stderr}` a file a stream, `{command}` the
captured command's words (feed `wrap`, an item of its own), `{budget}` in tokens, `{address}` what was matched (the
first group where it has one), `{word}` a search word, `{here}` the folder of the arm file, for a program beside it.

Feed `stdin` pipes the output in as one channel; `file` names it; `wrap` runs `argv` with a stub of the captured command
first on PATH, which prints both recorded streams and ends with the recorded status. The command runs in an empty
folder with a fresh HOME and nothing of the caller's environment but PATH; a folder lives until the run ends, so that
ways back work.
"""

import os
import re
import shutil
import signal
import subprocess
import sys
import tempfile
import time
import tomllib
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from referee.arms.base import failed
from referee.delivery import Capture, Delivery, Fetched, WayBackError, decode, one_channel
from referee.errors import UsageError
from referee.tokens import Encoder

SCHEMA = "referee.arm/v1"
DEFAULT_BUDGET_TOKENS = 4_000
_TEXTS = ("schema", "name", "feed", "exit", "address_pattern")
_LISTS = ("argv", "resolver_argv", "search_argv", "version_argv")
_FEEDS = ("stdin", "file", "wrap")
_EXITS = ("any", "zero", "child")


@dataclass(frozen=True, kw_only=True, slots=True)
class ArmFile:
    """A parsed arm file; see the module for what the fields mean."""

    name: str
    argv: tuple[str, ...]
    feed: str = "stdin"
    exit: str = "any"
    address_pattern: str = ""
    resolver_argv: tuple[str, ...] = ()
    search_argv: tuple[str, ...] = ()
    timeout_seconds: int = 30
    version_argv: tuple[str, ...] = ()


def load_arm_file(path: Path) -> ArmFile:
    """The arm that `path` describes.

    Raises:
        UsageError: not readable, not TOML, or not in the format; every problem at once, with its key.
    """
    try:
        document = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"arm file {path}: {error.strerror}; give a TOML file") from error
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"arm file {path}: not TOML: {error}") from error
    problems = list(_problems(document))
    if problems:
        raise UsageError("\n".join(f"arm file {path}: {problem}" for problem in problems))
    known = {key: value for key, value in document.items() if key != "schema"}
    for key in _LISTS:
        if key in known:
            known[key] = tuple(known[key])
    return ArmFile(**known)


def _problems(document: Mapping[str, Any]) -> "list[str]":
    problems = []
    known = (*_TEXTS, *_LISTS, "timeout_seconds")
    for key, value in document.items():
        if key not in known:
            problems.append(f"{key}: unknown key; known: {', '.join(sorted(known))}")
        elif key in _TEXTS and not isinstance(value, str):
            problems.append(f"{key}: expected text, found {value!r}")
        elif key in _LISTS and not (isinstance(value, list) and value and all(isinstance(v, str) for v in value)):
            problems.append(f"{key}: expected a list of words, found {value!r}")
    if document.get("schema") != SCHEMA:
        problems.append(f'schema: expected "{SCHEMA}", found {document.get("schema")!r}')
    for key in ("name", "argv"):
        if not document.get(key):
            problems.append(f"{key}: missing")
    for key, choices in (("feed", _FEEDS), ("exit", _EXITS)):
        if document.get(key, choices[0]) not in choices:
            problems.append(f"{key}: {document[key]!r} is none of {', '.join(choices)}")
    seconds = document.get("timeout_seconds", 30)
    if isinstance(seconds, bool) or not isinstance(seconds, int) or not 1 <= seconds <= 600:
        problems.append(f"timeout_seconds: {seconds!r} is no whole number from 1 to 600")
    pattern = document.get("address_pattern", "")
    try:
        re.compile(pattern if isinstance(pattern, str) else "")
    except re.error as error:
        problems.append(f"address_pattern: not a regular expression: {error}")
    if bool(document.get("resolver_argv")) != bool(pattern):
        problems.append("address_pattern: it and resolver_argv go together")
    return problems


class CommandArm:
    """The arm of an arm file."""

    def __init__(self, file: ArmFile, spec: str) -> None:
        self.name = file.name
        self.spec = spec
        self._file = file
        self._folder = ""
        self._deliveries = 0
        self._version: str | None = None
        self._here = str(Path(spec).resolve().parent)

    def config(self) -> Mapping[str, str | int]:
        """See `Arm`; the version is the first line that `version_argv` prints."""
        if self._version is None:
            self._version = ""
            if self._file.version_argv:
                folder = self._new_folder()
                argv = _filled(self._file.version_argv, {"here": self._here}, ())
                done = _run(argv, folder, 30, _environment(folder))
                self._version = decode(done.stdout or done.stderr).partition("\n")[0][:200]
        return {"argv": " ".join(self._file.argv), "feed": self._file.feed, "version": self._version}

    def deliver(self, capture: Capture, encoder: Encoder, budget_tokens: int | None = None) -> Delivery:
        """See `Arm`."""
        file, folder = self._file, self._new_folder()
        words = {"here": self._here, "budget": str(budget_tokens or DEFAULT_BUDGET_TOKENS)}
        words |= _written(capture, folder)
        environment = _environment(folder)
        if file.feed == "wrap":
            environment["PATH"] = f"{_stub(capture, folder)}{os.pathsep}{environment['PATH']}"
        argv = _filled(file.argv, words, capture.argv)
        feed = one_channel(capture).encode("utf-8", "replace") if file.feed == "stdin" else b""
        started = time.perf_counter()
        done = _run(argv, folder, file.timeout_seconds, environment, feed)
        seconds = time.perf_counter() - started
        text = decode(done.stdout)
        expected = {"zero": (0,), "child": (capture.exit_code,)}.get(file.exit)
        if done.problem or (expected and done.status not in expected):
            return failed(done.problem or f"{_program(argv)}: exit {done.status}", seconds)
        if not text.strip() and (capture.stdout or capture.stderr):
            return failed(f"{_program(argv)}: printed nothing", seconds)
        return Delivery(
            text=text,
            tokens=encoder.count(text),
            seconds=seconds,
            address_pattern=file.address_pattern,
            resolver=_CommandWayBack(file, folder, environment, self._here) if file.resolver_argv else None,
        )

    def _new_folder(self) -> Path:
        if not self._folder:
            self._folder = tempfile.mkdtemp(prefix="referee-arm-")
        self._deliveries += 1
        folder = Path(self._folder) / f"{self._deliveries:06d}"
        for name in ("home", "work", "bin"):
            (folder / name).mkdir(parents=True)
        return folder

    def close(self) -> None:
        """Remove the folders of all deliveries."""
        if self._folder:
            shutil.rmtree(self._folder, ignore_errors=True)
            self._folder = ""


class _CommandWayBack:
    """The commands of an arm file that fetch and search."""

    def __init__(self, file: ArmFile, folder: Path, environment: Mapping[str, str], here: str) -> None:
        self._file = file
        self._folder = folder
        self._environment = environment
        self._here = here

    def get(self, address: str) -> Fetched:
        matched = re.search(self._file.address_pattern, address)
        name = next((group for group in matched.groups() if group), address) if matched else address
        return self._fetch(_filled(self._file.resolver_argv, {"here": self._here, "address": name}, ()))

    def whole(self, address: str) -> Fetched:
        return self.get(address)

    def search(self, word: str) -> Fetched:
        if not self._file.search_argv:
            raise WayBackError(f"{word}: {self._file.name} has no search")
        return self._fetch(_filled(self._file.search_argv, {"here": self._here, "word": word}, ()))

    def _fetch(self, argv: Sequence[str]) -> Fetched:
        done = _run(argv, self._folder, self._file.timeout_seconds, self._environment)
        if done.problem or done.status != 0:
            said = decode(done.stderr).replace(str(self._folder), "<folder>")
            raise WayBackError(done.problem or f"{_program(argv)}: exit {done.status}: {said[:200]}")
        return Fetched(text=decode(done.stdout), body=done.stdout)


def _program(argv: Sequence[str]) -> str:
    """The program's name without its folder, which is another one on every machine."""
    return argv[0].rpartition("/")[2]


def _filled(argv: Sequence[str], words: Mapping[str, str], command: Sequence[str]) -> list[str]:
    filled: list[str] = []
    for word in argv:
        if word == "{command}":
            filled += command
            continue
        for name, value in words.items():
            word = word.replace("{" + name + "}", value)
        filled.append(word)
    return filled


def _written(capture: Capture, folder: Path) -> dict[str, str]:
    """The output in files: as one channel and stream by stream."""
    contents = {
        "file": one_channel(capture).encode("utf-8", "replace"),
        "stdout": capture.stdout,
        "stderr": capture.stderr,
    }
    for name, raw in contents.items():
        (folder / f"{name}.txt").write_bytes(raw)
    return {name: str(folder / f"{name}.txt") for name in contents}


def _stub(capture: Capture, folder: Path) -> Path:
    """A program of the captured command's name that prints the recorded streams and ends with the recorded status."""
    name = capture.argv[0].rpartition("/")[2] if capture.argv else "command"
    path = folder / "bin" / name
    path.write_text(
        f"#!{sys.executable} -I\n"
        "import sys\n"
        f"sys.stdout.buffer.write(open({str(folder / 'stdout.txt')!r}, 'rb').read())\n"
        "sys.stdout.flush()\n"
        f"sys.stderr.buffer.write(open({str(folder / 'stderr.txt')!r}, 'rb').read())\n"
        f"sys.exit({capture.exit_code if capture.exit_code is not None else 1})\n",
        encoding="utf-8",
    )
    path.chmod(0o755)
    return folder / "bin"


def _environment(folder: Path) -> dict[str, str]:
    return {
        "PATH": os.environ.get("PATH", os.defpath),
        "HOME": str(folder / "home"),
        "TMPDIR": str(folder / "work"),
        "LANG": "C.UTF-8",
        "TERM": "dumb",
        "NO_COLOR": "1",
    }


@dataclass(frozen=True, kw_only=True, slots=True)
class _Done:
    """How a command ended; `problem` says why it could not."""

    status: int | None = None
    stdout: bytes = b""
    stderr: bytes = b""
    problem: str = ""


def _run(
    argv: Sequence[str], folder: Path, timeout_seconds: int, environment: Mapping[str, str], feed: bytes = b""
) -> _Done:
    """Run without a shell; at the timeout its whole process group ends, so that no grandchild holds the pipe."""
    try:
        process = subprocess.Popen(
            list(argv),
            cwd=folder / "work",
            env=dict(environment),
            stdin=subprocess.PIPE,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            start_new_session=True,
        )
    except OSError as error:
        return _Done(problem=f"{_program(argv)}: cannot be run ({error.strerror})")
    with process:
        try:
            out, err = process.communicate(feed, timeout=timeout_seconds)
        except subprocess.TimeoutExpired:
            os.killpg(process.pid, signal.SIGKILL)
            process.communicate()
            return _Done(problem=f"{_program(argv)}: no answer within {timeout_seconds} s")
        except BaseException:
            # Interrupted: nothing that was started here outlives the run.
            os.killpg(process.pid, signal.SIGKILL)
            raise
    return _Done(status=process.returncode, stdout=out, stderr=err)
