"""The corpus format, and its loader. Any folder in this format can be judged on (S14.1).

A corpus is a folder::

    <corpus>/MANIFEST.json
    <corpus>/cases/<family>/<case>/meta.json
                                   stdout.txt     the exact bytes of standard output
                                   stderr.txt     the exact bytes of standard error (either may be empty)
                                   truth.json
                                   channel.<ext>  the kept bytes of the channel that truth came from
    <corpus>/README.md, LICENCES.md, …            listed in the manifest like every other file

`MANIFEST.json` is canonical JSON, ``{name, version, created_from, files}``: `files` maps the path of every file of the
corpus except the manifest itself (relative, with `/`) to its SHA-256. `referee corpus freeze` writes it.

`meta.json`, one object. Required: `id`, `family`, `argv`, `exit_code`, `origin`, `question`.

=============== ====================================================================================================
`id`            The case: the folder's name, or `<family>/<folder>`.
`family`        The output shape: the name of the parent folder.
`argv`          List of strings: the command as its user typed it; `["sh", "-c", "…"]` for a shell line.
`tool`          The program that wrote the output.
`tool_version`  Its version, text.
`exit_code`     Number; null where a signal ended the command or the status is unknown.
`ended_by`      `exit`, `signal`, `timeout`, `reader_closed`, `unknown`; default `exit` with a status, else `unknown`.
`origin`        `captured`: a real tool on a public package, as it is or with planted defects. `generated`: a real
                tool, or a generator, on input that a generator made. `made`: written by hand or by an attacker's pen.
`recipe`        Path of the recipe that captured it. Required for `captured`.
`source_repo`   The public package, or the generator: the cluster of the statistics (S15.3).
`licence`       SPDX name of what the output quotes. Required for `captured`.
`question`      ``{text, answer, words}``; `answer` is ``{type, pattern, scope}`` (S14.2). `type` is one of
                `outcome`, `identities`, `count`, `value`, `line`, `location`; `pattern` is a regular expression for
                the form of one answer, never the answer; `scope`, another one, fits the lines in which an answer
                counts, empty for anywhere;
                `words` is what a reader would search for.
`strata`        Names to text (numbers and truth values are read as text): `size`, `outcome`, `decisive_position`,
                `stream`, `hostility`.
`duration_ms`   Whole milliseconds that the command took; 0 where unknown.
=============== ====================================================================================================

`truth.json`, one object. Required: `outcome`, `counts`, `items`, `decisive`, `channel`.

================ ===================================================================================================
`outcome`        `pass`, `fail` or `unknown`.
`counts`         Names to whole numbers, in the tool's own terms. `items` is the length of `items`; `failed`, `errors`,
                 `diagnostics`, … must agree with the items (`referee.corpus.verify` has the rules). `unnamed` counts
                 what the channel knows and the output does not print: items plus `unnamed` is the channel's total.
`items`          List of objects: what the question's decision unit is (failing tests, diagnostics), each one named by
                 the output. `identity` (or `id`) is required, unless `file` and `message` give it; `kind`, `file`,
                 `line`, `column`, `code`, `message`, `severity`, `phase` where known. Lines are 1-based; columns
                 count as the tool prints them. `kind` is by default `failing_test` for pytest, `diagnostic` for lint
                 and `item` elsewhere.
`decisive`       List of exact strings of the output, escape-free, that the reader's decision hangs on.
`channel`        The second channel: `json-report`, `junit-xml`, `sarif`, `generator`, `exit-status`, …
`channel_digest` SHA-256 of the bytes in `channel.<ext>`, 64 hex digits.
================ ===================================================================================================

The answer (`referee.corpus.verify.expected_answers`): for `outcome` it is `outcome`; for `identities` the identities of
all items; for `value`, `line` and `location` the identity of the item, or the decisive string where truth has no item;
for `count` it is ``counts["answer"]``, or the only count, or the number of items.

An optional text may be null. Unknown keys are errors, except in an item, where they are extras of the channel that
nobody reads; a key that is nearly one of the known ones is a misspelling, and an error there too. The bytes of the
channel may lie elsewhere (private truth) if `channel_digest` commits to them.
"""

import difflib
import json
import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from hashlib import sha256
from pathlib import Path
from typing import Any

from referee.cases import AnswerType, Case, Question, Truth, TruthItem
from referee.errors import CorpusError

MANIFEST_NAME = "MANIFEST.json"
CASES_FOLDER = "cases"
STREAMS = ("stdout.txt", "stderr.txt")
ORIGINS = ("captured", "generated", "made")
ENDINGS = ("exit", "signal", "timeout", "reader_closed", "unknown")
OUTCOMES = ("pass", "fail", "unknown")

_DEFAULT_KINDS = {"pytest": "failing_test", "lint": "diagnostic"}
_ITEM_KEYS = ("identity", "id", "kind", "file", "line", "column", "code", "message", "severity", "phase")
_DIGEST = re.compile(r"(?:sha256:)?([0-9a-f]{64})")


@dataclass(frozen=True, kw_only=True, slots=True)
class Manifest:
    """What a frozen version consists of."""

    name: str
    version: str
    created_from: str
    """What the files were made with: recipes and their commit, or a sentence."""
    files: Mapping[str, str]
    """Relative path with `/` to SHA-256 in hex."""
    digest: str
    """SHA-256 of the bytes of `MANIFEST.json`."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Corpus:
    """A loaded corpus."""

    name: str
    version: str
    manifest_digest: str
    cases: tuple[Case, ...]
    """Sorted by id."""
    folder: Path


class _Object:
    """One JSON object with typed getters; every mistake is noted with path and key, none is raised."""

    def __init__(self, value: object, where: str, problems: list[str]) -> None:
        self.where = where
        self.problems = problems
        self.data: Mapping[str, Any] = value if isinstance(value, dict) else {}
        if not isinstance(value, dict):
            self.problem("", f"expected an object, found {_shape(value)}")

    def problem(self, key: str, what: str) -> None:
        self.problems.append(f"{self.where}{': ' + key if key else ''}: {what}")

    def get(
        self, key: str, check: Callable[[Any], bool], form: str, default: Any = None, *, required: bool = False
    ) -> Any:
        """The value at `key`, or `default` where it is absent or wrong (noted)."""
        if key not in self.data:
            if required:
                self.problem(key, f"missing; expected {form}")
            return default
        value = self.data[key]
        if not check(value):
            self.problem(key, f"expected {form}, found {_shape(value)}")
            return default
        return value

    def text(self, key: str, *, required: bool = False) -> str:
        if not required and self.data.get(key) is None:
            return ""
        value: str = self.get(key, _is_text, "text", "", required=required)
        if required and key in self.data and value == "" and _is_text(self.data[key]):
            self.problem(key, "must not be empty")
        return value

    def number(self, key: str) -> int | None:
        value: int | None = self.get(key, lambda v: v is None or _is_number(v), "a whole number or null")
        return value

    def texts(self, key: str, *, required: bool = False) -> tuple[str, ...]:
        form = "a list of texts"
        return tuple(
            self.get(key, lambda v: isinstance(v, list) and all(map(_is_text, v)), form, (), required=required)
        )

    def choice(self, key: str, choices: Iterable[str], default: str, *, required: bool = False) -> str:
        value = self.text(key, required=required)
        if value and value not in choices:
            self.problem(key, f"{value!r} is none of {', '.join(choices)}{_nearest(value, choices)}")
            return default
        return value or default

    def object(self, key: str) -> "_Object":
        if key not in self.data:
            self.problem(key, "missing; expected an object")
            return _Object({}, f"{self.where}: {key}", [])
        return _Object(self.data[key], f"{self.where}: {key}", self.problems)

    def known(self, *keys: str) -> None:
        for key in sorted(set(self.data) - set(keys)):
            self.problem(key, f"unknown key{_nearest(key, keys)}; known: {', '.join(keys)}")


def _is_text(value: Any) -> bool:
    return isinstance(value, str)


def _is_flat(value: Any) -> bool:
    return isinstance(value, dict) and all(isinstance(v, str | int | float | bool) for v in value.values())


def _is_number(value: Any) -> bool:
    return isinstance(value, int) and not isinstance(value, bool)


def _shape(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False, default=str)
    return text if len(text) <= 60 else f"{text[:57]}..."


def _nearest(word: str, choices: Iterable[str]) -> str:
    near = difflib.get_close_matches(word, list(choices), n=1)
    return f"; did you mean {near[0]!r}?" if near else ""


def load_json(path: Path, problems: list[str], where: str) -> object:
    """The JSON document at `path`, or None with the problem noted; a key given twice is a problem."""

    def pairs(found: Sequence[tuple[str, Any]]) -> dict[str, Any]:
        seen = [key for key, _ in found]
        problems.extend(f"{where}: {key}: given twice" for key in sorted({k for k in seen if seen.count(k) > 1}))
        return dict(found)

    try:
        value: object = json.loads(path.read_bytes().decode("utf-8"), object_pairs_hook=pairs)
        json.dumps(value, ensure_ascii=False).encode("utf-8")
        return value
    except UnicodeEncodeError:
        problems.append(f"{where}: holds half of a surrogate pair, which is no text")
    except FileNotFoundError:
        problems.append(f"{where}: missing file")
    except OSError as error:
        problems.append(f"{where}: cannot be read: {error.strerror or error}")
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        problems.append(f"{where}: not a JSON document: {error}")
    return None


def load_case(folder: Path) -> Case:
    """The case in `folder`.

    Raises:
        CorpusError: anything missing, unknown or of the wrong type, all of it at once, with path and key.
    """
    problems: list[str] = []
    case = read_case(folder, problems)
    if case is None or problems:
        raise CorpusError(problems)
    return case


def read_case(folder: Path, problems: list[str]) -> Case | None:
    """As `load_case`, but notes the problems; None where no record can be built."""
    where = f"{folder.parent.name}/{folder.name}"
    for stream in STREAMS:
        if not (folder / stream).is_file():
            problems.append(f"{where}/{stream}: missing file; an empty stream is an empty file")
    before = len(problems)
    meta_value = load_json(folder / "meta.json", problems, f"{where}/meta.json")
    truth_value = load_json(folder / "truth.json", problems, f"{where}/truth.json")
    if meta_value is None or truth_value is None:
        if len(problems) == before:
            problems.append(f"{where}: meta.json or truth.json is null")
        return None
    meta = _Object(meta_value, f"{where}/meta.json", problems)
    family = meta.text("family", required=True)
    truth = _truth(_Object(truth_value, f"{where}/truth.json", problems), family)
    return _case(meta, truth, folder)


def _case(meta: _Object, truth: Truth, folder: Path) -> Case:
    meta.known(
        "id", "family", "argv", "tool", "tool_version", "exit_code", "ended_by", "origin", "recipe", "source_repo",
        "licence", "question", "strata", "duration_ms",
    )  # fmt: skip
    family = str(meta.data.get("family", ""))
    name = meta.text("id", required=True)
    if family and family != folder.parent.name:
        meta.problem("family", f"{family!r} is not the parent folder {folder.parent.name!r}")
    if name and name not in (folder.name, f"{folder.parent.name}/{folder.name}"):
        meta.problem("id", f"{name!r} is neither {folder.name!r} nor '{folder.parent.name}/{folder.name}'")
    argv = meta.texts("argv", required=True)
    if isinstance(meta.data.get("argv"), list) and not meta.data["argv"]:
        meta.problem("argv", "must not be empty")
    if "exit_code" not in meta.data:
        meta.problem("exit_code", "missing; expected a whole number, or null where a signal ended the command")
    exit_code = meta.number("exit_code")
    strata = meta.get("strata", _is_flat, "an object of texts", {})
    duration = meta.get("duration_ms", lambda v: _is_number(v) and v >= 0, "a whole number, 0 or more", 0)
    return Case(
        id=f"{folder.parent.name}/{folder.name}",
        family=folder.parent.name,
        argv=argv,
        tool=meta.text("tool"),
        tool_version=meta.text("tool_version"),
        exit_code=exit_code,
        ended_by=meta.choice("ended_by", ENDINGS, "unknown" if exit_code is None else "exit"),
        origin=meta.choice("origin", ORIGINS, ORIGINS[0], required=True),
        recipe=meta.text("recipe"),
        source_repo=meta.text("source_repo") or meta.text("tool") or "unknown",
        licence=meta.text("licence"),
        question=_question(meta.object("question")),
        strata={key: value if isinstance(value, str) else json.dumps(value) for key, value in strata.items()},
        duration_ms=duration,
        truth=truth,
        folder=folder,
    )


def _question(question: _Object) -> Question:
    question.known("text", "answer", "words")
    text = question.text("text", required=bool(question.data))
    answer = _Object({}, question.where, [])
    if question.data:
        answer = question.object("answer")
    answer.known("type", "pattern", "scope")
    kind = answer.choice("type", [t.value for t in AnswerType], AnswerType.OUTCOME.value, required=bool(answer.data))
    pattern, scope = answer.text("pattern"), answer.text("scope")
    for key, form in (("pattern", pattern), ("scope", scope)):
        try:
            re.compile(form)
        except re.error as error:
            answer.problem(key, f"not a regular expression: {error}")
    return Question(text=text, answer=AnswerType(kind), pattern=pattern, scope=scope, words=question.texts("words"))


def _truth(truth: _Object, family: str) -> Truth:
    truth.known("outcome", "counts", "items", "decisive", "channel", "channel_digest")
    counts = truth.get(
        "counts",
        lambda v: isinstance(v, dict) and all(_is_number(n) and n >= 0 for n in v.values()),
        "an object of whole numbers, 0 or more",
        {},
        required=True,
    )
    rows = truth.get("items", lambda v: isinstance(v, list), "a list of objects", [], required=True)
    items = [
        _item(_Object(row, f"{truth.where}: items[{position}]", truth.problems), family)
        for position, row in enumerate(rows)
    ]
    digest = truth.text("channel_digest")
    matched = _DIGEST.fullmatch(digest)
    if digest and not matched:
        truth.problem("channel_digest", f"expected 64 hex digits, found {_shape(digest)}")
    return Truth(
        outcome=truth.choice("outcome", OUTCOMES, "unknown", required=True),
        counts=dict(counts),
        items=tuple(items),
        decisive=truth.texts("decisive", required=True),
        channel=truth.text("channel", required=True),
        channel_digest=matched[1] if matched else "",
    )


def _item(item: _Object, family: str) -> TruthItem:
    for key in sorted(set(item.data) - set(_ITEM_KEYS)):
        if near := difflib.get_close_matches(key, _ITEM_KEYS, n=1, cutoff=0.75):
            item.problem(key, f"unknown key; did you mean {near[0]!r}?")
    name = "id" if "id" in item.data and "identity" not in item.data else "identity"
    composed = "" if name in item.data else _composed(item.data)
    return TruthItem(
        identity=composed or item.text(name, required=bool(item.data)),
        kind=item.text("kind") or _DEFAULT_KINDS.get(family, "item"),
        file=item.text("file"),
        line=item.number("line"),
        column=item.number("column"),
        code=item.text("code"),
        message=item.text("message"),
        severity=item.text("severity"),
        phase=item.text("phase"),
    )


def _composed(data: Mapping[str, Any]) -> str:
    """`file:line:column: CODE message` of an item that names its place but no identity."""
    place = ":".join(str(data[key]) for key in ("file", "line", "column") if data.get(key) not in (None, ""))
    text = " ".join(str(data[key]) for key in ("code", "message") if data.get(key))
    return f"{place}: {text}" if data.get("file") and text else ""


def case_folders(corpus: Path) -> list[Path]:
    """The case folders below `corpus`, sorted by family and name."""
    root = corpus / CASES_FOLDER
    if not root.is_dir():
        return []
    return sorted(
        case
        for family in root.iterdir()
        if family.is_dir()
        for case in family.iterdir()
        if case.is_dir()
    )  # fmt: skip


def read_cases(corpus: Path, problems: list[str]) -> tuple[Case, ...]:
    """Every case of the folder `corpus`, frozen or not, sorted by id; problems are noted."""
    cases = [read_case(folder, problems) for folder in case_folders(corpus)]
    return tuple(sorted((case for case in cases if case is not None), key=lambda case: case.id))


def load_manifest(corpus: Path) -> Manifest:
    """The manifest of `corpus`.

    Raises:
        CorpusError: no such folder, no manifest, or one that is not in the format.
    """
    if not corpus.exists():
        raise CorpusError([f"{corpus}: no such folder; give the folder that holds {MANIFEST_NAME}"])
    if not corpus.is_dir():
        raise CorpusError([f"{corpus}: not a folder; give the folder that holds {MANIFEST_NAME}"])
    path = corpus / MANIFEST_NAME
    if not path.is_file():
        raise CorpusError([f"{corpus}: no {MANIFEST_NAME}; run `referee corpus freeze {corpus}` to write it"])
    problems: list[str] = []
    value = load_json(path, problems, MANIFEST_NAME)
    document = _Object(value if value is not None else {}, MANIFEST_NAME, [] if value is None else problems)
    document.known("name", "version", "created_from", "files")
    files = document.get("files", _is_file_table, "an object of paths to 64 hex digits", {}, required=True)
    name, version = document.text("name", required=True), document.text("version", required=True)
    created_from = document.text("created_from")
    if problems:
        raise CorpusError(problems)
    return Manifest(
        name=name,
        version=version,
        created_from=created_from,
        files={path: digest.removeprefix("sha256:") for path, digest in files.items()},
        digest=sha256(path.read_bytes()).hexdigest(),
    )


def _is_file_table(value: Any) -> bool:
    return isinstance(value, dict) and all(_is_text(v) and _DIGEST.fullmatch(v) for v in value.values())


def load_corpus(folder: Path | str) -> Corpus:
    """The frozen corpus in `folder`: name, version and cases. Digests are checked by `verify_corpus`, not here.

    Raises:
        CorpusError: no manifest, no case, or cases that are not in the format; every problem at once.
    """
    corpus = Path(folder)
    manifest = load_manifest(corpus)
    problems: list[str] = []
    cases = read_cases(corpus, problems)
    if not cases and not problems:
        problems.append(f"{corpus}: no case; expected folders {CASES_FOLDER}/<family>/<case>/")
    if problems:
        raise CorpusError(problems)
    return Corpus(
        name=manifest.name,
        version=manifest.version,
        manifest_digest=manifest.digest,
        cases=cases,
        folder=corpus,
    )
