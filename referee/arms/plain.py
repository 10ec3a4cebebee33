"""Arms that hosts have today: everything, head and tail at the host's cap, the last lines, nothing."""

from referee.arms.base import TextArm
from referee.delivery import Capture, one_channel

HOST_CHARACTERS = 30_000
"""Cap of common agent hosts on one tool result, in characters."""
TAIL_LINES = 50


def head_tail_text(capture: Capture) -> str:
    """The output as a host cuts it: first and last half of the cap, the middle dropped with the host's mark."""
    text = one_channel(capture)
    if len(text) <= HOST_CHARACTERS:
        return text
    half = HOST_CHARACTERS // 2
    dropped = len(text) - 2 * half
    return f"{text[:half]}\n\n... [{dropped} characters truncated] ...\n\n{text[-half:]}"


def tail_text(capture: Capture) -> str:
    """The last lines, as behind `| tail -50`: nothing says that there was more."""
    lines = one_channel(capture).splitlines(keepends=True)
    return "".join(lines[-TAIL_LINES:])


RAW = TextArm("raw", one_channel)
HEAD_TAIL = TextArm("head_tail", head_tail_text, {"characters": HOST_CHARACTERS})
TAIL = TextArm("tail", tail_text, {"lines": TAIL_LINES})
EMPTY = TextArm("empty", lambda _capture: "")
