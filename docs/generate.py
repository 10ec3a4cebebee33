"""Writes docs/cli.md from the commands themselves, and the receipt's table in README.md; ``--check`` only compares.

``ctx run`` parses its own options so that it starts fast; its part is its own help text. Everything else comes from
the parameters of the command framework, not from its help pages, which every version of it words otherwise.
"""

import argparse
import difflib
import json
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import typer

from ctx.cli.run import HELP as RUN_HELP
from ctx.cli.verbs import build_app
from referee.cli.app import app as referee_app
from referee.receipts.summary import terminal_text

ROOT = Path(__file__).resolve().parents[1]
INTRODUCTION = """# Commands

Written by `docs/generate.py` from the commands themselves; `nox -s docs` writes it again.

Exit statuses have one meaning everywhere but in `ctx run`, which ends with the status of the command it ran: 0 fine,
1 the checked thing failed, 2 the command line or a document is malformed, 3 the store or the machine cannot do it;
130 after an interrupt, 141 where the reader of a pipe has left. Errors are one or two lines on stderr: what, where,
what to do. `CTX_DEBUG=1` adds the traceback.

Environment: `CTX_STORE` where captures are kept (default: the state folder of the user), `CTX_EPOCH` the policy table,
`CTX_DELIVERY` `raw` or `digest` for `ctx run`, `CTX_SESSION` an id that captures are noted under.
"""
LISTED = 3
BEGIN, END = "<!-- receipt -->", "<!-- end of receipt -->"


def command_pages() -> str:
    """The text of docs/cli.md."""
    lines = [INTRODUCTION, "## ctx run", "", "```text", RUN_HELP.rstrip(), "```", ""]
    for name, app in (("ctx", build_app()), ("referee", referee_app)):
        for words, command in _leaves(name, typer.main.get_command(app)):
            if words != "ctx run":
                lines += [*_page(words, command), ""]
    return "\n".join(lines).rstrip() + "\n"


def _leaves(words: str, command: Any) -> Iterator[tuple[str, Any]]:
    """Every command below `command` with the words that call it, in the order of the help."""
    children = getattr(command, "commands", None)
    if children is None:
        yield words, command
        return
    for name, child in children.items():
        yield from _leaves(f"{words} {name}", child)


def _page(words: str, command: Any) -> list[str]:
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    usage = " ".join([words, *(["[OPTIONS]"] if options else []), *map(_argument, arguments)])
    lines = [f"## {words}", "", f"`{usage}`", ""]
    for paragraph in (command.help or "").split("\n\n"):
        text = " ".join(paragraph.split())
        example = text.removeprefix("Example: ")
        lines += [f"Example: `{example}`" if example != text else text, ""]
    rows = [(_argument(p), p.help or "") for p in arguments]
    rows += [(_option(p), _said(p)) for p in options if "--help" not in p.opts]
    if rows:
        lines += ["| | |", "| --- | --- |"]
        lines += [f"| `{name}` | {text} |" for name, text in rows]
    return lines if rows else lines[:-1]


def _argument(parameter: Any) -> str:
    return str(parameter.metavar or parameter.name.upper())


def _option(parameter: Any) -> str:
    names = ", ".join(parameter.opts)
    return names if parameter.is_flag else f"{names} {_value(parameter)}"


def _value(parameter: Any) -> str:
    if parameter.metavar:
        return str(parameter.metavar)
    kind = type(parameter.type).__name__.lower()
    return "N" if "int" in kind else "PATH" if "path" in kind else "TEXT"


def _said(parameter: Any) -> str:
    notes = []
    if parameter.required:
        notes.append("required")
    if parameter.multiple and "more than once" not in (parameter.help or ""):
        notes.append("may be given more than once")
    if parameter.default not in (None, False, (), []) and not parameter.required:
        notes.append(f"default {parameter.default}")
    text = str(parameter.help or "")
    return f"{text.removesuffix('.')} ({'; '.join(notes)})." if notes else text


def newest_receipt() -> Path | None:
    """The committed receipt of the protocol `core` that was made last."""
    found = (ROOT / "receipts" / "core").glob("*/receipt.json")
    return max(
        found, key=lambda path: (_statement(path)["predicate"]["observed"]["started_at"], str(path)), default=None
    )


def _statement(path: Path) -> dict[str, Any]:
    document: dict[str, Any] = json.loads(path.read_bytes())
    return document


def receipt_excerpt(path: Path) -> str:
    """What `nox -s receipts` printed of a receipt: long lists after three entries and the families' tables cut."""
    text = terminal_text(_statement(path)).rstrip().split("\n")
    first_table = next(n for n, line in enumerate(text) if re.fullmatch(r"[a-z]+: [0-9,]+ cases?", line))
    overall = next(n for n, line in enumerate(text) if line.startswith("overall: "))
    kept: list[str] = []
    entries = 0
    for line in text[:first_table]:
        entries = entries + 1 if line.startswith("  ") else 0
        if entries <= LISTED:
            kept.append(line.rstrip())
        elif entries == LISTED + 1:
            kept.append("  ...")
    return "\n".join([*kept, "...", "", *(line.rstrip() for line in text[overall:])])


def readme_with(path: Path, readme: str) -> str:
    """`readme` with the excerpt of the receipt at `path` between its marks."""
    before, _, rest = readme.partition(BEGIN)
    _, _, after = rest.partition(END)
    name = path.parent.name
    said = f"From the receipt [`{name}`](receipts/core/{name}/summary.md):"
    return f"{before}{BEGIN}\n{said}\n\n```text\n{receipt_excerpt(path)}\n```\n{END}{after}"


def main() -> int:
    """Write the pages, or with `--check` say what differs."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--check", action="store_true", help="write nothing; status 1 where a page is out of date")
    check = parser.parse_args().check
    pages = {ROOT / "docs" / "cli.md": command_pages()}
    receipt = newest_receipt()
    readme = ROOT / "README.md"
    if receipt is not None:
        pages[readme] = readme_with(receipt, readme.read_text(encoding="utf-8"))
    stale = 0
    for path, text in pages.items():
        old = path.read_text(encoding="utf-8") if path.exists() else ""
        if old == text:
            continue
        stale += 1
        if not check:
            path.write_text(text, encoding="utf-8")
            sys.stdout.write(f"{path.relative_to(ROOT)}: written\n")
            continue
        name = str(path.relative_to(ROOT))
        sys.stderr.writelines(
            f"{line}\n" for line in difflib.unified_diff(old.split("\n"), text.split("\n"), name, "now", lineterm="")
        )
        sys.stderr.write(f"{name}: out of date; run nox -s docs\n")
    return 1 if check and stale else 0


if __name__ == "__main__":
    sys.exit(main())
