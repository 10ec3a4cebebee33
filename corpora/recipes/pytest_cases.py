"""The pytest cases: real suites of pinned packages, as they are and with planted defects, and small made suites.

Truth is what a recording plugin saw in the same run (`record_reports.py`, `pytest_truth.py`), never what was printed.
"""

# ruff: noqa: E501 - the tables are one case a line
import shutil
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driver import HERE, Channel, RecipeError, Run, Work, dump, plain, question
from mutate import plant_in_sources, plant_in_tests
from pins import PACKAGES, checkout
from pytest_truth import PytestTruth, agrees, decisive_strings, read_reports, split_named, total_line

VERSIONS = {"py9": "9.2.0", "py7": "7.4.4"}
NODE_ID = r"[\w./\-]+\.py(?:::\S.*)?"
SUITES = HERE / "packages" / "suites"
GREEN = "Did the test run pass?"
HOST_CAP = 12_000


@dataclass(frozen=True, kw_only=True, slots=True)
class Spec:
    """One pytest case."""

    name: str
    source: str
    """A package of `packages.py`, or a folder of `packages/suites`."""
    args: tuple[str, ...] = ()
    plant: str = ""
    """`tests:<seed>:<number>`, `param:<seed>:<number>` or `sources:<seed>:<number>`."""
    venv: str = "py9"
    shell: str = ""
    """A shell line in place of `pytest <args>`."""
    kill_after: float | None = None
    cut: str = ""
    """What a host made of the standard output: `middle` (its middle dropped), `head:<bytes>`."""
    ask: str = ""
    """Answer type, where the usual choice does not fit."""
    decisive: tuple[str, ...] = ()
    hostility: str = "none"
    env: tuple[tuple[str, str], ...] = ()
    tests: str | None = None
    """In place of the package's own tests argument."""

    @property
    def argv(self) -> tuple[str, ...]:
        if self.shell:
            return ("sh", "-c", self.shell)
        package = PACKAGES.get(self.source)
        tests = self.tests if self.tests is not None else (package.tests if package else "")
        return ("pytest", *self.args, *([tests] if tests else []))


def capture(work: Work, spec: Spec) -> None:
    """Run one case and write its folder."""
    folder, bins = _prepare(work, spec)
    record = work.scratch / "reports.jsonl"
    record.unlink(missing_ok=True)
    package = PACKAGES.get(spec.source)
    path = [str(work.tools / "recorder")] + ([package.path] if package else [])
    env = work.environment(
        bins,
        extra={
            "PYTHONPATH": ":".join(path),
            "PYTEST_PLUGINS": "record_reports",
            "RECORD_REPORTS": str(record),
            **dict(spec.env),
        },
    )
    run = work.run(spec.argv, cwd=folder, env=env, kill_after=spec.kill_after)
    raw = record.read_bytes() if record.exists() else b""
    truth = read_reports(raw, xdist="-n" in spec.argv)
    whole = plain(run)
    totals = total_line(whole)
    if totals and not spec.shell and not truth.internal_error and not agrees(totals, truth.counts):
        raise RecipeError(f"{spec.name}: printed {totals!r}, recorded {dict(truth.counts)}")
    run = _cut(run, spec.cut)
    _write(work, spec, run, truth, package is not None)
    shutil.rmtree(folder, ignore_errors=True)


def _prepare(work: Work, spec: Spec) -> tuple[Path, Path]:
    if spec.source in PACKAGES:
        folder = checkout(work.root, PACKAGES[spec.source])
    else:
        folder = work.root / spec.source
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(SUITES / spec.source, folder)
    if spec.plant:
        mode, seed, number = spec.plant.split(":")
        if mode == "sources":
            package = PACKAGES[spec.source]
            root = package.name.replace("-", "_") if package.path == "." else package.path
            root = root if (folder / root).exists() else f"{root}.py" if (folder / f"{root}.py").exists() else "."
            plant_in_sources(folder, root, seed=int(seed), number=int(number))
        else:
            tests = PACKAGES[spec.source].tests
            plant_in_tests(folder, tests, seed=int(seed), number=int(number), parametrised=mode == "param")
    return folder, work.tools / spec.venv / "bin"


def _cut(run: Run, how: str) -> Run:
    """What is left after a host has cut standard output."""
    if not how:
        return run
    out = run.stdout
    if how == "middle":
        half = HOST_CAP // 2
        gone = len(out) - 2 * half
        out = out[:half] + f"\n... [{gone} characters truncated] ...\n".encode() + out[-half:]
    else:
        out = out[: int(how.partition(":")[2])]
    return Run(
        stdout=out, stderr=run.stderr, exit_code=run.exit_code, ended_by=run.ended_by, duration_ms=run.duration_ms
    )


def _outcome(run: Run, truth: PytestTruth, spec: Spec) -> str:
    """From the recorder where it saw the end, else from the exit status; a listing and an empty run are neither."""
    status = truth.exit_status if truth.exit_status is not None else run.exit_code
    if status == 5 or "--co" in spec.argv or "--collect-only" in spec.argv:
        return "unknown"
    return "pass" if status == 0 and not truth.items else "fail"


def _write(work: Work, spec: Spec, run: Run, truth: PytestTruth, is_package: bool) -> None:
    text = plain(run)
    items = split_named(truth, text)
    counts = {k: v for k, v in truth.counts.items() if v or k in ("failed", "errors")}
    counts.setdefault("failed", 0)
    counts.setdefault("errors", 0)
    outcome = _outcome(run, truth, spec)
    asked, extra = _question(spec, outcome, items, counts, text)
    counts.update(extra)
    package = PACKAGES.get(spec.source)
    unfinished = [truth.unfinished] if truth.unfinished and truth.unfinished in text else []
    decisive = decisive_strings(items, text, [*spec.decisive, *unfinished])
    channel = Channel(name="json-report", ext="json", body=truth.channel)
    if not truth.channel or (truth.exit_status is None and not truth.counts):
        channel = Channel(name="exit-status", ext="json", body=dump({"exit_status": run.exit_code}).encode())
    work.write_case(
        f"pytest/{spec.name}",
        run=run,
        argv=spec.argv,
        tool="pytest",
        version=VERSIONS[spec.venv],
        origin="captured" if is_package else "generated",
        recipe="pytest_cases.py",
        source_repo=f"pypi:{package.name}" if package else f"suite:{spec.source}",
        licence=package.licence if package else "MIT",
        question=asked,
        outcome=outcome,
        counts=counts,
        items=items,
        decisive=decisive,
        channel=channel,
        hostility=spec.hostility,
    )


def _question(
    spec: Spec, outcome: str, items: Sequence[dict[str, Any]], counts: dict[str, int], text: str
) -> tuple[dict[str, Any], dict[str, int]]:
    ask = spec.ask or ("identities" if items else "outcome")
    if ask == "identities":
        whole = "Which tests failed or could not be run?"
        if counts.get("unnamed"):
            whole = "Which failing tests does the output name?"
        return question(whole, ask, pattern=NODE_ID, words=("FAILED", "ERROR")), {}
    if ask.startswith("count:"):
        key = ask.partition(":")[2]
        number = {"bad": counts["failed"] + counts["errors"]}.get(key, counts.get(key, 0))
        words = {"bad": "failed", "collected": "collected", "passed": "passed", "deselected": "deselected"}[key]
        text_of = {
            "bad": "How many tests failed?",
            "collected": "How many tests were collected?",
            "passed": "How many tests passed?",
            "deselected": "How many tests were deselected?",
        }[key]
        return question(text_of, "count", pattern=r"\d+", words=(words,)), {"answer": number}
    return question(GREEN, "outcome", pattern="pass|fail|unknown", words=("passed", "failed", "error")), {}


PURE = (("WCWIDTH_PYTHON", "1"),)
"""Without it wcwidth's suite demands its C extension: 1,719 setup errors, which is a case of its own."""

SPECS: tuple[Spec, ...] = (
    # Suites as their authors ship them.
    Spec(name="attrs-as-shipped-q", source="attrs", args=("-q",)),
    Spec(name="humanize-missing-fixture-plugin", source="humanize", args=("-q", "--tb=short")),
    Spec(name="natsort-missing-dependency", source="natsort"),
    Spec(name="packaging-missing-dependencies", source="packaging", args=("-q",)),
    Spec(name="wcwidth-usage-error", source="wcwidth", decisive=("pytest: error: unrecognized arguments: --cov-append --cov-report=html --cov=wcwidth",)),
    Spec(name="iniconfig-pass", source="iniconfig"),
    Spec(name="pluggy-pass-v", source="pluggy", args=("-v",), ask="count:passed"),
    Spec(name="inflection-pass-v-flood", source="inflection", args=("-v",), ask="count:passed"),
    Spec(name="idna-pass-q", source="idna", args=("-q",)),
    Spec(name="itsdangerous-pass-vv-colour", source="itsdangerous", args=("-vv", "--color=yes")),
    Spec(name="markupsafe-pass-rs", source="markupsafe", args=("-rs",)),
    Spec(name="tabulate-pass-ra", source="tabulate", args=("-ra",), ask="count:passed"),
    Spec(name="toolz-pass-durations", source="toolz", args=("--durations=5",)),
    Spec(name="more-itertools-pass-rA", source="more-itertools", args=("-rA", "-q"), ask="count:passed"),
    # One failure.
    Spec(name="iniconfig-one-default", source="iniconfig", plant="tests:1:1"),
    Spec(name="pluggy-one-v", source="pluggy", args=("-v",), plant="tests:2:1"),
    Spec(name="toolz-one-x", source="toolz", args=("-x",), plant="tests:3:1"),
    Spec(name="inflection-one-vv-middle", source="inflection", args=("-vv",), plant="tests:4:1"),
    Spec(name="itsdangerous-one-tb-native", source="itsdangerous", args=("--tb=native",), plant="tests:5:1"),
    Spec(name="markupsafe-one-colour", source="markupsafe", args=("--color=yes",), plant="tests:6:1"),
    Spec(name="wcwidth-one-showlocals", source="wcwidth", args=("-o", "addopts=", "-l", "--tb=long"), plant="tests:7:1", env=PURE),
    Spec(name="natsort-k-locale-errors", source="natsort", args=("-q", "-k", "natsorted or utils", "--ignore=tests/test_main.py", "--ignore=tests/test_natsort_keygen.py"), ),
    # About eight.
    Spec(name="attrs-eight-default", source="attrs", plant="tests:10:4"),
    Spec(name="pluggy-eight-tb-short", source="pluggy", args=("--tb=short",), plant="tests:11:8"),
    Spec(name="iniconfig-eight-tb-line", source="iniconfig", args=("--tb=line",), plant="tests:12:8"),
    Spec(name="toolz-eight-tb-no", source="toolz", args=("--tb=no", "-q"), plant="tests:13:8"),
    Spec(name="toolz-eight-no-names", source="toolz", args=("-rN", "--tb=no"), plant="tests:13:8", ask="count:bad"),
    Spec(name="itsdangerous-eight-maxfail", source="itsdangerous", args=("--maxfail=3",), plant="tests:14:8"),
    Spec(name="markupsafe-eight-rA", source="markupsafe", args=("-rA",), plant="tests:15:8"),
    Spec(name="tabulate-eight-rfEsxX", source="tabulate", args=("-rfEsxX", "--tb=short"), plant="tests:16:8"),
    Spec(name="more-itertools-eight-colour-v", source="more-itertools", args=("-v", "--color=yes", "--tb=short"), plant="tests:17:8"),
    Spec(name="idna-eight-unittest-q", source="idna", args=("-q", "--tb=short"), plant="tests:18:8"),
    Spec(name="inflection-eight-qq", source="inflection", args=("-qq",), plant="tests:19:8"),
    Spec(name="pluggy-eight-xdist", source="pluggy", args=("-n", "2"), plant="tests:20:8"),
    Spec(name="toolz-eight-xdist-v", source="toolz", args=("-n", "2", "-v"), plant="tests:21:8"),
    Spec(name="itsdangerous-missing-dependency-pytest7", source="itsdangerous", venv="py7"),
    Spec(name="toolz-eight-pytest7-v", source="toolz", venv="py7", args=("-v",), plant="tests:22:8"),
    Spec(name="pluggy-eight-pipe-tail", source="pluggy", shell="pytest -q testing | tail -n 12", plant="tests:23:8"),
    Spec(name="humanize-eight-no-summary", source="humanize", args=("--no-summary", "-v", "--ignore=tests/test_benchmarks.py"), plant="tests:24:8"),
    # About 37.
    Spec(name="toolz-37-default", source="toolz", plant="tests:30:37"),
    Spec(name="tabulate-37-q-colour", source="tabulate", args=("-q", "--color=yes"), plant="tests:31:37"),
    Spec(name="attrs-37-tb-line-q", source="attrs", args=("--tb=line", "-q"), plant="tests:32:32"),
    Spec(name="pluggy-37-vv-tb-long", source="pluggy", args=("-vv", "--tb=long"), plant="tests:33:37"),
    Spec(name="more-itertools-37-durations", source="more-itertools", args=("--durations=5", "--tb=native"), plant="tests:34:37"),
    Spec(name="wcwidth-474-sources", source="wcwidth", args=("-o", "addopts=", "--tb=short"), plant="sources:35:3", env=PURE),
    Spec(name="iniconfig-37-pytest7-v", source="iniconfig", venv="py7", args=("-v",), plant="tests:36:37"),
    Spec(name="toolz-37-host-cut-middle", source="toolz", plant="tests:37:37", cut="middle"),
    Spec(name="tabulate-37-head-cut", source="tabulate", args=("-v", "--tb=short"), plant="tests:38:37", cut="head:20000"),
    Spec(name="humanize-37-xdist-q", source="humanize", args=("-n", "2", "-q", "--ignore=tests/test_benchmarks.py"), plant="sources:39:4"),
    # 200 and more.
    Spec(name="attrs-200-default", source="attrs", plant="tests:40:200"),
    Spec(name="idna-20-tb-short", source="idna", args=("--tb=short",), plant="tests:41:20"),
    Spec(name="inflection-import-fails", source="inflection", args=("-q", "--tb=line"), plant="sources:42:9"),
    Spec(name="inflection-200-q", source="inflection", args=("-q", "--tb=line"), plant="param:42:30"),
    Spec(name="more-itertools-200-v-rfE", source="more-itertools", args=("-v", "-rfE", "--tb=short"), plant="tests:43:220"),
    Spec(name="wcwidth-200-colour", source="wcwidth", args=("-o", "addopts=", "--color=yes", "--tb=line"), plant="tests:44:220", env=PURE),
    Spec(name="wcwidth-1719-setup-errors", source="wcwidth", args=("-o", "addopts=", "-q", "--tb=line")),
    Spec(name="humanize-400-ra", source="humanize", args=("-ra", "--tb=no", "--ignore=tests/test_benchmarks.py"), plant="sources:45:9"),
    # Nothing run, nothing selected, listings.
    Spec(name="pluggy-nothing-selected", source="pluggy", args=("-k", "no_such_test_anywhere"), decisive=("219 deselected",)),
    Spec(name="iniconfig-listing", source="iniconfig", args=("--co", "-q"), ask="count:collected", decisive=("54 tests collected",)),
    Spec(name="toolz-file-not-found", source="toolz", tests="tests/unit", args=("-q",), decisive=("ERROR: file or directory not found: tests/unit",)),
    Spec(name="itsdangerous-conftest-broken", source="itsdangerous", shell="echo 'import missing_settings' >> tests/conftest.py; pytest tests", decisive=("ModuleNotFoundError: No module named 'missing_settings'",)),
    Spec(name="more-itertools-killed-half-way", source="more-itertools", args=("-v",), kill_after=6.0, plant="tests:46:60", ask="outcome"),
    # Made suites: what packages seldom show.
    Spec(name="store-phases-default", source="store"),
    Spec(name="store-phases-v-rA", source="store", args=("-v", "-rA")),
    Spec(name="store-phases-pytest7-tb-short", source="store", venv="py7", args=("--tb=short", "-ra")),
    Spec(name="store-setup-show", source="store", args=("--setup-show", "-q")),
    Spec(name="ids-default", source="ids", hostility="odd_ids"),
    Spec(name="ids-v-tb-short", source="ids", args=("-v", "--tb=short"), hostility="odd_ids"),
    Spec(name="ids-tb-line-q", source="ids", args=("-q", "--tb=line"), hostility="odd_ids"),
    Spec(name="ids-xdist-v-rN", source="ids", args=("-n", "2", "-v", "-rN", "--tb=no"), hostility="odd_ids"),
    Spec(name="subtests-default", source="subtests"),
    Spec(name="flaky-reruns", source="flaky", args=("--reruns", "3", "-v")),
    Spec(name="livelog-pass-forged", source="livelog", args=("-o", "log_cli=true", "-o", "log_cli_level=INFO"), hostility="forged_summary"),
    Spec(name="forged-summaries", source="forged", hostility="forged_summary"),
    Spec(name="forged-summaries-s", source="forged", args=("-s", "-v"), hostility="forged_summary"),
    Spec(name="forged-summaries-rA-colour", source="forged", args=("-rA", "--color=yes"), hostility="forged_summary"),
    Spec(name="crash-xdist", source="crash", args=("-n", "2")),
    Spec(name="crash-no-totals", source="crash", args=("-v",), ask="outcome", decisive=("test_crash.py::test_before[5] FAILED",)),
    Spec(name="slow-killed", source="slow", args=("-v",), kill_after=4.0, ask="outcome", decisive=("test_slow.py::test_quick[11] FAILED",)),
    Spec(name="slow-timeout-thread", source="slow", args=("--timeout=2", "--timeout-method=thread", "-v"), ask="outcome", decisive=("test_slow.py::test_waits_for_the_queue",)),
    Spec(name="slow-timeout-signal", source="slow", args=("--timeout=2", "--tb=short")),
    Spec(name="internal-error", source="internal", ask="outcome", decisive=("INTERNALERROR> KeyError: 'duration_by_owner'",)),
    Spec(name="doctests", source="doctests", args=("--doctest-modules",)),
    Spec(name="badload-import-and-syntax", source="badload"),
    Spec(name="badload-continue", source="badload", args=("--continue-on-collection-errors", "-q")),
    Spec(name="capture-noise", source="capture"),
    Spec(name="tiny-pass", source="tiny"),
    Spec(name="tiny-pass-q", source="tiny", args=("-q",)),
    Spec(name="control-characters", source="control", hostility="control_characters"),
    Spec(name="control-characters-s", source="control", args=("-s", "-q", "--tb=short"), hostility="control_characters"),
    Spec(name="samename-xdist", source="samename", args=("-n", "2", "-q")),
    Spec(name="samename-tb-short", source="samename", args=("--tb=short", "-v")),
)  # fmt: skip
