"""Wires the verbs of `referee`; bodies are imported when a verb runs."""

import os
import sys
import time
from collections.abc import Callable
from io import TextIOWrapper
from pathlib import Path
from typing import Annotated, cast

import typer

PROGRESS_SECONDS = 1.0

app = typer.Typer(
    name="referee",
    help="Judges digests by what readers do with them, into receipts that a gate can decide on.",
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
    add_completion=False,
    no_args_is_help=True,
)
corpus_app = typer.Typer(help="Check, freeze and count corpora.", no_args_is_help=True, rich_markup_mode=None)
arm_app = typer.Typer(help="Ways to deliver output.", no_args_is_help=True, rich_markup_mode=None)
reader_app = typer.Typer(help="Models of behaviour.", no_args_is_help=True, rich_markup_mode=None)
protocol_app = typer.Typer(help="What is fixed before a run.", no_args_is_help=True, rich_markup_mode=None)
app.add_typer(corpus_app, name="corpus")
app.add_typer(arm_app, name="arm")
app.add_typer(reader_app, name="reader")
app.add_typer(protocol_app, name="protocol")


def main() -> None:
    """Entry of the console script `referee`."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # A name that this terminal cannot write stops nothing.
    sys.exit(dispatch(sys.argv[1:]))


def dispatch(words: list[str]) -> int:
    """Run one command line; its exit status (S17.1)."""
    from referee.errors import RefereeError

    verb = " ".join(word for word in words[:2] if not word.startswith("-")) or "referee"
    verb = verb if words[:1] and words[0] in ("corpus", "arm", "reader", "protocol") else (words[:1] or [""])[0]
    # The framework exports its base classes through their children only.
    usage_error = cast("type[typer.BadParameter]", typer.BadParameter.__bases__[0])
    try:
        status = int(app(args=words, prog_name="referee", standalone_mode=False) or 0)
        sys.stdout.flush()
    except usage_error as error:
        message = " ".join(error.format_message().split())
        if not words or type(error).__name__ == "NoArgsIsHelpError":
            sys.stdout.write(error.format_message() + "\n")
        else:
            known = verb.rpartition(" ")[0] if message.startswith("No such command") else verb
            page = f"referee {known} --help".replace("  ", " ")
            sys.stderr.write(f"referee {verb}: {message.rstrip('.')}; see {page}\n")
        return 2
    except RefereeError as error:
        _debug()
        for line in str(error).splitlines():
            sys.stderr.write(f"referee {verb}: {line}\n")
        return error.exit_code
    except (BrokenPipeError, SystemExit) as error:
        # The framework ends the process itself where a pipe is closed.
        if isinstance(error, SystemExit) and not isinstance(error.__context__, BrokenPipeError):
            raise
        os.dup2(os.open(os.devnull, os.O_WRONLY), 1)
        return 141
    except (KeyboardInterrupt, typer.Abort) as error:
        if isinstance(error.__cause__, EOFError):  # The framework takes it for the end of a person's input.
            _debug()
            sys.stderr.write(f"referee {verb}: a file ended too early ({error.__cause__}); repair the installation\n")
            return 3
        return 130
    except OSError as error:
        _debug()
        where = f"{error.filename}: " if error.filename else ""
        sys.stderr.write(f"referee {verb}: {where}{error.strerror or error}\n")
        return 3
    except Exception as error:  # The outermost layer: what nobody foresaw is one line too (S17.2).
        _debug()
        said = " ".join(f"{type(error).__name__}: {error}".split())
        sys.stderr.write(f"referee {verb}: fault in the referee ({said}); set CTX_DEBUG=1 for where, and report it\n")
        return 3
    return status


def _debug() -> None:
    if os.environ.get("CTX_DEBUG") == "1":
        import traceback

        traceback.print_exc()


def _progress() -> "Callable[[int, int], None]":
    """Progress on stderr, to a terminal only, from the first second on."""
    if not sys.stderr.isatty():
        return lambda done, total: None
    started = time.monotonic()

    def show(done: int, total: int) -> None:
        if time.monotonic() - started >= PROGRESS_SECONDS:
            sys.stderr.write(f"\r{done} of {total} cases" + ("\n" if done == total else ""))
            sys.stderr.flush()

    return show


@app.command("run")
def run(
    corpus: Annotated[
        list[Path], typer.Option("--corpus", metavar="DIR", help="Corpus folder; may be given more than once.")
    ],
    out: Annotated[
        Path, typer.Option("--out", metavar="FILE", help="Where the receipt goes; its table and summary lie beside it.")
    ],
    arm: Annotated[
        list[str] | None, typer.Option("--arm", metavar="ARM", help="Baseline, then treatment, then others.")
    ] = None,
    reader: Annotated[list[str] | None, typer.Option("--reader", metavar="NAME", help="Only these readers.")] = None,
    protocol: Annotated[Path | None, typer.Option("--protocol", metavar="FILE", help="Protocol file.")] = None,
    case: Annotated[
        list[str] | None, typer.Option("--case", metavar="ID", help="Only these cases (exploratory).")
    ] = None,
    family: Annotated[
        list[str] | None, typer.Option("--family", metavar="NAME", help="Only these families (exploratory).")
    ] = None,
    require: Annotated[
        str | None, typer.Option("--require", metavar="promote", help="Status 1 at any other verdict.")
    ] = None,
    workers: Annotated[int | None, typer.Option("--workers", min=1, metavar="N", help="Processes.")] = None,
    json: Annotated[bool, typer.Option("--json", help="Print the receipt and nothing else.")] = False,
) -> int:
    """Judge arms on a corpus and write the receipt.

    Example: referee run --corpus corpora/core --arm head_tail --arm ctx --out /tmp/receipt/receipt.json

    Exit status: 0 receipt written; 1 a corpus that may not be judged on, or with --require promote any other
    verdict; 2 usage; 3 environment.
    """
    from referee.errors import UsageError
    from referee.execute import Request, execute, save
    from referee.receipts.statement import check_out, statement_bytes
    from referee.receipts.summary import terminal_text

    if require not in (None, "promote"):
        raise UsageError(f"--require {require}: write --require promote")
    check_out(out)
    receipt = execute(
        Request(
            corpora=tuple(corpus),
            protocol_file=protocol,
            arms=tuple(arm or ()),
            readers=tuple(reader or ()),
            cases=tuple(case or ()),
            families=tuple(family or ()),
            workers=workers,
        ),
        _progress(),
    )
    save(receipt, out)
    if json:
        sys.stdout.buffer.write(statement_bytes(receipt.statement))
    else:
        sys.stdout.write(terminal_text(receipt.statement))
    return 1 if require == "promote" and receipt.verdict != "promote" else 0


@app.command("gate")
def gate(
    receipt: Annotated[Path, typer.Argument(help="A receipt.json.")],
    json: Annotated[bool, typer.Option("--json", help="Print the decision and nothing else.")] = False,
) -> int:
    """Recompute a receipt's decision; status 0 only for a sound receipt whose verdict is promote.

    Example: referee gate receipts/core/0123456789ab/receipt.json

    Exit status: 0 promote; 1 any other verdict, or a receipt that does not hold.
    """
    from json import dumps

    from referee.receipts.summary import reason_text
    from referee.receipts.verify import check_receipt, load_receipt

    problems = check_receipt(receipt)
    decision = load_receipt(receipt)["predicate"]["reproducible"]["decision"]
    if json:
        sys.stdout.write(dumps({"decision": decision, "problems": problems}) + "\n")
    else:
        sys.stdout.write(f"verdict: {decision['verdict']}\n")
        for reason in decision["reasons"]:
            sys.stdout.write(f"  {reason_text(reason)}\n")
        for problem in problems:
            sys.stdout.write(f"  does not hold: {problem}\n")
    return 0 if decision["verdict"] == "promote" and not problems else 1


@app.command("verify")
def verify(
    receipt: Annotated[Path, typer.Argument(help="A receipt.json; its table lies beside it.")],
    rerun: Annotated[bool, typer.Option("--rerun", help="Run again and compare byte for byte.")] = False,
    protocol: Annotated[
        Path | None, typer.Option("--protocol", metavar="FILE", help="Protocol file, for --rerun.")
    ] = None,
    corpus: Annotated[
        list[Path] | None, typer.Option("--corpus", metavar="DIR", help="Corpus folders, for --rerun.")
    ] = None,
    foreign: Annotated[bool, typer.Option("--foreign", help="Made by another version: leave the tree out.")] = False,
) -> int:
    """Check a receipt: form, table, derived numbers, decision, and the sources it judged.

    Example: referee verify receipts/core/0123456789ab/receipt.json

    Exit status: 0 holds; 1 does not, each problem on stderr; 2 usage.
    """
    from referee.receipts.rerun import rerun_problems
    from referee.receipts.verify import check_receipt

    problems = check_receipt(receipt, tree=not foreign)
    if rerun and not problems:
        problems = rerun_problems(receipt, protocol=protocol, corpora=tuple(corpus or ()), progress=_progress())
    for problem in problems:
        sys.stderr.write(f"referee verify: {receipt}: {problem}\n")
    if not problems:
        sys.stdout.write(f"{receipt}: holds{', and a second run gives the same bytes' if rerun else ''}\n")
    return 1 if problems else 0


@corpus_app.command("verify")
def corpus_verify(
    folder: Annotated[Path, typer.Argument(help="A corpus folder.")],
    forbid: Annotated[
        list[str] | None, typer.Option("--forbid", metavar="WORD", help="A word that no file may hold.")
    ] = None,
    strict: Annotated[bool, typer.Option("--strict", help="Also the rules of the shipped corpus.")] = False,
) -> int:
    """Check that every case is well formed and every file is what the manifest says.

    Example: referee corpus verify corpora/core

    Exit status: 0 holds; 1 does not, each problem on stderr.
    """
    from referee.corpus.layout import load_corpus
    from referee.corpus.verify import verify_corpus

    problems = verify_corpus(folder, forbidden_words=tuple(forbid or ()), strict=strict)
    for problem in problems:
        sys.stderr.write(f"referee corpus verify: {problem}\n")
    if problems:
        return 1
    corpus = load_corpus(folder)
    sys.stdout.write(f"{corpus.name} version {corpus.version}: {len(corpus.cases)} cases hold\n")
    return 0


@corpus_app.command("freeze")
def corpus_freeze(
    folder: Annotated[Path, typer.Argument(help="A corpus folder.")],
    version: Annotated[str, typer.Option("--version", metavar="N", help="The version to write.")],
    name: Annotated[
        str | None, typer.Option("--name", metavar="NAME", help="Name of the corpus; default: the folder's.")
    ] = None,
) -> int:
    """Write the manifest of a corpus; a frozen version never changes.

    Example: referee corpus freeze my-cases --version 1

    Exit status: 0 written, or frozen already with these bytes; 1 refused, each problem on stderr.
    """
    from referee.corpus.freeze import freeze_corpus

    digest = freeze_corpus(folder, version, name=name)
    sys.stdout.write(f"{folder}: version {version}, manifest {digest}\n")
    return 0


@corpus_app.command("stats")
def corpus_stats(folder: Annotated[Path, typer.Argument(help="A corpus folder.")]) -> int:
    """Count cases by family, tool, origin and stratum.

    Example: referee corpus stats corpora/core

    Exit status: 0 counted; 1 no corpus.
    """
    from referee.corpus.layout import load_corpus
    from referee.corpus.stats import corpus_stats as count
    from referee.corpus.stats import render_stats

    sys.stdout.write(render_stats(count(load_corpus(folder))))
    return 0


@arm_app.command("list")
def arm_list() -> int:
    """The arms that can be named.

    Example: referee arm list
    """
    from referee.arms import ARMS

    for entry in ARMS:
        sys.stdout.write(f"{entry.name:13} {entry.about}\n")
    sys.stdout.write("FILE.toml     any command, described by an arm file\n")
    return 0


@reader_app.command("list")
def reader_list() -> int:
    """The scripted readers and their parameters.

    Example: referee reader list
    """
    from referee.readers.scripted import READERS

    for reader in READERS:
        actions = ", ".join(reader.actions) or "no action"
        sys.stdout.write(
            f"{reader.name:10} {actions}; reads {reader.read_tokens or 'all'}; trusts undeclared "
            f"{'yes' if reader.trust_undeclared else 'no'}, complete {'yes' if reader.trust_complete else 'no'}; "
            f"{reader.max_turns} turn{'s' if reader.max_turns > 1 else ''}\n"
        )
    return 0


@protocol_app.command("check")
def protocol_check(file: Annotated[Path, typer.Argument(help="A protocol file.")]) -> int:
    """Load a protocol, and say whether it is on record.

    Example: referee protocol check protocols/core.toml

    Exit status: 0 on record; 1 not committed as it is; 2 problems, each with its key.
    """
    from referee.protocol import load_protocol, registration_of

    protocol = load_protocol(file)
    found = registration_of(file)
    sys.stdout.write(f"{protocol.name}: digest {protocol.digest}\n")
    if not found.committed:
        sys.stdout.write("not committed as it is: a run under it is held (uncommitted_protocol)\n")
        return 1
    sys.stdout.write(f"first held by commit {found.first_commit}\n")
    return 0
