"""What is known of one pytest run: its failing tests, its other rows, and what they were read from."""

import re
from dataclasses import dataclass, field

from ctx.digest.pytest_blocks import Candidate, Frame, PlaceRow
from ctx.digest.pytest_rows import Row, Started, split_subtest
from ctx.digest.pytest_sections import Anchor, Session, Totals

_OTHER_TITLE = re.compile(r"[\s/:]")
"""In a heading's name: an item that is no test function may call itself what it likes."""


@dataclass(slots=True)
class Finding:
    """One failing test, set-up or tear-down error, or file that did not load."""

    row: Row
    phase: str
    """`call`, `setup`, `teardown`, `collect`; empty where nothing says which."""
    block: Candidate | None = None
    place: PlaceRow | None = None
    """The row of `--tb=line`."""
    frame: Frame | None = None
    failure_class: str = ""
    summary: str = ""
    chain: tuple[str, ...] = ()
    """Classes of a chained exception, cause first; empty for one exception."""
    from_heading: bool = False
    """Known by a block's heading only; its file is that of the block's own frame."""
    guessed: bool = False
    """The file of such an identity is unknown, or nothing but the frame names it."""


@dataclass(slots=True)
class SessionFacts:
    """Everything read from one run."""

    session: Session
    failing: list[Finding] = field(default_factory=list)
    others: list[Row] = field(default_factory=list)
    """Rows that are no failure: skipped, expected failures, reruns."""
    running: list[Started] = field(default_factory=list)
    unjoined: list[Candidate] = field(default_factory=list)
    """Blocks for which the totals leave no room."""
    rejected: list[Row] = field(default_factory=list)
    """Rows that imitate the summary."""
    progress: tuple[int, int] = (0, 0)
    summary: Anchor | None = None
    has_headings: bool = False
    has_blocks: bool = False
    parallel: bool = False
    """Several workers: arrival order means nothing."""
    head_missing: bool = False
    uncertain: bool = False
    """More rows than the totals count, and it was a guess which of them to leave out."""
    failed_by_status: bool = False
    """The exit status says that something failed."""
    roots: tuple[str, ...] = ()
    """Absolute folders that node ids are relative to."""
    seen_files: dict[str, bool] = field(default_factory=dict)
    seen_until: int = 0
    """Where in the progress the last of them was found."""
    misses: int = 0
    frame_paths: set[str] | None = None

    timed_out: bool = False
    """A stack dump of pytest-timeout ends the run."""

    @property
    def totals(self) -> Totals | None:
        return self.session.totals

    @property
    def contradicts_blocks(self) -> bool:
        """A test without a block beside a block without a test: one of the two names was damaged on the way here."""
        alone = [finding for finding in self.failing if finding.block is None and finding.place is None]
        names = [split_subtest(block.name)[0] for block in self.unjoined]
        plain = [name for name in names if not _OTHER_TITLE.search(name.partition("[")[0])]
        return bool(alone) and bool(plain)

    @property
    def broken_off(self) -> bool:
        """The output ends in the progress: no totals, no summary, no blocks."""
        return self.session.closing is None and self.summary is None and not self.has_blocks

    @property
    def expected(self) -> int | None:
        """Failed plus errors of the totals line."""
        return None if self.totals is None else self.totals.failed + self.totals.errors
