"""Law: a digest follows from the captured bytes and nothing else (S7.1, S17.5).

`ctx ingest --json` is run as users run it, in processes that differ in everything a process inherits.
"""

import os
import subprocess
import sys
from pathlib import Path

import pytest

from tests.laws.corpus import VARIED, Captured, captured

CTX = Path(sys.executable).parent / "ctx"
PLAIN = {"LC_ALL": "C", "TZ": "UTC", "PYTHONHASHSEED": "0", "COLUMNS": "80"}
CHANGES = {
    "PYTHONHASHSEED": "4242",
    "LC_ALL": "C.UTF-8",
    "TZ": "Pacific/Chatham",
    "COLUMNS": "23",
    "LINES": "5",
    "HOME": "/nonexistent/elsewhere",
    "TERM": "xterm-256color",
    "NO_COLOR": "1",
    "FORCE_COLOR": "1",
    "CI": "true",
    "PYTEST_ADDOPTS": "-v",
    "PYTHONUTF8": "1",
}
"""All of them change at once for every case, and each alone for one case."""


def document(case: Captured, store: Path, *, cwd: Path, umask: int = 0o022, **changes: str) -> bytes:
    """The whole standard output of `ctx ingest --json` of a case, in a process with this environment."""
    words = [
        str(CTX),
        "ingest",
        "--stdout",
        str(case.folder / "stdout.txt"),
        "--stderr",
        str(case.folder / "stderr.txt"),
    ]
    if case.exit_code is not None:
        words += ["--exit-code", str(case.exit_code)]
    done = subprocess.run(
        [*words, "--store", str(store), "--json", "--", *case.argv],
        capture_output=True,
        cwd=cwd,
        env={"PATH": os.environ["PATH"], "HOME": str(cwd), "TMPDIR": str(cwd), **PLAIN, **changes},
        umask=umask,
        timeout=60,
    )
    assert done.returncode == 0, done.stderr
    assert done.stderr == b""
    return done.stdout


@pytest.mark.parametrize("name", VARIED)
def test_one_capture_has_one_document_in_every_environment(name: str, tmp_path: Path) -> None:
    """Hash seed, locale, zone, width, home, temporary folder, working folder, umask and store: byte for byte equal."""
    case = captured(name)
    here, there = tmp_path / "here", tmp_path / "some other place"
    here.mkdir()
    there.mkdir()
    (tmp_path / "tmp").mkdir()
    first = document(case, tmp_path / "first", cwd=here)
    second = document(case, tmp_path / "second", cwd=there, umask=0o077, TMPDIR=str(tmp_path / "tmp"), **CHANGES)
    assert first.startswith(b'{"handle": "')
    assert second == first


@pytest.mark.parametrize("variable", sorted(CHANGES))
def test_no_single_variable_changes_a_document(variable: str, tmp_path: Path) -> None:
    """A change that another one hides is found when it stands alone."""
    case = captured("pytest/samename-xdist")
    plain = document(case, tmp_path / "store", cwd=tmp_path)
    assert document(case, tmp_path / "store", cwd=tmp_path, **{variable: CHANGES[variable]}) == plain
