"""Reading one stream of diagnostics: rows, blocks and headings in one pass (S5.3.1).

Rows are grammars of one line (`lint_rows`). Blocks put the message on one line and the place on another:

    error[E0308]: mismatched types        F401 [*] `os` imported but unused      In run.sh line 3:
      --> src/main.rs:4:18                 --> a.py:1:8                            rm $1
                                                                                   ^-- SC2086 (info): Double quote …

Under a heading that names the file, rows have a place only: `  3:1  error  message  rule`, `  3:1 F401 message`. Lines
of context, source, carets, notes and helps belong to the diagnostic above them and are its detail.
"""

import re

from ctx.digest.lint_model import LINE_LIMIT, Finding, Head, Reading, Total
from ctx.digest.lint_rows import names_a_file, parse_row, split_code
from ctx.digest.lint_totals import parse_total
from ctx.evidence import Severity
from ctx.text import StreamView

_ARROW = re.compile(r" *(?:-->|╭▸|:::) (?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?(?::cell.*)?\s*")
_RUST_HEAD = re.compile(r"(?P<word>error|warning|note|help)(?:\[(?P<code>[\w:-]+)\])?: (?P<message>.+)")
_RUFF_HEAD = re.compile(r"(?P<code>[A-Z]{1,8}\d{1,6}|invalid-syntax):? (?:\[[*-]\] )?(?P<message>.+)")
_LEAD = re.compile(r"In (?P<file>\S.*) line (?P<line>\d+):")
_POINTER = re.compile(r"(?P<blank> *)\^[-^]*\^? (?P<code>SC\d{4}) \((?P<word>\w+)\): (?P<message>.+)")
_STYLISH = re.compile(
    r" +(?P<line>\d+):(?P<column>\d+) +(?P<word>error|warning|info) +(?P<message>.+?)(?: {2,}(?P<code>[@\w/.-]+))?"
)
_GROUPED = re.compile(
    r" +(?P<line>\d+):(?P<column>\d+) +(?P<code>[A-Z]{1,8}\d{1,6}|invalid-syntax):? (?:\[[*-]\] )?(?P<message>.+)"
)
_CONTEXT = re.compile(r"\s|\||\d+ *\||= (?:note|help)|In file included from |.*: note: |[a-z_]+: note|\^|~")
_BAR = re.compile(r" *\d* *[|│┆](?:\s|$)| *\.\.\.$")
_CARET = re.compile(r" *[\^~][\^~ ]*$")
_CHAIN = re.compile(
    r"In file included from |.*: (?:In |At )(?:member |static |lambda )?(?:function|instantiation|scope|top level)"
)
_CRASH = re.compile(r"Traceback \(most recent call last\):|thread '.*' panicked at|Oops! Something went wrong")
_LOUD = re.compile(r"(?i)^(?:\S+: )?(?:\*\*\* |fatal|error\b|npm err|ld: |collect2: )|\*\*\* \[|: Error \d+$|^E: ")


class StreamReader:
    """Reads the lines of one stream into a `Reading`; linear, one line of memory besides what it found."""

    def __init__(self, view: StreamView) -> None:
        self._view = view
        self.reading = Reading(stream=view.name)
        self._pending: tuple[int, Head] | None = None
        """A head that waits for its place."""
        self._heading = ""
        self._lead: tuple[str, int, int] | None = None
        """File, line, and screen line of a lead that waits for its pointers."""
        self._chain = 0
        """First line of an include chain or `In function` line that belongs to the next diagnostic."""
        self._wrapped: Finding | None = None
        """The newest finding whose message may go on below it."""

    def read(self, first: int = 1, last: int | None = None) -> Reading:
        """Screen lines `first`..`last` (inclusive)."""
        for number, line in self._view.lines(first, last):
            self.reading.lines += 1
            if self._line(number, line[:LINE_LIMIT]):
                self.reading.understood += 1
                self.reading.last_understood = number
        return self.reading

    def _line(self, number: int, line: str) -> bool:
        """Take one line; whether a rule understood it."""
        if not line.strip():
            self._heading = "" if self._heading and self.reading.dialects.get("eslint") else self._heading
            self._lead = None
            self._pending = None
            self._wrapped = None
            return True
        return (
            self._place(number, line)
            or self._pointer(number, line)
            or self._bar(number, line)
            or self._under_heading(number, line)
            or self._total(number, line)
            or self._row(number, line)
            or self._head(number, line)
            or self._belongs(number, line)
            or self._other(number, line)
        )

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
        if head.word in ("note", "help") and self.reading.findings:
            return self._extend(number)
        head.file, head.line = found["file"], int(found["line"])
        head.column = int(found["column"]) if found["column"] else None
        self._add(Finding(head=head, line=at, first=at, last=number))
        return True

    def _head(self, number: int, line: str) -> bool:
        """A message that waits for its place on the line below."""
        rust = _RUST_HEAD.fullmatch(line)
        if rust is not None:
            head = Head(word=rust["word"], code=rust["code"], message=rust["message"], dialect="rustc")
        else:
            ruff = _RUFF_HEAD.fullmatch(line)
            if ruff is None:
                return False
            head = Head(code=ruff["code"], message=ruff["message"], dialect="ruff", severity=Severity.ERROR)
        following = self._view.line(number + 1) if number < self._view.line_count else ""
        if _ARROW.fullmatch(following[:LINE_LIMIT]) is None:
            return False
        self._pending = (number, head)
        return True

    def _pointer(self, number: int, line: str) -> bool:
        lead = _LEAD.fullmatch(line)
        if lead is not None:
            self._lead = (lead["file"], int(lead["line"]), number)
            return True
        if self._lead is None:
            return False
        found = _POINTER.fullmatch(line)
        if found is not None:
            file, at, first = self._lead
            head = Head(
                file=file,
                line=at,
                column=len(found["blank"]) + 1,
                word=found["word"],
                code=found["code"],
                message=found["message"],
                dialect="shellcheck",
            )
            self._add(Finding(head=head, line=number, first=first, last=number))
        return True

    def _bar(self, number: int, line: str) -> bool:
        """A source line behind its bar, right below a diagnostic: whatever it says is the source's own text."""
        if not self.reading.findings or _BAR.match(line) is None:
            return False
        newest = self.reading.findings[-1]
        if newest.last != number - 1 and not self._near(newest.last, number):
            return False
        newest.last = number
        return True

    # Headings ---------------------------------------------------------------------------------------------------------

    def _under_heading(self, number: int, line: str) -> bool:
        if line[0] != " ":
            return self._opens_heading(number, line)
        if not self._heading:
            return False
        stylish = _STYLISH.fullmatch(line)
        grouped = None if stylish else _GROUPED.fullmatch(line)
        found = stylish or grouped
        if found is None:
            return False
        head = Head(
            file=self._heading,
            line=int(found["line"]),
            column=int(found["column"]),
            word=stylish["word"] if stylish else "",
            code=found["code"],
            message=found["message"].strip(),
            dialect="eslint" if stylish else "ruff",
            severity=None if stylish else Severity.ERROR,
        )
        self._add(Finding(head=head, line=number, first=number, last=number))
        return True

    def _opens_heading(self, number: int, line: str) -> bool:
        """A line that names a file alone, with a row below it."""
        name = line.rstrip().removesuffix(":")
        if " -" in name or not names_a_file(name, loose=False) or number >= self._view.line_count:
            return False
        below = self._view.line(number + 1)[:LINE_LIMIT]
        if _STYLISH.fullmatch(below) is None and _GROUPED.fullmatch(below) is None:
            return False
        self._heading = name
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
        self._wrapped = None
        return True

    def _speaks_java(self, total: Total) -> bool:
        """`2 errors` alone on a line is a total only below diagnostics."""
        return bool(self.reading.findings) or bool(self.reading.totals)

    def _row(self, number: int, line: str) -> bool:
        head = parse_row(line)
        if head is None:
            return False
        if head.word.lower() in ("note", "help", "hint", "remark") and self._is_remark(head):
            if head.message.startswith("in expansion of macro"):
                # One place in a macro is reported once for each expansion: these are different diagnostics.
                self.reading.findings[-1].head.variant += f" {head.file}:{head.line}:{head.column}"
            return self._extend(number)
        first = self._chain or number
        self._chain = 0
        finding = Finding(head=head, line=number, first=first, last=number, cut=len(line) >= LINE_LIMIT)
        self._add(finding)
        self._wrapped = finding
        return True

    def _is_remark(self, head: Head) -> bool:
        """A note belongs to the diagnostic above it; the notes of shellcheck are diagnostics of their own."""
        return head.dialect != "shellcheck" and bool(self.reading.findings)

    def _add(self, finding: Finding) -> None:
        self.reading.findings.append(finding)
        self.reading.vote(finding.head.dialect)

    def _extend(self, number: int) -> bool:
        if not self.reading.findings:
            return False
        self.reading.findings[-1].last = number
        return True

    def _belongs(self, number: int, line: str) -> bool:
        """Context, source, carets, notes: detail of the diagnostic above, if it stands right above."""
        if _CHAIN.match(line):
            self._chain = self._chain or number
            return True
        if not self.reading.findings or not _CONTEXT.match(line):
            return False
        newest = self.reading.findings[-1]
        if newest.last != number - 1 and not self._near(newest.last, number):
            return False
        newest.last = number
        if self._wrapped is newest:
            self._goes_on(newest, line)
        return True

    def _near(self, last: int, number: int) -> bool:
        """Blank lines alone stand between."""
        return number - last <= 2 and not self._view.line(number - 1).strip()

    def _goes_on(self, finding: Finding, line: str) -> None:
        """A message that a narrow terminal wrapped: indented text that is neither source nor caret (mypy, pyright)."""
        head = finding.head
        if head.code is not None or head.dialect not in ("mypy", "pyright") or _CARET.match(line):
            self._wrapped = None
            return
        below = finding.last + 1
        following = self._view.line(below)[:LINE_LIMIT] if below <= self._view.line_count else ""
        if head.dialect == "mypy" and _CARET.match(following):
            self._wrapped = None
            return
        if head.dialect == "mypy" or line.rstrip().endswith(")"):
            joined, code = split_code(f"{head.message} {line.strip()}")
            if head.dialect == "mypy":
                head.message = joined
            head.code = code if code is not None else head.code

    def _other(self, number: int, line: str) -> bool:
        if _CRASH.match(line):
            self.reading.crashed = True
        if _LOUD.search(line[:400]):
            self.reading.messages.append(number)
        self._chain = 0
        self._wrapped = None
        return False
