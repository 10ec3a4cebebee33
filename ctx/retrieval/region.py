"""From an address to the region it names: text of one stream or derived artifact, lines or columns of it."""

from dataclasses import dataclass, field, replace

from ctx.addresses import Address, Bytes, Lines, Match, Scheme, SpanToken, Symbol
from ctx.canonical import Masker, VolatileClass, canonical_json
from ctx.digest.base import Span
from ctx.errors import UnknownError, UsageError
from ctx.retrieval.columns import TracedLine, traced_line
from ctx.retrieval.running import running_view
from ctx.safety.control import visible
from ctx.safety.redact import Redactor, private_key_lines
from ctx.store.manifests import Manifest
from ctx.store.store import Store
from ctx.text import StreamView, plain_text

STREAMS_WITH_BYTES = ("stdout", "stderr")
DERIVED = ("census", "graph", "receipt", "digest")


@dataclass(frozen=True, kw_only=True, slots=True)
class Region:
    """What an address names, found in one capture."""

    address: Address
    handle: str
    stream: str
    view: StreamView
    first_line: int
    """Raw lines, 1-based, inclusive; 1..0 for an empty stream."""
    last_line: int
    columns: tuple[int, int] | None = None
    """Columns of the one line (first 1-based, end half-open) of the masked text."""
    byte_range: tuple[int, int] | None = None
    lines: tuple[int, ...] | None = None
    """Line numbers of a match; None: all of first..last."""
    capture: str = ""
    """`capture 1 of 3`."""
    clamped: bool = False
    masker: Masker | None = None
    secret: list[frozenset[int]] = field(default_factory=list, repr=False)
    """Holds `key_lines` once they were asked for."""
    line: list[TracedLine] = field(default_factory=list, repr=False)
    """Holds `traced` once it was asked for."""

    @property
    def base(self) -> str:
        """The address without selector, as it is printed."""
        if self.address.scheme is Scheme.RUN:
            return f"run:{self.handle[:12]}#{self.stream}"
        return self.address.base

    def raw(self) -> bytes:
        """The exact bytes of the region; for a match, of its lines."""
        if self.address.selector is None:  # also what holds no line, as a byte order mark alone
            return self.view.raw
        if self.byte_range is not None:
            return self.view.raw[self.byte_range[0] : self.byte_range[1]]
        if self.lines is not None:
            return b"".join(self._line_bytes(number) for number in self.lines)
        if self.columns is not None:
            return self.traced().exact(self.columns[0] - 1, self.columns[1] - 1).encode("utf-8", "replace")
        if self.first_line > self.last_line:
            return b""
        first, end = self.view.raw_range(self.first_line, self.last_line)
        return self.view.raw[first:end]

    def _line_bytes(self, number: int) -> bytes:
        first, end = self.view.raw_range(number, number)
        return self.view.raw[first:end]

    def text(self) -> str:
        """The region as a reader may see it."""
        if self.columns is not None:
            return visible(self.columns_text()) + "\n"
        text = safe_text(self.raw(), self.view.encoding)
        secret = self.key_lines
        if not secret:
            return text
        numbers = self.lines or range(self.first_line, self.last_line + 1)
        shown = text.split("\n")
        redactor = Redactor()
        for place, number in enumerate(numbers):
            if number in secret:
                shown[place] = redactor.key_line(shown[place])
        return "\n".join(shown)

    def line_text(self, number: int) -> str:
        """One raw line as a reader may see it, without its end."""
        text = safe_text(self._line_bytes(number), self.view.encoding).rstrip("\n").rstrip("\r")
        return Redactor().key_line(text) if number in self.key_lines else text

    @property
    def key_lines(self) -> frozenset[int]:
        """Raw lines of the stream that are text of a private key: no part of a text shows that it lies in one."""
        if not self.secret:
            self.secret.append(frozenset(map(self.view.raw_line, private_key_lines(self.view.screen))))
        return self.secret[0]

    def traced(self) -> TracedLine:
        """The one line of the region, masked and redacted as a digest counts its columns, with the way back."""
        if not self.line:
            number = self.view.screen_lines_of(self.first_line, self.first_line)[0]
            secret = self.first_line in self.key_lines
            self.line.append(traced_line(self.view.line(number), self.masker or Masker(), secret=secret))
        return self.line[0]

    def columns_text(self) -> str:
        """The columns of the line as a reader may see them."""
        assert self.columns is not None
        return self.traced().readable(self.columns[0] - 1, self.columns[1] - 1)


def safe_text(raw: bytes, encoding: str) -> str:
    """Raw bytes as a reader may see them: escape sequences gone, secrets masked, control characters visible."""
    text = Redactor().redact(plain_text(raw, encoding))
    if text.isascii() and "\r" not in text and text.replace("\n", "").replace("\t", "").isprintable():
        return text
    lines = text.split("\n")
    return "\n".join(visible(line[:-1]) + "\r" if line.endswith("\r") else visible(line) for line in lines)


def find_region(
    store: Store, address: Address, *, capture: int = 1, context: int = 0, workspace: str | None = None
) -> Region:
    """The region that `address` names in the store.

    Args:
        workspace: Scopes `run:last`.
    Raises:
        UnknownError, ExpiredError: No such run, stream, region, or a line past the end.
        UsageError: A `repo:` address: it names no part of the store; see `ctx.retrieval.repo`.
    """
    if address.scheme is Scheme.REPO:
        raise UsageError(f"{address.base}: a file of the workspace is no part of the store")
    if address.scheme is Scheme.BLOB:
        return selected(store, _blob(store, address), context)
    if address.name == "last":
        still = running_view(store, address.stream, workspace)
        if still is not None:
            found_running = Region(
                address=replace(address, stream=still.view.name),
                handle="last",
                stream=still.view.name,
                view=still.view,
                first_line=1,
                last_line=0,
                capture=still.label,
            )
            return selected(store, found_running, context)
    found = store.find(address.name, capture, workspace)
    manifest = found.manifest
    name = address.stream or "digest"
    region = Region(
        address=address,
        handle=manifest.handle,
        stream=name,
        view=StreamView(name, _content(store, manifest, name)),
        first_line=1,
        last_line=0,
        capture=f"capture {found.ordinal} of {found.captures}",
        masker=Masker(
            content=[VolatileClass(c) for c in manifest.digest.get("content_classes", [])],
            host_paths=[str(path) for path in manifest.digest.get("host_paths", [])],
        ),
    )
    if isinstance(address.selector, SpanToken):
        return _at_span(region, store.span(manifest, address.selector.token), context)
    return selected(store, region, context)


def _at_span(region: Region, span: Span, context: int) -> Region:
    if span.stream != region.stream:
        raise UnknownError(f"{region.base} --span {span.token}: this region is of #{span.stream}")
    if span.first_col is not None and span.end_col is not None and not context:
        columns = (span.first_col, span.end_col)
        return replace(region, first_line=span.first_line, last_line=span.last_line, columns=columns)
    total = region.view.raw_line_count
    first, last = max(1, span.first_line - context), min(span.last_line + context, total)
    return replace(region, first_line=first, last_line=last)


def _content(store: Store, manifest: Manifest, name: str) -> bytes:
    if name in DERIVED:
        return store.derived(manifest, name)
    if name == "manifest":
        document = manifest.to_json()
        document["argv"] = list(Redactor().redact_words(manifest.argv))
        return canonical_json(document) + b"\n"
    if name == "interleave":
        return store.interleave(manifest)
    return store.stream(manifest, name)


def _blob(store: Store, address: Address) -> Region:
    found = store.blobs.complete(address.name)
    if not found:
        raise UnknownError(f"blob:{address.name}: not in this store")
    if len(found) > 1:
        listed = ", ".join(f"blob:{name[:16]}" for name in found[:8])
        raise UnknownError(f"blob:{address.name}: a prefix of several blobs: {listed}; give more digits")
    view = StreamView("blob", store.blobs.get(found[0]))
    return Region(address=address, handle=found[0], stream="blob", view=view, first_line=1, last_line=0)


def selected(store: Store, region: Region, context: int) -> Region:
    """The part of a whole stream, blob or file that the selector of its address names."""
    total = region.view.raw_line_count
    selector = region.address.selector
    match selector:
        case None:
            return replace(region, last_line=total)
        case Lines(first, last):
            if first > total and total:
                raise UnknownError(f"{region.base} {selector}: it has {total} lines")
            first, clamped = max(1, first - context), last > total > 0
            return replace(region, first_line=first, last_line=min(last + context, total), clamped=clamped)
        case Bytes(first, end):
            size = len(region.view.raw)
            if first > size:
                raise UnknownError(f"{region.base} {selector}: it has {size} bytes")
            return replace(region, last_line=total, byte_range=(first, min(end, size)), clamped=end > size)
        case Match(pattern):
            lines = matching_lines(region.view, compile_pattern(pattern))
            return replace(region, last_line=total, lines=tuple(_widened(lines, context, total)))
        case Symbol(name):
            raise UnknownError(f"{region.base} {selector}: no symbols are known of this text; use --match {name}")
        case SpanToken(token):
            span = store.content_span(region.handle, token)
            if span is None:
                raise UnknownError(f"{region.base} {selector}: no such region was named in it")
            return _at_span(region, span, context)


def _widened(lines: list[int], context: int, total: int) -> list[int]:
    if not context:
        return lines
    return sorted({n for line in lines for n in range(max(1, line - context), min(total, line + context) + 1)})


def compile_pattern(pattern: str, *, fixed: bool = False, ignore_case: bool = False):  # type: ignore[no-untyped-def]
    """A linear-time pattern (RE2): no back-references, no look-around.

    Raises:
        UsageError: Not a pattern of that dialect, or too long.
    """
    import re2

    if len(pattern) > 1000:
        raise UsageError(f"pattern of {len(pattern)} characters: at most 1,000 are matched; shorten it")
    options = re2.Options()
    options.log_errors = False
    options.never_nl = True
    options.case_sensitive = not ignore_case
    try:
        return re2.compile(re2.escape(pattern) if fixed else pattern, options)
    except re2.error as error:
        raise UsageError(f"pattern {pattern!r}: {error}; use --fixed-strings for plain text") from None


def matching_lines(view: StreamView, pattern) -> list[int]:  # type: ignore[no-untyped-def]
    """Raw lines whose screen view the pattern matches, in order, each once."""
    found: list[int] = []
    for number, text in view.lines():
        if pattern.search(text) is not None:
            raw = view.raw_line(number)
            if not found or found[-1] != raw:
                found.append(raw)
    return found
