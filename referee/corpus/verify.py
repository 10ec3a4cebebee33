"""Check that a corpus may be judged on: nothing altered, nothing unlisted, truth that the bytes bear out (S14.3).

Every rule is one function from a case to problems; `_CASE_RULES` is the list. Text of the output is read with
`referee.corpus.screen`, never with the digest library.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path

from referee.cases import AnswerType, Case, TruthItem
from referee.corpus.freeze import corpus_files, file_digest
from referee.corpus.layout import MANIFEST_NAME, load_manifest, read_cases
from referee.corpus.screen import collapsed, screen_text
from referee.errors import CorpusError

MAX_CORPUS_BYTES = 40_000_000
CHANNEL_PREFIX = "channel."
CASE_FILES = frozenset({"meta.json", "truth.json", "stdout.txt", "stderr.txt"})
STRATA = frozenset({"size", "outcome", "decisive_position", "stream", "hostility"})
EXTRACTOR_CHANNELS = frozenset(
    {"ctx", "digest", "evidence-graph", "extractor", "extractor-under-test", "graph", "profile"}
)
"""Names of the thing that is judged: truth from there would praise itself."""

_FAILED_KINDS = frozenset({"failing_test", "xpass_strict", "worker_crash"})
_ERROR_KINDS = frozenset({"erroring_test", "load_error"})


@dataclass(frozen=True, slots=True)
class _Seen:
    """A case with its output as shown on a screen."""

    case: Case
    text: str
    """Both streams, stdout first."""
    flat: str
    """The same with runs of blanks as one blank."""


def verify_corpus(folder: Path | str, *, forbidden_words: Sequence[str] = (), strict: bool = False) -> list[str]:
    """Problems of the corpus in `folder`, each one line with path and key; empty if it may be judged on.

    Args:
        folder: A frozen corpus.
        forbidden_words: Text that no file may hold (names of the machine that captured it, for instance).
        strict: Also hold the corpus to what the shipped one keeps: the bytes of every channel beside the case, every
            part of every item printed, question patterns that fit every answer.
    """
    corpus = Path(folder)
    try:
        manifest = load_manifest(corpus)
    except CorpusError as error:
        return list(error.problems)
    problems: list[str] = []
    paths = corpus_files(corpus)
    for path in sorted({*manifest.files, *paths}):
        if path not in paths:
            problems.append(f"{path}: listed in {MANIFEST_NAME}, but missing")
        elif path not in manifest.files:
            problems.append(f"{path}: not listed in {MANIFEST_NAME}")
        elif paths[path].is_symlink():
            problems.append(f"{path}: a link; a corpus holds plain files only")
        elif file_digest(paths[path]) != manifest.files[path]:
            problems.append(f"{path}: its SHA-256 differs from {MANIFEST_NAME}")
    problems += check_size(paths)
    problems += check_words(paths, forbidden_words)
    return problems + check_cases(corpus, strict=strict)


def check_size(paths: dict[str, Path]) -> list[str]:
    """A problem if the files are over 40 MB together."""
    total = sum(path.lstat().st_size for path in paths.values())
    return [f"corpus: {total} bytes; at most {MAX_CORPUS_BYTES}"] if total > MAX_CORPUS_BYTES else []


def check_words(paths: dict[str, Path], words: Sequence[str]) -> list[str]:
    """A problem for each file that holds one of `words`, in its path or in its bytes."""
    found = []
    for name, path in paths.items():
        raw = path.read_bytes() if words and not path.is_symlink() else b""
        found += [
            f"{name}: holds the forbidden text {word!r}" for word in words if word.encode() in raw or word in name
        ]
    return found


def check_cases(corpus: Path, *, strict: bool = False) -> list[str]:
    """Problems of the cases of a corpus, frozen or not; `strict` as in `verify_corpus`."""
    problems: list[str] = []
    cases = read_cases(corpus, problems)
    if not cases and not problems:
        problems.append(f"{corpus}: no case; expected folders cases/<family>/<case>/")
    for case in cases:
        text = screen_text(case.stdout) + "\n" + screen_text(case.stderr)
        seen = _Seen(case, text, collapsed(text))
        for rule in (*_CASE_RULES, *(_STRICT_RULES if strict else ())):
            problems += [f"{case.id}: {problem}" for problem in rule(seen)]
    return problems


def check_origin(seen: _Seen) -> Iterable[str]:
    """A captured case names its recipe, its licence and its source."""
    case = seen.case
    if case.origin == "captured":
        for key in ("recipe", "licence", "source_repo"):
            if not getattr(case, key):
                yield f"meta.json: {key}: a captured case must name it"
    if case.exit_code is None and case.ended_by == "exit":
        yield "meta.json: ended_by: 'exit' needs an exit_code"


def check_channel(seen: _Seen) -> Iterable[str]:
    """Truth is from a second channel, and what its digest says."""
    truth, folder = seen.case.truth, seen.case.folder
    if truth.channel.lower().split(":")[0].split("/")[0].strip() in EXTRACTOR_CHANNELS:
        yield f"truth.json: channel: {truth.channel!r} is the extractor under test"
    kept = sorted(p for p in folder.iterdir() if p.name.startswith(CHANNEL_PREFIX))
    if len(kept) > 1:
        yield f"truth.json: channel: expected one file channel.<ext> with its bytes, found {len(kept)}"
    elif not truth.channel_digest:
        yield "truth.json: channel_digest: missing; expected the SHA-256 of the bytes that truth came from"
    elif kept and sha256(kept[0].read_bytes()).hexdigest() != truth.channel_digest:
        yield f"truth.json: channel_digest: is not the SHA-256 of {kept[0].name}"


def check_counts(seen: _Seen) -> Iterable[str]:
    """Counts, items and outcome agree."""
    truth = seen.case.truth
    counts, items = truth.counts, truth.items
    unnamed = counts.get("unnamed", 0)
    if "items" in counts and counts["items"] != len(items):
        yield f"truth.json: counts: items is {counts['items']}, but {len(items)} are listed"
    if {"failed", "errors"} & set(counts) and all(i.kind in _FAILED_KINDS | _ERROR_KINDS for i in items):
        total = counts.get("failed", 0) + counts.get("errors", 0)
        if total != len(items) + unnamed:
            yield f"truth.json: counts: failed and errors are {total}, but {len(items)} items and {unnamed} unnamed"
        elif not unnamed and _kinds_contradict(counts, items):
            yield f"truth.json: counts: failed is {counts.get('failed', 0)}, but the items' kinds say otherwise"
    if "diagnostics" in counts and counts["diagnostics"] != len(items) + unnamed:
        number = counts["diagnostics"]
        yield f"truth.json: counts: diagnostics is {number}, but {len(items)} items and {unnamed} unnamed"
    for kind in sorted({i.kind for i in items} & set(counts)):
        number = sum(i.kind == kind for i in items)
        if not number <= counts[kind] <= number + unnamed:
            yield f"truth.json: counts: {kind} is {counts[kind]}, but {number} items are of that kind"
    if truth.outcome == "pass" and (any(counts.get(k) for k in ("failed", "errors")) or _failing(items)):
        yield "truth.json: outcome: pass, but something failed"


def _kinds_contradict(counts: Mapping[str, int], items: Iterable[TruthItem]) -> bool:
    """Whether the kinds tell errors from failures, and otherwise than the counts do."""
    kinds = [item.kind for item in items]
    failed = sum(kind in _FAILED_KINDS for kind in kinds)
    return failed < len(kinds) and failed != counts.get("failed", 0)


def _failing(items: Iterable[TruthItem]) -> bool:
    return any(item.kind in _FAILED_KINDS | _ERROR_KINDS for item in items)


def check_decisive(seen: _Seen) -> Iterable[str]:
    """Every decisive string occurs in the output."""
    for position, text in enumerate(seen.case.truth.decisive):
        if not text.strip():
            yield f"truth.json: decisive[{position}]: must not be blank"
        elif text not in seen.text:
            yield f"truth.json: decisive[{position}]: does not occur in the output: {text[:120]!r}"


def check_items(seen: _Seen) -> Iterable[str]:
    """No item is made up: something of its identity or of its parts occurs in the output."""
    for position, item in enumerate(seen.case.truth.items):
        if item.identity in seen.text:
            continue
        telling = [text for key, text in _parts(item) if key not in ("line", "column")]
        words = telling or [word for word in re.split(r"[\s:,;()]+", item.identity) if len(word) > 2]
        if not any(_occurs(text, seen) for text in words):
            yield f"truth.json: items[{position}]: {item.identity[:120]!r}: nothing of it occurs in the output"


def check_items_whole(seen: _Seen) -> Iterable[str]:
    """Every item can be read off the output: its identity verbatim, or each of its parts."""
    for position, item in enumerate(seen.case.truth.items):
        if item.identity in seen.text:
            continue
        missing = [key for key, text in _parts(item) if not _occurs(text, seen)]
        if missing or not _parts(item):
            what = ", ".join(missing) or "identity"
            yield f"truth.json: items[{position}]: {item.identity[:120]!r}: {what} does not occur in the output"


def check_kept(seen: _Seen) -> Iterable[str]:
    """The bytes of the channel lie beside the case, and nothing else does; strata are the known ones."""
    names = sorted(path.name for path in seen.case.folder.iterdir())
    if not any(name.startswith(CHANNEL_PREFIX) for name in names):
        yield "truth.json: channel: expected one file channel.<ext> with its bytes, found 0"
    for name in names:
        if name not in CASE_FILES and not name.startswith(CHANNEL_PREFIX):
            yield f"{name}: not a file of a case"
    for key in sorted(set(seen.case.strata) - STRATA):
        yield f"meta.json: strata: {key}: unknown stratum; known: {', '.join(sorted(STRATA))}"


def _parts(item: TruthItem) -> list[tuple[str, str]]:
    """What must occur where the identity as a whole does not: a test's file and name, a diagnostic's parts."""
    if item.kind in _FAILED_KINDS | _ERROR_KINDS:
        file, colons, name = item.identity.partition("::")
        return [("file", file), ("name", name)] if colons else []
    numbers = [(key, value) for key, value in (("line", item.line), ("column", item.column)) if value is not None]
    texts = [("file", item.file), ("code", item.code), ("message", item.message)]
    return [(key, text) for key, text in texts if text] + [(key, str(value)) for key, value in numbers]


def _occurs(text: str, seen: _Seen) -> bool:
    if text.isdigit():
        return re.search(rf"(?<![0-9]){text}(?![0-9])", seen.text) is not None
    return text in seen.text or collapsed(text) in seen.flat


def check_question(seen: _Seen) -> Iterable[str]:
    """The question has an answer in truth, and its pattern is not that answer."""
    question = seen.case.question
    answers = expected_answers(seen.case)
    if not answers and question.answer is not AnswerType.IDENTITIES:
        yield f"meta.json: question: truth holds no answer to a {question.answer} question"
    if question.answer in _SINGLE and len(answers) > 1:
        yield f"meta.json: question: a {question.answer} question needs one item in truth, found {len(answers)}"
    if question.answer not in (AnswerType.OUTCOME, AnswerType.COUNT):
        plain = question.pattern.replace("\\", "")
        if any(len(answer) > 3 and answer in plain for answer in answers):
            yield "meta.json: question: answer: pattern: gives the answer away"


def check_question_answerable(seen: _Seen) -> Iterable[str]:
    """The raw output answers the question, in the form that the pattern gives (S14.2)."""
    question = seen.case.question
    answers = expected_answers(seen.case)
    if question.answer is AnswerType.COUNT and answers and not _occurs(answers[0], seen):
        yield f"meta.json: question: the number {answers[0]} does not occur in the output"
    pattern = re.compile(question.pattern)
    for answer in answers:
        if not pattern.search(answer):
            yield f"meta.json: question: answer: pattern: does not fit the answer {answer[:120]!r}"
            break


def expected_answers(case: Case) -> list[str]:
    """The answers that truth gives to the case's question, in the question's type."""
    truth = case.truth
    identities = [item.identity for item in truth.items]
    match case.question.answer:
        case AnswerType.OUTCOME:
            return [truth.outcome]
        case AnswerType.COUNT:
            counts = [number for name, number in truth.counts.items() if name not in ("items", "unnamed")]
            only = counts[0] if len(counts) == 1 else len(identities)
            return [str(truth.counts.get("answer", only))]
        case AnswerType.IDENTITIES:
            return identities
        case _:
            return identities or (list(truth.decisive) if len(truth.decisive) == 1 else [])


_SINGLE = (AnswerType.VALUE, AnswerType.LINE, AnswerType.LOCATION)
_CASE_RULES: tuple[Callable[[_Seen], Iterable[str]], ...] = (
    check_origin,
    check_channel,
    check_counts,
    check_decisive,
    check_items,
    check_question,
)
_STRICT_RULES: tuple[Callable[[_Seen], Iterable[str]], ...] = (
    check_kept,
    check_items_whole,
    check_question_answerable,
)
