"""One-line grammars of diagnostics, shared by all tools: `parse_row` turns a line into a `Head` or declines.

Grammars, by shape and not by brand:

    file:line[:col[:endline:endcol]]: severity[[code]]: message [code]     gcc, clang, javac, mypy, shellcheck, cppcheck
    file:line:col - severity [CODE]: message                               tsc pretty, pyright
    file(line[,col]): severity CODE: message [project]                     MSVC, dotnet, tsc; pylint msvs
    file:line[:col]: CODE[:] message · file:line: [CODE(symbol), obj] m    flake8, ruff, pylint
    file:line:col: message [Severity/rule] · file: line N, col N, Sev - m  eslint unix and compact
    ::severity file=…,line=…,col=…::message                                GitHub workflow commands
    file:(section+0x…): undefined reference to …                           linkers
    file:line CODE message and the like                                    hadolint, markdownlint, rubocop, maven, go

The place is the whole path and the number at the last colon after which a severity or a code can follow, so paths may
hold colons, blanks, brackets and drive letters. A listing of a search whose hits are diagnostics (`log:12:a.c:3: error`)
is no diagnostic: its place would begin with another place.
"""

import re
from collections.abc import Callable
from urllib.parse import unquote

from ctx.digest.lint_model import LETTER_SEVERITY, TRANSLATED, Head
from ctx.evidence import Severity

_WORD = (
    r"fatal error|internal compiler error|error|warning|note|information|info|style|performance|portability"
    r"|help|hint|remark|message|suggestion|Error|Warning|Fatal error"
)
_CODE = r"[A-Z]{1,8}\d{1,6}|invalid-syntax|io-error"

GUARD = re.compile(
    r":\d+: |:\d+:\d+ |\(\d+(?:,\d+)*(?:-\d+(?:,\d+)?)?\) ?: |: line \d+, col |^(?:##\[\w+\])?::\w+[ :]|:\[\d+,\d+\] "
    r"|##vso\[|\+0x[0-9a-f]+\): |\d (?:DL|SC|MD)\d|\bld(?:\.\w+)?: |: (?:fatal )?(?:error|warning)[ :]|^error TS\d|:\d+: \w+:$"
    r"|^\[?(?:ERROR|WARN|error|warning)"
)
"""What every one-line grammar holds; a line without it is not looked at again."""

_COLON = re.compile(
    r"(?P<file>.+?):(?P<line>\d+)(?:[:.](?P<column>\d+))?(?:[-:]\d+(?:[:.-]\d+)?|:(?:\{[\d:-]+\})+)?: "
    rf"(?P<word>{_WORD})(?:\[(?P<code>[\w:.-]+)\])?:(?: (?P<message>.*))?"
)
_VI = re.compile(
    r"(?P<file>\S.*?) \+(?P<line>\d+)(?::(?P<column>\d+))?: "
    rf"(?P<word>{_WORD})(?P<code>(?!))?: (?P<message>.+)"
)
_OTHER_TONGUE = re.compile(
    r"(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))?: (?P<word>[^\W\d_]+(?: [^\W\d_]+)?)(?P<code>(?!))? ?: ?(?P<message>.+)"
)
"""Compilers in other languages: the word is looked up, so that any word of a program is none."""
_SYNTAX = re.compile(r"(?P<file>.+?):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<message>SyntaxError: .+)")
_VSO = re.compile(r"##vso\[task\.logissue (?P<properties>[^\]]*)\](?P<message>.*)")
_DASH = re.compile(
    r"\s*(?P<file>\S.*?):(?P<line>\d+):(?P<column>\d+) - (?P<word>error|warning|information|info|message|suggestion)"
    r"(?: (?P<code>[A-Z]+\d+))?: (?P<message>.*)"
)
_PAREN = re.compile(
    r"\s*(?:\d+(?::\d+)?>)?(?P<file>\S.*?)\((?P<line>\d+)(?:[,:](?P<column>\d+))?(?:,\d+,\d+|-\d+(?:,\d+)?)?\) ?: "
    r"(?P<word>fatal error|error|warning|info|note|message|hidden)"
    r"(?: (?P<code>[A-Za-z][A-Za-z-]*\d+|[@\w/-]+(?= :)))? ?: (?P<message>.*)"
)
_ORIGIN = re.compile(
    r"\s*(?:\d+(?::\d+)?>)?(?P<file>\S.*?) ?: (?P<word>fatal error|error|warning) (?P<code>[A-Z]{2,8}\d{2,6}): (?P<message>.*)"
)
_MSVS = re.compile(
    r"(?P<file>.+?)\((?P<line>\d+)\): \[(?P<code>[A-Z]\d{4})\((?P<symbol>[\w-]+)\)[^\]]*\] (?P<message>.+)"
)
_CODED = re.compile(
    rf"(?P<file>.+?):(?P<line>\d+):(?:(?P<column>\d+):)? (?P<code>{_CODE})(?P<colon>:?) (?:\[[*-]\] )?(?P<message>.+)"
)
_BRACKET = re.compile(
    r"(?P<file>.+?):(?P<line>\d+):(?:(?P<column>\d+):)? \[(?P<code>[A-Za-z][\w-]*)(?:\((?P<symbol>[\w-]+)\))?"
    r"(?P<object>, ?[^\]]*)?\] (?P<message>.+)"
)
_UNIX = re.compile(
    r"(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): (?P<message>.*) \[(?P<word>Error|Warning)(?:/(?P<code>[^\]\s]+))?\]"
)
_COMPACT = re.compile(
    r"(?P<file>.+?): line (?P<line>\d+), col (?P<column>\d+), (?P<word>Error|Warning|Info) - (?P<message>.*?)"
    r"(?: \((?P<code>[^()\s]+)\))?"
)
_COP = re.compile(
    r"(?P<file>.+?):(?P<line>\d+):(?P<column>\d+): (?P<word>[CWEFRI]): (?:\[[A-Z]\w+\] )?(?P<code>[A-Z]\w+(?:/\w+)+): (?P<message>.*)"
)
_DOCKER = re.compile(
    r"(?P<file>.+?):(?P<line>\d+) (?P<code>(?:DL|SC)\d{4}) (?P<word>error|warning|info|style): (?P<message>.*)"
)
_MARKDOWN = re.compile(
    r"(?P<file>.+?):(?P<line>\d+)(?::(?P<column>\d+))? (?:(?P<word>error|warning) )?(?P<code>MD\d{3}(?:/[\w/-]+)?) (?P<message>.+)"
)
_GO = re.compile(
    r"(?:vet: )?(?P<file>\S+\.go):(?P<line>\d+):(?P<column>\d+): (?P<message>\S.*?)(?: \((?P<code>[a-z][\w-]*)\))?"
)
_MAVEN = re.compile(
    r"\[(?P<word>ERROR|WARNING)\] (?P<file>.+?):\[(?P<line>\d+),(?P<column>\d+)\] (?:(?:error|warning): )?(?P<message>.*)"
)
_LEADING = re.compile(
    r"\[?(?P<word>ERROR|WARN|WARNING|error|warning)\]?:? (?:in )?(?P<file>\S+?):(?P<line>\d+):(?P<column>\d+):? (?:- )?(?P<message>\S.*)"
)
_LINKER = re.compile(
    r"(?:(?:\S*[/\\])?(?:[\w-]+-)?ld(?:\.\w+)?: )?(?P<file>[^\s:][^:]*?):(?:\((?P<section>\.[^)]*)\)|(?P<line>\d+)): "
    r"(?P<message>(?:undefined reference to|multiple definition of|relocation truncated) .*)"
)
_LINKER_ALONE = re.compile(
    r"(?:\S*[/\\])?(?:[\w-]+-)?ld(?:\.(?P<flavour>\w+))?: (?:(?P<word>error|warning): )?"
    r"(?P<message>(?:cannot find|cannot open|undefined symbol|duplicate symbol|library not found|symbol\(s\) not found)\b.*)"
)
_GITHUB = re.compile(r"::(?P<word>error|warning|notice)(?: (?P<properties>[^:]*(?::(?!:)[^:]*)*))?::(?P<message>.*)")
_AZURE = re.compile(r"##\[(?:error|warning)\](?=.)")
_TSC_GLOBAL = re.compile(r"(?P<word>error) (?P<code>TS\d+): (?P<message>.*)")
_NO_LINE = re.compile(r"(?P<file>\S+\.(?:pyi?|cfg|ini|toml)): (?P<word>error|warning|note): (?P<message>.+)")

_TAIL_CODE = re.compile(r"(?P<message>.*?)(?P<gap> {1,2})\[(?P<code>[-A-Za-z][^\s\[\]]*?)(?:,[A-Z][\w /-]+)?\]")
_CODE_SHAPE = re.compile(
    r"-\S+|[A-Z]{1,8}-?\d{1,6}|[A-Za-z][\w.]*-[\w.,-]+|[a-z]+(?:[A-Z][a-z0-9]*)+|[a-z][\w-]*\.[\w.-]+"
)
_REPORT = re.compile(r"(?P<message>.*?)(?<![\s\xa0])[\s\xa0]+\((?P<code>report[A-Z]\w+)\)")
_LINT_PREFIX = re.compile(r"\[(?P<code>[a-z][\w-]*)\] (?P<message>.+)")
_SYMBOL_TAIL = re.compile(r"(?P<message>.*) \((?P<symbol>[a-z][a-z0-9]*(?:-[a-z0-9]+)*)\)")
_RULE_TAIL = re.compile(r"(?P<message>.*) \((?P<code>[\w/.-]+)\)")
_PROJECT_TAIL = re.compile(r"(?P<message>.*?) \[(?P<project>[^\[\]]*\.\w*proj(?:::[^\[\]]*)?)\]")

_CODE_MARKS = ('"', "; ", "/*", "= ", "`", " | ", " # ", " // ")
_CLOCK = re.compile(r"\W*\d{1,4}[-:/.]\d{2}[-:/.T]")
_EXTENSION = re.compile(r"\.([A-Za-z_][\w+~-]{0,15})$")
_CELL = re.compile(r":cell \d+$")
_NOT_SOURCES = frozenset(("com", "org", "net", "io", "local", "internal", "localhost", "log", "exe"))
_NAMES = frozenset(
    [
        "Makefile",
        "makefile",
        "GNUmakefile",
        "Dockerfile",
        "Containerfile",
        "CMakeLists.txt",
        "SConstruct",
        "SConscript",
        "Rakefile",
        "Gemfile",
        "Vagrantfile",
        "Jenkinsfile",
        "BUILD",
        "WORKSPACE",
        "Kconfig",
        "configure",
        "<stdin>",
        "<string>",
        "<unknown>",
        "<command-line>",
        "<built-in>",
        "<command>",
        "stdin",
        "-",
        "(standard_in)",
    ]
)
_NESTED = re.compile(r"(?P<outer>[^:]+):\d+[:-](?P<inner>.+)")
C_LIKE = frozenset(
    [
        "c",
        "h",
        "cc",
        "cpp",
        "cxx",
        "c++",
        "hpp",
        "hh",
        "hxx",
        "h++",
        "ipp",
        "tcc",
        "inl",
        "m",
        "mm",
        "cu",
        "cuh",
        "s",
        "S",
        "f",
        "f90",
        "f95",
        "f03",
        "for",
        "d",
        "ino",
        "l",
        "y",
        "ll",
        "yy",
    ]
)


def extension(file: str) -> str:
    """Lower-case extension of a path, without the dot; empty where there is none."""
    found = _EXTENSION.search(_CELL.sub("", file))
    return found[1] if found and found[1] in C_LIKE else found[1].lower() if found else ""


def names_a_file(text: str, *, loose: bool = False) -> bool:
    """Whether `text` can be the path of a source file; `loose` admits a bare word."""
    if not text or text[-1].isspace() or "://" in text or "\t" in text or _CLOCK.match(text) or len(text) > 4096:
        return False
    if any(mark in text for mark in _CODE_MARKS):
        return False  # a line of source that holds the text of a diagnostic
    nested = _NESTED.fullmatch(text)
    if nested and (nested["outer"].isdigit() or (_looks_named(nested["outer"]) and _is_path(nested["inner"]))):
        return False  # a hit of a search in a log
    if text.partition(":")[0].isdigit() and ":" in text:
        return False
    return _is_path(text) or (loose and text.replace("_", "a").replace("-", "a").isalnum() and not text.isdigit())


def _looks_named(text: str) -> bool:
    """Whether `text` can be the file that a search names before its hits, sources and logs alike."""
    return "/" in text or "\\" in text or _EXTENSION.search(text) is not None or text in _NAMES


def _is_path(text: str) -> bool:
    base = re.split(r"[/\\]", text)[-1]
    if base in _NAMES or (text.startswith("<") and text.endswith(">")):
        return True
    found = extension(base)
    if found:
        return found not in _NOT_SOURCES or "/" in text or "\\" in text
    return ("/" in text or "\\" in text) and " /" not in text


def split_code(message: str, *, wrapped: bool = False) -> tuple[str, str | None]:
    """Message and rule code where the code is printed behind the message: `m  [arg-type]`, `m [-Wx]`, `m (reportX)`.

    Args:
        wrapped: The message was joined from several lines, so that one blank may have been two.
    """
    if message.endswith("]"):
        found = _TAIL_CODE.fullmatch(message)
        if found and (found["gap"] == "  " or wrapped or _CODE_SHAPE.fullmatch(found["code"])):
            return found["message"].rstrip(), found["code"]
    elif message.endswith(")"):
        found = _REPORT.fullmatch(message)
        if found:
            return found["message"], found["code"]
    return message, None


def _number(text: str | None) -> int | None:
    return int(text) if text and len(text) < 10 else None


_BY_EXTENSION = {"py": "mypy", "pyi": "mypy", "java": "javac", "rs": "rustc", "cs": "dotnet"}


def _colon(found: "re.Match[str]", line: str) -> Head | None:
    file = found["file"].lstrip()
    message, code = found["message"] or "", found["code"]
    column = _number(found["column"])
    suffix = extension(file)
    if not message.strip() and suffix not in ("py", "pyi"):
        return None  # only mypy on a narrow terminal wraps right behind the word
    if code is None:
        message, code = split_code(message)
        if code is None and suffix == "java" and message.startswith("["):
            lint = _LINT_PREFIX.fullmatch(message)
            if lint:
                message, code = lint["message"], lint["code"]
    shell = code is not None and re.fullmatch(r"SC\d{4}", code) is not None
    if not names_a_file(file, loose=shell or column is not None):
        return None
    dialect = "shellcheck" if shell else "cc" if suffix in C_LIKE else _BY_EXTENSION.get(suffix, "")
    if dialect == "rustc" and found["code"] is None and "E0" not in line and column is None:
        dialect = ""
    return Head(
        file=file,
        line=_number(found["line"]),
        column=column,
        word=found["word"],
        code=code,
        message=message,
        dialect=dialect,
    )


def _other_tongue(found: "re.Match[str]", line: str) -> Head | None:
    return _colon(found, line) if found["word"].lower() in TRANSLATED else None


def _syntax(found: "re.Match[str]", line: str) -> Head | None:
    if extension(found["file"]) not in ("py", "pyi", "ipynb"):
        return None
    return Head(
        file=found["file"],
        line=_number(found["line"]),
        column=_number(found["column"]),
        message=found["message"],
        dialect="ruff" if found["column"] else "python",
        severity=Severity.ERROR,
    )


def _dash(found: "re.Match[str]", line: str) -> Head | None:
    if not names_a_file(found["file"]):
        return None
    message, code = found["message"], found["code"]
    if code is None:
        message, code = split_code(message)
    typescript = code is not None and code.startswith("TS")
    return Head(
        file=found["file"],
        line=_number(found["line"]),
        column=_number(found["column"]),
        word=found["word"],
        code=code,
        message=message,
        dialect="tsc-pretty" if typescript else "pyright",
    )


def _without_project(message: str) -> str:
    found = _PROJECT_TAIL.fullmatch(message) if message.endswith("]") else None
    return found["message"] if found else message


def _paren(found: "re.Match[str]", line: str) -> Head | None:
    file = found["file"].strip()
    if not names_a_file(file):
        return None
    message, code = _without_project(found["message"]), found["code"]
    if code is None:
        message, code = split_code(message)
    return Head(
        file=file,
        line=_number(found["line"]),
        column=_number(found["column"]),
        word=found["word"],
        code=code,
        message=message,
        dialect="tsc" if code and code.startswith("TS") else "msvc",
    )


def _origin(found: "re.Match[str]", line: str) -> Head | None:
    file = found["file"].strip()
    if ":" in file[2:] or len(file) > 300:
        return None
    message = _without_project(found["message"])
    return Head(
        file=file,
        word=found["word"],
        code=found["code"],
        message=message,
        dialect="msvc",
    )


def _msvs(found: "re.Match[str]", line: str) -> Head | None:
    if not names_a_file(found["file"]):
        return None
    return Head(
        file=found["file"],
        line=_number(found["line"]),
        code=found["code"],
        symbol=found["symbol"],
        message=found["message"],
        severity=LETTER_SEVERITY.get(found["code"][0]),
        dialect="pylint",
    )


def _coded(found: "re.Match[str]", line: str) -> Head | None:
    file, code, message = found["file"], found["code"], found["message"]
    if not names_a_file(file, loose=found["column"] is not None):
        return None
    if not found["column"] and not found["colon"]:
        return None
    head = Head(
        file=file,
        line=_number(found["line"]),
        column=_number(found["column"]),
        code=code,
        message=message,
        dialect="ruff" if code == "invalid-syntax" or f"{code} [*] " in line else "python",
        # pycodestyle and pyflakes call E and F errors; W, C, B, N, D and their like are opinions.
        severity=Severity.ERROR if code[0] in "EF" or code == "invalid-syntax" else Severity.WARNING,
    )
    if found["colon"] and re.fullmatch(r"[CRWEFI]\d{4}", code):
        return _as_pylint(head)
    return head


def _as_pylint(head: Head) -> Head:
    """The default format of pylint: 0-based columns, the symbol in brackets behind the message."""
    tail = _SYMBOL_TAIL.fullmatch(head.message)
    if tail:
        head.message, head.symbol = tail["message"], tail["symbol"]
    head.dialect, head.column_base = "pylint", 0
    head.severity = LETTER_SEVERITY.get((head.code or "E")[0])
    return head


def _bracket(found: "re.Match[str]", line: str) -> Head | None:
    file, code, message = found["file"], found["code"], found["message"]
    if not names_a_file(file):
        return None
    head = Head(
        file=file,
        line=_number(found["line"]),
        column=_number(found["column"]),
        message=message,
        symbol=found["symbol"] or "",
    )
    if code.lower() in ("error", "warning", "info"):
        rule = _RULE_TAIL.fullmatch(message)
        head.word = code
        if rule:
            head.message, head.code = rule["message"], rule["code"]
        return head
    if not re.fullmatch(_CODE, code):
        return None
    head.code = code
    if found["symbol"] or found["object"]:
        head.dialect, head.severity = "pylint", LETTER_SEVERITY.get(code[0])
    else:
        head.dialect, head.severity = "python", Severity.ERROR if code[0] in "EF" else Severity.WARNING
    return head


def _plain(dialect: str) -> "Callable[[re.Match[str], str], Head | None]":
    """Builder for a grammar whose groups are the parts."""

    def build(found: "re.Match[str]", line: str) -> Head | None:
        groups = found.groupdict()
        if not names_a_file(found["file"].strip()):
            return None
        word = groups.get("word") or ""
        letter = len(word) == 1
        return Head(
            file=found["file"].strip(),
            line=_number(found["line"]),
            column=_number(groups.get("column")),
            word="" if letter else word,
            code=groups.get("code"),
            message=found["message"],
            dialect=dialect,
            severity=LETTER_SEVERITY.get(word) if letter else None if word else Severity.ERROR,
        )

    return build


def _linker(found: "re.Match[str]", line: str) -> Head | None:
    if not found["section"] and not names_a_file(found["file"]):
        return None
    section = found["section"]
    return Head(
        file=found["file"],
        line=_number(found["line"]),
        message=found["message"],
        place=f"{found['file']}:({section})" if section else "",
        severity=Severity.ERROR,
        dialect="ld",
    )


def _linker_alone(found: "re.Match[str]", line: str) -> Head | None:
    word = found["word"] or ""
    return Head(message=found["message"], word=word, severity=None if word else Severity.ERROR, dialect="ld")


def _github(found: "re.Match[str]", line: str) -> Head | None:
    message = _unescaped(found["message"])
    first = message.split("\n", 1)[0]
    properties: dict[str, str] = {}
    for part in (found["properties"] or "").split(","):
        name, _, value = part.partition("=")
        properties[name.strip()] = _unescaped(value)
    file = properties.get("file", "")
    if not file:
        return None
    inner = parse_row(first)
    if (
        inner is not None
        and inner.file
        and file.replace("\\", "/").endswith(inner.file.lstrip("./").replace("\\", "/"))
    ):
        inner.word, inner.severity, inner.dialect = found["word"], None, "github"
        return inner
    title = properties.get("title", "")
    bracket = re.fullmatch(r".*\((\S+)\)", title)
    code = bracket[1] if bracket else title if re.fullmatch(_CODE, title) else None
    if code and first.startswith(f"{code} "):
        first = first[len(code) + 1 :]
    return Head(
        file=file,
        line=_number(properties.get("line")),
        column=_number(properties.get("col")),
        word=found["word"],
        code=code,
        message=first,
        dialect="github",
    )


def _vso(line: str) -> Head | None:
    """A logging command of Azure Pipelines."""
    found = _VSO.fullmatch(line)
    if found is None:
        return None
    properties = dict(part.partition("=")[::2] for part in found["properties"].split(";"))
    if not properties.get("sourcepath"):
        return None
    return Head(
        file=properties["sourcepath"],
        line=_number(properties.get("linenumber")),
        column=_number(properties.get("columnnumber")),
        word=properties.get("type", ""),
        code=properties.get("code") or None,
        message=found["message"],
        dialect="github",
    )


def _unescaped(text: str) -> str:
    return unquote(text) if "%" in text else text


def _tsc_global(found: "re.Match[str]", line: str) -> Head | None:
    return Head(word=found["word"], code=found["code"], message=found["message"], dialect="tsc")


def _no_line(found: "re.Match[str]", line: str) -> Head | None:
    message, code = split_code(found["message"])
    return Head(file=found["file"], word=found["word"], code=code, message=message, dialect="mypy")


_GRAMMARS: "tuple[tuple[str, re.Pattern[str], Callable[[re.Match[str], str], Head | None]], ...]" = (
    (": ", _COLON, _colon),
    (" +", _VI, _colon),
    (": SyntaxError: ", _SYNTAX, _syntax),
    (" - ", _DASH, _dash),
    (":[", _MAVEN, _plain("maven")),
    (") : ", _PAREN, _paren),
    ("): ", _PAREN, _paren),
    (" : ", _PAREN, _paren),
    ("): [", _MSVS, _msvs),
    ("]", _UNIX, _plain("eslint")),
    (": line ", _COMPACT, _plain("eslint")),
    (": [", _BRACKET, _bracket),
    (": ", _CODED, _coded),
    (": ", _COP, _plain("rubocop")),
    ("undefined ", _LINKER, _linker),
    ("multiple definition ", _LINKER, _linker),
    ("ld", _LINKER_ALONE, _linker_alone),
    ("error TS", _TSC_GLOBAL, _tsc_global),
    (" : ", _ORIGIN, _origin),
    (": error ", _ORIGIN, _origin),
    (": warning ", _ORIGIN, _origin),
    (".go:", _GO, _plain("go")),
    (" DL", _DOCKER, _plain("hadolint")),
    (" SC", _DOCKER, _plain("hadolint")),
    (" MD", _MARKDOWN, _plain("markdownlint")),
    (": ", _NO_LINE, _no_line),
    (":", _OTHER_TONGUE, _other_tongue),
    (":", _LEADING, _plain("")),
)
"""Literal that the line must hold, grammar, builder; in reading order, the first that fits wins."""


def parse_row(line: str) -> Head | None:
    """The diagnostic that `line` (one screen line, at most `LINE_LIMIT` characters) states, or None."""
    if not GUARD.search(line):
        return None
    if line.startswith("##vso["):
        return _vso(line)
    if line.startswith("##["):
        line = _AZURE.sub("", line, count=1)
    if line.startswith("::"):
        found = _GITHUB.fullmatch(line)
        return _github(found, line) if found else None
    line = line.rstrip()
    for literal, grammar, build in _GRAMMARS:
        if literal in line:
            found = grammar.fullmatch(line)
            if found:
                head = build(found, line)
                if head is not None:
                    return head
    return None
