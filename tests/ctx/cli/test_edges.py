"""What every verb keeps to: help that works, errors of one line, documented statuses (S17.1, S17.2)."""

import json
import os
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest

from ctx.cli.edge import guarded
from ctx.errors import UsageError
from tests.ctx.shell import CTX, Shell, flood, until

VERBS = ("run", "ingest", "get", "search", "stats", "explain")


def examples(shell: Shell, verb: str) -> list[str]:
    """Example lines of a verb's help, put together where they are wrapped."""
    text = shell.ctx(verb, "--help").stdout.decode()
    blocks = [" ".join(block.split()) for block in text.split("\n\n")]
    return [block.removeprefix("Example: ") for block in blocks if block.startswith("Example: ")]


@pytest.mark.parametrize("verb", VERBS)
def test_the_example_in_the_help_works_when_it_is_pasted(shell: Shell, verb: str) -> None:
    """S17.2: with the handle of a real run in the place of the made-up one."""
    shell.file("out.txt", b"1 passed in 0.01s\n")
    shell.file("test_one.py", b"def test_one():\n    assert True\n")
    handle = shell.ctx("run", "--json", "--", "sh", "-c", "seq 9; echo TimeoutError").stdout
    (example,) = examples(shell, verb)
    line = example.replace("0123456789ab", json.loads(handle)["handle"][:12])
    done = shell.line(line)
    assert (done.returncode, done.stderr.count(b"Traceback")) == (0, 0), (line, done.stderr)
    assert done.stdout


@pytest.mark.parametrize(
    ("words", "near"),
    [
        (["run", "--timeot", "1", "--", "true"], "--timeout"),
        (["ingest", "--stdot", "x"], "--stdout"),
        (["get", "--line", "1:2", "run:0123456789ab"], "--lines"),
        (["search", "--fixd", "run:0123456789ab", "x"], "--fixed"),
        (["stats", "--runing"], "--running"),
        (["explain", "--jsn", "run:0123456789ab"], "--json"),
        (["serach", "x"], "search"),
        (["--verson"], "--"),
    ],
)
def test_what_is_unknown_is_answered_with_the_nearest_known(shell: Shell, words: list[str], near: str) -> None:
    """S17.4: status 2, one line."""
    done = shell.ctx(*words)
    assert (done.returncode, done.stdout) == (2, b"")
    assert done.stderr.count(b"\n") == 1
    assert near in done.stderr.decode()


def test_the_version_is_told(shell: Shell) -> None:
    done = shell.ctx("--version")
    assert done.returncode == 0
    assert done.stdout.startswith(b"ctx ")


def test_a_fault_of_ours_is_one_line_and_its_traceback_comes_on_request(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    """S17.2: whatever is raised."""

    def fails() -> int:
        raise KeyError("no\nsuch key")

    monkeypatch.delenv("CTX_DEBUG", raising=False)
    assert guarded("get", fails) == 3
    said = capsys.readouterr().err
    assert said == "ctx get: a fault in ctx itself: KeyError: 'no\\nsuch key'; CTX_DEBUG=1 shows where\n"
    monkeypatch.setenv("CTX_DEBUG", "1")
    assert guarded("get", fails) == 3
    assert "Traceback" in capsys.readouterr().err


def test_an_error_shows_its_traceback_on_request_only(shell: Shell) -> None:
    """S17.2."""
    assert b"Traceback" not in shell.ctx("get", "run:zz").stderr
    shown = shell.ctx("get", "run:zz", CTX_DEBUG="1")
    assert b"Traceback" in shown.stderr
    assert shown.returncode == 2


def test_a_message_of_several_lines_names_the_verb_on_each(capsys: pytest.CaptureFixture[str]) -> None:
    def fails() -> int:
        raise UsageError("one\ntwo")

    assert guarded("get", fails) == 2
    assert capsys.readouterr().err == "ctx get: one\nctx get: two\n"


@pytest.mark.parametrize("verb", ["get", "search", "stats", "ingest"])
def test_a_closed_pipe_is_a_silent_end(shell: Shell, verb: str) -> None:
    """S17.1: status 141, nothing on stderr but what was there to say."""
    run = f"run:{shell.ingest(flood(900))['handle']}"
    words = {
        "get": ["get", f"{run}#stdout"],
        "search": ["search", run, "step"],
        "stats": ["stats"],
        "ingest": ["ingest", "--stdout", shell.file("text", flood(900))],
    }[verb]
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [str(CTX), *words], stdout=writing, stderr=subprocess.PIPE, env=shell.env, cwd=shell.folder, timeout=60
    )
    os.close(writing)
    assert done.returncode == 141
    assert b"Broken" not in done.stderr
    assert b"Traceback" not in done.stderr


def test_an_interrupt_is_a_silent_end(shell: Shell) -> None:
    """S17.1: 130."""
    child = subprocess.Popen(
        [str(CTX), "ingest"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=shell.env,
        cwd=shell.folder,
    )
    shell.started.append(child)
    where = Path(f"/proc/{child.pid}/wchan")
    if not until(lambda: where.exists() and "pipe" in where.read_text(), seconds=5):
        time.sleep(2)  # the system does not say what it waits for
    child.send_signal(signal.SIGINT)
    out, err = child.communicate(timeout=20)
    assert (child.returncode, out, err) == (130, b"", b"")


def test_text_is_utf_8_whatever_the_locale(shell: Shell) -> None:
    """Field: a cut between characters, and a terminal that knows no letters beyond ASCII."""
    data = "né 漢字 🙂\n".encode() + flood(900)
    run = f"run:{shell.ingest(data)['handle']}#stdout"
    locale = {"LC_ALL": "C", "LANG": "C", "PYTHONIOENCODING": "ascii", "PYTHONUTF8": "0", "PYTHONCOERCECLOCALE": "0"}
    assert shell.ctx("get", run, "--lines", "1:1", **locale).stdout == "né 漢字 🙂\n".encode()
    zoomed = shell.ctx("get", run, **locale)
    assert (zoomed.returncode, zoomed.stdout[:8]) == (0, b"detail: ")
    assert "né 漢字 🙂".encode() in zoomed.stdout
    done = shell.ctx("run", "--digest", "--", "printf", "né 漢字\\n", **locale)
    assert done.stdout == "né 漢字\n".encode()


@pytest.mark.parametrize("verb", ["run", "ingest", "get", "search", "stats", "explain"])
def test_a_document_is_one_json_object_and_nothing_else(shell: Shell, verb: str) -> None:
    """S17.2: on stdout; what is said to people is said on stderr."""
    run = f"run:{shell.ingest(flood(900), '--exit-code', '1')['handle']}"
    words = {
        "run": ["run", "--json", "--", "sh", "-c", "seq 3000; exit 4"],
        "ingest": ["ingest", "--json", "--stdout", shell.file("text", flood(900))],
        "get": ["get", f"{run}#stdout", "--json"],
        "search": ["search", run, "step", "--json"],
        "stats": ["stats", run, "--json"],
        "explain": ["explain", run, "--json"],
    }[verb]
    done = shell.ctx(*words)
    assert done.returncode == (4 if verb == "run" else 0)
    assert isinstance(json.loads(done.stdout), dict)
    assert done.stdout.count(b"\n") == 1


# ctx ingest ---------------------------------------------------------------------------------------------------------


def test_what_is_not_told_stays_unknown(shell: Shell) -> None:
    """S1.13: never 0, never empty, never complete."""
    document = shell.ingest(b"some text\n")
    manifest = json.loads(shell.bytes_of(f"run:{document['handle']}#manifest"))
    assert (manifest["argv"], manifest["exit_code"], manifest["signal"]) == ([], None, None)
    assert manifest["ended_by"] == "unknown"
    assert document["outcome"] != "pass"


def test_one_file_or_standard_input_is_stdout(shell: Shell) -> None:
    """S1.13."""
    assert json.loads(shell.ctx("ingest", "--json", stdin=b"from a pipe\n").stdout)["digest"] == "from a pipe\n"
    assert json.loads(shell.ctx("ingest", "--json", "--stderr", "-", stdin=b"oops\n").stdout)["digest"] == "oops\n"
    assert shell.bytes_of("run:last#stderr") == b"oops\n"
    both = shell.ctx("ingest", "--stdout", "-", "--stderr", "-")
    assert (both.returncode, both.stdout) == (2, b"")


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["--stdout", "/no/such/file"], 2, "No such file or directory"),
        (["--stderr", "/"], 2, "Is a directory"),
        (["--argv-json", '{"a": 1}', "--stdout", "/dev/null"], 2, "not a list of texts"),
        (["--argv-json", '["a", null]', "--stdout", "/dev/null"], 2, "not a list of texts"),
        (["--argv-json", '["a"', "--stdout", "/dev/null"], 2, "no JSON"),
        (["--argv-json", '["a"]', "--stdout", "/dev/null", "--", "b"], 2, "exclude each other"),
        (["--exit-code", "one", "--stdout", "/dev/null"], 2, "--exit-code"),
        (["--signal", "0", "--stdout", "/dev/null"], 2, "--signal"),
        (["--incomplete", "kiled", "--stdout", "/dev/null"], 2, "did you mean killed?"),
        (["--incomplete", "because", "--stdout", "/dev/null"], 2, "known: declared, "),
        (["--graph", "/no/such/folder/graph.json", "--stdout", "/dev/null"], 2, "no such folder"),
        (["--graph", "/", "--stdout", "/dev/null"], 3, "Is a directory"),
        (["--store", "", "--stdout", "/dev/null"], 2, "the folder of the store is empty"),
        (["--epoch", "nope", "--stdout", "/dev/null"], 2, "known: "),
    ],
)
def test_bad_input_of_ingest_is_one_line(shell: Shell, words: list[str], status: int, said: str) -> None:
    """Issue text: one clear message, the documented status, nothing lost."""
    done = shell.ctx("ingest", *words)
    assert done.returncode == status, done.stderr
    assert done.stderr.count(b"\n") == 1, done.stderr
    assert said in done.stderr.decode()
    assert done.stdout == b""


def test_names_that_are_not_utf_8_are_files_like_any_other(shell: Shell) -> None:
    """A name is bytes."""
    name = os.fsencode(shell.folder) + b"/caf\xe9.txt"
    try:
        with open(name, "wb") as file:
            file.write(b"inside\n")
    except OSError:
        pytest.skip("this file system takes no such name")
    done = subprocess.run(
        [os.fsencode(CTX), b"ingest", b"--json", b"--stdout", name, b"--", b"cat", b"caf\xe9.txt"],
        capture_output=True,
        env=shell.env,
        cwd=shell.folder,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["digest"] == "inside\n"
    missing = subprocess.run(
        [os.fsencode(CTX), b"ingest", b"--stdout", name + b"?"], capture_output=True, env=shell.env, cwd=shell.folder
    )
    assert (missing.returncode, missing.stderr.count(b"\n")) == (2, 1)
    assert b"Traceback" not in missing.stderr


@pytest.mark.parametrize("data", [b"", b"\n", b"\x00", b"\xff\xfe", b"\x1b[2J", b"\r\r\r", "\ufeff".encode()])
def test_any_input_has_a_digest_and_comes_back(shell: Shell, data: bytes) -> None:
    """S18: no input, however odd, is lost or crashes."""
    document = shell.ingest(data, "--exit-code", "0")
    assert shell.bytes_of(f"run:{document['handle']}#stdout") == data
    assert document["coverage_receipt"]


def test_a_capture_that_is_not_stored_has_its_digest_and_status_1(shell: Shell) -> None:
    """S17.1; issue text."""
    done = shell.ctx("ingest", "--json", "--stdout", shell.file("text", flood(900)), CTX_STORE=shell.file("f", b""))
    assert done.returncode == 1
    document = json.loads(done.stdout)
    assert document["addresses"] == []
    assert "not stored: omitted text cannot be retrieved" in document["digest"]
    assert done.stderr.startswith(b"ctx ingest: not stored: ")
    assert done.stderr.count(b"\n") == 1


def test_the_graph_of_a_capture_is_the_canonical_one(shell: Shell) -> None:
    """Issue text: `--graph FILE`, and the same document by its address."""
    text = shell.file("text", b"src/a.py:3:1: F401 [*] `os` imported but unused\nFound 1 error.\n")
    done = shell.ctx(
        "ingest",
        "--argv-json",
        '["ruff","check"]',
        "--exit-code",
        "1",
        "--stdout",
        text,
        "--graph",
        "graph.json",
        "--json",
    )
    assert done.returncode == 0
    written = (shell.folder / "graph.json").read_bytes()
    graph = json.loads(written)
    assert written == json.dumps(graph, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode() + b"\n"
    (item,) = graph["items"]
    assert {"identity", "location", "summary", "failure_class", "source", "detail"} <= set(item)
    assert shell.bytes_of("run:last#graph") == written.rstrip(b"\n")


@pytest.mark.parametrize(
    "script", ["import ctx.cli.app", "import ctx.cli.run", "import ctx.cli.get", "import ctx.cli.stats", "import ctx"]
)
def test_a_light_start_loads_no_heavy_library(script: str) -> None:
    """Start-up: `ctx run` stands before every command."""
    heavy = "{'typer', 'click', 'scipy', 'numpy', 'pandas', 're2', 'tiktoken', 'sqlite3'}"
    code = f"{script}\nimport sys\nprint(sorted(set(sys.modules) & {heavy}))"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"
