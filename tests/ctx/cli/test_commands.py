"""The command line by real subprocesses: what programs and agents rely on (S1.3, S1.5, S7.16, S8, S17)."""

import json
import subprocess
import sys
import time
from itertools import pairwise

import pytest

from tests.ctx.shell import CTX, Shell, flood, words_of


def test_the_document_of_ingest_has_what_programs_rely_on(shell: Shell) -> None:
    """Issue text; S7.16."""
    document = shell.ingest(flood(2000), "--exit-code", "3", "--argv-json", '["./job","-v"]')
    assert set(document) >= {
        "handle",
        "digest",
        "digest_tokens",
        "raw_tokens",
        "family",
        "profile",
        "rung",
        "plan_id",
        "outcome",
        "aggregate",
        "coverage",
        "coverage_receipt",
        "addresses",
    }
    assert document["outcome"] == "fail"
    assert document["family"] == "text"
    assert len(str(document["handle"])) == 64


def test_every_printed_address_gives_exactly_the_lines_it_claims(shell: Shell) -> None:
    """S8.4 [law], over both streams."""
    out, err = flood(3000), b"".join(b"note %d on the other stream\n" % n for n in range(400))
    document = shell.ingest(out, "--exit-code", "1", stderr=err)
    raw = {"stdout": out.splitlines(keepends=True), "stderr": err.splitlines(keepends=True)}
    addresses = document["addresses"]
    assert isinstance(addresses, list)
    assert len(addresses) >= 4
    for address in addresses:
        name, _, selector = str(address).partition(" ")
        reached = shell.bytes_of(str(address))
        if selector.startswith("--lines"):
            first, last = map(int, selector.split()[1].split(":"))
            stream = name.partition("#")[2]
            assert reached == b"".join(raw[stream][first - 1 : last]), address


def test_get_prints_the_lines_and_nothing_else_on_stdout(shell: Shell) -> None:
    """Decision 2."""
    document = shell.ingest(flood(2000), "--exit-code", "1")
    done = shell.ctx("get", f"run:{str(document['handle'])[:12]}#stdout", "--lines", "10:12")
    assert done.stdout == b"".join(flood(2000).splitlines(keepends=True)[9:12])
    assert b"lines 10:12 of 2,000" in done.stderr


def test_a_large_region_comes_back_as_a_zoom_that_advances_to_every_line(shell: Shell) -> None:
    """S8.9, S8.10: following next: reaches every line in finitely many steps."""
    data = flood(700)
    document = shell.ingest(data, "--exit-code", "1")
    waiting = [f"run:{str(document['handle'])[:12]}#stdout"]
    seen: set[bytes] = set()
    asked: set[str] = set()
    while waiting:
        address = waiting.pop()
        assert address not in asked, "a zoom that returns to an address it came from"
        asked.add(address)
        done = shell.ctx("get", *words_of(address), "--budget", "1200")
        assert done.returncode == 0, done.stderr
        assert len(done.stdout) < 20_000
        for line in done.stdout.splitlines():
            if line.startswith(b"next: ctx get "):
                waiting.append(line.removeprefix(b"next: ctx get ").decode())
            else:
                seen.add(line.removeprefix(b"| "))
    assert set(data.splitlines()) <= seen


def test_a_line_of_megabytes_is_reached_through_spans(shell: Shell) -> None:
    """S19.24: the omission is in bytes, and following next: reaches the end."""
    line = "".join(f"[{n:06d}]" for n in range(2_000)).encode()
    document = shell.ingest(line + b"\n", "--exit-code", "1")
    assert "bytes omitted" in str(document["digest"])
    waiting = [f"run:{str(document['handle'])[:12]}#stdout --lines 1:1"]
    seen = ""
    for _ in range(400):
        if not waiting:
            break
        done = shell.ctx("get", *words_of(waiting.pop()))
        assert done.returncode == 0, done.stderr
        text = done.stdout.decode()
        seen += text
        waiting += [row.removeprefix("next: ctx get ") for row in text.splitlines() if row.startswith("next:")]
    assert not waiting
    missing = [n for n in range(1, 1_999) if f"[{n:06d}]" not in seen]
    assert len(missing) < 200, missing[:5]  # a mark may be split at an edge, never lost in a run
    assert all(b - a > 1 for a, b in pairwise(missing))


def test_bytes_are_exact_on_a_pipe(shell: Shell) -> None:
    """S8.3."""
    data = b"\x00\x01caf\xc3\xa9\xff\r\n" * 500 + b"end"
    document = shell.ingest(data)
    done = shell.ctx("get", f"run:{str(document['handle'])[:12]}#stdout", "--bytes", f"0:{len(data)}")
    assert done.stdout == data


def test_search_prints_addressed_hits_and_says_when_there_is_none(shell: Shell) -> None:
    """Issue text: status 1 without a hit."""
    document = shell.ingest(flood(900) + b"needle in the hay\n" + flood(900), "--exit-code", "1")
    handle = f"run:{str(document['handle'])[:12]}"
    found = shell.ctx("search", handle, "needle in", "--fixed-strings")
    assert found.returncode == 0
    assert f"{handle}#stdout --lines 901:901".encode() in found.stdout
    nothing = shell.ctx("search", handle, "n.edle", "--fixed-strings")
    assert nothing.returncode == 1
    assert nothing.stdout == b""
    assert nothing.stderr.count(b"\n") == 1


def test_run_passes_the_status_and_digests_for_its_reader(shell: Shell) -> None:
    """S1.3, S1.5: our pipe's reader is an ancestor of ctx, so it gets the digest."""
    done = shell.ctx(
        "run", "--", sys.executable, "-c", f"import sys; sys.stdout.write({flood(2000)!r}.decode()); sys.exit(7)"
    )
    assert done.returncode == 7
    assert done.stdout.startswith(b"text: FAIL \xc2\xb7 exit 7 \xc2\xb7 run:")
    assert len(done.stdout) < 6000


def test_a_program_behind_a_pipe_gets_the_bytes_unchanged(shell: Shell) -> None:
    """S19.60: `ctx run -- x | wc -l`, and a redirect to a file."""
    script = f"import sys; sys.stdout.write({flood(2000)!r}.decode())"
    (shell.folder / "x.py").write_text(script)
    piped = subprocess.run(
        f"{CTX} run -- {sys.executable} x.py | wc -l", shell=True, capture_output=True, env=shell.env, cwd=shell.folder
    )
    assert piped.stdout.strip() == b"2000"
    subprocess.run(f"{CTX} run -- {sys.executable} x.py > out.txt", shell=True, env=shell.env, cwd=shell.folder)
    assert (shell.folder / "out.txt").read_bytes() == flood(2000)
    closed = subprocess.run(
        f"{CTX} run -- {sys.executable} x.py | head -1",
        shell=True,
        capture_output=True,
        env=shell.env,
        cwd=shell.folder,
    )
    assert closed.stdout.count(b"\n") == 1
    assert closed.stderr == b""


@pytest.mark.parametrize(
    ("script", "status"),
    [("exit 0", 0), ("exit 3", 3), ("kill -9 $$", 137), ("kill -TERM $$", 143)],
)
def test_run_ends_as_its_child_did(shell: Shell, script: str, status: int) -> None:
    """S1.5."""
    assert shell.ctx("run", "--", "sh", "-c", script).returncode == status


def test_run_names_what_it_cannot_start(shell: Shell) -> None:
    """S1.5: 127 not found, 126 not executable."""
    missing = shell.ctx("run", "--", "no-such-command-here")
    assert (missing.returncode, missing.stdout) == (127, b"")
    assert b"no-such-command-here: command not found" in missing.stderr
    plain = shell.file("plain", b"x")
    assert shell.ctx("run", "--", plain).returncode == 126


def test_a_timeout_ends_the_group_and_says_so(shell: Shell) -> None:
    """S1.6, S19.45: a grandchild that holds the pipe does not keep us."""
    started = time.monotonic()
    done = shell.ctx("run", "--timeout", "0.5", "--", "sh", "-c", "echo begun; sleep 30 & sleep 30")
    assert done.returncode == 124
    assert time.monotonic() - started < 8
    handle = shell.ctx("stats", "run:last", "--json")
    assert json.loads(handle.stdout)["ended_by"] == "timeout"
    assert json.loads(handle.stdout)["complete"] is False


def test_both_streams_inline_in_order_of_arrival(shell: Shell) -> None:
    """S7.13."""
    script = "echo one; sleep 0.1; echo two >&2; sleep 0.1; echo three"
    done = shell.ctx("run", "--", "sh", "-c", script)
    assert done.stdout == b"one\ntwo\nthree\n"


def test_small_output_is_passed_whole(shell: Shell) -> None:
    """S19.61: the bytes, nothing more."""
    assert shell.ctx("run", "--", "true").stdout == b""
    assert shell.ctx("run", "--", "printf", "a\\nb").stdout == b"a\nb"
    document = shell.ingest(b"two lines\nof success\n", "--exit-code", "0")
    assert document["rung"] == "inline"
    assert document["digest"] == "two lines\nof success\n"
    assert document["digest_tokens"] == document["raw_tokens"]


@pytest.mark.parametrize(
    ("words", "status", "said"),
    [
        (["get", "run:ffffffffffff"], 1, b"never in this store"),
        (["get", "run:zz"], 2, b"column 5"),
        (["get", "/etc/passwd"], 2, b"begins with run:"),
        (["get", "run:abcdef#nope"], 2, b"no such stream"),
        (["get", "run:abcdef#stdout", "--lines", "5:1"], 2, b"ends before it begins"),
        (["get", "run:abcdef#stdout", "--lines", "1:2", "--span", "0123456789"], 2, b"at most one selector"),
        (["get", "--linse", "1:2", "run:abcdef"], 2, b"--lines"),
        (["get", "repo:../x"], 2, b"relative"),
        (["nope"], 2, b"nope"),
        (["ingest", "--stdout", "/no/such/file"], 2, b"No such file"),
        (["ingest", "--stdout", "/"], 2, b"Is a directory"),
        (["ingest", "--argv-json", "{", "--stdout", "/dev/null"], 2, b"no JSON"),
        (["ingest", "--argv-json", "[1]", "--stdout", "/dev/null"], 2, b"not a list of texts"),
        (["ingest", "--epoch", "1999.1", "--stdout", "/dev/null"], 2, b"known: 20"),
        (["run", "--timeout", "-1", "--", "true"], 2, b"not a positive number"),
        (["run", "--timeuot", "1", "--", "true"], 2, b"did you mean --timeout?"),
        (["run"], 2, b"no command"),
        (["search", "run:ffffffffffff", "x"], 1, b"never in this store"),
        (["search", "run:last", "(", "--store", "empty"], 2, b"pattern"),
    ],
)
def test_bad_input_gets_one_clear_line_and_the_documented_status(
    shell: Shell, words: list[str], status: int, said: bytes
) -> None:
    """S17.1, S17.2, S19.47."""
    done = shell.ctx(*words)
    assert done.returncode == status, done.stderr
    assert said in done.stderr
    assert done.stderr.count(b"\n") <= 2
    assert b"Traceback" not in done.stderr
    assert done.stdout == b""


@pytest.mark.parametrize("verb", ["run", "ingest", "get", "search", "stats", "explain"])
def test_every_verb_has_help_with_an_example(shell: Shell, verb: str) -> None:
    """S17.2."""
    done = shell.ctx(verb, "--help")
    assert done.returncode == 0
    assert b"Example: ctx " + verb.encode() in done.stdout


def test_a_store_that_cannot_be_written_costs_addresses_and_nothing_else(shell: Shell) -> None:
    """S2.7, S19.41; the next command tries the configured store again."""
    blocked = shell.file("blocked", b"a file where the store should be")
    done = shell.ctx(
        "run",
        "--",
        sys.executable,
        "-c",
        f"import sys; sys.stdout.write({flood(2000)!r}.decode()); sys.exit(5)",
        CTX_STORE=blocked,
    )
    assert done.returncode == 5
    assert b"not stored: omitted text cannot be retrieved" in done.stdout
    assert b" run:" not in done.stdout
    assert b"#stdout" not in done.stdout
    assert b"rerun: " in done.stdout
    assert done.stderr.startswith(b"ctx run: not stored: ")
    again = shell.ctx("run", "--", "sh", "-c", "exit 4")
    assert again.returncode == 4
    assert again.stderr == b""


def test_a_rerun_that_differs_in_time_alone_prints_the_same_bytes_and_keeps_both(shell: Shell) -> None:
    """S1.15 [law]."""
    first = shell.ingest(flood(800) + b"finished in 0.06s, pid 411\n", "--exit-code", "1")
    second = shell.ingest(flood(800) + b"finished in 17.31s, pid 98765\n", "--exit-code", "1")
    assert first["digest"] == second["digest"]
    assert first["handle"] == second["handle"]
    handle = f"run:{str(first['handle'])[:12]}"
    assert json.loads(shell.ctx("stats", handle, "--json").stdout)["captures"] == 2
    newest = shell.ctx("get", f"{handle}#stdout", "--lines", "801:801")
    older = shell.ctx("get", f"{handle}#stdout", "--lines", "801:801", "--capture", "2")
    assert newest.stdout == b"finished in 17.31s, pid 98765\n"
    assert older.stdout == b"finished in 0.06s, pid 411\n"


def test_a_secret_never_leaves_any_verb(shell: Shell) -> None:
    """S18.3, S19.32."""
    secret = b"ghp_" + b"a1B2c3D4e5" * 4
    data = flood(900) + b"token = " + secret + b"\n" + flood(900)
    document = shell.ingest(data, "--exit-code", "1", "--argv-json", json.dumps(["deploy", "--token", secret.decode()]))
    handle = f"run:{str(document['handle'])[:12]}"
    assert secret.decode() not in json.dumps(document)
    for words in (
        ["get", f"{handle}#stdout", "--lines", "895:905"],
        ["get", f"{handle}#stdout", "--bytes", f"0:{len(data)}"],
        ["search", handle, "token", "-F"],
        ["stats", handle],
        ["explain", handle],
    ):
        done = shell.ctx(*words)
        assert secret not in done.stdout + done.stderr, words
    assert b"redacted" in shell.ctx("get", f"{handle}#stdout", "--lines", "901:901").stdout


def test_damage_is_named_and_mended(shell: Shell) -> None:
    """S19.39, S19.40: a flipped byte is an error on read, mended by capturing again; a garbage index is rebuilt."""
    document = shell.ingest(flood(700), "--exit-code", "1")
    handle = f"run:{str(document['handle'])[:12]}"
    blobs = [p for p in (shell.folder / "store" / "blobs").rglob("*") if p.is_file() and p.stat().st_size > 1000]
    assert len(blobs) == 1
    content = bytearray(blobs[0].read_bytes())
    content[500] ^= 0xFF
    blobs[0].write_bytes(bytes(content))
    damaged = shell.ctx("get", f"{handle}#stdout", "--lines", "1:1")
    assert damaged.returncode == 3
    assert b"damaged" in damaged.stderr
    shell.ingest(flood(700), "--exit-code", "1")
    assert shell.ctx("get", f"{handle}#stdout", "--lines", "1:1").returncode == 0
    (shell.folder / "store" / "catalog.sqlite").write_bytes(b"garbage" * 1000)
    rebuilt = shell.ctx("get", f"{handle}#stdout", "--lines", "1:1")
    assert rebuilt.returncode == 0
    assert b"rebuilt from the manifests" in rebuilt.stderr
    (shell.folder / "store" / "catalog.sqlite").unlink()
    assert shell.ctx("get", f"{handle}#stdout", "--lines", "1:1").returncode == 0


def test_eight_writers_at_once_all_survive(shell: Shell) -> None:
    """S2.6, S19.46."""
    started = [
        subprocess.Popen(
            [str(CTX), "run", "--raw", "--", "sh", "-c", f"echo writer {n}"],
            env=shell.env,
            cwd=shell.folder,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
        )
        for n in range(8)
    ]
    for child in started:
        out, err = child.communicate(timeout=60)
        assert (child.returncode, err) == (0, b""), err
        assert out.startswith(b"writer ")
    sums = json.loads(shell.ctx("stats", "--json").stdout)
    assert sums["captures"] == 8


def test_files_of_the_store_are_private(shell: Shell) -> None:
    """S2.2."""
    shell.ingest(flood(700), "--exit-code", "1")
    shell.ctx("stats")
    for path in (shell.folder / "store").rglob("*"):
        assert path.stat().st_mode & 0o077 == 0, path
