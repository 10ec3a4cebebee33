"""What a delivery claims in words of its own, and whether truth denies it (S14.12).

An arm's own words are the lines of its text that are no line of the captured output. Captured text may say anything;
nobody is blamed for passing it on.
"""

import re
from dataclasses import dataclass

from referee.cases import Case
from referee.corpus.screen import screen_text
from referee.delivery import Capture, Delivery
from referee.metrics.captured import captured, letters
from referee.metrics.omissions import undeclared_items
from referee.metrics.visible import Text, visible
from referee.readers.recognisers import LINE_CHARACTERS, recognisers

# A number that its own line calls counted is what was seen so far, not a total.
_COUNT = re.compile(
    r"(?<![\d.,/])(\d[\d,]*) (failed|passed|skipped|xfailed|xpassed|errors?|warnings?|diagnostics?)\b(?! \(counted\))"
)
_NONE = re.compile(r"(?i)\b(?:no output|no tests (?:ran|collected)|no issues|all checks passed|clean)\b")
_CANONICAL = {"error": "errors", "warning": "warnings", "diagnostic": "diagnostics"}


@dataclass(frozen=True, kw_only=True, slots=True)
class Claims:
    """Claims that truth denies, and omissions that nothing declares."""

    false_claims: tuple[str, ...]
    undeclared: tuple[str, ...]
    """Identities that are neither visible nor covered by a mark or a count."""


def own_lines(capture: Capture, text: str) -> list[str]:
    """Lines of `text` that are no line of the output, as a terminal shows both."""
    known, output = recognisers(), captured(capture)
    lines = []
    for line in screen_text(text.encode("utf-8", "replace")).split("\n"):
        stripped, quoted = known.unquoted(line)
        if not quoted and stripped.strip() and not output.holds(letters(stripped)):
            lines.append(stripped[:LINE_CHARACTERS])
    return lines


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
    """A verdict in the first own line that gives one, against truth; `unknown` contradicts nothing."""
    for line in own:
        for entry in recognisers().verdicts:
            if entry.strength == 3 and entry.form.search(line):
                denied = {"pass": case.truth.outcome == "fail", "fail": case.truth.outcome == "pass"}
                return [f"outcome: says {entry.says}, is {case.truth.outcome}"] if denied.get(entry.says) else []
    return []


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
    return [f"complete: {missing} that the output does not name"] if missing else []


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
