"""Both streams as one text in order of arrival, for a reader that has one channel (S7.13).

Order of arrival at our pipes, which may differ from the order of writing; lines are never broken into each other.
"""

import json
from collections.abc import Mapping, Sequence

Arrival = Sequence[tuple[str, int, int, int]]
"""(stream, first_byte, end_byte, offset_us) in order of arrival."""


def arrival_log(arrival: Arrival) -> bytes:
    """The order of arrival as it is stored: one JSON list a line."""
    return "".join(f"{json.dumps(list(entry))}\n" for entry in arrival).encode()


def in_order_of_arrival(streams: Mapping[str, bytes], arrival: Arrival) -> bytes:
    """Whole lines of the streams in the order in which their ends arrived."""
    out: list[bytes] = []
    open_lines: dict[str, bytes] = {}
    for stream, first, end, _ in arrival:
        data = open_lines.pop(stream, b"") + streams[stream][first:end]
        cut = data.rfind(b"\n") + 1
        if cut:
            out.append(data[:cut])
        if cut < len(data):
            open_lines[stream] = data[cut:]
    for position, rest in enumerate(open_lines.values()):
        out.append(rest + (b"\n" if position < len(open_lines) - 1 else b""))
    return b"".join(out)
