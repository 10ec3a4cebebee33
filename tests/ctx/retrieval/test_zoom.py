"""A region over the budget comes back as a zoom, and following `next:` reaches every byte of it (S8.9, S8.10)."""

import re
from itertools import pairwise
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from ctx.retrieval.get import get
from ctx.retrieval.reply import Reply
from ctx.store import Store
from ctx.text import tok
from tests.ctx.store.captures import opened, published

NEXT = "next: ctx get "


def next_of(reply: Reply) -> list[str]:
    """The addresses behind the `next:` lines of an answer."""
    return [row.removeprefix(NEXT) for row in reply.text.splitlines() if row.startswith(NEXT)]


def numbers_of(address: str) -> range:
    """The lines that a `--lines` address names."""
    first, last = map(int, address.rpartition(" ")[2].split(":"))
    return range(first, last + 1)


class Walk:
    """Follows `next:` from an address to the end, and notes which lines were seen whole."""

    def __init__(self, store: Store, budget_tokens: int) -> None:
        self.store, self.budget_tokens = store, budget_tokens
        self.lines: dict[int, str] = {}
        self.shown: set[str] = set()
        self.asked: set[str] = set()

    def ask(self, address: str) -> Reply:
        assert address not in self.asked, "a zoom that returns to where it came from"
        self.asked.add(address)
        return get(self.store, address, budget_tokens=self.budget_tokens)

    def region(self, address: str, lines: range) -> None:
        """Everything of a region of whole lines."""
        reply = self.ask(address)
        if len(lines) == 1:
            self.lines[lines[0]] = self.one_line(reply)
            return
        if reply.complete:
            assert next_of(reply) == []
            rows = reply.text.removesuffix("\n").split("\n")
            self.lines.update(zip(lines, rows, strict=True))
            return
        self.shown.update(row.removeprefix("| ") for row in reply.text.splitlines() if row.startswith("| "))
        parts = next_of(reply)
        assert 1 <= len(parts) <= 3
        for part in parts:
            inner = numbers_of(part)
            assert len(inner) < len(lines)
            assert inner[0] in lines
            assert inner[-1] in lines
            self.region(part, inner)

    def one_line(self, reply: Reply) -> str:
        """The text of one line or of columns of it, put together again from its edges and what lies between."""
        if reply.complete:
            assert next_of(reply) == []
            return reply.text.removesuffix("\n")
        (row,) = [row for row in reply.text.splitlines() if row.startswith("| ")]
        edges = re.fullmatch(r"\| (.*) … ([0-9,]+) bytes omitted … (.*)", row)
        assert edges is not None
        inner = "".join(self.one_line(self.ask(part)) for part in next_of(reply))
        assert len(inner.encode()) == int(edges[2].replace(",", "")), "the omission is counted in bytes"
        return edges[1] + inner + edges[3]


def walked(folder: Path, text: str, budget_tokens: int) -> None:
    """Assert that every line of `text` is reached from the address of its stream."""
    store, _ = opened(folder)
    handle = published(store, text.encode()).handle
    lines = text.removesuffix("\n").split("\n")
    walk = Walk(store, budget_tokens)
    walk.region(f"run:{handle[:12]}#stdout", range(1, len(lines) + 1))
    for number, line in enumerate(lines, 1):
        if number in walk.lines:
            assert walk.lines[number] == line
        else:
            assert line in walk.shown, f"line {number} was never seen whole"


_WORDS = st.sampled_from(
    [
        "step",
        "took 1.25s",
        "0xdeadbeef01",
        "né",
        "漢字",
        "2026-01-02 03:04:05",
        "/tmp/tmpa1b2c3d4/x",
        "error:",
        "·",
        "a" * 90,
    ]
)
_LINE = st.builds(
    lambda words, times: (" ".join(words) + " ") * times,
    st.lists(_WORDS, max_size=8),
    st.sampled_from([1, 1, 1, 6, 40]),
).map(lambda line: line.strip())


@settings(max_examples=15)
@given(
    lines=st.lists(_LINE, min_size=1, max_size=40),
    times=st.sampled_from([1, 3]),
    budget=st.sampled_from([1, 60, 400, 1200]),
)
def test_following_next_reaches_every_byte(
    tmp_path_factory: pytest.TempPathFactory, lines: list[str], times: int, budget: int
) -> None:
    """S8.10 as a property: long lines, wide characters, masked classes, and the smallest of budgets."""
    text = "\n".join(lines * times) + "\n"
    walked(tmp_path_factory.mktemp("zoom"), text, budget)


def test_150_lines_of_2000_characters(tmp_path: Path) -> None:
    """S19.25: never "complete" when cut, and the next address advances."""
    text = "".join(f"{n:04d} " + f"{n * 7919 % 10007:05d}," * 332 + "end\n" for n in range(150))
    assert {len(line) for line in text.splitlines()} == {2000}
    walked(tmp_path, text, 1200)


def test_one_line_of_3_megabytes(tmp_path: Path) -> None:
    """S19.24: the omission in bytes, a span for every part, and each way down ends with the very text."""
    line = "".join(f"[{n:07d}]" for n in range(3 * 2**20 // 9))
    store, _ = opened(tmp_path)
    handle = published(store, line.encode() + b"\n").handle
    reply = get(store, f"run:{handle[:12]}#stdout --lines 1:1")
    left, right = 0, len(line)
    for turn in range(20):
        assert tok(reply.text) < 2400
        if reply.complete:
            break
        parts = next_of(reply)
        assert len(parts) == 3
        spans = [store.span(store.manifest(handle), part.rpartition(" ")[2]) for part in parts]
        assert all(before.end_col == after.first_col for before, after in pairwise(spans))
        (row,) = [row for row in reply.text.splitlines() if row.startswith("| ")]
        head, _, tail = row.removeprefix("| ").partition(" … ")
        tail = tail.rpartition(" … ")[2]
        assert line[left:right].startswith(head)
        assert line[left:right].endswith(tail)
        first, last = spans[0].first_col, spans[-1].end_col
        assert first == left + len(head) + 1
        assert last == right - len(tail) + 1
        chosen = spans[turn % 3]
        assert chosen.first_col is not None
        assert chosen.end_col is not None
        left, right = chosen.first_col - 1, chosen.end_col - 1
        reply = get(store, parts[turn % 3])
    assert reply.complete
    assert reply.text == line[left:right] + "\n"
    assert reply.body == line[left:right].encode()


def test_what_no_screen_shows_does_not_stop_the_walk(tmp_path: Path) -> None:
    """Progress bars, colours, invalid bytes, NUL, and other line separators: it advances and ends."""
    data = b"".join(
        b"\x1b[31m%d\x1b[0m \xff\xfe caf\xc3\xa9 \xe2\x80\xa8 \x0c\x0b \x85 \x00 %s\rdone %d\r\n"
        % (n, b"x" * (n * 7 % 900), n)
        for n in range(120)
    )
    store, _ = opened(tmp_path)
    handle = published(store, data).handle
    waiting, asked = [f"run:{handle[:12]}#stdout"], set[str]()
    seen = ""
    while waiting:
        address = waiting.pop()
        assert address not in asked
        asked.add(address)
        reply = get(store, address, budget_tokens=200)
        seen += reply.text
        waiting += next_of(reply)
    assert all(f"done {n}" in seen for n in range(120))
    assert "\x1b" not in seen
    assert "\x00" not in seen


def test_a_zoom_is_bounded_whatever_the_size(tmp_path: Path) -> None:
    """S8.9: the reply budget holds, and a lower one lowers it."""
    store, _ = opened(tmp_path)
    handle = published(store, b"".join(b"a line of the long log, number %d\n" % n for n in range(20_000))).handle
    assert tok(get(store, f"run:{handle[:12]}#stdout").text) <= 1200
    assert tok(get(store, f"run:{handle[:12]}#stdout", budget_tokens=300).text) <= 300
    assert tok(get(store, f"run:{handle[:12]}#stdout", budget_tokens=10**6).text) <= 1200, "a budget never raises it"


def test_a_zoom_shows_the_edges_and_what_stands_out(tmp_path: Path) -> None:
    """S8.9: with its address, where it stands; what lies between is counted and addressed, and nothing overlaps."""
    lines = [f"step {n} went by" for n in range(1, 1001)]
    lines[499] = "ERROR: the pump of tank 7 has stopped"
    store, _ = opened(tmp_path)
    handle = published(store, "\n".join(lines).encode() + b"\n").handle
    reply = get(store, f"run:{handle[:12]}#stdout")
    base = f"run:{handle[:12]}#stdout"
    assert f"| … 491 lines omitted ({base} --lines 9:499)\n| ERROR: the pump of tank 7 has stopped\n" in reply.text
    assert f"| … 492 lines omitted ({base} --lines 501:992)\n" in reply.text
    assert "complete" not in reply.text
    assert not reply.complete
    assert len(next_of(reply)) == 3
    assert numbers_of(next_of(reply)[0])[0] == 9
    assert numbers_of(next_of(reply)[2])[-1] == 992


@pytest.mark.parametrize("scheme", ["blob", "repo"])
def test_blobs_and_files_zoom_like_streams(tmp_path: Path, monkeypatch: pytest.MonkeyPatch, scheme: str) -> None:
    """S8.9: spans of a long line of them resolve, too."""
    store, _ = opened(tmp_path)
    line = "".join(f"<{n:06d}>" for n in range(2000))
    data = f"first\n{line}\nlast\n".encode()
    manifest = published(store, data)
    monkeypatch.chdir(tmp_path)
    (tmp_path / "file.txt").write_bytes(data)
    base = f"blob:{manifest.streams['stdout'].blob}" if scheme == "blob" else "repo:file.txt"
    walk = Walk(store, 1200)
    walk.region(base, range(1, 4))
    assert [walk.lines.get(2)] == [line]


def test_a_line_in_a_store_that_takes_no_names_can_be_had_by_its_bytes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S8.10 where nothing can be written: no address is printed that does not resolve."""
    store, _ = opened(tmp_path)
    line = b"0123456789;" * 900
    handle = published(store, b"a\n" + line + b"\nb\n").handle
    monkeypatch.setattr(store, "add_spans", lambda *_: False)
    reply = get(store, f"run:{handle[:12]}#stdout --lines 2:2")
    (address,) = next_of(reply)
    assert address == f"run:{handle[:12]}#stdout --bytes 2:9903"
    assert store.read(address) == line + b"\n"
