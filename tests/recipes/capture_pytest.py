"""Capture the pytest case folders: run small suites under real pytest versions and record truth beside the text.

    python tests/recipes/capture_pytest.py --venv p9=/path/to/venv --venv p7=/path/to/venv --out tests/profiles/pytest

Each environment holds pytest with pytest-xdist, pytest-timeout and pytest-rerunfailures (p9: also pytest-cov,
pytest-reportlog and pytest-json-report; p7: pytest-subtests). Five more hold pytest and one plugin that prints the
report in its own manner: `sugar`, `rich`, `instafail`, `emoji` and `tldr`. The truth comes from a recording plugin that
hears the runner's own report objects; it never reads the text. The only edit of a capture is that the paths of the
scratch folder, of the environment and of the interpreter and the names of the machine are replaced by neutral ones.

A case folder holds `stdout.txt`, `stderr.txt`, `meta.json` (argv, exit_code, tool, tool_version, origin, suite) and
`truth.json`: `failing` (id, phase, and where known the exception's class and the place of the raise), `counts` by
report outcome, `started` (ids in order of start).
"""

import argparse
import json
import os
import shutil
import signal
import subprocess
import sys
import time
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))

from pytest_suites import SUITES

PLUGIN = """
import json
import os

PATH = os.environ["CTX_RECORD"]


def note(**values):
    with open(PATH, "a", encoding="utf-8") as out:
        out.write(json.dumps(values) + "\\n")


def is_worker(config):
    return hasattr(config, "workerinput")


CONFIG = {}


def pytest_configure(config):
    CONFIG["worker"] = is_worker(config)


def crash_of(report):
    crash = getattr(report.longrepr, "reprcrash", None)
    return {} if crash is None else {"path": str(crash.path), "line": crash.lineno, "message": crash.message}


def pytest_runtest_logstart(nodeid):
    if not CONFIG["worker"]:
        note(event="start", id=nodeid)


def pytest_runtest_logreport(report):
    if CONFIG["worker"]:
        return
    context = getattr(report, "context", None)
    note(
        event="report", id=report.nodeid, phase=report.when, outcome=report.outcome, subtest=context is not None,
        xfail=hasattr(report, "wasxfail"), **crash_of(report)
    )


def pytest_collectreport(report):
    if not CONFIG["worker"] and report.failed:
        note(event="report", id=report.nodeid, phase="collect", outcome="failed", subtest=False, xfail=False)
"""


FACTS = """
import json, platform, pytest, socket, sys
print(json.dumps([pytest.__version__, sys.base_prefix, platform.platform(), socket.gethostname()]))
"""
"""What is replaced in a capture, asked of the environment's own interpreter."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Run:
    """One capture: which suite, in which environment, with which words after `pytest`."""

    name: str
    suite: str
    args: tuple[str, ...] = ()
    venv: str = "p9"
    env: dict[str, str] = field(default_factory=dict)
    kill_after_s: float = 0.0
    stdout_file: str = ""
    """A report file that stands for stdout (`--report-log` and its like)."""


def runs() -> list[Run]:
    """Every capture, in order of name."""
    found: list[Run] = []

    def add(name: str, suite: str, *args: str, **more: object) -> None:
        found.append(Run(name=name, suite=suite, args=args, **more))  # type: ignore[arg-type]

    for style in ("auto", "long", "short", "line", "native", "no"):
        add(f"mixed-tb-{style}", "mixed", f"--tb={style}")
        add(f"mixed7-tb-{style}", "mixed", f"--tb={style}", venv="p7")
    add("mixed-q", "mixed", "-q")
    add("mixed-q-short", "mixed", "-q", "--tb=short")
    add("mixed-v", "mixed", "-v")
    add("mixed-vv-short", "mixed", "-vv", "--tb=short")
    add("mixed-qq", "mixed", "-qq", "--tb=short")
    add("mixed-rA", "mixed", "-rA", "--tb=short")
    add("mixed7-rA", "mixed", "-rA", "--tb=short", venv="p7")
    add("mixed-rN", "mixed", "-rN", "--tb=short")
    add("mixed-rN-no", "mixed", "-rN", "--tb=no", "-q")
    add("mixed-v-rN-no", "mixed", "-v", "-rN", "--tb=no")
    add("mixed-rfEsxX", "mixed", "-rfEsxX", "--tb=line", "-q")
    add("mixed-no-summary", "mixed", "--no-summary", "-v")
    add("mixed-color", "mixed", "--color=yes")
    add("mixed-color-v", "mixed", "--color=yes", "-v", "--tb=short")
    add("mixed-showlocals", "mixed", "--showlocals", "--tb=long", "-k", "helper or chained or same")
    add("mixed-full-trace", "mixed", "--full-trace", "-k", "raised_in_helper or total_wrong")
    add("mixed-narrow", "mixed", "--tb=short", env={"COLUMNS": "40"})
    add("mixed-wide", "mixed", "--tb=short", env={"COLUMNS": "300"})
    add("mixed-ci", "mixed", "--tb=short", env={"CI": "true"})
    add("mixed-x", "mixed", "-x")
    add("mixed-maxfail", "mixed", "--maxfail=3", "--tb=short")
    add("mixed-co", "mixed", "--co")
    add("mixed-co-q", "mixed", "--co", "-q")
    add("mixed-durations", "mixed", "--durations=3", "--tb=no")
    add("mixed-k", "mixed", "-k", "same", "--tb=short")
    add("mixed-setup-show", "mixed", "--setup-show", "--tb=short", "-k", "error or same or plain")
    add("mixed-n2", "mixed", "-n2", "--tb=short")
    add("mixed-n2-v", "mixed", "-n2", "-v", "--tb=no", "-rN")
    add("mixed7-n2-v", "mixed", "-n2", "-v", "--tb=short", venv="p7")
    add("mixed-log-cli", "mixed", "-o", "log_cli=true", "--tb=short", "-k", "captured or same or forged")
    add("mixed-s", "mixed", "-s", "--tb=short", "-k", "captured or same or forged or login")
    add("mixed-no-terminal", "mixed", "-p", "no:terminal")
    add("mixed-cov", "mixed", "--cov=shop", "--cov-report=term-missing", "--tb=line", "-q", "-k", "same")
    add("mixed-junit-note", "mixed", "--junitxml=report.xml", "--tb=no", "-k", "same")
    add("mixed-xfail-tb", "mixed", "-rxXP", "--xfail-tb", "-k", "expected or strict or login or same")
    add("report-junit", "mixed", "--junitxml=report.xml", stdout_file="report.xml")
    add("report-log", "mixed", "--report-log=report.jsonl", "-k", "same or error or odd", stdout_file="report.jsonl")
    add(
        "report-json",
        "mixed",
        "--json-report",
        "--json-report-file=report.json",
        "-k",
        "same or error",
        stdout_file="report.json",
    )
    add("green", "green")
    add("green-q", "green", "-q")
    add("green-v", "green", "-v")
    add("green-W-error-none", "green", "-p", "no:warnings")
    add("green-filtered", "green", "-k", "nothing_matches")
    add("green-deselect", "green", "-k", "login")
    add("livelog", "livelog", "-o", "log_cli=true")
    add("livelog-s", "livelog", "-s")
    add("livelog-sv", "livelog", "-s", "-v")
    add("livelog-red", "livelog-red", "-o", "log_cli=true", "-s")
    add("livelog-red-v", "livelog-red", "-s", "-v", "--tb=short")
    add("livelog-red-q", "livelog-red", "-s", "-q", "--tb=short")
    add("collect", "collect")
    add("collect-continue", "collect", "--continue-on-collection-errors", "-q")
    add("collect7", "collect", venv="p7")
    add("collect-v", "collect", "-v", "--tb=short")
    add("conftest-broken", "conftest-broken")
    add("usage", "green", "--no-such-flag")
    add("usage-path", "green", "tests/test_absent.py")
    add("usage-id", "green", "tests/test_green.py::test_absent")
    add("internal", "internal")
    add("internal-v", "internal", "-v")
    add("empty", "empty")
    add("empty-q", "empty", "-q")
    add("crash", "crash")
    add("crash-v", "crash", "-v")
    add("exits", "exits")
    add("exits-v", "exits", "-v")
    add("pytest-exit", "pytest-exit")
    add("interrupt", "interrupt")
    add("interrupt-v", "interrupt", "-v")
    add("timeout-signal", "timeout", "--timeout=1", "--timeout-method=signal")
    add("timeout-thread", "timeout", "--timeout=1", "--timeout-method=thread")
    add("timeout-thread-v", "timeout", "-v", "--timeout=1", "--timeout-method=thread")
    add("killed-v", "timeout", "-v", kill_after_s=2.0)
    add("killed", "timeout", kill_after_s=2.0)
    add("rerun", "rerun", "--reruns=2", "-rR")
    add("rerun-v", "rerun", "--reruns=2", "-v")
    add("rerun7", "rerun", "--reruns=2", "-rfER", venv="p7")
    add("doctest", "doctest")
    add("doctest-v", "doctest", "-v", "--tb=short")
    add("subtests", "subtests")
    add("subtests-v", "subtests", "-v", "--tb=short")
    add("subtests7", "subtests", venv="p7")
    add("subtests7-v", "subtests", "-v", "--tb=short", venv="p7")
    add("xdist-crash", "xdist-crash", "-n2")
    add("xdist-crash-v", "xdist-crash", "-n2", "-v")
    add("xdist-x", "many", "-n2", "-x", "--tb=short")
    add("many-short", "many", "--tb=short")
    add("many-v-line", "many", "-v", "--tb=line")
    add("many-auto", "many")
    for style in ("auto", "short", "native", "line"):
        add(f"fixtures-{style}", "fixtures", f"--tb={style}")
    add("fixtures7", "fixtures", venv="p7")
    add("fixtures-v-rN", "fixtures", "-v", "-rN")
    add("custom", "custom")
    add("custom-v", "custom", "-v", "--tb=short")
    add("custom-q-no", "custom", "-q", "--tb=no")
    add("inner", "inner", "--tb=short")
    add("inner-v", "inner", "-v")
    add("sugar", "mixed", "--force-sugar", venv="sugar")
    add("sugar-short", "mixed", "--force-sugar", "--tb=short", venv="sugar")
    add("rich", "mixed", "--rich", venv="rich")
    add("instafail", "mixed", "--instafail", venv="instafail")
    add("instafail-v", "mixed", "--instafail", "-v", "--tb=short", venv="instafail")
    add("emoji", "mixed", "--emoji", "--tb=line", venv="emoji")
    add("emoji-vv", "mixed", "--emoji", "-vv", "--tb=short", venv="emoji")
    add("tldr", "mixed", venv="tldr")
    add("tldr-v", "mixed", "-v", venv="tldr")
    return found


def write_suite(folder: Path, suite: str) -> None:
    """Lay the files of a suite out under `folder`."""
    for name, source in SUITES[suite].items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_text(source, encoding="utf-8")


def execute(run: Run, venv: Path, folder: Path) -> tuple[bytes, bytes, int]:
    """Both streams and the exit status; a killed run has status 137, as a shell reports it."""
    env = {
        "PATH": f"{venv}/bin:/usr/bin:/bin",
        "HOME": str(folder),
        "LANG": "C.UTF-8",
        "PYTHONPATH": str(folder.parent / "plugin"),
        "CTX_RECORD": str(folder.parent / "record.jsonl"),
        "PYTHONDONTWRITEBYTECODE": "1",
        **run.env,
    }
    extra = ["-p", "ctx_record", "-p", "no:cacheprovider"]
    for plugin in ("randomly", "benchmark", "cov", "json-report", "reportlog"):
        used = {"cov": "--cov", "json-report": "--json-report", "reportlog": "--report-log"}.get(plugin, "\0")
        if not any(word.startswith(used) for word in run.args) and run.venv == "p9":
            extra += [
                "-p",
                {"reportlog": "no:pytest_reportlog", "json-report": "no:pytest_jsonreport", "cov": "no:pytest_cov"}.get(
                    plugin, f"no:{plugin}"
                ),
            ]
    words = [f"{venv}/bin/python", "-m", "pytest", *extra, *run.args]
    child = subprocess.Popen(
        words, cwd=folder, env=env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, stdin=subprocess.DEVNULL
    )
    if run.kill_after_s:
        time.sleep(run.kill_after_s)
        child.send_signal(signal.SIGKILL)
    stdout, stderr = child.communicate(timeout=120)
    code = child.returncode
    if run.stdout_file:
        stdout = (folder / run.stdout_file).read_bytes()
    return stdout, stderr, code if code >= 0 else 128 - code


def truth_of(record: Path, folder: Path) -> dict[str, object]:
    """What the runner itself reported."""
    failing, counts, started = [], {}, []
    lines = record.read_text(encoding="utf-8").splitlines() if record.exists() else []
    for event in map(json.loads, lines):
        if event["event"] == "start":
            started.append(event["id"])
            continue
        outcome = event["outcome"]
        if outcome == "failed":
            fact = {"id": event["id"], "phase": event["phase"], "subtest": event["subtest"]}
            if "path" in event:
                path = event["path"]
                fact["raised_at"] = (
                    f"{os.path.relpath(path, folder) if path.startswith(str(folder)) else path}:{event['line']}"
                )
                fact["message"] = event["message"]
            failing.append(fact)
        if event["phase"] in ("call", "collect") or outcome != "passed":
            name = ("xfailed" if outcome == "skipped" else "xpassed") if event["xfail"] else outcome
            if outcome == "failed" and event["phase"] != "call":
                name = "errors"
            counts[name] = counts.get(name, 0) + 1
    return {"failing": failing, "counts": counts, "started": started}


def capture(run: Run, venv: Path, scratch: Path, out: Path) -> None:
    """Run one capture and write its case folder."""
    shutil.rmtree(scratch, ignore_errors=True)
    folder = scratch / "proj"
    folder.mkdir(parents=True)
    (scratch / "plugin").mkdir()
    (scratch / "plugin" / "ctx_record.py").write_text(PLUGIN)
    write_suite(folder, run.suite)
    stdout, stderr, code = execute(run, venv, folder)
    truth = truth_of(scratch / "record.jsonl", folder)
    answer = subprocess.run([f"{venv}/bin/python", "-c", FACTS], capture_output=True, text=True, check=True).stdout
    version, prefix, system, host = json.loads(answer)

    def neutral(data: bytes) -> bytes:
        data = data.replace(f'hostname="{host}"'.encode(), b'hostname="host"').replace(system.encode(), b"Linux-x86_64")
        for path, stand_in in (
            (folder, "/home/dev/shop"),
            (scratch, "/home/dev/scratch"),
            (venv, "/home/dev/venv"),
            (prefix, "/usr"),
        ):
            data = data.replace(str(path).encode(), stand_in.encode())
        return data

    case = out / run.name
    case.mkdir(parents=True, exist_ok=True)
    (case / "stdout.txt").write_bytes(neutral(stdout))
    (case / "stderr.txt").write_bytes(neutral(stderr))
    meta = {
        "argv": ["pytest", *run.args],
        "exit_code": code,
        "origin": "real",
        "recipe": "tests/recipes/capture_pytest.py",
        "suite": run.suite,
        "tool": "pytest",
        "tool_version": version,
        "truth": "recording plugin",
    }
    (case / "meta.json").write_text(json.dumps(meta, indent=1, ensure_ascii=False) + "\n", encoding="utf-8")
    text = neutral(json.dumps(truth, indent=1, ensure_ascii=False).encode("utf-8", "surrogatepass"))
    (case / "truth.json").write_bytes(text + b"\n")
    print(f"{run.name}: exit {code}, {len(stdout)} bytes, {len(truth['failing'])} failing")  # type: ignore[arg-type]


def main() -> None:
    """Command line."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--venv", action="append", required=True, metavar="NAME=PATH")
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--scratch", type=Path, default=Path("/tmp/capture-pytest"))
    parser.add_argument("--only", default="", help="prefix of the names to capture")
    given = parser.parse_args()
    venvs = dict(pair.split("=", 1) for pair in given.venv)
    for run in runs():
        if run.name.startswith(given.only) and run.venv in venvs:
            capture(run, Path(venvs[run.venv]).resolve(), given.scratch, given.out)


if __name__ == "__main__":
    main()
