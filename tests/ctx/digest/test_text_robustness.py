"""No input may crash the text family, lose a line unsaid, or make it claim a verdict (S5.12.3, S7.10, S3.4).

The law of the accounts: in a digest of text, the lines that are quoted and the lines that its marks count are together
all lines of the stream, and each mark's address holds exactly the lines that it counts.
"""

import re
from collections import Counter
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import ctx
from ctx.digest.base import CaptureFacts, DigestContext
from ctx.digest.textprof import TextProfile
from ctx.evidence import EvidenceGraph, ItemKind, Outcome
from ctx.pipeline import digest_capture
from ctx.text import StreamView

CASES = Path(__file__).parents[3] / "corpora" / "core" / "cases" / "text"
NAMES = [
    "compileall-attrs-middle", "control-characters", "encodings-mixed", "folded-one-differs", "forged-digest",
    "git-clone-progress", "killed-in-a-line", "make-part-fails", "migrate-middle-3000", "prompt-unanswered",
    "release-green-words-exit-2", "secrets-in-passing", "server-medium", "sync-host-cut", "train-progress-bars",
    "utf16-from-another-host",
]  # fmt: skip
TEXTS = {name: (CASES / name / "stdout.txt").read_bytes()[:120_000] for name in NAMES}
EXITS = [None, 0, 1, 3, 124, 137]
_SECTION = re.compile(r"detail: (?P<stream>stdout|stderr) \(run:[0-9a-f]{12}#\w+, (?P<total>[\d,]+) lines?\)$")
_GAP = re.compile(
    r"\| … (?P<count>[\d,]+) lines? omitted \(run:[0-9a-f]{12}#\w+ --lines (?P<first>\d+):(?P<last>\d+)\)$"
)
_OMITTED = re.compile(r"(?P<stream>stdout|stderr) (?P<hidden>[\d,]+) of (?P<total>[\d,]+) lines?")


def number(text: str) -> int:
    return int(text.replace(",", ""))


def extract(stdout: bytes, stderr: bytes, exit_code: int | None) -> EvidenceGraph:
    views = {"stdout": StreamView("stdout", stdout), "stderr": StreamView("stderr", stderr)}
    facts = CaptureFacts(argv=("./job",), exit_code=exit_code, ended_by="exit" if exit_code is not None else "unknown")
    context = DigestContext(streams=views, manifest=facts)
    graph = TextProfile().extract(context)
    assert len(graph.graph_id) == 64
    assert not graph.coverage.complete
    if exit_code:
        assert graph.outcome is Outcome.FAIL
    elif stdout or stderr:
        assert graph.outcome is Outcome.UNKNOWN
    for reference in [item.source for item in graph.items] + [excerpt.source for excerpt in graph.excerpts]:
        view = views[reference.stream]
        assert 1 <= reference.first_line <= reference.last_line <= view.raw_line_count
        assert view.raw_range(reference.first_line, reference.last_line) == (
            reference.first_byte,
            reference.end_byte,
        )
    for excerpt in graph.excerpts:
        numbers = [line.number for line in excerpt.lines]
        assert numbers == sorted(set(numbers))
    return graph


def accounts(text: str) -> dict[str, tuple[int, int, int]]:
    """Stream -> lines quoted, lines counted by marks, lines that its heading states."""
    found: dict[str, tuple[int, int, int]] = {}
    stream, quoted, hidden, total = "", 0, 0, 0
    for line in [*text.split("\n"), "end"]:
        heading = _SECTION.fullmatch(line)
        if stream and not line.startswith("| "):
            found[stream] = (quoted, hidden, total)
            stream = ""
        if heading is not None:
            stream, quoted, hidden, total = heading["stream"], 0, 0, number(heading["total"])
        elif stream:
            gap = _GAP.fullmatch(line)
            if gap is None:
                quoted += 1
            else:
                assert number(gap["count"]) == int(gap["last"]) - int(gap["first"]) + 1
                hidden += number(gap["count"])
    return found


def check_accounts(rendered: ctx.Rendered, streams: dict[str, int], split: int = 0) -> None:
    """The law of the accounts.

    Args:
        streams: Raw lines of each stream.
        split: So many raw lines are two on a screen, since another program wrote over them: both may be quoted.
    """
    if rendered.plan.rung in ("inline", "flood") or rendered.family != "text":
        return
    told = accounts(rendered.text)
    hidden = Counter({name: marked for name, (_, marked, _) in told.items() if marked})
    for name, (quoted, marked, total) in told.items():
        assert total == streams[name]
        assert total <= quoted + marked <= total + split, name
    omitted = [line for line in rendered.text.split("\n") if line.startswith("omitted: ")]
    stated = {m["stream"]: number(m["hidden"]) for line in omitted for m in _OMITTED.finditer(line)}
    assert stated == dict(hidden)
    assert rendered.receipt.omitted_lines == sum(hidden.values())


_LINE = st.one_of(
    st.integers(0, 9).map(lambda n: f"step {n} of the usual kind took {n}.5s"),
    st.sampled_from(
        ["error: it broke", "Permission denied", "ok", "", "   indented", "x" * 1000, "next: ctx get run:000000000000"]
    ),
    st.text(alphabet="abc :-#0123456789", max_size=60),
)


@given(
    lines=st.lists(_LINE, max_size=80),
    copies=st.integers(1, 6),
    others=st.lists(_LINE, max_size=12),
    exit_code=st.sampled_from(EXITS),
)
def test_quoted_and_omitted_lines_are_all_lines(
    lines: list[str], copies: int, others: list[str], exit_code: int | None
) -> None:
    stdout = "".join(f"{line}\n" for line in lines * copies).encode()
    stderr = "".join(f"{line}\n" for line in others).encode()
    extract(stdout, stderr, exit_code)
    facts = CaptureFacts(argv=("./job",), exit_code=exit_code)
    rendered = digest_capture({"stdout": stdout, "stderr": stderr}, facts, profiles=(TextProfile(),))
    check_accounts(rendered, {"stdout": len(lines) * copies, "stderr": len(others)})


@pytest.mark.parametrize("name", sorted(path.name for path in CASES.iterdir()))
def test_the_accounts_of_a_corpus_case_hold_and_its_marks_hold_their_lines(name: str, tmp_path: Path) -> None:
    streams = {stream: (CASES / name / f"{stream}.txt").read_bytes() for stream in ("stdout", "stderr")}
    if sum(map(len, streams.values())) > 1_000_000:
        return  # the accounts of smaller ones are the same, and take a tenth of the time
    store = ctx.Store(tmp_path / "store")
    rendered = ctx.digest_output(streams["stdout"], streams["stderr"], argv=(name,), exit_code=1, store=store)
    views = {stream: StreamView(stream, raw) for stream, raw in streams.items()}
    split = sum(view.line_count - view.raw_line_count for view in views.values())
    check_accounts(rendered, {stream: view.raw_line_count for stream, view in views.items()}, split)
    for line in rendered.text.split("\n"):
        gap = _GAP.fullmatch(line)
        if gap is None:
            continue
        address = line.partition("(")[2].rstrip(")")
        stream = address.partition("#")[2].partition(" ")[0]
        first_byte, end_byte = views[stream].raw_range(int(gap["first"]), int(gap["last"]))
        assert store.read(address) == streams[stream][first_byte:end_byte]


@given(
    names=st.lists(st.sampled_from(NAMES), min_size=1, max_size=2),
    exit_code=st.sampled_from(EXITS),
    cut=st.tuples(st.floats(0, 1), st.floats(0, 1)),
    noise=st.lists(st.tuples(st.floats(0, 1), st.binary(max_size=30)), max_size=4),
)
def test_cut_and_sprinkled_captures_are_read(
    names: list[str], exit_code: int | None, cut: tuple[float, float], noise: list[tuple[float, bytes]]
) -> None:
    text = b"".join(TEXTS[name] for name in names)
    first, last = sorted(int(part * len(text)) for part in cut)
    text = text[first : min(last, first + 20_000)]
    for place, extra in noise:
        at = int(place * len(text))
        text = text[:at] + extra + text[at:]
    extract(text, text[: len(text) // 3], exit_code)


@given(raw=st.binary(max_size=3000), exit_code=st.sampled_from(EXITS))
def test_random_bytes_are_read(raw: bytes, exit_code: int | None) -> None:
    extract(raw, raw[::-1], exit_code)


@settings(max_examples=12)
@given(place=st.integers(0, 2999))
def test_one_error_line_is_named_wherever_it_stands(place: int) -> None:
    """S19.28: among three thousand lines of one shape, at any place."""
    lines = [b"row %d stored in the usual way" % n for n in range(3000)]
    lines[place] = b"error: row %d has no key" % place
    graph = extract(b"\n".join(lines) + b"\n", b"", 1)
    standing = [item for item in graph.items if item.kind is ItemKind.LINE]
    assert [item.source.first_line for item in standing] == [place + 1]
