"""What was judged, by digest: profiles with their sources, contracts, the epoch, and the shared pipeline (S16.1)."""

from collections.abc import Iterable, Sequence
from hashlib import sha256
from importlib import resources
from typing import Any

import ctx

FAMILY_SOURCES = {"pytest": ("pytest",), "lint": ("lint",), "text": ("textprof",)}
"""Family -> prefixes of its modules in `ctx/digest/`."""


def subjects(families: Iterable[str], treatment: str) -> list[dict[str, Any]]:
    """Name and SHA-256 of everything a treatment consists of; empty for an arm that is not ours."""
    if not treatment.startswith("ctx"):
        return []
    sources = _sources()
    profiles = {p.version.partition("/")[0]: p.version for p in (ctx.PytestProfile, ctx.LintProfile, ctx.TextProfile)}
    claimed: set[str] = set()
    found: list[tuple[str, str]] = []
    for family in sorted(set(families) & set(profiles)):
        own = [name for name in sources if name.startswith(tuple(f"digest/{p}" for p in FAMILY_SOURCES[family]))]
        claimed.update(own)
        found.append((f"profile/{profiles[family]}", _digest(sources, own)))
        found.append((f"contract/{family}", ctx.load_contract(family).contract_id))
    others = [name for prefixes in FAMILY_SOURCES.values() for name in sources if _is_of(name, prefixes)]
    shared = [name for name in sources if name not in claimed and name not in others]
    found.append(("pipeline/ctx", _digest(sources, shared)))
    epoch = ctx.active_epoch(treatment.partition("@")[2].partition("+")[0] or None)
    found.append((f"epoch/{epoch.id}", epoch.content_digest))
    return [{"name": name, "digest": {"sha256": digest}} for name, digest in sorted(found)]


def _is_of(name: str, prefixes: Sequence[str]) -> bool:
    return name.startswith(tuple(f"digest/{prefix}" for prefix in prefixes))


def _sources() -> dict[str, bytes]:
    """Path in the package -> content, of every Python file."""
    found: dict[str, bytes] = {}

    def walk(entry: Any, prefix: str) -> None:
        for child in entry.iterdir():
            if child.is_dir() and child.name != "__pycache__":
                walk(child, f"{prefix}{child.name}/")
            elif child.name.endswith(".py"):
                found[prefix + child.name] = child.read_bytes()

    walk(resources.files("ctx"), "")
    return found


def _digest(sources: dict[str, bytes], names: Iterable[str]) -> str:
    hasher = sha256()
    for name in sorted(names):
        hasher.update(f"{name}\x00{sha256(sources[name]).hexdigest()}\n".encode())
    return hasher.hexdigest()


def subject_problems(recorded: Sequence[dict[str, Any]], current: Sequence[dict[str, Any]]) -> list[str]:
    """Which recorded subjects differ from the tree, each by name."""
    now = {entry["name"]: entry["digest"]["sha256"] for entry in current}
    problems = []
    for entry in recorded:
        name, digest = entry["name"], entry["digest"]["sha256"]
        if name not in now:
            problems.append(f"{name}: is not in this tree")
        elif now[name] != digest:
            problems.append(f"{name}: is {now[name][:12]} here, {digest[:12]} in the receipt; run nox -s receipts")
    return problems
