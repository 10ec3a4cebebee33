"""Which way imports point, what an import loads, and that every module stands on its own (STYLE, "The map")."""

import json
import subprocess
import sys
from collections.abc import Iterator

import pytest

import ctx
from tests.structure.source_tree import ROOT, imports, modules
from tests.structure.test_architecture import ROWS

DOWNWARDS = {
    ("ctx.store.store", "ctx.retrieval.get"): "the facade of the store answers `get`",
    ("ctx.store.store", "ctx.retrieval.search"): "the facade of the store answers `search`",
    ("ctx.digest.base", "ctx.digest.rows"): "a context prints its coverage by the rows that every digest has",
    ("referee.corpus.freeze", "referee.corpus.verify"): "what is frozen is verified first",
    ("referee.metrics.determinism", "referee.loop"): "repeats of a delivery are made by the loop",
}
"""The late imports that point down the map, each with its reason."""


def places() -> dict[str, int]:
    """Module -> its row in the map; an empty package file stands above everything."""
    by_path = {path: row for row, (path, _) in enumerate(ROWS)}
    return {name: by_path.get(str(path), -1) for name, path in modules().items()}


def downwards(*, late: bool) -> Iterator[tuple[str, str]]:
    place = places()
    for found in imports():
        if found.late is late and place[found.imported] >= place[found.importer]:
            yield found.importer, found.imported


def test_imports_at_the_top_of_a_file_point_up_the_map() -> None:
    assert list(downwards(late=False)) == []


def test_imports_inside_functions_point_up_the_map_but_for_those_with_a_reason() -> None:
    """Both ways: a reason without its import is a stale one."""
    assert set(downwards(late=True)) == set(DOWNWARDS)


def test_ctx_knows_nothing_of_the_referee() -> None:
    assert [
        found for found in imports() if found.importer.startswith("ctx") and found.imported.startswith("referee")
    ] == []


def test_the_referee_sees_of_ctx_what_its_package_exports() -> None:
    """No module of ctx is named in the referee, and every name it takes is a public one."""
    import ast

    from tests.structure.source_tree import tree

    inside = [f for f in imports() if f.importer.startswith("referee") and f.imported.startswith("ctx.")]
    assert inside == []
    taken = {
        node.attr
        for name in modules()
        if name.startswith("referee")
        for node in ast.walk(tree(name))
        if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id == "ctx"
    }
    assert taken
    assert taken <= {*ctx.__all__, "__file__", "__path__"}


def test_the_public_names_are_what_they_say() -> None:
    """`ctx.__all__`, the table of homes and the annotations for type checkers are one list."""
    assert list(ctx.__all__) == sorted(ctx.__all__)
    assert set(ctx._HOMES) == set(ctx.__all__)
    for name in ctx.__all__:
        assert getattr(ctx, name).__name__ == name
    with pytest.raises(AttributeError, match="module 'ctx' has no attribute 'nothing'"):
        _ = ctx.nothing  # type: ignore[attr-defined]


_ALONE = """
import importlib, json, sys
before = set(sys.modules)
failed = {}
for name in json.load(sys.stdin):
    for loaded in [m for m in sys.modules if m.partition(".")[0] in ("ctx", "referee")]:
        del sys.modules[loaded]
    try:
        importlib.import_module(name)
    except BaseException as error:
        failed[name] = f"{type(error).__name__}: {error}"
json.dump(failed, sys.stdout)
"""


def test_every_module_imports_alone() -> None:
    """Each with none of ours loaded before it, so that no module lives from the order of another's imports."""
    done = subprocess.run(
        [sys.executable, "-W", "error", "-c", _ALONE],
        input=json.dumps(sorted(modules())),
        capture_output=True,
        text=True,
        cwd=ROOT,
        timeout=120,
    )
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout) == {}


def loaded_by(code: str, *words: str) -> set[str]:
    """Modules that a fresh interpreter has after `code`; what it had before is not counted."""
    script = (
        f"import sys\nbefore = set(sys.modules)\n{code}\nprint(*sorted(set(sys.modules) - before), file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script, *words], capture_output=True, text=True, cwd=ROOT, timeout=60)
    assert done.returncode == 0, done.stderr
    return set(done.stderr.split())


HEAVY = {
    "typer", "click", "rich", "sqlite3", "polars", "pandas", "scipy", "numpy", "tiktoken", "re2", "tree_sitter",
    "toktok", "msgspec", "rfc8785", "importlib.metadata", "asyncio", "http", "urllib.request", "ssl", "multiprocessing",
    "concurrent.futures", "xml", "email", "difflib", "unittest",
}  # fmt: skip


def test_a_bare_import_of_ctx_loads_nothing_but_itself() -> None:
    """The public names are loaded when they are asked for."""
    loaded = loaded_by("import ctx")
    assert {name for name in loaded if name.startswith("ctx")} == {"ctx"}
    assert not HEAVY & loaded
    assert len(loaded - loaded_by("import typing")) == 1, "beside `typing` and what that needs, nothing"


def test_a_bare_import_of_the_referee_is_light_too() -> None:
    loaded = loaded_by("import referee")
    assert not HEAVY & loaded


RUN_MODULES = {
    "ctx.addresses": "no address is parsed",
    "ctx.digest.evidence_render": "a small output is passed on whole",
    "ctx.digest.measure": "a small output is passed on whole",
    "ctx.digest.rows": "a small output is passed on whole",
    "ctx.retrieval": "nothing is read back",
    "ctx.store.catalog": "a writer needs no index",
    "ctx.cli.verbs": "run has a way of its own",
    "ctx.cli.ingest": "run has a way of its own",
    "ctx.cli.get": "run has a way of its own",
    "ctx.safety.confine": "no file of the workspace is served",
}
"""What `ctx run` of a quiet command does not load, and why: its start is a budget."""


def test_a_run_of_a_quiet_command_loads_what_it_needs(tmp_path_factory: pytest.TempPathFactory) -> None:
    """`ctx run -- true`, in a process of its own: no framework, no database, no tokenizer, no renderer of evidence."""
    store = tmp_path_factory.mktemp("store")
    code = (
        "import os\nos.environ['CTX_STORE'] = sys.argv[1]\nfrom ctx.cli.app import dispatch\n"
        "assert dispatch(['run', '--digest', '--', 'true']) == 0"
    )
    loaded = loaded_by(code, str(store))
    assert not (HEAVY - {"rfc8785"}) & loaded
    assert not set(RUN_MODULES) & loaded
    assert {name for name in loaded if name.startswith("referee")} == set()
    ours = {name for name in loaded if name.partition(".")[0] == "ctx"}
    assert len(ours) <= 50, sorted(ours)
    assert "ctx.cli.run" in ours


def test_the_published_list_of_what_a_run_leaves_out_names_real_modules() -> None:
    assert set(RUN_MODULES) <= set(modules())
