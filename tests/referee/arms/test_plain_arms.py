"""Arms that hosts have today, and those that are wrong on purpose (S14.5, S15.8)."""

import re

import pytest

from referee.arms import ARMS, find_arm
from referee.delivery import WayBackError
from tests.referee.builders import ENCODING, capture


def text(name: str, stdout: str, stderr: str = "") -> str:
    return find_arm(name).deliver(capture(stdout, stderr), ENCODING).text


def test_raw_is_both_streams_and_nothing_else() -> None:
    """A line end between them where stdout lacks one."""
    assert text("raw", "out", "err\n") == "out\nerr\n"
    assert text("raw", "", "err") == "err"
    assert text("raw", "\x1b[31mred\x1b[0m\n") == "\x1b[31mred\x1b[0m\n"


def test_head_tail_drops_the_middle_above_thirty_thousand_characters() -> None:
    """As hosts do: both halves of the cap, the number of characters between them."""
    assert text("head_tail", "x" * 30_000) == "x" * 30_000
    cut = text("head_tail", "a" * 15_000 + "b" * 123 + "c" * 15_000)
    assert cut == "a" * 15_000 + "\n\n... [123 characters truncated] ...\n\n" + "c" * 15_000


def test_tail_is_the_last_fifty_lines() -> None:
    """Nothing says that there was more."""
    lines = [f"{number}\n" for number in range(80)]
    assert text("tail", "".join(lines)) == "".join(lines[-50:])


def test_empty_is_empty_and_no_arm_error() -> None:
    """A control."""
    given = find_arm("empty").deliver(capture("x"), ENCODING)
    assert (given.text, given.tokens, given.arm_error) == ("", 0, "")


def test_the_liar_claims_a_passing_complete_run() -> None:
    """Whatever happened."""
    lie = text("liar", "1 failed\n")
    assert "PASS" in lie
    assert "complete" in lie


def test_the_truncating_arm_cuts_silently() -> None:
    """The first half, no mark."""
    assert text("truncating", "ab" * 50) == "ab" * 25


def test_the_dead_address_arm_prints_an_address_that_leads_nowhere() -> None:
    """It declares one, so that readers follow it."""
    given = find_arm("dead_address").deliver(capture("x\n"), ENCODING)
    (address,) = re.findall(given.address_pattern, given.text)
    assert given.resolver is not None
    for ask in (given.resolver.get, given.resolver.whole, given.resolver.search):
        with pytest.raises(WayBackError):
            ask(address)


@pytest.mark.parametrize("name", [entry.name for entry in ARMS])
def test_an_arm_counts_the_tokens_of_its_text_and_makes_it_again(name: str) -> None:
    """The registry walks: each delivers, twice the same, and names itself for another process."""
    made = find_arm(name)
    first, second = (made.deliver(capture("line\n" * 300 + "1 failed in 0.1s\n"), ENCODING) for _ in range(2))
    assert first.text == second.text
    assert first.tokens == ENCODING.count(first.text)
    assert first.seconds >= 0
    assert find_arm(made.spec).name == made.name == name
    assert all("/" not in str(value) for value in made.config().values())
    made.close()


def test_ctx_addresses_resolve_and_nothing_of_its_store_stays() -> None:
    """Its way back is its own `get`; the temporary store goes with the arm."""
    made = find_arm("ctx")
    raw = "".join(f"step {n} done\n" for n in range(900)) + "fatal: no\n"
    given = made.deliver(capture(raw), ENCODING)
    assert given.resolver is not None
    for address in given.addresses:
        if re.fullmatch(given.address_pattern, address):
            assert given.resolver.whole(address).body
    with pytest.raises(WayBackError) as caught:
        given.resolver.get("run:000000000000#stdout")
    assert "/tmp" not in str(caught.value)
    made.close()
