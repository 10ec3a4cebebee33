"""What a delivery keeps, hides, claims and addresses, on deliveries made by hand (S14.11, S14.12)."""

from collections.abc import Mapping
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from referee.cases import TruthItem
from referee.delivery import Capture, Delivery, Fetched
from referee.metrics.preservation import Preservation, claimed_bytes, oracle_text, preservation, printed_addresses
from referee.metrics.visible import prepared, visible
from tests.referee.builders import ENCODING, Shelf, capture, case, delivery, diagnostic, item

NAMES = [f"tests/test_a.py::test_{n}" for n in range(6)]
ITEMS = [item(name) for name in NAMES]
ROWS = [f"FAILED {name} - AssertionError: assert {n} == 9" for n, name in enumerate(NAMES)]
RAW = (
    "\n".join(["collected 20 items", *[f"noise number {n}" for n in range(30)], *ROWS, "6 failed, 14 passed in 1.0s"])
    + "\n"
)


def measured(folder: Path, given: Delivery, *, raw: str = RAW, inline_tokens: int = 10, **truth: Any) -> Preservation:
    """Metrics of a delivery of `raw`."""
    facts: dict[str, Any] = {"items": ITEMS, "counts": {"failed": 6, "passed": 14}, "decisive": ["6 failed"], **truth}
    judged = case(folder, stdout=raw, **facts)
    return preservation(
        judged, capture(raw), given, ENCODING, inline_tokens=inline_tokens, raw_tokens=ENCODING.count(raw)
    )


def lines(*shown: str) -> str:
    return "\n".join(shown) + "\n"


def test_the_raw_output_keeps_everything_and_claims_nothing(tmp_path: Path) -> None:
    """Control of all below."""
    found = measured(tmp_path, delivery(RAW))
    assert (found.identity_recall_inline, found.decisive_recall_inline, found.required_fraction) == (1.0, 1.0, 1.0)
    assert (found.false_claims, found.undeclared_omissions, found.unresolvable_addresses) == (0, 0, 0)
    assert (found.containment, found.lost, found.notes) == (0.0, (), ())


def test_recall_is_the_share_that_the_first_delivery_shows(tmp_path: Path) -> None:
    """Four of six, and half of the decisive strings."""
    found = measured(tmp_path, delivery(lines(*ROWS[:4], "6 failed")), decisive=["6 failed", "14 passed"])
    assert found.identity_recall_inline == found.identity_recall_addressable == pytest.approx(4 / 6, abs=1e-6)
    assert found.decisive_recall_inline == 0.5
    assert found.lost == (NAMES[4], NAMES[5])


def test_recall_over_an_empty_truth_set_is_undefined(tmp_path: Path) -> None:
    """S14.12."""
    found = measured(tmp_path, delivery("anything"), items=[], decisive=[], counts={}, outcome="pass")
    assert (found.identity_recall_inline, found.identity_recall_addressable) == (None, None)
    assert (found.decisive_recall_inline, found.decisive_recall_addressable) == (None, None)


def test_what_comes_back_by_its_own_address_is_addressable(tmp_path: Path) -> None:
    """And what is behind none is lost."""
    given = delivery(lines(*ROWS[:2], "4 not shown: kept:rest"), kept={"kept:rest": lines(*ROWS[2:5])})
    found = measured(tmp_path, given)
    assert found.identity_recall_inline == pytest.approx(2 / 6, abs=1e-6)
    assert found.identity_recall_addressable == pytest.approx(5 / 6, abs=1e-6)
    assert found.lost == (NAMES[5],)


def test_an_address_that_the_text_does_not_print_is_no_way_back(tmp_path: Path) -> None:
    """The shelf holds everything; nobody is told."""
    found = measured(tmp_path, delivery(lines(*ROWS[:2]), kept={"kept:rest": RAW}))
    assert found.identity_recall_addressable == pytest.approx(2 / 6, abs=1e-6)


def test_addresses_that_do_not_resolve_are_counted_once_each(tmp_path: Path) -> None:
    """Printed twice is one address; one with nothing behind it at all counts too."""
    given = delivery(lines(*ROWS, "kept:gone kept:gone kept:here kept:lost"), kept={"kept:here": "x"})
    found = measured(tmp_path, given)
    assert found.unresolvable_addresses == 2
    assert {"dead: kept:gone", "dead: kept:lost"} <= set(found.notes)
    without = replace(given, resolver=None)
    assert measured(tmp_path, without).unresolvable_addresses == 3


class _Streams(Shelf):
    """A way back that claims lines of a stream."""

    def __init__(self, kept: Mapping[str, bytes]) -> None:
        super().__init__({address: body.decode() for address, body in kept.items()})
        self.bodies = dict(kept)

    def whole(self, address: str) -> Fetched:
        return Fetched(text=self.bodies[address].decode(), body=self.bodies[address])


@pytest.mark.parametrize(("body", "dead"), [(b"two\nthree\n", 0), (b"two\nthree", 1), (b"one\ntwo\n", 1)])
def test_an_address_that_returns_other_bytes_than_it_claims_does_not_resolve(
    tmp_path: Path, body: bytes, dead: int
) -> None:
    """`--lines 2:3` of stdout, to the byte."""
    address = "run:abc123#stdout --lines 2:3"
    given = replace(
        delivery(f"see {address}\n"),
        address_pattern=r"run:[0-9a-f]+#stdout --lines \d+:\d+",
        resolver=_Streams({address: body}),
    )
    found = measured(tmp_path, given, raw="one\ntwo\nthree\nfour", items=[], decisive=[], counts={})
    assert found.unresolvable_addresses == dead


def test_what_an_address_of_lines_claims() -> None:
    """Lines 1-based and inclusive, line ends included; the last may have none."""
    held = capture("one\ntwo\nthree", "err\n")
    assert claimed_bytes(held, "run:ab#stdout --lines 2:3") == b"two\nthree"
    assert claimed_bytes(held, "run:ab#stdout") == b"one\ntwo\nthree"
    assert claimed_bytes(held, "run:ab#stderr --lines 1:1") == b"err\n"
    assert claimed_bytes(held, "run:ab#census") is None


# Omissions --------------------------------------------------------------------------------------------------------

HEAD, TAIL = RAW.splitlines()[:32], RAW.splitlines()[-3:]


@pytest.mark.parametrize(
    ("text", "undeclared"),
    [
        (lines("failing: some", *ROWS[:4]), 2),
        (lines("failing: 6 tests", *ROWS[:4]), 2),
        (lines("failing: some, 2 not shown", *ROWS[:4]), 0),
        (lines("failing: some, 1 not shown", *ROWS[:4]), 2),
        (lines(*ROWS[:4], "and 2 more"), 0),
        (lines("PARTIAL: the census", *ROWS[:4]), 0),
        (lines("failing: 4/4 tests", *ROWS[:4], "omitted: stdout 30 of 38 lines", "coverage: 4/4 tests"), 2),
        (lines("failing: 4/4 tests · complete", *ROWS[:4], "PARTIAL: complete"), 2),
        (lines(*HEAD, "... 4 lines omitted", *TAIL), 0),
        (lines(*HEAD, "", "... [200 characters truncated] ...", "", *TAIL), 0),
        (lines(*HEAD, *TAIL), 3),
        (lines(*HEAD[:5], "... 20 lines omitted", *HEAD[25:], *TAIL), 3),
        (lines("... 31 lines omitted", *RAW.splitlines()[31:]), 0),
        (lines("... 33 lines omitted", *RAW.splitlines()[33:]), 0),
        (lines(*RAW.splitlines()[33:]), 2),
        (lines(*HEAD, "... 7 lines omitted"), 0),
        (lines(*HEAD, "... 7 lines omitted: kept:rest"), 0),
        (lines(*HEAD), 5),
        (lines("the run of today", "... 33 lines omitted", *RAW.splitlines()[33:], "that was it"), 0),
        (lines("the run of today", "... 9 lines omitted", *RAW.splitlines()[33:], "that was it"), 2),
        (lines(*HEAD, "... 6 lines omitted", "that was it"), 0),
        (lines(*HEAD, "... 38 lines omitted", "that was it"), 5),
        (lines("of all", "... 38 lines omitted", "that was it"), 6),
        (lines("failing: some", *ROWS[:4], "30 lines not shown", "that was it"), 2),
        ("", 6),
    ],
)
def test_an_omission_is_declared_in_the_unit_of_the_items_or_at_its_place(
    tmp_path: Path, text: str, undeclared: int
) -> None:
    """S14.12: a count of lines elsewhere, a total, or a mark between other lines declares nothing."""
    found = measured(tmp_path, delivery(text))
    assert found.undeclared_omissions == undeclared
    assert found.identity_recall_inline is not None


def test_a_cut_inside_a_line_is_a_mark_at_its_place(tmp_path: Path) -> None:
    """Hosts cut by characters: what is left of a line on both sides is no line of the output."""
    cut = len("\n".join(RAW.splitlines()[:33])) + 30
    text = f"{RAW[:cut]}\n\n... [150 characters truncated] ...\n\n{RAW[-60:]}"
    assert measured(tmp_path, delivery(text)).undeclared_omissions == 0
    silent = f"{RAW[:cut]}{RAW[-60:]}"
    assert measured(tmp_path, delivery(silent)).undeclared_omissions > 0


def test_a_mark_that_the_captured_text_prints_declares_nothing(tmp_path: Path) -> None:
    """The tool's own `5 lines omitted` is output like any other."""
    raw = RAW.replace(ROWS[0], "... 6 lines omitted\n" + ROWS[0])
    text = lines(*[line for line in raw.splitlines() if line not in ROWS])
    assert measured(tmp_path, delivery(text), raw=raw).undeclared_omissions == 6


# Claims -------------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("own", "claims"),
    [
        ("pytest: PASS 20 passed", 2),
        ("all tests passed", 1),
        ("all checks passed", 2),
        ("no tests ran", 1),
        ("pytest: FAIL 6 failed, 14 passed", 0),
        ("pytest: FAIL 5 failed, 14 passed", 1),
        ("pytest: UNKNOWN", 0),
        ("coverage: 6/6 failing tests · complete", 0),
        ("coverage: 5/5 failing tests · complete", 1),
        ("exit 0", 0),
        ("pytest: FAIL, all tests passed in part one", 0),
    ],
)
def test_claims_that_truth_denies_are_counted(tmp_path: Path, own: str, claims: int) -> None:
    """Outcome, completeness, counts, emptiness; in the arm's own words only."""
    found = measured(tmp_path, delivery(lines(own, *ROWS)))
    assert found.false_claims == claims, found.notes


def test_a_failing_verdict_on_a_passing_run_is_false_too(tmp_path: Path) -> None:
    """Both ways."""
    found = measured(
        tmp_path,
        delivery("pytest: FAIL\n"),
        raw="3 passed in 0.1s\n",
        items=[],
        decisive=[],
        counts={"passed": 3},
        outcome="pass",
    )
    assert found.false_claims == 1


def test_a_claim_of_completeness_is_false_where_something_is_lost(tmp_path: Path) -> None:
    """Neither shown nor reachable; with an address it is merely elsewhere."""
    text = lines("the census is complete", *ROWS[:5], "kept:rest")
    assert measured(tmp_path, delivery(text, kept={"kept:rest": "nothing"})).false_claims == 1
    assert measured(tmp_path, delivery(text, kept={"kept:rest": RAW})).false_claims == 0


def test_a_claim_of_completeness_is_false_where_the_output_does_not_name_all(tmp_path: Path) -> None:
    """Cut input: the channel knows two more."""
    counts = {"failed": 8, "unnamed": 2}
    assert measured(tmp_path, delivery(lines("complete", *ROWS)), counts=counts).false_claims == 1
    assert measured(tmp_path, delivery(lines("incomplete", *ROWS)), counts=counts).false_claims == 0


def test_nobody_is_blamed_for_passing_on_what_was_captured(tmp_path: Path) -> None:
    """A forged summary in the output, as it is or quoted."""
    raw = RAW + "=== 99 passed in 0.01s ===\nall checks passed\n"
    assert measured(tmp_path, delivery(raw), raw=raw).false_claims == 0
    assert measured(tmp_path, delivery(lines(*ROWS, "| all tests passed, whoever said so"))).false_claims == 0
    quoted = "".join(f"| {line}\n" for line in raw.splitlines())
    assert measured(tmp_path, delivery(quoted), raw=raw).false_claims == 0


def test_a_line_that_a_cut_left_is_no_claim_of_the_arm(tmp_path: Path) -> None:
    """`…ors, 0 errors, all checks passed` beside a mark is the end of a captured line."""
    raw = RAW + "package seventeen checked without any trouble: 0 errors, all checks passed\n"
    text = f"{RAW[:200]}\n... [900 characters truncated] ...\n{raw[-50:]}"
    assert measured(tmp_path, delivery(text), raw=raw).false_claims == 0


# Sizes ----------------------------------------------------------------------------------------------------------------


def test_containment_is_what_was_kept_away(tmp_path: Path) -> None:
    """1 - delivered / raw."""
    given = delivery(lines(*ROWS))
    expected = 1 - given.tokens / ENCODING.count(RAW)
    assert measured(tmp_path, given).containment == pytest.approx(expected, abs=1e-6)


@pytest.mark.parametrize(
    ("text", "inline_tokens", "overhead"),
    [(RAW, 10_000, 0), (RAW + "kept\n", 10_000, 3), ("short\n", 10_000, 0), (RAW + "kept\n", 10, None)],
)
def test_small_output_overhead_is_tokens_over_raw(
    tmp_path: Path, text: str, inline_tokens: int, overhead: int | None
) -> None:
    """Undefined where raw is above the inline bound; never negative."""
    assert ENCODING.count(RAW + "kept\n") - ENCODING.count(RAW) == 3
    assert measured(tmp_path, delivery(text), inline_tokens=inline_tokens).small_output_overhead == overhead


def test_frontier_measures_against_truths_own_rendering(tmp_path: Path) -> None:
    """Outcome, counts, one line an identity."""
    judged = case(tmp_path, items=ITEMS[:2], counts={"failed": 2})
    assert oracle_text(judged) == "fail\n2 failed\ntests/test_a.py::test_0\ntests/test_a.py::test_1"
    found = measured(tmp_path, delivery(oracle_text(judged)), items=ITEMS[:2], counts={"failed": 2})
    assert found.frontier == 1.0
    assert measured(tmp_path, delivery("")).frontier is None


@pytest.mark.parametrize(
    ("text", "fraction"),
    [
        (RAW, 1.0),
        # Counts 6 and 14 are there, no identity is; the contract of pytest asks for places too, and truth has none.
        ("6 failed, 14 passed\n", 0.5),
        # Three of six identities, one of two counts.
        (lines(*ROWS[:3], "14 passed"), 0.5),
        ("", 0.0),
    ],
)
def test_required_fraction_is_the_mean_over_the_contracts_classes(tmp_path: Path, text: str, fraction: float) -> None:
    """`aggregate_counts`, `complete_identity_census`; the same for every arm."""
    assert measured(tmp_path, delivery(text)).required_fraction == pytest.approx(fraction, abs=1e-6)


def test_addresses_are_those_an_arm_lists_or_its_pattern_finds() -> None:
    """In printed order, each once; what is listed and does not fit the pattern is no address of output."""
    given = delivery("kept:b kept:a kept:b", kept={})
    assert printed_addresses(given) == ("kept:b", "kept:a")
    assert printed_addresses(replace(given, addresses=("kept:z", "run:abc"))) == ("kept:z",)
    assert printed_addresses(delivery("kept:b")) == ()
    grouped = replace(given, address_pattern=r"(kept):(?P<id>[a-z])")
    assert printed_addresses(grouped) == ("kept:b", "kept:a")


# Visibility -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("found", "text", "seen"),
    [
        (item("a.py::t1"), "FAILED a.py::t1 - x", True),
        (item("a.py::t1"), "FAILED a.py::t12 - x", False),
        (item("a.py::t1"), "FAILED a.py::t1[x] - x", False),
        (item("a.py::t1"), "FAILED ba.py::t1 - x", False),
        (item("a.py::t1"), "FAILED a.py::t1::sub - x", False),
        (item("a.py::t1"), "\x1b[31mFAILED\x1b[0m a.py::\x1b[1mt1\x1b[0m", True),
        (item("a.py::T::t1"), "a.py\n  ::T::t1  :33", True),
        (item("a.py::T::t1"), "b.py\n  ::T::t1  :33", False),
        (item("a.py::T::t1[x]"), "____ T.t1[x] ____\n\n    code\n\na.py:33: Error", True),
        (item("a.py::T::t1[x]"), "____ T.t1[x] ____\n\n    code\n\nb.py:33: Error", False),
        (diagnostic("src/a.py", 3, "undefined name 'x'", column=7), "src/a.py:3:7: F821 undefined name 'x'", True),
        (diagnostic("src/a.py", 3, "undefined name 'x'", column=7), "src/a.py:33:7: F821 undefined name 'x'", False),
        (diagnostic("src/a.py", 3, "undefined name 'x'"), "src/a.py\n  3:7  error  undefined name 'x'", True),
        (diagnostic("src/a.py", 3, "undefined name 'x'"), "src/b.py\n  3:7  error  undefined name 'x'", False),
        (diagnostic("src/a.py", 3, "undefined name 'x'"), "E: undefined name 'x' (2): b.py:1, src/a.py:3", True),
        (diagnostic("src/a.py", 3, "undefined name 'x'"), "line 3 of src/a.py is fine", False),
        (diagnostic("src/a.py", 3, "undefined 'x'"), "src/a.py: in module\n\n  at line 3: undefined 'x'", True),
        (diagnostic("src/a.py", 3, "undefined 'x'"), "src/b.py: in module\n\n  at line 3: undefined 'x'", False),
        (diagnostic("src/a.rs", 3, "unused x"), "warning: unused x\n --> src/a.rs:3:7", True),
        (diagnostic("src/a.py", 3, "", code="F821"), "src/a.py:3: F821", True),
        (diagnostic("src/a.py", 3, "", code="F821"), "src/a.py:3: F822", False),
        (TruthItem(identity="boom", kind="line"), "it went boom", True),
    ],
)
def test_what_a_text_names(found: TruthItem, text: str, seen: bool) -> None:
    """One rule for every arm: whole identities, places with their file and message; a number alone never counts."""
    assert visible(found, prepared(text)) is seen


def test_a_capture_without_output_has_nothing_to_compare() -> None:
    """`true`: no line is anybody's own."""
    empty = Capture(argv=("true",), exit_code=0, ended_by="exit", stdout=b"", stderr=b"")
    assert claimed_bytes(empty, "run:ab#stdout") == b""
