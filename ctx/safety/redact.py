"""Secrets masked wherever text leaves the store (S18.3); the store itself keeps raw bytes, private to the user.

Only literal values are masked. Code that speaks of tokens stays: names, types, numbers, operators, calls, environment
look-ups, placeholders and empty strings. Hashes, UUIDs and lock-file lines are no secrets. A replacement,
`<redacted:kind#n>`, counts by first appearance and holds nothing of the value.

Patterns are linear: every repetition is bounded or over one character class that what follows cannot enter.
"""

import re
from functools import cache, lru_cache
from itertools import pairwise
from math import log2

# Literals of which a text must hold one (in lower case) before any pattern is tried.
_TRIGGERS = (
    "key", "token", "secret", "passw", "pwd", "auth", "bearer", "://", "akia", "asia", "ghp_", "gho_", "ghu_", "ghs_",
    "ghr_", "github_pat_", "glpat-", "xox", "sk_live", "rk_live", "sk_test", "aiza", "sk-", "npm_", "pypi-", "sg.",
    "eyj", "hooks.slack", "dop_v1", "hf_", "shpat_", "age-", "credential", "api-", "cookie", "lin_api", "private",
    "accountkey", "aws_", "sig=", "dckr_pat_", "pass=", "nvapi-", "figd_", "sq0", "ya29.", "-u ",
    "--user", "--proxy-u", "whsec_", "passphrase",
)  # fmt: skip

# What stands before each of them is no letter or digit, or the end of a colour; a word boundary would let one hide in
# `test_<token>`.
_SHAPES: tuple[tuple[str, str], ...] = (
    ("aws-key", r"(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{16}(?![A-Za-z0-9])"),
    ("github-token", r"gh[pousr]_[A-Za-z0-9]{30,255}|github_pat_[A-Za-z0-9_]{22,255}"),
    ("gitlab-token", r"gl(?:pat|dt|rt|cbt|ptt|soat)-[A-Za-z0-9_-]{20,255}"),
    ("slack-token", r"xox[abeoprs]-[A-Za-z0-9-]{10,255}|xapp-[0-9]-[A-Za-z0-9-]{10,255}"),
    ("slack-webhook", r"hooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,255}"),
    ("stripe-key", r"(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,255}|whsec_[A-Za-z0-9]{16,255}"),
    ("google-key", r"AIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])|ya29\.[A-Za-z0-9_-]{20,512}"),
    ("anthropic-key", r"sk-ant-[A-Za-z0-9_-]{16,255}"),
    ("openai-key", r"sk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,255}"),
    ("npm-token", r"npm_[A-Za-z0-9]{30,255}"),
    ("pypi-token", r"pypi-[A-Za-z0-9_-]{16,1024}"),
    ("sendgrid-key", r"SG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,128}"),
    ("huggingface-token", r"hf_[A-Za-z0-9]{30,255}"),
    ("digitalocean-token", r"do[opr]_v1_[a-f0-9]{64}(?![A-Za-z0-9])"),
    ("shopify-token", r"shp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}(?![A-Za-z0-9])"),
    ("docker-token", r"dckr_pat_[A-Za-z0-9_-]{20,255}"),
    ("linear-key", r"lin_api_[A-Za-z0-9]{32,255}"),
    ("nvidia-key", r"nvapi-[A-Za-z0-9_-]{40,255}"),
    ("figma-token", r"fig[dou]_[A-Za-z0-9_-]{30,255}"),
    ("square-token", r"sq0[a-z]{3}-[A-Za-z0-9_-]{22,64}"),
    ("age-key", r"AGE-SECRET-KEY-1[A-Z0-9]{50,64}"),
    ("jwt", r"eyJ[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{0,4096}"),
)
_SCHEMES = "(?i:bearer|basic|token|digest|apikey|bot)"
_AUTHORIZATION = (
    rf"((?i:\bauthorization)[\"']?[ \t]{{0,4}}[:=][ \t]{{0,4}}[\"']?)({_SCHEMES}[ \t]{{1,4}})?"
    rf"(?!{_SCHEMES}\b)([^\s\"',;<>{{}}$]{{6,4096}})"
)
_BEARER = r"(\b[Bb]earer[ \t]{1,4})([A-Za-z0-9._~+/=-]{16,4096})"
_HEADER = (
    r"((?i:\b(?:x-api-key|x-auth-token|private-token|x-vault-token|set-cookie)):[ \t]{0,4})([^\s\"';,<>{}$]{12,4096})"
)
_COOKIES = r"((?i:(?<!-)\bcookie):[ \t]{0,4})([^\n\"'<>{}$]{12,4096})"
_URL_USER = r"(\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\"'<>{}$]{0,128}:)([^\s/@\"'<>{}$]{1,256})(@)"
_NAME = (
    r"(?:(?:password|passwd|passphrase|pwd|secret|secret[_-]?key|token|api[_-]?key|apikey|access[_-]?key|"
    r"auth[_-]?key|private[_-]?key|client[_-]?secret|credential|accountkey|signing[_-]?key|encryption[_-]?key)"
    r"(?:[_-]?(?:id|value|prod|dev|hash|base64|b64|v[0-9])){0,2}[0-9]{0,2})"
)
_QUOTED = rf"((?i:{_NAME})[\"']?[ \t]{{0,8}}(?::=|=>|[:=])[ \t]{{0,8}})([\"'`])([^\"'`\n]{{4,1024}})(?=\2)"
_BARE = rf"((?i:{_NAME})[\"']?[ \t]{{0,2}}(?:=|:)[ \t]{{0,2}})([^\s\"'`,;&)(\[\]{{}}<>|]{{6,1024}})(?![(\[])"
_OPTION = rf"(-[a-z-]{{0,24}}(?i:{_NAME})[ \t]+)([^\s\"'`,;&)(\[\]{{}}<>|-][^\s\"'`,;&)(\[\]{{}}<>|]{{5,1024}})"
_USER_OPTION = r"((?:^|[ \t])(?:-u|--user|--proxy-user)[ \t=]+[^\s:\"'<>]{1,128}:)([^\s\"'<>]{4,256})"
_BEGIN = r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_KEY_BEGIN = _BEGIN + r"[\"'`,;)\s\\nr]*$"
_KEY_END = r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----"
_KEY_IN_LINE = rf"({_BEGIN})((?:[A-Za-z0-9+/=]|\\[nr]){{16,16384}})"
# What stands before a line of a key: indentation, a gutter, a mark of a diff or of an assertion, a quote.
_KEY_BODY = r"\s{0,64}(?:[|>+-] ?|E\s{1,16}[-+]?\s{0,4})?[\"'`]?([A-Za-z0-9+/=]{1,128})[\"'`,\\nr\s]{0,8}\Z"
_KEY_HEADER = r"\s{0,64}(?:[|>] ?)?(?:(?:Proc-Type|DEK-Info|Version|Comment|Hash): .{0,200})?\s{0,16}\Z"
_KEY_COLUMNS = 24
"""The first line of a key's text has so many or more characters; code that only names the markers goes on otherwise."""

_PLACEHOLDER = (
    r"(?i)^(?:x{3,}|\*{2,}|\.{3,}|-+|_+|none|null|nil|undefined|true|false|yes|no|empty|changeme|change-me|redacted|"
    r"your[-_ ].*|my[-_ ]?.*|example.*|sample.*|dummy.*|test|testing|foo.*|bar|baz|todo|placeholder|"
    r"<.*|\$.*|%.*|\{.*|@.*|string|str|bytes|int|bool|optional.*|required|any|invalid.*|missing|expired|unset|default)$"
)
_IDENTIFIER = r"^[A-Za-z_$][A-Za-z_$]*(?:(?:\.|->|::)[A-Za-z_$][A-Za-z_$]*)*[;,]?$"
_CODE = r"^[A-Za-z_][A-Za-z0-9_.]*[(\[]|^(?:os|process|env|self|this|config|settings|request|args|options)[.\[]"
_NUMBER = r"^[-+]?[0-9]+(?:[.,][0-9]+)*(?:[eE][-+]?[0-9]+)?[a-z%]{0,3}$"
_PATH = r"^(?:~|\.{1,2})?/[\w./-]*$|^[\w-]+(?:/[\w.-]+)+\.\w{1,5}$"
_HASH_ALGORITHM = r"(?i)^(?:sha(?:1|256|384|512)|md5|blake\w*)[-:=]"


@cache
def _compiled(source: str) -> "re.Pattern[str]":
    """Most texts hold nothing that any of them is needed for."""
    return re.compile(source)


@lru_cache(maxsize=1)
def _patterns() -> tuple["re.Pattern[str]", ...]:
    """Compiled on first need: a command without a trigger word never pays for them."""
    kinds = "|".join(f"(?P<k{number}>{pattern})" for number, (_, pattern) in enumerate(_SHAPES))
    shapes = rf"(?:(?<![A-Za-z0-9])|(?<=[0-9;]m)|(?<=\[m))(?:{kinds})"
    sources = (shapes, _AUTHORIZATION, _BEARER, _HEADER, _COOKIES, _URL_USER, _QUOTED, _BARE, _OPTION, _USER_OPTION)
    return tuple(re.compile(source, re.ASCII) for source in sources)


class Redactor:
    """Redacts texts of one capture; equal values keep one number over all of them."""

    def __init__(self) -> None:
        self._numbers: dict[str, dict[str, int]] = {}

    def redact(self, text: str) -> str:
        """`text` with every secret replaced; the number of lines is kept, and text without one is the same object."""
        lowered = text.lower()
        if not any(trigger in lowered for trigger in _TRIGGERS):
            return text
        if "private key" in lowered:
            text = self._key_blocks(text)
        shapes, authorization, bearer, header, cookies, url_user, quoted, bare, option, user = _patterns()
        text = shapes.sub(self._shape, text)
        text = authorization.sub(self._authorization, text)
        text = bearer.sub(lambda m: m[1] + self._secret("bearer", m[2], least=16), text)
        text = header.sub(lambda m: m[1] + self._secret("header", m[2], least=12), text)
        text = cookies.sub(lambda m: m[1] + self._secret("header", m[2].rstrip(), least=12), text)
        text = url_user.sub(lambda m: m[1] + self._secret("url-password", m[2], least=1) + m[3], text)
        text = quoted.sub(lambda m: m[1] + m[2] + self._secret("assignment", m[3], least=6), text)
        text = bare.sub(lambda m: m[1] + self._secret("assignment", m[2], least=6), text)
        text = option.sub(lambda m: m[1] + self._secret("assignment", m[2], least=6), text)
        return user.sub(lambda m: m[1] + self._secret("user-password", m[2], least=4), text)

    def key_line(self, line: str) -> str:
        """A line that lies inside a private key (`private_key_lines`), masked whole."""
        return self._mask("private-key", line.strip()) if line.strip() else line

    def redact_words(self, words: "tuple[str, ...]") -> tuple[str, ...]:
        """The words of a command; a value is judged beside the option before it."""
        out: list[str] = []
        for position, word in enumerate(words):
            joined = self.redact(f"{words[position - 1]} {word}") if position else ""
            alone = self.redact(word)
            prefix = f"{words[position - 1]} " if position else ""
            out.append(joined[len(prefix) :] if position and alone == word and joined.startswith(prefix) else alone)
        return tuple(out)

    def _mask(self, kind: str, value: str) -> str:
        if value.startswith("<redacted:"):
            return value
        known = self._numbers.setdefault(kind, {})
        number = known.setdefault(value, len(known) + 1)
        return f"<redacted:{kind}#{number}>"

    def _authorization(self, match: "re.Match[str]") -> str:
        """After a scheme everything is a credential; without one a word may be prose: `authorization: required`."""
        before, scheme, value = match[1], match[2], match[3]
        if scheme:
            return before + scheme + self._mask("authorization", value)
        return before + self._secret("authorization", value, least=6)

    def _shape(self, match: "re.Match[str]") -> str:
        kind = _SHAPES[int((match.lastgroup or "k0")[1:])][0]
        if kind == "openai-key" and not any(character.isdigit() for character in match[0]):
            return match[0]  # a name of words, such as `sk-learn-compatible-estimators`
        return self._mask(kind, match[0])

    def _secret(self, kind: str, value: str, *, least: int) -> str:
        return self._mask(kind, value) if is_literal_secret(value, least=least) else value

    def _key_blocks(self, text: str) -> str:
        """Private keys: their markers stay, their text goes, line for line."""
        text = _compiled(_KEY_IN_LINE).sub(lambda m: m[1] + self._mask("private-key", m[2]), text)
        lines = text.split("\n")
        for place in _key_places(lines):
            lines[place] = self.key_line(lines[place])
        return "\n".join(lines)


def private_key_lines(screen: bytes) -> frozenset[int]:
    """Numbers (from 1) of the lines of a whole text that are text of a private key.

    A part of a text does not show that it lies inside a key: whoever prints one line or a window asks here first.
    """
    if b" PRIVATE KEY" not in screen:
        return frozenset()
    lines = screen.decode("utf-8", "replace").split("\n")
    return frozenset(place + 1 for place in _key_places(lines))


def _key_places(lines: "list[str]") -> "list[int]":
    """Positions of lines of key text: after a begin marker, up to the end marker or the first line of another kind.

    A key whose beginning was cut off is known by its end marker.
    """
    found: list[int] = []
    inside = False
    first = 0  # lowest position that belongs to no earlier key
    start = -1  # position after the begin marker
    for place, line in enumerate(lines):
        if "-----" in line:
            if _compiled(_KEY_BEGIN).search(line):
                inside, start, first = True, place + 1, place + 1
                continue
            if _compiled(_KEY_END).search(line):
                if not inside:
                    found += _cut_key(lines, first, place)
                inside, first = False, place + 1
                continue
        if not inside:
            continue
        body = _compiled(_KEY_BODY).match(line)
        if body is not None and ((found and found[-1] >= start) or len(body[1]) >= _KEY_COLUMNS):
            found.append(place)
            if len(body[1]) < _KEY_COLUMNS:  # all lines of a key but its last are of one, larger width
                inside, first = False, place + 1
        elif not _compiled(_KEY_HEADER).match(line):
            inside = False
    return found


def _cut_key(lines: "list[str]", first: int, end: int) -> "list[int]":
    """Lines of key text right above an end marker whose begin marker is not there."""
    place = end
    while place > first:
        body = _compiled(_KEY_BODY).match(lines[place - 1])
        if body is None or (len(body[1]) < _KEY_COLUMNS and place < end):
            break
        place -= 1
    long = any(len(lines[at].strip()) >= _KEY_COLUMNS for at in range(place, end))
    return list(range(place, end)) if long else []


def is_literal_secret(value: str, *, least: int) -> bool:
    """Whether an assigned value is a literal of enough entropy to be a secret, and no code, name, number or path."""
    core = value.strip("\"'`")
    if len(core) < least or core.startswith("<redacted:"):
        return False
    if any(_compiled(form).match(core) for form in (_PLACEHOLDER, _NUMBER, _CODE, _HASH_ALGORITHM)):
        return False
    if least == 1:
        return True
    if (_compiled(_IDENTIFIER).match(core) and not _mixed_letters(core)) or _compiled(_PATH).match(core):
        return False
    return entropy(core) * len(core) >= 18


def _mixed_letters(word: str) -> bool:
    """Sixteen or more letters in no order of cases that a name has: `OBhipsjItgMOoAeIwchs`, not `getAccessToken`."""
    starts = sum(a.islower() and b.isupper() for a, b in pairwise(word))
    return len(word) >= 16 and word.isalpha() and 6 * starts >= len(word)


def entropy(text: str) -> float:
    """Shannon entropy of the characters of `text`, bits a character."""
    counts = [text.count(character) for character in set(text)]
    return -sum(count / len(text) * log2(count / len(text)) for count in counts)
