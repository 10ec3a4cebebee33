"""What the readers of diagnostics hand to the `lint` profile: findings, totals, and what a stream says besides."""

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum

from ctx.evidence import CoverageReason, Severity

LINE_LIMIT = 1 << 16
"""Longer lines are read up to here, and the rest is declared as a gap (S5.0.11)."""

_TRANSLATED_ERRORS = (
    "schwerwiegender fehler", "fehler", "erreur fatale", "erreur", "error fatal", "errore fatale", "errore", "erro fatal",
    "erro", "фатальная ошибка", "ошибка", "致命的エラー", "エラー", "致命错误", "错误", "錯誤", "오류", "에러", "błąd", "fout",
    "fel", "chyba", "virhe", "hata", "ölümcül hata",
)  # fmt: skip
"""Severity words as javac and gcc print them in other languages (S5.0.9)."""
_TRANSLATED_WARNINGS = (
    "warnung", "avertissement", "attention", "advertencia", "aviso", "avviso", "attenzione", "предупреждение", "警告",
    "경고", "ostrzeżenie", "waarschuwing", "varning", "varování", "varoitus", "uyarı",
)  # fmt: skip
_TRANSLATED_NOTES = (
    "anmerkung", "hinweis", "remarque", "nota", "замечание", "примечание", "ノート", "備考", "注", "附注", "備註", "참고",
    "uwaga", "opmerking", "anm", "poznámka", "huomaa", "bilgi",
)  # fmt: skip
TRANSLATED = frozenset((*_TRANSLATED_ERRORS, *_TRANSLATED_WARNINGS, *_TRANSLATED_NOTES))
_ERROR_WORDS = ("error", "severe", "failure", "critical", "blocker", "major", "✖", "✘", "×")
_WARNING_WORDS = ("warning", "warn", "minor", "⚠", "‼")
_INFO_WORDS = (
    "note",
    "info",
    "information",
    "style",
    "help",
    "hint",
    "remark",
    "notice",
    "suggestion",
    "message",
    "convention",
    "refactor",
    "advice",
    "ℹ",
)
SEVERITY_OF: Mapping[str, Severity] = {
    **dict.fromkeys(("fatal", "fatal error", "internal compiler error"), Severity.CRITICAL),
    **dict.fromkeys((*_ERROR_WORDS, *_TRANSLATED_ERRORS), Severity.ERROR),
    **dict.fromkeys((*_WARNING_WORDS, *_TRANSLATED_WARNINGS), Severity.WARNING),
    **dict.fromkeys((*_INFO_WORDS, *_TRANSLATED_NOTES), Severity.INFO),
}
"""Severity word in lower case -> severity; a word that is not here keeps its text and weighs as a warning."""

REMARKS = frozenset(("note", "help", "hint", "remark", *_TRANSLATED_NOTES))
"""Words of what belongs to the diagnostic above it."""

_UNREADABLE = frozenset(("invalid-syntax", "E999", "E902", "io-error", "F0001", "E0001", "syntax"))
"""Codes of ruff, flake8, pylint and mypy for a file that they cannot read or parse."""

LETTER_SEVERITY: Mapping[str, Severity] = {
    "F": Severity.CRITICAL,
    "E": Severity.ERROR,
    "W": Severity.WARNING,
    "C": Severity.INFO,
    "R": Severity.INFO,
    "I": Severity.INFO,
}
"""First letter of a pylint or rubocop category -> severity."""


class CountClass(StrEnum):
    """What a total counts, in the tools' own plural words."""

    PROBLEMS = "problems"
    ERRORS = "errors"
    WARNINGS = "warnings"
    INFORMATIONS = "informations"
    FILES = "files"
    ISSUES = "issues"


ERRORS_AND_WORSE = frozenset({Severity.ERROR, Severity.CRITICAL})
ERRORS_AND_WARNINGS = ERRORS_AND_WORSE | {Severity.WARNING}
EVERY_SEVERITY = frozenset(Severity)


@dataclass(kw_only=True, slots=True)
class Head:
    """What one line (or the head of a block) says about a diagnostic; parts that it does not print are None."""

    message: str
    file: str | None = None
    line: int | None = None
    column: int | None = None
    """As printed; `column_base` says what the first column is called."""
    word: str = ""
    """Severity as printed."""
    code: str | None = None
    dialect: str = ""
    """Tool or shape: decides which lines continue the diagnostic and which totals the tool always prints."""
    severity: Severity | None = None
    """Where no word says it."""
    place: str = ""
    """The place as printed where it is no `file:line:column`: `main.c:(.text+0x5)`."""
    through: str = ""
    """The place that led to this one, in words: `expanded at main.c:8:12`, `required from main.cpp:10:5`."""
    symbol: str = ""
    """The rule's readable name where a code is printed as well."""
    column_base: int = 1

    @property
    def hides_others(self) -> bool:
        """Whether the file could not be read or parsed, so that nothing else of it is known."""
        return self.code in _UNREADABLE or self.message.startswith("SyntaxError: ")

    @property
    def weight(self) -> Severity:
        """Severity by table."""
        if self.severity is not None:
            return self.severity
        return SEVERITY_OF.get(self.word.lower(), Severity.WARNING if self.word else Severity.ERROR)


@dataclass(kw_only=True, slots=True)
class Finding:
    """One printed diagnostic with its place in the stream; lines are screen lines, 1-based and inclusive."""

    head: Head
    line: int
    """The line that makes the claim."""
    first: int
    last: int
    """The region behind it: context, source, carets, notes."""
    caret: int = 0
    """Column of the first caret under the source; tells two diagnostics of one line apart where no column is printed."""
    segment: int = 0
    """Which total of its stream covers it."""
    cut: bool = False
    """The line was longer than what is read of a line."""


@dataclass(kw_only=True, slots=True)
class Total:
    """One concluding line of a tool."""

    dialect: str
    counts: dict[str, int]
    """Tool's own classes in its order; empty for a statement without a number."""
    covers: frozenset[Severity]
    """Which severities the counts speak of; empty where nothing is counted."""
    clean: str = ""
    """The tool's own statement that nothing was found."""
    counted: frozenset[str] = frozenset()
    """Classes whose number follows from a statement without a number."""
    unit: str = ""
    """What the numbers belong to where a tool prints several lines for one unit: a crate."""
    reasons: tuple[CoverageReason, ...] = ()
    shown_less: bool = False
    """The tool says that it printed fewer than it counted."""
    closes: bool = True
    """Whether diagnostics after it belong to another total."""


@dataclass(kw_only=True, slots=True)
class Reading:
    """What one stream holds."""

    stream: str
    findings: list[Finding] = field(default_factory=list)
    totals: list[tuple[int, int, Total]] = field(default_factory=list)
    """Line, segment, total."""
    understood: int = 0
    """Screen lines that a rule understood."""
    lines: int = 0
    messages: list[int] = field(default_factory=list)
    """Lines that no grammar understood and that stand out as errors."""
    crashed: bool = False
    """The stream holds a crash report of the tool."""
    machine: bool = False
    """Read from a machine format."""
    closed: bool = True
    """For a machine format: its document is whole."""
    dialects: dict[str, int] = field(default_factory=dict)
    """Dialect -> findings and totals that prove it."""
    hint: str = ""
    """The tool that a line around its rows gives away."""
    reasons: list[CoverageReason] = field(default_factory=list)
    last_understood: int = 0
    """Last line that a rule understood."""

    def vote(self, dialect: str) -> None:
        """Count a line that proves a dialect."""
        if dialect:
            self.dialects[dialect] = self.dialects.get(dialect, 0) + 1

    def because(self, reason: CoverageReason) -> None:
        """Name a reason once."""
        if reason not in self.reasons:
            self.reasons.append(reason)
