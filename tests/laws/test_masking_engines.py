"""Law (S1.15): a handle does not depend on the engine that masks, nor on where a window of a stream ends."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx.canonical import Masker, VolatileClass
from ctx.digest.base import CaptureFacts
from ctx.digest.handle import (
    _masked,
    _masked_fast,
    content_handle,
    handle_with_identities,
    line_windows,
    masked_digest,
)
from ctx.text import StreamView
from tests.ctx.test_canonical import KEPT, LINES, MASKED

pytest.importorskip("polars")


@given(st.lists(LINES, max_size=8).map("\n".join), st.sets(st.sampled_from(list(VolatileClass)), max_size=3))
def test_both_engines_mask_alike(text: str, content: set[VolatileClass]) -> None:
    masker = Masker(content=content, host_paths=["/home/a/proj"])
    data = text.encode("utf-8", "surrogateescape")
    assert _masked_fast(data, masker) == _masked(data, masker)


@pytest.mark.parametrize(("line", "masked"), MASKED)
def test_the_vectorised_engine_masks_every_example(line: str, masked: str) -> None:
    assert _masked_fast(f"before\n{line}\nafter\n".encode(), Masker()).decode() == f"before\n{masked}\nafter\n"


def test_the_vectorised_engine_keeps_every_counter_example() -> None:
    text = "\n".join(KEPT)
    assert _masked_fast(text.encode(), Masker()).decode() == text


def test_both_engines_mask_rules_whose_padding_moves() -> None:
    for time in ("9.99s", "10.01s", "75.21s (0:01:15)"):
        line = ("=" * 28 + f" 1 failed, 3 passed in {time} " + "=" * 28).encode()
        assert _masked_fast(line, Masker()) == _masked(line, Masker())


@given(st.binary(max_size=60), st.integers(1, 20))
def test_windows_cut_at_line_ends_and_lose_nothing(data: bytes, size: int) -> None:
    windows = list(line_windows(data, size))
    assert b"".join(windows) == data
    assert all(window.endswith(b"\n") for window in windows[:-1])


def test_a_stream_above_the_threshold_has_the_digest_of_the_slow_engine() -> None:
    from hashlib import sha256

    lines = [line for line, _ in MASKED] + KEPT
    data = ("\n".join(lines) + "\n").encode() * (2 << 20 >> 11)
    assert len(data) > 1 << 20
    masker = Masker()
    assert masked_digest(data, masker) == sha256(_masked(data, masker)).hexdigest()


def test_invalid_utf8_goes_through_the_slow_engine_and_keeps_its_bytes() -> None:
    data = b"took 1.2 ms \xff\n" * 3
    assert _masked_fast(data, Masker()) == b"took <elapsed> \xff\n" * 3


# Handles --------------------------------------------------------------------------------------------------------------

RUN = (
    "started with pid {pid}\n2026-11-30 12:00:{second:02} INFO up\nopen /tmp/tmp{random}/x\n"
    "== 1 failed, 3 passed in {time}s ==\n[gw{worker}] FAILED <Widget at 0x7f{address:08x}>\n"
)


def handle(text: str, **facts: object) -> str:
    masker = Masker()
    streams = {"stdout": StreamView("stdout", text.encode()), "stderr": StreamView("stderr", b"")}
    return content_handle(streams, CaptureFacts(argv=("pytest",), exit_code=1, ended_by="exit", **facts), masker)  # type: ignore[arg-type]


volatile = st.fixed_dictionaries(
    {
        "pid": st.integers(1, 99999),
        "second": st.integers(0, 59),
        "random": st.text("abcdefgh0123456789_", min_size=8, max_size=8).filter(lambda t: any(c.isdigit() for c in t)),
        "time": st.floats(0.01, 900).map(lambda value: f"{value:.2f}"),
        "worker": st.integers(0, 15),
        "address": st.integers(0, 2**32 - 1),
    }
)


@given(volatile, volatile)
def test_a_rerun_that_differs_in_volatile_text_has_the_same_handle(
    one: dict[str, object], two: dict[str, object]
) -> None:
    """S1.15, S19.30"""
    assert handle(RUN.format(**one)) == handle(RUN.format(**two))


def test_another_content_another_command_or_another_end_is_another_handle() -> None:
    base = handle("a\nb\n")
    assert handle("a\nc\n") != base
    assert handle("a\nb\n\n") != base
    assert handle("a\nb\n", complete=False) != base
    assert handle("a\nb\n", cwd="sub") != base
    assert handle("a\nb\n", signal=9) != base


def test_colour_is_no_content_of_a_handle_but_line_numbers_are() -> None:
    assert handle("\x1b[31ma\x1b[0m\nb\n") == handle("a\nb\n")


def test_volatile_text_inside_an_identity_is_content() -> None:
    """S1.16: it is never masked and enters the handle."""
    masker = Masker()
    one = handle_with_identities("0" * 64, ["t.py::test[pid 77]", "t.py::test_b"], masker)
    two = handle_with_identities("0" * 64, ["t.py::test[pid 78]", "t.py::test_b"], masker)
    assert one != two
    assert handle_with_identities("0" * 64, ["t.py::test_b"], masker) == "0" * 64
