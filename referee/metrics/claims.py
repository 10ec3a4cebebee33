"""What a delivery claims in words of its own, and whether truth denies it (S14.12).

An arm's own words are the lines of its text that are no line of the captured output. Captured text may say anything;
nobody is blamed for passing it on.
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass

from referee.cases import Case
from referee.corpus.screen import screen_text
from referee.delivery import Capture, Delivery
from referee.metrics.captured import Captured, captured, letters
from referee.metrics.omissions import is_mark, undeclared_items
from referee.metrics.visible import Text, visible
from referee.readers.recognisers import LINE_CHARACTERS, recognisers

# A number that its own line calls counted is what was seen so far, not a total.
_COUNT = re.compile(
    r"(?<![\d.,/])(\d[\d,]*) (failed|passed|skipped|xfailed|xpassed|errors?|warnings?|diagnostics?)\b(?! \(counted\))"
)
_LISTED = re.compile(r"\b\d[\d,]*/(\d[\d,]*) (?:failing|failed|diagnostics?|findings?|problems?)\b")
_NONE = re.compile(r"(?i)\b(?:no output|no tests (?:ran|collected)|no issues|all checks passed|clean)\b")
_CANONICAL = {"error": "errors", "warning": "warnings", "diagnostic": "diagnostics"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Claims:
    """Claims that truth denies, and omissions that nothing declares."""

    false_claims: tuple[str, ...]
    undeclared: tuple[str, ...]
    """Identities that are neither visible nor covered by a mark or a count."""


def own_lines(capture: Capture, text: str) -> list[str]:
    """Lines of `text` that are no line of the output and no part of one that a cut left, as a terminal shows both."""
    known, output = recognisers(), captured(capture)
    shown = [known.unquoted(line) for line in screen_text(text.encode("utf-8", "replace")).split("\n")]
    plain = [letters(line) for line, _ in shown]
    lines = []
    for index, (line, quoted) in enumerate(shown):
        if not quoted and line.strip() and not output.holds(plain[index]) and not _is_part(index, shown, plain, output):
            lines.append(line[:LINE_CHARACTERS])
    return lines


def _is_part(index: int, shown: Sequence[tuple[str, bool]], plain: Sequence[str], output: Captured) -> bool:
    """Whether a line is what a cut left of a captured one: beside a mark or at an end of the text, in its place."""
    for step in (1, -1):
        beside = index + step
        while 0 <= beside < len(plain) and not plain[beside]:
            beside += step
        if 0 <= beside < len(plain) and not is_mark(shown[beside][0], recognisers()):
            continue
        beyond = index - step
        neighbour = plain[beyond] if 0 <= beyond < len(plain) else ""
        if output.lines_split_at(plain[index], neighbour, before=step > 0):
            return True
    return False


def judge_claims(case: Case, capture: Capture, delivery: Delivery, text: Text, reachable: Text) -> Claims:
    """The claims of a delivery.

    Args:
        text: The delivered text, prepared.
        reachable: Everything that its own way back returns, prepared.
    """
    own = own_lines(capture, delivery.text)
    false = [
        *_outcome(case, own),
        *_completeness(case, own, text, reachable),
        *_counts(case, own),
        *_emptiness(case, own),
    ]
    undeclared = undeclared_items(case.truth.items, capture, delivery, text, own)
    return Claims(false_claims=tuple(false), undeclared=tuple(item.identity for item in undeclared))


def _outcome(case: Case, own: list[str]) -> list[str]:
    """The arm's own verdict against truth: its strongest line that states one; `unknown` contradicts nothing."""
    best, says = 0, ""
    for line in own:
        for entry in recognisers().verdicts:
            # Among equals the first line counts, and in it the stronger word: fail stands before pass in the list.
            if entry.claim and entry.strength > max(best, 1) and entry.form.search(line):
                best, says = entry.strength, entry.says
    denied = {"pass": case.truth.outcome == "fail", "fail": case.truth.outcome == "pass"}
    return [f"outcome: says {says}, is {case.truth.outcome}"] if denied.get(says) else []


def _completeness(case: Case, own: list[str], text: Text, reachable: Text) -> list[str]:
    known = recognisers()
    claims = any(form.search(line) for line in own for form in known.complete)
    denies = any(form.search(line) for line in own for form in known.incomplete)
    if not claims or denies:
        return []
    lost = [i for i in case.truth.items if not visible(i, text) and not visible(i, reachable)]
    missing = case.truth.counts.get("unnamed", 0)
    if lost:
        return [f"complete: {len(lost)} of {len(case.truth.items)} are neither shown nor reachable"]
    if missing:
        return [f"complete: {missing} that the output does not name"]
    return _total(case, own)


def _total(case: Case, own: list[str]) -> list[str]:
    """The total that a complete list claims to have, in the unit of the items: `43/43 failing tests` of 44."""
    stated = [int(n.replace(",", "")) for line in own for n in _LISTED.findall(line)]
    names = {item.identity for item in case.truth.items}
    fitting = {len(case.truth.items), len(names), *case.truth.counts.values()}
    fitting.add(sum(case.truth.counts.get(name, 0) for name in ("failed", "errors")))
    return [f"complete: {n} in all, are {len(case.truth.items)}" for n in stated if n not in fitting][:1]


def _counts(case: Case, own: list[str]) -> list[str]:
    """Counts in the first own line that holds any, under the names that truth counts by."""
    false = []
    for line in own:
        found = _COUNT.findall(line)
        if not found:
            continue
        for number, noun in found:
            name = _CANONICAL.get(noun, noun)
            truth = case.truth.counts.get(name)
            # What the channel knows and the output does not print may be counted or not: tools differ.
            fitting = () if truth is None else (truth, truth + case.truth.counts.get("unnamed", 0))
            if fitting and int(number.replace(",", "")) not in fitting:
                false.append(f"count: says {number} {noun}, is {truth}")
        break
    return false


def _emptiness(case: Case, own: list[str]) -> list[str]:
    if case.truth.outcome != "fail" and not case.truth.items:
        return []
    return [f"emptiness: {line.strip()[:80]}" for line in own if _NONE.search(line)][:1]
