"""What is said of each failing test of a pytest run: its block, or its row of `--tb=line`, joined to it and read."""

import re
from collections.abc import Iterable

from ctx.digest.pytest_blocks import (
    Candidate,
    PlaceRow,
    Reading,
    Region,
    Wanted,
    heading_names,
    join_blocks,
    join_places,
    place_rows,
    read_block,
    split_class,
    test_frame,
)
from ctx.digest.pytest_facts import Finding, SessionFacts
from ctx.digest.pytest_rows import Row, error_phases, split_subtest
from ctx.digest.pytest_sections import Mark


def join_report(data: bytes, facts: SessionFacts, region: Region) -> None:
    wanted = [Wanted(f.row, heading_names(f.row), "::" not in f.row.node_id) for f in facts.failing]
    plain, captured = join_blocks(data, region, wanted)
    for finding, entry in zip(facts.failing, wanted, strict=True):
        finding.block = entry.block
    room = None if facts.expected is None else facts.expected - len(facts.failing)
    usable = plain
    if room is not None and room > len(plain):
        # Behind captured output a heading may be the runner's or the test's; one with a known file goes first.
        likely = sorted(captured, key=lambda c: (not _is_known_block(data, facts, c), c.start))
        usable = sorted(plain + likely[: room - len(plain)], key=lambda c: c.start)
        region.set_ends(usable)
    for candidate in usable:
        if room is None or room > 0:
            facts.failing.append(_from_heading(data, facts, candidate))
            room = None if room is None else room - 1
        else:
            facts.unjoined.append(candidate)
    if region.sectioned:
        without = [f for f in facts.failing if f.block is None and f.row.status != "ERROR"]
        if without and not any(f.block for f in facts.failing if f.row.status != "ERROR"):
            begin = max([region.start, *(f.block.end for f in facts.failing if f.block)])
            banners = [a.end for a in facts.session.of(Mark.FAILING) if a.title == "FAILURES" and a.start < region.end]
            begin = max(banners[0], region.start) - 1 if banners else begin
            places = join_places(place_rows(data, begin, region.end), [f.row for f in without])
            for index, place in places.items():
                without[index].place = place


def _is_known_block(data: bytes, facts: SessionFacts, candidate: Candidate) -> bool:
    """Whether the file of a block's first frame is named by the progress section, or it has no frame at all."""
    frames = [f.path for f in read_block(data, candidate).frames if "site-packages" not in f.path]
    begin, end = facts.progress
    return not frames or data.find(frames[0].encode("utf-8", "replace"), begin, end) >= 0


_PROGRESS_FILE = re.compile(rb"(?:\A|\n)([^\s:\[][^\n:]{0,300}?\.\w{1,6})(?=::| [.FEsxXRuP,])")


def _only_file(data: bytes, progress: tuple[int, int]) -> str:
    """The test file of a run that has one; empty where there are several or the progress names none."""
    begin, end = progress
    if end - begin > 1 << 18:
        return ""
    files = {match[1] for match in _PROGRESS_FILE.finditer(data[begin:end])}
    return files.pop().decode("utf-8", "replace") if len(files) == 1 else ""


def _from_heading(data: bytes, facts: SessionFacts, candidate: Candidate) -> Finding:
    """A failure that only its block names: the block's own file, or the run's only one, completes the identity."""
    reading = read_block(data, candidate)
    name, subtest = split_subtest(candidate.name)
    head, bracket, param = name.partition("[")
    function = head.rpartition(".")[2].partition(" ")[0]
    frame = next((f for f in reading.frames if f.function == function), None)
    if frame is None and not candidate.phase:
        frame = next((f for f in reading.frames if not f.path.startswith(("/", "<"))), None)
    doctest = candidate.title.startswith("[doctest]")
    if doctest and reading.frames:
        # The last place of a doctest's block is its own, and the only one that names a text file.
        frame = reading.frames[-1]
    node_id = name
    path = _relative(frame.path, facts.roots) if frame is not None else ""
    path = path or _only_file(data, facts.progress)
    if path and candidate.phase != "collect":
        node_id = "::".join([path, (head if doctest else head.replace(".", "::")) + bracket + param])
    status = "ERROR" if candidate.phase else "FAILED"
    end = candidate.body
    begin, stop = facts.progress
    # A summary that names some failures and not this one has lost a row.
    listed = facts.summary is not None and any((f.row.status == "ERROR") is (status == "ERROR") for f in facts.failing)
    sure = bool(path) and not listed and data.find(path.encode("utf-8", "replace"), begin, stop) >= 0
    row = Row(status, node_id, "", candidate.start, end, subtest)
    return Finding(row, "", candidate, from_heading=True, guessed=not sure and candidate.phase != "collect")


def _relative(path: str, roots: Iterable[str]) -> str:
    """A printed path as node ids write it; empty where it lies outside."""
    for root in roots:
        if path.startswith(root.rstrip("/") + "/"):
            return path[len(root.rstrip("/")) + 1 :]
    return "" if path.startswith(("/", "<", "../")) else path


# Describing -----------------------------------------------------------------------------------------------------------


def describe(data: bytes, finding: Finding) -> None:
    """Class, one line and place of a finding, from its block and its row."""
    row = finding.row
    reading = read_block(data, finding.block) if finding.block is not None else None
    finding.failure_class, finding.summary = _class_and_text(row, reading, finding.place)
    if finding.summary.startswith("[XPASS(strict)]"):
        finding.failure_class = "xpass_strict"
    elif finding.summary.startswith("worker '") and " crashed while running " in finding.summary:
        finding.failure_class, finding.summary = "worker_crash", "worker crashed while running this test"
    elif not finding.failure_class and reading is not None:
        finding.failure_class = reading.raised if split_class(reading.raised)[0] else ""
    if reading is not None:
        classes = [split_class(line)[0] for line in reading.error_lines]
        if len(classes) > 1 and all(classes):
            finding.chain = tuple(classes)
            finding.summary = f"{finding.summary} (from {reading.error_lines[0]})".strip()
        finding.frame = test_frame(reading, row.node_id)
    elif finding.place is not None:
        finding.frame = finding.place.frame


def _class_and_text(row: Row, reading: Reading | None, place: PlaceRow | None) -> tuple[str, str]:
    """The longest form of the message: the block's, unless the row names another link of the chain."""
    stem = row.message.removesuffix("...").partition("\n")[0].rstrip()
    name, text = split_class(stem)
    if reading is not None:
        for line in reversed(reading.error_lines):
            if line.startswith(stem) or split_class(line)[1].startswith(stem):
                return split_class(line)
        if reading.other and not reading.error_lines and (not stem or (text and reading.other.startswith(text))):
            # The text of a failure that shows no traceback; it begins with no class, whatever word stands first.
            return name, reading.other
    if place is not None and place.message.startswith(stem):
        return split_class(place.message)
    if row.message.endswith("...") and not text:
        # The width limit may have cut the class itself.
        return "", row.message
    return split_class(row.message)


def add_phases(data: bytes, facts: SessionFacts) -> None:
    """Call, set-up, tear-down or collection of each finding; empty where no block and no result row tells."""
    phases: dict[str, list[str]] | None = None
    # Where the report calls errors FAILED too, its rows tell no phase.
    all_alike = facts.totals is not None and facts.totals.listed and facts.totals.errors > 0
    for finding in facts.failing:
        row = finding.row
        if row.status != "ERROR":
            finding.phase = "" if all_alike and not row.subtest else "call"
        elif finding.block is not None and finding.block.phase:
            finding.phase = finding.block.phase
        elif "::" not in row.node_id:
            finding.phase = "collect"
        else:
            if phases is None:
                phases = error_phases(data, *facts.progress)
            told = phases.get(row.node_id)
            finding.phase = told.pop(0) if told else ""
