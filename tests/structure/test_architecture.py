"""The map in docs/architecture.md is true both ways (STYLE, "The map")."""

import re

from tests.structure.source_tree import ROOT, modules, says_nothing

MAP = (ROOT / "docs" / "architecture.md").read_text(encoding="utf-8")
ROWS = re.findall(r"^\| `((?:ctx|referee)/[^`]+)` \| (.+) \|$", MAP, re.MULTILINE)


def test_every_module_of_the_map_exists() -> None:
    assert [path for path, _ in ROWS if not (ROOT / path).is_file()] == []


def test_every_module_that_exists_is_in_the_map_once() -> None:
    """Package files that hold a docstring at most are no modules of their own."""
    real = {str(path) for name, path in modules().items() if not says_nothing(name)}
    named = [path for path, _ in ROWS]
    assert sorted(named) == sorted(real)


def test_every_row_says_what_its_module_is_for() -> None:
    assert all(len(job.split()) >= 3 for _, job in ROWS), [row for row in ROWS if len(row[1].split()) < 3]


def test_every_other_file_the_map_names_exists() -> None:
    named = re.findall(r"`((?:docs|tests|epochs|protocols)/[\w./-]+)`", MAP)
    assert named
    assert [path for path in named if not (ROOT / path).exists()] == []
