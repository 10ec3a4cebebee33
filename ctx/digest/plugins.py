"""Profiles of third parties: the entry point group `ctx.profiles` (S5.0.4).

Reading the metadata of every installed distribution is slow, so the files are first searched for the group's name.
"""

import os
import sys
from typing import TYPE_CHECKING

from ctx.digest.base import DigestContext, Profile

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

GROUP = "ctx.profiles"


def third_party_profiles() -> tuple[Profile, ...]:
    """Instances of the registered profile classes, ordered by entry point name.

    One that cannot be loaded declines every capture and says why in `ctx explain`; it never costs a digest.
    """
    if not _announced():
        return ()
    from importlib.metadata import entry_points

    found = sorted(entry_points(group=GROUP), key=lambda point: point.name)
    return tuple(_loaded(point) for point in found)


def _loaded(point: "EntryPoint") -> Profile:
    try:
        profile = point.load()()
        if not isinstance(profile, Profile):
            raise TypeError(f"{point.value} makes a {type(profile).__name__}, not a ctx.Profile")
        _ = profile.family  # a profile without a version has none
    except Exception as error:
        return _Unloadable(point.name, error)
    return profile


class _Unloadable(Profile):
    """Stands where a profile could not be loaded; asked, it raises what went wrong."""

    def __init__(self, name: str, error: Exception) -> None:
        self.version = f"{name}/not-loaded"  # type: ignore[misc]
        self._error = error

    def detect(self, ctx: DigestContext) -> str | None:
        raise self._error


def _announced() -> bool:
    marker = f"[{GROUP}]".encode()
    for folder in sys.path:
        try:
            names = [entry.name for entry in os.scandir(folder) if entry.name.endswith((".dist-info", ".egg-info"))]
        except OSError:
            continue
        for name in names:
            try:
                with open(os.path.join(folder, name, "entry_points.txt"), "rb") as file:
                    if marker in file.read():
                        return True
            except OSError:
                continue
    return False
