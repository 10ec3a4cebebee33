"""A seeded mutator: plants defects in a package's tests or in its sources, the same ones on every machine.

Edits are made by syntax-tree position in the text of the file, from the last to the first, so that all the rest stays
byte for byte as the package's authors wrote it.
"""

import ast
import random
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

OPPOSITE = {
    "assertEqual": "assertNotEqual",
    "assertTrue": "assertFalse",
    "assertFalse": "assertTrue",
    "assertIn": "assertNotIn",
    "assertIs": "assertIsNot",
    "assertIsNone": "assertIsNotNone",
}
BROKEN_STATEMENTS = (
    'int("12 apples")',
    '{"colour": "green"}["color"]',
    "[1, 2, 3][7]",
    "None.strip()",
    'open("fixtures/missing.cfg")',
    "1 // 0",
    'raise RuntimeError("backend did not answer: code 503")',
)
"""Statements that raise in different classes; one in four planted failures is one of them."""


@dataclass(frozen=True, slots=True)
class Edit:
    """Replace the text from `start` to `end` (character offsets, half-open) by `text`."""

    start: int
    end: int
    text: str


class _Source:
    """A module's text with syntax-tree positions as character offsets."""

    def __init__(self, path: Path) -> None:
        self.text = path.read_text(encoding="utf-8")
        self.tree = ast.parse(self.text)
        self.starts = [0]
        for line in self.text.splitlines(keepends=True):
            self.starts.append(self.starts[-1] + len(line))
        self.lines = self.text.splitlines()

    def at(self, line: int, column_bytes: int) -> int:
        column = len(self.lines[line - 1].encode()[:column_bytes].decode())
        return self.starts[line - 1] + column

    def start(self, node: ast.expr | ast.stmt) -> int:
        return self.at(node.lineno, node.col_offset)

    def end(self, node: ast.expr | ast.stmt) -> int:
        assert node.end_lineno is not None
        assert node.end_col_offset is not None
        return self.at(node.end_lineno, node.end_col_offset)


def plant_in_tests(folder: Path, tests: str, *, seed: int, number: int, parametrised: bool = False) -> int:
    """Break `number` test functions below `folder/tests`; the number that were broken.

    Args:
        parametrised: Also break parametrised tests, each of which gives several failures.
    """
    root = folder / tests
    files = (
        [root]
        if root.is_file()
        else sorted(p for p in root.rglob("*.py") if p.name.startswith("test_") or "_test" in p.name)
    )
    sources = {path: _Source(path) for path in files}
    places = [
        (path, edit_maker)
        for path, source in sources.items()
        for edit_maker in _breakable(source, parametrised=parametrised)
    ]
    draw = random.Random(seed)
    chosen = draw.sample(range(len(places)), min(number, len(places)))
    edits: dict[Path, list[Edit]] = {}
    for index in chosen:
        path, (_function, statement) = places[index]
        edits.setdefault(path, []).append(_broken(sources[path], statement, draw))
    for path, found in edits.items():
        _apply(path, sources[path].text, found)
    return len(chosen)


def _breakable(source: _Source, *, parametrised: bool) -> Iterator[tuple[ast.FunctionDef, ast.stmt]]:
    """Test functions with an assertion among their own statements, with that assertion."""
    for node in ast.walk(source.tree):
        if not isinstance(node, ast.FunctionDef) or not node.name.startswith("test"):
            continue
        if node.decorator_list and not parametrised:
            continue
        for statement in node.body:
            if _negatable(source, statement) is not None:
                yield node, statement
                break


def _negatable(source: _Source, statement: ast.stmt) -> Edit | None:
    if isinstance(statement, ast.Assert):
        test = statement.test
        if isinstance(test, ast.Compare) and len(test.ops) == 1 and isinstance(test.ops[0], ast.Eq):
            start, end = source.end(test.left), source.start(test.comparators[0])
            between = source.text[start:end]
            if between.count("==") == 1:
                return Edit(start, end, between.replace("==", "!="))
        return Edit(source.start(test), source.end(test), f"not ({source.text[source.start(test) : source.end(test)]})")
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Call):
        called = statement.value.func
        if isinstance(called, ast.Attribute) and called.attr in OPPOSITE:
            end = source.end(called)
            return Edit(end - len(called.attr), end, OPPOSITE[called.attr])
        if isinstance(called, ast.Name) and called.id.startswith("assert") and statement.value.args:
            at, first = source.start(statement), statement.value.args[0]
            shown = source.text[source.start(first) : source.end(first)]
            return Edit(at, at, f"assert not {shown}\n{' ' * statement.col_offset}")
    return None


def _broken(source: _Source, statement: ast.stmt, draw: random.Random) -> Edit:
    edit = _negatable(source, statement)
    assert edit is not None
    if draw.random() < 0.25:
        at = source.start(statement)
        indent = " " * statement.col_offset
        return Edit(at, at, f"{draw.choice(BROKEN_STATEMENTS)}\n{indent}")
    return edit


def plant_in_sources(folder: Path, sources: str, *, seed: int, number: int) -> int:
    """Break `number` places in functions of the modules `folder/sources`; the number that were broken.

    The kinds: a comparison turned round, `+` for `-`, a returned value lost, a truth value turned round.
    """
    root = folder / sources
    files = [root] if root.is_file() else sorted(p for p in root.rglob("*.py") if "test" not in p.name)
    parsed = {path: _Source(path) for path in files}
    places = [(path, edit) for path, source in parsed.items() for edit in _source_edits(source)]
    chosen = random.Random(seed).sample(range(len(places)), min(number, len(places)))
    edits: dict[Path, list[Edit]] = {}
    for index in chosen:
        path, edit = places[index]
        edits.setdefault(path, []).append(edit)
    for path, found in edits.items():
        _apply(path, parsed[path].text, found)
    return len(chosen)


def _source_edits(source: _Source) -> Iterator[Edit]:
    functions = [n for n in ast.walk(source.tree) if isinstance(n, ast.FunctionDef)]
    for function in functions:
        for node in ast.walk(function):
            if isinstance(node, ast.Compare) and len(node.ops) == 1 and isinstance(node.ops[0], ast.Eq | ast.Lt):
                start, end = source.end(node.left), source.start(node.comparators[0])
                between = source.text[start:end]
                if between.strip() in ("==", "<"):
                    yield Edit(start, end, between.replace("==", "!=").replace("<", ">="))
            elif isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
                start, end = source.end(node.left), source.start(node.right)
                if source.text[start:end].strip() == "+":
                    yield Edit(start, end, source.text[start:end].replace("+", "-"))
            elif isinstance(node, ast.Return) and node.value is not None and node.lineno == node.end_lineno:
                yield Edit(source.start(node), source.end(node), "return None")


def _apply(path: Path, text: str, edits: list[Edit], *, check: bool = True) -> None:
    last = len(text) + 1
    for edit in sorted(edits, key=lambda e: (-e.start, -e.end)):
        if edit.end <= last:
            text = text[: edit.start] + edit.text + text[edit.end :]
            last = edit.start
    if check:
        ast.parse(text)
    path.write_text(text, encoding="utf-8")


LINT_STATEMENTS = {
    "name": ("total = undefined_rate_{n} * 2", "print(missing_table_{n}[0])", "return undefined_reply_{n}"),
    "type": ('count_{n}: int = "{n} apples"', "names_{n}: list[str] = [{n}]", "sum([{n}]).upper()", "len({n})"),
    "syntax": ("if total_{n} = {n}:",),
}
"""Statements that a linter objects to, put at the beginning of a function; `{n}` is the number of the plant."""


def plant_lint(folder: Path, where: str, *, kind: str, seed: int, number: int) -> int:
    """Put `number` statements of `kind` at the beginning of functions below `folder/where`; how many were put."""
    files = sorted(p for p in (folder / where).rglob("*.py") if "test" not in p.as_posix())
    sources = {path: _Source(path) for path in files}
    places = [
        (path, _first_statement(node))
        for path, source in sources.items()
        for node in ast.walk(source.tree)
        if isinstance(node, ast.FunctionDef) and _opens_its_line(source, _first_statement(node))
    ]
    draw = random.Random(seed)
    edits: dict[Path, list[Edit]] = {}
    chosen = draw.sample(range(len(places)), min(number, len(places)))
    for n, index in enumerate(sorted(chosen), 1):
        path, statement = places[index]
        at = sources[path].start(statement)
        text = draw.choice(LINT_STATEMENTS[kind]).format(n=n)
        edits.setdefault(path, []).append(Edit(at, at, f"{text}\n{' ' * statement.col_offset}"))
    for path, found in edits.items():
        _apply(path, sources[path].text, found, check=kind != "syntax")
    return len(chosen)


def _opens_its_line(source: _Source, statement: ast.stmt) -> bool:
    return not source.lines[statement.lineno - 1].encode()[: statement.col_offset].strip()


def _first_statement(function: ast.FunctionDef) -> ast.stmt:
    """The first statement after the docstring."""
    first = function.body[0]
    is_docstring = isinstance(first, ast.Expr) and isinstance(first.value, ast.Constant)
    return function.body[1] if is_docstring and len(function.body) > 1 else first
