"""Columns count in masked text and lead back to the text of the capture that answers (S2.11)."""

from hypothesis import given, settings
from hypothesis import strategies as st

from ctx.canonical import Masker
from ctx.retrieval.byte_slice import masked_bytes
from ctx.retrieval.columns import traced_line
from ctx.safety.redact import Redactor

SECRET = "ghp_" + "a1B2c3D4e5" * 4
PIECES = st.sampled_from(
    [
        "plain ", "took 1.25s ", "0xdeadbeef01 ", "pid 4711 ", "2026-01-02 03:04:05 ", "/home/me/work/x.py ",
        SECRET + " ", "né漢 ", "token=" + "q7Zk29vXw1Lm4" + " ", "<elapsed> ", "<redacted:jwt#1> ",
        "==== 3 passed in 0.06s ====", "123e4567-e89b-12d3-a456-426614174000", "\t", "[gw3] ",
    ]
)  # fmt: skip
MASKER = Masker(host_paths=["/home/me/work"])


@settings(max_examples=40)
@given(st.lists(PIECES, max_size=12).map("".join), st.data())
def test_spans_that_partition_the_shown_line_partition_the_raw_one(line: str, data: st.DataObject) -> None:
    """S8.10: whatever the cuts, also through a masked run or a secret, every part is had once."""
    traced = traced_line(line, MASKER)
    assert traced.masked == MASKER.mask(line)
    assert traced.shown == Redactor().redact(MASKER.mask(line))
    cuts = sorted(data.draw(st.lists(st.integers(0, len(traced.shown)), max_size=5)))
    edges = list(zip([0, *cuts], [*cuts, len(traced.shown)], strict=True))
    assert "".join(traced.exact(*edge) for edge in edges) == line
    together = "".join(traced.readable(*edge) for edge in edges)
    assert together == traced.readable(0, len(traced.shown))
    assert SECRET not in together
    assert "q7Zk29vXw1Lm4" not in together


def test_a_masked_run_comes_back_as_it_was() -> None:
    traced = traced_line("done in 0.06s at /home/me/work/a.py", MASKER)
    assert traced.shown == "done in <elapsed> at <host_path>/a.py"
    assert traced.readable(0, 17) == "done in 0.06s"
    assert traced.readable(17, len(traced.shown)) == " at /home/me/work/a.py"
    assert traced.exact(21, 33) == "/home/me/work/"


def test_a_secret_in_a_masked_run_does_not_come_back_with_it() -> None:
    """A rule line with a time in it is one masked run, whatever else it says."""
    line = f"==== {SECRET} failed in 0.06s ===="
    traced = traced_line(line, MASKER)
    assert traced.readable(0, len(traced.shown)) == "== <redacted:github-token#1> failed in <elapsed> =="
    assert traced.exact(0, len(traced.shown)) == line


def test_a_secret_stays_masked_and_a_program_gets_it_exactly() -> None:
    traced = traced_line(f"use {SECRET} now", MASKER)
    assert traced.readable(0, len(traced.shown)) == "use <redacted:github-token#1> now"
    assert traced.exact(0, len(traced.shown)) == f"use {SECRET} now"


@given(st.lists(PIECES, max_size=8), st.data())
def test_no_cut_through_a_secret_shows_a_part_of_it(pieces: list[str], data: st.DataObject) -> None:
    """S18.3: bytes from the middle of a token are still bytes of a token."""
    raw = f"{''.join(pieces)}{SECRET}\n{''.join(pieces)}".encode()
    first = data.draw(st.integers(0, len(raw)))
    end = data.draw(st.integers(first, len(raw)))
    shown = masked_bytes(raw, first, end, frozenset())
    for at in range(len(SECRET) - 11):
        assert SECRET[at : at + 12].encode() not in shown


@given(st.binary(max_size=400), st.data())
def test_bytes_without_a_secret_are_exact(raw: bytes, data: st.DataObject) -> None:
    """S8.3."""
    first = data.draw(st.integers(0, len(raw)))
    end = data.draw(st.integers(first, len(raw)))
    assert masked_bytes(raw, first, end, frozenset()) == raw[first:end]
