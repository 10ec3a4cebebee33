"""The Python entry: bytes in, a digest out, stored where a store is given (S17.6)."""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from ctx.digest.base import CaptureFacts, Profile
from ctx.digest.rendered import Rendered
from ctx.errors import StoreError, UsageError
from ctx.pipeline import digest_capture
from ctx.policy.epoch import active_epoch

if TYPE_CHECKING:
    from ctx.store import Store


def digest_output(
    stdout: bytes | str,
    stderr: bytes | str = b"",
    *,
    argv: Sequence[str] = (),
    exit_code: int | None = None,
    signal: int | None = None,
    ended_by: str = "",
    incomplete: str | None = None,
    store: "Store | None" = None,
    epoch: str | None = None,
    profiles: Sequence[Profile] | None = None,
) -> Rendered:
    """The digest of a command's output.

    Args:
        stdout, stderr: Exact bytes of the two streams; a text stands for its UTF-8 bytes.
        argv: The command; empty where it is not known.
        exit_code: None where it is not known; it is never assumed to be 0.
        signal: Number of the signal that ended the command.
        ended_by: `exit`, `signal`, `timeout`, `reader_closed` or `unknown`; derived from the two above where empty.
        incomplete: Why the bytes are not all the command printed (`declared`, `killed`, …); None: they are.
        store: Publishes the capture, so that the printed addresses resolve; without it none is printed.
        epoch: Id of a packaged epoch; default: the one this release ships.
        profiles: Replaces the built-in profiles.
    Raises:
        UsageError: A stream, word or status of another type.
        ContractError: No such epoch.
    Returns:
        Text, receipt, plan, graph and addresses. Where the store cannot take the capture, the same digest without
        addresses, saying so.
    """
    streams = {"stdout": _stream("stdout", stdout), "stderr": _stream("stderr", stderr)}
    if isinstance(argv, str | bytes) or not all(isinstance(word, str) for word in argv):
        raise UsageError(f"digest_output: argv is a list of words, not {argv!r}; for example argv=['pytest', '-q']")
    for name, value in (("exit_code", exit_code), ("signal", signal)):
        if value is not None and (isinstance(value, bool) or not isinstance(value, int)):
            raise UsageError(f"digest_output: {name} is a whole number or None, not {value!r}")
    facts = CaptureFacts(
        argv=tuple(argv),
        exit_code=exit_code,
        signal=signal,
        ended_by=ended_by or ("signal" if signal is not None else "exit" if exit_code is not None else "unknown"),
        complete=incomplete is None,
        incomplete_reason=incomplete or "",
    )
    table = active_epoch(epoch)
    if store is not None:
        rendered = digest_capture(streams, facts, epoch=table, profiles=profiles)
        try:
            store.publish(streams, facts, rendered)
        except StoreError:
            pass
        else:
            return rendered
    return digest_capture(streams, facts, epoch=table, profiles=profiles, stored=False)


def _stream(name: str, given: bytes | str) -> bytes:
    if isinstance(given, str):
        return given.encode("utf-8", "surrogateescape")
    if isinstance(given, bytes | bytearray | memoryview):
        return bytes(given)
    raise UsageError(f"digest_output: {name} is bytes or text, not {type(given).__name__}")
