"""The store that a verb works on, with what killed captures left behind."""

import os

from ctx.capture.spool import has_others
from ctx.store.store import Store


def opened_store(folder: str | None) -> Store:
    """The store of a verb that reads; captures that were killed are there before it is asked for them (S1.8)."""
    store = Store(folder)
    if has_others(store.root):
        from ctx.capture.adopt import adopt_orphans
        from ctx.policy.epoch import active_epoch

        adopt_orphans(store, epoch=active_epoch(os.environ.get("CTX_EPOCH")), notice=store.notice)
    return store


def workspace_name() -> str | None:
    """The workspace that `run:last` is scoped to."""
    from ctx.capture.workspace import find_workspace

    found = find_workspace()
    return found.name if found is not None else None
