"""Tokens: counted offline, from a vocabulary whose digest is checked, special-token text as the plain text it is."""

import subprocess
import sys
from typing import Any

import pytest

from referee import tokens as module
from referee.errors import EnvironmentProblem, UsageError
from referee.tokens import RANK_DIGESTS, Encoder, encoder, load_ranks

OFFLINE = """
import socket
def refuse(*arguments, **values): raise AssertionError("a socket was asked for")
socket.socket = socket.create_connection = socket.getaddrinfo = refuse
from referee.tokens import encoder
for name in ("o200k_base", "cl100k_base"):
    print(name, encoder(name).count("hello world"), encoder(name).digest[:8])
"""


def test_both_encodings_count_without_a_network() -> None:
    """A fresh process in which no socket can be made. Two tokens in both published vocabularies."""
    done = subprocess.run([sys.executable, "-c", OFFLINE], capture_output=True, text=True, timeout=60, check=True)
    assert done.stdout.splitlines() == ["o200k_base 2 446a9538", "cl100k_base 2 223921b7"]


@pytest.mark.parametrize(
    ("name", "text", "count"),
    [
        # Published ids: cl100k_base "hello world" = 15339 1917; "tiktoken is great!" = 83 1609 5963 374 2294 0.
        ("cl100k_base", "tiktoken is great!", 6),
        ("cl100k_base", "2 + 2 = 4", 7),
        ("cl100k_base", "antidisestablishmentarianism", 6),
        ("o200k_base", "antidisestablishmentarianism", 6),
        ("cl100k_base", "", 0),
    ],
)
def test_counts_of_published_examples(name: str, text: str, count: int) -> None:
    """From the cookbook of the encodings' publisher."""
    assert encoder(name).count(text) == count


@pytest.mark.parametrize("name", sorted(RANK_DIGESTS))
def test_text_that_spells_a_special_token_is_plain_text(name: str) -> None:
    """It is not one token, and it is refused nowhere."""
    found = encoder(name)
    for text in ("<|endoftext|>", "<|fim_prefix|>", "a<|endoftext|>b", "<|endofprompt|>"):
        assert found.count(text) > 1
    assert found.head("<|endoftext|> and more", 2) != "<|endoftext|> and"


@pytest.mark.parametrize("name", sorted(RANK_DIGESTS))
def test_the_vocabulary_is_the_published_one(name: str) -> None:
    """By the SHA-256 of its rank file; every single byte is a token."""
    ranks = load_ranks(name)
    assert {bytes([value]) for value in range(256)} <= set(ranks)
    assert len(ranks) == {"cl100k_base": 100_256, "o200k_base": 199_998}[name]


def test_lone_surrogates_and_long_runs_do_not_stop_it() -> None:
    """What a decoder may leave, and a million blanks."""
    found = encoder("o200k_base")
    assert found.count("a\ud800b") == found.count("a?b")
    assert 0 < found.count(" " * 1_000_000) < 20_000


def test_a_head_is_the_longest_beginning_within_the_limit() -> None:
    """Cut between characters."""
    found = encoder("o200k_base")
    text = "one two three four five 日本語 six seven"
    for limit in range(1, 14):
        head = found.head(text, limit)
        assert text.startswith(head)
        assert found.count(head) <= limit
    assert found.head("short", 300) == "short"
    assert found.head(text, 1000) == text


def test_an_unknown_encoding_lists_the_known_ones() -> None:
    """A usage error."""
    with pytest.raises(UsageError, match="cl100k_base, o200k_base"):
        load_ranks("p50k_base")


class _Altered:
    """The installed vocabulary with one token changed."""

    def __init__(self, real: Any) -> None:
        self._real = real

    def __getattr__(self, name: str) -> Any:
        return getattr(self._real, name)

    def decode_single_token_bytes(self, rank: int) -> bytes:
        token: bytes = self._real.decode_single_token_bytes(rank)
        return token + b"?" if rank == 777 else token


def test_an_altered_vocabulary_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    """One token: the message says what to do; status 3."""
    real = module._tokenizer("cl100k_base")
    monkeypatch.setattr(module, "_tokenizer", lambda name: _Altered(real))
    module.verify_vocabulary.cache_clear()
    try:
        with pytest.raises(EnvironmentProblem, match="differs from the published one; reinstall toktok-rs") as caught:
            Encoder("cl100k_base")
    finally:
        module.verify_vocabulary.cache_clear()
    assert caught.value.exit_code == 3


def test_a_missing_tokenizer_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    """Not an import error."""
    monkeypatch.setitem(sys.modules, "toktok", None)
    with pytest.raises(EnvironmentProblem, match="install toktok-rs"):
        load_ranks("cl100k_base")
