"""A capture whose command still runs: what has arrived so far, labelled so (S1.9)."""

from dataclasses import dataclass

from ctx.capture.spool import STREAMS, Running, running, stream_bytes
from ctx.errors import UnknownError
from ctx.store.store import Store
from ctx.text import StreamView


@dataclass(frozen=True, kw_only=True, slots=True)
class RunningView:
    """One stream of a running capture, as far as it has come."""

    view: StreamView
    label: str
    """`running since …`."""


def newest_running(store: Store, workspace: str | None) -> Running | None:
    """The capture that `run:last` means while its command runs: begun after the newest finished one."""
    found = [c for c in running(store.root) if workspace is None or c.state.workspace == workspace]
    if not found:
        return None
    finished = store.newest(workspace)
    newest = found[-1]
    return newest if finished is None or newest.state.started_at >= finished[1] else None


def running_view(store: Store, stream: str | None, workspace: str | None) -> RunningView | None:
    """A stream of the newest running capture; without a stream: standard output, or the other where that is empty.

    Raises:
        UnknownError: It runs, and has no such stream yet.
    """
    capture = newest_running(store, workspace)
    if capture is None:
        return None
    if stream is not None and stream not in STREAMS:
        raise UnknownError(f"run:last#{stream}: its command still runs; so far it has {', '.join(STREAMS)}")
    arrived = {name: stream_bytes(capture.folder, name) for name in STREAMS}
    name = stream or ("stdout" if arrived["stdout"] or not arrived["stderr"] else "stderr")
    label = f"running since {capture.state.started_at}, so far"
    return RunningView(view=StreamView(name, arrived[name]), label=label)
