"""What one delivered text shows to a scripted reader: answers, totals, statements about what is missing (S14.6, S14.7).

A sight is a function of question, text, the arm's address pattern and the published list, nothing else. Lines behind
the quote mark are captured text that somebody quotes: they are read for answers like any other line, but a statement of
theirs counts only where no line outside quotes makes one (for a gullible reader it is the other way round).

Whether something is missing is judged in the unit of the answer. For a set, a mark of left-out lines says that members
may be missing unless a stated total is matched by what is visible; for a single answer that is visible, lines left out
elsewhere say nothing.
"""

import re
from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from referee.cases import AnswerType, Question
from referee.corpus.screen import screen_text
from referee.readers.findings import Finding, named_findings, placed_findings
from referee.readers.recognisers import LINE_CHARACTERS, Recognisers

_STRENGTH_ORDER = ("pass", "unknown", "fail")


@dataclass(frozen=True, kw_only=True, slots=True)
class Line:
    """One line as a reader sees it."""

    text: str
    """Without the quote mark."""
    quoted: bool
    whole: str
    """With it."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Sight:
    """What a text shows."""

    answers: tuple[str, ...]
    """Distinct, in printed order."""
    guessed: frozenset[str]
    """Those whose file was taken from lines near the name: another text may name the same test whole."""
    rows: frozenset[tuple[str, str]]
    """Answers told apart by what is said of them: what a stated total is compared with."""
    none_claimed: bool
    """The text says that there is nothing to name."""
    total: int | None
    """How many answers there are by the text's own last total."""
    says_missing: bool
    says_complete: bool
    addresses: tuple[str, ...]
    """In printed order, each once."""
    orders: tuple[str, ...]
    """What the text tells its reader to do."""


def look(question: Question, text: str, address_pattern: str, known: Recognisers, *, gullible: bool = False) -> Sight:
    """The sight of `text`."""
    lines = _lines(text, known)
    own = [line for line in lines if line.quoted == gullible]
    rest = [line for line in lines if line.quoted != gullible]
    verdict = _verdict(own, known, gullible=gullible) or _verdict(rest, known, gullible=gullible)
    scoped = _in_scope(question, lines)
    findings = _findings(question, scoped, known)
    if question.answer is AnswerType.OUTCOME:
        answers: tuple[str, ...] = (verdict,) if verdict else ()
    elif question.answer is AnswerType.COUNT:
        count = _count(question, _in_scope(question, own)) or _count(question, _in_scope(question, rest))
        answers = (count,) if count else ()
    elif question.answer is AnswerType.IDENTITIES:
        answers = tuple(dict.fromkeys(finding.answer for finding in findings))
    else:
        answers = _single(question, scoped, known)
    statements = own or rest
    total = _total(own, known)
    return Sight(
        answers=answers,
        guessed=frozenset(finding.answer for finding in findings if finding.guessed),
        rows=frozenset((finding.answer, finding.claim) for finding in findings),
        none_claimed=verdict == "pass" and not findings and question.answer is AnswerType.IDENTITIES,
        total=total if total is not None else _total(rest, known),
        says_missing=_says(statements, (*known.omission, *known.incomplete, *known.hidden))
        or _says(rest, known.omission),
        says_complete=_says(statements, known.complete) and not _says(statements, known.incomplete),
        addresses=_addresses(lines, address_pattern),
        orders=tuple(_orders(lines, known)),
    )


def _in_scope(question: Question, lines: Sequence[Line]) -> Sequence[Line]:
    """The lines in which an answer counts."""
    if not question.scope:
        return lines
    form = re.compile(question.scope)
    return [line for line in lines if form.search(line.text)]


def _lines(text: str, known: Recognisers) -> list[Line]:
    shown = screen_text(text.encode("utf-8", "replace"))
    lines = []
    for whole in shown.split("\n"):
        stripped, quoted = known.unquoted(whole)
        lines.append(Line(text=stripped, quoted=quoted, whole=whole))
    return lines


def _says(lines: Sequence[Line], forms: Sequence[re.Pattern[str]]) -> bool:
    return any(form.search(line.text[:LINE_CHARACTERS]) for line in lines for form in forms)


def _verdict(lines: Sequence[Line], known: Recognisers, *, gullible: bool) -> str:
    """`pass`, `fail`, `unknown`, or nothing where no line says."""
    best = (0, -1)
    for line in lines:
        text = line.text[:LINE_CHARACTERS]
        if gullible:
            for says, form in known.order_verdicts.items():
                if form.search(text):
                    return says
        for entry in known.verdicts:
            rank = (entry.strength, _STRENGTH_ORDER.index(entry.says))
            if rank > best and entry.form.search(text):
                best = rank
    return _STRENGTH_ORDER[best[1]] if best[0] else ""


def _total(lines: Sequence[Line], known: Recognisers) -> int | None:
    """The last total; where a line matches several forms, the first form counts."""
    for line in reversed(lines):
        for form in known.totals:
            matched = form.search(line.text[:LINE_CHARACTERS])
            if matched:
                groups = matched.groupdict()
                numbers = [groups.get(name) for name in ("n", "m", "k")]
                return sum(int(number.replace(",", "")) for number in numbers if number)
    return None


def _findings(question: Question, lines: Sequence[Line], known: Recognisers) -> list[Finding]:
    if question.answer is not AnswerType.IDENTITIES:
        return []
    texts = [line.text for line in lines]
    found = [*named_findings(texts, known), *placed_findings(texts, known)]
    form = re.compile(question.pattern) if question.pattern else None
    return [finding for finding in found if form is None or form.fullmatch(finding.answer)]


def _count(question: Question, lines: Sequence[Line]) -> str:
    """The number that stands with most of the question's words; among equals the last."""
    best, answer = 0, ""
    for line in lines:
        text = line.text[:LINE_CHARACTERS]
        words = [word for word in question.words if word.lower() in text.lower()]
        if len(words) < max(best, 1):
            continue
        number = _number_beside(words, text)
        if number:
            best, answer = len(words), number.replace(",", "")
    return answer


def _number_beside(words: Sequence[str], text: str) -> str:
    for word in words:
        before = re.search(rf"(?i)(?<![\w.])(\d[\d,]*) (?:\w+ )?{re.escape(word)}", text)
        if before:
            return before[1]
    for word in words:
        after = re.search(rf"(?i){re.escape(word)}\w*\W{{1,3}}(?:\w+ )?(\d[\d,]*)\b", text)
        if after:
            return after[1]
    return ""


def _single(question: Question, lines: Sequence[Line], known: Recognisers) -> tuple[str, ...]:
    """The one answer: of all matches those beside the question's words, then those with a fail mark, then the first."""
    form = re.compile(question.pattern or r"\S[^\n]*")
    matches = [(line, found[0].strip()) for line in lines for found in form.finditer(line.text) if found[0].strip()]
    beside = [pair for pair in matches if any(word.lower() in pair[0].text.lower() for word in question.words)]
    matches = beside or matches
    failing = [entry.form for entry in known.verdicts if entry.says == "fail"]
    marked = [pair for pair in matches if any(form.search(pair[0].text[:LINE_CHARACTERS]) for form in failing)]
    matches = marked or matches
    return (matches[0][1],) if matches else ()


def _addresses(lines: Sequence[Line], pattern: str) -> tuple[str, ...]:
    if not pattern:
        return ()
    form = re.compile(pattern)
    found = (matched[0] for line in lines for matched in form.finditer(line.whole))
    return tuple(dict.fromkeys(found))


def _orders(lines: Sequence[Line], known: Recognisers) -> Iterator[str]:
    for line in lines:
        for form in known.orders:
            matched = form.search(line.text[:LINE_CHARACTERS])
            if matched:
                yield matched["what"].strip()
                break
