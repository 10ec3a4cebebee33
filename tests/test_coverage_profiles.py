"""The acceptance matrix of S5.0.13: eleven rows, every family.

A family is one entry of `FAMILIES`; a row is one test. Samples are case folders of the corpus or of `tests/profiles`;
where no tool prints the situation, a sample is made from real ones and says so. What a row asserts is checked against
the bytes: addresses are redeemed through a store, coordinates against lines counted here.
"""

import json
import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

import pytest

import ctx
from ctx.digest import _PROFILES
from ctx.evidence import CENSUS_KINDS, ItemKind, Missing, Outcome, Precision
from ctx.text import tok

ROOT = Path(__file__).parents[1]
CORPUS = ROOT / "corpora" / "core" / "cases"
INLINE_TOKENS = 400
REPLY_TOKENS = 1200
_NEXT = re.compile(r"^next: ctx get (run:\S+ --lines \d+:\d+)$", re.MULTILINE)
_ADDRESS = re.compile(r"run:(?P<handle>[0-9a-f]{6,64})#(?P<stream>\w+)(?: --lines (?P<first>\d+):(?P<last>\d+))?$")


@dataclass(frozen=True, kw_only=True, slots=True)
class Sample:
    """One captured output."""

    stdout: bytes
    stderr: bytes = b""
    argv: tuple[str, ...] = ()
    exit_code: int | None = None
    made: str = ""
    """How it was made, where no tool printed it as it stands."""
    truth: Mapping[str, Any] | None = None

    def stream(self, name: str) -> bytes:
        return self.stdout if name == "stdout" else self.stderr

    def digest(self, store: ctx.Store | None = None) -> ctx.Rendered:
        return ctx.digest_output(self.stdout, self.stderr, argv=self.argv, exit_code=self.exit_code, store=store)


@dataclass(frozen=True, kw_only=True, slots=True)
class Told:
    """A sample with a text that decides."""

    sample: Sample
    text: str


@dataclass(frozen=True, kw_only=True, slots=True)
class Single:
    """Row 3: one failure."""

    sample: Sample
    identity: str
    detail: str
    """A line of useful detail."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Mixed:
    """Row 9: evidence on both streams."""

    sample: Sample
    stdout: str
    stderr: str
    """A text on each of them, in a line of its own."""


@dataclass(frozen=True, kw_only=True, slots=True)
class Family:
    """The samples of the eleven rows, in their order."""

    small: Sample
    large: Told
    single: Single
    many: Sample
    tail: Told
    middle: Told
    malformed: Sample
    truncated: Sample
    mixed: Mixed
    volatile: tuple[Sample, Callable[[bytes], bytes]]
    region: Sample


def corpus(name: str) -> Sample:
    """A case of the corpus."""
    return _folder(CORPUS / name)


def first_identity(name: str) -> str:
    """The first recorded identity of a corpus case."""
    return str(json.loads((CORPUS / name / "truth.json").read_text(encoding="utf-8"))["items"][0]["identity"])


def first_decisive(name: str) -> str:
    """The first text that decides, as a corpus case records it."""
    return str(json.loads((CORPUS / name / "truth.json").read_text(encoding="utf-8"))["decisive"][0])


def _folder(folder: Path) -> Sample:
    meta = json.loads((folder / "meta.json").read_text(encoding="utf-8"))
    return Sample(
        stdout=(folder / "stdout.txt").read_bytes(),
        stderr=(folder / "stderr.txt").read_bytes(),
        argv=tuple(meta["argv"]),
        exit_code=meta["exit_code"],
        truth=json.loads((folder / "truth.json").read_text(encoding="utf-8")),
    )


def lines_of(raw: bytes, first: int, last: int) -> bytes:
    """Lines `first`..`last` (1-based, inclusive) with their ends, counted here."""
    parts = raw.split(b"\n")
    ended = [part + b"\n" for part in parts[:-1]] + ([parts[-1]] if parts[-1] else [])
    return b"".join(ended[first - 1 : last])


def _between(sample: Sample, filler: Callable[[int], bytes], *, made: str) -> Sample:
    """`sample` in the middle of 400 lines of a build that says nothing."""
    before = b"".join(filler(n) for n in range(200))
    after = b"".join(filler(n) for n in range(200, 400))
    return replace(sample, stderr=before + sample.stderr + after, made=made)


def _compiled(number: int) -> bytes:
    return b"cc -O2 -Wall -Iinclude -c src/unit_%04d.c -o build/unit_%04d.o\n" % (number, number)


def _one_of(sample: Sample) -> Sample:
    """The first diagnostic of gcc alone, with its function line and its source."""
    rows = sample.stderr.split(b"\n")
    return replace(sample, stderr=b"\n".join(rows[:5]) + b"\n", argv=("make", "-s"), truth=None)


def _later(raw: bytes) -> bytes:
    """The same output of another day, another process and another temporary folder."""
    raw = re.sub(rb"\b\d+\.\d\d?s\b", b"98.76s", raw)
    raw = re.sub(rb"\bin \d+\.\d+ ?s", b"in 98.76s", raw)
    raw = re.sub(rb"/tmp/[\w.-]+", b"/tmp/quite-another_x7", raw)
    return re.sub(rb"\bpid[ =]\d+", lambda found: found[0][:4] + b"98765", raw)


_WORKER = b"worker pid %d took 1.25s over /tmp/build-%d: part %d done\n"


def _noisy() -> bytes:
    """A program's progress with times, process ids and temporary paths, and one failure."""
    rows = [_WORKER % (4000 + n, n % 7, n) for n in range(120)]
    rows[60] = b"error: part 60 has no signature\n"
    return b"".join(rows)


FAMILIES = {
    "pytest": Family(
        small=corpus("pytest/tiny-pass"),
        large=Told(sample=corpus("pytest/inflection-pass-v-flood"), text="455 passed"),
        single=Single(
            sample=corpus("pytest/pluggy-one-v"),
            identity=first_identity("pytest/pluggy-one-v"),
            detail="E       ",
        ),
        many=corpus("pytest/wcwidth-200-colour"),
        tail=Told(sample=corpus("pytest/more-itertools-200-v-rfE"), text="222 failed, 543 passed"),
        middle=Told(sample=corpus("pytest/inflection-one-vv-middle"), text="PASSED"),
        malformed=replace(
            corpus("pytest/toolz-37-default"),
            stdout=corpus("pytest/toolz-37-default").stdout[:9000].replace(b"test_", b"\xff\x00test_")[:-7] * 2,
            made="cut, doubled, and sprinkled with bytes that are no text",
        ),
        truncated=corpus("pytest/tabulate-37-head-cut"),
        mixed=Mixed(
            sample=replace(
                corpus("pytest/toolz-37-default"),
                stderr=b"".join(_compiled(n) for n in range(300)) + b"Exception ignored in: <function Pool.__del__>\n",
                made="a build on the other stream",
            ),
            stdout="short test summary info",
            stderr="Exception ignored in: <function Pool.__del__>",
        ),
        volatile=(corpus("pytest/toolz-37-default"), _later),
        region=corpus("pytest/pluggy-37-vv-tb-long"),
    ),
    "lint": Family(
        small=corpus("lint/ruff-idna-pass"),
        large=Told(sample=corpus("lint/eslint-minimist-warnings-only"), text="146 problems"),
        single=Single(
            sample=_between(
                _one_of(corpus("lint/gcc-stock-errors")), _compiled, made="one diagnostic of gcc in a long build"
            ),
            identity="broken.c:5:11: ‘struct item’ has no member named ‘amount’; did you mean ‘count’?",
            detail="    5 |     item->amount -= number;",
        ),
        many=corpus("lint/mypy-toolz-37"),
        tail=Told(sample=corpus("lint/ruff-pluggy-syntax-error"), text="21 errors"),
        middle=Told(sample=corpus("lint/clang-table-colour"), text="requested here"),
        malformed=replace(
            _folder(ROOT / "tests" / "profiles" / "lint" / "ruff-sarif"),
            stdout=_folder(ROOT / "tests" / "profiles" / "lint" / "ruff-sarif").stdout[:20_000] + b'"}]\n\xff\xfe',
            made="a SARIF document that ends in its middle",
        ),
        truncated=corpus("lint/ruff-humanize-concise-cut"),
        mixed=Mixed(
            sample=replace(
                corpus("lint/mypy-toolz-37"),
                stderr=corpus("lint/gcc-stock-errors").stderr,
                made="a type checker on one stream, a compiler on the other",
            ),
            stdout='Name "annotationlib" is not defined',
            stderr="‘missing_limit’ undeclared (first use in this function)",
        ),
        volatile=(
            replace(
                corpus("lint/cargo-ledger-errors"),
                stderr=corpus("lint/cargo-ledger-errors").stderr + b"    Finished in 0.17s, log: /tmp/cargo-x81\n",
                made="a closing line with a time and a temporary path",
            ),
            _later,
        ),
        region=corpus("lint/pylint-toolz-parseable"),
    ),
    "text": Family(
        small=corpus("text/summary-small-pass"),
        large=Told(sample=corpus("text/import-rows-total"), text="rejected rows in total: 713"),
        single=Single(
            sample=corpus("text/migrate-middle-3000"),
            identity='migration 00611 failed: column "tax_code',
            detail='migration 00611 failed: column "tax_code',
        ),
        many=corpus("text/server-medium"),
        tail=Told(sample=corpus("text/release-green-words-exit-2"), text="step 7 (sign artifacts): gpg: signing fa"),
        middle=Told(sample=corpus("text/migrate-middle-3000"), text="migration"),
        malformed=corpus("text/encodings-mixed"),
        truncated=corpus("text/killed-in-a-line"),
        mixed=Mixed(
            sample=corpus("text/sync-stderr-under-flood"),
            stdout="3199 of 3200 objects copied",
            stderr=first_decisive("text/sync-stderr-under-flood"),
        ),
        volatile=(
            Sample(stdout=_noisy(), argv=("build",), exit_code=1, made="a program with volatile progress"),
            _later,
        ),
        region=corpus("text/migrate-middle-3000"),
    ),
}

EVERY = pytest.mark.parametrize("name", sorted(FAMILIES))


@pytest.fixture
def store(tmp_path: Path) -> ctx.Store:
    return ctx.Store(tmp_path / "store")


def redeemed(store: ctx.Store, sample: Sample, address: str) -> bytes:
    """The bytes behind an address of lines, after they were compared with the lines counted here."""
    found = _ADDRESS.match(address)
    assert found is not None, address
    raw = store.read(address)
    if found["first"] is not None:
        assert raw == lines_of(sample.stream(found["stream"]), int(found["first"]), int(found["last"])), address
    else:
        assert raw == sample.stream(found["stream"]), address
    return raw


def regions(rendered: ctx.Rendered) -> list[str]:
    """Printed addresses of the captured streams."""
    return [a for a in rendered.addresses if _ADDRESS.match(a) and ("#stdout" in a or "#stderr" in a)]


@EVERY
def test_1_a_small_success_is_passed_on_byte_for_byte(name: str, store: ctx.Store) -> None:
    sample = FAMILIES[name].small
    rendered = sample.digest(store)
    assert rendered.raw_tokens <= INLINE_TOKENS
    assert rendered.text.encode() == sample.stdout + sample.stderr
    assert rendered.addresses == ()
    assert rendered.plan.rung == "inline"
    assert rendered.family == name


@EVERY
def test_2_a_large_success_is_bounded_and_keeps_its_conclusion(name: str, store: ctx.Store) -> None:
    told = FAMILIES[name].large
    rendered = told.sample.digest(store)
    assert rendered.raw_tokens > INLINE_TOKENS
    assert rendered.digest_tokens < rendered.raw_tokens
    assert rendered.digest_tokens <= ctx.load_contract(name).ceiling_tokens
    assert told.text in rendered.text
    assert "FAIL" not in rendered.text.split("\n")[0]


@EVERY
def test_3_a_single_failure_has_identity_detail_and_exact_address(name: str, store: ctx.Store) -> None:
    single = FAMILIES[name].single
    rendered = single.sample.digest(store)
    assert rendered.plan.rung == "fail_census"
    assert single.identity in rendered.text
    quoted = [line for line in rendered.text.split("\n") if line.startswith("| ")]
    assert any(single.detail in line for line in quoted)
    behind = [redeemed(store, single.sample, address) for address in regions(rendered)]
    wanted = single.identity.rpartition("::")[2].encode() if name == "pytest" else single.detail.encode()
    exact = [raw for raw in behind if wanted in raw]
    assert exact
    if name != "text":  # a line of text is its own identity and is shown, not addressed
        assert min(map(len, exact)) < len(single.sample.stdout + single.sample.stderr) / 4


@EVERY
def test_4_many_failures_are_a_whole_census_under_pressure(name: str, store: ctx.Store) -> None:
    sample = FAMILIES[name].many
    rendered = sample.digest(store)
    graph, receipt = rendered.graph, rendered.receipt
    assert rendered.plan.rung in ("dense", "fail_census")
    assert rendered.digest_tokens <= ctx.load_contract(name).ceiling_tokens
    assert sample.truth is not None
    if name == "text":
        standing = [item for item in graph.items if item.kind is ItemKind.LINE and item.fields.get("rank") == 1]
        assert standing
        assert receipt.classes["standing_lines"].state == "present"
        assert all(item["identity"] in rendered.text for item in sample.truth["items"])
        return
    census = [item for item in graph.items if item.kind in CENSUS_KINDS]
    assert len(census) == receipt.items_total == receipt.items_named == len(sample.truth["items"])
    assert receipt.omitted_items == 0
    for item in sample.truth["items"]:
        end = item["identity"].rpartition("::")[2] if name == "pytest" else f":{item['line']}"
        assert end in rendered.text, item["identity"]


@EVERY
def test_5_a_decisive_tail_is_kept(name: str, store: ctx.Store) -> None:
    told = FAMILIES[name].tail
    rendered = told.sample.digest(store)
    assert rendered.plan.rung != "inline"
    assert told.text in rendered.text
    assert rendered.graph.outcome is Outcome.FAIL or name == "text"


@EVERY
def test_6_an_omitted_line_of_the_middle_is_behind_an_address(name: str, store: ctx.Store) -> None:
    told = FAMILIES[name].middle
    rendered = told.sample.digest(store)
    streams = (("stdout", told.sample.stdout), ("stderr", told.sample.stderr))
    wanted = next(
        line
        for _, raw in streams
        for line in raw.split(b"\n")[20:-20]
        if told.text.encode() in line and line.decode("utf-8", "replace") not in rendered.text
    )
    behind = [redeemed(store, told.sample, address) for address in regions(rendered)]
    assert any(wanted in raw for raw in behind)
    assert "omitted" in rendered.text


@EVERY
def test_7_malformed_output_is_labelled_and_never_a_crash(name: str, store: ctx.Store) -> None:
    sample = FAMILIES[name].malformed
    rendered = sample.digest(store)
    coverage = rendered.graph.coverage
    assert not coverage.complete or coverage.precision is Precision.FALLBACK
    assert coverage.precision is not Precision.FULL
    assert "precision: " in rendered.text or "not interpreted" in rendered.text
    assert rendered.graph.outcome is not Outcome.PASS


@EVERY
def test_8_truncated_output_makes_no_claim_of_completeness(name: str, store: ctx.Store) -> None:
    sample = FAMILIES[name].truncated
    rendered = sample.digest(store)
    assert not rendered.graph.coverage.complete
    assert not rendered.receipt.complete
    closing = [line for line in rendered.text.split("\n") if line.startswith("coverage:")]
    assert all(not line.endswith("· complete") for line in closing)
    if rendered.plan.rung != "inline":
        assert closing


@EVERY
def test_9_evidence_of_both_streams_has_the_coordinates_of_its_own(name: str, store: ctx.Store) -> None:
    mixed = FAMILIES[name].mixed
    rendered = mixed.sample.digest(store)
    seen = set()
    for item in rendered.graph.items:
        raw = mixed.sample.stream(item.source.stream)
        if item.kind in (ItemKind.TEMPLATE, ItemKind.DISAGREEMENT):
            continue
        assert raw[item.source.first_byte : item.source.end_byte] == lines_of(
            raw, item.source.first_line, item.source.last_line
        )
        if not isinstance(item.detail, Missing):
            assert item.detail.stream == item.source.stream
        seen.add(item.source.stream)
    if name == "lint":
        assert seen == {"stdout", "stderr"}
    reachable = {"stdout": b"", "stderr": b""}
    for address in regions(rendered):
        found = _ADDRESS.match(address)
        assert found is not None
        reachable[found["stream"]] += redeemed(store, mixed.sample, address)
    for stream, text in (("stdout", mixed.stdout), ("stderr", mixed.stderr)):
        assert text.encode() in mixed.sample.stream(stream)
        assert text in rendered.text or text.encode() in reachable[stream]
    assert mixed.stderr in rendered.text, "a stream with little on it is never drowned by the other"


@EVERY
def test_10_a_volatile_rerun_prints_the_same_bytes(name: str, tmp_path: Path) -> None:
    sample, later = FAMILIES[name].volatile
    again = replace(sample, stdout=later(sample.stdout), stderr=later(sample.stderr))
    assert (again.stdout, again.stderr) != (sample.stdout, sample.stderr)
    store = ctx.Store(tmp_path / "store")
    first, second = sample.digest(store), again.digest(store)
    assert first.plan.rung != "inline"
    assert first.text == second.text
    assert first.meta == second.meta
    assert first.receipt == second.receipt


@EVERY
def test_11_a_very_large_region_is_served_in_bounded_steps_to_its_end(name: str, store: ctx.Store) -> None:
    """S8.9, S8.10: replies are bounded, every step is smaller than its parent, and the steps cover the region."""
    sample = FAMILIES[name].region
    rendered = sample.digest(store)
    raw = sample.stdout
    total = raw.count(b"\n") + (not raw.endswith(b"\n"))
    whole = f"run:{rendered.meta.handle[:12]}#stdout"
    queue, asked, shown = [whole], {whole}, set[int]()
    steps = 0
    while queue:
        address = queue.pop()
        reply = store.get(address)
        steps += 1
        assert steps < 2 * total
        assert tok(reply.text) <= REPLY_TOKENS * 1.1
        first, last = _range(address, total)
        if reply.complete:
            shown.update(range(first, last + 1))
            assert reply.body == lines_of(raw, first, last)
            continue
        inner = [found[1] for found in _NEXT.finditer(reply.text)]
        assert inner, address
        covered = set[int]()
        for sub in inner:
            low, high = _range(sub, total)
            assert first <= low <= high <= last
            assert (low, high) != (first, last), "a step is smaller than its parent"
            covered.update(range(low, high + 1))
            if sub not in asked:
                asked.add(sub)
                queue.append(sub)
        shown.update(set(range(first, last + 1)) - covered)
    assert steps > 1
    assert shown == set(range(1, total + 1))


def _range(address: str, total: int) -> tuple[int, int]:
    found = _ADDRESS.match(address)
    assert found is not None, address
    return (int(found["first"]), int(found["last"])) if found["first"] else (1, total)


def test_every_registered_family_is_in_the_matrix() -> None:
    """S5.0.12: a family without its row of samples is not accepted."""
    assert {profile.family for profile in _PROFILES} == set(FAMILIES)
