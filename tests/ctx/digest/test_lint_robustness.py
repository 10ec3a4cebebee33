"""No input may crash the lint family or make it claim what is not there (S5.0.9, S5.0.11, S5.3.6, S19.16).

Real captures are cut, spliced, shuffled and sprinkled with bytes; what must hold is stated once, in `check`.
"""

# ruff: noqa: E501 - the pieces and keys are tables

import json
import time
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctx.digest.base import CaptureFacts, DigestContext
from ctx.digest.lintprof import LintProfile
from ctx.evidence import SEVERITY_RANK, CoverageReason, EvidenceGraph, ItemKind, Missing, Outcome, Severity
from ctx.text import StreamView

CASES = Path(__file__).parents[2] / "profiles" / "lint"
NAMES = [
    "cargo-space", "cargo-space-short", "clang-msvc", "clang-no-option", "clippy-space", "eslint-old-compact",
    "eslint-stylish", "flake8-source", "gcc-analyzer", "gcc-urls", "gxx-no-column", "javac-japanese",
    "javac-type-errors", "make-multi", "mypy-colour-narrow", "mypy-default", "mypy-json", "pylint-duplicates",
    "pylint-text", "pyright-default", "pyright-json", "ruff-concise", "ruff-full", "ruff-github", "ruff-grouped",
    "ruff-old-full", "ruff-sarif", "several-tools", "shellcheck-checkstyle", "shellcheck-tty", "tsc-plain",
    "tsc-pretty",
]  # fmt: skip


def _text(name: str) -> bytes:
    """The stream of a case that holds its diagnostics."""
    return max(((CASES / name / f"{stream}.txt").read_bytes() for stream in ("stdout", "stderr")), key=len)


TEXTS = {name: _text(name) for name in NAMES}
TOTALLED = [
    "eslint-stylish", "javac-type-errors", "mypy-default", "pyright-default", "ruff-concise", "ruff-full",
    "ruff-grouped", "tsc-pretty",
]  # fmt: skip
"""One tool that ends with its total: nothing can be taken away unnoticed."""
TRUTH = {name: len(json.loads((CASES / name / "truth.json").read_text("utf-8"))["diagnostics"]) for name in TOTALLED}
EXITS = [None, 0, 1, 2, 4, 30, 101, 124, 137]


def printed(graph: EvidenceGraph) -> int:
    """How often a diagnostic was printed: repeats are one item (S5.3.4)."""
    return sum(int(item.fields.get("member_count", 1)) for item in graph.items)


def check(stdout: bytes, exit_code: int | None = 1, stderr: bytes = b"") -> EvidenceGraph | None:
    """Detect, extract and verify everything that holds for any input."""
    views = {"stdout": StreamView("stdout", stdout), "stderr": StreamView("stderr", stderr)}
    ctx = DigestContext(streams=views, manifest=CaptureFacts(argv=("make", "lint"), exit_code=exit_code))
    profile = LintProfile()
    if profile.detect(ctx) is None:
        return None
    graph = profile.extract(ctx)
    assert len(graph.graph_id) == 64
    refs = [item.source for item in graph.items]
    refs += [item.detail for item in graph.items if not isinstance(item.detail, Missing)]
    refs += [excerpt.source for excerpt in graph.excerpts]
    for ref in refs:
        view = views[ref.stream]
        assert 1 <= ref.first_line <= ref.last_line <= max(view.raw_line_count, 1)
        assert view.raw_range(ref.first_line, ref.last_line) == (ref.first_byte, ref.end_byte)
    diagnostics = [item for item in graph.items if item.kind is ItemKind.DIAGNOSTIC]
    ranks = [SEVERITY_RANK[item.severity] for item in diagnostics]
    assert ranks == sorted(ranks), "errors stand before warnings (S5.3.3)"
    assert all("\n" not in item.identity for item in diagnostics)
    if graph.coverage.complete:
        assert graph.coverage.expected in (None, graph.coverage.parsed)
        assert not graph.coverage.input_truncated
    if graph.outcome is Outcome.PASS:
        assert exit_code in (0, None)
    if exit_code not in (0, None):
        assert graph.outcome is Outcome.FAIL
    return graph


@given(name=st.sampled_from(TOTALLED), exit_code=st.sampled_from(EXITS), data=st.data())
def test_a_cut_capture_never_claims_a_census_smaller_than_the_truth(
    name: str, exit_code: int | None, data: st.DataObject
) -> None:
    """S3.1, S5.3.5: cut at any byte at the head, at the tail, or with a piece taken from the middle."""
    text = TEXTS[name]
    first = data.draw(st.integers(0, len(text)))
    last = data.draw(st.integers(first, len(text)))
    how = data.draw(st.sampled_from(["head", "tail", "middle"]))
    cut = {"head": text[first:], "tail": text[:last], "middle": text[:first] + text[last:]}[how]
    graph = check(cut, exit_code)
    if graph is not None and graph.coverage.complete and graph.items:
        assert printed(graph) >= TRUTH[name]


@given(name=st.sampled_from(TOTALLED), data=st.data())
def test_whole_lines_that_are_missing_are_noticed(name: str, data: st.DataObject) -> None:
    lines = TEXTS[name].split(b"\n")
    first = data.draw(st.integers(0, len(lines)))
    last = data.draw(st.integers(first, len(lines)))
    graph = check(b"\n".join([*lines[:first], *lines[last:]]))
    if graph is not None and graph.coverage.complete and graph.items:
        assert printed(graph) >= TRUTH[name]


@given(name=st.sampled_from(["pyright-json", "ruff-sarif", "shellcheck-checkstyle"]), data=st.data())
def test_a_cut_document_is_never_read_as_a_whole_one(name: str, data: st.DataObject) -> None:
    """S5.0.9: a document that does not end is no machine format; its text is somebody else's."""
    text = TEXTS[name].rstrip()
    graph = check(text[: data.draw(st.integers(0, len(text) - 1))])
    assert graph is None or not graph.coverage.complete


@given(
    names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=3),
    exit_code=st.sampled_from(EXITS),
    noise=st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=40)), max_size=6),
)
def test_spliced_and_sprinkled_captures_are_read(
    names: list[str], exit_code: int | None, noise: list[tuple[float, bytes]]
) -> None:
    text = b"".join(TEXTS[name] for name in names)
    for place, extra in noise:
        at = int(place * len(text))
        text = text[:at] + extra + text[at:]
    check(text, exit_code, stderr=text[: len(text) // 2])


@given(data=st.data(), exit_code=st.sampled_from(EXITS))
def test_shuffled_lines_of_two_captures_are_read(data: st.DataObject, exit_code: int | None) -> None:
    """Two tools that write into one pipe at once."""
    one = TEXTS[data.draw(st.sampled_from(NAMES))].split(b"\n")
    two = TEXTS[data.draw(st.sampled_from(NAMES))].split(b"\n")
    mixed: list[bytes] = []
    for size in data.draw(st.lists(st.integers(1, 30), min_size=1, max_size=40)):
        source = one if size % 2 else two
        mixed += source[:size]
        del source[:size]
    check(b"\n".join([*mixed, *one, *two]), exit_code)


_PIECES = [
    b"a.c:3:5: error: x", b"a.c:3:5: note: y", b"a.c: In function 'f':", b"In file included from b.h:1,",
    b"                 from a.c:2:", b"    3 | int x;", b"      |     ^", b"   ^~~", b"error[E0308]: mismatched types",
    b"  --> src/a.rs:1:2", b"   |", b"1 | fn main() {}", b"help: try this", b"= note: `#[warn(unused)]` on by default",
    b"warning: `a` (lib) generated 1 warning", b"error: could not compile `a` due to 2 previous errors",
    b"F401 [*] `os` imported but unused", b" --> a.py:1:8", b"  - import os", b"Found 2 errors.", b"a.py:1:8: F401 x",
    b"In a.sh line 3:", b"rm $1", b"   ^-- SC2086 (info): Double quote", b"Did you mean: ", b"/x/a.js", b"C:\\x\\a.js",
    b"  3:1  error  message  no-var", b"  3:1 F401 message", b"\xe2\x9c\x96 2 problems (1 error, 1 warning)", b"",
    b"a.py:3: error: wrapped", b"expected \"str\"  [misc]", b"a.py:3:", b"a.py:3: error:", b"2 errors", b"100 warnings",
    b"only showing the first 100 warnings, of 153 total; use -Xmaxwarns if you would like to see more",
    b"a.py:1:0: R0801: Similar lines in 2 files", b"==a:[1:2]", b"x (duplicate-code)", b"************* Module a",
    b"::error file=a.py,line=1,col=2::m", b"##vso[task.logissue type=error;sourcepath=a;linenumber=1;]m",
    b"  /x/a.py:3:5 - error: m", b"    more (reportX)", b"0 errors, 0 warnings, 0 informations ", b"All checks passed!",
    b"fatal error: too many errors emitted, stopping now [-ferror-limit=]", b"[{\"filename\": 1}]", b"{", b"[", b"\x1b[31m",
    b"main.cpp:3:4:   required from here", b"make: *** [Makefile:3: a.o] Error 1", b"... 3 lines truncated ...", b"\xff\xfe",
    b"{\"reason\": \"compiler-message\", \"message\": {\"spans\": [{\"is_primary\": true}], \"code\": 3}}",
    b"{\"severity\": \"error\", \"file\": 3, \"message\": null}", b"<checkstyle><file><error/></file></checkstyle>",
]  # fmt: skip


@settings(max_examples=200)
@given(pieces=st.lists(st.sampled_from(_PIECES), max_size=40), exit_code=st.sampled_from(EXITS))
def test_any_order_of_the_tools_own_lines_is_read(pieces: list[bytes], exit_code: int | None) -> None:
    check(b"\n".join(pieces), exit_code, stderr=b"\n".join(pieces[::2]))


@given(raw=st.binary(max_size=4000), exit_code=st.sampled_from(EXITS))
def test_random_bytes_are_declined_or_read(raw: bytes, exit_code: int | None) -> None:
    check(raw, exit_code)
    check(b"a.c:3:5: error: x\n" + raw + b"\nFound 1 error.\n", exit_code)


_JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-1, 3) | st.text(max_size=5),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(
                [
                    "runs", "results", "messages", "comments", "generalDiagnostics", "diagnostics", "filePath", "filename",
                    "location", "locations", "kind", "level", "code", "file", "line", "column", "message", "range", "start",
                    "severity", "spans", "is_primary", "reason", "check_name", "message-id", "ruleId", "tool", "driver",
                    "children", "caret", "region", "physicalLocation", "positions", "begin", "row", "$message_type",
                ]
            ),
            inner,
            max_size=4,
        )
    ),
    max_leaves=20,
)  # fmt: skip


@settings(max_examples=200)
@given(document=_JSON, indent=st.sampled_from([None, 1]))
def test_documents_of_the_right_keys_and_the_wrong_types_are_read(document: object, indent: int | None) -> None:
    check(json.dumps(document, indent=indent).encode() + b"\n")


@pytest.mark.parametrize("name", ["mypy-default", "ruff-full", "gcc-urls"])
@pytest.mark.parametrize("encoding", ["utf-16-le", "utf-16-be"])
def test_a_capture_in_utf_16_has_the_same_census(name: str, encoding: str) -> None:
    """S19.38: what a redirect of another shell wrote."""
    mark = {"utf-16-le": b"\xff\xfe", "utf-16-be": b"\xfe\xff"}[encoding]
    plain = check(TEXTS[name])
    graph = check(mark + TEXTS[name].decode("utf-8").encode(encoding))
    assert plain is not None
    assert graph is not None
    assert [item.identity for item in graph.items] == [item.identity for item in plain.items]


@pytest.mark.parametrize(
    "unit",
    [
        b"a.c:3:5: error: " + b"x: 3: " * 40_000,
        b"a.py:1:8: F401 " + b"(" * 200_000,
        b"x" * 300_000 + b": error: y",
        b" " * 200_000 + b"^",
        b"In " + b"a " * 100_000 + b"line 3:",
        b"::error " + b"a=1," * 50_000 + b"::m",
        b"a(1)" * 50_000 + b": error X1: y",
        b"error: " + b"`" * 100_000,
        b"a.c:3:5: warning: " + b"[-W" * 60_000 + b"]",
        b"  1:1  error  " + b"x  " * 60_000,
        b"/a.js\n  1:1  error  x" + b" " * 60_000 + b"!",
        b"a.c:3:5: error: x [a" + b"-" * 60_000 + b"!]",
        b"  /a.py:3:5 - error: x" + b" " * 60_000 + b"(reportX) y)",
        b"\n".join([b"error: aborting due to 2 previous errors; 1 warning emitted"] * 3_000),
        b"\n".join([b"a.c:3:5: error: x [-Wy]", b"1 error generated."] * 3_000),
        b"\n".join([b"a.py:3: error: a long message that is wrapped", b"   and goes on"] * 5_000),
    ],
    ids=lambda unit: repr(unit[:24]),
)
def test_time_is_linear_in_the_length_of_lines_and_their_number(unit: bytes) -> None:
    """S5.0.11: a line of a megabyte and thousands of totals cost no more than their length."""
    started = time.process_time()
    check(unit + b"\n")
    check(b"a.c:3:5: error: x\n" + unit + b"\n")
    assert time.process_time() - started < 3


def test_a_line_longer_than_the_limit_says_that_it_was_cut() -> None:
    """S5.0.11: what is not read of a line is declared."""
    graph = check(b"a.c:3:5: error: " + b"x" * 200_000 + b"\n")
    assert graph is not None
    assert graph.items[0].fields["cut"] is True
    assert CoverageReason.PARSE_GAP in graph.coverage.reasons
    assert not graph.coverage.complete


def test_six_thousand_warnings_do_not_hide_one_error() -> None:
    """S19.22, S5.3.3: the error is first; no cap drops a row."""
    rows = [b"src/a.c:%d:1: warning: unused variable 'v%d' [-Wunused-variable]" % (n, n) for n in range(1, 6001)]
    graph = check(b"\n".join([*rows, b"src/z.c:9:1: error: expected ';'", b""]))
    assert graph is not None
    assert len(graph.items) == 6001
    assert graph.items[0].identity == "src/z.c:9:1: expected ';'"
    assert [item.severity for item in graph.items[:2]] == [Severity.ERROR, Severity.WARNING]
    assert dict(graph.aggregate) == {"errors": 1, "warnings": 6000}
