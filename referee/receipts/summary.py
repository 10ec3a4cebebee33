"""A receipt as people read it: failures and reversals first, then the table (S15.6)."""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from referee.protocol import ENDPOINTS

LISTED = 12
_ARM_COLUMNS = (
    ("success", "success", "{:.3f}"),
    ("tokens", "tokens_delivered", "{:,.0f}"),
    ("first", "tokens_first", "{:,.0f}"),
    ("cost", "priced_cost", "{:,.0f}"),
    ("turns", "turns", "{:.2f}"),
    ("ids", "identity_recall_inline", "{:.3f}"),
    ("ids+", "identity_recall_addressable", "{:.3f}"),
    ("key", "decisive_recall_inline", "{:.3f}"),
    ("key+", "decisive_recall_addressable", "{:.3f}"),
    ("false", "false_claims", "{:,}"),
    ("silent", "undeclared_omissions", "{:,}"),
    ("dead", "unresolvable_addresses", "{:,}"),
)
_LEGEND = (
    "success: share of episodes answered right. tokens: delivered over all turns; first: by the first delivery.",
    "cost: priced over the session, in input tokens. ids, key: share of identities and of decisive strings that the",
    "first delivery shows; ids+, key+: with everything its own addresses bring. false: claims that truth denies;",
    "silent: omissions that nothing declares; dead: addresses that do not resolve (counted once a case).",
)


def terminal_text(receipt: Mapping[str, Any]) -> str:
    """Plain text for a terminal of 120 columns."""
    return "\n".join([*_findings(receipt, bullet="  "), "", *_tables(receipt), *_LEGEND]) + "\n"


def markdown_text(receipt: Mapping[str, Any]) -> str:
    """The Markdown summary beside a receipt."""
    predicate = receipt["predicate"]
    lines = [f"# Receipt: protocol {predicate['protocol']['name']}", ""]
    lines += [*_findings(receipt, bullet="- "), ""]
    for corpus in predicate["corpora"]:
        lines.append(
            f"Corpus {corpus['name']} version {corpus['version']}: {_plural(corpus['cases'], 'case')}, "
            f"{_plural(corpus['clusters'], 'source')}, manifest `{corpus['manifest_digest'][:12]}`."
        )
    lines += ["", *_markdown_tables(receipt), " ".join(_LEGEND), "", "## Subjects", ""]
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
        yield f"{bullet}{reason_text(reason)}"
    yield ""
    yield from _reversals(found["reversals"], bullet)
    yield ""
    yield from _failures(found["failures"], bullet)
    yield ""
    held = [control["name"] for control in found["controls"] if control["held"]]
    broken = [control for control in found["controls"] if not control["held"]]
    yield f"controls held: {', '.join(held) or 'none'}"
    for control in broken:
        yield f"{bullet}control {control['name']} did not hold: {control['detail']}"


def reason_text(reason: Mapping[str, Any]) -> str:
    """One reason on one line: code, family, what was found, where."""
    where = f" [{reason['family']}]" if reason["family"] else ""
    detail = f": {reason['detail']}" if reason["detail"] else ""
    listed = reason["cases"]
    cases = f" in {', '.join(listed[:4])}" if listed else ""
    more = f" and {len(listed) - 4} more" if len(listed) > 4 else ""
    return f"{reason['code']}{where}{detail}{cases}{more}"


def _plural(count: int, noun: str) -> str:
    return f"{count} {noun}" if count == 1 else f"{count} {noun}s"


def _reversals(rows: Sequence[Mapping[str, Any]], bullet: str) -> Iterator[str]:
    yield f"reversals, cases in which the treatment is worse: {len(rows)}"
    if rows:
        yield ""
    for row in rows[:LISTED]:
        readers = ", ".join(row["readers"])
        yield f"{bullet}{row['case']}: {row['metric']} {row['treatment']:g} instead of {row['baseline']:g} ({readers})"
    if len(rows) > LISTED:
        yield f"{bullet}{len(rows) - LISTED} more in the receipt"


def _failures(rows: Sequence[Mapping[str, Any]], bullet: str) -> Iterator[str]:
    by_case: dict[str, list[Mapping[str, Any]]] = {}
    for row in rows:
        by_case.setdefault(row["case"], []).append(row)
    yield f"failures, episodes of the treatment without success: {len(rows)} in {_plural(len(by_case), 'case')}"
    if by_case:
        yield ""
    # Those that an uncut output answers come first: there the treatment is what fails.
    ranked = sorted(by_case.items(), key=lambda e: (-sum(row["uncut"] for row in e[1]), -len(e[1]), e[0]))
    for case, episodes in ranked[:LISTED]:
        lost = f"; lost {', '.join(episodes[0]['lost'][:2])}" if episodes[0]["lost"] else ""
        better = sum(row["uncut"] for row in episodes)
        uncut = f"{better} of them find it in the uncut output" if better else "the uncut output does not help them"
        yield f"{bullet}{case}: {_plural(len(episodes), 'reader')}; {uncut}{lost}"
    if len(by_case) > LISTED:
        yield f"{bullet}{len(by_case) - LISTED} more cases in the receipt"


def _ordered(receipt: Mapping[str, Any], arms: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    """The treatment, the baseline, then the others as they were named."""
    named = receipt["predicate"]["arms"]
    order = [named["treatment"]["name"], named["baseline"]["name"], *(arm["name"] for arm in named["others"])]
    return ((name, arms[name]) for name in dict.fromkeys(order) if name in arms)


def _groups(receipt: Mapping[str, Any]) -> Iterator[tuple[str, Mapping[str, Any]]]:
    found = receipt["predicate"]["reproducible"]
    yield from found["families"].items()
    yield "overall", found["overall"]


def _cells(metrics: Mapping[str, Any]) -> list[str]:
    return ["-" if metrics[name] is None else form.format(metrics[name]) for _, name, form in _ARM_COLUMNS]


def _statistics(entry: Mapping[str, Any]) -> Iterator[str]:
    for endpoint in ENDPOINTS:
        if endpoint not in entry["statistics"]:
            continue
        found = entry["statistics"][endpoint]
        bounds = f"({found['undefined']})" if found["low"] is None else f"[{found['low']:+.4f}, {found['high']:+.4f}]"
        ratio = f", ratio {found['ratio']:.3f}" if found.get("ratio") is not None else ""
        smallest = "-" if found["mde"] is None else f"{found['mde']:.4f}"
        difference = "-" if found["difference"] is None else f"{found['difference']:+.4f}"
        adjusted = f", adjusted {found['p_adjusted']:.2g}" if found.get("p_adjusted") is not None else ""
        p = f", p {found['p']:.2g}{adjusted}" if found["p"] is not None else ""
        yield (
            f"{endpoint}: {difference} {bounds} {found['verdict']}{ratio}{p} "
            f"({found['pairs']} pairs, {found['clusters']} clusters, smallest detectable {smallest})"
        )


def _tables(receipt: Mapping[str, Any]) -> Iterator[str]:
    header = ["arm", *(title for title, _, _ in _ARM_COLUMNS)]
    for name, entry in _groups(receipt):
        rows = [[arm, *_cells(metrics)] for arm, metrics in _ordered(receipt, entry["arms"])]
        widths = [max(len(row[i]) for row in [header, *rows]) for i in range(len(header))]
        yield f"{name}: {_plural(next(iter(entry['arms'].values()))['cases'], 'case')}"
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
        for arm, metrics in _ordered(receipt, entry["arms"]):
            yield f"| {arm} | " + " | ".join(_cells(metrics)) + " |"
        yield ""
        for line in _statistics(entry):
            yield f"- {line}"
        yield ""
