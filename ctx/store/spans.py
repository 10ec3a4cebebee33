"""Regions that retrievals named, one small file a handle (S2.11).

Regions that a digest prints lie in the manifest of its capture. A zoom names more of them later; they are appended
here, outside the catalog, so that an address once printed outlives a damaged index.
"""

import json
from collections.abc import Iterable
from pathlib import Path

from ctx.digest.base import Span
from ctx.store.layout import append_line, private_folder


class Spans:
    """The regions of one store."""

    def __init__(self, root: Path) -> None:
        self.root = root

    def add(self, handle: str, spans: Iterable[Span]) -> None:
        """Keep regions of a handle; those it has already are not written again.

        Raises:
            StoreError: They could not be written.
        """
        known = self._of(handle)
        rows = [
            json.dumps([s.token, s.stream, s.kind, s.first_line, s.last_line, s.first_col, s.end_col])
            for s in spans
            if s.token not in known
        ]
        if rows:
            private_folder(self.root.parent, self.root.name, handle[:2])
            append_line(self._path(handle), "\n".join(rows))

    def get(self, handle: str, token: str) -> Span | None:
        """The region of a handle that `token` names."""
        return self._of(handle).get(token)

    def _of(self, handle: str) -> dict[str, Span]:
        found: dict[str, Span] = {}
        try:
            text = self._path(handle).read_text(encoding="utf-8", errors="replace")
        except OSError:
            return found
        for line in text.splitlines():
            try:
                token, stream, kind, first_line, last_line, first_col, end_col = json.loads(line)
                span = Span(
                    str(token), str(stream), str(kind), int(first_line), int(last_line), _column(first_col),
                    _column(end_col),
                )  # fmt: skip
            except (ValueError, TypeError):  # a line that a full disk cut names nothing
                continue
            found[span.token] = span
        return found

    def _path(self, handle: str) -> Path:
        return self.root / handle[:2] / handle


def _column(value: object) -> int | None:
    return None if value is None else int(str(value))
