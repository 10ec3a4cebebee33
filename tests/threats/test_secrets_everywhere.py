"""A program prints its secrets, and a reader looks at that output through every door there is (S19.32).

The story: a deployment script fails. Its log holds a token, a database address with a password, an API key in JSON and
a private key; the token is also a word of the command, a parameter of a test id and a part of a file name. The reader
is an agent whose transcript is kept by somebody else: what it sees must hold none of them, through whichever verb,
stream, selector, document or error message it looks. The bytes in the store, and bytes handed to a program, stay exact.
"""

import json
from collections.abc import Iterator

import pytest

from tests.threats.shell import Shell

TOKEN = "ghp_" + "k9Xw2QmZ" * 5
PASSWORD = "c0rrecth0rse!battery"
API_KEY = "Zq7Wn3Lk9Tf2Vb8Xc4Md6Rp1"
KEY_BODY = [f"MIIEvQIBADANBgkqhkiG9w0BAQEFAASCBKcwggSjAgEAAoIBAQ{n:014d}" for n in range(40)]
SECRETS = (TOKEN, PASSWORD, API_KEY, *KEY_BODY)

LOG = "\n".join(
    [
        f"cloning https://deploy:{PASSWORD}@example.org/app.git",
        f"using {TOKEN}",
        *(f"step {n} of the deployment went by" for n in range(120)),
        f"error: push with {TOKEN} was denied for API_KEY={API_KEY}",
        *(f"step {n} of the rollback went by" for n in range(120)),
        f'{{"api_key": "{API_KEY}", "nested": {{"password": "{PASSWORD}"}}}}',
        "x" * 900 + f" token={API_KEY} " + "y" * 900,
        "-----BEGIN PRIVATE KEY-----",
        *KEY_BODY,
        "-----END PRIVATE KEY-----",
        "fatal: deployment failed",
        "",
    ]
)

PYTEST = "\n".join(
    [
        "=" * 30 + " test session starts " + "=" * 29,
        f"collected 40 items of {TOKEN}",
        "",
        f"tests/test_{TOKEN}.py " + "F" * 40 + " [100%]",
        "",
        "=" * 35 + " FAILURES " + "=" * 35,
        *(
            line
            for n in range(40)
            for line in (
                f"____ test_push[{TOKEN}-{n}] ____",
                "",
                f">       assert login(password='{PASSWORD}', token='{API_KEY}')",
                f"E       AuthError: {TOKEN} was refused, password='{PASSWORD}'",
                "",
                f"tests/test_{TOKEN}.py:7: AuthError",
            )
        ),
        "=" * 27 + " short test summary info " + "=" * 28,
        *(f"FAILED tests/test_{TOKEN}.py::test_push[{TOKEN}-{n}] - AuthError: {TOKEN}" for n in range(40)),
        "=" * 30 + " 40 failed in 0.10s " + "=" * 30,
        "",
    ]
)

LINT = (
    "".join(f"src/{TOKEN}.py:{n}:1: S105 hardcoded password: '{PASSWORD}' token = '{API_KEY}'\n" for n in range(1, 60))
    + "Found 59 errors.\n"
)

ARGV = ("deploy", "--password", PASSWORD, f"--api-key={API_KEY}", f"https://me:{PASSWORD}@example.org", TOKEN)


def leaks(shown: bytes | str) -> list[str]:
    """The secrets that a text holds."""
    text = shown.decode("utf-8", "replace") if isinstance(shown, bytes) else shown
    return [secret for secret in SECRETS if secret in text]


@pytest.mark.parametrize("output", [LOG, PYTEST, LINT], ids=["log", "pytest", "lint"])
def test_no_document_of_a_capture_holds_a_secret(shell: Shell, output: str) -> None:
    """Digest, receipt, plan, meta and the graph file."""
    document = shell.ingest(output.encode(), "--exit-code", "1", "--graph", "graph.json", "--", *ARGV)
    assert document["rung"] != "inline"
    assert leaks(json.dumps(document, ensure_ascii=False)) == []
    assert leaks((shell.folder / "graph.json").read_bytes()) == []
    assert "<redacted:" in document["digest"]


@pytest.mark.parametrize("output", [LOG, PYTEST], ids=["log", "pytest"])
@pytest.mark.parametrize("stream", ["stdout", "stderr"])
def test_no_verb_shows_a_secret_to_a_reader(shell: Shell, output: str, stream: str) -> None:
    """Get in every selector, search, stats and explain, with what they print beside their text."""
    data = output.encode()
    streams = (data, b"") if stream == "stdout" else (b"", data)
    document = shell.ingest(streams[0], "--exit-code", "1", "--", *ARGV, stderr=streams[1])
    lines = list(readings(f"run:{document['handle'][:12]}", stream, output.count("\n"), document["addresses"]))
    shown = shell.all_of(lines)
    assert len(shown) == len(lines)
    for words, text in zip(lines, shown, strict=True):
        assert text, words
        assert leaks(text) == [], words


def readings(run: str, stream: str, lines: int, addresses: list[str]) -> Iterator[tuple[str, ...]]:
    """Commands that print something of a capture."""
    yield ("get", run)
    for artifact in (stream, "census", "graph", "receipt", "manifest"):
        yield ("get", f"{run}#{artifact}")
        yield ("get", f"{run}#{artifact}", "--json")
    for first in range(1, lines, 23):
        yield ("get", f"{run}#{stream}", "--lines", f"{first}:{first + 22}")
    for address in addresses:
        yield ("get", *address.split(" "))
    for pattern in ("token", "MIIE", "password", "denied"):
        yield ("get", f"{run}#{stream}", "--match", pattern)
        yield ("search", run, pattern)
        yield ("search", run, pattern, "--json")
    for verb in ("stats", "explain"):
        yield (verb, run)
        yield (verb, run, "--json")


def test_a_window_into_the_middle_of_a_private_key_shows_none_of_it(shell: Shell) -> None:
    """Neither marker lies in the window; each line alone is a line of letters."""
    document = shell.ingest(LOG.encode(), "--exit-code", "1")
    first = LOG.split("\n").index(KEY_BODY[10]) + 1
    run = f"run:{document['handle'][:12]}#stdout"
    for words in (("get", run, "--lines", f"{first}:{first + 5}"), ("get", run, "--match", "MIIEvQ.*03$")):
        done = shell.ctx(*words)
        assert leaks(done.stdout) == []
        assert b"<redacted:private-key#" in done.stdout


def test_a_small_output_is_passed_on_without_its_secret(shell: Shell) -> None:
    """Inline is no way around safety."""
    document = shell.ingest(f"logged in with {TOKEN}\n".encode(), "--exit-code", "0")
    assert document["rung"] == "inline"
    assert document["digest"] == "logged in with <redacted:github-token#1>\n"


def test_errors_do_not_repeat_a_secret_of_the_command_line(shell: Shell) -> None:
    """A command that cannot be found, and a capture that cannot be stored: both name the command."""
    done = shell.ctx("run", "--digest", "--", "no-such-program-anywhere", "--password", PASSWORD)
    assert done.returncode == 127
    assert leaks(done.stdout + done.stderr) == []
    (shell.folder / "plain").write_bytes(b"no folder")
    refused = shell.ctx(
        "ingest", "--stdout", "/dev/null", "--store", "plain/inside", "--", "x", f"--token={API_KEY}", TOKEN
    )
    assert refused.returncode == 1
    assert leaks(refused.stdout + refused.stderr) == []


def test_a_program_gets_the_exact_bytes(shell: Shell) -> None:
    """S18.3: bytes to a file are the user's own data."""
    document = shell.ingest(LOG.encode(), "--exit-code", "1")
    with (shell.folder / "copy").open("wb") as copy:
        import subprocess

        from tests.threats.shell import CTX

        done = subprocess.run(
            [str(CTX), "get", f"run:{document['handle'][:12]}#stdout"],
            stdout=copy,
            stderr=subprocess.PIPE,
            env=shell.env,
            timeout=60,
        )
    assert done.returncode == 0
    assert (shell.folder / "copy").read_bytes() == LOG.encode()
