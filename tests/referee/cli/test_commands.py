"""The referee's commands as processes of their own: what they print, their status, runs that repeat byte for byte."""

import json
import re
import signal
import subprocess
import sys
import time
from pathlib import Path

import pytest
import rfc8785

from referee.cli.app import dispatch
from tests.referee.cli.conftest import PROGRAM, referee

PROTOCOL = """
schema = "referee.protocol/v1"
name = "private"
readers = ["impatient", "follower", "doubter"]
[[corpora]]
name = "private"
version = "1"
[arms]
baseline = "head_tail"
treatment = "ctx"
"""
VERBS = (
    "run", "gate", "verify", "corpus verify", "corpus freeze", "corpus stats", "arm list", "reader list",
    "protocol check",
)  # fmt: skip


@pytest.fixture(scope="module")
def run_twice(corpus: Path, tmp_path_factory: pytest.TempPathFactory) -> tuple[Path, Path]:
    """Two receipts of one protocol: another hash seed, locale, time zone, width, folder and number of workers."""
    folder = tmp_path_factory.mktemp("twice")
    (folder / "protocols").mkdir()
    file = folder / "protocols" / "private.toml"
    file.write_text(PROTOCOL)
    (folder / "elsewhere").mkdir()
    common = ("run", "--corpus", corpus, "--protocol", file, "--out")
    first = referee(
        *common, folder / "one" / "receipt.json", "--workers", "1", cwd=folder,
        env={"PYTHONHASHSEED": "0", "LC_ALL": "C", "TZ": "UTC", "COLUMNS": "40"},
    )  # fmt: skip
    second = referee(
        *common, folder / "two" / "receipt.json", "--workers", "3", cwd=folder / "elsewhere",
        env={
            "PYTHONHASHSEED": "77", "LC_ALL": "C.UTF-8", "LANG": "tr_TR.UTF-8", "TZ": "Asia/Tokyo", "COLUMNS": "300",
        },
    )  # fmt: skip
    assert (first.returncode, first.stderr) == (0, ""), first.stderr
    assert (second.returncode, second.stderr) == (0, ""), second.stderr
    assert first.stdout == second.stdout
    return folder / "one" / "receipt.json", folder / "two" / "receipt.json"


def test_two_runs_give_byte_identical_reproducible_parts(run_twice: tuple[Path, Path]) -> None:
    """S15.8, last row; S16.2. The tables are equal too; what was observed is not."""
    one, two = (json.loads(path.read_bytes())["predicate"] for path in run_twice)
    assert rfc8785.dumps(one["reproducible"]) == rfc8785.dumps(two["reproducible"])
    tables = [(path.parent / "cases.csv").read_bytes() for path in run_twice]
    assert tables[0] == tables[1]
    assert one["observed"]["latency"] != two["observed"]["latency"]


def test_the_table_lists_failures_and_reversals_before_any_number(corpus: Path, tmp_path: Path) -> None:
    """DESIGN 14: case by case before the summary; every reason with it."""
    done = referee("run", "--corpus", corpus, "--arm", "raw", "--arm", "truncating", "--reader", "impatient",
                   "--out", tmp_path / "receipt.json")  # fmt: skip
    lines = done.stdout.splitlines()
    at = {name: next(i for i, line in enumerate(lines) if line.startswith(name)) for name in (
        "verdict: REJECT", "reversals", "failures", "controls held", "pytest: 3 cases", "overall: 3 cases",
    )}  # fmt: skip
    assert list(at.values()) == sorted(at.values())
    assert any(
        line.startswith("  undeclared_omission [pytest]: 8 undeclared omissions in pytest/red-1") for line in lines
    )
    assert any("pytest/red-1: success 0 instead of 1 (impatient)" in line for line in lines)
    assert any(
        "pytest/red-2: 1 reader; 1 of them find it in the uncut output; lost tests/test_2.py" in li for li in lines
    )
    first_arm = next(line for line in lines[at["pytest: 3 cases"] + 2 :])
    assert first_arm.split()[0] == "truncating"
    assert max(map(len, lines)) < 160
    # What is written beside is the same text made from the file: reversals and numbers read alike.
    assert dispatch(["verify", str(tmp_path / "receipt.json")]) == 0


def test_json_prints_the_receipt_and_nothing_else(corpus: Path, tmp_path: Path) -> None:
    """S17.2: one document."""
    done = referee("run", "--corpus", corpus, "--arm", "raw", "--arm", "tail", "--reader", "impatient", "--json",
                   "--require", "promote", "--out", tmp_path / "receipt.json")  # fmt: skip
    assert done.returncode == 1
    assert done.stdout.encode() == (tmp_path / "receipt.json").read_bytes()


def test_verify_and_gate_of_a_sound_receipt(run_twice: tuple[Path, Path], capsys: pytest.CaptureFixture[str]) -> None:
    """`verify` asks whether it holds, `gate` whether it promotes."""
    receipt = str(run_twice[0])
    assert dispatch(["verify", receipt]) == 0
    assert capsys.readouterr().out == f"{receipt}: holds\n"
    assert dispatch(["gate", receipt]) == 1
    out = capsys.readouterr().out
    assert out.splitlines()[0] == "verdict: hold"
    assert "uncommitted_protocol: commit the protocol file" in out
    assert dispatch(["gate", receipt, "--json"]) == 1
    assert json.loads(capsys.readouterr().out)["problems"] == []


def test_verify_of_a_changed_receipt_is_status_1(
    run_twice: tuple[Path, Path], tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """One line: the command, the file, the JSON path, both values."""
    for name in ("receipt.json", "cases.csv"):
        (tmp_path / name).write_bytes((run_twice[0].parent / name).read_bytes())
    document = json.loads((tmp_path / "receipt.json").read_bytes())
    document["predicate"]["reproducible"]["decision"] = {"reasons": [], "verdict": "promote"}
    (tmp_path / "receipt.json").write_bytes(rfc8785.dumps(document) + b"\n")
    assert dispatch(["verify", str(tmp_path / "receipt.json")]) == 1
    err = capsys.readouterr().err
    assert err.startswith(f"referee verify: {tmp_path / 'receipt.json'}: reproducible.decision.reasons: ")
    assert dispatch(["gate", str(tmp_path / "receipt.json")]) == 1
    assert "does not hold" in capsys.readouterr().out


def test_rerun_compares_with_a_second_run(
    run_twice: tuple[Path, Path], corpus: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """S16.4: `--rerun`."""
    protocol = str(run_twice[0].parents[1] / "protocols" / "private.toml")
    words = ["verify", str(run_twice[0]), "--rerun"]
    assert dispatch(words) == 2
    assert "--rerun needs --protocol FILE and --corpus DIR" in capsys.readouterr().err
    assert dispatch([*words, "--protocol", protocol, "--corpus", str(corpus)]) == 0
    assert capsys.readouterr().out.endswith("holds, and a second run gives the same bytes\n")


@pytest.mark.parametrize("verb", VERBS)
def test_every_verb_has_help_with_an_example(verb: str, capsys: pytest.CaptureFixture[str]) -> None:
    """S17.2: one that begins with the command itself."""
    assert dispatch([*verb.split(), "--help"]) == 0
    out = " ".join(capsys.readouterr().out.split())
    assert re.search(rf"Example: referee {verb}\b", out)


def test_the_verbs_are_those_of_the_help() -> None:
    """A new verb needs its row in this module."""
    done = referee("--help")
    listed = set(re.findall(r"^  ([a-z]+)  ", done.stdout, re.MULTILINE))
    assert listed == {verb.split()[0] for verb in VERBS}


def test_lists_of_arms_and_readers(capsys: pytest.CaptureFixture[str]) -> None:
    """What can be named."""
    assert dispatch(["arm", "list"]) == 0
    out = capsys.readouterr().out
    assert [line.split()[0] for line in out.splitlines()][:4] == ["raw", "head_tail", "tail", "ctx"]
    assert dispatch(["reader", "list"]) == 0
    out = capsys.readouterr().out
    assert "skimmer    follow, rerun; reads 300; trusts undeclared yes, complete yes; 4 turns" in out


def test_corpus_commands(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Check, count; a frozen version stays."""
    assert dispatch(["corpus", "verify", str(corpus)]) == 0
    assert capsys.readouterr().out == "private version 1: 3 cases hold\n"
    assert dispatch(["corpus", "stats", str(corpus)]) == 0
    assert "pytest" in capsys.readouterr().out
    assert dispatch(["corpus", "verify", str(tmp_path / "gone")]) == 1
    assert "no such folder" in capsys.readouterr().err


def test_protocol_check_says_whether_it_is_on_record(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """S15.2: not committed, then committed."""
    file = tmp_path / "private.toml"
    file.write_text(PROTOCOL)
    assert dispatch(["protocol", "check", str(file)]) == 1
    assert "uncommitted_protocol" in capsys.readouterr().out
    git = ("git", "-C", str(tmp_path), "-c", "user.name=t", "-c", "user.email=t@example.org")
    for words in (("init", "-q"), ("add", "."), ("commit", "-qm", "protocol")):
        subprocess.run([*git, *words], check=True)
    assert dispatch(["protocol", "check", str(file)]) == 0
    assert re.search(r"first held by commit [0-9a-f]{40}\n", capsys.readouterr().out)


def test_addresses_and_errors_with_folders_in_them_do_not_reach_the_receipt(corpus: Path, tmp_path: Path) -> None:
    """A tool that keeps its output under the user's home, and one that breaks with a path in its message."""
    (tmp_path / "tee.toml").write_text(
        'schema = "referee.arm/v1"\nname = "tee"\n'
        'argv = ["sh", "-c", "echo kept: $HOME/logs/12.log"]\n'
        "address_pattern = 'kept: (?P<id>/.+)'\n"
        'resolver_argv = ["cat", "{address}"]\n'
    )
    (tmp_path / "gone.toml").write_text('schema = "referee.arm/v1"\nname = "gone"\nargv = ["/opt/nowhere/bin/tool"]\n')
    done = referee("run", "--corpus", corpus, "--arm", "raw", "--arm", "tee.toml", "--arm", "gone.toml",
                   "--reader", "follower", "--out", "out/receipt.json", "--json", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    found = json.loads(done.stdout)["predicate"]["reproducible"]
    assert "dead: kept: <folder>/12.log" in {note for row in found["failures"] for note in row["notes"]}
    assert "unresolvable_address" in {reason["code"] for reason in found["decision"]["reasons"]}
    table = (tmp_path / "out" / "cases.csv").read_text()
    assert "tool: cannot be run (No such file or directory)" in table
    assert "/opt/nowhere" not in table
    assert dispatch(["verify", str(tmp_path / "out" / "receipt.json")]) == 0


def test_an_interrupted_run_leaves_no_receipt_and_no_traceback(corpus: Path, tmp_path: Path) -> None:
    """S16.6, S17.1: SIGINT while an arm works, status 130."""
    program = f"import pathlib, time; pathlib.Path({str(tmp_path / 'begun')!r}).touch(); time.sleep(60)"
    (tmp_path / "slow.toml").write_text(
        f'schema = "referee.arm/v1"\nname = "slow"\nargv = ["{sys.executable}", "-c", "{program}"]\n'
    )
    words = (
        "run",
        "--corpus",
        corpus,
        "--arm",
        "raw",
        "--arm",
        tmp_path / "slow.toml",
        "--out",
        tmp_path / "out" / "r.json",
    )
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, *map(str, words)], stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True
    )
    for _ in range(600):
        if (tmp_path / "begun").exists():
            break
        time.sleep(0.05)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, err
    assert (out, err.strip()) == ("", "")
    assert list((tmp_path / "out").iterdir()) == []


def test_a_terminal_of_few_letters_stops_nothing(corpus: Path, tmp_path: Path) -> None:
    """What it cannot write is shown by number; JSON stays UTF-8."""
    words = ("run", "--corpus", corpus, "--arm", "raw", "--arm", "tail", "--reader", "impatient", "--out")
    plain = referee(*words, tmp_path / "a" / "r.json", env={"PYTHONIOENCODING": "ascii"})
    assert plain.returncode == 0, plain.stderr
    assert "\\xb7 tail against raw" in plain.stdout
    document = referee(*words, tmp_path / "b" / "r.json", "--json", env={"PYTHONIOENCODING": "ascii"})
    assert json.loads(document.stdout)["predicateType"] == "urn:ctx-referee:receipt:v1"


def test_a_reader_that_closes_the_pipe_ends_it_silently(corpus: Path) -> None:
    """S17.1: status 141, no message."""
    process = subprocess.Popen(
        [sys.executable, "-c", PROGRAM, "corpus", "stats", str(corpus)],
        stdout=subprocess.PIPE, stderr=subprocess.PIPE,
    )  # fmt: skip
    assert process.stdout is not None
    process.stdout.close()
    assert process.stderr is not None
    assert process.stderr.read() == b""
    process.stderr.close()
    assert process.wait(timeout=60) == 141


def test_an_arm_file_stands_under_its_name_and_no_folder_reaches_the_receipt(corpus: Path, tmp_path: Path) -> None:
    """S14.5, S16.2: an external command as treatment, its file given relative to where the user stands."""
    (tmp_path / "arms").mkdir()
    (tmp_path / "arms" / "last.toml").write_text(
        'schema = "referee.arm/v1"\nname = "last20"\nargv = ["tail", "-n", "20"]\n'
        'version_argv = ["tail", "--version"]\n'
    )
    done = referee("run", "--corpus", corpus, "--arm", "raw", "--arm", "arms/last.toml", "--reader", "impatient",
                   "--out", "out/receipt.json", "--json", cwd=tmp_path)  # fmt: skip
    assert done.returncode == 0, done.stderr
    predicate = json.loads(done.stdout)["predicate"]
    arms = predicate["reproducible"]["overall"]["arms"]
    assert arms["last20"]["success"] == 1.0
    assert arms["last20"]["deterministic"] is True
    assert set(predicate["protocol"]["parameters"]["arm_files"]) == {"last20"}
    assert str(tmp_path) not in json.dumps(predicate["reproducible"])
    assert dispatch(["verify", str(tmp_path / "out" / "receipt.json")]) == 0
