"""Blocks of the ERRORS and FAILURES sections: their headings, which test each belongs to, and what each says.

A heading inside captured output has the shape of a real one. So every heading is a candidate; it becomes a block if
it names a test of the census, and among candidates of one name the test's own file decides, then the order (S5.1.5).
"""

import re
from collections import Counter, defaultdict
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from operator import itemgetter

from ctx.digest.pytest_rows import Row, decode, dotted_name, file_of
from ctx.digest.pytest_sections import Mark, Session, line_text

_BODY = re.compile(rb"\n(?:(_+) ([^\n]*\S) _+|(-+) ([^\n]*\S) -+)\r?(?=\n|\Z)")
_AT_PHASE = re.compile(r"ERROR at (setup|call|teardown) of (.*)\Z")
_ITEM_KIND = re.compile(r"\A[A-Za-z][\w-]*: ")
_COLLECTING = "ERROR collecting "
_READ = 1 << 17


@dataclass(slots=True, eq=False)
class Candidate:
    """A heading that may begin a block; bytes 0-based, of the screen view."""

    title: str
    start: int
    body: int
    """Offset of the line end of the heading, so that `\\n`-anchored patterns see the first line."""
    captured: bool
    """It stands inside what looks like captured output of the block before."""
    captures: list[tuple[int, int]] = field(default_factory=list)
    """Byte ranges of captured sections: heading start and end of the text."""
    end: int = 0
    name: str = ""
    """The dotted name, or the path of a collection error."""
    phase: str = ""
    """`setup`, `teardown`, `collect` from the heading; empty for a failure."""
    read: "Reading | None" = None


@dataclass(slots=True)
class Region:
    """The failing sections of one run."""

    start: int
    end: int
    candidates: list[Candidate]
    sectioned: bool
    """A banner ERRORS or FAILURES begins it; otherwise the head of the report is missing."""
    failures: list[int] = field(default_factory=list)
    """Offsets of what may be the banner FAILURES between the two sections."""

    def set_ends(self, kept: list[Candidate]) -> None:
        """Blocks reach to the next accepted heading or to the banner between; captured sections to the next mark."""
        for index, block in enumerate(kept):
            following = kept[index + 1] if index + 1 < len(kept) else None
            before = block.end
            block.end = following.start if following is not None else self.end
            if block.phase and (following is None or not following.phase):
                between = [start for start in self.failures if block.start < start < block.end]
                if between:
                    printed = bool(block.captures) and block.captures[0][0] < between[0]
                    block.end = between[-1] if printed and following is not None else between[0]
            if block.end == before:
                continue
            block.read = None
            if block.captures:
                marks = [start for start, _ in block.captures if start < block.end]
                block.captures = list(zip(marks, [*marks[1:], block.end], strict=False))


# Finding the region ---------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class Heading:
    """A ruled line inside the failing sections: a block's heading or the heading of a captured section."""

    title: str
    start: int
    end: int
    name: str = ""
    phase: str = ""
    capture: bool = False


def find_headings(data: bytes, start: int, stop: int) -> list[Heading]:
    """Every heading between `start` and `stop`, in order; `end` is the offset of the line end."""
    found = []
    if start == 0 and data.startswith(b"_"):
        # The first line of a cut stream has no line end before it.
        first = find_headings(b"\n" + data[: data.find(b"\n") + 1], 1, data.find(b"\n") + 2)
        found += [replace(heading, start=0, end=heading.end - 1) for heading in first]
    for match in _BODY.finditer(data, max(start - 1, 0), stop):
        if match[1] is None:
            if match[4].startswith(b"Captured ") or len(match[3]) >= 5:
                found.append(Heading(decode(match[4]), match.start() + 1, match.end(), capture=True))
            continue
        title = decode(match[2])
        if title.strip("_ "):
            name, phase = _named(title)
            found.append(Heading(title, match.start() + 1, match.end(), name, phase))
    return found


def failing_region(session: Session, headings: list[Heading], names: Counter[str], stop: int) -> Region | None:
    """The failing sections of a run up to `stop` (its summary or totals).

    Args:
        headings: From the first banner that may begin them.
        names: Names the census expects, as headings print them; empty where nothing is known.
    """
    banners = [a for a in session.of(Mark.FAILING) if a.start < stop]
    after = {heading.start: heading for heading in headings}
    first = next((a for a in banners if _opens(after.get(a.end), names)), banners[0] if banners else None)
    if first is None and session.header is not None:
        return None
    start = first.end if first is not None else session.start
    later = [a.start for a in session.of(Mark.LATER) if start <= a.start < stop]
    candidates, end = _walk([h for h in headings if start <= h.start < stop], stop, later, names)
    if first is None and not candidates:
        return None
    failures = [a.start for a in banners if a.title == "FAILURES"]
    region = Region(start, end, candidates, first is not None, failures)
    region.set_ends(candidates)
    return region


def _opens(heading: Heading | None, names: Counter[str]) -> bool:
    """Whether a banner with this heading on the next line may be the runner's own."""
    if heading is None or heading.capture or not names:
        return True
    return heading.name in names or "/" in heading.name or heading.name.endswith(".py")


def _named(title: str) -> tuple[str, str]:
    """Name and phase that a heading states."""
    at_phase = _AT_PHASE.match(title)
    if at_phase is not None:
        return at_phase[2], at_phase[1]
    if title.startswith(_COLLECTING):
        return title[len(_COLLECTING) :], "collect"
    # Items that are no functions may have a heading of their own making: `usecase: name`.
    name = _ITEM_KIND.sub("", title.removeprefix("[doctest] "))
    head, bracket, param = name.partition("[")
    return head.replace("::", ".") + bracket + param, ""


def _walk(headings: list[Heading], stop: int, later: list[int], names: Counter[str]) -> tuple[list[Candidate], int]:
    """Candidates in order, and where the failing sections end: at the first later banner that is no captured text."""
    found: list[Candidate] = []
    missing = Counter(names)
    left = sum(missing.values())
    captured = False
    ends = iter([*later, stop])
    banner = next(ends)
    for heading in headings:
        while banner < heading.start:
            if not captured or (names and left <= 0):
                return found, banner
            banner = next(ends)
        if heading.capture:
            captured = bool(found)
            if found:
                found[-1].captures.append((heading.start, 0))
            continue
        found.append(
            Candidate(heading.title, heading.start, heading.end, captured, name=heading.name, phase=heading.phase)
        )
        if missing[heading.name] > 0:
            missing[heading.name] -= 1
            left -= 1
        captured = bool(names) and captured and heading.name not in names
    while banner < stop and captured and left > 0:
        banner = next(ends)
    return found, banner


# Joining --------------------------------------------------------------------------------------------------------------


@dataclass(slots=True)
class Wanted:
    """A census entry that looks for its block."""

    row: Row
    names: tuple[str, ...]
    """Headings that may be its own."""
    load_error: bool = False
    block: Candidate | None = None


def heading_names(row: Row) -> tuple[str, ...]:
    """The headings a row's block may have."""
    name = dotted_name(row.node_id)
    if not name:
        return (row.node_id,)
    if row.subtest:
        return (f"{name} {row.subtest}",)
    return (name,)


def join_blocks(data: bytes, region: Region, wanted: list[Wanted]) -> tuple[list[Candidate], list[Candidate]]:
    """Give each census entry its block.

    Returns:
        Blocks that fit no entry: those that stand where only the runner writes, and those inside captured output.
    """
    crashes = _worker_crashes(data, region)
    by_name: dict[tuple[bool, str], list[Wanted]] = defaultdict(list)
    for entry in wanted:
        crash = crashes.get(entry.row.node_id)
        if crash is not None and entry.row.status == "FAILED":
            entry.block = crash
            continue
        for name in entry.names:
            by_name[entry.row.status == "ERROR", name].append(entry)
    groups: dict[tuple[bool, str], list[Candidate]] = defaultdict(list)
    crashed = {id(candidate) for candidate in crashes.values()}
    for candidate in region.candidates:
        if id(candidate) in crashed:
            continue
        groups[bool(candidate.phase), candidate.name].append(candidate)
    for key, entries in by_name.items():
        candidates = groups.get(key, [])
        if len(entries) == 1 and len(candidates) == 1:
            entries[0].block = candidates[0]
        elif candidates:
            _assign(data, entries, candidates)
    taken = {id(entry.block) for entry in wanted if entry.block is not None}
    rest = [c for c in region.candidates if id(c) not in taken]
    kept = [c for c in region.candidates if id(c) in taken or not c.captured]
    region.set_ends(kept)
    return [c for c in rest if not c.captured], [c for c in rest if c.captured]


def _assign(data: bytes, entries: list[Wanted], candidates: list[Candidate]) -> None:
    """Several entries or several candidates of one name: the file of a block's frames decides, then the order."""
    open_entries: dict[str, list[Wanted]] = defaultdict(list)
    for entry in entries:
        open_entries[file_of(entry.row.node_id)].append(entry)
    undecided = []
    for candidate in candidates:
        files = [file for file in _frame_files(data, candidate, open_entries) if open_entries[file]]
        if len(files) == 1 or (files and not candidate.captured):
            open_entries[files[-1]].pop(0).block = candidate
        else:
            undecided.append(candidate)
    left = [entry for entry in entries if entry.block is None]
    spare = len(undecided) - len(left)
    for candidate in undecided:
        if not left:
            return
        if spare > 0 and candidate.captured:
            spare -= 1
            continue
        left.pop(0).block = candidate


def _frame_files(data: bytes, candidate: Candidate, files: Mapping[str, object]) -> list[str]:
    """Those of `files` that a frame of the block stands in, innermost last."""
    found: dict[str, None] = {}
    for frame in read_block(data, candidate).frames:
        parts = frame.path.replace("\\", "/").split("/")
        for index in range(len(parts)):
            path = "/".join(parts[index:])
            if path in files:
                found.pop(path, None)
                found[path] = None
                break
    return list(found)


def _worker_crashes(data: bytes, region: Region) -> dict[str, Candidate]:
    found = {}
    if data.find(b"\nworker 'gw", region.start, region.end) >= 0:
        for candidate in region.candidates:
            match = _CRASHED.search(data, candidate.body, min(candidate.end, candidate.body + 4096))
            if match is not None:
                found[decode(match[1])] = candidate
    return found


# Reading --------------------------------------------------------------------------------------------------------------

_CRASHED = re.compile(rb"\nworker '[^'\n]+' crashed while running '([^\n]*)'")
_FRAME = re.compile(rb"\n((?:[A-Za-z]:[\\/])?[^\s:>|][^\n:]{0,1000}):([0-9]+):?(?: ([^\n]*))?(?=\n|\r|\Z)")
_NATIVE = re.compile(rb'\n[ |+]*File "([^"\n]+)", line ([0-9]+)(?:, in ([^\n]*))?')
_SYNTAX = re.compile(rb'\nE +File "([^"\n]+)", line ([0-9]+)')
_CHAIN = re.compile(
    rb"\n(?:The above exception was the direct cause of|During handling of the above exception, another)"
)
_CLASS = re.compile(r"([A-Za-z_][\w.]*)(?::\s*(.*))?\Z", re.DOTALL)
_CLASS_NAME = re.compile(r"(?:[a-z_]\w*\.)*(?:_*[A-Z]\w*|error|timeout|herror|gaierror)\Z")
_WORKER_LINE = re.compile(rb"\n\[gw[0-9]+\] \S+ -- Python ")


@dataclass(frozen=True, slots=True)
class Frame:
    """One place of a traceback, as printed."""

    path: str
    line: int
    function: str


@dataclass(slots=True)
class Reading:
    """What a block says."""

    frames: list[Frame]
    """In printed order: the raise is last."""
    last_link: int
    """Index of the first frame of the last link of a chain."""
    error_lines: list[str]
    """First `E` line of each link of the exception chain, without the `E`."""
    other: str
    """First line that is neither: the message of a failure without traceback."""
    raised: str
    """Class named by the last place line of the long style."""


def read_block(data: bytes, block: Candidate) -> Reading:
    """Places and messages of a block's traceback (not of its captured sections)."""
    if block.read is not None:
        return block.read
    end = block.captures[0][0] if block.captures else block.end
    start = block.body
    text = data[start:end]
    if len(text) > 2 * _READ:
        text = text[:_READ] + b"\n" + text[-_READ:]
    links = [0, *(match.start() for match in _CHAIN.finditer(text)), len(text)]
    native = text.find(b'File "') >= 0 and (b"Traceback (most recent call last)" in text)
    frames: list[Frame] = []
    errors: list[str] = []
    last_link, raised = 0, ""
    for index in range(len(links) - 1):
        begin, stop = links[index], links[index + 1]
        last_link = len(frames)
        raised = ""
        placed: list[tuple[int, Frame]] = []
        for match in _FRAME.finditer(text, begin, stop):
            path = decode(match[1])
            if " = " in path or path.startswith(("E ", "<")):
                continue
            after = decode(match[3] or b"").strip()
            function = after[3:] if after.startswith("in ") else ""
            placed.append((match.start(), Frame(path, int(match[2]), function)))
            raised = "" if function else after
        if native:
            for match in _NATIVE.finditer(text, begin, stop):
                frame = Frame(decode(match[1]), int(match[2]), decode(match[3] or b""))
                placed.append((match.start(), frame))
            placed.sort(key=itemgetter(0))
        frames += [frame for _, frame in placed]
        message = _message_of(text, begin, stop, native)
        if message:
            errors.append(message)
    for match in _SYNTAX.finditer(text):
        frames.append(Frame(decode(match[1]), int(match[2]), ""))
    block.read = Reading(frames, last_link, errors, "" if errors else _other_line(text), raised)
    return block.read


def _message_of(text: bytes, begin: int, stop: int, native: bool) -> str:
    at = text.find(b"\nE  ", begin, stop)
    if at >= 0:
        line = decode(line_text(text, at + 1)[1:]).strip()
        if not line.startswith('File "'):
            return line
        # A syntax error shows the source first; its class stands on the last `E` line.
        at = text.rfind(b"\nE ", begin, stop)
        return decode(line_text(text, at + 1)[1:]).strip()
    if native:
        at = text.rfind(b'File "', begin, stop)
        while 0 <= at < stop:
            at = text.find(b"\n", at, stop) + 1
            if at <= 0:
                break
            raw = line_text(text, at).lstrip(b" |") if text[at : at + 4] == b"  | " else line_text(text, at)
            if raw and not raw.startswith(b" ") and _CLASS.match(decode(raw)):
                return decode(raw)
    return ""


def _other_line(text: bytes) -> str:
    skip = _WORKER_LINE.match(text)
    offset = text.find(b"\n", 1) if skip else 0
    while 0 <= offset < len(text):
        line = line_text(text, offset + 1)
        if line.startswith(b"UNEXPECTED EXCEPTION") or (line.strip() and not re.match(rb"[0-9]{3}\b|Expected:", line)):
            return decode(line).strip()
        if line.startswith(b"Expected:"):
            return _doctest_difference(text, offset + 1)
        offset = text.find(b"\n", offset + 1)
    return ""


def _doctest_difference(text: bytes, at: int) -> str:
    lines = [decode(line).strip() for line in text[at : at + 2000].split(b"\n")]
    expected = lines[1] if len(lines) > 1 else ""
    got = next((lines[i + 1] for i, line in enumerate(lines[:-1]) if line == "Got:"), "")
    return f"Expected: {expected} Got: {got}"


def split_class(message: str) -> tuple[str, str]:
    """Exception class and text of `package.Error: text`; an assertion's rewritten text has the class AssertionError."""
    if message.startswith("assert ") or message == "assert":
        return "AssertionError", message
    match = _CLASS.match(message.partition("\n")[0])
    if match is None or not _CLASS_NAME.match(match[1]):
        return "", message
    return match[1], (match[2] or "").strip()


def same_file(path: str, file: str) -> bool:
    path = path.replace("\\", "/")
    return path == file or path.endswith("/" + file) or (path.startswith("../") and file.endswith(path.lstrip("./")))


def test_frame(reading: Reading, node_id: str) -> Frame | None:
    """The frame of the test's own file nearest the raise; without one, the innermost frame of the project."""
    file = file_of(node_id)
    for frames in (reading.frames[reading.last_link :], reading.frames):
        for frame in reversed(frames):
            if same_file(frame.path, file):
                return frame
    project = [f for f in reading.frames if not f.path.startswith(("/", "<")) and not re.match(r"[A-Za-z]:", f.path)]
    if project:
        return project[-1]
    own = [f for f in reading.frames if "site-packages" not in f.path and "/lib/python" not in f.path]
    return own[-1] if own else (reading.frames[-1] if reading.frames else None)


# --tb=line ------------------------------------------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class PlaceRow:
    """One `path:line: message` row of `--tb=line`."""

    frame: Frame
    message: str
    start: int
    end: int


def place_rows(data: bytes, start: int, end: int) -> list[PlaceRow]:
    """Rows of a FAILURES section without headings, in order."""
    found = []
    for match in _FRAME.finditer(data, start, end):
        path = decode(match[1])
        if match[3] is not None and " = " not in path and not path.startswith(("E ", "-")):
            found.append(
                PlaceRow(Frame(path, int(match[2]), ""), decode(match[3].rstrip(b"\r")), match.start() + 1, match.end())
            )
    return found


def join_places(rows: list[PlaceRow], wanted: list[Row]) -> dict[int, PlaceRow]:
    """Rows of `--tb=line` by index of the failed test: in order, each by its message and file.

    Captured output between them may hold look-alikes; a row that fits no test in order is skipped.
    """
    joined: dict[int, PlaceRow] = {}
    at = 0
    for index, row in enumerate(wanted):
        message = row.message.removesuffix("...").partition("\n")[0].rstrip()
        for ahead in range(at, min(at + 200, len(rows))):
            place = rows[ahead]
            same = place.message.startswith(message) if message else same_file(place.frame.path, file_of(row.node_id))
            if same and (message or place.frame.path):
                joined[index] = place
                at = ahead + 1
                break
    return joined
