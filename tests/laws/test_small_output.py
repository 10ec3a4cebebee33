"""Law: a small output never costs more tokens than raw and never a retrieval hop; no output does (S6.4, S19.61)."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx import digest_output
from ctx.policy.epoch import active_epoch
from ctx.text import sniff_encoding, tok
from tests.laws.corpus import captured, case_names

INLINE = active_epoch().inline_tokens
ENDS = [0, 1, 2, 5, None]

# Text without anything that safety or a structural guard would touch: every byte of it must come through.
plain_lines = st.lists(
    st.text(st.characters(codec="ascii", min_codepoint=32, max_codepoint=126) | st.sampled_from("éß世✓\t"), max_size=60)
    | st.sampled_from(["FAILED t.py::x - boom", "a.py:3:1: E501 long", "2 failed, 1 passed in 0.01s", "error: no", ""]),
    max_size=14,
)


@given(plain_lines, st.sampled_from(["", "\n"]), st.sampled_from(ENDS))
def test_a_small_output_is_passed_on_byte_for_byte(lines: list[str], end: str, exit_code: int | None) -> None:
    """No header, footer or address, whatever the family would have made of it."""
    text = "\n".join(lines) + (end if lines else "")
    rendered = digest_output(text.encode(), exit_code=exit_code)
    if rendered.plan.rung == "inline":
        assert rendered.text == text
        assert rendered.addresses == ()
    else:
        assert tok(text) > INLINE


@given(st.binary(max_size=400), st.binary(max_size=200), st.sampled_from(ENDS))
def test_no_bytes_whatever_make_a_small_output_dearer(stdout: bytes, stderr: bytes, exit_code: int | None) -> None:
    """Measured in the estimator's own unit after safety; both streams are one reader's text.

    Binary output is the one exception: nothing of its bytes is printed, so what is printed says that (S5.12.1).
    """
    rendered = digest_output(stdout, stderr, exit_code=exit_code)
    assert rendered.digest_tokens == tok(rendered.text)
    if "binary" in (sniff_encoding(stdout), sniff_encoding(stderr)):
        assert rendered.digest_tokens <= 400
        return
    assert rendered.digest_tokens <= rendered.raw_tokens
    if rendered.plan.rung == "inline":
        assert rendered.receipt.omitted_lines == rendered.receipt.omitted_bytes == rendered.receipt.omitted_items == 0


@pytest.mark.parametrize(
    ("stdout", "stderr"),
    [(b"", b""), (b"ok\n", b""), (b"compiled\nready\n", b""), (b"", b"warning: old\n"), (b"no line end", b"none here")],
)
def test_two_line_successes_are_the_bytes_and_nothing_more(stdout: bytes, stderr: bytes) -> None:
    """S19.61: `true`, and outputs of a line or two; the second stream starts a line of its own."""
    rendered = digest_output(stdout, stderr, argv=("true",), exit_code=0)
    between = b"\n" if stdout and stderr and not stdout.endswith(b"\n") else b""
    assert rendered.text.encode() == stdout + between + stderr
    assert rendered.plan.rung == "inline"


def sized(tokens: int) -> bytes:
    """A quiet log of exactly so many tok."""
    text = "one more word of a quiet log\n"
    while tok(text) < tokens:
        text += "a" if tok(text) > tokens - 30 else "one more word of a quiet log\n"
    assert tok(text) == tokens
    return text.encode()


@pytest.mark.parametrize("tokens", [399, INLINE])
def test_up_to_the_limit_of_the_epoch_a_failure_comes_through_unchanged(tokens: int) -> None:
    """S19.61: 399 tok are the bytes, whatever the exit status."""
    rendered = digest_output(sized(tokens), exit_code=1)
    assert rendered.text.encode() == sized(tokens)
    assert rendered.plan.reasons[-1] == "raw_small"


def test_one_tok_above_the_limit_an_output_is_weighed_like_any_other() -> None:
    """So that the property above cannot hold by passing everything on."""
    assert "raw_small" not in digest_output(sized(INLINE + 1), exit_code=1).plan.reasons
    text = b"".join(b"one more word of a quiet log, number %d\n" % n for n in range(200))
    rendered = digest_output(text, exit_code=0)
    assert rendered.plan.rung == "pass_summary"
    assert rendered.digest_tokens < rendered.raw_tokens // 4


@pytest.mark.parametrize("name", [name for name in case_names() if not name.startswith("lint/")][::3])
def test_no_captured_output_has_a_digest_larger_than_itself(name: str) -> None:
    """Over a third of the shipped cases, with and without a store: in tok of the redacted text."""
    case = captured(name)
    rendered = digest_output(case.stdout, case.stderr, argv=case.argv, exit_code=case.exit_code, ended_by=case.ended_by)
    assert rendered.digest_tokens <= rendered.raw_tokens
