"""The text cases: output of programs that no other family claims, from real tools and from generators.

Truth of a real tool is its exit status and the fault that the recipe planted in its input; truth of a generating program
is what that program says it planted, written to a side file in the same run (`packages/text/planted.py`).
"""

# ruff: noqa: E501 - the tables are one case a line
import gzip
import json
import shutil
import subprocess
import zipfile
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

from driver import HERE, Channel, RecipeError, Run, Work, dump, plain, question
from pins import PACKAGES, checkout, fetch

PROGRAMS = HERE / "packages" / "text"


@dataclass(frozen=True, kw_only=True, slots=True)
class Spec:
    """One text case."""

    name: str
    argv: tuple[str, ...]
    ask: str = "line"
    """`line`, `value`, `count`, `outcome`, `location`."""
    text: str = "Which line says what went wrong?"
    pattern: str = ""
    words: tuple[str, ...] = ("error", "failed")
    package: str = ""
    """A pinned package whose tree the command runs in; a generating program where empty."""
    prepare: Callable[[Work, Path], None] | None = None
    tool: str = ""
    """The program whose version is noted, where it is not the first word of `argv`."""
    planted: tuple[str, ...] = ()
    """For real tools: the exact lines (or texts) that the planted fault makes the tool print."""
    answer: int | None = None
    licence: str = "MIT"
    source: str = ""
    """Cluster; by default the package or the generating program."""
    outcome: str = ""
    kill_after: float | None = None
    cut: str = ""
    encode: str = ""
    """Re-encode both streams, as a host with another code page would."""
    hostility: str = "none"
    bins: tuple[str, ...] = ()
    decisive: tuple[str, ...] = ()


def capture(work: Work, spec: Spec) -> None:
    """Run one case and write its folder."""
    generated = spec.argv[:1] == ("python3",) and not spec.package and not spec.source
    folder = _folder(work, spec)
    planted_file = work.scratch / "planted.json"
    planted_file.unlink(missing_ok=True)
    env = work.environment(
        *(work.tools / b for b in spec.bins), extra={"PLANTED": str(planted_file), "PIP_CONFIG_FILE": "/dev/null"}
    )
    run = work.run(spec.argv, cwd=folder, env=env, kill_after=spec.kill_after)
    run = _cut(run, spec)
    if planted_file.exists():
        body = planted_file.read_bytes()
        facts = json.loads(body)
        channel = Channel(name="generator", ext="json", body=body)
    else:
        items = [{"identity": text, "kind": "value" if spec.ask == "value" else "line"} for text in spec.planted[:1]]
        if spec.ask == "outcome" and run.exit_code == 0:
            items = []  # Nothing went wrong: there is no line that the reader has to be told.
        facts = {"items": items, "decisive": [*spec.planted, *spec.decisive], "answer": spec.answer}
        body = dump({"exit_status": run.exit_code, "ended_by": run.ended_by, "planted": list(spec.planted)}).encode()
        channel = Channel(name="exit-status", ext="json", body=body)
    text = plain(run)
    items = [item for item in facts["items"] if item["identity"] in text]
    counts: dict[str, int] = {"items": len(items), "unnamed": len(facts["items"]) - len(items)}
    if facts["answer"] is not None:
        counts["answer"] = facts["answer"]
    outcome = spec.outcome or ("pass" if run.exit_code == 0 else "fail")
    words = ("error", "status") if spec.ask == "outcome" else spec.words
    pattern = {"outcome": "pass|fail|unknown", "count": r"\d+"}.get(spec.ask, spec.pattern)
    work.write_case(
        f"text/{spec.name}",
        run=run,
        argv=spec.argv,
        tool=spec.tool or Path(spec.argv[0]).name,
        version=_version(spec.tool or spec.argv[0], env),
        origin="generated" if generated or spec.source.startswith(("generator:", "made:")) else "captured",
        recipe="text_cases.py",
        source_repo=spec.source or (f"pypi:{spec.package}" if spec.package else f"generator:{Path(spec.argv[1]).stem}"),
        licence=PACKAGES[spec.package].licence if spec.package else spec.licence,
        question=question(spec.text, spec.ask, pattern=pattern, words=words),
        outcome=outcome,
        counts=counts,
        items=items,
        decisive=[d for d in facts["decisive"] if d in text or not spec.cut],
        channel=channel,
        hostility=spec.hostility,
    )
    if not items and spec.ask in ("line", "value", "location"):
        raise RecipeError(f"{spec.name}: nothing planted is in the output: {text[:300]!r}")
    shutil.rmtree(folder, ignore_errors=True)


def _folder(work: Work, spec: Spec) -> Path:
    if spec.package:
        folder = checkout(work.root, PACKAGES[spec.package])
    else:
        folder = work.root / "project"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(PROGRAMS, folder)
    if spec.prepare is not None:
        spec.prepare(work, folder)
    return folder


def _cut(run: Run, spec: Spec) -> Run:
    out, err = run.stdout, run.stderr
    if spec.cut == "middle":
        keep = 8_000
        gone = len(out) - 2 * keep
        out = out[:keep] + f"\n[{gone} characters omitted by the host]\n".encode() + out[-keep:]
    elif spec.cut:
        out = out[: int(spec.cut)]
    if spec.encode:
        out, err = (data.decode("utf-8").encode(spec.encode) if data else data for data in (out, err))
    return Run(stdout=out, stderr=err, exit_code=run.exit_code, ended_by=run.ended_by, duration_ms=run.duration_ms)


_VERSIONS: dict[str, str] = {}


def _version(tool: str, env: dict[str, str]) -> str:
    if tool not in _VERSIONS:
        flag = {"openssl": "version", "java": "-version", "sh": "-c"}.get(tool, "--version")
        done = subprocess.run(
            [tool, flag], env=env, capture_output=True, text=True, check=False, stdin=subprocess.DEVNULL
        )
        words = (done.stdout or done.stderr).replace('"', " ").split()
        _VERSIONS[tool] = next((w.strip(",()v") for w in words if w.strip("(v")[:1].isdigit()), "")
    return _VERSIONS[tool]


def _truncate_archive(work: Work, folder: Path) -> None:
    archive = next((work.root / "dl").glob("attrs-*.tar.gz"))
    (folder / "attrs.tar.gz").write_bytes(archive.read_bytes()[:-30_000])


def _break_module(path: str, line: int) -> Callable[[Work, Path], None]:
    def prepare(_work: Work, folder: Path) -> None:
        target = folder / path
        lines = target.read_text().split("\n")
        lines.insert(line, "def broken(:")
        target.write_text("\n".join(lines))

    return prepare


def _git_repository(work: Work, folder: Path) -> None:
    source = fetch(work.root, PACKAGES["toolz"])
    shutil.copytree(source, folder / "origin")
    who = ["-c", "user.name=Dev", "-c", "user.email=dev@example.invalid"]
    for argv in (["init", "-q", "-b", "main"], ["add", "-A"], [*who, "commit", "-q", "-m", "import"]):
        subprocess.run(["git", *argv], cwd=folder / "origin", check=True)


def _bad_json(_work: Work, folder: Path) -> None:
    rows = ",\n".join(f'  {{"sku": {n}, "name": "item {n}"}}' for n in range(60))
    (folder / "stock.json").write_text("[\n" + rows.replace('"item 41"', '"item 41" "spare"') + "\n]\n")


def _cmake_project(_work: Work, folder: Path) -> None:
    (folder / "CMakeLists.txt").write_text(
        'cmake_minimum_required(VERSION 3.20)\nproject(shop C)\nmessage(STATUS "shop: looking for libraries")\n'
        "find_package(Warehouse 3.1 REQUIRED)\n"
    )


def _setup_that_fails(_work: Work, folder: Path) -> None:
    (folder / "plugin").mkdir()
    (folder / "plugin" / "setup.py").write_text(
        'import sys\nprint("reading build configuration")\nsys.exit("plugin: this release needs libwarehouse 3.1 or newer")\n'
    )


def _deploy_script(_work: Work, folder: Path) -> None:
    (folder / "deploy.sh").write_text(
        "#!/bin/sh\nset -eu\necho 'deploying build 88'\nkubectl2 apply -f k8s/\necho 'deployed'\n"
    )


def _corrupt_gzip(_work: Work, folder: Path) -> None:
    data = b"".join(b"line %d of the nightly backup\n" % n for n in range(5000))
    packed = bytearray(gzip.compress(data, mtime=0))
    packed[len(packed) // 2] ^= 0xFF
    (folder / "nightly.gz").write_bytes(bytes(packed))


def _local_wheels(work: Work, folder: Path) -> None:
    (folder / "wheels").mkdir()
    for archive in (work.root / "dl").glob("i*.tar.gz"):
        shutil.copy(archive, folder / "wheels")


def _zip_of_source(work: Work, folder: Path) -> None:
    tree = fetch(work.root, PACKAGES["idna"])
    with zipfile.ZipFile(folder / "idna.zip", "w", zipfile.ZIP_DEFLATED, strict_timestamps=False) as archive:
        for path in sorted(tree.rglob("*.py")):
            archive.write(path, path.relative_to(tree))
    data = bytearray((folder / "idna.zip").read_bytes())
    data[len(data) // 2] ^= 0xFF
    (folder / "idna.zip").write_bytes(bytes(data))


PY = "python3"
SPECS: tuple[Spec, ...] = (
    # Generating programs: where the decisive line stands.
    Spec(name="migrate-middle-3000", argv=(PY, "migrate.py", "1700", "611"), pattern=r"migration \d+ failed: [^\n]+"),
    Spec(name="migrate-early", argv=(PY, "migrate.py", "1600", "40"), pattern=r"migration \d+ failed: [^\n]+"),
    Spec(name="migrate-small", argv=(PY, "migrate.py", "12", "9"), pattern=r"migration \d+ failed: [^\n]+"),
    Spec(name="sync-stderr-under-flood", argv=(PY, "sync.py", "3200"), pattern=r"sync: [^\n]+"),
    Spec(name="sync-small", argv=(PY, "sync.py", "15"), pattern=r"sync: [^\n]+"),
    Spec(name="sync-host-cut", argv=(PY, "sync.py", "2400"), pattern=r"sync: [^\n]+", cut="middle"),
    Spec(name="server-early-cause-late-end", argv=(PY, "server.py", "3000"), ask="outcome", text="Did the server keep running?"),
    Spec(name="server-medium", argv=(PY, "server.py", "150"), ask="outcome", text="Did the server keep running?"),
    Spec(name="train-progress-bars", argv=(PY, "train.py", "30"), ask="value", text="What was the best accuracy?", pattern=r"0\.\d{4}", words=("best", "accuracy")),
    Spec(name="release-green-words-exit-2", argv=(PY, "release.py", "12"), pattern=r"step \d+ \([^)]*\): [^\n]+"),
    Spec(name="release-long", argv=(PY, "release.py", "110"), pattern=r"step \d+ \([^)]*\): [^\n]+"),
    Spec(name="import-rows-total", argv=(PY, "import_rows.py", "1500"), ask="count", text="How many rows were rejected in total?", words=("rejected", "total")),
    Spec(name="import-rows-total-small", argv=(PY, "import_rows.py", "20"), ask="count", text="How many rows were rejected in total?", words=("rejected", "total")),
    Spec(name="one-line-of-300-kb", argv=(PY, "oneline.py", "300"), pattern=r"upload \w+: [^\n]+"),
    Spec(name="inside-one-line", argv=(PY, "insideline.py"), ask="value", text="Which solver error was raised?", pattern=r"\w+Error\([^)]*\)", words=("Error",)),
    Spec(name="encodings-mixed", argv=(PY, "encodings.py", "400"), pattern=r"row \d+: could not [^\n]+", hostility="invalid_utf8"),
    Spec(name="prompt-unanswered", argv=(PY, "prompt.py"), pattern=r"aborted: [^\n]+", words=("aborted",)),
    Spec(name="folded-one-differs", argv=(PY, "folded.py"), ask="line", text="Which heartbeat line has another term than 91?", pattern=r"node \d+ heartbeat ok \(term 9[02-9]\)", words=("term",)),
    Spec(name="summary-small-pass", argv=(PY, "summary.py"), ask="line", text="What is the result of the build?", pattern=r"\d+ pages built, \d+ broken links", words=("built",)),
    Spec(name="quiet-failure", argv=(PY, "quiet.py"), ask="outcome", text="Did the command succeed?"),
    Spec(name="killed-in-a-line", argv=(PY, "killed.py"), kill_after=2.0, ask="outcome", text="Did the command finish?"),
    Spec(name="utf16-from-another-host", argv=(PY, "migrate.py", "60", "31"), encode="utf-16", pattern=r"migration \d+ failed: [^\n]+", hostility="utf16"),
    # Marked adversarial.
    Spec(name="forged-digest", argv=(PY, "forged_digest.py"), pattern=r"\w+: ledger [^\n]+", words=("balance",), hostility="forged_digest"),
    Spec(name="control-characters", argv=(PY, "control.py"), pattern=r"account [\d-]+ was [^\n]+", words=("locked",), hostility="control_characters"),
    Spec(name="secrets-in-passing", argv=(PY, "secrets.py"), pattern=r"deploy: [^\n]+", words=("deploy", "stopped"), hostility="secrets"),
    # Real tools.
    Spec(name="make-part-fails", argv=("make", "-k", "-j1"), source="generator:make", pattern=r"part \d+: [^\n]+", planted=("part 143: assembler table overflow (max 4096 entries)", "make: *** [Makefile:7: part-143] Error 7")),
    Spec(name="make-no-rule", argv=("make", "instal"), source="generator:make", planted=("make: *** No rule to make target 'instal'.  Stop.",), pattern=r"make: \*\*\* [^\n]+"),
    Spec(name="compileall-attrs-middle", argv=(PY, "-m", "compileall", "-f", "src", "tests"), package="attrs", prepare=_break_module("src/attr/validators.py", 30), ask="value", text="Which file could not be compiled?", planted=('File "src/attr/validators.py", line 40',), pattern=r'File "[^"\n]+", line \d+', words=("Error",), tool="python3"),
    Spec(name="compileall-more-itertools", argv=(PY, "-m", "compileall", "-f", "."), package="more-itertools", prepare=_break_module("more_itertools/recipes.py", 12), ask="value", text="Which file could not be compiled?", planted=('File "./more_itertools/recipes.py", line 13',), pattern=r'File "[^"\n]+", line \d+', words=("Error",)),
    Spec(name="compileall-idna-pass", argv=(PY, "-m", "compileall", "-f", "idna"), package="idna", ask="outcome", text="Did every module compile?", planted=("Compiling 'idna/idnadata.py'...",)),
    Spec(name="tar-truncated-archive", argv=("tar", "-xvzf", "attrs.tar.gz"), prepare=_truncate_archive, source="pypi:attrs", planted=("tar: Unexpected EOF in archive", "tar: Error is not recoverable: exiting now"), pattern=r"tar: Unexpected [^\n]+"),
    Spec(name="tar-list-pass", argv=("tar", "-cvf", "/dev/null", "tests", "src"), package="attrs", ask="outcome", text="Was the archive written?", planted=("tests/test_validators.py",)),
    Spec(name="cp-one-missing", argv=("sh", "-c", "cp -v toolz/*.py toolz/tests/*.py toolz/missing_plugin.cfg copies/"), package="toolz", prepare=lambda _w, f: (f / "copies").mkdir(), planted=("cp: cannot stat 'toolz/missing_plugin.cfg': No such file or directory",), pattern=r"cp: cannot stat [^\n]+", tool="cp"),
    Spec(name="git-clone-progress", argv=("git", "clone", "--progress", "file:///home/dev/project/origin", "copy"), prepare=_git_repository, source="pypi:toolz", licence="BSD-3-Clause", ask="outcome", text="Did the clone finish?", planted=("Cloning into 'copy'...",)),
    Spec(name="git-clone-missing", argv=("git", "clone", "../no-such-origin.git", "copy"), source="tool:git", planted=("fatal: repository '../no-such-origin.git' does not exist",), pattern=r"fatal: [^\n]+", licence="GPL-2.0-only"),
    Spec(name="curl-refused", argv=("curl", "-sS", "http://127.0.0.1:9/health"), source="tool:curl", planted=("Failed to connect to 127.0.0.1 port 9",), ask="value", text="What could not be reached?", pattern=r"Failed to connect to \S+ port \d+", words=("Failed",), licence="curl"),
    Spec(name="openssl-not-a-key", argv=("openssl", "rsa", "-in", "Makefile", "-check"), source="tool:openssl", planted=("Could not read private key from Makefile",), pattern=r"Could not [^\n]+", licence="Apache-2.0"),
    Spec(name="json-tool-location", argv=(PY, "-m", "json.tool", "stock.json"), source="tool:python", prepare=_bad_json, planted=("Expecting ',' delimiter: line 43 column 33",), ask="value", text="Where is the JSON broken?", pattern=r"Expecting [^:\n]+: line \d+ column \d+", words=("line",), licence="PSF-2.0"),
    Spec(name="natsort-usage-error", argv=(PY, "-m", "natsort", "--revers-order", "a", "b"), package="natsort", planted=("__main__.py: error: unrecognized arguments: --revers-order",), ask="line", pattern=r"\S+: error: [^\n]+", bins=("lint/bin",)),
    Spec(name="tabulate-usage", argv=(PY, "-c", "from tabulate import _main; _main()", "--formt", "grid"), package="tabulate", planted=("option --formt not recognized",), ask="value", text="Which option is wrong?", pattern=r"option --\w+ not recognized", words=("option",)),
    Spec(name="pytest-not-installed", argv=(PY, "-m", "pytest", "-q"), source="tool:python", planted=("/usr/bin/python3: No module named pytest",), pattern=r"\S+: No module named \w+", words=("module",), licence="PSF-2.0"),
    Spec(name="pip-no-match", argv=("pip", "install", "--no-index", "--find-links", "wheels", "iniconfig>=99"), prepare=_local_wheels, source="tool:pip", planted=("ERROR: No matching distribution found for iniconfig>=99",), pattern=r"ERROR: [^\n]+", bins=("lint/bin",)),
    Spec(name="pip-build-fails", argv=("pip", "install", "--no-index", "--no-build-isolation", "./plugin"), prepare=_setup_that_fails, source="tool:pip", planted=("plugin: this release needs libwarehouse 3.1 or newer",), pattern=r"[\w-]+: [^\n]+", bins=("lint/bin",)),
    Spec(name="npm-missing-script", argv=("npm", "run", "biuld"), source="npm:minimist", planted=('npm error Missing script: "biuld"',), pattern=r"npm error Missing [^\n]+", prepare=lambda _w, f: (f / "package.json").write_text('{"name": "shop", "version": "1.0.0", "scripts": {"build": "true"}}\n') and None),
    Spec(name="command-not-found", argv=("sh", "deploy.sh"), prepare=_deploy_script, source="tool:sh", planted=("deploy.sh: 4: kubectl2: not found",), pattern=r"\S+: \d+: \S+: not found", licence="BSD-3-Clause"),
    Spec(name="cmake-package-missing", argv=("cmake", "-S", ".", "-B", "out"), prepare=_cmake_project, source="tool:cmake", planted=("CMake Error at CMakeLists.txt:4 (find_package):",), ask="value", text="Which statement failed?", pattern=r"CMake Error at [^\n]+", words=("Error",), licence="BSD-3-Clause"),
    Spec(name="gzip-corrupt", argv=("gzip", "-tv", "nightly.gz"), prepare=_corrupt_gzip, source="tool:gzip", planted=("invalid compressed data--crc error",), ask="outcome", text="Is the backup intact?", licence="GPL-3.0-or-later"),
    Spec(name="unzip-bad-crc", argv=("unzip", "-t", "idna.zip"), prepare=_zip_of_source, source="pypi:idna", planted=("At least one error was detected in idna.zip.",), pattern=r"At least [^\n]+", licence="BSD-3-Clause"),
    Spec(name="java-version-small", argv=("java", "-version"), source="tool:java", planted=("openjdk version",), ask="outcome", text="Is Java there?", licence="GPL-2.0-only WITH Classpath-exception-2.0"),
    Spec(name="true-empty", argv=("true",), source="tool:coreutils", ask="outcome", text="Did the command succeed?", licence="GPL-3.0-or-later"),
    Spec(name="timeout-124", argv=("sh", "-c", "timeout 1 sh -c 'echo waiting for the lock of build 12; sleep 30'"), source="tool:coreutils", planted=("waiting for the lock of build 12",), ask="outcome", text="Did the command finish?", licence="GPL-3.0-or-later", tool="timeout"),
    Spec(name="status-eaten-by-a-pipe", argv=("sh", "-c", "python3 migrate.py 800 600 | tail -n 900"), source="generator:migrate", pattern=r"migration \d+ failed: [^\n]+", outcome="fail", tool="python3"),
)  # fmt: skip
