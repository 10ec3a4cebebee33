"""Arms: ways to deliver output to a reader. `ARMS` is the registry, in reading order."""

import difflib
from dataclasses import dataclass
from pathlib import Path

from referee.arms.base import Arm
from referee.arms.command import CommandArm, load_arm_file
from referee.arms.controls import DEAD_ADDRESS, LIAR, TRUNCATING
from referee.arms.plain import EMPTY, HEAD_TAIL, RAW, TAIL
from referee.errors import UsageError


@dataclass(frozen=True, kw_only=True, slots=True)
class ArmEntry:
    """One row of the registry."""

    name: str
    arm: Arm | None
    """None for an arm that is made from its spec."""
    about: str


ARMS: tuple[ArmEntry, ...] = (
    ArmEntry(name="raw", arm=RAW, about="the output, both streams, nothing cut"),
    ArmEntry(name="head_tail", arm=HEAD_TAIL, about="30,000 characters, the middle dropped with the host's mark"),
    ArmEntry(name="tail", arm=TAIL, about="the last 50 lines"),
    ArmEntry(name="ctx", arm=None, about="ctx[@EPOCH][+MODULE:PROFILE]: the digest with its store"),
    ArmEntry(name="empty", arm=EMPTY, about="control: no text at all"),
    ArmEntry(name="liar", arm=LIAR, about="control: a passing, complete digest whatever happened"),
    ArmEntry(name="truncating", arm=TRUNCATING, about="control: a silent head"),
    ArmEntry(name="dead_address", arm=DEAD_ADDRESS, about="control: an address that does not resolve"),
)


def find_arm(spec: str) -> Arm:
    """The arm that `spec` names: a name of the registry, `ctx[@EPOCH][+MODULE:PROFILE]`, or the path of an arm file.

    Raises:
        UsageError: no such arm; lists the known ones.
    """
    if spec.endswith(".toml"):
        return CommandArm(load_arm_file(Path(spec)), spec)
    if spec == "ctx" or spec.startswith(("ctx@", "ctx+")):
        from referee.arms.ctx_arm import parse_ctx_spec

        return parse_ctx_spec(spec)
    for entry in ARMS:
        if entry.name == spec and entry.arm is not None:
            return entry.arm
    names = [entry.name for entry in ARMS]
    near = difflib.get_close_matches(spec, names, n=1)
    hint = f"did you mean {near[0]!r}? " if near else ""
    raise UsageError(f"arm {spec!r}: unknown; {hint}known: {', '.join(names)}, or the path of an arm file (.toml)")
