"""Captures whose owner was killed become captures all the same, marked incomplete (S1.8)."""

import os
from collections.abc import Callable
from contextlib import suppress

from ctx.capture.spool import STREAMS, Orphan, no_space, orphans, stream_bytes
from ctx.errors import StoreError
from ctx.pipeline import digest_capture
from ctx.policy.epoch import Epoch
from ctx.store.layout import private_folder
from ctx.store.store import Store


def adopt_orphans(
    store: Store, *, epoch: Epoch, notice: Callable[[str], None], largest_bytes: int | None = None
) -> int:
    """Publish what lies in spools that nobody owns any more; how many.

    A spool is removed only after its capture was published. What cannot be published now waits for a later start; what
    cannot be digested at all is moved to `lost+found/`, so that it is met once.

    Args:
        largest_bytes: Larger spools are left to a start that has the time; None: all.
    """
    adopted = 0
    for orphan in orphans(store.root):
        try:
            if largest_bytes is None or orphan.size() <= largest_bytes:
                adopted += _adopt(store, orphan, epoch)
        except StoreError:
            continue
        except Exception as error:  # nothing about somebody else's capture may keep this command from its own work
            notice(f"a killed capture could not be read ({type(error).__name__}: {error}){_set_aside(store, orphan)}")
        finally:
            orphan.release()
    return adopted


def _adopt(store: Store, orphan: Orphan, epoch: Epoch) -> int:
    if no_space(orphan.folder):
        return 0
    streams = {name: stream_bytes(orphan.folder, name) for name in STREAMS}
    state = orphan.state
    store.publish(
        streams,
        orphan.facts,
        digest_capture(streams, orphan.facts, epoch=epoch),
        started_at=state.started_at or None,
        session=state.session,
        workspace=state.workspace,
    )
    orphan.remove()
    return 1


def _set_aside(store: Store, orphan: Orphan) -> str:
    with suppress(OSError, StoreError):
        target = private_folder(store.root, "lost+found") / f"spool.{orphan.folder.name}"
        os.replace(orphan.folder, target)
        return f"; it lies in {target}"
    return ""
