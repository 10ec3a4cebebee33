"""Law (S6.7, S6.8, S19.3, S19.4): whatever the flood, totals, coverage and the census address are printed and fit."""

import re
from dataclasses import replace
from time import process_time

import pytest

from ctx.contracts.load import load_contract
from ctx.contracts.model import Rung
from ctx.evidence import EvidenceItem, ExcerptRole, ItemKind, Missing, Severity
from ctx.text import tok
from tests.laws.graphs import LINES, Delivered, at, deliver, failing, graph_of, quoted

WIDE = "界" * 400


def flooded(
    items: tuple[EvidenceItem, ...], *, ceiling: int = 4000, family: str = "pytest", wide: bool = False
) -> Delivered:
    line = WIDE if wide else "x" * 400
    excerpts = tuple(
        quoted(role, first, [line] * count, stream=stream)
        for stream in ("stdout", "stderr")
        for role, first, count in ((ExcerptRole.HEAD, 1, 5), (ExcerptRole.TAIL, LINES - 19, 20))
    )
    argv = ("sh", "-c", WIDE) if wide else ("pytest", "-q")
    graph = graph_of(items, family=family, excerpts=excerpts, argv=argv, streams={"stdout": LINES, "stderr": LINES})
    return deliver(graph, replace(load_contract(family), ceiling_tokens=ceiling))


def failures_in(files: int, each: int, *, name: str = "test_{n}", classes: int = 3) -> tuple[EvidenceItem, ...]:
    return tuple(
        failing(
            f"tests/pkg/test_{file}.py::{name.format(n=number)}",
            line=1 + number,
            failure=f"Error{(file * each + number) % classes}",
            summary=f"value {number} differs",
        )
        for file in range(files)
        for number in range(each)
    )


FLOODS = {
    "10,000 failures": failures_in(100, 100),
    "2,000 failures in 2,000 files": failures_in(2000, 1),
    "600 names of 300 columns": failures_in(6, 100, name="test[{n}" + "x" * 280 + "]"),
    "2,000 wide names of 180 columns": failures_in(20, 100, name="test[{n}" + "界" * 160 + "]", classes=40),
    "3,000 classes": failures_in(30, 100, classes=3000),
    "classes of 200 wide columns": tuple(
        replace(i, failure_class=f"{i.failure_class}{WIDE[:200]}") for i in failures_in(20, 100)
    ),
}


@pytest.mark.parametrize("wide", [False, True], ids=["narrow", "wide"])
@pytest.mark.parametrize("ceiling", [1200, 4000])
@pytest.mark.parametrize("name", FLOODS)
def test_a_flood_prints_totals_coverage_and_census_address_under_the_ceiling(
    name: str, ceiling: int, wide: bool
) -> None:
    items = FLOODS[name]
    made = flooded(items, ceiling=ceiling, wide=wide)
    text = made.body.text
    assert made.plan.rung is Rung.FLOOD
    assert tok(text) <= ceiling
    assert tok(text) in made.sizes.values()
    hidden = len(items) - made.body.receipt.items_named
    heading = f"failing: {len(items):,} failing tests, {hidden:,} not shown · all of them: run:3fa4b1c09d27#census"
    assert heading in made.lines
    assert f"coverage: {len(items):,}/{len(items):,} failing tests" in text
    assert "next: ctx get run:3fa4b1c09d27#census" in made.lines
    assert made.body.census_text.count("\n") == len(items)


@pytest.mark.parametrize("name", FLOODS)
def test_group_rows_are_bounded_and_sum_to_the_total(name: str) -> None:
    made = flooded(FLOODS[name])
    groups = re.split(r"^groups: by ", made.body.text, flags=re.MULTILINE)[1:]
    assert len(groups) == 2
    for group in groups:
        rows = [line for line in group.split("\n")[1:] if line.startswith("  ")]
        assert len(rows) <= 13
        total = 0
        for row in rows:
            other = re.fullmatch(r"  other: ([0-9,]+) in [0-9,]+ groups?", row)
            total += int((other or re.fullmatch(r".*  ([0-9,]+)", row) or [0, "0"])[1].replace(",", ""))
        assert total == len(FLOODS[name])


def test_the_stored_census_lists_every_identity_with_place_class_and_region() -> None:
    """S6.3 x1, S19.3"""
    items = FLOODS["10,000 failures"]
    rows = flooded(items).body.census_text.splitlines()
    assert [row.split("\t")[0] for row in rows] == [item.identity for item in items]
    assert rows[0] == "tests/pkg/test_0.py::test_0\ttests/pkg/test_0.py:1\tError0\t#stdout --lines 1:1"


def test_errors_come_first_among_the_samples_of_a_flood() -> None:
    """S19.22: one error after 6,000 warnings is the first identity shown; the total counts both."""
    warnings = tuple(
        failing(
            f"src/f{n % 50}.c:{n}:1: warning: unused variable v{n}",
            family="lint",
            kind=ItemKind.DIAGNOSTIC,
            severity=Severity.WARNING,
            failure="-Wunused",
            summary=Missing.NOT_PRESENT,
        )
        for n in range(6000)
    )
    error = failing("src/z.c:9:2: error: no member ullage", family="lint", kind=ItemKind.DIAGNOSTIC, line=6001)
    made = flooded((*warnings, error), family="lint")
    assert made.plan.rung is Rung.FLOOD
    first = made.lines.index(next(line for line in made.lines if line.startswith("failing: 6,001")))
    assert made.lines[first + 1].startswith("  src/z.c:9:2: error: no member ullage")


def test_standing_lines_of_a_text_beyond_the_ceiling_are_stored_and_counted() -> None:
    """S6.8, S4.3 `standing_lines`: none is dropped in silence."""
    items = tuple(
        failing(
            f"error: part {n} of the import has no owner and no date, row {n} was left out",
            line=10 + n,
            family="text",
            kind=ItemKind.LINE,
            failure=Missing.NOT_PRESENT,
            summary=Missing.NOT_PRESENT,
            location=Missing.NOT_PRESENT,
            fields={"rank": 1, "stream": "stdout", "template": "error: part # of the import"},
        )
        for n in range(3000)
    )
    graph = graph_of(
        items,
        family="text",
        aggregate={},
        excerpts=(quoted(ExcerptRole.HEAD, 1, ["a"]), quoted(ExcerptRole.TAIL, LINES, ["z"])),
    )
    made = deliver(graph, load_contract("text"))
    assert made.plan.rung is Rung.FLOOD
    assert any(line.startswith("groups: 3,000 lines that stand out, ") for line in made.lines)
    assert made.body.census_text.count("\n") == 3000
    assert not [line for line in made.lines if line.startswith("PARTIAL:")]
    assert "| z" in made.lines


def test_a_flood_of_details_keeps_the_root_where_it_fits() -> None:
    """S6.10"""
    items = tuple(
        replace(item, detail=at(item.source.first_line, item.source.first_line + 3)) for item in failures_in(20, 100)
    )
    root = quoted(
        ExcerptRole.DETAIL, 1, ["def test_0():", ">   assert 1 == 2", "E   assert 1 == 2", "t.py:1"], item=items[0].id
    )
    graph = replace(graph_of(items), excerpts=(root,))
    made = deliver(graph, load_contract("pytest"))
    assert made.plan.rung is Rung.FLOOD
    assert "| E   assert 1 == 2" in made.lines


def test_a_flood_takes_time_linear_in_its_items() -> None:
    """S19.3: 10,000 failures take at most twice the time per failure of 1,000, with room for a busy machine."""

    def seconds(count: int) -> float:
        items = failures_in(count // 100, 100)
        best = min(_timed(items) for _ in range(3))
        return best / count

    assert seconds(20_000) < 2.5 * seconds(2_000)


def _timed(items: tuple[EvidenceItem, ...]) -> float:
    started = process_time()
    flooded(items)
    return process_time() - started
