"""A receipt as people read it: failures and reversals first, then the table (S15.6)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

LISTED = 12
_ARM_COLUMNS = (
    ("success", "success", "{:.3f}"),
    ("tokens", "tokens_delivered", "{:,.0f}"),
    ("first", "tokens_first", "{:,.0f}"),
    ("cost", "priced_cost", "{:,.0f}"),
    ("turns", "turns", "{:.2f}"),
    ("ids inline", "identity_recall_inline", "{:.3f}"),
    ("ids reach", "identity_recall_addressable", "{:.3f}"),
    ("decisive inline", "decisive_recall_inline", "{:.3f}"),
    ("decisive reach", "decisive_recall_addressable", "{:.3f}"),
    ("false", "false_claims", "{:,}"),
    ("silent", "undeclared_omissions", "{:,}"),
    ("dead", "unresolvable_addresses", "{:,}"),
)


def terminal_text(receipt: Mapping[str, Any]) -> str:
    """Plain text for a terminal of 120 columns."""
    return "\n".join([*_findings(receipt, bullet="  "), "", *_tables(receipt)]) + "\n"


def markdown_text(receipt: Mapping[str, Any]) -> str:
    """The Markdown summary beside a receipt."""
    predicate = receipt["predicate"]
    lines = [f"# Receipt: protocol {predicate['protocol']['name']}", ""]
    lines += [*_findings(receipt, bullet="- "), ""]
    for corpus in predicate["corpora"]:
        lines.append(
            f"Corpus {corpus['name']} version {corpus['version']}: {corpus['cases']} cases, "
            f"{corpus['clusters']} sources, manifest `{corpus['manifest_digest'][:12]}`."
        )
    lines += ["", *_markdown_tables(receipt), "", "## Subjects", ""]
    lines += [f"- `{entry['name']}` `{entry['digest']['sha256'][:12]}`" for entry in receipt["subject"]]
    return "\n".join(lines) + "\n"


def _findings(receipt: Mapping[str, Any], *, bullet: str) -> Iterator[str]:
    predicate = receipt["predicate"]
    found = predicate["reproducible"]
    decision = found["decision"]
    arms = predicate["arms"]
    yield (
        f"verdict: {decision['verdict'].upper()} · {arms['treatment']['name']} against {arms['baseline']['name']} · "
        f"protocol {predicate['protocol']['digest'][:12]}"
    )
    yield ""
    for reason in decision["reasons"]:
        where = f" [{reason['family']}]" if reason["family"] else ""
        cases = f": {', '.join(reason['cases'][:4])}" if reason["cases"] else ""
        more = f" and {len(reason['cases']) - 4} more" if len(reason["cases"]) > 4 else ""
        yield f"{bullet}{reason['code']}{where} {reason['detail']}{cases}{more}".rstrip()
    yield ""
    yield from _reversals(found["reversals"], bullet)
    yield from _failures(found["failures"], bullet)
    held = [control["name"] for control in found["controls"] if control["held"]]
    broken = [control for control in found["controls"] if not control["held"]]
    yield f"controls held: {', '.join(held) or 'none'}"
    for control in broken:
        yield f"{bullet}control {control['name']} did not hold: {control['detail']}"


def _reversals(rows: Sequence[Mapping[str, Any]], bullet: str) -> Iterator[str]:
    yield f"reversals, cases in which the treatment is worse: {len(rows)}"
    for row in rows[:LISTED]:
        readers = ", ".join(row["readers"])
        yield f"{bullet}{row['case']}: {row['metric']} {row['treatment']} instead of {row['baseline']} ({readers})"
    if len(rows) > LISTED:
        yield f"{bullet}{len(rows) - LISTED} more in the receipt"


def _failures(rows: Sequence[Mapping[str, Any]], bullet: str) -> Iterator[str]:
    by_case: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_case.setdefault(row["case"], []).append(row)
    yield f"failures, episodes of the treatment without success: {len(rows)} in {len(by_case)} cases"
    for case, episodes in sorted(by_case.items(), key=lambda entry: (-len(entry[1]), entry[0]))[:LISTED]:
        lost = f"; lost {', '.join(episodes[0]['lost'][:2])}" if episodes[0]["lost"] else ""
        yield f"{bullet}{case}: {len(episodes)} readers{lost}"
    if len(by_case) > LISTED:
        yield f"{bullet}{len(by_case) - LISTED} more cases in the receipt"


def _groups(receipt: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    found = receipt["predicate"]["reproducible"]
    yield from found["families"].items()
    yield "overall", found["overall"]


def _cells(metrics: Mapping[str, Any]) -> list[str]:
    return ["-" if metrics[name] is None else form.format(metrics[name]) for _, name, form in _ARM_COLUMNS]


def _statistics(entry: Mapping[str, Any]) -> Iterator[str]:
    for endpoint, found in entry["statistics"].items():
        bounds = "undefined" if found["low"] is None else f"[{found['low']:+.4f}, {found['high']:+.4f}]"
        ratio = f", ratio {found['ratio']:.3f}" if found.get("ratio") is not None else ""
        smallest = "-" if found["mde"] is None else f"{found['mde']:.4f}"
        difference = "-" if found["difference"] is None else f"{found['difference']:+.4f}"
        yield (
            f"{endpoint}: {difference} {bounds} {found['verdict']}{ratio} "
            f"({found['pairs']} pairs, {found['clusters']} clusters, smallest detectable {smallest})"
        )


def _tables(receipt: Mapping[str, Any]) -> Iterator[str]:
    header = ["arm", *(title for title, _, _ in _ARM_COLUMNS)]
    for name, entry in _groups(receipt):
        rows = [[arm, *_cells(metrics)] for arm, metrics in entry["arms"].items()]
        widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
        yield f"{name}: {next(iter(entry['arms'].values()))['cases']} cases"
        for row in [header, *rows]:
            cells = [row[0].ljust(widths[0]), *(cell.rjust(w) for cell, w in zip(row[1:], widths[1:], strict=True))]
            yield "  " + "  ".join(cells)
        for line in _statistics(entry):
            yield f"  {line}"
        yield ""


def _markdown_tables(receipt: Mapping[str, Any]) -> Iterator[str]:
    for name, entry in _groups(receipt):
        yield f"## {name}"
        yield ""
        yield "| arm | " + " | ".join(title for title, _, _ in _ARM_COLUMNS) + " |"
        yield "| --- |" + " --: |" * len(_ARM_COLUMNS)
        for arm, metrics in entry["arms"].items():
            yield f"| {arm} | " + " | ".join(_cells(metrics)) + " |"
        yield ""
        for line in _statistics(entry):
            yield f"- {line}"
        yield ""
