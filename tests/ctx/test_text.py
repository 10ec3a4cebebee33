"""Lines, screen view, encodings and token sizes of captured bytes (S5.0.3, S1.18, S2.12, S19.36-38)."""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx.errors import EvidenceError
from ctx.text import LineIndex, StreamView, plain_text, sniff_encoding, tok

ROOT = Path(__file__).parents[2]


def view(raw: bytes) -> StreamView:
    return StreamView("stdout", raw)


def shown(raw: bytes) -> list[str]:
    return [text for _, text in view(raw).lines()]


# Line index ----------------------------------------------------------------------------------------------------------


def naive_starts(data: bytes) -> list[int]:
    """Where each line starts, by the definition: a line ends at LF and nowhere else."""
    starts = [0] if data else []
    starts += [at + 1 for at, byte in enumerate(data) if byte == 10 and at + 1 < len(data)]
    return starts


@given(st.lists(st.sampled_from([b"", b"a", b"\r", b"long" * 9, b"\xe2\x80\xa8", b"\x0c"]), max_size=40), st.booleans())
def test_line_index_agrees_with_a_naive_oracle(lines: list[bytes], ends: bool) -> None:
    data = b"\n".join(lines) + (b"\n" if ends else b"")
    starts = naive_starts(data)
    index = LineIndex(data)
    assert index.count == len(starts)
    assert [index.start_of(number) for number in range(1, index.count + 1)] == starts
    assert index.start_of(index.count + 1) == len(data)
    assert [index.line_at(at) for at in range(len(data))] == [
        sum(start <= at for start in starts) for at in range(len(data))
    ]


@given(st.lists(st.integers(0, 90_000), min_size=1, max_size=6), st.booleans())
def test_line_index_agrees_with_the_oracle_across_its_blocks(widths: list[int], ends: bool) -> None:
    data = b"\n".join(b"x" * width for width in widths) + (b"\n" if ends else b"")
    starts = naive_starts(data)
    index = LineIndex(data)
    assert index.count == len(starts)
    for number, start in enumerate(starts, 1):
        assert index.start_of(number) == start
        assert index.line_at(start) == number


def test_a_line_outside_a_stream_is_an_error_that_names_its_length() -> None:
    for number in (0, 3, -1):
        with pytest.raises(EvidenceError, match="it has 2 lines"):
            view(b"a\nb\n").line(number)


@pytest.mark.parametrize(
    ("raw", "lines"),
    [
        (b"", []),
        (b"\n", [""]),
        (b"a", ["a"]),
        (b"a\n", ["a"]),
        (b"a\n\n", ["a", ""]),
        (b"a\r\nb\r\n", ["a", "b"]),
        (b"a\r\r\nb", ["a", "b"]),
    ],
)
def test_lines_end_at_lf_and_a_cr_before_it_belongs_to_the_end(raw: bytes, lines: list[str]) -> None:
    """S19.37"""
    assert shown(raw) == lines
    assert view(raw).line_count == len(lines)


def test_other_separators_stay_inside_their_line() -> None:
    """S19.37: U+2028, NEL, FF and VT end no line; one count in view, index and raw coordinates."""
    raw = "a\u2028b\u2029c\n\u0085d\x0ce\x0bf\x1cg\n".encode()
    seen = view(raw)
    assert seen.line_count == seen.raw_line_count == 2
    assert seen.line(1) == "a\u2028b\u2029c"


# Screen view ---------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("raw", "line"),
    [
        (b"\x1b[1;31mred\x1b[0m plain", "red plain"),
        (b"\x1b[38;2;1;2;3mx\x1b[m", "x"),
        (b"\xc2\x9b31mred\xc2\x9b0m", "red"),
        (b"\x1b(Bascii\x1b[m", "ascii"),
        (b"\x1b]8;;https://x.invalid/a\x1b\\text\x1b]8;;\x1b\\ after", "text after"),
        (b"\x1b]8;;https://x.invalid/a\x07text\x1b]8;;\x07 after", "text after"),
        (b"\xc2\x9d8;;u\xc2\x9ctext\xc2\x9d8;;\xc2\x9c", "text"),
        (b"\x1b]0;title\x07body", "body"),
        (b"\x1bPq#0\x1b\\body", "body"),
        (b"\x1b7save\x1b8", "save"),
        (b"grep\x1b[K:12\x1b[K:x", "grep:12:x"),
        (b"caf\xc3\xa9 \xc2\xa9 \xc2\xb5", "café © µ"),
        ("\x1b]8;;http://x/é\x1b\\é\x1b]8;;\x1b\\".encode(), "é"),
    ],
)
def test_escape_sequences_leave_the_view_in_both_forms(raw: bytes, line: str) -> None:
    """S5.0.3: hyperlink text stays, its target goes."""
    assert shown(raw) == [line]


def test_an_unterminated_string_sequence_ends_with_its_line() -> None:
    assert shown(b"a\x1b]0;never ends\nb\n") == ["a", "b"]
    assert shown(b"a\x1bPnever ends\nb\n") == ["a", "b"]


def test_escape_inside_an_identity_leaves_it_whole() -> None:
    """FORMAT-FACTS 6: colour stands inside the id."""
    assert shown(b"tests/a.py::\x1b[1mtest_x\x1b[0m - boom") == ["tests/a.py::test_x - boom"]


def test_only_the_last_state_of_an_overwritten_line_counts() -> None:
    assert shown(b"Receiving: 1%\rReceiving: 50%\rReceiving: 100%, done.\nnext\n") == [
        "Receiving: 100%, done.",
        "next",
    ]


def test_text_of_another_program_after_an_overwritten_line_starts_its_own() -> None:
    """S5.0.3, field case encoding/progress-overwritten-in-place."""
    raw = b"Receiving: 1%\rReceiving: 62%\rerror: RPC failed\nfatal: early EOF\n"
    seen = view(raw)
    assert [text for _, text in seen.lines()] == ["Receiving: 62%", "error: RPC failed", "fatal: early EOF"]
    assert [seen.raw_line(number) for number in (1, 2, 3)] == [1, 1, 2]
    assert seen.raw_line_count == 2
    assert seen.screen_lines_of(1, 1) == (1, 2)
    assert seen.screen_lines_of(2, 2) == (3, 3)
    first, end = seen.raw_range(1, 1)
    assert raw[first:end] == b"Receiving: 1%\rReceiving: 62%\rerror: RPC failed\n"


def test_backspaces_erase() -> None:
    assert shown(b"abc\b\bXY\n|\b/\b-\bdone\n") == ["aXY", "done"]
    assert shown(b"\b\bx") == ["x"]


@pytest.mark.parametrize("raw", [b"\x1b[0m", b"a\n\x1b[0m", b"\r", b"50%\r\n\r", b"x\b"])
def test_a_last_line_of_nothing_but_escapes_is_a_line_in_both_counts(raw: bytes) -> None:
    """S19.37: a trailing colour reset without line end makes no line that only one side counts."""
    assert view(raw).line_count == view(raw).raw_line_count == LineIndex(raw).count


def test_a_stream_without_control_is_its_own_view() -> None:
    raw = b"a\nb\n" * 10
    assert view(raw).screen is raw


def test_source_gives_raw_coordinates_of_screen_lines() -> None:
    raw = b"\x1b[31mone\x1b[0m\ntwo\nthree"
    source = view(raw).source(1, 2)
    assert (source.first_line, source.last_line) == (1, 2)
    assert raw[source.first_byte : source.end_byte] == b"\x1b[31mone\x1b[0m\ntwo\n"


_PIECES = st.sampled_from(
    [b"a", b"word ", b"\r", b"\n", b"\r\n", b"\b", b"\x1b[31m", b"\x1b]8;;u\x07", b"\xc3\xa9", b"\xff", b"\t", b"9%"]
)


@given(st.lists(_PIECES, max_size=30))
def test_every_view_line_leads_back_to_the_raw_line_it_came_from(pieces: list[bytes]) -> None:
    raw = b"".join(pieces)
    seen = view(raw)
    raw_lines = raw.split(b"\n")
    origins = [seen.raw_line(number) for number in range(1, seen.line_count + 1)]
    assert origins == sorted(origins)
    assert set(origins) == set(range(1, seen.raw_line_count + 1))
    for number, text in seen.lines():
        ref = seen.source(number)
        assert 1 <= ref.first_line <= seen.raw_line_count
        assert raw[ref.first_byte : ref.end_byte].rstrip(b"\n") == raw_lines[ref.first_line - 1]
        for word in text.replace("\ufffd", " ").split():
            assert len(word) <= len(raw_lines[ref.first_line - 1])


@given(st.binary(max_size=300))
def test_no_bytes_break_a_view(raw: bytes) -> None:
    """DESIGN 8: no input, however hostile, may crash."""
    seen = view(raw)
    assert len(list(seen.lines())) == seen.line_count
    if seen.line_count:
        seen.source(1, seen.line_count)


# Encodings -----------------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("codec", ["utf-16-le", "utf-16-be"])
def test_utf16_is_read_by_its_bom_and_ranges_are_exact_bytes(codec: str) -> None:
    """S1.18, S19.38"""
    bom = b"\xff\xfe" if codec == "utf-16-le" else b"\xfe\xff"
    lines = ["erste Zeile\r", "größe 🙂", "last"]
    raw = bom + "\n".join(lines).encode(codec)
    seen = view(raw)
    assert seen.encoding == codec
    assert [text for _, text in seen.lines()] == ["erste Zeile", "größe 🙂", "last"]
    assert seen.raw_line_count == 3
    for number, line in enumerate(lines, 1):
        first, end = seen.raw_range(number, number)
        # The byte order mark belongs to the first line: every byte of the stream belongs to one.
        assert raw[first:end].decode(codec).lstrip("\ufeff").rstrip("\n") == line
    assert seen.raw_range(1, 3) == (0, len(raw))


def test_undecodable_bytes_keep_their_line() -> None:
    """S19.38, field case encoding/old-code-page-on-stderr."""
    assert shown(b"falhou: arquivo n\x84o\nok\n") == ["falhou: arquivo n\ufffdo", "ok"]


@pytest.mark.parametrize(
    ("raw", "encoding"),
    [
        (b"", "utf-8"),
        (b"plain\n", "utf-8"),
        (b"caf\xe9\n", "utf-8"),
        (b"\x1b[31mred\x1b[0m\r\n\t", "utf-8"),
        (b"a\x00b", "binary"),
        (b"\x1f\x8b\x08\x00abc", "binary"),
        (b"\x01\x02\x03\x04abcdef", "binary"),
        (b"abcdefghijklmnopqrstuvwxyz\x01", "utf-8"),
        (b"\xff\xfea\x00", "utf-16-le"),
        (b"\xfe\xff\x00a", "utf-16-be"),
    ],
)
def test_encoding_is_judged_on_the_first_64_kib(raw: bytes, encoding: str) -> None:
    assert sniff_encoding(raw) == encoding


def test_plain_text_drops_escapes_and_nothing_else() -> None:
    assert plain_text(b"\x1b[31ma\x1b[0m\rb\r\n\xff", "utf-8") == "a\rb\r\n\ufffd"


# Token sizes ---------------------------------------------------------------------------------------------------------


def fixture_texts() -> list[str]:
    """Captured outputs in the tree, from 400 bytes to 256 KiB, as ctx measures them: without escape sequences."""
    folders = (ROOT / "tests" / "profiles", ROOT / "tests" / "fixtures")
    found = sorted(path for folder in folders for path in folder.rglob("std*.txt"))
    return [plain_text(p.read_bytes()[: 256 << 10], "utf-8") for p in found if p.stat().st_size >= 400]


def test_tok_is_within_a_tenth_of_o200k_base_over_the_fixtures() -> None:
    """S2.12: summed over all; nine of ten outputs on their own are within 15 %."""
    toktok = pytest.importorskip("toktok")
    texts = fixture_texts()
    assert len(texts) > 50
    exact = toktok.batch_count(texts, "o200k_base", threads=1)
    estimates = [tok(text) for text in texts]
    assert abs(sum(estimates) / sum(exact) - 1) < 0.10
    errors = sorted(abs(estimate / count - 1) for estimate, count in zip(estimates, exact, strict=True))
    assert errors[len(errors) * 9 // 10] < 0.15


@given(st.text(max_size=200), st.text(max_size=200))
def test_tok_of_a_whole_is_the_sum_of_its_parts_within_a_seam(first: str, second: str) -> None:
    """Adding text never makes it smaller by more than what the two bytes at the seam weigh."""
    whole = tok(first + second)
    assert whole >= max(tok(first), tok(second)) - 3
    assert abs(whole - tok(first) - tok(second)) <= 4


def test_tok_is_linear() -> None:
    line = "tests/test_x.py::test_a PASSED [ 12%]\n"
    assert abs(tok(line * 2000) / (tok(line * 20) * 100) - 1) < 0.05


def test_tok_of_a_large_text_is_its_sampled_size() -> None:
    line = b"2026-01-02 12:00:00 INFO worker 17 took 5 ms for /api/v1/items/88\n"
    small = tok(line * 10_000)
    assert abs(tok(line * 100_000) / (small * 10) - 1) < 0.02


def test_tok_counts_special_token_markers_as_plain_text() -> None:
    """S2.12, field case accounting/text-with-special-tokens."""
    assert tok("<|endoftext|>") > 1
    assert tok("<|im_start|>user") > tok("user")


def test_tok_of_nothing_is_nothing_and_of_anything_is_at_least_one() -> None:
    assert tok("") == 0
    assert tok("a") == tok(" ") == tok("\ud800") == 1
    assert tok("é") == tok("é".encode())
