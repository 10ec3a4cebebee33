"""Our own modules and what they import, read from the source without running it."""

import ast
from dataclasses import dataclass
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[2]
PACKAGES = ("ctx", "referee")


@dataclass(frozen=True, slots=True)
class Import:
    """One import of a module of ours: who, what, and whether it stands inside a function."""

    importer: str
    imported: str
    late: bool
    line: int


@cache
def modules() -> dict[str, Path]:
    """Dotted name -> file, relative to the root; packages under their own name."""
    found = {}
    for package in PACKAGES:
        for path in sorted((ROOT / package).rglob("*.py")):
            relative = path.relative_to(ROOT)
            parts = relative.with_suffix("").parts
            found[".".join(parts[:-1] if parts[-1] == "__init__" else parts)] = relative
    return found


def tree(name: str) -> ast.Module:
    return ast.parse((ROOT / modules()[name]).read_text(encoding="utf-8"))


def says_nothing(name: str) -> bool:
    """A package file that holds at most its docstring."""
    return modules()[name].name == "__init__.py" and len(tree(name).body) <= 1


@cache
def imports() -> tuple[Import, ...]:
    """Every import of a module of ours by another; those for type checking alone are none."""
    found: list[Import] = []
    for name in modules():
        _collect(name, tree(name), False, found)
    return tuple(found)


def _collect(name: str, node: ast.AST, late: bool, found: list[Import]) -> None:
    for child in ast.iter_child_nodes(node):
        if isinstance(child, ast.If) and "TYPE_CHECKING" in ast.unparse(child.test):
            continue
        if isinstance(child, ast.ImportFrom):
            assert child.level == 0, f"{name}:{child.lineno}: imports are absolute"
            for alias in child.names:
                full = f"{child.module}.{alias.name}"
                _add(name, full if full in modules() else str(child.module), late, child.lineno, found)
        elif isinstance(child, ast.Import):
            for alias in child.names:
                _add(name, alias.name, late, child.lineno, found)
        _collect(name, child, late or isinstance(child, ast.FunctionDef | ast.AsyncFunctionDef | ast.Lambda), found)


def _add(name: str, imported: str, late: bool, line: int, found: list[Import]) -> None:
    if imported in modules() and imported != name:
        found.append(Import(name, imported, late, line))
