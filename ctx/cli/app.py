"""The command line of ctx: wires verbs, each of which imports what it alone needs.

`ctx run` stands in front of every command of an agent, so it takes a path of its own that loads no command framework.
"""

import sys


def main() -> None:
    """Entry of the console script `ctx`."""
    sys.exit(dispatch(sys.argv[1:]))


def dispatch(words: list[str]) -> int:
    """Run one command line; its exit status."""
    if words[:1] == ["run"]:
        from ctx.cli.run import main as run

        return run(words[1:])
    from ctx.cli.edge import guarded

    verb = next((word for word in words if not word.startswith("-")), "")
    return guarded(verb or "ctx", lambda: _typer(words))


def _typer(words: list[str]) -> int:
    import click

    from ctx.cli.verbs import build_app
    from ctx.errors import UsageError

    command = build_app()
    try:
        status = command.main(args=words, prog_name="ctx", standalone_mode=False)
    except click.exceptions.NoArgsIsHelpError as error:
        sys.stdout.write(error.format_message() + "\n")
        return 2
    except click.exceptions.Exit as error:
        return error.exit_code
    except click.exceptions.Abort:
        return 130
    except click.ClickException as error:
        raise UsageError(f"{error.format_message().rstrip('.')}; see ctx {words[0] if words else ''} --help") from None
    return int(status or 0)
