"""What an arm is given and what it hands over: the records between a case and a reader (S14.5).

An arm sees a `Capture`, never the case: truth and question stay with the referee.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Protocol

from referee.cases import Case


@dataclass(frozen=True, kw_only=True, slots=True)
class Capture:
    """One finished command, as a host would hand it to a tool that shortens output."""

    argv: tuple[str, ...]
    exit_code: int | None
    """None where a signal ended the command or the status is not known."""
    ended_by: str
    """`exit`, `signal`, `timeout` or `unknown`."""
    stdout: bytes
    stderr: bytes


def capture_of(case: Case) -> Capture:
    """The part of `case` that an arm may see."""
    return Capture(
        argv=case.argv, exit_code=case.exit_code, ended_by=case.ended_by, stdout=case.stdout, stderr=case.stderr
    )


@dataclass(frozen=True, kw_only=True, slots=True)
class Fetched:
    """What a way back returned."""

    text: str
    """As its reader sees it."""
    body: bytes | None = None
    """The exact bytes behind it, where the arm can tell them apart from the text; else None."""


class WayBackError(Exception):
    """An address or a search that brought nothing: expired, unknown, refused, broken."""


class Resolver(Protocol):
    """The way back of one delivery."""

    def get(self, address: str) -> Fetched:
        """What `address` stands for, as its reader gets it without asking for more.

        Raises:
            WayBackError: nothing came back; the message says why.
        """
        ...

    def whole(self, address: str) -> Fetched:
        """The same region complete, however large: with the arm's own means of asking for all of it."""
        ...

    def search(self, word: str) -> Fetched:
        """Where `word` occurs in the captured output; WayBackError where the arm has no search."""
        ...


@dataclass(frozen=True, kw_only=True, slots=True)
class Delivery:
    """One way to hand a capture to a reader."""

    text: str
    tokens: int
    """Of the text, in the protocol's encoding."""
    seconds: float
    """Wall time of the arm; observed, never part of what is compared."""
    address_pattern: str = ""
    """Regular expression of the addresses that a reader may follow; empty where the arm has none."""
    addresses: tuple[str, ...] = ()
    """Every address that the text prints, where the arm can list them; else they are found by the pattern."""
    resolver: Resolver | None = None
    arm_error: str = ""
    """Why there is no text: the arm crashed, timed out, printed nothing. Such a delivery is scored, not dropped."""
    labels: Sequence[tuple[str, str]] = field(default=())
    """Names of what made it (profile, rung), sorted; for the receipt's subjects, never for a metric."""


_PLACE = re.compile(r"(?<![\w./:~-])(?:(?:~[\w-]*)?/[^\s'\"]*/|[A-Za-z]:\\[^\s'\"]*\\|file:///?[^\s'\"]*/)")


def placeless(text: str) -> str:
    """`text` with the folders of absolute paths taken out: what a receipt quotes is the same on every machine."""
    return _PLACE.sub("<folder>/", text.encode("utf-8", "replace").decode("utf-8"))


def decode(raw: bytes) -> str:
    """Bytes as a host shows them: UTF-16 by its byte order mark, else UTF-8, with U+FFFD for what is neither."""
    return raw.decode("utf-16" if raw[:2] in (b"\xff\xfe", b"\xfe\xff") else "utf-8", "replace")


def one_channel(capture: Capture) -> str:
    """Both streams as a host with one channel shows them: stdout, a line end where it lacks one, then stderr.

    Nothing else is added: no exit status, no stream names. Escape codes stay. (The order of arrival is not recorded in
    a corpus, so the streams cannot be interleaved.)
    """
    out, err = decode(capture.stdout), decode(capture.stderr)
    if out and err and not out.endswith("\n"):
        out += "\n"
    return out + err
