"""What the profile promises, on the output in nightly.txt and on changes of it."""

from pathlib import Path

from ctx_checks.profile import ChecksProfile

import ctx

NIGHTLY = Path(__file__).with_name("nightly.txt").read_bytes()


def digest(text: bytes, exit_code: int | None = 1) -> ctx.Rendered:
    return ctx.digest_output(text, exit_code=exit_code, profiles=[ChecksProfile(), ctx.TextProfile()])


def test_every_failed_check_is_named_with_its_rows_as_detail():
    found = digest(NIGHTLY)
    assert [item.identity for item in found.graph.items] == [
        "orders.customer_id.foreign_key",
        "stock_levels.pieces.range",
    ]
    assert [item.detail.line_count for item in found.graph.items] == [3, 2]
    assert found.graph.coverage.complete


def test_a_missing_row_is_no_complete_census():
    cut = NIGHTLY.replace(b"FAILED stock_levels.pieces.range: 1 row below 0\n", b"")
    assert not digest(cut).graph.coverage.complete


def test_without_a_totals_line_it_is_somebody_elses_output():
    assert digest(NIGHTLY.rpartition(b"78 checks")[0]).family == "text"


def test_status_zero_with_failed_checks_is_a_failure_that_says_so():
    found = digest(NIGHTLY, exit_code=0)
    assert found.graph.outcome == "fail"
    assert found.graph.coverage.reasons == ("exit_status_disagrees",)


def test_a_rerun_prints_the_same_bytes():
    assert digest(NIGHTLY).text == digest(NIGHTLY).text
