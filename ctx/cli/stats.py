"""`ctx stats` and `ctx explain`."""

from ctx.cli.edge import write_json, write_text
from ctx.cli.opened import opened_store, workspace_name
from ctx.errors import ExitCode, UsageError
from ctx.retrieval.stats import (
    explanation,
    explanation_text,
    find_manifest,
    run_stats,
    running_stats,
    running_text,
    stats_text,
    totals,
    totals_text,
)


def stats(*, target: str | None, running: bool, capture: int, store: str | None, json: bool) -> int:
    """Sizes of one run, or sums over the store."""
    opened = opened_store(store)
    if running:
        if target is not None:
            raise UsageError(f"stats {target} --running: give a run, or --running alone")
        captures = running_stats(opened, workspace=workspace_name())
        write_json({"running": captures}) if json else write_text(running_text(captures))
        return ExitCode.OK
    if target is None:
        sums = totals(opened)
        write_json(dict(sums)) if json else write_text(totals_text(sums))
        return ExitCode.OK
    found = run_stats(opened, find_manifest(opened, target, capture=capture, workspace=workspace_name()))
    write_json(found) if json else write_text(stats_text(found))
    return ExitCode.OK


def explain(*, target: str, capture: int, store: str | None, json: bool) -> int:
    """Why a digest is what it is."""
    opened = opened_store(store)
    found = explanation(opened, find_manifest(opened, target, capture=capture, workspace=workspace_name()))
    write_json(found) if json else write_text(explanation_text(found))
    return ExitCode.OK
