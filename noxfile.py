"""Sessions of the project; `pipx run nox -s receipts` in a fresh clone runs what CI runs.

Every session makes its own environment and installs what it needs.
"""

import nox

nox.options.default_venv_backend = "uv|virtualenv"
nox.options.sessions = ["lint", "types", "tests"]
nox.options.error_on_external_run = True

PROTOCOL = "protocols/core.toml"
CORPUS = "corpora/core"


@nox.session
def tests(session: nox.Session) -> None:
    """The test suite; further arguments go to pytest."""
    session.install("-e", ".[dev]")
    session.run("pytest", "-n", "2", *session.posargs)


@nox.session
def receipts(session: nox.Session) -> None:
    """Judge ctx on the shipped corpus; receipt, table and summary under receipts/; red unless promoted."""
    session.install("-e", ".")
    session.run("referee", "corpus", "verify", CORPUS)
    session.run(
        "python", "-m", "referee.receipts.publish_run", "--protocol", PROTOCOL, "--corpus", CORPUS, *session.posargs
    )
    session.run("python", "docs/generate.py")  # the README shows the table of the newest receipt


@nox.session
def lint(session: nox.Session) -> None:
    """Style, and the direction of imports."""
    session.install("ruff>=0.14", "import-linter>=2.5", "-e", ".")
    session.run("ruff", "check", ".")
    session.run("ruff", "format", "--check", ".")
    session.run("lint-imports")


@nox.session
def types(session: nox.Session) -> None:
    """Strict types."""
    session.install("-e", ".[dev]")
    session.run("mypy")


@nox.session
def bench(session: nox.Session) -> None:
    """Ratios against sha256sum and a bare interpreter, measured in one run; arguments choose parts."""
    session.install("-e", ".")
    session.run("python", "-m", "tests.bench", *session.posargs)


@nox.session
def docs(session: nox.Session) -> None:
    """Write docs/cli.md and the README's table, then run every command of the documents; `-- --check` only compares."""
    session.install("-e", ".[dev]")
    session.run("python", "docs/generate.py", *session.posargs)
    session.run("pytest", "tests/docs")
