"""The verbs but `run`, with their options and help; bodies are imported when a verb runs."""

from typing import Annotated

import typer

StoreOption = Annotated[
    str | None, typer.Option("--store", metavar="DIR", help="Where captures are kept; default: $CTX_STORE.")
]
JsonOption = Annotated[bool, typer.Option("--json", help="Print one JSON document and nothing else.")]
CaptureOption = Annotated[
    int, typer.Option("--capture", min=1, metavar="N", help="The N-th newest capture of the handle.")
]
BudgetOption = Annotated[
    int | None, typer.Option("--budget", min=1, metavar="TOK", help="Lower the reply budget, in tok.")
]

_INCOMPLETE = "Bytes are missing: declared, output_limit, reader_closed, spool_write_error, timeout or killed."


def build_app() -> typer.Typer:
    """The command group."""
    app = typer.Typer(
        name="ctx",
        help="Digests of command output in which every omission is declared and every byte has an address.",
        rich_markup_mode=None,
        pretty_exceptions_enable=False,
        add_completion=False,
        no_args_is_help=True,
        context_settings={"help_option_names": ["--help", "-h"]},
    )
    app.command("run", context_settings={"ignore_unknown_options": True, "allow_extra_args": True})(_run)
    app.command("ingest")(_ingest)
    app.command("get")(_get)
    app.command("search")(_search)
    app.command("stats")(_stats)
    app.command("explain")(_explain)
    return app


def _run(context: typer.Context) -> int:
    """Run a command, keep every byte, print the digest.

    Example: ctx run -- pytest -q
    """
    from ctx.cli.run import main

    return main(context.args)


def _ingest(
    words: Annotated[list[str] | None, typer.Argument(metavar="[-- COMMAND...]", help="The command.")] = None,
    stdout: Annotated[
        str | None, typer.Option("--stdout", metavar="FILE", help="Standard output; - reads stdin.")
    ] = None,
    stderr: Annotated[
        str | None, typer.Option("--stderr", metavar="FILE", help="Standard error; - reads stdin.")
    ] = None,
    exit_code: Annotated[
        int | None, typer.Option("--exit-code", metavar="N", help="Exit status; unknown if not given.")
    ] = None,
    signal: Annotated[
        int | None, typer.Option("--signal", min=1, metavar="N", help="The signal that ended it.")
    ] = None,
    argv_json: Annotated[
        str | None, typer.Option("--argv-json", metavar="JSON", help="The command as a JSON list.")
    ] = None,
    incomplete: Annotated[str | None, typer.Option("--incomplete", metavar="WORD", help=_INCOMPLETE)] = None,
    graph: Annotated[
        str | None, typer.Option("--graph", metavar="FILE", help="Write the canonical graph to this file.")
    ] = None,
    focus: Annotated[
        list[str] | None, typer.Option("--focus", metavar="WORD", help="Order details by this word.")
    ] = None,
    epoch: Annotated[
        str | None, typer.Option("--epoch", metavar="ID", help="Policy table: an id, or a .toml file.")
    ] = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> int:
    """Keep and digest bytes that something else captured.

    Example: ctx ingest --argv-json '["pytest","-q"]' --exit-code 1 --stdout out.txt --json

    Exit status: 0 digested; 1 digested, but not stored; 2 usage; 3 environment.
    """
    from ctx.cli.ingest import ingest

    return ingest(
        stdout=stdout,
        stderr=stderr,
        exit_code=exit_code,
        signal=signal,
        argv_json=argv_json,
        words=words or [],
        incomplete=incomplete,
        store=store,
        json=json,
        graph=graph,
        focus=focus or [],
        epoch=epoch,
    )


def _get(
    address: Annotated[str, typer.Argument(metavar="ADDRESS", help="run:…, blob:… or repo:…")],
    lines: Annotated[
        str | None, typer.Option("--lines", metavar="A:B", help="Lines A to B, from 1, both included.")
    ] = None,
    span: Annotated[
        str | None, typer.Option("--span", metavar="TOKEN", help="A region by the token that a digest prints.")
    ] = None,
    match: Annotated[
        str | None, typer.Option("--match", metavar="REGEX", help="Lines that a linear-time pattern matches.")
    ] = None,
    bytes_: Annotated[
        str | None, typer.Option("--bytes", metavar="A:B", help="Bytes A to B, from 0, B excluded.")
    ] = None,
    symbol: Annotated[str | None, typer.Option("--symbol", metavar="NAME", help="A symbol by name.")] = None,
    context: Annotated[int, typer.Option("--context", min=0, metavar="N", help="Widen by so many lines.")] = 0,
    capture: CaptureOption = 1,
    budget: BudgetOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> int:
    """Print the text behind an address.

    Example: ctx get run:0123456789ab#stdout --lines 3:9

    Exit status: 0 shown, an empty region too; 1 expired, unknown or refused; 2 malformed address; 3 environment.
    """
    from ctx.cli.get import get

    selectors = (("--lines", lines), ("--span", span), ("--match", match), ("--bytes", bytes_), ("--symbol", symbol))
    return get(
        address=address, selectors=selectors, context=context, capture=capture, budget=budget, store=store, json=json
    )


def _search(
    target: Annotated[str, typer.Argument(metavar="TARGET", help="A run, one of its streams, or a blob.")],
    pattern: Annotated[str, typer.Argument(metavar="PATTERN", help="A linear-time pattern, or plain text.")],
    fixed: Annotated[bool, typer.Option("--fixed-strings", "--fixed", "-F", help="PATTERN is plain text.")] = False,
    ignore_case: Annotated[bool, typer.Option("--ignore-case", "-i", help="Letter case does not count.")] = False,
    capture: CaptureOption = 1,
    budget: BudgetOption = None,
    store: StoreOption = None,
    json: JsonOption = False,
) -> int:
    """Find text in a run: all hits counted, the first ones shown with their addresses; status 1 without a hit.

    Example: ctx search run:0123456789ab 'TimeoutError' --fixed-strings

    Exit status: 0 hits; 1 no hit, or no such run; 2 usage; 3 environment.
    """
    from ctx.cli.search import search

    return search(
        target=target,
        pattern=pattern,
        fixed=fixed,
        ignore_case=ignore_case,
        capture=capture,
        budget=budget,
        store=store,
        json=json,
    )


def _stats(
    target: Annotated[str | None, typer.Argument(metavar="[TARGET]", help="A run; default: the whole store.")] = None,
    running: Annotated[
        bool, typer.Option("--running", help="Captures of this workspace whose commands still run.")
    ] = False,
    capture: CaptureOption = 1,
    store: StoreOption = None,
    json: JsonOption = False,
) -> int:
    """Sizes of a run, or sums over the store, without reading captured bytes.

    Example: ctx stats run:last

    Exit status: 0 shown; 1 no such run; 2 usage; 3 environment.
    """
    from ctx.cli.stats import stats

    return stats(target=target, running=running, capture=capture, store=store, json=json)


def _explain(
    target: Annotated[str, typer.Argument(metavar="RUN", help="A run.")],
    capture: CaptureOption = 1,
    store: StoreOption = None,
    json: JsonOption = False,
) -> int:
    """Why a digest is what it is: who recognised it, the plan and its reasons, sizes, the receipt.

    Example: ctx explain run:last

    Exit status: 0 shown; 1 no such run; 2 usage; 3 environment.
    """
    from ctx.cli.stats import explain

    return explain(target=target, capture=capture, store=store, json=json)
