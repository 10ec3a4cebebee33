"""The store: content-addressed blobs, manifests that are the truth, a catalog that is an index of them."""

from ctx.store.store import Store

__all__ = ["Store"]
