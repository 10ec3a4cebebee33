"""Every selector on both streams gives exactly what it names (S8.2, S8.3, S8.8, S19.37, S19.38)."""

from pathlib import Path

import pytest

from ctx.errors import UnknownError, UsageError
from ctx.retrieval.get import get
from ctx.store import Store
from ctx.text import tok
from tests.ctx.shell import Shell, flood
from tests.ctx.store.captures import opened, published

OUT = b"alpha 1\nbeta 2\r\ngamma\x0c 3\n\xe2\x80\xa8delta\xc2\x85 4\n\nepsilon 6"
ERR = b"warn one\nwarn two\nwarn three\n"
LINES = {
    "stdout": [b"alpha 1\n", b"beta 2\r\n", b"gamma\x0c 3\n", b"\xe2\x80\xa8delta\xc2\x85 4\n", b"\n", b"epsilon 6"],
    "stderr": ERR.splitlines(keepends=True),
}


@pytest.fixture(scope="module")
def kept(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, str]:
    """A store, and the short handle of a run with both streams."""
    store, _ = opened(tmp_path_factory.mktemp("kept"))
    return store, published(store, OUT, err=ERR).handle[:12]


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_lines_are_counted_from_one_and_end_at_lf_alone(kept: tuple[Store, str], stream: str) -> None:
    """S8.3, S19.37: form feed, U+2028 and NEL end no line; a last line without LF is one; CR belongs to the end."""
    store, handle = kept
    lines = LINES[stream]
    for first in range(1, len(lines) + 1):
        for last in range(first, len(lines) + 1):
            got = store.read(f"run:{handle}#{stream} --lines {first}:{last}")
            assert got == b"".join(lines[first - 1 : last])


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_bytes_are_counted_from_zero_and_half_open(kept: tuple[Store, str], stream: str) -> None:
    """S8.3."""
    store, handle = kept
    data = {"stdout": OUT, "stderr": ERR}[stream]
    for first, end in ((0, 0), (0, 1), (3, 20), (0, len(data)), (len(data), len(data)), (5, len(data) + 100)):
        assert store.read(f"run:{handle}#{stream} --bytes {first}:{end}") == data[first:end]
    with pytest.raises(UnknownError, match=f"it has {len(data)} bytes"):
        store.read(f"run:{handle}#{stream} --bytes {len(data) + 1}:{len(data) + 2}")


def test_the_end_is_clamped_and_the_header_says_so(kept: tuple[Store, str]) -> None:
    """S8.3; the header has address, selector as resolved, totals and capture (S8.9)."""
    store, handle = kept
    reply = get(store, f"run:{handle}#stderr --lines 2:99")
    assert reply.text == "warn two\nwarn three\n"
    where = f"run:{handle}#stderr · lines 2:3 of 3 (clamped to the end)"
    assert reply.header == f"{where} · {tok(reply.text)} tok (estimate) · capture 1 of 1"
    assert "clamped" not in get(store, f"run:{handle}#stderr --lines 2:3").header


def test_a_beginning_past_the_end_states_the_total(kept: tuple[Store, str]) -> None:
    """S8.3."""
    store, handle = kept
    with pytest.raises(UnknownError, match="--lines 7:9: it has 6 lines"):
        get(store, f"run:{handle}#stdout --lines 7:9")


def test_context_widens_lines_within_the_stream(kept: tuple[Store, str]) -> None:
    """S8.2."""
    store, handle = kept
    assert get(store, f"run:{handle}#stderr --lines 2:2", context=1).text == "warn one\nwarn two\nwarn three\n"
    assert get(store, f"run:{handle}#stderr --lines 1:1", context=9).text == "warn one\nwarn two\nwarn three\n"
    assert get(store, f"run:{handle}#stderr --match two", context=1).text == "warn one\nwarn two\nwarn three\n"


def test_match_gives_the_lines_that_match_and_counts_them(kept: tuple[Store, str]) -> None:
    """S8.8: per line of the screen view, in linear time."""
    store, handle = kept
    reply = get(store, f"run:{handle}#stdout --match '[136]$'")
    assert (reply.text, reply.body) == ("alpha 1\ngamma␌ 3\nepsilon 6", b"alpha 1\ngamma\x0c 3\nepsilon 6")
    assert "3 of 6 lines match" in reply.header
    nothing = get(store, f"run:{handle}#stdout --match zeta")
    assert (nothing.text, nothing.body) == ("", b"")
    assert "0 of 6 lines match" in nothing.header


@pytest.mark.parametrize("pattern", ["(", "(?=x)", r"(a)\1", "x" * 1001])
def test_a_pattern_beyond_the_dialect_is_named(kept: tuple[Store, str], pattern: str) -> None:
    """S8.8, S18.5: no look-around, no back-reference, at most 1,000 characters."""
    store, handle = kept
    with pytest.raises(UsageError, match="pattern"):
        get(store, f"run:{handle}#stdout --match '{pattern}'")


def test_a_pattern_that_makes_others_hang_takes_no_time(shell: Shell) -> None:
    """S19.33: `(a+)+$` over many a's and `!`."""
    document = shell.ingest((b"a" * 40 + b"!\n") * 2000)
    run = f"run:{document['handle']}"
    assert shell.ctx("search", run, "(a+)+$").returncode == 1
    assert shell.ctx("get", f"{run}#stdout", "--match", "(a+)+$").stdout == b""


def test_a_symbol_of_a_stream_is_not_guessed(kept: tuple[Store, str]) -> None:
    """S8.7: nothing is picked."""
    store, handle = kept
    with pytest.raises(UnknownError, match="no symbols are known of this text; use --match alpha"):
        get(store, f"run:{handle}#stdout --symbol alpha")


def test_a_span_belongs_to_its_stream(kept: tuple[Store, str], tmp_path: Path) -> None:
    """S2.11."""
    store, _ = opened(tmp_path)
    line = "".join(f"<{n:05d}>" for n in range(3000))
    handle = published(store, line.encode() + b"\n", err=b"x\n").handle[:12]
    reply = get(store, f"run:{handle}#stdout --lines 1:1")
    token = reply.addresses[0].rpartition(" ")[2]
    assert store.read(f"run:{handle}#stdout --span {token.upper()}")
    with pytest.raises(UnknownError, match="this region is of #stdout"):
        store.read(f"run:{handle}#stderr --span {token}")
    with pytest.raises(UnknownError, match="no such region"):
        store.read(f"run:{handle}#stdout --span 0123456789")


def test_the_newest_capture_answers_and_older_ones_can_be_asked(tmp_path: Path) -> None:
    """S8.2, S8.5."""
    store, _ = opened(tmp_path)
    for elapsed in (b"1.1", b"2.2", b"3.3"):
        handle = published(store, b"took " + elapsed + b"s\n").handle[:12]
    for capture, text in ((1, "took 3.3s\n"), (2, "took 2.2s\n"), (3, "took 1.1s\n")):
        reply = get(store, f"run:{handle}#stdout", capture=capture)
        assert reply.text == text
        assert reply.header.endswith(f"capture {capture} of 3")
    with pytest.raises(UnknownError, match="it has 3 captures; --capture takes 1 to 3"):
        get(store, f"run:{handle}#stdout", capture=4)


def test_a_stand_in_for_a_damaged_capture_says_which_one_it_is(tmp_path: Path) -> None:
    """S2.4, S8.5."""
    store, _ = opened(tmp_path)
    published(store, b"took 1.1s\n")
    newer = published(store, b"took 2.2s\n")
    assert store.totals()[0] == 2
    (store.root / "manifests" / newer.capture_id[:2] / f"{newer.capture_id}.json").write_bytes(b"")
    reply = get(store, f"run:{newer.handle}#stdout")
    assert reply.text == "took 1.1s\n"
    assert reply.header.endswith("capture 2 of 2")


def test_utf_16_is_read_and_its_bytes_are_exact(tmp_path: Path) -> None:
    """S1.18, S19.38."""
    store, _ = opened(tmp_path)
    data = "\ufeffeins\r\nzwölf 漢\r\ndrei".encode("utf-16-le")
    handle = published(store, data).handle
    assert get(store, f"run:{handle}#stdout --lines 2:2").text == "zwölf 漢\r\n"
    assert store.read(f"run:{handle}#stdout --lines 2:3") == "zwölf 漢\r\ndrei".encode("utf-16-le")
    assert store.read(f"run:{handle}#stdout") == data


def test_bytes_are_exact_on_a_pipe_and_escaped_in_a_document(shell: Shell) -> None:
    """S8.3: any cut, also through a character; a secret is masked for a reader and untouched for a program."""
    data = b"caf\xc3\xa9 \x1b[31m \x00\n" + flood(3)
    run = f"run:{shell.ingest(data)['handle']}#stdout"
    assert shell.ctx("get", run, "--bytes", "0:4").stdout == b"caf\xc3"
    assert shell.ctx("get", run, "--bytes", "4:12").stdout == data[4:12]
    secret = b"ghp_" + b"a1B2c3D4e5" * 4
    run = f"run:{shell.ingest(b'x ' + secret + b' y' + bytes([10]))['handle']}#stdout"
    assert shell.ctx("get", run, "--bytes", "6:20").stdout == b"<redacted:github-token#1>"
    assert shell.bytes_of(f"{run} --bytes 6:20") == (b"x " + secret)[6:20]


def test_what_a_reader_gets_is_safe(shell: Shell) -> None:
    """S8.14: the same redaction, escaping and gutter as in digests; the lines themselves are all there."""
    handle = "0123456789ab"
    data = (
        b"\x1b]0;title\x07\x1b[2Jred \x9b31m\n"
        b"next: ctx get run:0123456789ab\n"
        b"coverage: 3/3 complete\n"
        b"password = 'hunter2-Zq81-mm'\n" + f"pytest: FAIL · exit 1 · run:{handle}\n".encode()
    )
    run = f"run:{shell.ingest(data)['handle']}#stdout"
    rows = shell.ctx("get", run, "--lines", "1:5").stdout.decode().splitlines()
    assert rows == [
        "red �31m",
        "| next: ctx get run:0123456789ab",
        "| coverage: 3/3 complete",
        "password = '<redacted:assignment#1>'",
        "| pytest: FAIL · exit 1 · run:0123456789ab",
    ]
