"""The lint cases: linters, type checkers and compilers on pinned packages and small made programs.

Truth is the same tool's machine-readable report on the same input, in a run right after the captured one.
"""

# ruff: noqa: E501 - the tables are one case a line
import re
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from driver import HERE, VOLATILE, Channel, RecipeError, Run, Work, plain, question
from lint_truth import READERS, printed_rows
from mutate import plant_lint
from pins import NPM_PACKAGES, PACKAGES, checkout, checkout_npm

PROGRAMS = HERE / "packages" / "programs"
PLACE = r"[\w./\\-]+[:(]\d+(?:[:,]\d+)?\)?"
VENV_TOOLS = ("ruff", "mypy", "pylint", "flake8")
NODE_TOOLS = ("eslint", "tsc", "pyright")


@dataclass(frozen=True, kw_only=True, slots=True)
class Spec:
    """One lint case: the command as typed, and the command of the second channel."""

    name: str
    tool: str
    source: str
    """A package, `program:<folder>` or `generate:<kind>:<number>`."""
    args: tuple[str, ...]
    report: tuple[str, ...] = ()
    """Arguments of the report run; the tool's usual ones where empty."""
    common: tuple[str, ...] = ()
    """Arguments of both runs, after the others."""
    plant: str = ""
    """`<folder>:<kind>:<seed>:<number>` for `mutate.plant_lint`."""
    columns: bool = True
    cut: int = 0
    """Bytes of each stream that a host kept; 0 for all."""
    ask: str = ""
    env: tuple[tuple[str, str], ...] = ()
    decisive: tuple[str, ...] = ()
    hostility: str = "none"

    @property
    def argv(self) -> tuple[str, ...]:
        return (self.tool, *self.args, *self.common)


REPORTS: Mapping[str, tuple[str, ...]] = {
    "ruff": ("check", "--isolated", "--output-format", "json"),
    "mypy": ("--output", "json"),
    "pyright": ("--outputjson",),
    "pylint": ("--output-format=json2",),
    "flake8": ("--format=%(path)s\t%(row)d\t%(col)d\t%(code)s\t%(text)s",),
    "eslint": ("-f", "json"),
    "gcc": ("-fdiagnostics-format=json",),
    "g++": ("-fdiagnostics-format=json",),
    "rustc": ("--error-format=json",),
    "cargo": ("check", "--message-format=json"),
    "shellcheck": ("-f", "json1"),
}
CHANNELS: Mapping[str, tuple[str, str]] = {
    "ruff": ("ruff-json", "json"), "mypy": ("mypy-json", "jsonl"), "pyright": ("pyright-json", "json"),
    "pylint": ("pylint-json2", "json"), "flake8": ("flake8-format", "tsv"), "eslint": ("eslint-json", "json"),
    "tsc": ("typescript-api", "jsonl"), "gcc": ("gcc-json", "json"), "g++": ("gcc-json", "json"),
    "clang": ("libclang", "jsonl"), "rustc": ("rustc-json", "jsonl"), "cargo": ("cargo-json", "jsonl"),
    "javac": ("javax-tools", "jsonl"), "shellcheck": ("shellcheck-json1", "json"),
}  # fmt: skip


def capture(work: Work, spec: Spec) -> None:
    """Run one case and write its folder."""
    folder, cluster, licence, origin = _prepare(work, spec)
    bins = [work.tools / "lint" / "bin"] if spec.tool in VENV_TOOLS else []
    bins += [work.tools / "node" / "node_modules" / ".bin"] if spec.tool in NODE_TOOLS else []
    extra = {"PYLINTHOME": str(work.scratch / "pylint"), **dict(spec.env)}
    shutil.rmtree(work.scratch / "pylint", ignore_errors=True)  # A score of an earlier run would be printed.
    if spec.tool in ("rustc", "cargo"):
        bins.append(_toolchain(work))
    env = work.environment(*bins, extra=extra)
    run = work.run(spec.argv, cwd=folder, env=env)
    body = _report(work, spec, folder, env)
    run = _cut(run, spec.cut)
    text = plain(run)
    if "ruff" in spec.tool and b"rror" in run.stderr and run.exit_code == 2:
        raise RecipeError(f"{spec.name}: {run.stderr[:200]!r}")
    items, unnamed = printed_rows(READERS[spec.tool](body), text, folder=str(folder), columns=spec.columns)
    if unnamed and not spec.cut and not spec.ask:
        raise RecipeError(f"{spec.name}: {unnamed} of {unnamed + len(items)} diagnostics are not in the text")
    counts: dict[str, int] = {"diagnostics": len(items) + unnamed, "unnamed": unnamed}
    counts.update(Counter(f"{item['severity'].replace(' ', '_')}s" for item in items))
    outcome = "pass" if run.exit_code == 0 and not any(i["severity"].endswith("error") for i in items) else "fail"
    asked = _question(spec, items, unnamed, outcome, counts)
    name, ext = CHANNELS[spec.tool]
    work.write_case(
        f"lint/{spec.name}",
        run=run,
        argv=spec.argv,
        tool=spec.tool,
        version=_version(spec.tool, env),
        origin=origin,
        recipe="lint_cases.py",
        source_repo=cluster,
        licence=licence,
        question=asked,
        outcome=outcome,
        counts=counts,
        items=items,
        decisive=_decisive(spec, items, text, counts),
        channel=Channel(name=name, ext=ext, body=body),
        hostility=spec.hostility,
    )
    shutil.rmtree(folder, ignore_errors=True)


def _prepare(work: Work, spec: Spec) -> tuple[Path, str, str, str]:
    kind, _, rest = spec.source.partition(":")
    if kind == "program":
        folder = work.root / rest
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(PROGRAMS / rest, folder)
        if rest == "js":
            (folder / "node_modules").symlink_to(work.tools / "node" / "node_modules")
        return folder, f"program:{rest}", "MIT", "generated"
    if kind == "generate":
        what, number = rest.split(":")
        folder = work.root / f"{what}flood"
        shutil.rmtree(folder, ignore_errors=True)
        folder.mkdir()
        subprocess.run([sys.executable, str(PROGRAMS / "generate.py"), what, number, str(folder)], check=True)
        if what == "ts":
            shutil.copy(PROGRAMS / "ts" / "tsconfig.json", folder)
        return folder, f"generator:{what}", "MIT", "generated"
    if kind in NPM_PACKAGES:
        package = NPM_PACKAGES[kind]
        folder = checkout_npm(work.root, package)
        if spec.tool == "eslint":
            shutil.copy(PROGRAMS / "js" / "eslint.config.mjs", folder)
        return folder, f"npm:{kind}", package.licence, "captured"
    folder = checkout(work.root, PACKAGES[kind])
    if spec.plant:
        where, what, seed, number = spec.plant.split(":")
        plant_lint(folder, where, kind=what, seed=int(seed), number=int(number))
    return folder, f"pypi:{kind}", PACKAGES[kind].licence, "captured"


def _toolchain(work: Work) -> Path:
    """A link to the Rust toolchain below the work folder, so that no home folder gets into a message."""
    found = subprocess.run(["rustc", "--print", "sysroot"], capture_output=True, text=True, check=True).stdout.strip()
    link = work.tools / "rust"
    if not link.exists():
        link.symlink_to(found)
    return link / "bin"


def _report(work: Work, spec: Spec, folder: Path, env: Mapping[str, str]) -> bytes:
    if spec.tool == "tsc":
        library = str(work.tools / "node" / "node_modules" / "typescript")
        argv = ["node", str(PROGRAMS / "ts" / "diagnose.cjs"), library, "tsconfig.json"]
    elif spec.tool == "javac":
        classes = work.tools / "diagnose"
        classes.mkdir(exist_ok=True)
        subprocess.run(["javac", "-d", str(classes), str(PROGRAMS / "java" / "Diagnose.java")], check=True)
        argv = ["java", "-cp", str(classes), "Diagnose", str(work.scratch), *spec.report, *spec.args, *spec.common]
    elif spec.tool == "clang":
        argv = ["/usr/bin/python3", str(PROGRAMS / "libclang_diagnostics.py"), *spec.common]
    else:
        argv = [spec.tool, *(spec.report or REPORTS[spec.tool]), *spec.common]
    if spec.tool == "cargo":
        shutil.rmtree(folder / "target", ignore_errors=True)
    run = work.run(argv, cwd=folder, env=env)
    return run.stderr if spec.tool in ("gcc", "g++", "rustc") else run.stdout


def _cut(run: Run, size: int) -> Run:
    if not size:
        return run
    return Run(
        stdout=run.stdout[:size],
        stderr=run.stderr[:size],
        exit_code=run.exit_code,
        ended_by=run.ended_by,
        duration_ms=run.duration_ms,
    )


_VERSIONS: dict[str, str] = {}


def _version(tool: str, env: Mapping[str, str]) -> str:
    if tool not in _VERSIONS:
        flag = "-dumpfullversion" if tool in ("gcc", "g++") else "--version"
        done = subprocess.run([tool, flag], env=dict(env), capture_output=True, text=True, check=False)
        words = (done.stdout or done.stderr).split()
        _VERSIONS[tool] = next((w.strip(",()v") for w in words if w.strip("v")[:1].isdigit()), "")
    return _VERSIONS[tool]


def _question(
    spec: Spec, items: Sequence[Mapping[str, Any]], unnamed: int, outcome: str, counts: dict[str, int]
) -> dict[str, Any]:
    if spec.ask == "count":
        counts["answer"] = counts["diagnostics"]
        return question("How many diagnostics are there?", "count", pattern=r"\d+", words=("error", "warning", "Found"))
    if spec.ask == "outcome" or not items:
        return question("Did the check pass?", "outcome", pattern="pass|fail|unknown", words=("error", "Found"))
    text = "Which diagnostics does the output list?" if unnamed else "Which diagnostics were reported?"
    codes = [str(item["code"]) for item in items if item["code"]]
    return question(text, "identities", pattern=PLACE, words=("error", "warning", *dict.fromkeys(codes[:2])))


def _decisive(spec: Spec, items: Sequence[Mapping[str, Any]], text: str, counts: Mapping[str, int]) -> list[str]:
    found = list(spec.decisive)
    errors = [item for item in items if str(item["severity"]).endswith("error")]
    chosen = list(errors[:2] or items[:2]) + list(items[-1:])
    found += [item["message"] for item in chosen if item["message"] and not VOLATILE.search(item["message"])]
    for line in reversed(text.split("\n")):
        if TOTALS.search(line) and not VOLATILE.search(line):
            found.append(line.strip())
            break
    if not items:
        found += [line for line in GREEN if line in text]
    return list(dict.fromkeys(found))[:6]


TOTALS = re.compile(
    r"^(?:Found \d+|\d+ (?:error|warning)s?(?:, |$| and \d| generated)|.* \d+ problems? |.*could not compile|Your code)"
)
GREEN = ("All checks passed!", "Success: no issues found", "0 errors, 0 warnings")


RUFF = ("check", "--isolated")
SPECS: tuple[Spec, ...] = (
    # ruff
    Spec(name="ruff-attrs-full-200", tool="ruff", source="attrs", args=RUFF, report=(*REPORTS["ruff"],), common=("--select", "D,ANN,PT", "src")),
    Spec(name="ruff-toolz-concise", tool="ruff", source="toolz", args=(*RUFF, "--output-format", "concise"), common=("--select", "F,E,W,B", "toolz")),
    Spec(name="ruff-tabulate-grouped", tool="ruff", source="tabulate", args=(*RUFF, "--output-format", "grouped"), common=("--select", "E,F,N,C4,PERF", "tabulate")),
    Spec(name="ruff-humanize-github", tool="ruff", source="humanize", args=(*RUFF, "--output-format", "github"), common=("--select", "F,PLR,PLW", "src"), plant="src:name:51:8"),
    Spec(name="ruff-itsdangerous-colour", tool="ruff", source="itsdangerous", args=RUFF, common=("--select", "F,E,B", "src"), env=(("FORCE_COLOR", "1"),), plant="src:name:52:8"),
    Spec(name="ruff-iniconfig-one", tool="ruff", source="iniconfig", args=RUFF, common=("src",), plant="src:name:53:1"),
    Spec(name="ruff-natsort-concise-37", tool="ruff", source="natsort", args=(*RUFF, "--output-format", "concise"), common=("--select", "F", "natsort"), plant="natsort:name:54:37"),
    Spec(name="ruff-idna-pass", tool="ruff", source="idna", args=RUFF, common=("--select", "F", "idna")),
    Spec(name="ruff-pluggy-syntax-error", tool="ruff", source="pluggy", args=RUFF, common=("src",), plant="src:syntax:55:1"),
    Spec(name="ruff-humanize-concise-cut", tool="ruff", source="humanize", args=(*RUFF, "--output-format", "concise"), common=("--select", "D,ANN,PL,EM,TRY", "src"), cut=5000),
    # mypy
    Spec(name="mypy-tabulate-strict-200", tool="mypy", source="tabulate", args=("--strict",), report=("--strict", "--output", "json"), common=("tabulate",), columns=False),
    Spec(name="mypy-pluggy-eight", tool="mypy", source="pluggy", args=(), common=("src",), plant="src:type:61:8", columns=False),
    Spec(name="mypy-iniconfig-pretty", tool="mypy", source="iniconfig", args=("--pretty",), common=("src",), plant="src:type:62:4", columns=False),
    Spec(name="mypy-itsdangerous-colour", tool="mypy", source="itsdangerous", args=("--show-column-numbers",), common=("src",), plant="src:type:63:8", env=(("MYPY_FORCE_COLOR", "1"), ("TERM", "xterm-256color"))),
    Spec(name="mypy-humanize-no-summary", tool="mypy", source="humanize", args=("--no-error-summary",), common=("src",), plant="src:type:64:1", columns=False),
    Spec(name="mypy-markupsafe-pass", tool="mypy", source="markupsafe", args=(), common=("src/markupsafe/_native.py",), columns=False),
    Spec(name="mypy-toolz-37", tool="mypy", source="toolz", args=("--check-untyped-defs",), report=("--check-untyped-defs", "--output", "json"), common=("--ignore-missing-imports", "toolz"), plant="toolz:type:65:37", columns=False),
    # pyright
    Spec(name="pyright-itsdangerous", tool="pyright", source="itsdangerous", args=(), common=("src",), plant="src:type:71:8"),
    Spec(name="pyright-iniconfig-one", tool="pyright", source="iniconfig", args=(), common=("src",), plant="src:type:72:1"),
    Spec(name="pyright-natsort-many", tool="pyright", source="natsort", args=(), common=("natsort",), plant="natsort:type:73:30"),
    Spec(name="pyright-inflection-pass", tool="pyright", source="inflection", args=(), common=("inflection",)),
    # pylint
    Spec(name="pylint-tabulate-default", tool="pylint", source="tabulate", args=(), common=("tabulate",)),
    Spec(name="pylint-natsort-colour", tool="pylint", source="natsort", args=("--output-format=colorized",), common=("natsort",)),
    Spec(name="pylint-toolz-parseable", tool="pylint", source="toolz", args=("--output-format=parseable",), common=("toolz",), columns=False),
    Spec(name="pylint-iniconfig-errors-only", tool="pylint", source="iniconfig", args=("-E",), report=("-E", "--output-format=json2"), common=("src/iniconfig",), plant="src:name:81:8"),
    Spec(name="pylint-inflection-pass", tool="pylint", source="inflection", args=("-E",), report=("-E", "--output-format=json2"), common=("inflection",)),
    # flake8
    Spec(name="flake8-attrs-default", tool="flake8", source="attrs", args=(), common=("src",)),
    Spec(name="flake8-idna-count", tool="flake8", source="idna", args=("--count",), common=("--extend-ignore=E501", "idna")),
    Spec(name="flake8-humanize-colour", tool="flake8", source="humanize", args=("--color=always",), common=("src",), plant="src:name:91:8"),
    Spec(name="flake8-markupsafe-pass", tool="flake8", source="markupsafe", args=(), common=("--max-line-length=100", "--extend-ignore=E701,E704,F401,F403,F405,F811,E301,E302", "src")),
    # eslint
    Spec(name="eslint-semver-stylish", tool="eslint", source="semver", args=(), common=(".",)),
    Spec(name="eslint-minimist-warnings-only", tool="eslint", source="minimist", args=(), common=(".",)),
    Spec(name="eslint-commander-colour", tool="eslint", source="commander", args=("--color",), common=("lib",)),
    Spec(name="eslint-cart-unix", tool="eslint", source="program:js", args=("-f", "unix"), common=("src",)),
    Spec(name="eslint-cart-quiet", tool="eslint", source="program:js", args=("--quiet",), report=("--quiet", "-f", "json"), common=("src/cart.js",)),
    Spec(name="eslint-clean-pass", tool="eslint", source="program:js", args=(), common=("src/clean.js",)),
    # tsc
    Spec(name="tsc-order-plain", tool="tsc", source="program:ts", args=(), common=()),
    Spec(name="tsc-order-pretty", tool="tsc", source="program:ts", args=("--pretty",), common=()),
    Spec(name="tsc-flood-200", tool="tsc", source="generate:ts:240", args=("-p", "."), common=()),
    # gcc, g++, clang
    Spec(name="gcc-markupsafe-speedups", tool="gcc", source="markupsafe", args=(), common=("-Wall", "-Wextra", "-Wconversion", "-I/usr/include/python3.11", "-fsyntax-only", "src/markupsafe/_speedups.c")),
    Spec(name="gcc-stock-errors", tool="gcc", source="program:c", args=(), common=("-Wall", "-Wextra", "-c", "broken.c", "stock.c")),
    Spec(name="gcc-stock-colour", tool="gcc", source="program:c", args=("-fdiagnostics-color=always",), common=("-Wall", "-c", "stock.c")),
    Spec(name="gcc-missing-header", tool="gcc", source="program:c", args=(), common=("-c", "missing.c")),
    Spec(name="gcc-flood-800-three-errors", tool="gcc", source="generate:c:797", args=(), common=("-Wall", "-fsyntax-only", "flood.c")),
    Spec(name="gcc-plain-output", tool="gcc", source="program:c", args=("-fno-diagnostics-show-caret",), common=("-Wall", "-Wextra", "-fsyntax-only", "broken.c")),
    Spec(name="gxx-table-templates", tool="g++", source="program:cpp", args=(), common=("-Wall", "-Wextra", "-Wdelete-non-virtual-dtor", "-std=c++17", "-fsyntax-only", "main.cpp")),
    Spec(name="clang-stock-errors", tool="clang", source="program:c", args=(), common=("-Wall", "-Wextra", "-fsyntax-only", "broken.c")),
    Spec(name="clang-table-colour", tool="clang", source="program:cpp", args=("-fcolor-diagnostics",), common=("-Wall", "-std=c++17", "-fsyntax-only", "main.cpp")),
    # Marked adversarial: what is diagnosed imitates diagnostics.
    Spec(name="gcc-forged-rows", tool="gcc", source="program:hostile", args=(), common=("-Wall", "-fsyntax-only", "forged.c"), hostility="forged_rows"),
    Spec(name="clang-forged-rows-colour", tool="clang", source="program:hostile", args=("-fcolor-diagnostics",), common=("-Wall", "-fsyntax-only", "forged.c"), hostility="forged_rows"),
    Spec(name="ruff-forged-rows-full", tool="ruff", source="program:hostile", args=RUFF, common=("--select", "F,I", "forged.py"), hostility="forged_rows"),
    Spec(name="pylint-forged-rows", tool="pylint", source="program:hostile", args=(), common=("forged.py",), hostility="forged_rows"),
    Spec(name="shellcheck-odd-file-name", tool="shellcheck", source="program:hostile", args=("-f", "gcc"), common=("odd: name 12.sh",), hostility="odd_ids"),
    # rustc and cargo
    Spec(name="cargo-ledger-errors", tool="cargo", source="program:rust", args=("check",), common=()),
    Spec(name="cargo-ledger-short", tool="cargo", source="program:rust", args=("check", "--message-format=short"), report=("check", "--message-format=json"), common=()),
    Spec(name="cargo-notebook-warnings", tool="cargo", source="program:rustwarn", args=("check",), common=()),
    Spec(name="cargo-ledger-colour", tool="cargo", source="program:rust", args=("check", "--color=always"), report=("check", "--message-format=json"), common=()),
    Spec(name="rustc-pages-200", tool="rustc", source="generate:rust:230", args=(), common=("--crate-type=lib", "--edition=2021", "src/lib.rs")),
    # javac
    Spec(name="javac-shop-all", tool="javac", source="program:java", args=(), common=("-Xlint:all", "Shop.java", "Old.java"), columns=False),
    Spec(name="javac-old-warnings", tool="javac", source="program:java", args=(), common=("-Xlint:all", "Old.java"), columns=False),
    Spec(name="javac-flood-cap-100", tool="javac", source="generate:java:153", args=(), report=("-Xmaxwarns", "1000"), common=("-Xlint:unchecked", "Flood.java"), columns=False, ask="identities"),
    Spec(name="javac-flood-rawtypes-153", tool="javac", source="generate:java:153", args=(), report=("-Xmaxwarns", "1000"), common=("-Xlint:rawtypes", "Flood.java"), columns=False, ask="count", decisive=("of 153 total",)),
    # shellcheck
    Spec(name="shellcheck-deploy-tty", tool="shellcheck", source="program:shell", args=(), common=("deploy.sh", "release.sh"), columns=False),
    Spec(name="shellcheck-deploy-gcc", tool="shellcheck", source="program:shell", args=("-f", "gcc"), common=("deploy.sh", "release.sh")),
    Spec(name="shellcheck-bats-tty", tool="shellcheck", source="bats", args=("-s", "bash"), report=("-s", "bash", "-f", "json1"), common=("libexec/bats-core/bats", "libexec/bats-core/bats-exec-test", "libexec/bats-core/bats-exec-suite", "libexec/bats-core/bats-format-pretty", "lib/bats-core/formatter.bash"), columns=False),
    Spec(name="shellcheck-flood-gcc-200", tool="shellcheck", source="generate:shell:150", args=("-f", "gcc"), common=("flood.sh",)),
    Spec(name="shellcheck-clean-pass", tool="shellcheck", source="program:shell", args=(), common=("clean.sh",)),
    Spec(name="shellcheck-deploy-colour", tool="shellcheck", source="program:shell", args=("--color=always",), common=("deploy.sh",), columns=False),
)  # fmt: skip
