"""A profile of a third party breaks, lies or floods (S5.0.1, S5.0.4, S6.7, S18.8).

The story: somebody installs a package with an entry point. Its `detect` raises on every capture, or claims everything;
its own rendering prints the whole log with its escapes and secrets, ignores every bound, or prints addresses that this
reader cannot redeem. It may give a worse digest of what it claims; it may not break the command, pass a bound, or
switch off safety.
"""

from collections.abc import Callable

import pytest

from ctx import Profile, Rendered
from ctx.digest import _PROFILES
from ctx.digest.base import CaptureFacts, DigestContext
from ctx.evidence import EvidenceGraph
from ctx.pipeline import digest_capture

TOKEN = "ghp_" + "k9Xw2QmZ" * 5
LOG = (
    "".join(f"step {n} of the job went by without a word\n" for n in range(2000)) + f"\x1b[31merror {TOKEN}\n"
).encode()
CEILING = 4000


class Raising(Profile):
    """Raises where it is asked, with captured text in its message."""

    version = "raising/v1"

    def detect(self, ctx: DigestContext) -> str | None:
        raise ValueError(f"cannot read {ctx.stdout.line(ctx.stdout.line_count)}\nnext: rm -rf /")


class Claiming(Profile):
    """Claims everything and renders what it was told to."""

    version = "claiming/v1"

    def __init__(self, body: Callable[[DigestContext], str | None], reason: str = "mine") -> None:
        self._body = body
        self._reason = reason

    def detect(self, ctx: DigestContext) -> str | None:
        return self._reason

    def render(self, ctx: DigestContext) -> str | None:
        return self._body(ctx)


def digest(profile: Profile, log: bytes = LOG, *, stored: bool = True) -> Rendered:
    facts = CaptureFacts(argv=("job",), exit_code=1, ended_by="exit")
    return digest_capture({"stdout": log}, facts, profiles=(profile, *_PROFILES), stored=stored)


def test_a_profile_that_raises_while_looking_declines_with_its_error_as_the_reason() -> None:
    """S5.0.4: the next one is asked; the reason is one line, escaped and redacted."""
    rendered = digest(Raising())
    assert rendered.family == "text"
    reason = dict(rendered.meta.declined)["raising/v1"]
    assert reason.startswith("raised ValueError: cannot read")
    assert TOKEN not in reason
    assert "\n" not in reason
    assert "\x1b" not in reason


def test_a_reason_that_quotes_the_capture_is_escaped_and_redacted() -> None:
    rendered = digest(Claiming(lambda ctx: None, reason=f"saw \x1b[31m{TOKEN}\nnext: x" + "y" * 5000))
    assert rendered.meta.matched.startswith("saw ")
    assert TOKEN not in rendered.meta.matched
    assert not {"\x1b", "\n"} & set(rendered.meta.matched)
    assert len(rendered.meta.matched) <= 300


@pytest.mark.parametrize("lines", [400, 2000])
def test_a_rendering_over_the_ceiling_is_not_printed(lines: int) -> None:
    """S6.7: no digest is larger than the hard ceiling of its contract, whoever wrote it."""
    rendered = digest(Claiming(lambda ctx: "".join(f"{text}\n" for _, text in ctx.stdout.lines(1, lines))))
    assert rendered.digest_tokens <= CEILING
    assert rendered.text.startswith("claiming: ")
    assert "its own rendering was refused" in dict(rendered.meta.declined)["claiming/v1"]


def test_a_rendering_within_the_bounds_is_printed() -> None:
    """S5.0.1: a profile that overrides only `detect` and `render` works, as `precision: fallback`."""
    rendered = digest(Claiming(lambda ctx: f"claiming: {ctx.stdout.line_count} lines\n"))
    assert rendered.text == "claiming: 2001 lines\n"
    assert rendered.graph.coverage.precision == "fallback"
    assert rendered.meta.profile == "claiming/v1"
    assert rendered.digest_tokens < 20


def test_safety_runs_over_a_rendering_too() -> None:
    """S18.8: no profile prints a secret or an escape."""
    rendered = digest(Claiming(lambda ctx: ctx.stdout.raw.decode().split("\n")[-2] + "\u202e\x9b\n"))
    assert rendered.text == "␛[31merror <redacted:github-token#1>" + r"\u{202e}\x9b" + "\n"


def test_a_small_output_is_passed_on_whatever_a_profile_would_say() -> None:
    """S6.4: the law of small outputs is no profile's to break."""
    rendered = digest(Claiming(lambda ctx: "claiming: two short lines, in many more words than they have\n"), b"a\nb\n")
    assert rendered.text == "a\nb\n"
    assert rendered.plan.rung == "inline"


def test_a_rendering_larger_than_the_output_is_not_printed() -> None:
    """S6.4, step 7: nor does an output of 500 tok become one of 3,000."""
    log = b"".join(b"step %d of the job went by without a word\n" % n for n in range(60))
    rendered = digest(Claiming(lambda ctx: "many words of my own about it\n" * 400), log)
    assert rendered.digest_tokens <= rendered.raw_tokens


def test_addresses_are_not_printed_where_nothing_is_stored() -> None:
    """S2.7: an address that this reader cannot redeem is not printed, by a profile either."""

    def body(ctx: DigestContext) -> str:
        return f"claiming: see run:{ctx.handle[:12]}#stdout --lines 1:9\n"

    assert digest(Claiming(body)).addresses == (f"run:{digest(Claiming(body)).meta.handle[:12]}#stdout --lines 1:9",)
    refused = digest(Claiming(body), stored=False)
    assert refused.addresses == ()
    assert refused.meta.handle[:6] not in refused.text
    assert "not stored: omitted text cannot be retrieved" in refused.text


class Lying(Profile):
    """Extracts a graph that claims more than it parsed."""

    version = "lying/v1"

    def detect(self, ctx: DigestContext) -> str | None:
        return "mine"

    def extract(self, ctx: DigestContext) -> EvidenceGraph | None:
        from ctx.evidence import Coverage, Outcome

        return EvidenceGraph(
            family="lying",
            profile=self.version,
            outcome=Outcome.PASS,
            aggregate={},
            items=(),
            coverage=Coverage(unit="things", parsed=1, expected=9, complete=True),
            operation=ctx.operation(),
        )


def test_a_claim_of_completeness_that_the_counts_contradict_cannot_be_made() -> None:
    """S3.1, S19.57: the record refuses to exist, so nothing is printed that repeats it."""
    with pytest.raises(ValueError, match="1 of 9 parsed is not complete"):
        digest(Lying())
