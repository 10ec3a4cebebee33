"""What a profile is and what it is given.

A profile recognises one output family, extracts typed facts from it and, unless it says otherwise, renders through
the shared evidence renderer. Extractors see streams, a manifest, focus terms and the minting of spans, never a store,
so they can be tested without one.
"""

import re
import sys
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from hashlib import sha256
from itertools import pairwise
from pathlib import Path
from typing import ClassVar, Protocol

from ctx.canonical import Masker, VolatileClass
from ctx.errors import EvidenceError
from ctx.evidence import (
    Coverage,
    CoverageReceipt,
    Cut,
    EvidenceGraph,
    Excerpt,
    ExcerptRole,
    Operation,
    QuotedLine,
    SourceRef,
)
from ctx.safety.control import visible
from ctx.safety.redact import Redactor, private_key_lines
from ctx.text import StreamView

QUOTE_COLUMNS = 400
"""A longer line is cut in its middle and marked in bytes (S5.12.3)."""
NARROW_COLUMNS = 160
"""The same under pressure: where a digest has no room for wide lines."""
SUMMARY_COLUMNS = 200


@dataclass(frozen=True, kw_only=True, slots=True)
class CaptureFacts:
    """What is known of a capture besides its bytes; what is not told stays unknown (S1.13)."""

    argv: tuple[str, ...] = ()
    cwd: str = "."
    exit_code: int | None = None
    signal: int | None = None
    ended_by: str = "unknown"
    """`exit`, `signal`, `timeout`, `reader_closed` or `unknown`."""
    complete: bool = True
    """False where the capture itself lost something."""
    incomplete_reason: str = ""
    """`output_limit`, `spool_write_error`, `reader_closed`, `timeout`, `killed`, `declared`."""
    host_paths: tuple[str, ...] = ()
    """Absolute prefixes (workspace, home, interpreter) known to a live capture; masked wherever they stand."""


@dataclass(frozen=True, slots=True)
class Span:
    """A named region of one stream (S2.11): lines 1-based inclusive, columns 1-based, `end_col` half-open."""

    token: str
    stream: str
    kind: str
    first_line: int
    last_line: int
    first_col: int | None = None
    end_col: int | None = None


def span_token(
    handle: str, stream: str, kind: str, first_line: int, last_line: int, first_col: int | None, end_col: int | None
) -> str:
    """The 10 hex digits that name a region: the same in every capture of a handle."""
    key = f"{handle}\x00{stream}\x00{kind}\x00{first_line}:{last_line}:{first_col}:{end_col}"
    return sha256(key.encode()).hexdigest()[:10]


class BlobReader(Protocol):
    """The part of a store that a profile may use."""

    def read_blob(self, digest: str) -> bytes: ...


@dataclass(slots=True)
class DigestContext:
    """Everything a profile may look at, and the helpers it builds with."""

    streams: Mapping[str, StreamView]
    """`stdout`, `stderr` and derived artifacts."""
    manifest: CaptureFacts = field(default_factory=CaptureFacts)
    focus: tuple[str, ...] = ()
    handle: str = "0" * 64
    store: BlobReader | None = None
    masker: Masker = field(default_factory=Masker)
    redactor: Redactor = field(default_factory=Redactor)
    meta_profile_version: str | None = None
    spans: dict[str, Span] = field(default_factory=dict)
    masked: dict[str, bytes] = field(default_factory=dict)
    """Masked screens of streams up to 4 MiB: what may be compared or counted, since reruns have the same."""
    masked_bytes: dict[str, int] = field(default_factory=dict)
    """Bytes of the masked screen of every stream: omissions are counted in them, since reruns have the same."""
    secret_lines: dict[str, frozenset[int]] = field(default_factory=dict)
    """Screen lines that are text of a private key, of the streams that were asked for."""

    @property
    def stdout(self) -> StreamView:
        return self.streams["stdout"]

    @property
    def stderr(self) -> StreamView:
        return self.streams["stderr"]

    @property
    def total_lines(self) -> int:
        """Raw lines of all streams."""
        return sum(view.raw_line_count for view in self.streams.values())

    def operation(self) -> Operation:
        """What was run, with the redacted argv."""
        facts = self.manifest
        return Operation(
            handle=self.handle,
            argv=tuple(visible(word) for word in self.redactor.redact_words(facts.argv)),
            cwd=facts.cwd,
            exit_code=facts.exit_code,
            signal=facts.signal,
            ended_by=facts.ended_by,
            streams={name: view.raw_line_count for name, view in self.streams.items()},
        )

    def key_lines(self, stream: str) -> frozenset[int]:
        """Screen lines of `stream` that are text of a private key."""
        if stream not in self.secret_lines:
            self.secret_lines[stream] = private_key_lines(self.streams[stream].screen)
        return self.secret_lines[stream]

    def shown(self, text: str) -> str:
        """Captured text as a digest may show it: masked, redacted, control characters visible."""
        return visible(self.redactor.redact(self.masker.mask(text)))

    def summary(self, text: str) -> str:
        """One line for `EvidenceItem.summary`: as `shown`, at most 200 columns, cut in the middle and marked."""
        line = " ".join(self.shown(text).split())
        if len(line) <= SUMMARY_COLUMNS:
            return line
        half = (SUMMARY_COLUMNS - 3) // 2
        return f"{line[:half]}…{line[-half:]}"

    def quote(
        self,
        stream: str,
        first: int,
        last: int,
        role: ExcerptRole,
        *,
        item_id: str = "",
        rank: int = 1,
        limit: int = 200,
    ) -> Excerpt:
        """Screen lines `first`..`last` (inclusive) of `stream` as an excerpt a rendering may show.

        A region of more than `limit` lines keeps its first and last `limit // 2`; the numbers show the gap.
        """
        view = self.streams[stream]
        last = min(last, view.line_count)
        if first > last:
            raise EvidenceError(f"quote {stream} {first}:{last}: it has {view.line_count} lines")
        if last - first + 1 <= limit:
            wanted = list(view.lines(first, last))
        else:
            half = max(limit // 2, 1)
            wanted = [*view.lines(first, first + half - 1), *view.lines(last - half + 1, last)]
        secret = self.key_lines(stream)
        if secret:
            wanted = [(n, self.redactor.key_line(text) if n in secret else text) for n, text in wanted]
        masked = self.masker.mask("\n".join(text for _, text in wanted)).split("\n")
        redacted = self.redactor.redact("\n".join(masked)).split("\n")
        if len(redacted) != len(wanted):  # a redacted block of several lines keeps its first line's place
            redacted = redacted[: len(wanted)] + [""] * (len(wanted) - len(redacted))
        lines = tuple(_quoted(view.raw_line(n), text) for (n, _), text in zip(wanted, redacted, strict=True))
        return Excerpt(role=role, source=view.source(first, last), lines=lines, item_id=item_id, rank=rank)

    def mint_span(
        self,
        stream: str,
        first_line: int,
        last_line: int,
        kind: str,
        first_col: int | None = None,
        end_col: int | None = None,
    ) -> str:
        """Name a region (raw lines, inclusive; columns half-open) and remember it for the capture's region table."""
        token = span_token(self.handle, stream, kind, first_line, last_line, first_col, end_col)
        self.spans[token] = Span(token, stream, kind, first_line, last_line, first_col, end_col)
        return token

    def coverage_lines(self, coverage: Coverage, receipt: CoverageReceipt | None = None) -> list[str]:
        """The `coverage:` line, and `precision:` where it is not full, as every digest prints them."""
        from ctx.digest.rows import coverage_lines

        shown = coverage.total_lines - receipt.omitted_lines if receipt else 0
        return coverage_lines(coverage, shown_lines=shown)

    def next_lines(self, addresses: Sequence[str], commands: Sequence[str] = ()) -> list[str]:
        """At most three `next:` lines, addresses first; each is a whole command."""
        lines = [f"next: ctx get {address}" for address in addresses]
        lines += [f"next: {command}" for command in commands]
        return lines[:3]


# What a reader looks for in a line too long to show: the name of an exception, a word in capitals with its message, or
# an error word at the edge of a name, as in `"last_error":`. A zero before or behind it says that there is none.
_LOUD_INSIDE = re.compile(
    r"\b[A-Z]\w{0,60}(?:Error|Exception|Panic|Fault)\b|\b(?:ERROR|FATAL|CRITICAL|PANIC)\b"
    r"|(?<![A-Za-z])(?i:error|fatal|panic|exception|failed|failure|denied|refused|exceeded|cannot|timed out|not found)"
    r"(?![A-Za-z])(?!\"?[:=] ?(?:0\b|null|\"\"|false|none|\[\]))"
)
_LOUD_WINDOWS = 3


def _quoted(number: int, text: str) -> QuotedLine:
    """A line as it is shown; a long one as its beginning, what is loud inside it, and its end, cuts marked between."""
    if len(text) <= NARROW_COLUMNS:
        return QuotedLine(number=number, text=visible(text))
    wide = _cut(number, text, QUOTE_COLUMNS)
    return replace(wide, narrow=_cut(number, text, NARROW_COLUMNS))


def _cut(number: int, text: str, columns: int) -> QuotedLine:
    if len(text) <= columns:
        return QuotedLine(number=number, text=visible(text))
    kept = _kept_columns(text, columns)
    pieces: list[tuple[int, int]] = []
    for first, end in kept:
        first, end = _whole(text, first), _whole(text, end)
        if pieces and first <= pieces[-1][1]:
            pieces[-1] = (pieces[-1][0], max(end, pieces[-1][1]))
        else:
            pieces.append((first, end))
    more = []
    for (_, before), (first, end) in pairwise(pieces):
        size = len(text[before:first].encode("utf-8", "replace"))
        more.append((Cut(before + 1, first + 1, size), visible(text[first:end])))
    return QuotedLine(number=number, text=visible(text[: pieces[0][1]]), more=tuple(more))


def _kept_columns(text: str, columns: int) -> list[tuple[int, int]]:
    """The column ranges of a long line that are shown, in order: both ends and windows around what is loud between."""
    half, third = columns // 2, columns // 3
    found: list[tuple[int, int]] = []
    for loud in _LOUD_INSIDE.finditer(text, half, len(text) - half):
        first = loud.start() - third // 4
        if found and first < found[-1][1]:
            continue
        found.append((first, first + third))
        if len(found) == _LOUD_WINDOWS:
            break
    if not found:
        return [(0, half), (len(text) - half, len(text))]
    return [(0, third), *found, (len(text) - third, len(text))]


def _whole(text: str, position: int) -> int:
    """The nearest position at or before `position` where a cut splits nothing that belongs together."""
    while 0 < position < len(text) and _joins(text[position]):
        position -= 1
    return position


def _joins(character: str) -> bool:
    """Whether a cut before `character` would split what belongs together on a screen."""
    return unicodedata.combining(character) != 0 or character in "\u200d\ufe0e\ufe0f"


class Profile:
    """One output family: recognises it, extracts facts, renders.

    A profile that overrides only `detect` and `render` works and counts as `precision: fallback` (S5.0.1).
    """

    version: ClassVar[str]
    """`<family>/vN`."""
    content_classes: ClassVar[frozenset[VolatileClass]] = frozenset()
    """Volatile classes that are content for this family (S1.16)."""
    before_built_in: ClassVar[bool] = False
    """For a profile of a third party: it is asked before the built-in profile of its family (S5.0.4)."""

    @property
    def family(self) -> str:
        return self.version.partition("/")[0]

    def contract_folders(self) -> tuple[Path, ...]:
        """Where `<family>.toml` is looked for besides the package's own contracts: beside the profile's module."""
        home = type(self).__module__
        file = getattr(sys.modules.get(home), "__file__", None)
        return () if file is None or home.startswith("ctx.") else (Path(file).parent,)

    def loaded(self) -> "Profile":
        """The profile itself; a stand-in answers with the profile it stands for."""
        return self

    def host_paths(self, ctx: DigestContext) -> tuple[str, ...]:
        """Absolute folders that the output itself calls its root: they are masked as the workspace is (S1.15)."""
        return ()

    def detect(self, ctx: DigestContext) -> str | None:
        """The reason why this capture is of the family, or None to decline; judged by the shape of the text."""
        raise NotImplementedError

    def extract(self, ctx: DigestContext) -> EvidenceGraph | None:
        """Typed facts with coverage; None where a profile only renders."""
        return None

    def render(self, ctx: DigestContext) -> str | None:
        """The digest body; None (the default) leaves resolving and rendering to the shared pipeline."""
        return None


def source_span(source: SourceRef) -> str:
    """`--lines A:B` of a region: the selector every digest prints."""
    return f"--lines {source.first_line}:{source.last_line}"
