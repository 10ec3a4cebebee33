"""Concluding lines of diagnostic tools: how many they counted, or that they found nothing (S5.3.5, S5.3.6)."""

import re
from collections.abc import Callable

from ctx.digest.lint_model import ERRORS_AND_WARNINGS, ERRORS_AND_WORSE, EVERY_SEVERITY, Total
from ctx.evidence import CoverageReason, Severity

JAVAC_CAP = 100
_WARNINGS = frozenset({Severity.WARNING})
GUARD = re.compile(
    r"(?i)\b(?:errors?|warnings?|problems?|issues?|passed|rated|informations?|total|formatted|reformatted)\b"
    r"|エラー|警告|错误|\d Fehler|\d Warnung|^\s*\d+ (?:error|warning)|^\d+$"
)


def _number(text: str | None) -> int:
    return int((text or "0").replace(",", ""))


def _ruff(found: "re.Match[str]") -> Total:
    left = found["left"] if found["left"] is not None else found["n"]
    return Total(dialect="ruff", counts={"errors": _number(left)}, covers=EVERY_SEVERITY)


def _mypy(found: "re.Match[str]") -> Total:
    stopped = "prevented" in found[0]
    return Total(
        dialect="mypy",
        counts={"errors": _number(found["n"])},
        covers=ERRORS_AND_WORSE,
        reasons=(CoverageReason.EARLY_STOP,) if stopped else (),
    )


def _clean(dialect: str) -> "Callable[[re.Match[str]], Total]":
    return lambda found: Total(dialect=dialect, counts={}, covers=frozenset(), clean=found[0].strip())


def _plain_statement(dialect: str) -> "Callable[[re.Match[str]], Total]":
    return lambda found: Total(dialect=dialect, counts={}, covers=frozenset())


def _pyright(found: "re.Match[str]") -> Total:
    counts = {
        "errors": _number(found["e"]),
        "warnings": _number(found["w"]),
        "informations": _number(found["i"]),
    }
    clean = found[0].strip() if not any(counts.values()) else ""
    return Total(dialect="pyright", counts=counts, covers=EVERY_SEVERITY, clean=clean)


def _eslint(found: "re.Match[str]") -> Total:
    counts = {"problems": _number(found["n"])}
    if found["e"] is not None:
        counts |= {"errors": _number(found["e"]), "warnings": _number(found["w"])}
    return Total(dialect="eslint", counts=counts, covers=ERRORS_AND_WARNINGS)


def _tsc(found: "re.Match[str]") -> Total:
    return Total(dialect="tsc", counts={"errors": _number(found["n"])}, covers=ERRORS_AND_WORSE)


def _translated(noun: str) -> "Callable[[re.Match[str]], Total]":
    """`5 errors` of javac in another language."""
    return lambda found: _javac_total(noun, _number(found["n"] or found["m"]))


def _generated(found: "re.Match[str]") -> Total:
    counts = {}
    covers: frozenset[Severity] = frozenset()
    for number, noun in re.findall(r"(\d+) (error|warning)s?", found[0]):
        counts[f"{noun}s"] = int(number)
        covers |= ERRORS_AND_WORSE if noun == "error" else _WARNINGS
    return Total(dialect="clang", counts=counts, covers=covers)


def _javac(found: "re.Match[str]") -> Total:
    return _javac_total(f"{found['noun']}s", _number(found["n"]))


def _javac_total(noun: str, number: int) -> Total:
    covers = ERRORS_AND_WORSE if noun == "errors" else _WARNINGS
    # javac stops printing at 100 of a class unless told otherwise, and does not always say that there were more.
    reasons = (CoverageReason.OUTPUT_SUPPRESSED,) if number == JAVAC_CAP else ()
    return Total(dialect="javac", counts={noun: number}, covers=covers, unit=noun, reasons=reasons)


def _javac_cap(found: "re.Match[str]") -> Total:
    noun = f"{found['noun']}s"
    covers = ERRORS_AND_WORSE if noun == "errors" else _WARNINGS
    return Total(
        dialect="javac",
        counts={noun: _number(found["all"])},
        covers=covers,
        unit=noun,
        shown_less=True,
        reasons=(CoverageReason.OUTPUT_SUPPRESSED,),
    )


def _aborting(found: "re.Match[str]") -> Total:
    counts = {"errors": _number(found["n"]) or 1}
    covers = ERRORS_AND_WORSE
    if found["w"]:
        counts["warnings"] = _number(found["w"])
        covers = covers | _WARNINGS
    return Total(dialect="rustc", counts=counts, covers=covers, unit=found["unit"] or "rustc")


def _emitted(found: "re.Match[str]") -> Total:
    return Total(
        dialect="rustc",
        # A crate that is built for several targets counts what it printed for another one as duplicates.
        counts={"warnings": (_number(found["n"]) or 1) - _number(found["twice"])},
        covers=_WARNINGS,
        unit=f"{found['unit']} {found['target']}" if found["unit"] else "rustc",
    )


def _dotnet(found: "re.Match[str]") -> Total:
    noun = f"{found['noun'].lower()}s"
    covers = ERRORS_AND_WORSE if noun == "errors" else _WARNINGS
    return Total(dialect="dotnet", counts={noun: _number(found["n"])}, covers=covers, unit=noun)


def _rated(found: "re.Match[str]") -> Total:
    clean = found[0].strip() if found["score"] == "10.00" else ""
    return Total(dialect="pylint", counts={}, covers=frozenset(), clean=clean)


_FORMS: "tuple[tuple[re.Pattern[str], Callable[[re.Match[str]], Total]], ...]" = (
    (
        re.compile(
            r"Found (?P<n>\d+) errors? in \d+ (?:source )?files? \((?:checked \d+ source files?"
            r"|errors prevented further checking)\)"
        ),
        _mypy,
    ),
    (re.compile(r"Success: no issues found in \d+ source files?"), _clean("mypy")),
    (re.compile(r"Found (?P<n>\d+) errors? in (?:\d+ files|the same file|\S+:\d+)\b.*"), _tsc),
    (re.compile(r"Found (?P<n>\d+) errors?\.? ?(?:\(\d+ fixed, (?P<left>\d+) remaining\))?\.?"), _ruff),
    (re.compile(r"All checks passed!"), _clean("ruff")),
    (re.compile(r"(?P<e>\d+) errors?, (?P<w>\d+) warnings?, (?P<i>\d+) (?:informations?|notes?) ?"), _pyright),
    (
        re.compile(r"\W*(?P<n>\d+) problems?(?: \((?P<e>\d+) errors?, (?P<w>\d+) warnings?(?:, \d+ \w+)*\))?"),
        _eslint,
    ),
    (re.compile(r"\d+ (?:warning|error)s?(?: and \d+ errors?)? generated\."), _generated),
    (re.compile(r"only showing the first \d+ (?P<noun>error|warning)s, of (?P<all>\d+) total.*"), _javac_cap),
    (re.compile(r"(?P<n>\d+) (?P<noun>error|warning)s?"), _javac),
    (re.compile(r"エラー(?P<n>\d+)個|(?P<m>\d+) ?(?:个错误|Fehler)"), _translated("errors")),
    (re.compile(r"警告(?P<n>\d+)個|(?P<m>\d+) ?(?:个警告|Warnung(?:en)?)"), _translated("warnings")),
    (re.compile(r"\d+ files? already formatted"), _clean("ruff")),
    (re.compile(r"\d+ files? would be reformatted(?:, .*)?"), _plain_statement("ruff")),
    (
        re.compile(
            r"error: (?:aborting|could not compile `(?P<unit>[^`]+)`.*?) due to (?:(?P<n>\d+) )?previous errors?"
            r"(?:; (?P<w>\d+) warnings? emitted)?"
        ),
        _aborting,
    ),
    (
        re.compile(
            r"warning: (?:`(?P<unit>[^`]+)` (?P<target>.*)generated )?(?P<n>\d+) warnings?"
            r"(?: \((?P<twice>\d+) duplicates?\))?(?: emitted.*| .*)?"
        ),
        _emitted,
    ),
    (re.compile(r" +(?P<n>\d+) (?P<noun>Warning|Error)\(s\)"), _dotnet),
    (re.compile(r"Your code has been rated at (?P<score>-?[\d.]+)/10.*"), _rated),
)


def parse_total(line: str) -> Total | None:
    """The total that a line (one screen line) states, or None."""
    if len(line) > 400 or not GUARD.search(line):
        return None
    text = line.rstrip()
    for form, build in _FORMS:
        found = form.fullmatch(text)
        if found is not None:
            return build(found)
    return None


_CHROME = re.compile(
    r"\*{13} Module |-{20,}$|For more information about (?:this error|an error), try |For more information:$"
    r"|Some errors have detailed explanations: |To get more info |\[\*\] \d+ (?:potentially )?fixable "
    r"|No fixes available|\d+ (?:unsafe |hidden )?fix(?:able|es) |  \d+ errors? and \d+ warnings? potentially fixable "
    r"| +(?:Compiling|Checking|Finished|Building|Blocking|Updating|Locking|Downloaded|Downloading|Running|Fresh) "
    r"|\d+ (?:warning|error)s? generated|compilation terminated|Note: .*\.java (?:uses|has) |Note: Some input files "
    r"|Note: Recompile with |Note: Some messages have been simplified|Errors  Files$| +\d+  \S.*:\d+$"
    r"|cc1(?:plus)?: (?:all|some) warnings being treated as errors"
)


def is_chrome(line: str) -> bool:
    """Whether a line is a tool's own remark without finding and total: a heading, a rule, a pointer to help."""
    return _CHROME.match(line) is not None
