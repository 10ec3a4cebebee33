"""From the recorded reports of a pytest run to truth: which items failed, counts, decisive strings."""

import json
import re
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from driver import VOLATILE, dump, printed

ORDER = ("failed", "passed", "skipped", "deselected", "xfailed", "xpassed", "warnings", "error", "errors", "rerun")


@dataclass(slots=True)
class PytestTruth:
    """What the reports of one run say."""

    counts: Counter[str] = field(default_factory=Counter)
    items: list[dict[str, Any]] = field(default_factory=list)
    channel: bytes = b""
    exit_status: int | None = None
    unfinished: str = ""
    internal_error: str = ""


def read_reports(raw: bytes, *, xdist: bool = False) -> PytestTruth:
    """Truth of the report lines `raw`; passes are counted, all else is kept in the channel's bytes."""
    truth = PytestTruth()
    kept: list[dict[str, Any]] = []
    started = ""
    rows = [json.loads(line) for line in raw.decode("utf-8").splitlines() if line.endswith("}")]
    root = next((row["rootdir"] for row in rows if row["event"] == "configure"), "")
    for row in rows:
        match row["event"]:
            case "start":
                started = row["nodeid"]
            case "report":
                _count(truth, row)
                if row["when"] == "teardown" and row["nodeid"] == started:
                    started = ""
                if row["outcome"] not in ("passed",) or "wasxfail" in row:
                    kept.append(row)
            case "collect":
                truth.counts["errors"] += 1
                truth.items.append(_item(row, "load_error", root))
                kept.append(row)
            case "deselected" | "collected":
                truth.counts[row["event"]] += row["number"]
            case "internalerror":
                truth.internal_error = row["message"]
                kept.append(row)
            case "finish":
                truth.exit_status = row["exitstatus"]
    truth.unfinished = "" if xdist or truth.exit_status is not None else started
    document = {
        "counts": dict(truth.counts),
        "exit_status": truth.exit_status,
        "unfinished": truth.unfinished,
        "reports": [{k: v for k, v in row.items() if k != "frames"} for row in kept],
    }
    truth.channel = dump(document).replace(root, "<rootdir>").encode() if root else dump(document).encode()
    for item in truth.items:
        item.pop("_root", None)
    return truth


def _count(truth: PytestTruth, row: Mapping[str, Any]) -> None:
    outcome, when = row["outcome"], row["when"]
    prefix = "subtests_" if "subtest" in row and outcome != "failed" else ""
    if outcome == "rerun":
        truth.counts["rerun"] += 1
    elif outcome == "skipped":
        truth.counts[prefix + ("xfailed" if "wasxfail" in row else "skipped")] += 1
    elif outcome == "failed":
        kind = "erroring_test" if when in ("setup", "teardown") else "failing_test"
        truth.counts["errors" if kind == "erroring_test" else "failed"] += 1
        truth.items.append(_item(row, kind, ""))
    elif outcome == "passed" and when == "call":
        truth.counts[prefix + ("xpassed" if "wasxfail" in row else "passed")] += 1


def _item(row: Mapping[str, Any], kind: str, root: str) -> dict[str, Any]:
    identity = row["nodeid"]
    file = identity.partition("::")[0]
    lines = [line for path, line in row.get("frames", []) if path.endswith(file) and isinstance(line, int)]
    message = row.get("message", "")
    item: dict[str, Any] = {"identity": identity, "kind": kind, "file": file, "line": lines[-1] if lines else None}
    if "subtest" in row:
        subtest = row["subtest"]
        shown = ", ".join(f"{k}={v!r}" for k, v in subtest["kwargs"].items())
        item["message"] = " ".join(filter(None, (subtest["msg"] or "", f"({shown})" if shown else "")))
        item["subtest"] = True
    else:
        item["message"] = message
    if kind == "erroring_test":
        item["phase"] = row["when"]
    if message.startswith("[XPASS(strict)]"):
        item["code"] = "xpass_strict"
    return item


def named(identity: str, text: str) -> bool:
    """Whether `identity` stands in `text` as a whole, not as a part of a longer one."""
    at = text.find(identity)
    while at >= 0:
        end = at + len(identity)
        before, after = text[at - 1 : at] if at else "", text[end : end + 1]
        if not re.match(r"[\w/.-]", before) and not re.match(r"[\w\[]|::", after) and text[end : end + 2] != "::":
            return True
        at = text.find(identity, at + 1)
    return False


def split_named(truth: PytestTruth, text: str) -> list[dict[str, Any]]:
    """The items that the output names, messages cut to what it prints; the rest is counted as `unnamed`."""
    items = []
    for item in truth.items:
        if named(item["identity"], text):
            shown = dict(item)
            shown["message"] = printed(text, item.get("message", ""))[:300]
            shown.pop("subtest", None)
            items.append(shown)
    truth.counts["unnamed"] = len(truth.items) - len(items)
    return items


def total_line(text: str) -> str:
    """The counts of the last totals line, without rules and time; empty if there is none."""
    count = (
        r"\d+ (?:failed|passed|skipped|deselected|xfailed|xpassed|warnings?|errors?|rerun|subtests (?:passed|failed))"
    )
    found = re.findall(rf"(?:^=* ?)({count}(?:, {count})*)(?: in [\d.]+s.*)$", text, re.MULTILINE)
    return found[-1] if found else ""


def agrees(totals: str, counts: Mapping[str, int]) -> bool:
    """Whether the printed totals say what the reports say; a check of the recipe, not the source of truth."""
    said = {
        name.rstrip("s") if name != "passed" else name: int(n)
        for n, name in re.findall(r"(\d+) ([a-z ]+?)(?:,|$)", totals)
    }
    return all(
        said.get(key.rstrip("s") if key != "passed" else key, 0) == counts.get(key, 0)
        for key in ("failed", "passed", "errors")
    )


def decisive_strings(items: Sequence[Mapping[str, Any]], text: str, extra: Sequence[str]) -> list[str]:
    """The strings a decision hangs on: first and last identity, the first failure's own message, the totals."""
    found = list(extra)
    if items:
        found.append(items[0]["identity"])
        for item in items:
            lines = [
                ln for ln in text.split("\n") if ln.startswith("E   ") and not VOLATILE.search(ln) and len(ln) < 200
            ]
            message = str(item.get("message", ""))[:60]
            if line := next((ln for ln in lines if message and message in ln), ""):
                found.append(line.removeprefix("E").strip())
                break
        found.append(items[-1]["identity"])
    if totals := total_line(text):
        found.append(totals)
    return list(dict.fromkeys(found))[:6]
