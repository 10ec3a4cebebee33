"""referee: judges digests by what readers do with them.

`referee.run(protocol_file, corpora)` replays frozen corpora against a baseline and a treatment and gives the receipt.
"""

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from referee.execute import Receipt

__all__ = ["run"]


def run(protocol: str | Path, corpora: Sequence[str | Path]) -> "Receipt":
    """Run a protocol file over corpus folders.

    Raises:
        referee.errors.RefereeError: With what does not fit and what would.
    """
    from referee.execute import Request, execute

    return execute(Request(corpora=tuple(Path(corpus) for corpus in corpora), protocol_file=Path(protocol)))
