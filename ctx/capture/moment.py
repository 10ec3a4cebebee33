"""The clock of captures: observed, never part of a digest."""

import time


def now() -> str:
    """RFC 3339, UTC, milliseconds."""
    moment = time.time_ns() // 1_000_000
    return time.strftime("%Y-%m-%dT%H:%M:%S", time.gmtime(moment // 1000)) + f".{moment % 1000:03d}Z"
