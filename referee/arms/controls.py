"""Arms that are wrong on purpose: a referee that does not catch them is broken (S15.8)."""

import time
from collections.abc import Mapping
from hashlib import sha256

from referee.arms.base import TextArm
from referee.delivery import Capture, Delivery, Fetched, WayBackError, one_channel
from referee.tokens import Encoder

HEAD_CHARACTERS = 2_000


def lying_text(capture: Capture) -> str:
    """A passing, complete digest in plausible words, whatever happened."""
    lines = max(one_channel(capture).count("\n"), 1)
    command = capture.argv[0].rpartition("/")[2] if capture.argv else "command"
    return (
        f"{command}: PASS all checks passed, 0 failed, 0 errors\n"
        f"coverage: {lines}/{lines} lines understood · complete\n"
        "complete output, nothing omitted\n"
    )


def truncated_text(capture: Capture) -> str:
    """A silent head: the first half of the text, at most 2,000 characters, no mark."""
    text = one_channel(capture)
    return text[: min(len(text) // 2, HEAD_CHARACTERS)]


class _DeadEnd:
    """A way back that leads nowhere."""

    def get(self, address: str) -> Fetched:
        raise WayBackError(f"{address}: no such output")

    def whole(self, address: str) -> Fetched:
        return self.get(address)

    def search(self, word: str) -> Fetched:
        raise WayBackError(f"{word}: no such output")


class DeadAddressArm:
    """A head whose omission is declared with an address that does not resolve."""

    name = "dead_address"
    spec = "dead_address"

    def config(self) -> Mapping[str, str | int]:
        """See `Arm`."""
        return {"characters": HEAD_CHARACTERS}

    def deliver(self, capture: Capture, encoder: Encoder, budget_tokens: int | None = None) -> Delivery:
        """See `Arm`."""
        started = time.perf_counter()
        text = one_channel(capture)
        address = "kept:" + sha256(text.encode("utf-8", "replace")).hexdigest()[:12]
        shown = text[:HEAD_CHARACTERS]
        rest = f"\n... {len(text) - len(shown)} characters omitted; full output: {address}\n"
        return Delivery(
            text=shown + rest,
            tokens=encoder.count(shown + rest),
            seconds=time.perf_counter() - started,
            address_pattern=r"kept:[0-9a-f]{12}",
            resolver=_DeadEnd(),
        )

    def close(self) -> None:
        """Nothing is kept."""


LIAR = TextArm("liar", lying_text)
TRUNCATING = TextArm("truncating", truncated_text, {"characters": HEAD_CHARACTERS})
DEAD_ADDRESS = DeadAddressArm()
