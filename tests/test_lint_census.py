"""The census of the lint family against recorded truth (S5.0.12, S5.3.1 to S5.3.6).

The second channel is the tool's own machine-readable report on the same files, or its programming interface: for the
corpus as `truth.json` holds it, for `tests/profiles/lint` (captured by `tests/recipes/capture_lint.py`) row by row. A
row and an item are the same diagnostic where file, line, column, code and message agree as far as the text prints them.
"""

import json
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pytest

from ctx.digest.base import CaptureFacts, DigestContext
from ctx.digest.lintprof import LintProfile
from ctx.evidence import CoverageReason, EvidenceGraph, EvidenceItem, ItemKind, Location, Missing, Outcome, Precision
from ctx.text import StreamView

ROOT = Path(__file__).parents[1]
FORMS = Path(__file__).parent / "profiles" / "lint"
CORPUS = ROOT / "corpora" / "core" / "cases" / "lint"

WORDS = ("error", "warning", "note", "info", "information", "style", "fatal error")
DECLINED = {
    "cargo-no-manifest", "eslint-nothing", "eslint-old-nothing", "flake8-bad-option", "gcc-no-input",
    "gcc-no-library", "javac-bad-option", "javac-no-such-file", "mypy-no-such-file", "mypy-usage",
    "pyright-no-such-file", "ruff-bad-option", "shellcheck-quiet",
    # Forms that name no diagnostic, or no place in a way that is a diagnostic's: read as text.
    "eslint-old-junit", "eslint-old-tap", "flake8-quiet", "javac-raw", "ruff-diff", "ruff-junit", "ruff-mid-diff",
    "ruff-mid-statistics", "ruff-old-diff", "ruff-old-statistics", "ruff-statistics", "shellcheck-diff", "tsc-listed",
}  # fmt: skip
"""Forms that the family leaves to the text profile."""
STOPPED = {"clang-limit", "gcc-fatal-errors", "gcc-max-errors"}
"""The tool stopped by itself: what it did not come to is in its full report only."""
MISCOUNTED = {"mypy-pretty", "mypy-pretty-columns", "mypy-strict", "mypy-colour-narrow", "mypy-old-pretty"}
"""mypy counts a quoted source line that holds `error:` as an error; where it is pretty it quotes one."""
MACHINE = {
    "eslint-json", "eslint-json-with-metadata", "eslint-old-checkstyle", "gcc-json", "mypy-json", "pylint-json",
    "pylint-json2", "pyright-json", "ruff-gitlab", "ruff-json", "ruff-json-lines", "ruff-rdjson", "ruff-sarif",
    "shellcheck-checkstyle", "shellcheck-json", "shellcheck-json1", "cargo-space-json",
}  # fmt: skip

LOOSE_CODES = {"cargo", "rustc", "javac"}
"""Tools whose text prints a code for some diagnostics only, or another one than the channel."""


def extract(case: Path, change: Callable[[bytes], bytes] = bytes) -> EvidenceGraph | None:
    """The graph of a case, after `change` was made to its streams; None where the family declines."""
    meta = json.loads((case / "meta.json").read_text(encoding="utf-8"))
    views = {name: StreamView(name, change((case / f"{name}.txt").read_bytes())) for name in ("stdout", "stderr")}
    facts = CaptureFacts(argv=tuple(meta["argv"]), exit_code=meta["exit_code"], ended_by="exit")
    ctx = DigestContext(streams=views, manifest=facts)
    profile = LintProfile()
    return profile.extract(ctx) if profile.detect(ctx) is not None else None


def truth(case: Path) -> dict[str, Any]:
    loaded: dict[str, Any] = json.loads((case / "truth.json").read_text(encoding="utf-8"))
    return loaded


@dataclass(frozen=True, kw_only=True, slots=True)
class Printed:
    """A printed diagnostic, once for each time that it was printed."""

    file: str
    line: int | None
    column: int | None
    code: str
    identity: str
    expanded: str
    """The place of the expansion of a macro, which gcc's own report takes for the place."""


def printed(items: Sequence[EvidenceItem]) -> list[Printed]:
    found = []
    for item in items:
        if item.kind is not ItemKind.DIAGNOSTIC:
            continue
        # Notes that stand for themselves are in no report but mypy's, and the line of a stop in none.
        if "Revealed type is" in item.identity or "too many errors emitted" in item.identity:
            continue
        place = item.location if isinstance(item.location, Location) else Location(file="")
        code = "" if isinstance(item.failure_class, Missing) else item.failure_class
        summary = "" if isinstance(item.summary, Missing) else item.summary
        one = Printed(
            file=place.file,
            line=place.line if isinstance(place.line, int) else None,
            column=place.column if isinstance(place.column, int) else None,
            code="" if code.lower() in WORDS else code,
            identity=" ".join(item.identity.split()),
            expanded=summary.partition("expanded at ")[2],
        )
        members = item.fields.get("member_count", 1)
        assert isinstance(members, int)
        found += [one] * members
    return found


def agrees(row: Mapping[str, Any], one: Printed, *, columns: bool, codes: bool) -> bool:
    """Whether a printed diagnostic is the recorded one."""
    places: list[tuple[str, int | None, int | None]] = [(one.file, one.line, one.column)]
    if one.expanded:
        name, number, start = one.expanded.rsplit(":", 2)
        places.append((name, int(number), int(start) if start.isdigit() else None))
    message = " ".join(row["message"].split("\n")[0].split()).rstrip(".")
    if message not in one.identity or (codes and row.get("code", "") != one.code):
        return False
    for file, line, column in places:
        same_file = file == row.get("file", "") or _below(file, row["file"]) or _below(row["file"], file)
        same_column = not row.get("column") or column == row["column"] if columns else column is None or one.expanded
        if same_file and (row.get("line") or None) == line and same_column:
            return True
    return False


def _below(path: str, name: str) -> bool:
    return bool(name) and path.endswith("/" + name.removeprefix("./").removeprefix("/"))


def unmatched(
    rows: Sequence[Mapping[str, Any]], ours: Sequence[Printed], *, columns: bool, codes: bool
) -> tuple[list[Mapping[str, Any]], list[Printed]]:
    """Recorded diagnostics that we lack, and ours that nobody recorded; each is used once."""
    by_line: dict[int | None, list[Printed]] = {}
    for one in ours:
        by_line.setdefault(one.line, []).append(one)
    lacking: list[Mapping[str, Any]] = []
    left = list(ours)
    for row in rows:
        near = by_line.get(row.get("line") or None, []) + [one for one in ours if one.expanded]
        match = next((one for one in near if one in left and agrees(row, one, columns=columns, codes=codes)), None)
        if match is None:
            lacking.append(row)
            continue
        left.remove(match)
        if match in by_line.get(match.line, []):
            by_line[match.line].remove(match)
    return lacking, left


def names(folder: Path) -> list[str]:
    return sorted(case.name for case in folder.iterdir())


RECORDED = [name for name in names(FORMS) if truth(FORMS / name)["diagnostics"] is not None and name not in DECLINED]


@pytest.mark.parametrize("name", RECORDED)
def test_the_census_of_a_form_is_the_tools_own_report(name: str) -> None:
    """S5.3.2: file, line, column, code and message of every diagnostic, and none besides."""
    recorded = truth(FORMS / name)
    graph = extract(FORMS / name)
    assert graph is not None
    ours = printed(graph.items)
    lacking, extra = unmatched(recorded["diagnostics"], ours, columns=recorded["columns"], codes=recorded["codes"])
    assert extra == []
    shown = recorded["shown"]
    assert len(lacking) == (0 if shown is None else len(recorded["diagnostics"]) - shown)


@pytest.mark.parametrize("name", names(CORPUS))
def test_the_census_of_a_corpus_case_is_its_truth(name: str) -> None:
    case, recorded = CORPUS / name, truth(CORPUS / name)
    graph = extract(case)
    if not recorded["items"]:
        assert graph is None or not printed(graph.items)
        return
    assert graph is not None
    ours = printed(graph.items)
    columns = any("column" in item for item in recorded["items"])
    codes = name.partition("-")[0] not in LOOSE_CODES
    lacking, extra = unmatched(recorded["items"], ours, columns=columns, codes=codes)
    if name == "gcc-forged-rows":
        # The recorded channel files the second #warning as a child of the first one.
        assert [one.identity for one in extra] == [
            'forged.c:4:2: -Wcpp #warning "0 errors generated. All checks passed!"'
        ]
        extra = []
    if name == "ruff-humanize-concise-cut":
        assert [row["line"] for row in lacking] == [74]  # the row in which the capture was cut
        lacking = []
    assert lacking == []
    assert extra == []


def _every() -> list[Path]:
    return [FORMS / name for name in names(FORMS)] + [CORPUS / name for name in names(CORPUS)]


@pytest.mark.parametrize("case", _every(), ids=lambda case: case.name)
def test_a_complete_census_is_as_large_as_the_truth(case: Path) -> None:
    """S3.1: completeness is claimed only where nothing is missing; a stop, a cap and a cut are never complete."""
    graph, recorded = extract(case), truth(case)
    if graph is None or not graph.coverage.complete:
        return
    rows = recorded.get("items", recorded.get("diagnostics"))
    if rows is None:
        return
    assert recorded.get("counts", {}).get("unnamed", 0) == 0
    assert recorded.get("shown") is None
    extra = 1 if case.name == "gcc-forged-rows" else 0
    assert len(printed(graph.items)) == len(rows) + extra


@pytest.mark.parametrize("name", sorted(STOPPED))
def test_a_tool_that_stopped_by_itself_is_never_complete(name: str) -> None:
    graph = extract(FORMS / name)
    assert graph is not None
    assert CoverageReason.EARLY_STOP in graph.coverage.reasons
    assert not graph.coverage.complete


@pytest.mark.parametrize("name", sorted(MISCOUNTED))
def test_a_total_that_differs_from_the_rows_is_named(name: str) -> None:
    graph = extract(FORMS / name)
    assert graph is not None
    assert CoverageReason.COUNT_MISMATCH in graph.coverage.reasons
    assert not graph.coverage.complete


@pytest.mark.parametrize("name", sorted(MACHINE))
def test_machine_formats_are_read_whole(name: str) -> None:
    """S5.3.1: JSON, SARIF, Checkstyle, Code Climate, Reviewdog: precision full, nothing left."""
    graph = extract(FORMS / name)
    assert graph is not None
    assert graph.coverage.precision is Precision.FULL
    assert graph.outcome is Outcome.FAIL
    assert graph.coverage.complete


@pytest.mark.parametrize("name", sorted(DECLINED))
def test_what_holds_no_diagnostic_is_left_to_the_text_profile(name: str) -> None:
    """S5.3.6: usage errors, missing files and crashes are no diagnostics, and never clean."""
    assert extract(FORMS / name) is None


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("cargo-space-colour", "cargo-space"),
        ("eslint-colour", "eslint-stylish"),
        ("eslint-old-colour", "eslint-old-stylish"),
        ("flake8-colour-source", "flake8-source"),
        ("gcc-urls", "gcc-plain"),
        ("pylint-colorized", "pylint-text"),
        ("ruff-colour", "ruff-full"),
        ("shellcheck-colour", "shellcheck-tty"),
        ("tsc-pretty-colour", "tsc-pretty"),
        ("mypy-pretty", "mypy-default"),
        ("mypy-colour-narrow", "mypy-default"),
        ("gcc-narrow", "gcc-plain"),
        ("ruff-full", "ruff-concise"),
        ("ruff-github", "ruff-concise"),
        ("ruff-grouped", "ruff-concise"),
        ("ruff-sarif", "ruff-json"),
        ("eslint-old-unix", "eslint-old-compact"),
    ],
)
def test_colour_width_and_format_change_no_fact(name: str, plain: str) -> None:
    """S19.1: the same diagnostics in other clothes."""
    graph, other = extract(FORMS / name), extract(FORMS / plain)
    assert graph is not None
    assert other is not None

    def facts(one: EvidenceGraph) -> list[tuple[str, object, object, str]]:
        return sorted((Path(p.file).name, p.line or 0, p.column or 0, p.code) for p in printed(one.items))

    assert facts(graph) == facts(other)


def test_the_same_diagnostic_of_several_targets_is_one_item_with_its_number() -> None:
    """S5.3.4: a header that three translation units include."""
    graph = extract(FORMS / "make-multi")
    assert graph is not None
    helper = [item for item in graph.items if "unused variable ‘local’" in item.identity]
    assert [item.fields.get("member_count") for item in helper] == [3]


def test_one_output_of_several_tools_is_complete_where_each_total_counts_its_own_rows() -> None:
    """S5.0.7: a compiler, a shell linter, and two tools with totals below them."""
    graph = extract(FORMS / "several-tools")
    assert graph is not None
    assert dict(graph.aggregate) == {"errors": 2, "further errors": 1, "warnings": 2, "notes": 2}
    assert graph.counted == frozenset({"further errors", "warnings", "notes"})
    assert (graph.coverage.parsed, graph.coverage.expected) == (7, 7)
    assert graph.coverage.complete


def test_every_capture_is_walked() -> None:
    assert len(RECORDED) > 120
    assert set(names(FORMS)) >= DECLINED | STOPPED | MISCOUNTED | MACHINE
    assert len(names(CORPUS)) >= 60


CLOTHES: Mapping[str, Callable[[bytes], bytes]] = {
    "line ends of another system": lambda raw: raw.replace(b"\n", b"\r\n"),
    "a byte order mark": lambda raw: b"\xef\xbb\xbf" + raw if raw else raw,
    "colour around every line": lambda raw: raw.replace(b"\n", b"\x1b[0m\x1b[K\n"),
}


@pytest.mark.parametrize("clothes", sorted(CLOTHES))
@pytest.mark.parametrize("name", [name for name in names(FORMS) if name not in DECLINED])
def test_what_a_shell_adds_changes_no_diagnostic(name: str, clothes: str) -> None:
    """S19.1, S19.37: CRLF, a byte order mark, escapes."""
    plain, dressed = extract(FORMS / name), extract(FORMS / name, CLOTHES[clothes])
    assert plain is not None
    assert dressed is not None
    assert [item.identity for item in dressed.items] == [item.identity for item in plain.items]
    assert dressed.coverage.complete == plain.coverage.complete
