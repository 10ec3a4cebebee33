"""`ctx search`: every hit counted, one of each shape shown, the rest addressed (S8.12)."""

import json
import re
from pathlib import Path

import pytest

from ctx.errors import UsageError
from ctx.retrieval.get import get
from ctx.retrieval.reply import Reply
from ctx.retrieval.search import search
from ctx.text import tok
from tests.ctx.shell import Shell, flood
from tests.ctx.store.captures import opened, published

ROW = re.compile(r"(run:[0-9a-f]{12}#\w+ --lines (\d+):\2)  \| (.*)")
REST = re.compile(r"omitted: ([0-9,]+) more hits? in #(\w+) \((.*)\)")


def sums_up(reply: Reply) -> bool:
    """Rows shown plus hits declared left out equal the hits (S8.12, and rule 5 of the field)."""
    shown = sum(ROW.fullmatch(row) is not None for row in reply.text.splitlines())
    rest = sum(int(found[1].replace(",", "")) for row in reply.text.splitlines() if (found := REST.fullmatch(row)))
    return shown + rest == reply.hits


def test_each_hit_has_an_address_that_gives_its_line(tmp_path: Path) -> None:
    store, _ = opened(tmp_path)
    out, err = b"one needle\ntwo\nthree needle\n", b"four needle\n"
    handle = published(store, out, err=err).handle
    reply = search(store, f"run:{handle}", "needle")
    rows = [ROW.fullmatch(row) for row in reply.text.splitlines()]
    assert [row[3] for row in rows if row] == ["one needle", "three needle", "four needle"]
    assert [store.read(row[1]) for row in rows if row] == [b"one needle\n", b"three needle\n", b"four needle\n"]
    assert (reply.hits, reply.complete) == (3, True)
    assert reply.header == f"run:{handle} · 3 hits (2 in #stdout, 1 in #stderr) · capture 1 of 1"


def test_many_hits_are_shown_by_shape_and_the_rest_is_addressed(tmp_path: Path) -> None:
    """Groups by template: the first of each with how many more there are; the address of the rest lists every hit."""
    store, _ = opened(tmp_path)
    lines = [f"request {n} took 0x{n:06x} timeout" for n in range(1, 801)]
    lines[300] = "ERROR the only timeout of its kind"
    lines[700] = "another timeout without a number"
    handle = published(store, "\n".join(lines).encode() + b"\n").handle
    reply = search(store, f"run:{handle}", "timeout")
    assert reply.hits == 800
    assert tok(reply.text) < 1500
    assert "| request 1 took 0x000001 timeout\n| … 797 more of this shape\n" in reply.text
    assert "| ERROR the only timeout of its kind\n" in reply.text
    assert "| another timeout without a number\n" in reply.text
    assert sums_up(reply)
    (rest,) = [found for row in reply.text.splitlines() if (found := REST.fullmatch(row))]
    assert rest[1] == "797"
    again = get(store, rest[3])
    assert "800 of 800 lines match" in again.header


def test_more_shapes_than_the_budget_holds_still_sum_up(tmp_path: Path) -> None:
    store, _ = opened(tmp_path)
    names = ["".join(chr(97 + n // 26**k % 26) for k in range(3)) for n in range(900)]
    handle = published(store, "".join(f"{name} hit\n" for name in names).encode(), err=b"a hit\n" * 5).handle
    for budget in (1, 100, 1200):
        reply = search(store, f"run:{handle}", "hit", budget_tokens=budget)
        assert reply.hits == 905
        assert sums_up(reply)
        assert tok(reply.text) < budget + 120


@pytest.mark.parametrize(("ignore_case", "hits"), [(False, 60), (True, 120)])
def test_the_address_of_the_rest_finds_what_the_search_found(tmp_path: Path, ignore_case: bool, hits: int) -> None:
    """With the same reading of case, and of a pattern that is plain text."""
    store, _ = opened(tmp_path)
    text = "".join(f"[{n}] a+b {'is' * (n % 9)}\n[{n}] A+B {'is' * (n % 9)}\naab\n" for n in range(60))
    handle = published(store, text.encode()).handle
    reply = search(store, f"run:{handle}", "a+b", fixed=True, ignore_case=ignore_case, budget_tokens=40)
    assert reply.hits == hits
    (rest,) = [found for row in reply.text.splitlines() if (found := REST.fullmatch(row))]
    assert f"{hits} of 180 lines match" in get(store, rest[3]).header


def test_one_stream_a_blob_and_a_file_can_be_searched(shell: Shell) -> None:
    """S8.12: a target is an address, a handle or a file of the workspace."""
    handle = shell.ingest(b"a needle\n" + flood(400), stderr=b"the other needle\n")["handle"]
    one = shell.ctx("search", f"run:{handle}#stderr", "needle")
    assert one.stdout == f"run:{handle[:12]}#stderr --lines 1:1  | the other needle\n".encode()
    assert shell.ctx("search", handle[:12], "needle").stdout.count(b"\n") == 2
    blob = shell.stats(handle) and json.loads(shell.bytes_of(f"run:{handle}#manifest"))["streams"]["stdout"]["blob"]
    assert b"--lines 1:1  | a needle" in shell.ctx("search", f"blob:{blob}", "needle").stdout
    shell.file("notes.txt", b"x\nneedle in a file\n")
    found = shell.ctx("search", "repo:notes.txt", "needle")
    assert re.fullmatch(rb"repo:notes\.txt@[0-9a-f]{8} --lines 2:2  \| needle in a file\n", found.stdout)
    assert shell.bytes_of(found.stdout.decode().partition("  |")[0]) == b"needle in a file\n"


def test_a_run_is_searched_within_the_lines_that_are_named(tmp_path: Path) -> None:
    store, _ = opened(tmp_path)
    handle = published(store, b"hit 1\nhit 2\nhit 3\nhit 4\n").handle[:12]
    reply = search(store, f"run:{handle}#stdout --lines 2:3", "hit")
    assert (reply.hits, list(reply.addresses)) == (
        2,
        [f"run:{handle}#stdout --lines 2:2", f"run:{handle}#stdout --lines 3:3"],
    )


def test_no_hit_is_said_with_status_1_and_nothing_on_stdout(shell: Shell) -> None:
    """Issue text; every line was searched, and a document says it in numbers."""
    handle = shell.ingest(flood(50))["handle"]
    done = shell.ctx("search", f"run:{handle}", "n.edle", "--fixed-strings")
    assert (done.returncode, done.stdout) == (1, b"")
    assert done.stderr.count(b"\n") == 1
    document = shell.ctx("search", f"run:{handle}", "n.edle", "--json")
    assert (document.returncode, json.loads(document.stdout)["hits"]) == (1, 0)


def test_plain_text_is_plain(shell: Shell) -> None:
    """`--fixed-strings`: brackets of a parametrised test are no class of characters."""
    handle = shell.ingest(b"FAILED t.py::test_a[1-x.y] - (boom\nFAILED t.py::test_a1\n")["handle"]
    done = shell.ctx("search", f"run:{handle}#stdout", "test_a[1-x.y] - (boom", "--fixed-strings")
    assert done.stdout.count(b"\n") == 1
    assert shell.ctx("search", f"run:{handle}", "(boom").returncode == 2


def test_a_long_line_is_shown_around_its_hit(tmp_path: Path) -> None:
    """What is left out of it is counted in columns on both sides."""
    store, _ = opened(tmp_path)
    handle = published(store, b"x" * 5000 + b" needle " + b"y" * 5000 + b"\n").handle
    (row,) = search(store, f"run:{handle}", "needle").text.splitlines()
    assert " needle " in row
    assert re.search(r"\| … 4,926 columns … x", row)
    assert row.endswith("y … 4,782 columns …")


def test_an_empty_pattern_is_no_question(tmp_path: Path) -> None:
    store, _ = opened(tmp_path)
    with pytest.raises(UsageError, match="the pattern is empty"):
        search(store, "run:last", "")


def test_a_search_is_safe_to_look_at(shell: Shell) -> None:
    """S8.14, S18.6: captured rows stand behind the gutter; what was asked for is shown escaped."""
    secret = b"ghp_" + b"a1B2c3D4e5" * 4
    handle = shell.ingest(b"next: ctx get run:ffffffffffff token \x1b[2J" + secret + b"\n")["handle"]
    done = shell.ctx("search", f"run:{handle}", "token")
    assert secret not in done.stdout
    assert b"\x1b" not in done.stdout
    assert done.stdout.startswith(f"run:{handle[:12]}#stdout --lines 1:1  | next: ".encode())
