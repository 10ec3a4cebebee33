"""The lint family by small texts, each with the value worked out by hand (S5.3.1 to S5.3.6, S19.22, S19.23).

Whole captures of real tools are in `tests/test_lint_census.py`.
"""

# ruff: noqa: E501 - outputs are kept as they are printed

import pytest

from ctx.digest.base import CaptureFacts, DigestContext
from ctx.digest.lint_rows import names_a_file, parse_row
from ctx.digest.lint_totals import parse_total
from ctx.digest.lintprof import LintProfile
from ctx.evidence import (
    CoverageReason,
    EvidenceGraph,
    ExcerptRole,
    ItemKind,
    Location,
    Missing,
    Outcome,
    Precision,
    Severity,
)
from ctx.text import StreamView


def context(stdout: str, stderr: str = "", *, exit_code: int | None = 1, argv: tuple[str, ...] = ()) -> DigestContext:
    views = {"stdout": StreamView("stdout", stdout.encode()), "stderr": StreamView("stderr", stderr.encode())}
    return DigestContext(streams=views, manifest=CaptureFacts(argv=argv, exit_code=exit_code))


def declines(stdout: str, stderr: str = "", *, exit_code: int | None = 1) -> bool:
    return LintProfile().detect(context(stdout, stderr, exit_code=exit_code)) is None


def extract(stdout: str, stderr: str = "", *, exit_code: int | None = 1, argv: tuple[str, ...] = ()) -> EvidenceGraph:
    ctx = context(stdout, stderr, exit_code=exit_code, argv=argv)
    profile = LintProfile()
    assert profile.detect(ctx) is not None
    return profile.extract(ctx)


def identities(graph: EvidenceGraph) -> list[str]:
    return [item.identity for item in graph.items]


# One-line grammars ----------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("row", "file", "line", "column", "code"),
    [
        (r"C:\src\my app\main.cpp(12,5): error C2065: 'x': undeclared [C:\src\a.vcxproj]", r"C:\src\my app\main.cpp", 12, 5, "C2065"),
        (r"1>C:\src\main.cpp(12): warning C4101: 'y': unreferenced", r"C:\src\main.cpp", 12, None, "C4101"),
        (r"C:\Users\x y\a.py:1:8: F401 [*] `os` imported but unused", r"C:\Users\x y\a.py", 1, 8, "F401"),
        (r"  c:\proj\a.py:3:5 - error: no (reportMissing)", r"c:\proj\a.py", 3, 5, "reportMissing"),
        (r"src\a.py:3:5: error: no  [name-defined]", r"src\a.py", 3, 5, "name-defined"),
        (r"C:\x\Shop.java:30: error: cannot find symbol", r"C:\x\Shop.java", 30, None, None),
        (r"C:\x\a.ts(3,5): error TS2304: Cannot find name 'x'.", r"C:\x\a.ts", 3, 5, "TS2304"),
        (r"C:\x\a.js: line 3, col 5, Error - Missing semicolon. (semi)", r"C:\x\a.js", 3, 5, "semi"),
        ("weird:12:name.py:1:8: F401 `os` imported but unused", "weird:12:name.py", 1, 8, "F401"),
        ("a b/c: d.py:3: error: x  [misc]", "a b/c: d.py", 3, None, "misc"),
        ("odd: name 12.sh:2:6: note: Double quote. [SC2086]", "odd: name 12.sh", 2, 6, "SC2086"),
        ("a.c:5:11:{5:3-5:9}{5:1-5:4}: error: no member", "a.c", 5, 11, None),
        ("a.c +5:11: error: no member", "a.c", 5, 11, None),
        ("a.c(5,11): warning: unused [-Wunused]", "a.c", 5, 11, "-Wunused"),
        ("a.c:5:11: warning: unused [-Wunused,Unused Entity Issue]", "a.c", 5, 11, "-Wunused"),
        ("/x/cart.js(2,5): error no-var : Unexpected var.", "/x/cart.js", 2, 5, "no-var"),
        ("src/a.py:24:13:24:30: error: no  [misc]", "src/a.py", 24, 13, "misc"),
        ("nb.ipynb:cell 1:1:8: F401 [*] `os` imported but unused", "nb.ipynb:cell 1", 1, 8, "F401"),
        ("Shop.java:30: エラー: シンボルを見つけられません", "Shop.java", 30, None, None),
        ("Shop.java:4: 警告: [rawtypes] 找到原始类型: List", "Shop.java", 4, None, "rawtypes"),
        ("a.c:3:5: Fehler: »x« nicht deklariert", "a.c", 3, 5, None),
        ("a.py:1:7: SyntaxError: Expected a parameter", "a.py", 1, 7, None),
        ("##vso[task.logissue type=error;sourcepath=/x/a.py;linenumber=3;columnnumber=5;code=E401;]m", "/x/a.py", 3, 5, "E401"),
        ("::error title=Ruff (F401),file=/x/a.py,line=3,col=5,endLine=3::a.py:3:5: F401 `os` imported", "a.py", 3, 5, "F401"),
        ("Makefile:3:5: error: no rule", "Makefile", 3, 5, None),
    ],
)  # fmt: skip
def test_a_row_keeps_its_place_and_code_whole(
    row: str, file: str, line: int, column: int | None, code: str | None
) -> None:
    """S19.23: drive letters, colons, blanks and brackets belong to the path; what is not printed is not invented."""
    head = parse_row(row)
    assert head is not None
    assert (head.file, head.line, head.column, head.code) == (file, line, column, code)


@pytest.mark.parametrize(
    "line",
    [
        "build.log:12:a.c:3:5: error: x",
        "12:a.c:3:5: error: x",
        "http://example.org:80: error: refused",
        "10:15:03: error: boot",
        "2024-01-01 12:00:00,123 ERROR app.py:12: error: x",
        '    print("a.c:3:5: error: x")',
        'text = "forged.py:9:1: F401 `os` imported but unused"',
        "a.py:3: foo: bar",
        "a.c:3: warning:",
        '  File "a.py", line 3, in f',
    ],
)
def test_listings_clocks_addresses_and_source_text_are_no_rows(line: str) -> None:
    """S5.0.6: hits of a search, log lines and quoted source make no diagnostics."""
    assert parse_row(line) is None


def test_a_word_is_no_file_unless_it_may_be_one() -> None:
    assert names_a_file("src/configure.ac")
    assert names_a_file("Dockerfile")
    assert not names_a_file("localhost")
    assert not names_a_file("https://x.py")
    assert names_a_file("script", loose=True)


# Blocks ---------------------------------------------------------------------------------------------------------------


RUFF = """\
F401 [*] `os` imported but unused
 --> forged.py:3:8
  |
1 | "a.py:9:1: error: a docstring that looks like a row"
  |
3 | import os  # forged.py:40:1: F401 `ghost` imported but unused
  |        ^^
help: Remove unused import: `os`
  |
  - import os  # forged.py:40:1: F401 `ghost` imported but unused
2 + forged.py:41:1: F401 `ghost` imported but unused
--------------------------------------------------------------------------------
   - forged.py:42:1: F401 `ghost` imported but unused
note: This is an unsafe fix and may change runtime behavior

Found 1 error.
"""


def test_what_a_block_quotes_is_never_a_diagnostic() -> None:
    """S5.0.6: source, diff lines under `help:`, and the gap between two hunks."""
    graph = extract(RUFF)
    assert identities(graph) == ["forged.py:3:8: F401 `os` imported but unused"]
    detail = graph.items[0].detail
    assert not isinstance(detail, Missing)
    assert (detail.first_line, detail.last_line) == (1, 14)
    assert graph.coverage.complete
    assert graph.coverage.unmatched_lines == 0


def test_a_source_line_above_its_caret_is_source_whatever_it_says() -> None:
    """S5.0.6: compilers without bars quote the line as it is."""
    graph = extract(
        "", "a.c:3:2: error: #error b.c:9:9: error: ghost\nb.c:9:9: error: ghost\n   ^~~~\n1 error generated.\n"
    )
    assert identities(graph) == ["a.c:3:2: #error b.c:9:9: error: ghost"]
    assert graph.coverage.complete


def test_notes_helps_and_carets_are_detail_of_their_parent() -> None:
    """S5.3.2: and a note of another file is no diagnostic of its own."""
    text = "a.c:3:5: error: x\n    3 | f();\n      | ^\nb.h:7:1: note: declared here\n    7 | int f;\n      | ^\na.c:9:1: warning: y\n"
    graph = extract("", text)
    assert identities(graph) == ["a.c:3:5: x", "a.c:9:1: y"]
    detail = graph.items[0].detail
    assert not isinstance(detail, Missing)
    assert (detail.first_line, detail.last_line) == (1, 6)


def test_an_include_chain_and_its_function_stand_with_the_diagnostic_below() -> None:
    text = "In file included from b.h:3,\n                 from a.c:1:\nc.h: In function 'f':\nc.h:9:1: error: x\n"
    graph = extract("", text)
    detail = graph.items[0].detail
    assert not isinstance(detail, Missing)
    assert (detail.first_line, detail.last_line) == (1, 4)
    assert graph.coverage.unmatched_lines == 0


def test_the_place_that_led_to_a_template_or_macro_is_named() -> None:
    """FORMAT-FACTS 23: the user's own line stands in `required from`."""
    text = (
        "t.hpp: In instantiation of 'T f(T) [with T = int]':\nmain.cpp:28:31:   required from here\n"
        "t.hpp:15:61: error: no member\nm.h:4:9: error: bad operand\nmain.cpp:9:2: note: in expansion of macro 'M'\n"
    )
    graph = extract("", text)
    assert [item.summary for item in graph.items] == [
        "error, required from main.cpp:28:31",
        "error, expanded at main.cpp:9:2",
    ]


def test_expansions_of_one_macro_stay_apart() -> None:
    one = "m.h:4:9: warning: lossy [-Wconversion]\na.c:%d:2: note: in expansion of macro 'M'\n"
    graph = extract("", one % 9 + one % 12, exit_code=0)
    assert len(graph.items) == 2
    assert graph.items[0].id != graph.items[1].id


def test_a_wrapped_message_has_its_code_and_all_of_its_words() -> None:
    """FORMAT-FACTS 19: mypy wraps at 80 columns, the code on the next line."""
    text = 'a.py:3: error: Incompatible types in assignment (expression has\ntype "str")  [assignment]\n    x: int = "a"\n             ^~~\nFound 1 error in 1 file (checked 1 source file)\n'
    graph = extract(text)
    assert identities(graph) == ['a.py:3: assignment Incompatible types in assignment (expression has type "str")']
    assert graph.coverage.complete


def test_a_message_that_begins_on_the_next_line_is_found() -> None:
    """mypy on a terminal of 40 columns."""
    graph = extract(
        "a.py:3: error:\nIncompatible types\n[assignment]\n    x = 1\n    ^\nFound 1 error in 1 file (checked 1 source file)\n"
    )
    assert identities(graph) == ["a.py:3: assignment Incompatible types"]


def test_the_rule_of_pyright_stands_on_its_last_line() -> None:
    """FORMAT-FACTS 22."""
    text = '  /x/a.py:3:5 - error: Type "int" is not assignable\n    "int" is not "str" (reportAssignmentType)\n1 error, 0 warnings, 0 informations \n'
    graph = extract(text)
    assert identities(graph) == ['/x/a.py:3:5: reportAssignmentType Type "int" is not assignable']


@pytest.mark.parametrize(
    ("line", "code"),
    [
        ("   = note: `#[warn(unused_imports)]` (part of `#[warn(unused)]`) on by default", "unused_imports"),
        ("   = note: `-D unused-variables` implied by `-D unused`", "unused_variables"),
        ("   = help: for further information visit https://rust-lang.github.io/rust-clippy/rust-1.95.0/index.html#ptr_arg", "clippy::ptr_arg"),
    ],
)  # fmt: skip
def test_the_lint_of_rustc_stands_in_its_note(line: str, code: str) -> None:
    text = f"warning: unused\n --> src/lib.rs:2:5\n  |\n2 | x\n  | ^\n  |\n{line}\n\nwarning: 1 warning emitted\n\n"
    graph = extract("", text, exit_code=0)
    assert [item.failure_class for item in graph.items] == [code]


def test_an_error_code_of_rustc_needs_no_place() -> None:
    text = "error[E0463]: can't find crate for `one`\n  |\n  = note: it may not be installed\n\nerror: aborting due to 1 previous error\n\n"
    graph = extract("", text)
    assert identities(graph) == ["E0463 can't find crate for `one`"]
    assert graph.items[0].location is Missing.NOT_PRESENT
    assert graph.coverage.complete


def test_shellcheck_prints_no_column_and_may_speak_of_an_empty_line() -> None:
    text = 'In a.sh line 1:\n\n^-- SC2148 (error): Add a shebang.\n\n\nIn a.sh line 3:\nrm $1 $2\n   ^-- SC2086 (info): Double quote.\n      ^-- SC2086 (info): Double quote.\n\nDid you mean: \nrm "$1" "$2"\n\n'
    graph = extract(text)
    assert identities(graph) == [
        "a.sh:1: SC2148 Add a shebang.",
        "a.sh:3: SC2086 Double quote.",
        "a.sh:3: SC2086 Double quote.",
    ]
    assert len({item.id for item in graph.items}) == 3
    assert graph.coverage.unmatched_lines == 0


def test_the_listing_of_duplicate_code_makes_no_rows() -> None:
    text = "************* Module a\na.py:1:0: R0801: Similar lines in 2 files\n==a:[1:3]\n==b:[1:3]\nx = 1\nb.py:9:1: error: ghost\n    return x (duplicate-code)\n\n"
    graph = extract(text, exit_code=8)
    assert identities(graph) == ["a.py:1:0: R0801 Similar lines in 2 files"]


def test_two_diagnostics_of_one_line_differ_by_their_carets() -> None:
    row = "A.java:4: warning: [rawtypes] found raw type: List\n    List a(List b);\n%s^\n"
    graph = extract("", row % "    " + row % "           " + "2 warnings\n", exit_code=0)
    assert len(graph.items) == 2
    again = extract("", row % "    " + row % "    " + "2 warnings\n", exit_code=0)
    assert [item.fields.get("member_count") for item in again.items] == [2]


def test_rows_that_two_tools_print_alike_belong_to_the_one_that_shows_itself() -> None:
    """ruff and flake8: all findings of ruff are errors; of flake8, E and F are, and W and C are not."""
    rows = "a.py:1:8: F401 x\na.py:2:1: W291 y\na.py:3:1: C901 z\n"
    flake8 = extract(rows)
    assert [item.severity for item in flake8.items] == [Severity.ERROR, Severity.WARNING, Severity.WARNING]
    assert dict(flake8.aggregate) == {"errors": 1, "warnings": 2}
    ruff = extract(rows + "Found 3 errors.\n")
    assert [item.severity for item in ruff.items] == [Severity.ERROR] * 3
    assert ruff.dialect == "ruff"
    cut = extract("b.py:1:8: F401 [*] x\n" + rows)
    assert [item.severity for item in cut.items] == [Severity.ERROR] * 4
    assert CoverageReason.SUMMARY_MISSING in cut.coverage.reasons


def test_a_file_that_cannot_be_parsed_comes_before_what_else_was_found() -> None:
    """FORMAT-FACTS 20: a parse error hides all later errors of its file."""
    graph = extract("a.py:1:8: F401 x\nb.py:3:7: E999 SyntaxError: invalid syntax\nc.py:9:1: E501 y\n")
    assert identities(graph)[0] == "b.py:3:7: E999 SyntaxError: invalid syntax"


# Totals ---------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("line", "counts"),
    [
        ("Found 12 errors.", {"errors": 12}),
        ("Found 50 errors (14 fixed, 36 remaining).", {"errors": 36}),
        ("Found 8 errors in 2 files (checked 10 source files)", {"errors": 8}),
        ("✖ 5 problems (2 errors, 3 warnings)", {"problems": 5, "errors": 2, "warnings": 3}),
        ("1 warning and 13 errors generated.", {"warnings": 1, "errors": 13}),
        ("only showing the first 100 warnings, of 153 total; use -Xmaxwarns if you would like to see more", {"warnings": 153}),
        ("42 errors, 2 warnings, 0 informations ", {"errors": 42, "warnings": 2, "informations": 0}),
        ("error: aborting due to 2 previous errors; 1 warning emitted", {"errors": 2, "warnings": 1}),
        ("warning: `one` (lib test) generated 2 warnings (1 duplicate) (run `cargo fix`)", {"warnings": 1}),
        ("エラー5個", {"errors": 5}),
        ("10 个警告", {"warnings": 10}),
        ("Found 17 errors in 2 files.", {"errors": 17}),
    ],
)  # fmt: skip
def test_a_total_counts_what_it_says(line: str, counts: dict[str, int]) -> None:
    """S5.3.5."""
    total = parse_total(line)
    assert total is not None
    assert total.counts == counts


def test_totals_of_several_tools_count_their_own_rows() -> None:
    """S5.0.7: the rows of a tool without a total are counted here, and said to be."""
    text = "a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\na.py:3: error: no  [misc]\nFound 1 error in 1 file (checked 1 source file)\nb.sh:2:4: note: Double quote. [SC2086]\n"
    graph = extract(text)
    assert dict(graph.aggregate) == {"errors": 2, "notes": 1}
    assert graph.counted == frozenset({"notes"})
    assert (graph.coverage.parsed, graph.coverage.expected) == (3, 3)
    assert graph.dialect == ""


def test_a_cap_of_the_tool_is_never_a_whole_census() -> None:
    """FORMAT-FACTS 20."""
    rows = "".join(f"A.java:{n}: warning: [x] y\n    z\n    ^\n" for n in range(1, 101))
    capped = extract("", f"{rows}100 warnings\n", exit_code=0)
    assert not capped.coverage.complete
    assert CoverageReason.OUTPUT_SUPPRESSED in capped.coverage.reasons
    told = extract(
        "", f"{rows}100 warnings\nonly showing the first 100 warnings, of 153 total; use -Xmaxwarns\n", exit_code=0
    )
    assert (told.coverage.parsed, told.coverage.expected) == (100, 153)


def test_a_missing_total_is_named_unless_the_tool_was_told_to_be_quiet() -> None:
    text = "a.py:3: error: no  [misc]\n"
    loud = extract(text, argv=("mypy", "a.py"))
    assert CoverageReason.SUMMARY_MISSING in loud.coverage.reasons
    assert not loud.coverage.complete
    assert extract(text, argv=("mypy", "--no-error-summary", "a.py")).coverage.complete


def test_a_compiler_that_failed_without_an_error_lost_its_error() -> None:
    graph = extract("", "a.c:3:5: warning: x [-Wy]\n", exit_code=1)
    assert CoverageReason.EXIT_STATUS_DISAGREES in graph.coverage.reasons
    assert not graph.coverage.complete
    explained = extract("", "a.c:3:5: warning: x [-Wy]\nmake: *** [Makefile:3: a.o] Error 1\n", exit_code=2)
    assert CoverageReason.EXIT_STATUS_DISAGREES not in explained.coverage.reasons


@pytest.mark.parametrize(
    "text",
    [
        "    3 | int x;\n      |     ^\na.c:9:1: error: y\n",
        "a.c:9:1: error: y\na.c:10:1: err",
        "a.c:9:1: error: y\n... 3 lines truncated ...\nb.c:1:1: error: z\n",
        "a.c:9:1: error: y\n... [17200 characters truncated] ...\nb.c:1:1: error: z\n",
        "a.c:9:1: error: y\n[output truncated]\nb.c:1:1: error: z\n",
        "a.c:9:1: error: y\n<12 lines omitted>\n",
    ],
)
def test_output_that_was_cut_is_never_complete(text: str) -> None:
    """S3.1: a head without its diagnostic, an end inside a line, a host's mark."""
    graph = extract("", text)
    assert CoverageReason.UPSTREAM_CUT in graph.coverage.reasons
    assert not graph.coverage.complete


def test_a_diagnostic_that_speaks_of_truncation_is_no_mark() -> None:
    graph = extract("", "a.c:9:1: warning: string literal [truncated ...] was truncated [-Wtruncated]\n", exit_code=0)
    assert graph.coverage.complete


def test_output_behind_head_or_tail_may_be_cut_unless_a_total_says_otherwise() -> None:
    argv = ("sh", "-c", "gcc -c a.c 2>&1 | tail -3")
    assert not extract("a.c:9:1: error: y\n", argv=argv).coverage.complete
    assert extract("a.c:9:1: error: y\n1 error generated.\n", argv=argv).coverage.complete


# Outcome --------------------------------------------------------------------------------------------------------------


def test_a_clean_line_of_the_tool_is_positive_evidence() -> None:
    """S5.3.6."""
    for line in (
        "All checks passed!",
        "Success: no issues found in 3 source files",
        "0 errors, 0 warnings, 0 informations ",
    ):
        graph = extract(line + "\n", exit_code=0)
        assert graph.outcome is Outcome.PASS
        assert graph.items == ()
        assert set(graph.aggregate.values()) <= {0}


def test_a_clean_line_beside_a_failing_status_is_a_disagreement() -> None:
    graph = extract("All checks passed!\n", exit_code=1)
    assert graph.outcome is Outcome.FAIL
    assert [item.kind for item in graph.items] == [ItemKind.DISAGREEMENT]
    assert graph.items[0].identity == "exit status 1, but the tool says: All checks passed!"


def test_an_eaten_status_is_a_disagreement_that_names_who_counted() -> None:
    """S19.19: exit 0 with the tool's own errors."""
    told = extract("a.py:1:8: F401 [*] `os` imported but unused\nFound 1 error.\n", exit_code=0)
    assert told.outcome is Outcome.FAIL
    assert told.items[-1].identity == "exit status 0, but 1 error is counted by the tool"
    printed = extract("", "a.c:3:5: error: x\na.c:4:5: error: y\n", exit_code=0)
    assert printed.items[-1].identity == "exit status 0, but 2 errors are printed"


@pytest.mark.parametrize(
    "text",
    [
        "mypy: can't read file 'nosuch.py': No such file or directory\n",
        'Oops! Something went wrong! :(\n\nESLint: 9.39.1\n\nNo files matching the pattern "nosuch" were found.\n',
        'Traceback (most recent call last):\n  File "/usr/bin/flake8", line 3, in <module>\nImportError: no\n',
        "usage: prog [-h] FILE\nprog.py: error: unrecognized arguments: --nosuch\n",
        "everything went as usual\n",
        "2 errors\n",
    ],
)
def test_unknown_text_with_a_failing_status_is_never_clean(text: str) -> None:
    """S5.3.6: a crash, a usage error or anything else without a diagnostic is read as text, never as a clean run."""
    assert declines("", text, exit_code=2)


def test_a_crash_below_diagnostics_is_named_and_shown() -> None:
    text = 'a.py:1:0: C0114: Missing module docstring (missing-module-docstring)\nTraceback (most recent call last):\n  File "/x/pylint.py", line 3\nRecursionError: no\n'
    graph = extract(text, exit_code=32)
    assert graph.outcome is Outcome.FAIL
    assert CoverageReason.TOOL_CRASHED in graph.coverage.reasons
    assert not graph.coverage.complete
    shown = [line.text for e in graph.excerpts if e.role is ExcerptRole.TAIL for line in e.lines]
    assert "RecursionError: no" in shown


def test_what_fails_beside_diagnostics_is_shown() -> None:
    """S5.3.6: lines of other tools that look like errors stay with the census, and so does the end."""
    steps = [f"step {n}: copied part-{n}" for n in range(400)]
    steps[50] = "a.c:3:5: error: x"
    steps[200] = "upload: connection refused"
    graph = extract("\n".join(steps) + "\n", exit_code=3)
    shown = {line.number for e in graph.excerpts for line in e.lines}
    assert {201, 400} <= shown
    assert graph.outcome is Outcome.FAIL


def test_a_warning_in_the_log_of_something_else_that_failed_decides_nothing() -> None:
    """S5.0.5: such a log is read as text; where it passed, or is short, the warning is the news."""
    steps = [f"step {n}: copied part-{n}" for n in range(400)]
    steps[50] = "a.c:3:5: warning: x [-Wy]"
    assert declines("\n".join(steps) + "\n", exit_code=3)
    assert not declines("\n".join(steps) + "\n", exit_code=0)
    assert not declines("\n".join(steps[48:52]) + "\n", exit_code=3)


def test_warnings_alone_with_exit_0_pass() -> None:
    graph = extract("", "a.c:3:5: warning: x [-Wy]\n", exit_code=0)
    assert graph.outcome is Outcome.PASS
    assert graph.items[0].severity is Severity.WARNING


def test_an_unknown_status_is_no_pass() -> None:
    graph = extract("", "a.c:3:5: warning: x [-Wy]\n", exit_code=None)
    assert graph.outcome is Outcome.UNKNOWN


# Order, repeats, words ------------------------------------------------------------------------------------------------


def test_errors_stand_before_warnings_and_notes_wherever_they_were_printed() -> None:
    """S5.3.3."""
    text = "a.c:1:1: warning: w [-Wx]\na.sh:2:2: note: n [SC2086]\nz.c:9:9: error: e\nz.c:9:10: fatal error: f\n"
    graph = extract("", text)
    assert identities(graph) == ["z.c:9:10: f", "z.c:9:9: e", "a.c:1:1: -Wx w", "a.sh:2:2: SC2086 n"]


def test_what_two_targets_print_is_one_item_and_the_totals_say_which_number_counts() -> None:
    """S5.3.4."""
    row = "a.c:3:5: error: x\n"
    graph = extract("", row + "1 error generated.\n" + row + "1 error generated.\n")
    assert [item.fields.get("member_count") for item in graph.items] == [2]
    assert dict(graph.aggregate) == {"errors": 2}
    assert (graph.coverage.parsed, graph.coverage.expected) == (1, 1)
    assert graph.coverage.complete


def test_a_missing_code_or_column_is_not_present_and_no_reason_to_drop() -> None:
    """S5.3.2, S19.23."""
    graph = extract("", "a.c:3: error: x\n")
    item = graph.items[0]
    assert isinstance(item.location, Location)
    assert item.location.column is Missing.NOT_PRESENT
    assert item.failure_class == "error"


def test_a_severity_word_is_kept_beside_its_weight() -> None:
    graph = extract("", "a.c:3:5: remark: vectorized [-Rpass]\n", exit_code=0)
    assert graph.items[0].fields["severity_word"] == "remark"
    assert graph.items[0].severity is Severity.INFO


def test_eslint_speaks_of_a_whole_file_without_a_line() -> None:
    text = "/x/a.js\n  0:0  warning  File ignored because of a matching ignore pattern\n\n✖ 1 problem (0 errors, 1 warning)\n"
    graph = extract(text, exit_code=0)
    assert identities(graph) == ["/x/a.js: File ignored because of a matching ignore pattern"]


# Machine formats ------------------------------------------------------------------------------------------------------


def test_a_document_below_the_header_of_its_runner_is_read() -> None:
    text = '\n> cart@1.0.0 report\n> eslint -f json src\n\n[{"filePath": "/x/a.js", "messages": [{"ruleId": "semi", "severity": 2, "message": "m", "line": 3, "column": 5}]}]\n'
    graph = extract(text)
    assert identities(graph) == ["/x/a.js:3:5: semi m"]
    assert graph.coverage.precision is Precision.FULL
    assert graph.items[0].source.first_line == 5


def test_gcc_files_a_diagnostic_under_the_one_before_it() -> None:
    """Notes are children too, and belong to their parent."""
    place = '"locations": [{"caret": {"file": "a.c", "line": %d, "column": 2}}]'
    note = '{"kind": "note", ' + place % 9 + ', "message": "n"}'
    child = '{"kind": "warning", ' + place % 4 + ', "option": "-Wcpp", "message": "two"}'
    text = (
        '[{"kind": "warning", '
        + place % 3
        + f', "option": "-Wcpp", "message": "one", "children": [{note}, {child}]}}]\n'
    )
    graph = extract("", text, exit_code=0)
    assert identities(graph) == ["a.c:3:2: -Wcpp one", "a.c:4:2: -Wcpp two"]


def test_each_object_of_a_document_has_its_own_lines() -> None:
    """Row 3 of the acceptance matrix: the exact address of one diagnostic, not of the whole document."""
    text = '[\n  {\n    "filename": "a.py",\n    "code": "F401",\n    "location": {"row": 1, "column": 8},\n    "message": "one"\n  },\n  {\n    "filename": "b.py",\n    "code": "F402",\n    "location": {"row": 2, "column": 9},\n    "message": "two"\n  }\n]\n'
    graph = extract(text)
    assert [(i.source.first_line, i.source.last_line) for i in graph.items] == [(2, 2), (8, 8)]
    details = [i.detail for i in graph.items]
    assert [(d.first_line, d.last_line) for d in details if not isinstance(d, Missing)] == [(2, 7), (8, 13)]


def test_lines_that_are_no_record_do_not_void_the_others() -> None:
    """S5.0.9."""
    record = '{"file": "a.py", "line": 3, "column": 4, "message": "m", "code": "misc", "severity": "error"}\n'
    graph = extract(record + "warning: something else\n" + "{broken\n")
    assert identities(graph) == ["a.py:3:5: misc m"]
    assert not graph.coverage.complete
    assert graph.coverage.unmatched_lines == 2


def test_a_document_with_entities_is_not_expanded() -> None:
    """S18.5: nesting and expansion are bounded."""
    text = '<?xml version="1.0"?><!DOCTYPE x [<!ENTITY a "b">]><checkstyle><file name="a"><error line="1" message="&a;"/></file></checkstyle>'
    assert declines(text)


def test_a_deeply_nested_document_is_no_crash() -> None:
    assert declines("[" * 100_000)


# Runners --------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "prefix",
    [
        "#12 0.345 ",
        "2024-05-01T10:20:30.1234567Z ",
        "lint\tRun ruff\t2024-05-01T10:20:30.12Z ",
        "@acme/web:lint: ",
        "web-1  | ",
    ],
)
def test_what_a_runner_puts_before_each_line_belongs_to_no_path(prefix: str) -> None:
    rows = [
        "src/a.c: In function 'f':",
        "src/a.c:3:5: error: x",
        "    3 | f();",
        "      | ^",
        "src/b.c:9:1: warning: y [-Wz]",
    ]
    graph = extract("".join(f"{prefix}{row}\n" for row in rows))
    assert identities(graph) == ["src/a.c:3:5: x", "src/b.c:9:1: -Wz y"]
    assert graph.items[0].source.first_line == 2


def test_the_same_prefix_on_some_lines_only_is_part_of_them() -> None:
    graph = extract("web-1  | src/a.c:3:5: error: x\nsrc/b.c:9:1: error: y\nplain\n")
    assert "src/b.c:9:1: y" in identities(graph)
    assert "src/a.c:3:5: x" not in identities(graph)
