"""What every arm offers, and how a text becomes a delivery."""

import time
from collections.abc import Callable, Mapping
from typing import Protocol

from referee.delivery import Capture, Delivery, placeless
from referee.tokens import Encoder

ERROR_CHARACTERS = 300


class Arm(Protocol):
    """One way to deliver output to a reader (S14.5)."""

    name: str
    """Its name in tables."""
    spec: str
    """What `find_arm` makes an equal arm from in another process; empty where nothing can."""

    def config(self) -> Mapping[str, str | int]:
        """What made this arm what it is, for the receipt; no path, no time."""
        ...

    def deliver(self, capture: Capture, encoder: Encoder, budget_tokens: int | None = None) -> Delivery:
        """The delivery of `capture`; it never raises: what goes wrong is an `arm_error` in it."""
        ...

    def close(self) -> None:
        """Remove what the ways back of its deliveries needed."""
        ...


class TextArm:
    """An arm that is a pure function from capture to text and has no way back."""

    def __init__(
        self, name: str, text: Callable[[Capture], str], config: Mapping[str, str | int] | None = None
    ) -> None:
        self.name = name
        self.spec = name
        self._text = text
        self._config = dict(config or {})

    def config(self) -> Mapping[str, str | int]:
        """See `Arm`."""
        return self._config

    def deliver(self, capture: Capture, encoder: Encoder, budget_tokens: int | None = None) -> Delivery:
        """See `Arm`."""
        started = time.perf_counter()
        text = self._text(capture)
        seconds = time.perf_counter() - started
        return Delivery(text=text, tokens=encoder.count(text), seconds=seconds)

    def close(self) -> None:
        """Nothing is kept."""


def failed(error: str, seconds: float) -> Delivery:
    """The empty delivery of an arm that broke; it is scored like any other."""
    return Delivery(text="", tokens=0, seconds=seconds, arm_error=placeless(" ".join(error.split()))[:ERROR_CHARACTERS])
