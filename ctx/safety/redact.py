"""Secrets masked wherever text leaves the store (S18.3); the store itself keeps raw bytes, private to the user.

Only literal values are masked. Code that speaks of tokens stays: names, types, numbers, operators, calls, environment
look-ups, placeholders and empty strings. Hashes, UUIDs and lock-file lines are no secrets. A replacement,
`<redacted:kind#n>`, counts by first appearance and holds nothing of the value.

Patterns are linear: every repetition is bounded or over one character class that what follows cannot enter.
"""

import re
from functools import lru_cache
from math import log2

# Literals of which a text must hold one (in lower case) before any pattern is tried.
_TRIGGERS = (
    "key", "token", "secret", "passw", "pwd", "auth", "bearer", "://", "akia", "asia", "ghp_", "gho_", "ghu_", "ghs_",
    "ghr_", "github_pat_", "glpat-", "xox", "sk_live", "rk_live", "sk_test", "aiza", "sk-", "npm_", "pypi-", "sg.",
    "eyj", "hooks.slack", "dop_v1", "hf_", "shpat_", "age-", "credential", "api-", "cookie", "lin_api", "private",
    "accountkey", "aws_", "sig=", "dckr_pat_", "pass=", "nvapi-", "figd_", "sq0", "ya29.",
)  # fmt: skip

_SHAPES: tuple[tuple[str, str], ...] = (
    ("aws-key", r"\b(?:AKIA|ASIA|AGPA|AIDA|AROA|ANPA)[A-Z0-9]{16}\b"),
    ("github-token", r"\bgh[pousr]_[A-Za-z0-9]{30,255}\b|\bgithub_pat_[A-Za-z0-9_]{22,255}\b"),
    ("gitlab-token", r"\bgl(?:pat|dt|rt|cbt|ptt|soat)-[A-Za-z0-9_-]{20,255}"),
    ("slack-token", r"\bxox[abeoprs]-[A-Za-z0-9-]{10,255}|\bxapp-[0-9]-[A-Za-z0-9-]{10,255}"),
    ("slack-webhook", r"\bhooks\.slack\.com/(?:services|workflows)/[A-Za-z0-9/_-]{20,255}"),
    ("stripe-key", r"\b(?:sk|rk|pk)_(?:live|test)_[A-Za-z0-9]{16,255}\b|\bwhsec_[A-Za-z0-9]{16,255}\b"),
    ("google-key", r"\bAIza[A-Za-z0-9_-]{35}(?![A-Za-z0-9_-])|\bya29\.[A-Za-z0-9_-]{20,512}"),
    ("anthropic-key", r"\bsk-ant-[A-Za-z0-9_-]{16,255}"),
    ("openai-key", r"\bsk-(?:proj-|svcacct-|admin-)?[A-Za-z0-9_-]{20,255}"),
    ("npm-token", r"\bnpm_[A-Za-z0-9]{30,255}\b"),
    ("pypi-token", r"\bpypi-[A-Za-z0-9_-]{16,1024}"),
    ("sendgrid-key", r"\bSG\.[A-Za-z0-9_-]{16,64}\.[A-Za-z0-9_-]{16,128}"),
    ("huggingface-token", r"\bhf_[A-Za-z0-9]{30,255}\b"),
    ("digitalocean-token", r"\bdo[opr]_v1_[a-f0-9]{64}\b"),
    ("shopify-token", r"\bshp(?:at|ca|pa|ss)_[A-Fa-f0-9]{32}\b"),
    ("docker-token", r"\bdckr_pat_[A-Za-z0-9_-]{20,255}"),
    ("linear-key", r"\blin_api_[A-Za-z0-9]{32,255}\b"),
    ("nvidia-key", r"\bnvapi-[A-Za-z0-9_-]{40,255}"),
    ("figma-token", r"\bfig[dou]_[A-Za-z0-9_-]{30,255}"),
    ("square-token", r"\bsq0[a-z]{3}-[A-Za-z0-9_-]{22,64}"),
    ("age-key", r"\bAGE-SECRET-KEY-1[A-Z0-9]{50,64}\b"),
    ("jwt", r"\beyJ[A-Za-z0-9_-]{8,4096}\.eyJ[A-Za-z0-9_-]{8,8192}\.[A-Za-z0-9_-]{0,4096}"),
)
_AUTHORIZATION = (
    r"((?i:\bauthorization)[\"']?[ \t]{0,4}[:=][ \t]{0,4}[\"']?"
    r"(?:(?i:bearer|basic|token|digest|apikey|bot)[ \t]{1,4})?)"
    r"([^\s\"',;<>{}$]{6,4096})"
)
_BEARER = r"(\b[Bb]earer[ \t]{1,4})([A-Za-z0-9._~+/=-]{16,4096})"
_HEADER = (
    r"((?i:\b(?:x-api-key|x-auth-token|private-token|x-vault-token|set-cookie|cookie)):[ \t]{0,4})([^\s<>{}$]{12,4096})"
)
_URL_USER = r"(\b[A-Za-z][A-Za-z0-9+.-]{1,20}://[^\s:/@\"'<>{}$]{0,128}:)([^\s/@\"'<>{}$]{1,256})(@)"
_NAME = (
    r"(?:(?:password|passwd|passphrase|pwd|secret|secret[_-]?key|token|api[_-]?key|apikey|access[_-]?key|"
    r"auth[_-]?key|private[_-]?key|client[_-]?secret|credential|accountkey|signing[_-]?key|encryption[_-]?key)"
    r"(?:[_-]?(?:id|value|prod|dev|hash|base64|b64|v[0-9])){0,2}[0-9]{0,2})"
)
_QUOTED = rf"((?i:{_NAME})[\"']?[ \t]{{0,8}}(?::=|=>|[:=])[ \t]{{0,8}})([\"'`])([^\"'`\n]{{4,1024}})(?=\2)"
_BARE = rf"((?i:{_NAME})[\"']?[ \t]{{0,2}}(?:=|:)[ \t]{{0,2}})([^\s\"'`,;&)(\[\]{{}}<>|]{{6,1024}})(?![(\[])"
_OPTION = rf"(-[a-z-]{{0,24}}(?i:{_NAME})[ \t]+)([^\s\"'`,;&)(\[\]{{}}<>|-][^\s\"'`,;&)(\[\]{{}}<>|]{{5,1024}})"
_KEY_BEGIN = re.compile(r"-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_END = re.compile(r"-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----")
_KEY_BODY = re.compile(r"\s*(?:[|>] ?)?[A-Za-z0-9+/=:, -]{0,128}\s*\Z")

_PLACEHOLDER = re.compile(
    r"(?i)^(?:x{3,}|\*{2,}|\.{3,}|-+|_+|none|null|nil|undefined|true|false|yes|no|empty|changeme|change-me|redacted|"
    r"your[-_ ].*|my[-_ ]?.*|example.*|sample.*|dummy.*|test|testing|foo.*|bar|baz|todo|placeholder|"
    r"<.*|\$.*|%.*|\{.*|@.*|string|str|bytes|int|bool|optional.*|required|any|invalid.*|missing|expired|unset|default)$"
)
_IDENTIFIER = re.compile(r"^[A-Za-z_$][A-Za-z_$]*(?:(?:\.|->|::)[A-Za-z_$][A-Za-z_$]*)*[;,]?$")
_CODE = re.compile(
    r"^[A-Za-z_][A-Za-z0-9_.]*[(\[]|^(?:os|process|env|self|this|config|settings|request|args|options)[.\[]"
)
_NUMBER = re.compile(r"^[-+]?[0-9]+(?:[.,][0-9]+)*(?:[eE][-+]?[0-9]+)?[a-z%]{0,3}$")
_PATH = re.compile(r"^(?:~|\.{1,2})?/[\w./-]*$|^[\w-]+(?:/[\w.-]+)+\.\w{1,5}$")
_HASH_ALGORITHM = re.compile(r"^(?:sha(?:1|256|384|512)|md5|blake\w*)[-:=]", re.IGNORECASE)


@lru_cache(maxsize=1)
def _patterns() -> tuple["re.Pattern[str]", ...]:
    """Compiled on first need: a command without a trigger word never pays for them."""
    shapes = "|".join(f"(?P<k{number}>{pattern})" for number, (_, pattern) in enumerate(_SHAPES))
    sources = (shapes, _AUTHORIZATION, _BEARER, _HEADER, _URL_USER, _QUOTED, _BARE, _OPTION)
    return tuple(re.compile(source, re.ASCII) for source in sources)


class Redactor:
    """Redacts texts of one capture; equal values keep one number over all of them."""

    def __init__(self) -> None:
        self._numbers: dict[tuple[str, str], int] = {}

    def redact(self, text: str) -> str:
        """`text` with every secret replaced; the number of lines is kept, and text without one is the same object."""
        lowered = text.lower()
        if not any(trigger in lowered for trigger in _TRIGGERS):
            return text
        if "private key" in lowered:
            text = self._key_blocks(text)
        shapes, authorization, bearer, header, url_user, quoted, bare, option = _patterns()
        text = shapes.sub(self._shape, text)
        text = authorization.sub(lambda m: m[1] + self._mask("authorization", m[2]), text)
        text = bearer.sub(lambda m: m[1] + self._secret("bearer", m[2], least=16), text)
        text = header.sub(lambda m: m[1] + self._secret("header", m[2], least=12), text)
        text = url_user.sub(lambda m: m[1] + self._secret("url-password", m[2], least=1) + m[3], text)
        text = quoted.sub(lambda m: m[1] + m[2] + self._secret("assignment", m[3], least=6), text)
        text = bare.sub(lambda m: m[1] + self._secret("assignment", m[2], least=6), text)
        return option.sub(lambda m: m[1] + self._secret("assignment", m[2], least=6), text)

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
        number = self._numbers.setdefault((kind, value), 1 + sum(known == kind for known, _ in self._numbers))
        return f"<redacted:{kind}#{number}>"

    def _shape(self, match: "re.Match[str]") -> str:
        kind = _SHAPES[int((match.lastgroup or "k0")[1:])][0]
        return self._mask(kind, match[0])

    def _secret(self, kind: str, value: str, *, least: int) -> str:
        return self._mask(kind, value) if is_literal_secret(value, least=least) else value

    def _key_blocks(self, text: str) -> str:
        """Private key blocks, line for line; a block that is cut ends with its last line of key text."""
        out: list[str] = []
        inside = False
        for line in text.split("\n"):
            if not inside and _KEY_BEGIN.search(line):
                inside = _KEY_END.search(line) is None
                out.append(self._mask("private-key", line))
            elif inside:
                ends = _KEY_END.search(line) is not None
                if not ends and not _KEY_BODY.match(line):
                    inside = False
                    out.append(line)
                    continue
                inside = not ends
                out.append(self._mask("private-key", line) if line.strip() else line)
            else:
                out.append(line)
        return "\n".join(out)


def is_literal_secret(value: str, *, least: int) -> bool:
    """Whether an assigned value is a literal of enough entropy to be a secret, and no code, name, number or path."""
    core = value.strip("\"'`")
    if len(core) < least or core.startswith("<redacted:"):
        return False
    if _PLACEHOLDER.match(core) or _NUMBER.match(core) or _CODE.match(core) or _HASH_ALGORITHM.match(core):
        return False
    if least > 1 and (_IDENTIFIER.match(core) or _PATH.match(core)):
        return False
    return least == 1 or entropy(core) * len(core) >= 18


def entropy(text: str) -> float:
    """Shannon entropy of the characters of `text`, bits a character."""
    counts = [text.count(character) for character in set(text)]
    return -sum(count / len(text) * log2(count / len(text)) for count in counts)
