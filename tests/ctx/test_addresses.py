"""The one address grammar: what is printed is read back, and what is malformed has its column named (S8, S19.47)."""

import re
import shlex

import pytest
from hypothesis import assume, example, given
from hypothesis import strategies as st

from ctx.addresses import (
    EXAMPLES,
    MATCH_COLUMNS,
    STREAMS,
    Address,
    Bytes,
    Lines,
    Match,
    Scheme,
    SpanToken,
    Symbol,
    format_address,
    parse_address,
)
from ctx.errors import AddressError

HEX = st.text("0123456789abcdef", min_size=6, max_size=64)
streams = st.sampled_from(STREAMS) | st.integers(0, 9999).map(lambda n: f"report.{n}")
lines = st.tuples(st.integers(1, 10**14), st.integers(0, 10**12)).map(lambda p: Lines(p[0], p[0] + p[1]))
byte_ranges = st.tuples(st.integers(0, 10**14), st.integers(0, 10**12)).map(lambda p: Bytes(p[0], p[0] + p[1]))
tokens = st.text("0123456789abcdef", min_size=10, max_size=10).map(SpanToken)
words = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs")), min_size=1, max_size=30)
selectors = st.none() | lines | byte_ranges | tokens | words.map(Symbol) | words.map(Match)
segments = st.text(st.characters(codec="utf-8", exclude_categories=("Cc", "Cs"), exclude_characters="/\\"), min_size=1)


@st.composite
def addresses(draw: st.DrawFn) -> Address:
    """Any address that could be printed."""
    scheme = draw(st.sampled_from(list(Scheme)))
    selector = draw(selectors)
    if scheme is Scheme.RUN:
        name = draw(HEX | st.just("last"))
        return Address(scheme=scheme, name=name, stream=draw(st.none() | streams), selector=selector)
    if scheme is Scheme.BLOB:
        return Address(scheme=scheme, name=draw(HEX), selector=selector)
    path = "/".join(draw(st.lists(segments, min_size=1, max_size=4)))
    assume(not {"", ".", ".."} & set(path.split("/")))
    assume(not re.search(r"@[0-9a-fA-F]{8}\Z", path))
    content = draw(st.none() | st.text("0123456789abcdef", min_size=8, max_size=8))
    return Address(scheme=scheme, name=path, content_hash=content, selector=selector)


@given(addresses())
@example(Address(scheme=Scheme.REPO, name='it\'s/"odd".py', selector=Lines(1, 2)))
@example(Address(scheme=Scheme.REPO, name="a --lines 3:4"))
@example(Address(scheme=Scheme.REPO, name="a;rm -rf $HOME `x` #y"))
def test_a_printed_address_is_read_back_to_the_same_value(address: Address) -> None:
    """S8.1: and formats to the same text again."""
    text = format_address(address)
    assert parse_address(text) == address
    assert format_address(parse_address(text)) == text
    assert "\n" not in text


@given(addresses())
def test_a_printed_address_survives_a_shell(address: Address) -> None:
    """S7.12: `ctx get ADDRESS` works as pasted: the base is one word, and the words read back are the same address."""
    base, *selector = shlex.split(format_address(address))
    assert base == address.base
    assert parse_address(base, selector) == address


@pytest.mark.parametrize(
    ("text", "address"),
    [
        ("run:ABCDEF", Address(scheme=Scheme.RUN, name="abcdef")),
        ("run:last", Address(scheme=Scheme.RUN, name="last")),
        ("run:0123456789ab#stderr", Address(scheme=Scheme.RUN, name="0123456789ab", stream="stderr")),
        ("run:0123456789ab#report.12", Address(scheme=Scheme.RUN, name="0123456789ab", stream="report.12")),
        ("blob:" + "A" * 64, Address(scheme=Scheme.BLOB, name="a" * 64)),
        ("repo:src/app.py@0123ABCD", Address(scheme=Scheme.REPO, name="src/app.py", content_hash="0123abcd")),
        ("repo:a@b/c.py", Address(scheme=Scheme.REPO, name="a@b/c.py")),
        ("repo:with blank/a b.py", Address(scheme=Scheme.REPO, name="with blank/a b.py")),
        ("'repo:with blank.py' --lines 1:2", Address(scheme=Scheme.REPO, name="with blank.py", selector=Lines(1, 2))),
        ("repo:with blank.py --lines=1:2", Address(scheme=Scheme.REPO, name="with blank.py", selector=Lines(1, 2))),
    ],
)
def test_what_users_write_is_read(text: str, address: Address) -> None:
    """Hex in either case, blanks in paths, a selector behind `=`."""
    assert parse_address(text) == address


@pytest.mark.parametrize(
    ("flag", "value", "selector"),
    [
        ("--lines", "1:1", Lines(1, 1)),
        ("--bytes", "0:0", Bytes(0, 0)),
        ("--span", "ABCDEF0123", SpanToken("abcdef0123")),
        ("--symbol", "Class.method", Symbol("Class.method")),
        ("--match", "a|b c", Match("a|b c")),
        ("--match", "x" * MATCH_COLUMNS, Match("x" * MATCH_COLUMNS)),
    ],
)
def test_a_selector_may_come_as_words_of_their_own(flag: str, value: str, selector: object) -> None:
    """As a command line hands them over."""
    assert parse_address("run:0123456789ab#stdout", [flag, value]).selector == selector
    assert parse_address("run:0123456789ab#stdout", [f"{flag}={value}"]).selector == selector


RUN = "run:0123456789ab#stdout"

MALFORMED = [
    # (text, column, part)
    ("run:../../x", 5, "../../x"),
    ("blob:../x", 6, "../x"),
    ("repo:a/../..", 6, "a/../.."),
    ("repo:/etc/x", 6, "/etc/x"),
    ("repo:a//b", 6, "a//b"),
    ("repo:./a", 6, "./a"),
    ("repo:", 6, ""),
    ("repo:a\\b", 6, "a\\b"),
    ("repo:a\x07b", 6, "a\x07b"),
    ("/etc/x", 1, "/etc/x"),
    ("", 1, ""),
    ("run", 1, "run"),
    ("RUN:0123456789ab", 1, "RUN:0123456789ab"),
    ("http://example.org", 1, "http://example.org"),
    ("run:abc", 5, "abc"),
    ("run:" + "a" * 65, 5, "a" * 57),
    ("run:xyzxyz", 5, "xyzxyz"),
    ("run:012345\n", 5, "012345"),
    ("run:", 5, ""),
    ("blob:abc", 6, "abc"),
    ("blob:" + "0" * 65, 6, "0" * 57),
    ("run:0123456789ab#nope", 18, "nope"),
    ("run:0123456789ab#", 18, ""),
    ("run:0123456789ab#STDOUT", 18, "STDOUT"),
    ("run:0123456789ab#report.x", 18, "report.x"),
    (f"{RUN} --lines 5:1", 33, "5:1"),
    (f"{RUN} --lines 0:5", 33, "0:5"),
    (f"{RUN} --lines 1:2:3", 33, "1:2:3"),
    (f"{RUN} --lines 1", 33, "1"),
    (f"{RUN} --lines -1:2", 33, "-1:2"),
    (f"{RUN} --lines a:b", 33, "a:b"),
    (f"{RUN} --lines ١:٢", 33, "١:٢"),
    (f"{RUN} --bytes 5:1", 33, "5:1"),
    (f"{RUN} --bytes 1:x", 33, "1:x"),
    (f"{RUN} --span abc", 32, "abc"),
    (f"{RUN} --span 0123456789a", 32, "0123456789a"),
    (f"{RUN} --lines", 25, "--lines"),
    (f"{RUN} --lines=", 25, "--lines"),
    (f"{RUN} --nope 1", 25, "--nope"),
    (f"{RUN} --lines 1:2 --bytes 0:1", 37, "--bytes"),
    (f"{RUN} --lines 1:2 more", 37, "more"),
    (f"{RUN} --match " + "x" * 1001, 33, "x" * 57),
    (f"{RUN} --match 'open", 25, "--match 'open"),
    ("'repo:a b", 1, "'repo:a b"),
]


@pytest.mark.parametrize(("text", "column", "part"), MALFORMED, ids=range(len(MALFORMED)))
def test_what_is_malformed_is_named_with_its_column_and_what_would_fit(text: str, column: int, part: str) -> None:
    """S8.11, S19.47: the offending part, its 1-based column, and an example that the parser itself accepts."""
    with pytest.raises(AddressError) as caught:
        parse_address(text)
    message = str(caught.value)
    assert message.startswith(f"address column {column}: ")
    assert part in message
    assert int(caught.value.exit_code) == 2
    parse_address(message.rpartition("for example ")[2])


def test_a_selector_in_words_of_its_own_is_counted_behind_the_text() -> None:
    """Columns are those of the line that a user typed, its words joined by blanks."""
    with pytest.raises(AddressError, match=r"^address column 33: \"5:1\""):
        parse_address(RUN, ["--lines", "5:1"])
    with pytest.raises(AddressError, match="at most one selector"):
        parse_address(f"{RUN} --lines 1:2", ["--bytes", "0:1"])


@pytest.mark.parametrize("scheme", sorted(EXAMPLES))
def test_every_example_is_a_printed_address(scheme: str) -> None:
    assert format_address(parse_address(EXAMPLES[scheme])) == EXAMPLES[scheme]


@given(st.text(max_size=60), st.lists(st.text(max_size=12), max_size=4))
def test_no_text_does_anything_but_parse_or_be_refused(text: str, more: list[str]) -> None:
    """Total: an address, or the one error, whose column lies in the line."""
    try:
        address = parse_address(text, more)
    except AddressError as error:
        column = re.match(r"address column (\d+): ", str(error))
        assert column is not None
        assert 1 <= int(column[1]) <= len(" ".join([text, *more])) + 2
    else:
        assert parse_address(format_address(address)) == address


@given(st.sampled_from(["run:last", "run:012345#stdout", "repo:a.py"]), st.text(max_size=60))
def test_nor_does_a_text_that_begins_like_an_address(start: str, rest: str) -> None:
    try:
        address = parse_address(start + rest)
    except AddressError:
        return
    assert parse_address(format_address(address)) == address
