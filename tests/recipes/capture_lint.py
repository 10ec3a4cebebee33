"""Capture the lint case folders: real tools in the forms that the corpus lacks, and their own reports as truth.

    python tests/recipes/capture_lint.py --work /home/dev --out tests/profiles/lint [--only NAME]

The work folder is the one of `corpora/recipes` with its tools installed (`run_all.py --install`). Older tools come
from `tools/old` (`ruff==0.4.10 mypy==1.5.1 flake8==6.1.0 pylint==2.17.7`), `tools/mid` (`ruff==0.11.13`) and
`tools/node8` (`eslint@8.57.1 pyright@1.1.300 typescript@4.9.5`). Sources are the corpus programs and `lint_programs`.

A case folder holds `stdout.txt`, `stderr.txt`, `meta.json` and `truth.json`: `diagnostics` of the second channel (file,
line, column, code, message, severity), read by `corpora/recipes/lint_truth.py`; `columns` and `codes`, whether this
form of the text prints them, as the table below says; `shown`, how many of them it prints where a tool stops early.
"""

# ruff: noqa: E501 - the tables are one capture a line

import argparse
import json
import os
import shutil
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

sys.path.insert(0, str(Path(__file__).parent))
sys.path.insert(0, str(Path(__file__).parents[2] / "corpora" / "recipes"))

from driver import Run, Work
from lint_programs import PROGRAMS
from lint_truth import READERS, Row

CORPUS_PROGRAMS = Path(__file__).resolve().parents[2] / "corpora" / "recipes" / "packages" / "programs"


@dataclass(frozen=True, kw_only=True, slots=True)
class Form:
    """One capture."""

    name: str
    source: str
    """A folder of `lint_programs`, or of the corpus programs."""
    argv: tuple[str, ...]
    report: tuple[str, ...] = ()
    """The command of the second channel; without one, the case has no diagnostics to compare."""
    read: str = ""
    """Which reader of `lint_truth` understands the report."""
    env: tuple[tuple[str, str], ...] = ()
    columns: bool = True
    codes: bool = True
    shown: int | None = None
    folder: str = "."
    """Where the tool runs, below the source."""


def forms() -> Iterator[Form]:
    """Every capture."""
    yield from _c()
    yield from _python()
    yield from _node()
    yield from _others()


def _c() -> Iterator[Form]:
    stock = ("-Wall", "-Wextra", "-c", "-o", "/dev/null", "stock.c")
    broken = ("-Wall", "-Wextra", "-fsyntax-only", "broken.c")

    def gcc(name: str, *flags: str, common: tuple[str, ...] = broken, source: str = "c", **more: object) -> Form:
        tool = "g++" if source == "cpp" else "gcc"
        report = (tool, "-fdiagnostics-format=json", *[f for f in flags if f.startswith(("-W", "-fanal"))], *common)
        return Form(name=name, source=source, argv=(tool, *flags, *common), report=report, read="gcc", **more)  # type: ignore[arg-type]

    yield gcc("gcc-urls", "-fdiagnostics-color=always", "-fdiagnostics-urls=always", common=stock)
    yield gcc("gcc-no-column", "-fno-show-column", columns=False)
    yield gcc("gcc-no-option", "-fno-diagnostics-show-option", common=stock, codes=False)
    yield gcc("gcc-narrow", "-fmessage-length=60", common=stock)
    yield gcc("gcc-plain", "-fdiagnostics-plain-output", common=stock)
    yield gcc("gcc-no-numbers", "-fno-diagnostics-show-line-numbers")
    yield gcc("gcc-werror", "-Werror", common=stock)
    yield gcc("gcc-max-errors", "-fmax-errors=2", shown=2)
    yield gcc("gcc-fatal-errors", "-Wfatal-errors", shown=1)
    yield gcc("gcc-fixits", "-fdiagnostics-parseable-fixits", "-fdiagnostics-generate-patch")
    yield gcc("gcc-analyzer", "-fanalyzer", common=("-c", "-o", "/dev/null", "square.c"), source="square")
    yield gcc(
        "gcc-odd-path",
        "-Wall",
        common=("-Wall", "-c", "-o", "/dev/null", "my lib/deep dir/square (2).c"),
        source="square",
    )
    yield gcc("gcc-include-chain", "-Ilib", common=("-Wall", "-Ilib", "-fsyntax-only", "app/width.c"), source="mono")
    yield gcc("gcc-json", "-fdiagnostics-format=json", common=stock)
    cpp = ("-Wall", "-Wextra", "-std=c++17", "-fsyntax-only", "main.cpp")
    yield gcc("gxx-no-column", "-fno-show-column", common=cpp, source="cpp", columns=False)
    yield gcc("gxx-colour-narrow", "-fdiagnostics-color=always", "-fmessage-length=72", common=cpp, source="cpp")
    yield Form(name="gcc-undefined", source="link", argv=("gcc", "main.c"))
    yield Form(name="gcc-multiple", source="link", argv=("gcc", "main.c", "part.c"))
    yield Form(name="gcc-no-library", source="link", argv=("gcc", "part.c", "-lnosuchthing"))
    yield Form(name="gcc-assembler", source="asm", argv=("gcc", "-c", "start.s"))
    yield Form(name="gcc-no-input", source="c", argv=("gcc", "-c", "nosuch.c"))
    make = ("make", "-k", "CC=gcc -fdiagnostics-format=json")
    yield Form(name="make-multi", source="mono", argv=("make", "-k"), report=make, read="gcc")
    yield Form(name="make-parallel", source="mono", argv=("make", "-k", "-j2", "-O"), report=make, read="gcc")
    yield Form(name="make-first-error", source="mono", argv=("make",))
    for name, build in {
        "ninja": "cmake -G Ninja -S . -B build >/dev/null && ninja -C build -k 0",
        "cmake-make": "cmake -S . -B build >/dev/null && cmake --build build -- -k",
        "gcc-piped-tail": "gcc -Wall -Ilib -fsyntax-only app/width.c lib/width.c 2>&1 | tail -12",
        "several-tools": "gcc -Wall -Ilib -fsyntax-only app/width.c 2>&1; shellcheck -f gcc lib/run.sh; "
        "ruff check --isolated lib/width.py; mypy lib/width.py",
    }.items():
        yield Form(name=name, source="mono", argv=("sh", "-c", build))
    for name, flags in {
        "clang-msvc": ("-fdiagnostics-format=msvc",),
        "clang-vi": ("-fdiagnostics-format=vi",),
        "clang-ranges": ("-fdiagnostics-print-source-range-info",),
        "clang-no-caret": ("-fno-caret-diagnostics",),
        "clang-category": ("-fdiagnostics-show-category=name",),
        "clang-fixits": ("-fdiagnostics-parseable-fixits",),
    }.items():
        for source, common in (("c", broken), ("cpp", cpp)):
            if source == "cpp" and name not in ("clang-no-caret", "clang-msvc"):
                continue
            report = ("/usr/bin/python3", str(CORPUS_PROGRAMS / "libclang_diagnostics.py"), *common)
            suffix = "-cpp" if source == "cpp" else ""
            yield Form(name=name + suffix, source=source, argv=("clang", *flags, *common), report=report, read="clang")
    report = ("/usr/bin/python3", str(CORPUS_PROGRAMS / "libclang_diagnostics.py"), *broken)
    limited = ("clang", "-ferror-limit=2", *broken)
    yield Form(name="clang-limit", source="c", argv=limited, report=report, read="clang", shown=2)
    no_option = ("clang", "-fno-diagnostics-show-option", "-fno-color-diagnostics", *broken)
    yield Form(name="clang-no-option", source="c", argv=no_option, report=report, read="clang", codes=False)


def _python() -> Iterator[Form]:
    select = ("--isolated", "--select", "F,E,W,B,UP", ".")
    for where, ruff in (("", "ruff"), ("mid-", "mid/ruff"), ("old-", "old/ruff")):
        report = (ruff, "check", "--output-format", "json", *select)
        for style in (
            "full",
            "concise",
            "grouped",
            "github",
            "gitlab",
            "azure",
            "pylint",
            "sarif",
            "json",
            "json-lines",
            "rdjson",
            "junit",
        ):
            argv = (ruff, "check", "--output-format", style, *select)
            columns = style not in ("pylint",)
            if where and style not in ("full", "concise", "grouped", "github", "pylint"):
                continue
            yield Form(
                name=f"ruff-{where}{style}", source="style", argv=argv, report=report, read="ruff", columns=columns
            )
        for name, flags in {
            "fix": ("--fix",),
            "statistics": ("--statistics",),
            "quiet": ("--quiet",),
            "diff": ("--diff",),
        }.items():
            again = report if name in ("quiet",) else ()
            yield Form(
                name=f"ruff-{where}{name}",
                source="style",
                argv=(ruff, "check", *flags, *select),
                report=again,
                read="ruff",
            )
    report = ("ruff", "check", "--output-format", "json", *select)
    yield Form(
        name="ruff-colour",
        source="style",
        argv=("ruff", "check", *select),
        report=report,
        read="ruff",
        env=(("FORCE_COLOR", "1"),),
    )
    report = ("ruff", "check", "--isolated", "--output-format", "json", "shelf.ipynb")
    for style in ("full", "concise", "grouped"):
        argv = ("ruff", "check", "--isolated", "--output-format", style, "shelf.ipynb")
        yield Form(name=f"ruff-notebook-{style}", source="notebook", argv=argv, report=report, read="ruff")
    yield Form(name="ruff-format-check", source="style", argv=("ruff", "format", "--isolated", "--check", "."))
    yield Form(name="ruff-no-such-file", source="style", argv=("ruff", "check", "nosuch.py"))
    yield Form(name="ruff-bad-option", source="style", argv=("ruff", "check", "--select", "NOSUCH999", "."))

    for where, mypy in (("", "mypy"), ("old-", "old/mypy")):
        files = ("shelf.py", "pkg one/odd name.py")
        report = ("mypy", "--output", "json", *files)
        for name, flags, columns, codes in (
            ("default", (), False, True),
            ("columns", ("--show-column-numbers",), True, True),
            ("ends", ("--show-error-end",), True, True),
            ("pretty", ("--pretty",), False, True),
            ("pretty-columns", ("--pretty", "--show-column-numbers"), True, True),
            ("no-codes", ("--hide-error-codes",), False, False),
            ("context", ("--show-error-context",), False, True),
            ("links", ("--show-error-code-links",), False, True),
            ("absolute", ("--show-absolute-path",), False, True),
            ("strict", ("--strict", "--pretty"), False, True),
        ):
            if where and name not in ("default", "pretty", "ends"):
                continue
            again = () if where else ("mypy", "--strict", *report[1:]) if name == "strict" else report
            yield Form(
                name=f"mypy-{where}{name}",
                source="typed",
                argv=(mypy, *flags, *files),
                report=again,
                read="mypy",
                columns=columns,
                codes=codes,
            )
    narrow = (("MYPY_FORCE_COLOR", "1"), ("MYPY_FORCE_TERMINAL_WIDTH", "40"), ("TERM", "xterm-256color"))
    yield Form(
        name="mypy-colour-narrow",
        source="typed",
        argv=("mypy", "--pretty", *files),
        report=report,
        read="mypy",
        columns=False,
        env=narrow,
    )
    yield Form(name="mypy-json", source="typed", argv=report, report=report, read="mypy")
    yield Form(name="mypy-syntax", source="style", argv=("mypy", "broken.py"))
    yield Form(name="mypy-no-such-file", source="style", argv=("mypy", "nosuch.py"))
    yield Form(name="mypy-usage", source="style", argv=("mypy", "--nosuch"))

    files = ("first.py", "pkg", "good.py")
    for where, pylint in (("", "pylint"), ("old-", "old/pylint")):
        report = (pylint, "--output-format=json", *files)
        for name, flags, columns in (
            ("text", (), True),
            ("colorized", ("--output-format=colorized",), True),
            ("parseable", ("--output-format=parseable",), False),
            ("msvs", ("--output-format=msvs",), False),
            ("json", ("--output-format=json",), True),
            ("json2", ("--output-format=json2",), True),
            ("github", ("--output-format=github",), True),
            ("reports", ("-r", "y"), True),
            ("template", ("--msg-template={path}:{line}:{column}: {msg_id}: {msg} ({symbol})",), True),
            ("no-score", ("--score=n",), True),
        ):
            if where and name not in ("text", "parseable"):
                continue
            yield Form(
                name=f"pylint-{where}{name}",
                source="style",
                argv=(pylint, *flags, *files),
                report=report,
                read="pylint-json",
                columns=columns,
            )
    twins = ("--disable=import-error", "one.py", "two.py", "three.py", "four.py")
    yield Form(
        name="pylint-duplicates",
        source="twins",
        argv=("pylint", *twins),
        report=("pylint", "--output-format=json", *twins),
        read="pylint-json",
    )
    yield Form(
        name="pylint-syntax",
        source="style",
        argv=("pylint", "broken.py"),
        report=("pylint", "--output-format=json", "broken.py"),
        read="pylint-json",
    )
    yield Form(name="pylint-no-such-file", source="style", argv=("pylint", "nosuch.py"))

    files = (".",)
    tabs = "--format=%(path)s\t%(row)d\t%(col)d\t%(code)s\t%(text)s"
    for where, flake8 in (("", "flake8"), ("old-", "old/flake8")):
        for name, flags, columns in (
            ("default", (), True),
            ("source", ("--show-source",), True),
            ("pylint", ("--format=pylint",), False),
            ("statistics", ("--statistics", "--count"), True),
            ("colour-source", ("--color=always", "--show-source"), True),
        ):
            if where and name not in ("default", "source"):
                continue
            yield Form(
                name=f"flake8-{where}{name}",
                source="style",
                argv=(flake8, *flags, *files),
                report=(flake8, tabs, *files),
                read="flake8",
                columns=columns,
            )
    yield Form(name="flake8-quiet", source="style", argv=("flake8", "-q", *files))
    yield Form(name="flake8-bad-option", source="style", argv=("flake8", "--nosuch", *files))

    files = ("shelf.py", "pkg one/odd name.py")
    for where, pyright in (("", "pyright"), ("old-", "node8/pyright")):
        report = (pyright, "--outputjson", *files)
        for name, flags in (
            ("default", ()),
            ("stats", ("--stats",)),
            ("verbose", ("--verbose",)),
            ("warnings", ("--warnings",)),
            ("json", ("--outputjson",)),
        ):
            if where and name != "default":
                continue
            yield Form(
                name=f"pyright-{where}{name}",
                source="typed",
                argv=(pyright, *flags, *files),
                report=report,
                read="pyright",
            )
    yield Form(name="pyright-no-such-file", source="typed", argv=("pyright", "nosuch.py"))


def _node() -> Iterator[Form]:
    for where, eslint, source in (("", "eslint", "js"), ("old-", "node8/eslint", "js8")):
        report = (eslint, "-f", "json", "src")
        styles = (
            ("stylish", "json")
            if not where
            else ("stylish", "compact", "unix", "visualstudio", "tap", "junit", "checkstyle")
        )
        for style in (*styles, "json-with-metadata") if not where else styles:
            yield Form(
                name=f"eslint-{where}{style}",
                source=source,
                argv=(eslint, "-f", style, "src"),
                report=report,
                read="eslint",
                codes=style != "visualstudio",
            )
        yield Form(
            name=f"eslint-{where}max-warnings",
            source=source,
            argv=(eslint, "--max-warnings", "0", "src"),
            report=report,
            read="eslint",
        )
        yield Form(
            name=f"eslint-{where}colour", source=source, argv=(eslint, "--color", "src"), report=report, read="eslint"
        )
        yield Form(name=f"eslint-{where}nothing", source=source, argv=(eslint, "nosuch"))
    report = ("eslint", "-f", "json", "src")
    yield Form(name="npm-lint", source="npm", argv=("npm", "run", "lint"), report=report, read="eslint")
    yield Form(name="npm-lint-json", source="npm", argv=("npm", "run", "report"), report=report, read="eslint")
    for where, tsc, library in (("", "tsc", "node"), ("old-", "node8/tsc", "node8")):
        report = (
            "node",
            str(CORPUS_PROGRAMS / "ts" / "diagnose.cjs"),
            f"{{tools}}/{library}/node_modules/typescript",
            "tsconfig.json",
        )
        for name, flags, env in (
            ("plain", (), ()),
            ("pretty", ("--pretty",), ()),
            ("pretty-colour", ("--pretty",), (("FORCE_COLOR", "1"),)),
            ("german", ("--locale", "de"), ()),
            ("listed", ("--listFilesOnly",), ()),
        ):
            if where and name not in ("plain", "pretty"):
                continue
            again = report if name not in ("listed", "german") else ()
            yield Form(name=f"tsc-{where}{name}", source="ts", argv=(tsc, *flags), report=again, read="tsc", env=env)
    yield Form(name="tsc-build", source="refs", argv=("tsc", "-b"))
    yield Form(name="tsc-build-verbose", source="refs", argv=("tsc", "-b", "--verbose", "--pretty"))
    yield Form(name="tsc-bad-option", source="ts", argv=("tsc", "--nosuch"))
    yield Form(name="tsc-no-project", source="c", argv=("tsc", "-p", "."))


def _others() -> Iterator[Form]:
    report = ("cargo", "check", "--message-format=json")
    for name, argv in {
        "cargo-space": ("cargo", "check"),
        "cargo-space-keep-going": ("cargo", "check", "--keep-going"),
        "cargo-space-short": ("cargo", "check", "--message-format", "short"),
        "cargo-space-json": report,
        "cargo-space-quiet": ("cargo", "check", "-q"),
        "cargo-space-colour": ("cargo", "check", "--color=always"),
    }.items():
        again = ("cargo", "check", "--keep-going", "--message-format=json") if "keep" in name else report
        yield Form(name=name, source="rustspace", argv=argv, report=again, read="cargo", codes=False)
    yield Form(
        name="cargo-targets",
        source="rustspace",
        argv=("cargo", "check", "-p", "one", "--all-targets"),
        report=("cargo", "check", "-p", "one", "--all-targets", "--message-format=json"),
        read="cargo",
        codes=False,
    )
    yield Form(
        name="clippy-space",
        source="rustspace",
        argv=("cargo", "clippy", "-p", "one"),
        report=("cargo", "clippy", "-p", "one", "--message-format=json"),
        read="cargo",
        codes=False,
    )
    yield Form(
        name="clippy-deny",
        source="rustspace",
        argv=("cargo", "clippy", "-p", "one", "--", "-D", "warnings"),
        report=("cargo", "clippy", "-p", "one", "--message-format=json", "--", "-D", "warnings"),
        read="cargo",
        codes=False,
    )
    yield Form(
        name="clippy-notebook",
        source="rustwarn",
        argv=("cargo", "clippy"),
        report=("cargo", "clippy", "--message-format=json"),
        read="cargo",
        codes=False,
    )
    yield Form(name="cargo-no-manifest", source="c", argv=("cargo", "check"))
    one = ("--crate-type=lib", "--edition=2021", "one/src/lib.rs")
    yield Form(
        name="rustc-short",
        source="rustspace",
        argv=("rustc", "--error-format=short", "-Wunused", *one),
        report=("rustc", "--error-format=json", "-Wunused", *one),
        read="rustc",
        codes=False,
    )
    two = ("--edition=2021", "two/src/main.rs")
    yield Form(
        name="rustc-test",
        source="rustspace",
        argv=("rustc", "--test", "-Dunused", *one),
        report=("rustc", "--test", "--error-format=json", "-Dunused", *one),
        read="rustc",
        codes=False,
    )
    yield Form(
        name="rustc-no-crate",
        source="rustspace",
        argv=("rustc", *two),
        report=("rustc", "--error-format=json", *two),
        read="rustc",
        codes=False,
    )

    both = ("-Xlint:all", "Shop.java", "Old.java")
    diagnose = ("java", "-cp", "{tools}/diagnose", "Diagnose", "{scratch}")
    for name, flags, env in (
        ("javac-verbose", ("-Xdiags:verbose",), ()),
        ("javac-werror", ("-Werror",), ()),
        ("javac-raw", ("-XDrawDiagnostics",), ()),
        ("javac-german", ("-J-Duser.language=de",), ()),
        ("javac-japanese", ("-J-Duser.language=ja",), ()),
        ("javac-chinese", ("-J-Duser.language=zh", "-J-Duser.country=CN"), ()),
        ("javac-no-lint", ("-Xlint:none",), ()),
    ):
        argv = ("javac", *flags, *(both if name != "javac-no-lint" else both[1:]))
        flag = flags if flags[0].startswith(("-Xl", "-Xdiags")) else ()
        again = (*diagnose, *flag, *(both if name != "javac-no-lint" else both[1:]))
        if name in ("javac-raw", "javac-german", "javac-japanese", "javac-chinese"):
            again = ()
        yield Form(name=name, source="java", argv=argv, report=again, read="javac", columns=False, codes=False, env=env)
    paths = ("-Xlint:all", "src/a/Box.java", "src/b/Box.java")
    yield Form(
        name="javac-same-names",
        source="javas",
        argv=("javac", "-d", "out", *paths),
        report=(*diagnose, *paths),
        read="javac",
        columns=False,
        codes=False,
    )
    yield Form(
        name="javac-type-errors",
        source="javas",
        argv=("javac", "-d", "out", *paths[:2]),
        report=(*diagnose, *paths[:2]),
        read="javac",
        columns=False,
        codes=False,
    )
    yield Form(
        name="javac-max-errors",
        source="java",
        argv=("javac", "-Xmaxerrs", "2", *both),
        report=(*diagnose, *both),
        read="javac",
        columns=False,
        codes=False,
        shown=12,
    )
    yield Form(name="javac-no-such-file", source="java", argv=("javac", "Nosuch.java"))
    yield Form(name="javac-bad-option", source="java", argv=("javac", "-nosuch", "Shop.java"))

    files = ("odd.sh", "no shebang/run: 2.sh")
    report = ("shellcheck", "-f", "json1", *files)
    for name, flags, columns in (
        ("tty", (), False),
        ("gcc", ("-f", "gcc"), True),
        ("colour", ("--color=always",), False),
        ("no-links", ("--wiki-link-count=0",), False),
        ("json", ("-f", "json"), True),
        ("json1", ("-f", "json1"), True),
        ("checkstyle", ("-f", "checkstyle"), True),
        ("quiet", ("-f", "quiet"), True),
        ("diff", ("-f", "diff"), True),
    ):
        again = () if name in ("quiet", "diff") else ("shellcheck", "-f", "json", *files) if name == "json" else report
        yield Form(
            name=f"shellcheck-{name}",
            source="shell",
            argv=("shellcheck", *flags, *files),
            report=again,
            read="shellcheck",
            columns=columns,
        )
    yield Form(
        name="shellcheck-severity",
        source="shell",
        argv=("shellcheck", "-S", "warning", *files),
        report=("shellcheck", "-S", "warning", "-f", "json1", *files),
        read="shellcheck",
        columns=False,
    )
    yield Form(name="shellcheck-no-such-file", source="shell", argv=("shellcheck", "nosuch.sh", "odd.sh"))


def _pylint_json(raw: bytes) -> Iterator[Row]:
    """`pylint --output-format=json`: a list, in every version."""
    for d in json.loads(raw):
        yield {"file": d["path"], "line": d["line"], "column": d["column"], "code": d["message-id"], "message": d["message"], "severity": d["type"]}  # fmt: skip


def _gcc(raw: bytes) -> Iterator[Row]:
    """As `lint_truth.gcc`, with the warnings that gcc files as children of another one."""
    for line in raw.decode().splitlines():
        for d in json.loads(line) if line.startswith("[") else ():
            for entry in (d, *d.get("children", ())):
                if entry["kind"] != "note":
                    caret = entry["locations"][0]["caret"] if entry["locations"] else {}
                    yield {"file": caret.get("file", ""), "line": caret.get("line"), "column": caret.get("column"), "code": entry.get("option", ""), "message": entry["message"], "severity": entry["kind"]}  # fmt: skip


def _shellcheck(raw: bytes) -> Iterator[Row]:
    """`json` is a list, `json1` an object that holds it; they count the columns of a tab differently."""
    found = json.loads(raw)
    yield from READERS["shellcheck"](json.dumps(found if isinstance(found, dict) else {"comments": found}).encode())


def _ruff(raw: bytes) -> Iterator[Row]:
    """As `lint_truth.ruff`, with the cell of a notebook behind its file, as the text prints it."""
    for entry, row in zip(json.loads(raw), READERS["ruff"](raw), strict=True):
        yield {**row, "file": f"{row['file']}:cell {entry['cell']}"} if entry.get("cell") else row


READ: Mapping[str, Callable[[bytes], Iterator[Row]]] = {
    **READERS,
    "pylint-json": _pylint_json,
    "gcc": _gcc,
    "ruff": _ruff,
    "shellcheck": _shellcheck,
}


def capture(work: Work, form: Form) -> None:
    """Run one form in a fresh folder and write its case."""
    top = work.root / "forms" / form.source
    shutil.rmtree(top, ignore_errors=True)
    if form.source in PROGRAMS:
        for name, text in PROGRAMS[form.source].items():
            (top / name).parent.mkdir(parents=True, exist_ok=True)
            (top / name).write_text(text, encoding="utf-8")
        if form.source in ("js8", "npm"):
            shutil.copytree(CORPUS_PROGRAMS / "js" / "src", top / "src")
        if form.source == "npm":
            shutil.copy(CORPUS_PROGRAMS / "js" / "eslint.config.mjs", top)
    else:
        shutil.copytree(CORPUS_PROGRAMS / form.source, top)
    folder = top / form.folder
    run = _run(work, form.argv, folder, dict(form.env))
    truth: dict[str, object] = {"columns": form.columns, "codes": form.codes, "shown": form.shown, "diagnostics": None}
    if form.report:
        shutil.rmtree(folder / "target", ignore_errors=True)
        for built in folder.rglob("*.o"):
            built.unlink()
        again = _run(work, form.report, folder, {})
        body = again.stderr if form.read in ("gcc", "rustc") else again.stdout
        rows = []
        for row in READ[form.read](body):
            if row not in rows or form.read != "cargo":  # cargo reports again what its text calls a duplicate
                rows.append({key: value for key, value in row.items() if value not in ("", None)})
        truth["diagnostics"] = rows
    out = work.out / form.name
    shutil.rmtree(out, ignore_errors=True)
    out.mkdir(parents=True)
    (out / "stdout.txt").write_bytes(run.stdout)
    (out / "stderr.txt").write_bytes(run.stderr)
    words = [
        Path(word).name if "/" in word and word.split("/")[0] in ("mid", "old", "node8") else word for word in form.argv
    ]
    meta = {"argv": words, "exit_code": run.exit_code, "origin": "real", "source": form.source, "tool": words[0]}
    (out / "meta.json").write_text(json.dumps(meta, indent=1, sort_keys=True) + "\n", encoding="utf-8")
    (out / "truth.json").write_text(
        json.dumps(truth, indent=1, sort_keys=True, ensure_ascii=False) + "\n", encoding="utf-8"
    )
    shutil.rmtree(top, ignore_errors=True)


def _run(work: Work, argv: tuple[str, ...], folder: Path, extra: dict[str, str]) -> Run:
    tools = work.tools
    bins = [tools / "lint" / "bin", tools / "node" / "node_modules" / ".bin"]
    if (tools / "rust").exists():
        bins.append(tools / "rust" / "bin")
    where, _, tool = argv[0].partition("/")
    if tool and where in ("mid", "old"):
        bins.insert(0, tools / where / "bin")
        argv = (tool, *argv[1:])
    elif tool and where == "node8":
        bins.insert(0, tools / where / "node_modules" / ".bin")
        argv = (tool, *argv[1:])
    values = {"tools": str(tools), "scratch": str(work.scratch)}
    argv = tuple(word.replace("{tools}", values["tools"]).replace("{scratch}", values["scratch"]) for word in argv)
    extra = {"PYLINTHOME": str(work.scratch / "pylint"), "PYRIGHT_PYTHON_FORCE_VERSION": "", **extra}
    shutil.rmtree(work.scratch / "pylint", ignore_errors=True)
    return work.run(argv, cwd=folder, env=work.environment(*bins, extra=extra))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--work", type=Path, required=True)
    parser.add_argument("--out", type=Path, required=True)
    parser.add_argument("--only", default="")
    options = parser.parse_args()
    work = Work(root=options.work, out=options.out)
    for form in forms():
        if form.name.startswith(options.only):
            try:
                capture(work, form)
            except (OSError, ValueError, KeyError, subprocess.SubprocessError) as error:
                print(f"{form.name}: {type(error).__name__}: {error}", file=sys.stderr)
    os.sync()


if __name__ == "__main__":
    main()
