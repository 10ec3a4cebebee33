"""What the pytest family concludes from a capture: outcome, counts, coverage, items (S5.1, S19.1 to S19.22)."""

import json
from pathlib import Path
from typing import Any

import pytest

from ctx.api import digest_output
from ctx.digest.base import CaptureFacts, DigestContext
from ctx.digest.pytestprof import PytestProfile
from ctx.evidence import CoverageReason, EvidenceGraph, EvidenceItem, ExcerptRole, ItemKind, Missing, Outcome, Precision
from ctx.text import StreamView

TESTS = Path(__file__).parents[2]
CASES = TESTS / "profiles" / "pytest"
FIELD = TESTS / "fixtures" / "field-cases"
FAILING = (ItemKind.FAILING_TEST, ItemKind.ERRORING_TEST, ItemKind.LOAD_ERROR)


def context(
    stdout: bytes | str,
    exit_code: int | None = 1,
    *,
    stderr: bytes | str = b"",
    argv: tuple[str, ...] = (),
    **facts: Any,
) -> DigestContext:
    out = stdout.encode() if isinstance(stdout, str) else stdout
    err = stderr.encode() if isinstance(stderr, str) else stderr
    return DigestContext(
        streams={"stdout": StreamView("stdout", out), "stderr": StreamView("stderr", err)},
        manifest=CaptureFacts(argv=argv, exit_code=exit_code, **facts),
    )


def graph_of(ctx: DigestContext) -> EvidenceGraph:
    profile = PytestProfile()
    assert profile.detect(ctx) is not None
    graph = profile.extract(ctx)
    assert graph is not None
    return graph


def real(name: str, **facts: Any) -> EvidenceGraph:
    case = CASES / name
    meta = json.loads((case / "meta.json").read_text(encoding="utf-8"))
    streams = {stream: (case / f"{stream}.txt").read_bytes() for stream in ("stdout", "stderr")}
    given = {"exit_code": meta["exit_code"], "argv": tuple(meta["argv"]), **facts}
    return graph_of(context(streams["stdout"], stderr=streams["stderr"], **given))


def text_of(name: str) -> str:
    return (CASES / name / "stdout.txt").read_text(encoding="utf-8")


def failing(graph: EvidenceGraph) -> list[str]:
    return [item.identity for item in graph.items if item.kind in FAILING]


def of_kind(graph: EvidenceGraph, kind: ItemKind) -> list[EvidenceItem]:
    return [item for item in graph.items if item.kind is kind]


def excerpt_text(graph: EvidenceGraph, role: ExcerptRole) -> str:
    return "\n".join(line.text for excerpt in graph.excerpts if excerpt.role is role for line in excerpt.lines)


RULE = "=" * 27 + " short test summary info " + "=" * 28 + "\n"
FAILURES = "=" * 35 + " FAILURES " + "=" * 35 + "\n"


def heading(name: str) -> str:
    return f" {name} ".center(80, "_") + "\n"


def block(name: str, file: str, line: int = 3, error: str = "assert 0") -> str:
    return f"{heading(name)}\n    def f():\n>       assert 0\nE       {error}\n\n{file}:{line}: AssertionError\n"


# Field cases ---------------------------------------------------------------------------------------------------------


def field_cases() -> list[Path]:
    found = []
    for folder in sorted(FIELD.glob("*/*")):
        meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
        if any("pytest" in word for word in meta["argv"]) and (folder / "stdout.txt").exists():
            found.append(folder)
    return found


@pytest.mark.parametrize("case", field_cases(), ids=lambda case: case.name)
def test_field_case_states_its_truth(case: Path) -> None:
    meta = json.loads((case / "meta.json").read_text(encoding="utf-8"))
    truth = json.loads((case / "truth.json").read_text(encoding="utf-8"))
    streams = {name: (case / f"{name}.txt").read_bytes() for name in ("stdout", "stderr")}
    ctx = context(streams["stdout"], meta["exit_code"], stderr=streams["stderr"], argv=tuple(meta["argv"]))
    graph = graph_of(ctx)
    assert str(graph.outcome) == truth["outcome"]
    for name, number in truth["counts"].items():
        if number and name != "passed_so_far":
            assert graph.aggregate[name] == number
    stated = [item.identity for item in graph.items if item.kind in (*FAILING, ItemKind.UNFINISHED_TEST)]
    assert stated == [item["id"] for item in truth["items"]]
    for told in truth["items"]:
        item = next(item for item in graph.items if item.identity == told["id"])
        if isinstance(item.location, Missing):
            assert "::" in item.identity
        elif "line" in told:
            assert (item.location.file, item.location.line) == (told["file"], told["line"])
        if told.get("message"):
            assert told["message"].split(": ")[-1][:60] in str(item.summary) or told["message"] in str(item.summary)


def test_all_field_cases_of_the_family_are_there() -> None:
    assert len(field_cases()) == 12


# Detection -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("stdout", "argv"),
    [
        ("/usr/bin/python: No module named pytest\n", ("python", "-m", "pytest")),
        ("sh: 1: pytest: not found\n", ("pytest",)),
        ("", ("pytest", "-q")),
        ("hello\nworld\n", ("pytest",)),
        ("ok 12 passed\n", ("make", "test")),
    ],
)
def test_a_runner_named_in_the_command_is_no_evidence(stdout: str, argv: tuple[str, ...]) -> None:
    """S5.0.5, S5.1.1, S19.17."""
    assert PytestProfile().detect(context(stdout, 1, argv=argv)) is None
    assert PytestProfile().detect(context("", 1, stderr=stdout, argv=argv)) is None


def test_the_shape_decides_whatever_the_command_is_called() -> None:
    """S5.0.5."""
    assert PytestProfile().detect(context(text_of("green"), 0, argv=("make", "check"))) is not None


def test_one_mark_is_enough_only_where_the_command_names_pytest() -> None:
    """S5.0.5: argv breaks ties."""
    text = "FAILED tests/test_a.py::test_b - assert 0\n1 failed, 2 passed in 0.10s\n"
    assert PytestProfile().detect(context(text, 1, argv=("sh", "-c", "cargo test"))) is None
    ctx = context(text, 1, argv=("sh", "-c", "pytest -q | tail -2"))
    assert failing(graph_of(ctx)) == ["tests/test_a.py::test_b"]


def test_a_report_quoted_in_a_document_is_not_a_report() -> None:
    """S5.0.6: fenced blocks."""
    text = "# Guide\n\nRun it:\n\n```\n" + text_of("green") + "```\n\nThen read on.\n"
    assert PytestProfile().detect(context(text, 0, argv=("cat", "README.md"))) is None


def test_a_report_on_stderr_is_read_there() -> None:
    ctx = context(b"building\n", 1, stderr=text_of("mixed-k").encode())
    graph = graph_of(ctx)
    assert len(failing(graph)) == 7
    assert {item.source.stream for item in graph.items} == {"stderr"}


def test_no_terminal_output_is_declined() -> None:
    """S5.1.8: `-p no:terminal`."""
    assert (CASES / "mixed-no-terminal" / "stdout.txt").read_bytes() == b""
    assert PytestProfile().detect(context(b"", 1, argv=("pytest", "-p", "no:terminal"))) is None


# Outcome and counts --------------------------------------------------------------------------------------------------


def test_classes_keep_the_names_and_the_order_of_the_tool() -> None:
    """S5.0.7, S5.1.15."""
    graph = real("mixed-tb-auto")
    assert list(graph.aggregate.items()) == [
        ("failed", 41),
        ("passed", 6),
        ("skipped", 2),
        ("xfailed", 1),
        ("xpassed", 1),
        ("warnings", 2),
        ("errors", 5),
    ]
    assert not graph.counted
    assert graph.coverage.complete
    assert (graph.coverage.parsed, graph.coverage.expected) == (46, 46)


def test_a_green_run_is_a_pass_without_items() -> None:
    """S3.4, S19.21: a passing test called `test_failed_login_error` is no item."""
    graph = real("green")
    assert graph.outcome is Outcome.PASS
    assert graph.items == ()
    assert graph.coverage.complete
    assert excerpt_text(graph, ExcerptRole.TAIL) == ""


@pytest.mark.parametrize("name", ["livelog", "livelog-s", "livelog-sv"])
def test_printed_imitations_in_a_green_run_stay_text(name: str) -> None:
    """S19.6, S5.1.14."""
    graph = real(name)
    assert graph.outcome is Outcome.PASS
    assert failing(graph) == []
    assert dict(graph.aggregate) == {"passed": 3}
    assert "ghost" not in json.dumps(graph.to_canonical()["items"])


@pytest.mark.parametrize("name", ["mixed-tb-auto", "mixed-ci", "mixed-vv-short", "mixed-rN", "mixed-tb-line", "inner"])
def test_captured_imitations_make_no_item_and_no_count(name: str) -> None:
    """S19.5, S19.7, S5.0.6: forged rows, headings, banners and totals inside captured output and messages."""
    graph = real(name)
    assert not [identity for identity in failing(graph) if "ghost" in identity or "inner.py" in identity]
    assert "7 failed" not in excerpt_text(graph, ExcerptRole.CONCLUSION)
    assert sum(graph.aggregate[key] for key in ("failed", "errors") if key in graph.aggregate) == len(failing(graph))


def test_exit_zero_with_failing_totals_is_a_failure_and_named() -> None:
    """S19.19, S3.4: a pipe ate the status."""
    graph = real("mixed-k", exit_code=0)
    assert graph.outcome is Outcome.FAIL
    item = of_kind(graph, ItemKind.DISAGREEMENT)[0]
    assert "exit status 0" in str(item.summary)
    assert "7 failed" in str(item.summary)
    assert CoverageReason.EXIT_STATUS_DISAGREES in graph.coverage.reasons
    assert not graph.coverage.complete


def test_green_text_with_exit_one_is_never_a_pass() -> None:
    """S19.19."""
    graph = real("green", exit_code=1)
    assert graph.outcome is Outcome.FAIL
    assert "exit status 1" in str(of_kind(graph, ItemKind.DISAGREEMENT)[0].summary)
    assert "91 passed" in str(of_kind(graph, ItemKind.DISAGREEMENT)[0].summary)


def test_a_coverage_threshold_is_shown_beside_the_disagreement() -> None:
    text = text_of("green-q") + "FAIL Required test coverage of 90% not reached. Total coverage: 71.00%\n"
    text = text.replace(
        "\n91 passed", "\nFAIL Required test coverage of 90% not reached. Total coverage: 71.00%\n91 passed"
    )
    graph = graph_of(context(text, 1))
    assert graph.outcome is Outcome.FAIL
    assert "Required test coverage" in excerpt_text(graph, ExcerptRole.MESSAGE)


def test_an_unknown_exit_status_gives_no_green_line() -> None:
    """S3.4: `pass` needs exit 0."""
    assert real("green", exit_code=None).outcome is Outcome.UNKNOWN
    assert real("mixed-k", exit_code=None).outcome is Outcome.FAIL


@pytest.mark.parametrize("name", ["empty", "empty-q", "green-filtered"])
def test_no_tests_is_neither_green_nor_red(name: str) -> None:
    """S19.18, S5.1.12."""
    graph = real(name)
    assert graph.outcome is Outcome.UNKNOWN
    assert graph.headline == "no tests ran"


def test_everything_deselected_with_exit_zero_is_not_green() -> None:
    """S19.18."""
    graph = real("green-filtered", exit_code=0)
    assert graph.outcome is Outcome.UNKNOWN
    assert dict(graph.aggregate) == {"deselected": 92}


def test_without_totals_nothing_is_counted_but_what_is_named() -> None:
    """S5.1.8 `-qq`, S19.16: expected is None; counts are marked as ours."""
    graph = real("mixed-qq")
    assert dict(graph.aggregate) == {"failed": 41, "errors": 5}
    assert graph.counted == {"failed", "errors"}
    assert graph.coverage.expected is None
    assert not graph.coverage.complete
    assert graph.headline == ""


@pytest.mark.parametrize("name", ["mixed-co", "mixed-co-q"])
def test_a_listing_is_collected_not_run(name: str) -> None:
    """S5.1.8: `--co`."""
    graph = real(name)
    assert graph.outcome is Outcome.UNKNOWN
    assert graph.headline == "collected, not run"
    assert dict(graph.aggregate) == {"collected": 53}
    listed = [item.identity for item in of_kind(graph, ItemKind.ROW)]
    assert len(listed) == 53
    assert "tests/net/test_codec.py::TestLegacy::test_same" in listed
    assert "tests/test_orders.py::test_odd_ids[x] - y]" in listed


# Early ends ----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(("name", "number"), [("mixed-x", 1), ("mixed-maxfail", 3), ("xdist-x", 2)])
def test_an_early_stop_is_complete_for_what_ran_and_says_so(name: str, number: int) -> None:
    """S19.15, S3.1."""
    graph = real(name)
    assert len(failing(graph)) == number
    assert graph.coverage.unit == "failing_tests_until_stop"
    assert CoverageReason.EARLY_STOP in graph.coverage.reasons
    assert not graph.coverage.complete
    assert of_kind(graph, ItemKind.UNFINISHED_TEST) == []
    assert "stopping after" in excerpt_text(graph, ExcerptRole.CONCLUSION)


def test_keyboard_interrupt_names_the_test_that_ran() -> None:
    """S5.1.12, FORMAT-FACTS 9."""
    graph = real("interrupt-v")
    assert CoverageReason.INTERRUPTED in graph.coverage.reasons
    assert [i.identity for i in of_kind(graph, ItemKind.UNFINISHED_TEST)] == ["tests/test_int.py::test_ctrl_c"]
    assert failing(graph) == ["tests/test_int.py::test_fails"]


def test_collection_errors_interrupt_the_run() -> None:
    """S19.20, S5.1.6: files are identities, cause and place named."""
    graph = real("collect")
    items = of_kind(graph, ItemKind.LOAD_ERROR)
    assert [(i.identity, i.failure_class) for i in items] == [
        ("tests/test_import.py", "ModuleNotFoundError"),
        ("tests/test_raises.py", "KeyError"),
        ("tests/test_syntax.py", "SyntaxError"),
    ]
    assert [str(i.location) for i in items] == [
        "tests/test_import.py:1",
        "tests/test_raises.py:1",
        "tests/test_syntax.py:1",
    ]
    assert str(items[0].summary) == "No module named 'nowhere_at_all'"
    assert CoverageReason.INTERRUPTED in graph.coverage.reasons


@pytest.mark.parametrize(
    ("name", "reason", "unfinished"),
    [
        ("killed-v", CoverageReason.KILLED, "tests/test_slow.py::test_hangs"),
        ("killed", CoverageReason.KILLED, "tests/test_slow.py"),
        ("crash-v", CoverageReason.KILLED, "tests/test_crash.py::test_dies"),
        ("crash", CoverageReason.TOOL_CRASHED, "tests/test_crash.py"),
        ("exits-v", CoverageReason.TOOL_CRASHED, "tests/test_exits.py::test_dies"),
        ("timeout-thread-v", CoverageReason.TIMED_OUT, "tests/test_slow.py::test_hangs"),
        ("timeout-thread", CoverageReason.TIMED_OUT, "tests/test_slow.py"),
    ],
)
def test_a_run_that_was_cut_short_names_what_ran(name: str, reason: CoverageReason, unfinished: str) -> None:
    """S19.16, S5.1.13: no invented count, never "no tests", the end of the output is shown."""
    graph = real(name)
    assert graph.outcome is Outcome.FAIL
    assert reason in graph.coverage.reasons
    assert not graph.coverage.complete
    assert [item.identity for item in of_kind(graph, ItemKind.UNFINISHED_TEST)] == [unfinished]
    assert "passed" not in graph.aggregate
    assert graph.headline == ""
    assert excerpt_text(graph, ExcerptRole.TAIL)


def test_a_dumped_stack_names_the_function_that_hung() -> None:
    """S5.1.12: pytest-timeout's dump, where the progress shows dots only."""
    item = of_kind(real("timeout-thread"), ItemKind.UNFINISHED_TEST)[0]
    assert "test_hangs" in str(item.summary)
    assert item.failure_class == "timeout"


def test_a_fatal_interpreter_error_is_an_exception_with_its_frame() -> None:
    """S5.1.13."""
    item = of_kind(real("crash-v"), ItemKind.EXCEPTION)[0]
    assert item.identity == "Fatal Python error: Segmentation fault"
    assert str(item.location) == "tests/test_crash.py:15"
    assert item.source.stream == "stderr"


def test_the_caller_stopping_the_run_is_a_timeout() -> None:
    graph = real("killed-v", exit_code=124, ended_by="timeout")
    assert graph.outcome is Outcome.FAIL
    assert CoverageReason.TIMED_OUT in graph.coverage.reasons
    assert graph.coverage.input_truncated


def test_a_name_cut_in_its_line_is_marked() -> None:
    """S19.16: the last line has no end; the blank that follows a whole name is missing."""
    text = text_of("killed-v").rstrip("\n ")[:-3]
    item = of_kind(graph_of(context(text, 137)), ItemKind.UNFINISHED_TEST)[0]
    assert item.identity == "tests/test_slow.py::test_ha"
    assert item.fields["cut"] is True


# The tool's own trouble ----------------------------------------------------------------------------------------------


def test_a_usage_error_comes_first_and_claims_no_census() -> None:
    """S19.17, S5.1.12."""
    graph = real("usage")
    assert graph.outcome is Outcome.FAIL
    assert graph.items[0].kind is ItemKind.DIAGNOSTIC
    assert graph.items[0].identity == "unrecognized arguments: --no-such-flag"
    assert not graph.coverage.complete
    assert "unrecognized arguments" in excerpt_text(graph, ExcerptRole.MESSAGE)


@pytest.mark.parametrize("name", ["usage-path", "usage-id"])
def test_a_path_that_is_not_there_is_no_empty_run(name: str) -> None:
    """S19.17: exit status 4 with `no tests ran` in the text."""
    graph = real(name)
    assert graph.outcome is Outcome.FAIL
    assert graph.headline == "could not run"
    assert "not found" in graph.items[0].identity
    assert not graph.coverage.complete


def test_a_conftest_that_does_not_import_is_a_load_error() -> None:
    """S5.1.12."""
    graph = real("conftest-broken")
    item = graph.items[0]
    assert (item.kind, item.identity) == (ItemKind.LOAD_ERROR, "tests/conftest.py")
    assert (item.failure_class, str(item.location)) == ("ModuleNotFoundError", "tests/conftest.py:1")
    assert item.source.stream == "stderr"
    assert graph.outcome is Outcome.FAIL


@pytest.mark.parametrize("name", ["internal", "internal-v"])
def test_an_internal_error_is_one_exception_with_the_innermost_frame(name: str) -> None:
    """S5.1.13."""
    graph = real(name)
    item = graph.items[0]
    assert (item.kind, item.failure_class, item.summary) == (ItemKind.EXCEPTION, "RuntimeError", "hook broke")
    assert str(item.location) == "conftest.py:4"
    assert CoverageReason.TOOL_CRASHED in graph.coverage.reasons


# Sources -------------------------------------------------------------------------------------------------------------


def test_missing_names_are_stated_when_flags_suppress_them() -> None:
    """S19.11, S5.1.3."""
    graph = real("mixed-rN-no")
    assert (graph.coverage.parsed, graph.coverage.expected) == (0, 46)
    assert CoverageReason.OUTPUT_SUPPRESSED in graph.coverage.reasons
    assert CoverageReason.COUNT_MISMATCH in graph.coverage.reasons
    assert excerpt_text(graph, ExcerptRole.TAIL)


def test_worker_rows_alone_give_every_id() -> None:
    """S19.11, S5.1.9: `-n2 -v -rN --tb=no`."""
    graph = real("mixed-n2-v")
    assert len(failing(graph)) == 46
    assert graph.coverage.complete
    assert failing(graph) == sorted(failing(graph))
    assert all("gw" not in json.dumps(dict(item.fields)) for item in graph.items)


def test_a_dead_worker_is_one_item_for_its_test() -> None:
    """S19.12, FORMAT-FACTS 5."""
    for name in ("xdist-crash", "xdist-crash-v"):
        graph = real(name)
        items = {item.identity: item for item in of_kind(graph, ItemKind.FAILING_TEST)}
        assert items["tests/test_w.py::test_dies"].failure_class == "worker_crash"
        assert "gw0" not in str(items["tests/test_w.py::test_dies"].summary)
        assert len(items) == 2
        assert graph.coverage.complete


def test_set_up_and_tear_down_of_one_test_are_two_items() -> None:
    """S19.10, S3.3."""
    graph = real("mixed-q")
    found = [i for i in graph.items if i.identity.endswith("::test_both_errors_of_one_fixture")]
    assert [(i.kind, i.fields["phase"]) for i in found] == [
        (ItemKind.ERRORING_TEST, "setup"),
        (ItemKind.ERRORING_TEST, "teardown"),
    ]
    both = [i for i in graph.items if i.identity.endswith("::test_fail_and_teardown_error")]
    assert [(i.kind, i.fields["phase"]) for i in both] == [
        (ItemKind.FAILING_TEST, "call"),
        (ItemKind.ERRORING_TEST, "teardown"),
    ]
    assert len({i.id for i in graph.items}) == len(graph.items)


def test_doctests_keep_their_printed_id_and_no_host_path() -> None:
    """S19.13, S5.1.10, FORMAT-FACTS 11."""
    graph = real("doctest")
    assert failing(graph) == [
        "docs/guide.txt::guide.txt",
        "pkg/maths.py::pkg.maths.double",
        "pkg/maths.py::pkg.maths.explode",
    ]
    items = graph.items
    assert [str(i.location) for i in items] == ["docs/guide.txt:3", "pkg/maths.py:5", "pkg/maths.py:13"]
    assert items[0].failure_class == "DocTestFailure"
    assert items[0].summary == "Expected: 3 Got: 2"
    assert "/home/" not in json.dumps(graph.to_canonical()["items"])


@pytest.mark.parametrize("name", ["subtests", "subtests-v", "subtests7", "subtests7-v"])
def test_sub_tests_are_items_under_the_parent_with_their_description(name: str) -> None:
    """S19.14, FORMAT-FACTS 1."""
    graph = real(name)
    subs = [(i.identity, i.fields["subtest"]) for i in graph.items if "subtest" in i.fields]
    assert subs == [
        ("tests/test_sub.py::test_numbers", "[is even] (n=1)"),
        ("tests/test_sub.py::test_numbers", "[is even] (n=3)"),
        ("tests/test_sub.py::test_plain", "(n=0)"),
        ("tests/test_sub.py::test_plain", "(n=1)"),
        ("tests/test_sub.py::CaseTests::test_with_sub", "[case] (n=1)"),
    ]
    assert graph.coverage.complete
    locations = {(i.identity, i.fields.get("subtest")): str(i.location) for i in graph.items}
    assert locations["tests/test_sub.py::test_numbers", "[is even] (n=3)"] == "tests/test_sub.py:8"


def test_other_results_keep_their_names() -> None:
    """S5.1.11."""
    graph = real("mixed-rA")
    assert [i.identity for i in of_kind(graph, ItemKind.XFAILED_TEST)] == [
        "tests/test_orders.py::test_expected_failure"
    ]
    assert of_kind(graph, ItemKind.XFAILED_TEST)[0].summary == "known - bug 12"
    assert [i.identity for i in of_kind(graph, ItemKind.XPASSED_TEST)] == ["tests/test_orders.py::test_unexpected_pass"]
    skips = of_kind(graph, ItemKind.SKIPPED_TEST)
    assert [(i.summary, i.fields["member_count"]) for i in skips] == [("not on - this machine", 1), ("decided late", 1)]
    strict = next(i for i in graph.items if i.identity.endswith("::test_strict_pass"))
    assert (strict.kind, strict.failure_class) == (ItemKind.FAILING_TEST, "xpass_strict")


@pytest.mark.parametrize("name", ["rerun", "rerun-v", "rerun7"])
def test_a_test_that_passed_on_its_second_try_is_flaky(name: str) -> None:
    """S5.1.11."""
    graph = real(name)
    assert [i.identity for i in of_kind(graph, ItemKind.FLAKY_TEST)] == ["tests/test_flaky.py::test_flaky"]
    hopeless = of_kind(graph, ItemKind.FAILING_TEST)[0]
    assert (hopeless.identity, hopeless.fields["reruns"]) == ("tests/test_flaky.py::test_hopeless", 2)
    assert graph.aggregate["rerun"] == 3


def test_warnings_are_grouped_by_category_and_place() -> None:
    """S5.1.15: never mixed with failures."""
    found = [w.message for w in real("mixed-tb-no").warnings if w.code == "test_warning"]
    assert found == [
        "DeprecationWarning at test_orders.py:154 x1: old api",
        "UserWarning at test_orders.py:158 x1: old api",
    ]


# Facts of one failure ------------------------------------------------------------------------------------------------


def test_the_facts_of_a_failure_have_their_fields() -> None:
    """S5.1.17, S5.1.7."""
    graph = real("mixed-q-short")
    item = next(i for i in graph.items if i.identity.endswith("::test_captured_everything"))
    lines = text_of("mixed-q-short").split("\n")
    assert not isinstance(item.detail, Missing)
    assert "test_captured_everything" in lines[item.detail.first_line - 1]
    first, last = map(int, str(item.fields["stdout_ref"]).split(":"))
    assert lines[first - 1 : last] == [
        "----------------------------- Captured stdout call -----------------------------",
        "to stdout",
    ]
    assert lines[item.source.first_line - 1].startswith("FAILED tests/test_orders.py::test_captured_everything")
    data = text_of("mixed-q-short").encode()
    assert data[item.source.first_byte : item.source.end_byte].startswith(b"FAILED tests/test_orders.py::test_captured")


def test_a_chain_keeps_first_message_last_cause_and_all_classes() -> None:
    """S5.1.7."""
    for name in ("mixed-tb-auto", "mixed-tb-short", "mixed-tb-native", "mixed7-tb-long"):
        item = next(i for i in real(name).items if i.identity.endswith("::test_chained_context"))
        assert item.failure_class == "RuntimeError"
        assert item.summary == "reload failed (from KeyError: 'c')"
        assert item.fields["chain"] == "KeyError -> shop.helpers.BoomError -> RuntimeError"
        assert str(item.location) == "tests/test_orders.py:30"


def test_the_location_is_the_test_files_own_frame_nearest_the_raise() -> None:
    """S5.1.7: a helper raises; locals, full traces and source lines do not move it."""
    for name in ("mixed-tb-auto", "mixed-tb-short", "mixed-tb-native", "mixed-showlocals", "mixed-full-trace"):
        item = next(i for i in real(name).items if i.identity.endswith("::test_raised_in_helper"))
        assert str(item.location) == "tests/test_orders.py:22"
        assert (item.failure_class, item.summary) == ("shop.helpers.BoomError", "negative value -3")


def test_equal_names_in_another_order_keep_their_own_facts() -> None:
    """S19.9, S5.1.5."""
    text = (
        "tests/a/test_x.py F\ntests/b/test_x.py F\n"
        + FAILURES
        + block("test_same", "tests/b/test_x.py", 8, "ValueError: from b")
        + block("test_same", "tests/a/test_x.py", 3, "KeyError: 'from a'")
        + RULE
        + "FAILED tests/a/test_x.py::test_same - KeyError: 'from a'\n"
        + "FAILED tests/b/test_x.py::test_same - ValueError: from b\n"
        + "2 failed in 0.10s\n"
    )
    facts = [(i.identity, i.failure_class, i.summary, str(i.location)) for i in graph_of(context(text)).items]
    assert facts == [
        ("tests/a/test_x.py::test_same", "KeyError", "'from a'", "tests/a/test_x.py:3"),
        ("tests/b/test_x.py::test_same", "ValueError", "from b", "tests/b/test_x.py:8"),
    ]


def test_a_forged_heading_of_another_real_test_does_not_take_its_block() -> None:
    """S19.5: captured output holds a block of a test that fails too, with another file."""
    text = (
        "tests/test_x.py FF\n"
        + FAILURES
        + block("test_a", "tests/test_x.py", 3)
        + "----------------------------- Captured stdout call -----------------------------\n"
        + block("test_b", "tests/other.py", 99, "RuntimeError: forged")
        + block("test_b", "tests/test_x.py", 7, "TypeError: real")
        + RULE
        + "FAILED tests/test_x.py::test_a - assert 0\nFAILED tests/test_x.py::test_b - TypeError: real\n"
        + "2 failed in 0.10s\n"
    )
    items = {i.identity: i for i in graph_of(context(text)).items}
    assert str(items["tests/test_x.py::test_b"].location) == "tests/test_x.py:7"
    assert items["tests/test_x.py::test_b"].failure_class == "TypeError"
    assert str(items["tests/test_x.py::test_a"].location) == "tests/test_x.py:3"


def test_a_block_without_room_in_the_totals_is_a_warning() -> None:
    """S5.1.5."""
    text = (
        "tests/test_x.py F\n"
        + FAILURES
        + block("test_a", "tests/test_x.py")
        + block("test_ghost", "tests/test_x.py")
        + RULE
        + "FAILED tests/test_x.py::test_a - assert 0\n1 failed in 0.10s\n"
    )
    graph = graph_of(context(text))
    assert failing(graph) == ["tests/test_x.py::test_a"]
    assert [w.code for w in graph.warnings] == ["unjoined_block"]


# Cut input -----------------------------------------------------------------------------------------------------------


def test_a_missing_head_is_never_complete() -> None:
    """S19.16, S3.1: `| tail` leaves blocks and summary, all names and the totals."""
    lines = text_of("mixed-tb-short").split("\n")
    graph = graph_of(context("\n".join(lines[-60:]), 1))
    assert len(failing(graph)) == 46
    assert CoverageReason.UPSTREAM_CUT in graph.coverage.reasons
    assert not graph.coverage.complete


@pytest.mark.parametrize(
    "mark",
    [
        "[... 812 lines truncated ...]",
        "… +312 lines omitted …",
        "<... 5000 characters truncated ...>",
        "... (34 more lines)",
        "[output truncated]",
    ],
)
def test_a_host_that_dropped_the_middle_is_believed(mark: str) -> None:
    """S3.1."""
    lines = text_of("mixed-tb-short").split("\n")
    graph = graph_of(context("\n".join([*lines[:40], mark, *lines[-55:]]), 1))
    assert CoverageReason.UPSTREAM_CUT in graph.coverage.reasons
    assert graph.coverage.input_truncated
    assert not graph.coverage.complete
    assert [w.code for w in graph.warnings if w.code == "input_cut"] == ["input_cut"]


def test_the_runners_own_shortening_is_no_cut() -> None:
    text = text_of("mixed-q").replace(
        "E         - never\n", "E         ...Full output truncated (12 lines hidden), use '-vv' to show\n"
    )
    assert graph_of(context(text, 1)).coverage.complete


def test_a_summary_that_was_cut_off_is_a_count_mismatch() -> None:
    """S5.1.16."""
    text = text_of("mixed-tb-no")
    rows = text.split("\n")
    kept = [row for row in rows if not row.startswith("FAILED tests/test_orders.py::test_odd")]
    graph = graph_of(context("\n".join(kept), 1))
    assert graph.coverage.parsed < (graph.coverage.expected or 0)
    assert CoverageReason.COUNT_MISMATCH in graph.coverage.reasons


def test_an_incomplete_capture_is_never_complete() -> None:
    graph = real("mixed-q", complete=False, incomplete_reason="output_limit")
    assert len(failing(graph)) == 46
    assert not graph.coverage.complete
    assert graph.coverage.input_truncated


# Several runs, reports -----------------------------------------------------------------------------------------------


def test_totals_of_several_runs_are_added() -> None:
    """S5.0.7: none decides alone."""
    text = text_of("many-short") + text_of("green") + text_of("mixed-k")
    graph = graph_of(context(text, 1))
    assert graph.aggregate["failed"] == 92 + 7
    assert graph.aggregate["passed"] == 20 + 91
    assert len(failing(graph)) == 99
    assert len(graph.segments) == 3
    assert [s.coverage.parsed for s in graph.segments] == [92, 0, 7]
    assert graph.coverage.complete


def test_quiet_runs_in_a_row_are_told_apart() -> None:
    text = text_of("mixed-q-short") + text_of("green-q") + text_of("livelog-red-q")
    graph = graph_of(context(text, 1))
    assert graph.aggregate["failed"] == 41 + 2
    assert len(failing(graph)) == 48


def test_the_same_suite_run_twice_has_distinct_items() -> None:
    """S3.3."""
    graph = graph_of(context(text_of("mixed-k") * 2, 1))
    assert len(graph.items) == 14
    assert len({item.id for item in graph.items}) == 14
    assert [i.fields.get("occurrence") for i in graph.items] == [None] * 7 + [2] * 7


def test_text_around_a_run_changes_nothing() -> None:
    """S5.0.10: lines of make before, its own error behind."""
    text = "python -m build\ngcc -c a.c\n" + text_of("mixed-k") + "make: *** [Makefile:3: test] Error 1\n"
    graph = graph_of(context(text, 2))
    assert len(failing(graph)) == 7
    assert graph.coverage.complete


@pytest.mark.parametrize("name", ["report-junit", "report-log", "report-json"])
def test_machine_reports_are_full_precision(name: str) -> None:
    """S5.1.1."""
    graph = real(name)
    assert graph.coverage.precision is Precision.FULL
    assert graph.coverage.complete
    assert graph.outcome is Outcome.FAIL


@pytest.mark.parametrize("name", ["report-junit", "report-log"])
def test_a_cut_machine_report_is_not_complete(name: str) -> None:
    """S19.16."""
    text = text_of(name)
    graph = graph_of(context(text[: len(text) * 2 // 3], 1))
    assert failing(graph)
    assert not graph.coverage.complete
    assert CoverageReason.UPSTREAM_CUT in graph.coverage.reasons


# Determinism ---------------------------------------------------------------------------------------------------------


def test_volatile_text_changes_no_fact() -> None:
    """S19.30: time, folder, addresses and worker names differ, the graph does not."""
    text = text_of("xdist-crash")
    other = text.replace("gw0", "gw7").replace("in 0.", "in 9.").replace("/home/dev/venv", "/tmp/tmpab12cd34/venv")

    def facts(value: str) -> object:
        canonical = graph_of(context(value)).to_canonical()
        return [canonical["items"], canonical["aggregate"], canonical["coverage"], canonical["excerpts"]]

    assert text != other
    assert facts(text) == facts(other)


def test_windows_line_ends_change_no_fact() -> None:
    text = text_of("mixed-q-short")

    def facts(value: str) -> object:
        return [(i.identity, str(i.location), i.failure_class, i.summary) for i in graph_of(context(value)).items]

    assert facts(text.replace("\n", "\r\n")) == facts(text)


def test_thirty_and_more_failures_are_all_items() -> None:
    """S19.2: the census of 92 failures is whole in every style."""
    for name in ("many-short", "many-v-line", "many-auto"):
        graph = real(name)
        assert len(set(failing(graph))) == 92
        assert all(not isinstance(item.location, Missing) for item in graph.items)


def test_a_report_whose_lines_were_sorted_is_shown_as_text() -> None:
    """S5.0.9: heads of sections that lead nowhere void nothing; the failing rows stand out as lines."""
    report = (TESTS / "profiles" / "pytest" / "mixed-tb-short" / "stdout.txt").read_bytes()
    shuffled = b"\n".join(sorted(report.split(b"\n"))) + b"\n"
    digest = digest_output(shuffled, argv=("sh", "-c", "pytest | sort"), exit_code=0)
    assert digest.graph.outcome is Outcome.UNKNOWN
    assert not digest.graph.coverage.complete
    assert "precision: fallback" in digest.text
    assert "FAILED tests/test_orders.py::test_total_wrong" in digest.text
