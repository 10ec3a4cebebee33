"""Reading one stream of diagnostics: rows, blocks and headings in one pass (S5.3.1).

Rows are grammars of one line (`lint_rows`). Blocks put the message on one line and the place on another:

    error[E0308]: mismatched types        F401 [*] `os` imported but unused      In run.sh line 3:
      --> src/main.rs:4:18                 --> a.py:1:8                            rm $1
                                                                                   ^-- SC2086 (info): Double quote …

Under a heading that names the file, rows have a place only: `  3:1  error  message  rule`, `  3:1 F401 message`. Lines
of context, source, carets, notes and helps belong to the diagnostic above them and are its detail: the body of a block
up to its blank line, a source line right above its caret, lines behind a bar. Whatever such a line says is the text of
the program that is diagnosed, never a diagnostic (S5.0.6).
"""

import re
from collections.abc import Iterator
from itertools import chain, pairwise

from ctx.digest.lint_model import LINE_LIMIT, REMARKS, Finding, Head, Reading, Total
from ctx.digest.lint_rows import names_a_file, parse_row, split_code
from ctx.digest.lint_totals import is_chrome, parse_total
from ctx.digest.telling_lines import is_standing
from ctx.evidence import CoverageReason, Severity
from ctx.text import StreamView

_ARROW = re.compile(r" *(?:-->|╭▸|:::) (?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?(?::cell.*)?\s*")
_RUST_HEAD = re.compile(r"(?P<word>error|warning|note|help)(?:\[(?P<code>[\w:-]+)\])?: (?P<message>.+)")
_RUFF_HEAD = re.compile(r"(?P<code>[A-Z]{1,8}\d{1,6}:?|[a-z]+(?:-[a-z]+)*:) (?:\[[*-]\] )?(?P<message>.+)")
_LEAD = re.compile(r"In (?P<file>\S.*) line (?P<line>\d+):")
_POINTER = re.compile(r"(?P<blank>\s*)\^[-^]*\^? (?P<code>SC\d{4})(?: \((?P<word>\w+)\))?: (?P<message>.+)")
_STYLISH = re.compile(
    r" +(?P<line>\d+):(?P<column>\d+) +(?P<word>error|warning|info) +"
    r"(?P<message>.+?)(?:(?<! ) {2,}(?P<code>[@\w/.-]+))?"
)
_GROUPED = re.compile(
    r" +(?:cell (?P<cell>\d+):)?(?P<line>\d+):(?P<column>\d+) +"
    r"(?:(?P<code>[A-Z]{1,8}\d{1,6}|invalid-syntax):? |(?=SyntaxError: ))"
    r"(?:\[[*-]\] )?(?P<message>.+)"
)
_CONTEXT = re.compile(r"\s|\||\d+ *\||= (?:note|help)|.*: note: |[a-z_]+: note|\^|~")
_BODY = re.compile(r"\s|\||\d+(?: +\d+)? *[|│┆+~-]|(?:help|note|info|hint): |= (?:help|note)|\.\.\.|ℹ |-{20,}$")
_BAR = re.compile(r" *(?:\d+ *)?[|│┆](?:\s|$)| *\.\.\.$")
_CARET = re.compile(r"\s*[\^~][\^~\s-]*")
_NUMBERED = re.compile(r"\d+ ")
_LINT_LEVEL = re.compile(r".*?`(?:#!?\[(?:warn|deny|forbid)\((?P<lint>[\w:]+)\)\]|-[DWF] (?P<flag>[\w:-]+))`.*")
_LINT_PAGE = re.compile(r".*/rust-clippy/\S*#(?P<lint>\w+)")
_INCLUDED = re.compile(r"In file included from |\s+from \S.*:\d+[:,]")
_WITHIN = re.compile(
    r".+: (?:In|At) (?:(?:static|inlined|copy|move|lambda) )*(?:member )?"
    r"(?:function|instantiation|substitution|constructor|destructor|scope|top level|global scope)\b|\s+inlined from "
)
_REQUIRED = re.compile(r"(?P<place>.+:\d+(?::\d+)?): {1,3}(?:recursively )?required (?:from|by|for) .*")
_EXPANSION = re.compile(r"in (?:definition|expansion) of macro")
_STOPPED = re.compile(
    r"(?:fatal error: )?too many errors emitted, stopping now|compilation terminated due to -\S+|Too many errors"
    r"|.*: fatal error: too many errors"
)
"""The tool stopped by itself before it had seen everything."""
_CRASH = re.compile(r"Traceback \(most recent call last\):|thread '.*' panicked at|Oops! Something went wrong")
_LOUD = re.compile(r"(?i)^(?:\S+: )?(?:\*\*\* |fatal|error\b|npm err|ld: |collect2: )|\*\*\* \[|: Error \d+$|^E: ")

_PREFIXES = (
    re.compile(r"#\d+ \d+\.\d+ "),
    re.compile(r"(?:[^\t]+\t[^\t]+\t)?\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(?:\.\d+)?Z "),
    re.compile(r"@?[A-Za-z][\w./-]*:[A-Za-z][\w-]*: ?"),
    re.compile(r"[A-Za-z][\w.-]* +\| "),
)
"""What a runner puts before each line: image builds, CI logs, monorepo runners, container groups."""
_CERTAIN = 2
"""So many of them are nothing else, however few lines there are."""
PREFIX_FROM_LINES = 3
"""The others are a prefix where at least so many lines carry them."""
PREFIX_LINES = 60
"""So many lines of a stream's beginning are asked for a common prefix."""
_MAYBE_LOUD = re.compile(
    r"(?i)err|fatal|fail|panic|exception|critical|severe|abort|kill|fault|dumped|memory|denied|not found|no such|cannot"
    r"|can't|could|unable|refused|timed? ?out|unreach|undefined|unresolved|conflict|corrupt|invalid|unknown|traceback"
)
"""A cheap look for words that the text family calls loud."""
MESSAGE_COLUMNS = 4096
WRAPPED_LINES = 16
"""A wrapped message goes on for at most so many lines."""


class StreamReader:
    """Reads the lines of one stream into a `Reading`; linear, two lines of memory besides what it found."""

    def __init__(self, view: StreamView) -> None:
        self._view = view
        self.reading = Reading(stream=view.name)
        self._prefix = _common_prefix(view)
        self._below = ""
        """The line below the one that is read."""
        self._blank_above = False
        self._pending: tuple[int, Head] | None = None
        """A head that waits for its place."""
        self._body = ""
        """What the newest finding's lines go on as: `block`, `listing` (duplicate code), `loose`, or empty."""
        self._heading = ""
        self._row_above = (0, 0)
        """Cell and line of the row above under the heading."""
        self._lead: tuple[str, int, int] | None = None
        """File, line, and screen line of a lead that waits for its pointers."""
        self._advice = False
        """Below the pointers of a lead: advice up to the next blank line."""
        self._chain = 0
        """First line of an include chain or `In function` line that belongs to the next diagnostic."""
        self._required = ""
        """The user's own place in a chain of instantiations."""
        self._wrapped: Finding | None = None
        """The newest finding whose message may go on below it."""
        self._pieces: list[str] = []
        """Lines that may be the rest of its message."""

    def read(self, first: int = 1, last: int | None = None) -> Reading:
        """Screen lines `first`..`last` (inclusive)."""
        for (number, line), (_, below) in pairwise(chain(self._limited(first, last), [(0, "")])):
            self._below = below
            self.reading.lines += 1
            if self._line(number, line):
                self.reading.understood += 1
                self.reading.last_understood = number
            self._blank_above = not line.strip()
        self._settle()
        return self.reading

    def _settle(self) -> None:
        """Rows of ruff and flake8 look alike: above a total of ruff, or beside a row of its own, they are ruff's."""
        totals = [number for number, _, total in self.reading.totals if total.dialect == "ruff"]
        own = any(finding.head.dialect == "ruff" for finding in self.reading.findings)
        end = max(totals) if totals else self._view.line_count if own else 0
        for finding in self.reading.findings:
            if finding.head.dialect == "ruff" or (finding.head.dialect == "python" and finding.line <= end):
                finding.head.dialect, finding.head.severity = "ruff", Severity.ERROR

    def _limited(self, first: int, last: int | None) -> Iterator[tuple[int, str]]:
        for number, line in self._view.lines(first, last):
            line = line[:LINE_LIMIT]
            if number == 1:
                line = line.removeprefix("\ufeff")  # some shells begin a redirected file with a byte order mark
            if self._prefix is not None:
                found = self._prefix.match(line)
                line = line[found.end() :] if found else line
            yield number, line

    def _line(self, number: int, line: str) -> bool:
        """Take one line; whether a rule understood it."""
        if number == 1 and (_BAR.match(line) or (_CARET.fullmatch(line) and line.strip())):
            self.reading.because(CoverageReason.UPSTREAM_CUT)  # source or caret of a diagnostic that is not here
        if self._lead is not None and self._lead[2] == number - 1:
            return True  # the source line that the pointers below it speak of
        if not line.strip():
            return self._blank()
        return (
            (self._body == "block" and self._in_body(number, line))
            or self._place(number, line)
            or self._pointer(number, line)
            or self._in_body(number, line)
            or self._source(number, line)
            or self._under_heading(number, line)
            or self._total(number, line)
            or self._row(number, line)
            or self._head(number, line)
            or self._belongs(number, line)
            or self._other(number, line)
        )

    def _blank(self) -> bool:
        if self._heading and self.reading.dialects.get("eslint"):
            self._heading = ""
        if self._body == "block":
            self._body = ""
        self._advice = self._lead is not None
        self._lead = None
        self._pending = None
        self._stop_wrapping()
        return True

    # Blocks -----------------------------------------------------------------------------------------------------------

    def _place(self, number: int, line: str) -> bool:
        """An arrow: the place of the head above it, or a further place of the same diagnostic."""
        found = _ARROW.fullmatch(line) if "-->" in line or ":::" in line or "╭▸" in line else None
        if found is None:
            return False
        if self._pending is None:
            return self._extend(number)
        at, head = self._pending
        self._pending = None
        head.file, head.line = found["file"], int(found["line"])
        head.column = int(found["column"]) if found["column"] else None
        self._add(Finding(head=head, line=at, first=at, last=number))
        self._body = "block"
        return True

    def _head(self, number: int, line: str) -> bool:
        """A message that waits for its place on the line below; a compiler's own error code needs none."""
        rust = _RUST_HEAD.fullmatch(line)
        if rust is not None:
            head = Head(word=rust["word"], code=rust["code"], message=rust["message"], dialect="rustc")
        else:
            ruff = _RUFF_HEAD.fullmatch(line)
            if ruff is None:
                return False
            code = ruff["code"].removesuffix(":")
            head = Head(code=code, message=ruff["message"], dialect="ruff", severity=Severity.ERROR)
        if _ARROW.fullmatch(self._below) is not None:
            self._pending = (number, head)
            return True
        if rust is None or head.word in REMARKS or not (head.code or self._below.startswith(("  |", "  = "))):
            return False
        self._add(Finding(head=head, line=number, first=number, last=number))
        self._body = "block"
        return True

    def _in_body(self, number: int, line: str) -> bool:
        """The body of a block, up to its blank line; what it quotes is never read as a diagnostic."""
        if not self._body:
            return False
        newest = self.reading.findings[-1]
        if self._body == "block":
            if _BODY.match(line) is None:
                self._body = ""
                return False
            if newest.head.dialect == "rustc" and newest.head.code is None:
                found = _LINT_LEVEL.fullmatch(line) or _LINT_PAGE.fullmatch(line)
                if found is not None:
                    newest.head.code = _lint_name(found)
        elif self._body == "listing":
            if line.rstrip().endswith("(duplicate-code)"):
                self._body = ""
            elif (head := parse_row(line)) is not None and head.dialect == newest.head.dialect:
                self._body = ""
                return False
        elif not (line[0] in " \t" or _NUMBERED.match(line) or line.startswith("...")) or parse_row(line) is not None:
            return False
        newest.last = number
        return True

    def _pointer(self, number: int, line: str) -> bool:
        lead = _LEAD.fullmatch(line) if line.startswith("In ") else None
        if lead is not None:
            self._lead = (lead["file"], int(lead["line"]), number)
            return True
        if self._advice and self._lead is None:
            return True
        if self._lead is None:
            return False
        found = _POINTER.fullmatch(line)
        if found is not None:
            file, at, first = self._lead
            head = Head(
                file=file,
                line=at,
                word=found["word"] or "",
                code=found["code"],
                message=found["message"],
                dialect="shellcheck",
            )
            # The text prints no column; the pointer's own tells two diagnostics of one line apart.
            self._add(Finding(head=head, line=number, first=first, last=number, caret=len(found["blank"]) + 1))
        return True

    def _source(self, number: int, line: str) -> bool:
        """A source line behind its bar or right above its caret: whatever it says is the source's own text."""
        if not self.reading.findings:
            return False
        newest = self.reading.findings[-1]
        if newest.last != number - 1 and not (self._blank_above and newest.last == number - 2):
            return False
        if _CARET.fullmatch(line) is not None:
            if newest.head.column is None and not newest.caret:
                newest.caret = len(line) - len(line.lstrip()) + 1
            self._keep_pieces()
        elif _CARET.fullmatch(self._below) is None or not self._below.strip():
            if _BAR.match(line) is None:
                return False
            if newest.head.dialect == "cc":
                self._keep_pieces()
        newest.last = number
        return True

    # Headings ---------------------------------------------------------------------------------------------------------

    def _under_heading(self, number: int, line: str) -> bool:
        if line[0] != " ":
            return self._opens_heading(line)
        if not self._heading:
            return False
        stylish = _STYLISH.fullmatch(line)
        grouped = None if stylish else _GROUPED.fullmatch(line)
        found = stylish or grouped
        if found is None:
            return False
        place = (int(grouped["cell"] or 0) if grouped else 0, int(found["line"]))
        if place < self._row_above:
            self.reading.because(CoverageReason.PARSE_GAP)  # rows are sorted: the heading of this one is not there
        self._row_above = place
        head = Head(
            file=self._heading + (f":cell {grouped['cell']}" if grouped and grouped["cell"] else ""),
            # eslint prints 0:0 for what is said of a whole file.
            line=int(found["line"]) or None,
            column=int(found["column"]) if int(found["line"]) else None,
            word=stylish["word"] if stylish else "",
            code=found["code"],
            message=found["message"].strip(),
            dialect="eslint" if stylish else "ruff",
            severity=None if stylish else Severity.ERROR,
        )
        self._add(Finding(head=head, line=number, first=number, last=number))
        return True

    def _opens_heading(self, line: str) -> bool:
        """A line that names a file alone, with a row below it."""
        if self._below.startswith(f"  {line.rstrip()}:") and " - " in self._below:
            return True  # pyright names the file again in each row
        if _STYLISH.fullmatch(self._below) is None and _GROUPED.fullmatch(self._below) is None:
            return False
        name = line.rstrip().removesuffix(":")
        if " -" in name or not names_a_file(name, loose=False):
            return False
        self._heading, self._row_above = name, (0, 0)
        self._body = ""
        return True

    # Rows and totals --------------------------------------------------------------------------------------------------

    def _total(self, number: int, line: str) -> bool:
        total: Total | None = parse_total(line)
        if total is None:
            return False
        if total.dialect == "javac" and not total.shown_less and not self._speaks_java(total):
            return False
        self.reading.totals.append((number, 0, total))
        if total.dialect != "javac" or self.reading.findings:
            self.reading.vote(total.dialect)
        self._stop_wrapping()
        self._body = ""
        return True

    def _speaks_java(self, total: Total) -> bool:
        """`2 errors` alone on a line is a total only below diagnostics."""
        return bool(self.reading.findings) or bool(self.reading.totals)

    def _row(self, number: int, line: str) -> bool:
        if _STOPPED.match(line):
            self.reading.because(CoverageReason.EARLY_STOP)
            if line.startswith("fatal error: "):
                # clang counts this line among its errors.
                fatal = Head(word="fatal error", message=line.removeprefix("fatal error: ").rstrip(), dialect="cc")
                self._add(Finding(head=fatal, line=number, first=number, last=number))
            return True
        required = _REQUIRED.fullmatch(line) if "required " in line else None
        if required is not None:
            self._required = required["place"]
            self._chain = self._chain or number
            return True
        head = parse_row(line)
        if head is None:
            return False
        self._stop_wrapping()
        if self._is_remark(head):
            newest = self.reading.findings[-1].head
            if _EXPANSION.match(head.message) and newest.dialect == "cc":
                # One place in a macro is reported once for each expansion: these are different diagnostics.
                newest.through = f"expanded at {head.file}:{head.line}:{head.column}"
            return self._extend(number)
        if self._required:
            head.through = f"required from {self._required}"
        first = self._chain or number
        self._chain, self._required = 0, ""
        finding = Finding(head=head, line=number, first=first, last=number, cut=len(line) >= LINE_LIMIT)
        self._add(finding)
        self._body = "loose" if head.dialect == "tsc-pretty" else ""
        if head.code is None and head.dialect in ("mypy", "pyright", "cc"):
            self._wrapped = finding
        if head.code == "R0801" and self._below.startswith("=="):
            self._body = "listing"
        return True

    def _is_remark(self, head: Head) -> bool:
        """A note belongs to the diagnostic above it; notes of shellcheck and revealed types stand for themselves."""
        if head.word.lower() not in REMARKS or not self.reading.findings:
            return False
        return head.dialect != "shellcheck" and not head.message.startswith("Revealed ")

    def _add(self, finding: Finding) -> None:
        self.reading.findings.append(finding)
        self.reading.vote(finding.head.dialect)
        self._body = ""

    def _extend(self, number: int) -> bool:
        if not self.reading.findings:
            return False
        self.reading.findings[-1].last = number
        return True

    def _belongs(self, number: int, line: str) -> bool:
        """Context, source, carets, notes: detail of the diagnostic above, if it stands right above."""
        if _WITHIN.match(line) or (_INCLUDED.match(line) and (self._chain or line[0] == "I")):
            self._chain = self._chain or number
            self._stop_wrapping()
            if line[0] != "I":
                self.reading.hint = "gcc"  # clang does not say which function it is in
            return True
        if not self.reading.findings:
            return False
        newest = self.reading.findings[-1]
        goes_on = self._wrapped is newest and newest.last == number - 1
        if not goes_on and not _CONTEXT.match(line):
            return False
        if newest.last != number - 1 and not (self._blank_above and newest.last == number - 2):
            return False
        if goes_on and not self._goes_on(newest, line):
            return False
        newest.last = number
        return True

    def _goes_on(self, finding: Finding, line: str) -> bool:
        """A message that was wrapped or has several lines (mypy where it is pretty, pyright): up to its code."""
        head = finding.head
        if head.dialect == "pyright":
            if line[0] not in " \t\xa0":
                return False
            if line.rstrip().endswith(")"):
                head.code = split_code(line.strip())[1] or head.code
            return True
        if head.dialect == "cc" and not line.startswith("   "):
            self._keep_pieces()
            return False
        self._pieces.append(line.strip())
        joined, code = split_code(self._joined(head), wrapped=True)
        if code is not None:
            head.message, head.code = joined, code
            self._wrapped, self._pieces = None, []
        elif len(self._pieces) == WRAPPED_LINES:
            self._stop_wrapping()
        return True

    def _keep_pieces(self) -> None:
        """A caret below: what stands between a message and its source line is the rest of the message."""
        if self._wrapped is not None and self._pieces:
            self._wrapped.head.message = self._joined(self._wrapped.head)
        self._stop_wrapping()

    def _joined(self, head: Head) -> str:
        """The message with its rest; a bracket that opens a code takes no blank behind it."""
        return " ".join([head.message.strip(), *self._pieces]).strip().replace(" [ -W", " [-W")

    def _stop_wrapping(self) -> None:
        if self._wrapped is not None and not self._wrapped.head.message.strip():
            self._wrapped.head.message = self._joined(self._wrapped.head) or f"({self._wrapped.head.word})"
        self._wrapped = None
        self._pieces = []

    def _other(self, number: int, line: str) -> bool:
        self._chain, self._required = 0, ""
        self._body = ""
        self._stop_wrapping()
        if is_chrome(line):
            return True
        if _CRASH.match(line):
            self.reading.crashed = True
        if _LOUD.search(line[:400]) or (_MAYBE_LOUD.search(line) and is_standing(line[:MESSAGE_COLUMNS])):
            self.reading.messages.append(number)
        return False


def _common_prefix(view: StreamView) -> "re.Pattern[str] | None":
    """The prefix that every line of a stream's beginning carries; None where there is none."""
    lines = [line[:400] for _, line in view.lines(1, PREFIX_LINES)]
    filled = [line for line in lines if line.strip()]
    for prefix in _PREFIXES if len(filled) >= PREFIX_FROM_LINES else _PREFIXES[:_CERTAIN]:
        # A line that is empty but for its prefix has lost the blank at its end.
        if filled and all(prefix.match(f"{line} ") for line in filled):
            return prefix
    return None


def _lint_name(found: "re.Match[str]") -> str:
    """The lint as the compiler's own report calls it: `unused_imports`, `clippy::needless_return`."""
    groups = found.groupdict()
    if groups.get("flag"):
        return groups["flag"].replace("-", "_")
    lint = groups["lint"]
    return f"clippy::{lint}" if found.re is _LINT_PAGE else lint
