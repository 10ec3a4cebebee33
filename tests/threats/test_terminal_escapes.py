"""Captured text tries to drive the reader's terminal (S7.8, S18.6, S19.36).

The story: a dependency prints sequences that clear the screen, set the window title, write a link whose text is another
address, turn the following text around, hide a word with zero-width and tag characters, and overwrite a failing line by
a passing one after a lone carriage return. A person or a model reading the digest must see what was printed or a
stand-in, and the terminal must be left as it was.
"""

import re
import unicodedata

import pytest

from ctx import digest_output
from ctx.digest.base import CaptureFacts
from ctx.pipeline import digest_capture
from tests.threats.shell import Shell

HOSTILE = {
    "csi": ("\x1b[2J\x1b[1;1Hcleared", "cleared"),
    "csi-8-bit": ("\u009b31mred\u009b0m", "red"),
    "sgr": ("\x1b[31mred\x1b[0m and \x1b[8mhidden\x1b[28m", "red and hidden"),
    "title": ("\x1b]0;owned\x07title", "title"),
    "link": ("\x1b]8;;https://evil.example\x1b\\docs\x1b]8;;\x1b\\", "docs"),
    "clipboard": ("\x1b]52;c;cm0gLXJmIC8=\x07copied", "copied"),
    "dcs": ('\x1bP$q"p\x1b\\answer', "answer"),
    "unterminated": ("before\x1b]0;never ends", "before"),
    "bidi": ("user\u202eexe.txt", r"user\u{202e}exe.txt"),
    "isolate": ("a\u2066b\u2069c", r"a\u{2066}b\u{2069}c"),
    "zero-width": ("pass\u200bword", r"pass\u{200b}word"),
    "tags": ("ok\U000e0068\U000e0069", r"ok\u{e0068}\u{e0069}"),
    "bell": ("ding\x07", "ding␇"),
    "backspace-nul": ("a\x08\x7fb", None),
    "shift-out": ("\x0egraphics\x0f", "␎graphics␏"),
    "raw-c1": (b"x\x9b31my", "x\ufffd31my"),
}


def raw(text: str | bytes) -> bytes:
    return text if isinstance(text, bytes) else text.encode()


def acts(text: str) -> list[str]:
    """Characters of a text that act on a terminal or do not show."""
    return sorted({c for c in text if c not in "\n\t" and unicodedata.category(c) in ("Cc", "Cf", "Cs", "Zl", "Zp")})


@pytest.mark.parametrize(("name"), sorted(HOSTILE))
def test_inline_nothing_acts_and_the_text_is_there(name: str) -> None:
    """Sequences go, with what they carry; characters have a stand-in; the words around them stay."""
    sent, shown = HOSTILE[name]
    rendered = digest_output(
        raw(sent) + b"\nand a quiet line more, long enough for the share of control\n", exit_code=0
    )
    assert acts(rendered.text) == []
    if shown is not None:
        assert rendered.text.split("\n")[0] == shown
    assert "evil.example" not in rendered.text


@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_in_a_digest_nothing_acts_either(stream: str) -> None:
    """At the head, in the middle as a line that stands out, and at the tail of a long output."""
    lines = [raw(sent) for sent, _ in HOSTILE.values()]
    noise = [b"step %d of the job went by without a word" % n for n in range(300)]
    text = b"\n".join([*lines, *noise, *(b"error: " + line for line in lines), *noise, *lines, b""])
    rendered = digest_capture({stream: text}, CaptureFacts(argv=("job", "\x1b[2J\u202e"), exit_code=1))
    assert rendered.plan.rung != "inline"
    assert acts(rendered.text) == []
    assert rendered.receipt.complete is False


def test_an_overwritten_line_shows_both_states_where_it_is_small() -> None:
    """A lone carriage return is visible: the failing text in front of it is not lost."""
    assert digest_output(b"3 failed\r3 passed\n", exit_code=1).text == "3 failed␍3 passed\n"


def test_an_identity_that_carries_controls_is_escaped_and_says_so() -> None:
    """S7.5: the row is marked, one line long, and addressed."""
    row = "FAILED t.py::test_x[\u202egnp.exe] - AssertionError: no"
    summary = "=" * 27 + " short test summary info " + "=" * 28
    text = "pad of the log\n" * 500 + f"{summary}\n{row}\n1 failed in 0.01s\n"
    rendered = digest_capture({"stdout": text.encode()}, CaptureFacts(exit_code=1))
    assert acts(rendered.text) == []
    found = re.search(r"^.*test_x\[\\u\{202e\}gnp\.exe\] \(escaped\).*$", rendered.text, re.MULTILINE)
    assert found is not None
    assert re.search(r"--lines \d+:\d+", rendered.text)


def test_replies_headers_and_errors_are_escaped_too(shell: Shell) -> None:
    """S8.14, S18.6: also an address or a pattern that a user pasted from such an output."""
    text = b"\n".join([raw(sent) for sent, _ in HOSTILE.values()] * 12)
    document = shell.ingest(text, "--exit-code", "1", "--", "job", "\x1b[31m\u202e")
    run = f"run:{document['handle'][:12]}"
    words = [
        ("get", run),
        ("get", f"{run}#stdout", "--lines", "1:16"),
        ("get", f"{run}#stdout", "--match", "red|docs|exe"),
        ("get", f"{run}#stdout", "--budget", "60"),
        ("get", f"{run}#manifest"),
        ("get", f"{run}#graph"),
        ("search", run, "red|docs|exe"),
        ("stats", run),
        ("explain", run),
        ("get", "run:\x1b[31mabc"),
        ("get", "repo:\u202eabc"),
        ("search", "run:\x1b[2J", "x"),
    ]
    for line, shown in zip(words, shell.all_of(words), strict=True):
        assert shown, line
        assert acts(shown) == [], line
