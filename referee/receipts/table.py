"""`cases.csv`: one row for each (case, arm, reader), fixed columns, sorted (S16.3)."""

import csv
import io
from collections.abc import Sequence
from hashlib import sha256
from pathlib import Path

from referee.errors import RefereeError
from referee.score import COLUMNS, Row, cells, parse_cells, sorted_rows


def table_text(rows: Sequence[Row]) -> str:
    """The table as CSV with LF line ends."""
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow(COLUMNS)
    for row in sorted_rows(rows):
        writer.writerow(cells(row))
    return out.getvalue()


def table_digest(rows: Sequence[Row]) -> str:
    """`sha256:` and the digest of the canonical table."""
    return f"sha256:{sha256(table_text(rows).encode()).hexdigest()}"


def load_table(path: Path) -> list[Row]:
    """The rows of a table file.

    Raises:
        RefereeError: Missing, another format, or a cell that cannot be; says which row.
    """
    if path.name.endswith(".partial"):
        raise RefereeError(f"{path}: a partial table of an interrupted run; run again")
    try:
        # Bytes, not text: a carriage return inside a cell is a part of it.
        lines = list(csv.reader(io.StringIO(path.read_bytes().decode("utf-8"), newline="")))
    except (OSError, UnicodeDecodeError) as error:
        raise RefereeError(f"{path}: {error}; the table lies beside its receipt") from None
    if not lines or tuple(lines[0]) != COLUMNS:
        raise RefereeError(f"{path}: its columns are not those of this version")
    rows = []
    for number, line in enumerate(lines[1:], 2):
        try:
            rows.append(parse_cells(line))
        except ValueError as error:
            raise RefereeError(f"{path}: row {number}: {error}") from None
    return rows
