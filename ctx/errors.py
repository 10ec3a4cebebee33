"""Errors that ctx raises, and the exit statuses of its commands.

Library code raises; the command line turns an error into one or two lines on stderr (what, where, what
to do) and one of the statuses below.
"""

from enum import IntEnum


class ExitCode(IntEnum):
    """Exit statuses of every command except `ctx run`, which ends with its child's status."""

    OK = 0
    """Fine."""
    FAILED = 1
    """The checked thing failed: an address expired, a store could not take a capture, no hit was found."""
    USAGE = 2
    """The command line, an address or an input document is malformed."""
    ENVIRONMENT = 3
    """The store or an optional program cannot be used."""


class CtxError(Exception):
    """Base of all errors of ctx; `exit_code` is the status a command ends with."""

    exit_code = ExitCode.FAILED


class UsageError(CtxError, ValueError):
    """An argument or a document that cannot be accepted; the message shows what would fit."""

    exit_code = ExitCode.USAGE


class ContractError(UsageError):
    """A contract or epoch file with problems; `problems` holds every one of them, located."""

    def __init__(self, problems: "list[str]") -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)


class AddressError(UsageError):
    """A malformed address or selector: names the part, its column (1-based) and a valid example."""


class EvidenceError(CtxError, ValueError):
    """A record that contradicts itself and therefore may not exist."""


class StoreError(CtxError):
    """The store cannot be opened, read or written."""

    exit_code = ExitCode.ENVIRONMENT


class DamagedError(StoreError):
    """Stored bytes are not what their name says; the message names the blob or manifest."""


class UnknownError(CtxError, LookupError):
    """An address that this store never held; the message lists the nearest handles."""


class ExpiredError(CtxError, LookupError):
    """An address whose capture was removed: says what, when, why, and how to get it again."""


class RefusedError(CtxError, PermissionError):
    """An address that confinement, the deny list or changed content forbids to serve."""
