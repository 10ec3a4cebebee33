"""Captured text that holds the words our own machinery replaces things by (S7.7, S19.35).

The story: a template engine is tested, and its output is full of `<elapsed>`, `<redacted:token#1>`, `{address}`, `%s`,
`\\1`, `${handle}` and the gutter itself. If any text replacement ran over captured text, a reader would see a value
where the program printed a name, or a number of ours inside the program's line.
"""

import pytest

from ctx import digest_output
from ctx.digest.base import CaptureFacts
from ctx.pipeline import digest_capture

WORDS = [
    "<elapsed>",
    "<timestamp> <pid> <tmp_path> <host_path> <worker> <port> <run_uuid> <hex_address>",
    "<redacted:assignment#1> and <redacted:token#99>",
    "{address} {handle} {selector} {count} {} {0}",
    "%s %d %(handle)s %%",
    r"\1 \g<1> \g<0> \0 $1 ${1} $& ${handle}",
    "@@HANDLE@@ __ADDRESS__ __CTX_SPAN__",
    "run:000000000000#stdout --lines 1:2",
    "| … 212 lines omitted (run:000000000000#stdout --lines 40:251)",
    "| already behind a gutter",
    "␛[31m is no escape, ␍ no return, \\x9b no byte, \\u{202e} no control, \ufffd no fault",
    "… 12 bytes omitted …",
]


def test_small_they_come_through_byte_for_byte() -> None:
    """At `inline` nothing is replaced."""
    text = "\n".join(WORDS) + "\n"
    assert digest_output(text.encode(), exit_code=0).text == text


@pytest.mark.parametrize("exit_code", [0, 1])
def test_in_a_digest_each_is_quoted_as_it_is(exit_code: int) -> None:
    """As the last lines of a long output, which are shown always: unchanged behind the gutter, each once."""
    noise = "".join(f"step {n} of the job went by without a word\n" for n in range(400))
    for start in range(0, len(WORDS), 4):
        words = WORDS[start : start + 4]
        rendered = digest_capture(
            {"stdout": (noise + "\n".join(words) + "\n").encode()}, CaptureFacts(exit_code=exit_code)
        )
        assert rendered.plan.rung != "inline"
        lines = rendered.text.split("\n")
        for word in words:
            assert lines.count(f"| {word}") == 1, word


def test_in_an_identity_and_a_message_they_stay() -> None:
    """A test that is named after a placeholder keeps its name."""
    names = [f"tests/test_t.py::test_fill[{word.replace(' ', '-')}]" for word in WORDS[:7]]
    rows = [f"FAILED {name} - AssertionError: {word}" for name, word in zip(names, WORDS, strict=False)]
    text = "pad of the log\n" * 500 + "=" * 27 + " short test summary info " + "=" * 28 + "\n"
    rendered = digest_output((text + "\n".join(rows) + "\n7 failed in 0.01s\n").encode(), exit_code=1)
    assert rendered.plan.rung != "inline"
    for name in names:
        assert f"\n  {name}  " in rendered.text or f"    {name}" in rendered.text, name
