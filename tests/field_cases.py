"""Judge of field cases: does a digest hold what `tests/fixtures/field-cases/README.md` expects of it?

Reads what a program or a person reads: the document of `ctx ingest --json`, the graph file, and what `ctx get` brings
back for the printed addresses. Knows no profile.
"""

import json
import re
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

FOLDER = Path(__file__).parent / "fixtures" / "field-cases"

ESCAPES = re.compile(
    r"\x1b\][^\x07\x1b]*(?:\x07|\x1b\\)|\x1b\[[0-?]*[ -/]*[@-~]|\x1b[()*+][0-9A-Za-z]|\x1b[@-Z\\^_a-z=>]"
)


@dataclass(frozen=True, kw_only=True, slots=True)
class FieldCase:
    """One folder: its records and the two streams."""

    name: str
    meta: Mapping[str, Any]
    truth: Mapping[str, Any]
    stdout: bytes
    stderr: bytes

    @property
    def raw(self) -> str:
        """Both streams as text, standard output first."""
        return self.stdout.decode("utf-8", "replace") + self.stderr.decode("utf-8", "replace")


@dataclass(frozen=True, kw_only=True, slots=True)
class Answer:
    """What the command gave for one case."""

    document: Mapping[str, Any]
    items: tuple[Mapping[str, Any], ...]
    fetched: str = field(repr=False)
    """Bodies of every printed address, followed to the end, joined."""
    exit_code: int

    @property
    def digest(self) -> str:
        return str(self.document["digest"])


def names() -> list[str]:
    """Cases about one output; scenarios are stories that tests of the store and of the command line tell."""
    return sorted(
        f"{meta.parent.parent.name}/{meta.parent.name}"
        for meta in FOLDER.glob("*/*/meta.json")
        if not (meta.parent / "scenario.md").exists()
    )


def load(name: str) -> FieldCase:
    folder = FOLDER / name
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    truth = json.loads((folder / "truth.json").read_text(encoding="utf-8"))
    if (folder / "gen.py").exists():
        made = subprocess.run(
            [sys.executable, "-I", "gen.py"], cwd=folder, capture_output=True, check=False, timeout=60
        )
        stdout, stderr = made.stdout, made.stderr
    else:
        stdout, stderr = (folder / "stdout.txt").read_bytes(), (folder / "stderr.txt").read_bytes()
    return FieldCase(name=name, meta=meta, truth=truth, stdout=stdout, stderr=stderr)


def plain(text: str) -> str:
    return ESCAPES.sub("", text)


def screen(text: str) -> str:
    """The last state of every overwritten line."""
    shown = []
    for line in plain(text).split("\n"):
        parts = [part for part in line.rstrip("\r").split("\r") if part]
        shown.append(parts[-1] if parts else "")
    return "\n".join(shown)


FORMS: Mapping[str, Callable[[str], str]] = {
    "plain": plain,
    "screen": screen,
    "cr-lines": lambda text: plain(text).replace("\r\n", "\n").replace("\r", "\n"),
}


def problems(case: FieldCase, answer: Answer) -> list[str]:
    """What is wrong, one line an expectation that does not hold."""
    found = []
    for expectation in case.meta["expect"]:
        modifiers = {key: value for key, value in expectation.items() if key in ("after", "in_raw")}
        for key, wanted in expectation.items():
            if key in modifiers:
                continue
            judge = JUDGES.get(key)
            if judge is None:
                found.append(f"{key}: no judge for it")
            else:
                found.extend(f"{key}: {line}" for line in judge(case, answer, wanted, modifiers))
    return found


Judge = Callable[[FieldCase, Answer, Any, Mapping[str, Any]], Iterator[str]]


def _inline(case: FieldCase, answer: Answer, wanted: str, how: Mapping[str, Any]) -> Iterator[str]:
    form = FORMS.get(str(how.get("after", "")))
    wanted = form(wanted) if form else wanted
    if wanted not in answer.digest:
        yield repr(wanted)


def _absent(case: FieldCase, answer: Answer, wanted: str, how: Mapping[str, Any]) -> Iterator[str]:
    if wanted.lower() in answer.digest.lower():
        yield repr(wanted)


def _retrievable(case: FieldCase, answer: Answer, wanted: str, how: Mapping[str, Any]) -> Iterator[str]:
    if wanted not in answer.digest and wanted not in answer.fetched:
        yield repr(wanted)


def _retrievable_bytes(case: FieldCase, answer: Answer, wanted: bool, how: Mapping[str, Any]) -> Iterator[str]:
    if "#stdout" not in " ".join(answer.document["addresses"]) and answer.digest != case.raw:
        yield "no address of the stream"


def _lines(answer: Answer, how: Mapping[str, Any]) -> list[str]:
    form = FORMS.get(str(how.get("after", "")))
    return (form(answer.digest) if form else answer.digest).split("\n")


def _same_line(case: FieldCase, answer: Answer, wanted: list[str], how: Mapping[str, Any]) -> Iterator[str]:
    first, second = wanted
    together = any(first in line and second in line for line in _lines(answer, how))
    if first in answer.digest and second in answer.digest and not together:
        yield repr(wanted)


def _not_same_line(case: FieldCase, answer: Answer, wanted: list[str], how: Mapping[str, Any]) -> Iterator[str]:
    first, second = wanted
    for line in _lines(answer, how):
        if first in line and second in line:
            yield repr(line)


def _order(case: FieldCase, answer: Answer, wanted: list[str], how: Mapping[str, Any]) -> Iterator[str]:
    # Two pipes carry no common clock: what is written to both within microseconds arrives in either order, so the order
    # holds within each stream.
    for stream in (case.stdout.decode("utf-8", "replace"), case.stderr.decode("utf-8", "replace")):
        places = [answer.digest.index(text) for text in wanted if text in answer.digest and text in stream]
        if places != sorted(places):
            yield repr(wanted)


def _under(case: FieldCase, answer: Answer, wanted: list[str], how: Mapping[str, Any]) -> Iterator[str]:
    heading, text, following = wanted
    if text in answer.digest:
        at = answer.digest.index(text)
        after = answer.digest.find(following) if following else -1
        if not (answer.digest.find(heading) < at and (after < 0 or at < after)):
            yield repr(wanted)


def _adjacent_or_marked(case: FieldCase, answer: Answer, wanted: list[str], how: Mapping[str, Any]) -> Iterator[str]:
    lines = answer.digest.split("\n")
    first, second = wanted
    for number, line in enumerate(lines[:-1]):
        if first in line and second not in lines[number + 1] and "omitted" not in lines[number + 1]:
            yield repr(lines[number + 1])


def _at_most(case: FieldCase, answer: Answer, wanted: Mapping[str, Any], how: Mapping[str, Any]) -> Iterator[str]:
    if answer.document["rung"] == "inline":
        return  # a small output is passed on whole: that law outranks folding
    times = answer.digest.count(wanted["text"])
    if times > wanted["times"]:
        yield f"{wanted['text']!r}: {times} times"


def _count(case: FieldCase, answer: Answer, wanted: Mapping[str, int], how: Mapping[str, Any]) -> Iterator[str]:
    aggregate = answer.document["aggregate"]
    for name, number in wanted.items():
        told = {key: value for key, value in aggregate.items() if key.rstrip("s") == name.rstrip("s")}
        if told and set(told.values()) != {number}:
            yield f"{name} is {number}, the digest's totals say {told}"
        if not told and number and not _stated(case, answer, name, number):
            yield f"{name} = {number} is not stated"


def _stated(case: FieldCase, answer: Answer, name: str, number: int) -> bool:
    if answer.digest.encode() == case.stdout + case.stderr or answer.document["rung"] == "inline":
        return True  # whoever reads the whole output counts for themselves
    return re.search(rf"(?<![\d,.]){number:,}(?![\d])", answer.digest) is not None


def _item(case: FieldCase, answer: Answer, wanted: Mapping[str, Any], how: Mapping[str, Any]) -> Iterator[str]:
    texts = [str(value) for value in wanted.values()]
    if any(all(text in json.dumps(item, ensure_ascii=False) for text in texts) for item in answer.items):
        return
    if any(all(text in line for text in texts) for line in answer.digest.split("\n")):
        return
    yield repr(dict(wanted))


def _adds_up(case: FieldCase, answer: Answer, wanted: Mapping[str, Any], how: Mapping[str, Any]) -> Iterator[str]:
    total = wanted["total"]
    if answer.document["rung"] == "inline" or re.search(rf"(?<!\d){total:,}(?!\d)", answer.digest):
        return
    shown = sum(line.startswith("| ") and " omitted (" not in line for line in answer.digest.split("\n"))
    left = sum(int(text.replace(",", "")) for text in re.findall(r"([\d,]+) lines omitted", answer.digest))
    if shown + left < total:
        yield f"{shown} shown and {left} declared as left out, of {total}"


def _failing_ids(case: FieldCase, answer: Answer, wanted: list[str], how: Mapping[str, Any]) -> Iterator[str]:
    kinds = ("failing_test", "erroring_test", "load_error")
    found = sorted({str(item["identity"]) for item in answer.items if item["kind"] in kinds})
    if found != sorted(wanted):
        yield repr(found)


def _line_n(case: FieldCase, answer: Answer, wanted: Mapping[str, Any], how: Mapping[str, Any]) -> Iterator[str]:
    if answer.document["rung"] == "inline" and answer.digest.split("\n")[wanted["n"] - 1] != wanted["text"]:
        yield repr(answer.digest.split("\n")[wanted["n"] - 1])


def _outcome(case: FieldCase, answer: Answer, wanted: str, how: Mapping[str, Any]) -> Iterator[str]:
    told = answer.document["outcome"]
    if told != {"default": "unknown"}.get(wanted, wanted):
        yield f"{told}, right is {wanted}"


def _exit_code(case: FieldCase, answer: Answer, wanted: int, how: Mapping[str, Any]) -> Iterator[str]:
    if answer.exit_code != (wanted if case.meta.get("runnable") else 0):
        yield f"ctx ended with {answer.exit_code}"
    if answer.document["rung"] != "inline" and f"exit {wanted}" not in answer.digest.split("\n")[0]:
        yield f"the headline does not say exit {wanted}"


def _max_tokens(case: FieldCase, answer: Answer, wanted: int, how: Mapping[str, Any]) -> Iterator[str]:
    if len(answer.digest.encode()) / 4 > wanted:
        yield f"{len(answer.digest.encode()) // 4}, limit {wanted}"


def _not_larger(case: FieldCase, answer: Answer, wanted: bool, how: Mapping[str, Any]) -> Iterator[str]:
    if len(answer.digest.encode()) > len(case.stdout + case.stderr):
        yield f"{len(answer.digest.encode())} bytes, raw {len(case.stdout + case.stderr)}"


def _verbatim(case: FieldCase, answer: Answer, wanted: bool, how: Mapping[str, Any]) -> Iterator[str]:
    if answer.digest.encode() != case.stdout + case.stderr:
        yield "the digest is not the output"


def _declares(case: FieldCase, answer: Answer, wanted: bool, how: Mapping[str, Any]) -> Iterator[str]:
    if answer.document["rung"] == "inline":
        return  # nothing was left out
    if "omitted" not in answer.digest or not answer.document["addresses"]:
        yield "no omission with an address"


def _valid(case: FieldCase, answer: Answer, wanted: str, how: Mapping[str, Any]) -> Iterator[str]:
    if wanted == "json" and answer.document["rung"] == "inline":
        json.loads(answer.digest)
    answer.digest.encode("utf-8")
    yield from ()


def _only_raw_lines(case: FieldCase, answer: Answer, wanted: bool, how: Mapping[str, Any]) -> Iterator[str]:
    known = set(plain(case.raw).split("\n"))
    for line in answer.digest.split("\n"):
        if answer.document["rung"] == "inline" and line not in known:
            yield repr(line)
        if line.startswith("| ") and " omitted (" not in line and line[2:] not in known:
            yield repr(line)


def _binary(case: FieldCase, answer: Answer, wanted: bool, how: Mapping[str, Any]) -> Iterator[str]:
    size = f"{len(case.stdout):,}"
    if "binary" not in answer.digest or size not in answer.digest:
        yield f"neither declared binary nor its size {size}"


def _address_lacks(case: FieldCase, answer: Answer, wanted: str, how: Mapping[str, Any]) -> Iterator[str]:
    yield from (address for address in answer.document["addresses"] if wanted in address)


def _held(case: FieldCase, answer: Answer, wanted: Any, how: Mapping[str, Any]) -> Iterator[str]:
    """What the way of asking proves: the digest came back, in time, of this argv."""
    yield from ()


JUDGES: Mapping[str, Judge] = {
    "inline": _inline,
    "absent": _absent,
    "retrievable": _retrievable,
    "retrievable_bytes": _retrievable_bytes,
    "same_line": _same_line,
    "not_same_line": _not_same_line,
    "order": _order,
    "under": _under,
    "adjacent_or_marked": _adjacent_or_marked,
    "at_most": _at_most,
    "count": _count,
    "item": _item,
    "adds_up": _adds_up,
    "failing_ids": _failing_ids,
    "line_n": _line_n,
    "outcome": _outcome,
    "exit_code": _exit_code,
    "max_tokens": _max_tokens,
    "max_seconds": _held,
    "not_larger_than_raw": _not_larger,
    "verbatim": _verbatim,
    "declares_omission": _declares,
    "deterministic": _held,
    "valid": _valid,
    "only_raw_lines": _only_raw_lines,
    "binary_declared_or_verbatim": _binary,
    "digest_still_produced": _held,
    "address_lacks": _address_lacks,
    "command_unchanged": _held,
    "file_mode_at_most": _held,
}
