"""referee: judges digests by what readers do with them.

`referee.run(protocol_file)` replays frozen corpora against a baseline and a treatment and gives the receipt.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from referee.execute import Receipt

__all__ = ["run"]


def run(protocol: str | Path, corpora: Sequence[str | Path] = ()) -> "Receipt":
    """Run a protocol file over corpus folders.

    Args:
        corpora: By default, the folders `corpora/<name>` beside the folder that the protocol lies in.
    Raises:
        referee.errors.RefereeError: With what does not fit and what would.
    """
    from referee.execute import Request, corpora_of, execute

    file = Path(protocol)
    return execute(Request(corpora=tuple(map(Path, corpora)) or corpora_of(file), protocol_file=file))
