"""Who reads our standard output: a reader gets a digest, a program gets the command's bytes (S1.3)."""

import os
import stat
from enum import StrEnum


class Consumer(StrEnum):
    """What is made for whoever reads standard output."""

    READER = "reader"
    """A terminal, or a pipe read by an ancestor: an agent host."""
    PROGRAM = "program"
    """A regular file, /dev/null, or a pipe read by somebody who is no ancestor."""


def consumer_of(descriptor: int) -> Consumer:
    """Who reads `descriptor`; where that cannot be told: a reader."""
    try:
        found = os.fstat(descriptor)
    except OSError:
        return Consumer.READER
    if stat.S_ISREG(found.st_mode):
        return Consumer.PROGRAM
    if stat.S_ISCHR(found.st_mode):
        return Consumer.READER if os.isatty(descriptor) else Consumer.PROGRAM
    if not stat.S_ISFIFO(found.st_mode) or not os.path.isdir("/proc/self/fd"):
        return Consumer.READER
    name = f"pipe:[{found.st_ino}]"
    ancestors = _ancestors()
    if any(_reads(pid, name) for pid in ancestors):
        return Consumer.READER
    skipped = {*ancestors, os.getpid()}
    others = (int(entry) for entry in os.listdir("/proc") if entry.isdigit())
    return Consumer.PROGRAM if any(_reads(pid, name) for pid in others if pid not in skipped) else Consumer.READER


def _ancestors() -> list[int]:
    found: list[int] = []
    pid = os.getppid()
    while pid > 0 and pid not in found and len(found) < 64:
        found.append(pid)
        try:
            with open(f"/proc/{pid}/stat", "rb") as file:
                pid = int(file.read().rpartition(b")")[2].split()[1])
        except (OSError, ValueError, IndexError):
            break
    return found


def _reads(pid: int, name: str) -> bool:
    """Whether a process holds the reading end of a pipe."""
    folder = f"/proc/{pid}/fd"
    try:
        for entry in os.listdir(folder):
            if os.readlink(f"{folder}/{entry}") != name:
                continue
            with open(f"/proc/{pid}/fdinfo/{entry}") as file:
                for line in file:
                    if line.startswith("flags:"):
                        return int(line.split()[1], 8) & os.O_ACCMODE == os.O_RDONLY
    except (OSError, ValueError, IndexError):
        return False
    return False
