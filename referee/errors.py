"""Errors that the referee raises; `exit_code` is the status a command ends with (S17.1).

Library code raises; the command line prints one or two lines (what, where, what to do) and ends with the status.
"""


class RefereeError(Exception):
    """Base of all errors of the referee: the checked thing failed."""

    exit_code = 1


class UsageError(RefereeError, ValueError):
    """An argument or a document that cannot be accepted; the message shows what would fit."""

    exit_code = 2


class EnvironmentProblem(RefereeError):  # noqa: N818 - Python has an EnvironmentError already
    """Something outside the project is missing or broken: an optional program, a vocabulary, a folder."""

    exit_code = 3


class RunError(RefereeError, ValueError):
    """A run that does not hold together: a side of a pair is missing, a case stands in it twice."""


class CorpusError(RefereeError, ValueError):
    """A corpus that may not be judged on; `problems` holds every one of them, each with path and key."""

    def __init__(self, problems: "list[str] | tuple[str, ...]") -> None:
        super().__init__("\n".join(problems))
        self.problems = tuple(problems)
