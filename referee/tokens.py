"""The one home of the encoder: token counts and cuts, offline, from a vocabulary whose digest is checked.

Text that spells a special token (`<|endoftext|>`) counts as the plain text it is. Nothing is ever downloaded.
"""

import base64
from functools import cache
from hashlib import sha256
from typing import Any

from referee.errors import EnvironmentProblem, UsageError

RANK_DIGESTS = {
    "cl100k_base": "223921b76ee99bde995b7ff738513eef100fb51d18c93597a113bcffe865b2a7",
    "o200k_base": "446a9538cb6c348e3516120d7c08b09f57c36495e2acfffe59a5bf8b0cfb1a2d",
}
"""SHA-256 of the published rank files: lines of `base64(token) rank`."""


def load_ranks(name: str) -> dict[bytes, int]:
    """Token bytes to rank, special tokens left out, checked against the published digest.

    Raises:
        UsageError: no such encoding.
        EnvironmentProblem: the installed vocabulary is absent or is not the published one.
    """
    if name not in RANK_DIGESTS:
        raise UsageError(f"encoding {name!r}: unknown; choose one of {', '.join(sorted(RANK_DIGESTS))}")
    tokenizer = _tokenizer(name)
    special = {rank for _, rank in tokenizer.special_tokens()}
    ranks: dict[bytes, int] = {}
    for rank in range(tokenizer.max_token_value + 1):
        if rank in special:
            continue
        try:
            ranks[tokenizer.decode_single_token_bytes(rank)] = rank
        except (KeyError, ValueError):
            # Vocabularies have holes between the last rank and the special tokens.
            continue
    published = "".join(f"{base64.b64encode(token).decode()} {rank}\n" for token, rank in ranks.items())
    if sha256(published.encode()).hexdigest() != RANK_DIGESTS[name]:
        raise EnvironmentProblem(f"encoding {name}: vocabulary differs from the published one; reinstall toktok-rs")
    return ranks


def _tokenizer(name: str) -> Any:
    """toktok's tokenizer; `_encoding` is private to toktok, so this module alone uses it and the version is pinned."""
    try:
        import toktok

        return toktok._encoding(name)
    except (ImportError, AttributeError, KeyError) as error:
        raise EnvironmentProblem(f"encoding {name}: no vocabulary ({error}); install toktok-rs==0.3.*") from error


class Encoder:
    """Counts and cuts in one encoding; counts of texts seen before are remembered."""

    def __init__(self, name: str) -> None:
        verify_vocabulary(name)
        self.name = name
        self.digest = RANK_DIGESTS[name]
        self._tokenizer = _tokenizer(name)
        self._counts: dict[str, int] = {}

    def count(self, text: str) -> int:
        """Tokens of `text`."""
        if text not in self._counts:
            clean = text.encode("utf-8", "replace").decode("utf-8")
            self._counts[text] = int(self._tokenizer.count_batch([clean], 1, False)[0])
        return self._counts[text]

    def head(self, text: str, limit: int) -> str:
        """The longest beginning of `text` of at most `limit` tokens, cut between characters."""
        if len(text.encode("utf-8", "replace")) <= limit:
            return text  # Every token has at least one byte.
        clean = text.encode("utf-8", "replace").decode("utf-8")
        return str(self._tokenizer.truncate(clean, limit)[0])


@cache
def verify_vocabulary(name: str) -> None:
    """Check the vocabulary once a process; raises as `load_ranks` does."""
    load_ranks(name)


@cache
def encoder(name: str) -> Encoder:
    """The encoder `name`, made once."""
    return Encoder(name)
