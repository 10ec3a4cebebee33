"""Redaction: secrets of known shapes and assigned literals are masked, what only looks like one is kept (S18.3).

All secrets here are made up; those with a fixed alphabet are drawn from a seed.
"""

import string
import uuid
from hashlib import md5, sha1, sha256, sha512
from random import Random
from time import process_time

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx.safety.redact import Redactor, entropy, private_key_lines

_DRAW = Random(20260101)
_WORD = string.ascii_letters + string.digits


def drawn(length: int, alphabet: str = _WORD) -> str:
    return "".join(_DRAW.choice(alphabet) for _ in range(length))


_UPPER = string.ascii_uppercase + string.digits
_HEX = string.hexdigits[:16]
_URL = _WORD + "-_"

# (text with {} where the secret stands, the secret)
SECRETS = [
    ("key {} used", "AKIA" + drawn(16, _UPPER)),
    ("tests/test_{}.py", "ghp_" + drawn(36)),
    ("\x1b[31m{}\x1b[m", "ghp_" + drawn(36)),
    ("␛[1;31m{}␛[m and", "glpat-" + drawn(20)),
    ("x_{}_y", "AKIA" + drawn(16, _UPPER)),
    ("long {}", "github_pat_" + drawn(200)),
    ("session {}", "ASIA" + drawn(16, _UPPER)),
    ("push with {}", "ghp_" + drawn(36)),
    ("oauth {}", "gho_" + drawn(36)),
    ("app {}", "ghs_" + drawn(36)),
    ("fine grained {}", "github_pat_" + drawn(22) + "_" + drawn(59)),
    ("ci {}", "glpat-" + drawn(20, _URL)),
    ("bot {}", "xoxb-" + drawn(12, string.digits) + "-" + drawn(24)),
    ("user {}", "xoxp-" + drawn(12, string.digits) + "-" + drawn(24)),
    ("post to https://{}", "hooks.slack.com/services/T" + drawn(8, _UPPER) + "/B" + drawn(8, _UPPER) + "/" + drawn(24)),
    ("charge {}", "sk_live_" + drawn(24)),
    ("test mode {}", "sk_test_" + drawn(24)),
    ("restricted {}", "rk_live_" + drawn(24)),
    ("signing {}", "whsec_" + drawn(32)),
    ("maps {}", "AIza" + drawn(35, _URL)),
    ("google {}", "ya29." + drawn(60, _URL)),
    ("model {}", "sk-ant-api03-" + drawn(80, _URL)),
    ("model {}", "sk-" + drawn(48)),
    ("model {}", "sk-proj-" + drawn(60, _URL)),
    ("registry {}", "npm_" + drawn(36)),
    ("upload {}", "pypi-AgEIcHlwaS5vcmc" + drawn(80, _URL)),
    ("mail {}", "SG." + drawn(22, _URL) + "." + drawn(43, _URL)),
    ("hub {}", "hf_" + drawn(34)),
    ("droplet {}", "dop_v1_" + drawn(64, _HEX)),
    ("shop {}", "shpat_" + drawn(32, _HEX)),
    ("image {}", "dckr_pat_" + drawn(27, _URL)),
    ("issue {}", "lin_api_" + drawn(40)),
    ("gpu {}", "nvapi-" + drawn(64, _URL)),
    ("figures {}", "figd_" + drawn(40, _URL)),
    ("payments {}", "sq0atp-" + drawn(22, _URL)),
    ("age {}", "AGE-SECRET-KEY-1" + drawn(58, _UPPER)),
    ("cookie jwt {}", "eyJ" + drawn(33) + ".eyJ" + drawn(60) + "." + drawn(43, _URL)),
    ("Authorization: Bearer {}", drawn(40)),
    ("authorization: Basic {}", "dXNlcjpodW50ZXIyaHVudGVyOQ=="),
    ('"Authorization": "token {}"', drawn(40)),
    ("curl -H 'X-Api-Key: {}' host", drawn(32)),
    ("PRIVATE-TOKEN: {}", drawn(20)),
    ("Cookie: {}", "theme=dark; sid=" + drawn(32)),
    ("Set-Cookie: {}; Path=/", "sid=" + drawn(32)),
    ("clone https://me:{}@example.org/x.git", "s3cr3t!pass"),
    ("postgres://app:{}@db:5432/app", "p4ssw0rd"),
    ("redis://:{}@cache:6379/0", "Xy7hh2"),
    ("password = '{}'", "c0rrect-h0rse-battery"),
    ('DB_PASSWORD="{}"', "tr0ub4dor&3"),
    ("export API_KEY={}", drawn(24)),
    ("aws_secret_access_key = {}", drawn(40)),
    ("client_secret: {}", drawn(32)),
    ('{{"access_token": "{}"}}', drawn(40)),
    ("  secret-key: '{}'", drawn(30)),
    ("AccountKey={};EndpointSuffix=x", drawn(86) + "=="),
    ("mysql --password {} -u me", "hunter2hunter9x"),
    ("login --token={}", drawn(20)),
    ("curl -u me:{} https://x", "hunter2hunter9x"),
    ("passphrase => `{}`", "open sesame 42 times"),
    ("const apiKey = '{}';", drawn(28)),
    ('auth_key := "{}"', drawn(28)),
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_a_secret_is_masked_and_what_stands_around_it_stays(text: str, secret: str) -> None:
    """S18.3: known shapes, headers, user-info of addresses, literals in assignments and options."""
    assert len(SECRETS) >= 40
    redacted = Redactor().redact(text.format(secret))
    assert secret not in redacted
    assert "<redacted:" in redacted
    before, _, after = text.replace("{{", "{").replace("}}", "}").partition("{}")
    assert redacted.startswith(before[: len(before) - 1].removesuffix("https:/"))
    assert redacted.endswith(after)


def lookalikes() -> list[str]:
    """Two hundred and more lines of hashes, ids, lock files and code that speaks of secrets, most from seeds."""
    draw = Random(7)
    blob = draw.randbytes
    lines = []
    for seed in range(20):
        raw = blob(40)
        names = ["requests", "left-pad", "serde", "rack", "guava"]
        name = names[seed % len(names)]
        version = f"{seed}.{seed % 7}.{seed % 3}"
        base64 = __import__("base64").b64encode(sha512(raw).digest()).decode()
        lines += [
            f"commit {sha1(raw).hexdigest()}",
            f"{sha256(raw).hexdigest()}  dist/{name}-{version}.tar.gz",
            f"{md5(raw).hexdigest()} *{name}.iso",
            f"request id {uuid.UUID(bytes=raw[:16])} done",
            f'  "integrity": "sha512-{base64}"',
            f"    --hash=sha256:{sha256(raw).hexdigest()}",
            f"{name} v{version} h1:{base64[:43]}=",
            f'checksum = "{sha256(raw).hexdigest()}"',
            f"index {raw[:4].hex()}..{raw[4:8].hex()} 100644",
            f"image: registry/{name}@sha256:{sha256(raw).hexdigest()}",
        ]
    return [*lines, *CODE]


CODE = [
    "def login(user: str, password: str) -> Token:",
    "    token = get_token(request)",
    "    password = os.environ['PASSWORD']",
    "    api_key = settings.API_KEY",
    "    secret = None",
    "    secret = ''",
    '    token = ""',
    "    if token == expected_token:",
    "    assert password != other.password",
    "    token: str | None = None",
    "    self.token = token",
    "    return {'token': token, 'secret': secret}",
    "password = getpass.getpass()",
    "const token = await fetchToken();",
    "let apiKey = process.env.API_KEY;",
    "token := ctx.Value(tokenKey)",
    "TOKEN_LENGTH = 32",
    "max_tokens: 4096",
    "tokens: 1234",
    "token_count=9001",
    "secret_name: my-secret-name",
    "password: ${DB_PASSWORD}",
    "password: {{ vault_password }}",
    "api_key: <your api key>",
    "api_key: YOUR_API_KEY",
    "token: xxxxxxxxxxxxxxxx",
    "password: ********",
    "E       AssertionError: invalid token",
    "Unexpected token '<' in JSON at position 0",
    "error: expected one of `;` or `}`, found token `let`",
    "SyntaxError: Unexpected token }",
    "the secret of this trick is in the third chapter",
    "see https://example.org/docs/token",
    "https://user@example.org/path",
    "https://example.org:8443/path@here",
    "ssh://git@example.org:22/repo.git",
    "Authorization: Bearer <token>",
    "Authorization: Bearer $TOKEN",
    "Authorization: Bearer ${{ secrets.GITHUB_TOKEN }}",
    "authorization required",
    "Authorization: required",
    "Bearer of bad news, said the messenger",
    "    token = lexer.next_token()",
    "    password = getAuthenticatedUserPassword",
    "token: HTTPSConnectionPool",
    "    secret_key = config['secret_key']",
    "    key = 'name'",
    "primary_key = True",
    "key: value",
    "test_password_reset.py::test_token_expires PASSED",
    "FAILED tests/test_auth.py::test_secret_token - KeyError: 'token'",
    "tests/test_auth.py:12:5: S105 Possible hardcoded password assigned to: token",
    "sk-learn and sk-image are short names",
    "pip install sk-learn-compatible-estimators",
    "task-ghp_and_other_names",
    "disk-usage-of-the-whole-machine-2026",
    "-----BEGIN CERTIFICATE-----",
    'if "-----BEGIN RSA PRIVATE KEY-----" in text:',
    "    raise ValueError('no PRIVATE KEY in the file')",
    "password_hash_rounds = 12",
    "docker run -u 1000:1000 image",
    "chown -u root:wheel file",
]


@pytest.mark.parametrize("line", lookalikes())
def test_what_only_looks_like_a_secret_stands_unchanged(line: str) -> None:
    """S18.3: hashes, ids, lock files are evidence; operators, names, numbers, types, empty strings in code stay."""
    assert Redactor().redact(line) == line


def test_there_are_two_hundred_lookalikes_and_no_two_alike() -> None:
    assert len(set(lookalikes())) == len(lookalikes()) >= 200


def test_equal_values_have_one_number_by_first_appearance_and_no_trace_of_the_value() -> None:
    """Over all texts of one capture: the same value is the same name, another one the next."""
    first, second = "ghp_" + "aB3" * 12, "ghp_" + "xY9" * 12
    redactor = Redactor()
    assert redactor.redact(f"{first} {second} {first}") == (
        "<redacted:github-token#1> <redacted:github-token#2> <redacted:github-token#1>"
    )
    assert redactor.redact(f"again {second}") == "again <redacted:github-token#2>"
    assert Redactor().redact(second) == "<redacted:github-token#1>", "a number says nothing of the value"
    assert redactor.redact("AKIA" + "ABCD" * 4) == "<redacted:aws-key#1>", "each kind counts for itself"


@given(st.lists(st.sampled_from([line.format(secret) for line, secret in SECRETS] + CODE + ["", "  ", "x" * 50])))
def test_redaction_keeps_the_number_of_lines_and_twice_is_once(lines: list[str]) -> None:
    """Line numbers are addresses."""
    text = "\n".join(lines)
    once = Redactor().redact(text)
    assert once.count("\n") == text.count("\n")
    assert Redactor().redact(once) == once


def test_words_of_a_command_are_judged_beside_the_option_before_them() -> None:
    """An argv has no blanks between its words."""
    value = "hunter2hunter9x"
    words = Redactor().redact_words(("mysql", "--password", value, "-u", "me", f"--token={value}", "a b"))
    assert words == (
        "mysql",
        "--password",
        "<redacted:assignment#1>",
        "-u",
        "me",
        "--token=<redacted:assignment#1>",
        "a b",
    )
    assert Redactor().redact_words(("curl", "-u", f"me:{value}"))[2] == "me:<redacted:user-password#1>"
    assert Redactor().redact_words(("pytest", "-k", "token", "--lf")) == ("pytest", "-k", "token", "--lf")


# Private keys --------------------------------------------------------------------------------------------------------

BODY = [drawn(64, _WORD + "+/") for _ in range(12)] + [drawn(20) + "=="]


def key(kind: str = "RSA ", *, before: str = "") -> list[str]:
    """A key block whose every line has `before` in front of it."""
    return [before + line for line in (f"-----BEGIN {kind}PRIVATE KEY-----", *BODY, f"-----END {kind}PRIVATE KEY-----")]


@pytest.mark.parametrize("kind", ["", "RSA ", "EC ", "OPENSSH ", "ENCRYPTED "])
@pytest.mark.parametrize("before", ["", "    ", "| ", "+", "E       "])
def test_the_text_of_a_private_key_goes_and_its_markers_stay(kind: str, before: str) -> None:
    """Indented, behind a gutter, in a diff, in an assertion: line for line."""
    lines = ["before", *key(kind, before=before), "after"]
    shown = Redactor().redact("\n".join(lines)).split("\n")
    assert shown[0:2] == lines[0:2]
    assert shown[-2:] == lines[-2:]
    assert all("<redacted:private-key#" in line for line in shown[2:-2])


def test_headers_of_an_encrypted_key_stay() -> None:
    lines = [key()[0], "Proc-Type: 4,ENCRYPTED", "DEK-Info: AES-128-CBC,0123", "", *key()[1:]]
    shown = Redactor().redact("\n".join(lines)).split("\n")
    assert shown[:4] == lines[:4]
    assert not set(shown) & set(BODY)


def test_a_key_in_one_line_of_json_goes_and_the_rest_of_the_line_stays() -> None:
    text = '{"type": "service", "private_key": "' + "\\n".join(key("")) + '\\n", "client": "me"}'
    shown = Redactor().redact(text)
    assert not any(line in shown for line in BODY)
    assert shown.startswith('{"type": "service", ')
    assert shown.endswith('"client": "me"}')


def test_a_key_whose_beginning_was_cut_off_is_known_by_its_end() -> None:
    shown = Redactor().redact("\n".join(["quiet", *key()[5:], "after"])).split("\n")
    assert shown[0] == "quiet"
    assert shown[-2:] == [key()[-1], "after"]
    assert not set(shown) & set(BODY)


def test_a_key_whose_end_was_cut_off_ends_with_its_text() -> None:
    lines = [*key()[:5], "the program goes on", "pass"]
    shown = Redactor().redact("\n".join(lines)).split("\n")
    assert not set(shown) & set(BODY)
    assert shown[-2:] == ["the program goes on", "pass"]


def test_code_that_names_the_markers_is_no_key() -> None:
    code = [
        '    begin = "-----BEGIN RSA PRIVATE KEY-----"',
        "    pass",
        "    return None",
        '    end = "-----END RSA PRIVATE KEY-----"',
    ]
    assert Redactor().redact("\n".join(code)) == "\n".join(code)


def test_lines_of_a_key_are_known_by_their_numbers() -> None:
    """A window into the middle of a key shows no marker: its numbers are asked for in the whole text."""
    text = "\n".join(["one", "two", *key(), "after", *key("EC ")])
    first, second = set(range(4, 4 + len(BODY))), set(range(20, 20 + len(BODY)))
    assert private_key_lines(text.encode()) == first | second
    assert private_key_lines(b"no key at all\n" * 9) == frozenset()


@pytest.mark.parametrize(
    "hostile",
    [
        "password=" + "a" * 200_000,
        "token: " * 30_000,
        "-----BEGIN RSA PRIVATE KEY-----" * 5_000,
        "https://" + "a:" * 100_000,
        "eyJ" + "a" * 100_000 + ".eyJ" + "b" * 100_000,
        "sk-" * 60_000,
        "Authorization: " * 15_000,
        ("-----BEGIN EC PRIVATE KEY-----\n" + "A" * 64 + "\n") * 2_500,
        "-u a:" * 40_000,
        "\n".join(f"ghp_{n:036}" for n in range(5_000)),
    ],
)
def test_redacting_a_hostile_text_takes_linear_time(hostile: str) -> None:
    """S18.5: about 200 KB each; quadratic work would take minutes."""
    begun = process_time()
    Redactor().redact(hostile)
    assert process_time() - begun < 3


def test_entropy_is_that_of_shannon() -> None:
    """By hand: four equal letters carry two bits each, one letter none."""
    assert entropy("abcdabcd") == pytest.approx(2.0)
    assert entropy("aaaa") == 0.0
