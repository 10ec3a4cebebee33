"""`ctx stats` and `ctx explain`: from the manifest alone; no captured byte is read (S8.13)."""

import json
from typing import Any

from ctx.addresses import Scheme, parse_address
from ctx.capture.spool import STREAMS, running, stream_bytes
from ctx.digest.rows import number, plural
from ctx.errors import UsageError
from ctx.safety.control import visible
from ctx.safety.redact import Redactor
from ctx.store.manifests import Manifest
from ctx.store.store import Store


def find_manifest(store: Store, target: str, *, capture: int = 1, workspace: str | None = None) -> Manifest:
    """The manifest that a handle or `run:` address names."""
    address = parse_address(target if ":" in target else f"run:{target}")
    if address.scheme is not Scheme.RUN:
        raise UsageError(f"{target}: only runs have statistics; for example run:0123456789ab")
    return store.manifest(address.name, capture, workspace)


def run_stats(store: Store, manifest: Manifest) -> dict[str, Any]:
    """Shape and sizes of one capture."""
    return {
        "handle": manifest.handle,
        "command": manifest.digest.get("command", ""),
        "exit_code": manifest.exit_code,
        "signal": manifest.signal,
        "ended_by": manifest.ended_by,
        "complete": manifest.complete,
        "incomplete_reason": manifest.incomplete_reason,
        "captures": len(store.captures(manifest.handle)),
        "family": manifest.digest.get("family", ""),
        "profile": manifest.digest.get("profile", ""),
        "outcome": manifest.digest.get("outcome", ""),
        "rung": manifest.digest.get("rung", ""),
        "plan": manifest.digest.get("plan", {}),
        "raw_tokens": manifest.digest.get("raw_tokens", 0),
        "digest_tokens": manifest.digest.get("digest_tokens", 0),
        "streams": {
            name: {"bytes": r.bytes, "lines": r.lines, "tokens": r.tokens, "encoding": r.encoding}
            for name, r in manifest.streams.items()
        },
    }


def stats_text(stats: dict[str, Any]) -> str:
    """`run_stats` for people."""
    lines = [f"run:{stats['handle'][:12]}  {stats['command']}"]
    end = f"exit {stats['exit_code']}" if stats["exit_code"] is not None else f"ended by {stats['ended_by']}"
    whole = "whole" if stats["complete"] else f"incomplete: {stats['incomplete_reason']}"
    lines.append(f"{end} · {whole} · {plural(stats['captures'], 'capture')} · {stats['family']} · {stats['rung']}")
    for name, record in stats["streams"].items():
        lines.append(
            f"  {name}: {number(record['bytes'])} bytes, {number(record['lines'])} lines, "
            f"{number(record['tokens'])} tok (estimate), {record['encoding']}"
        )
    lines.append(f"delivered {number(stats['digest_tokens'])} of {number(stats['raw_tokens'])} tok (estimate)")
    return "\n".join(lines) + "\n"


def running_stats(store: Store, *, workspace: str | None = None) -> list[dict[str, Any]]:
    """Captures whose commands still run, with what has arrived so far (S1.9); of one workspace where it is named."""
    found: list[dict[str, Any]] = []
    for capture in running(store.root):
        if workspace is not None and capture.state.workspace != workspace:
            continue
        arrived = {name: stream_bytes(capture.folder, name) for name in STREAMS}
        found.append(
            {
                "command": visible(" ".join(Redactor().redact_words(capture.state.argv)))[:400],
                "started_at": capture.state.started_at,
                "streams": {
                    name: {"bytes": len(raw), "lines": raw.count(b"\n") + (raw[-1:] not in (b"", b"\n"))}
                    for name, raw in arrived.items()
                },
            }
        )
    return found


def running_text(found: list[dict[str, Any]]) -> str:
    """`running_stats` for people."""
    lines = [f"{plural(len(found), 'capture')} running"]
    for capture in found:
        lines.append(f"since {capture['started_at']}  {' '.join(capture['command'].split())}")
        lines += [
            f"  {name}: {number(record['bytes'])} bytes, {plural(record['lines'], 'line')} so far"
            for name, record in capture["streams"].items()
        ]
    if found:
        lines.append("next: ctx get run:last")
    return "\n".join(lines) + "\n"


def totals(store: Store) -> dict[str, int]:
    """Sums over the store: what was printed by the commands, what was delivered, what was fetched later, the net."""
    captures, raw, digest, fetched = store.totals()
    return {
        "captures": captures,
        "raw_tokens": raw,
        "delivered_tokens": digest,
        "fetched_tokens": fetched,
        "net_tokens": raw - digest - fetched,
    }


def totals_text(sums: dict[str, int]) -> str:
    """`totals` for people; every figure says what it is of."""
    return (
        f"{plural(sums['captures'], 'capture')} in this store, all workspaces, since its first one; tok are estimates\n"
        f"  printed by the commands as asked: {number(sums['raw_tokens'])} tok\n"
        f"  delivered as digests:             {number(sums['delivered_tokens'])} tok\n"
        f"  fetched later by address:         {number(sums['fetched_tokens'])} tok\n"
        f"  net, printed - delivered - fetched: {number(sums['net_tokens'])} tok\n"
    )


def explanation(store: Store, manifest: Manifest) -> dict[str, Any]:
    """Why the digest of a capture is what it is: detection, plan, reasons, sizes, receipt."""
    digest = manifest.digest
    return {
        "handle": manifest.handle,
        "family": digest.get("family"),
        "profile": digest.get("profile"),
        "matched": digest.get("matched"),
        "declined": [{"profile": name, "reason": reason} for name, reason in digest.get("declined", [])],
        "outcome": digest.get("outcome"),
        "plan": digest.get("plan"),
        "sizes": digest.get("sizes"),
        "contract_id": digest.get("contract_id"),
        "epoch_id": digest.get("epoch_id"),
        "receipt": json.loads(store.derived(manifest, "receipt")),
    }


def explanation_text(found: dict[str, Any]) -> str:
    """`explanation` for people."""
    plan, receipt = found["plan"], found["receipt"]
    lines = [f"run:{found['handle'][:12]} is {found['family']} ({found['profile']}): {found['matched']}"]
    lines += [f"  declined: {row['profile']}: {row['reason']}" for row in found["declined"]]
    lines.append(f"rung {plan['rung']}, budget {plan['token_budget']} tok, because: {', '.join(plan['reasons'])}")
    sizes = ", ".join(f"{step} {size}" for step, size in found["sizes"].items())
    lines.append(f"  sizes (tok): {sizes or 'none measured, a small output is passed on whole'}")
    lines.append(f"contract {found['contract_id'][:12]}, epoch {found['epoch_id']}, plan {plan['plan_id'][:12]}")
    lines.append(
        f"receipt: {receipt['items_named']} of {receipt['items_total']} items named, {receipt['items_detailed']} with "
        f"detail, {receipt['items_addressable']} addressable; required "
        f"{receipt['required_present']} present + {receipt['required_stored']} stored of {receipt['required_total']}"
    )
    for name, state in receipt["classes"].items():
        lines.append(f"  {name}: {state['state']} ({state['with_fact']} of {state['of']})")
    return "\n".join(lines) + "\n"
