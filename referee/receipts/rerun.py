"""Running a receipt's protocol again and comparing the reproducible parts byte for byte (S16.4)."""

from collections.abc import Callable
from pathlib import Path

import rfc8785

from referee.errors import UsageError
from referee.execute import Receipt, Request, execute
from referee.receipts.verify import first_difference, load_receipt


def rerun_problems(
    receipt: Path, *, protocol: Path | None, corpora: tuple[Path, ...], progress: Callable[[int, int], None]
) -> list[str]:
    """What differs in a second run; the first difference is named with both values."""
    if protocol is None or not corpora:
        raise UsageError("--rerun needs --protocol FILE and --corpus DIR: a receipt holds digests, not folders")
    again = execute(Request(corpora=corpora, protocol_file=protocol), progress)
    return difference(load_receipt(receipt), again)


def difference(recorded: dict[str, object], again: Receipt) -> list[str]:
    """Problems where the reproducible part of a receipt is not that of a second run."""
    old = recorded["predicate"]["reproducible"]  # type: ignore[index]
    new = again.statement["predicate"]["reproducible"]
    if rfc8785.dumps(old) == rfc8785.dumps(new):
        return []
    import json

    found = first_difference(old, json.loads(rfc8785.dumps(new)), "predicate.reproducible")
    return [f"{found or 'reproducible: other bytes'} (recorded, then run again)"]
