"""The clock of captures: observed, never part of a digest."""

from datetime import UTC, datetime


def now() -> str:
    """RFC 3339, UTC, milliseconds."""
    return datetime.now(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")
