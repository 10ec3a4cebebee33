"""Canonical JSON and the table of volatile classes (S1.15, S1.16), by example and counter-example."""

import json
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx.canonical import ALL_VOLATILE, Masker, VolatileClass, canonical_json, content_id

MASKED = [
    # elapsed: reports of measured time
    ("== 3 passed in 0.06s ==", "== 3 passed in <elapsed> =="),
    ("3 failed, 1 passed in 75.21s (0:01:15)", "3 failed, 1 passed in <elapsed>"),
    ("ready in 312 ms", "ready in <elapsed>"),
    ("built in 1m 3.2s", "built in <elapsed>"),
    ("Finished in 12 seconds", "Finished in <elapsed>"),
    ("it took 1.2 ms", "it took <elapsed>"),
    ("Elapsed time: 4.5 s", "Elapsed time: <elapsed>"),
    ("Duration: 12 ms", "Duration: <elapsed>"),
    ("ok 3 - adds (0.32s)", "ok 3 - adds (<elapsed>)"),
    ("✓ renders [15ms]", "✓ renders [<elapsed>]"),
    ("real\t0m0.312s", "real\t<elapsed>"),
    ("0.52s call     tests/a.py::test_x", "<elapsed>"),
    ("Time Elapsed 00:00:03.21", "Time Elapsed <elapsed>"),
    # timestamp
    ("2026-11-30 12:00:01,123 INFO start", "<timestamp> INFO start"),
    ("2026-11-30T12:00:01.5Z up", "<timestamp> up"),
    ("2026/11/30 12:00:01 up", "<timestamp> up"),
    ("[12:00:01] up", "[<timestamp>] up"),
    ("Mon Nov 30 12:00:01 2026 up", "<timestamp> up"),
    ("Nov 30 12:00:01 host sshd[4242]: bye", "<timestamp> host sshd[<pid>]: bye"),
    ('1.2.3.4 - - [30/Nov/2026:12:00:01 +0000] "GET /"', '1.2.3.4 - - [<timestamp>] "GET /"'),
    # pid
    ("started with pid 4242", "started with pid <pid>"),
    ("pid=77 exited", "pid=<pid> exited"),
    ("Process 4242 stopped", "Process <pid> stopped"),
    ("run.sh: line 3:  4242 Killed   sleep 9", "run.sh: line 3:  <pid> Killed   sleep 9"),
    # temporary paths
    ("open /tmp/tmpa1b2c3d4/x.py", "open /tmp/<tmp_path>/x.py"),
    ("in /tmp/pytest-of-root/pytest-12/test_a0", "in /tmp/<tmp_path>/test_a0"),
    ("in /scratch/job7/pytest-of-ann/pytest-3/test_a0", "in /scratch/job7/<tmp_path>/test_a0"),
    ("/private/var/folders/ab/cd/T/tmp9x/file", "/private/var/folders/ab/cd/T/<tmp_path>/file"),
    ("mktemp gave /tmp/tmp.Qwertyuiop", "mktemp gave /tmp/<tmp_path>"),
    # the rest
    ("<Widget object at 0x7f3a2b1c9d>", "<Widget object at <hex_address>>"),
    ("[gw3] [ 25%] PASSED t.py::x", "[<worker>] [ 25%] PASSED t.py::x"),
    ("worker-12: done", "<worker>: done"),
    ("listening on 127.0.0.1:54321", "listening on 127.0.0.1:<port>"),
    ("http://localhost:49152/x", "http://localhost:<port>/x"),
    ("id 123e4567-e89b-12d3-a456-426614174000 end", "id <run_uuid> end"),
    ("rootdir: /home/a/proj, configfile: pyproject.toml", "rootdir: <host_path>, configfile: pyproject.toml"),
    ("rootdir: /home/a/proj", "rootdir: <host_path>"),
]

KEPT = [
    "timed out after 30s",
    "Timeout: 30",
    "wait at most 5 seconds",
    "retry in 5 minutes or less",
    "3 passed in total",
    "version 1.2.3",
    "tests/test_time.py:12:34: E501",
    "src/a.c:12:30:45: note",
    "0x1f",
    "color 0xfff",
    "listening on 127.0.0.1:8080",
    "localhost:5432 refused",
    "item[12]: bad",
    "abcd1234-12-34",
    "/tmp/output/report.txt",
    "errno 113",
    "assert 0.32 == 0.33",
    "ratio 12:34",
    "aspect 16:09 and 4:3",
    "gwen and gw are names",
    "commit 8f2c41d07be94a55a1e3",
    "process finished",
]


@pytest.mark.parametrize(("line", "masked"), MASKED)
def test_volatile_text_is_replaced_by_its_class(line: str, masked: str) -> None:
    """S1.15"""
    assert Masker().mask(line) == masked


@pytest.mark.parametrize("line", KEPT)
def test_what_only_looks_volatile_is_kept(line: str) -> None:
    """S1.15: an integer limit is no measured time, a source location no clock, a well-known port not ephemeral."""
    assert Masker().mask(line) == line


@pytest.mark.parametrize("name", sorted(VolatileClass))
def test_every_class_has_an_example_and_stays_where_it_is_content(name: VolatileClass) -> None:
    """S1.16: classes that are content for a family are shown."""
    examples = [line for line, masked in MASKED if f"<{name}>" in masked]
    assert examples
    kept = Masker(content=[name])
    assert all(f"<{name}>" not in kept.mask(line) for line in examples)


def test_with_every_class_as_content_nothing_is_masked() -> None:
    keep = Masker(content=ALL_VOLATILE, host_paths=["/home/a/proj"])
    assert all(keep.mask(line) == line for line, _ in MASKED)


def test_known_host_prefixes_are_masked_longest_first_and_as_whole_names() -> None:
    masker = Masker(host_paths=["/home/ada", "/home/ada/proj/", "/usr"])
    assert masker.mask("/home/ada/proj/x.py and /home/ada/y") == "<host_path>/x.py and <host_path>/y"
    assert masker.mask("/home/adamant/x") == "/home/adamant/x"
    assert masker.mask("/home/ada") == "<host_path>"
    assert masker.mask("/usr/lib") == "/usr/lib", "a prefix of one segment names no host"


def test_the_padding_of_a_rule_moves_with_the_time_inside_it() -> None:
    """pytest pads its totals rule to the terminal's width: one more digit must not change the masked line."""
    short = "=" * 30 + " 1 failed in 9.99s " + "=" * 31
    long = "=" * 30 + " 1 failed in 10.01s " + "=" * 30
    assert Masker().mask(short) == Masker().mask(long)
    assert Masker().mask("=" * 20 + " FAILURES " + "=" * 20) == "=" * 20 + " FAILURES " + "=" * 20


FRAGMENTS = st.sampled_from(
    [
        *(line for line, _ in MASKED),
        *KEPT,
        "\n",
        " ",
        "=====",
        "12:00:01",
        "0x",
        "/tmp/",
        "(",
        "é",
        "\u2028",
        "\r",
        "\x85",
    ]
)
LINES = st.lists(FRAGMENTS | st.text(max_size=8), max_size=12).map("".join)


@given(LINES)
def test_masking_keeps_the_number_of_lines(text: str) -> None:
    """S1.15: equal handles mean equal line numbers."""
    assert Masker().mask(text).count("\n") == text.count("\n")


@given(LINES)
def test_masking_a_text_is_masking_its_lines(text: str) -> None:
    """S1.15: line by line, so a window of a stream is masked as the stream is."""
    masker = Masker()
    assert masker.mask(text).split("\n") == [masker.mask(line) for line in text.split("\n")]


@given(LINES)
def test_masking_twice_changes_nothing_more(text: str) -> None:
    masker = Masker()
    once = masker.mask(text)
    assert masker.mask(once) == once


HOSTILE = [
    "== <a> == x", "<a> == ", "12:34:56", "2026-01-01 ", "rootdir: ,", "a-", "/tmp/a-", "took ", "in 1m", "1234",
    "0xabcdef", "aaaa-", "a[123", "/var/folders/a/b/", "pid ", "(1", "pluggy-1", "/home/a/pro",
]  # fmt: skip


@pytest.mark.parametrize("fragment", HOSTILE)
@pytest.mark.parametrize("prefix", ["", "== "])
def test_masking_a_hostile_line_takes_linear_time(fragment: str, prefix: str) -> None:
    """S5.0.11, S19.33: a line of 200,000 characters; a quadratic row takes half a minute for it, a linear one 20 ms."""
    masker = Masker(host_paths=["/home/a/proj"])
    line = prefix + fragment * (200_000 // len(fragment))
    started = process_time()
    masker.mask(line)
    assert process_time() - started < 2


# Canonical JSON -------------------------------------------------------------------------------------------------------

JSON = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | st.text(max_size=12),
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(st.text(max_size=6), inner, max_size=4),
    max_leaves=12,
)


@given(JSON)
def test_canonical_json_says_the_same_and_depends_on_no_order(value: object) -> None:
    """S3.5"""
    encoded = canonical_json(value)
    assert json.loads(encoded) == value
    assert canonical_json(json.loads(encoded)) == encoded
    if isinstance(value, dict):
        assert canonical_json(dict(reversed(value.items()))) == encoded


def test_canonical_json_is_rfc_8785() -> None:
    """Keys sorted by UTF-16 code units, no blanks, shortest escapes: the example of the RFC's section on sorting."""
    value = {"\u20ac": 1, "\r": 2, "\ufb33": 3, "1": 4, "\U0001f600": 5, "\x80": 6, "\u00f6": 7}
    keys = list(json.loads(canonical_json(value)))
    assert keys == ["\r", "1", "\x80", "\u00f6", "\u20ac", "\U0001f600", "\ufb33"]
    assert canonical_json({"b": [1.0, "é/\n"], "a": None}) == '{"a":null,"b":[1,"é/\\n"]}'.encode()


def test_bytes_of_an_argv_that_are_not_utf8_have_a_form() -> None:
    word = b"a\xffb".decode("utf-8", "surrogateescape")
    assert canonical_json(["x", word, {word: 1}]) == b'["x","a\\\\xffb",{"a\\\\xffb":1}]'


def test_content_id_is_sha256_of_the_canonical_form() -> None:
    assert content_id({}) == "44136fa355b3678a1146ad16f7e8649e94fb4fc21fe77e8310c060f61caaff8a"
