"""Sources speak of no machine: no absolute path of one, no home folder, no host of a package registry."""

import re
import subprocess
from pathlib import Path

import pytest

from tests.structure.source_tree import ROOT

# Built from parts, so that this file does not name what it forbids.
PLACES = ("home", "Users", "root", "work", "workspace", "mnt", "media", "srv")
ABSOLUTE = re.compile(rb"(?<![\w.~/<:-])/(?:" + "|".join(PLACES).encode() + rb")/[\w.-]+/[\w.-]+")
OURS = ("*.py", "*.toml", "*.md", "*.yml", "*.yaml", "*.cfg", ".ci/*")
CAPTURED = re.compile(r"^(?:corpora/core/|corpora/recipes/packages/|tests/fixtures/|tests/profiles/|receipts/)")


def tracked(*patterns: str) -> list[Path]:
    """Files under version control; without git every file of the tree that is no build product."""
    try:
        done = subprocess.run(
            ["git", "ls-files", "-z", "--", *patterns], cwd=ROOT, capture_output=True, check=True, timeout=30
        )
        names = [name for name in done.stdout.decode().split("\0") if name]
    except (OSError, subprocess.CalledProcessError):
        names = [str(path.relative_to(ROOT)) for pattern in patterns for path in ROOT.rglob(pattern)]
    return [Path(name) for name in sorted(names) if not CAPTURED.match(name) and not name.startswith(".venv")]


def test_no_source_names_the_place_where_it_was_written() -> None:
    """The checkout's own folder, and the folder above it, stand in no file of ours."""
    here = [str(ROOT).encode(), str(ROOT.parent).encode()]
    long = [place for place in here if place.count(b"/") >= 2]
    found = [str(path) for path in tracked(*OURS) if any(p in (ROOT / path).read_bytes() for p in long)]
    assert found == []


@pytest.mark.parametrize("package", ["ctx", "referee", "epochs", "protocols", "noxfile.py", "pyproject.toml", ".ci"])
def test_what_is_installed_names_no_absolute_path_of_a_person(package: str) -> None:
    """Examples of captured output live in tests and corpora; code and data name folders relative to something."""
    found = [
        f"{path}: {match[0].decode()}"
        for path in tracked(package)
        for match in ABSOLUTE.finditer((ROOT / path).read_bytes())
    ]
    assert found == []


def test_the_tree_is_what_these_tests_look_at() -> None:
    """A search over nothing would pass."""
    names = {str(path) for path in tracked(*OURS)}
    assert {"ctx/evidence.py", "referee/run.py", "pyproject.toml", "docs/architecture.md"} & names
    assert len(names) > 150
    assert ABSOLUTE.search(b'path = "/' + b'home/someone/project/file.py"')
