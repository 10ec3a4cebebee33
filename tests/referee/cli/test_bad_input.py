"""Bad input to `referee run`: what, where and what to do in a line each, the documented status, nothing left behind."""

import shutil
from collections.abc import Sequence
from pathlib import Path

import pytest

from referee.cli.app import dispatch
from tests.referee.cli.conftest import referee

PROTOCOL = """
schema = "referee.protocol/v1"
name = "typo"
redaers = ["impatient"]
readers = ["impatent"]
alpha = 2
[[corpora]]
name = "private"
verison = "1"
[arms]
baseline = "raw"
[margins]
sucess = 0.1
"""


def said(words: Sequence[str | Path], capsys: pytest.CaptureFixture[str]) -> tuple[int, str]:
    """Status and stderr of one command line; stdout stays empty, and every line names the command."""
    status = dispatch([str(word) for word in words])
    out, err = capsys.readouterr()
    assert out == ""
    assert err
    assert "Traceback" not in err
    assert all(line.startswith("referee run: ") for line in err.splitlines())
    return status, err


def run(corpus: Path, out: Path, *words: str | Path) -> list[str | Path]:
    return ["run", "--corpus", corpus, "--out", out / "receipt.json", *words]


PAIR = ("--arm", "raw", "--arm", "tail")


@pytest.mark.parametrize(
    ("words", "parts"),
    [
        (("--arm", "raw", "--arm", "ctxx"), ("arm 'ctxx': unknown", "did you mean 'ctx'?", "head_tail")),
        (("--arm", "raw", "--arm", "ctx@1999.1"), ("1999.1", "known: ")),
        (("--arm", "raw", "--arm", "ctx+nowhere:X"), ("'nowhere:X' gives no profile", "write +MODULE:CLASS")),
        (("--arm", "raw", "--arm", "ctx+pathlib:Path"), ("not a ctx.Profile",)),
        (("--arm", "raw", "--arm", "gone.toml"), ("arm file gone.toml", "give a TOML file")),
        (("--arm", "raw"), ("--arm BASELINE --arm TREATMENT",)),
        ((*PAIR, "--reader", "nobody"), ("--reader nobody", "known: impatient")),
        ((*PAIR, "--family", "jsn"), ("family 'jsn'", "it has pytest")),
        ((*PAIR, "--case", "pytest/red-3"), ("case 'pytest/red-3'", "near it: pytest/red-")),
        ((*PAIR, "--require", "hold"), ("--require hold", "--require promote")),
        ((*PAIR, "--protocol", "gone.toml"), ("protocol gone.toml", "protocols/core.toml")),
        ((*PAIR, "--requre", "promote"), ("--requre", "--require", "see referee run --help")),
        ((*PAIR, "--workers", "0"), ("--workers", "see referee run --help")),
    ],
)
def test_a_usage_error_is_one_line_and_status_2(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], words: Sequence[str], parts: Sequence[str]
) -> None:
    """S17.1, S17.2, S17.4: the value, what would fit; the nearest known name where there is one."""
    status, err = said(run(corpus, tmp_path / "out", *words), capsys)
    assert status == 2
    assert len(err.splitlines()) == 1
    assert all(part in err for part in parts), err
    assert not (tmp_path / "out" / "receipt.json").exists()


def test_a_protocol_with_mistakes_reports_all_of_them(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    """STYLE: a file with seven mistakes reports seven, each with its key."""
    file = tmp_path / "typo.toml"
    file.write_text(PROTOCOL)
    status, err = said(run(corpus, tmp_path / "out", "--protocol", file), capsys)
    assert status == 2
    lines = [line.removeprefix("referee run: typo.toml: ") for line in err.splitlines()]
    assert [line.partition(":")[0] for line in lines] == [
        "redaers", "margins.sucess", "readers", "corpora[0].verison", "corpora[0].version", "arms.treatment", "alpha",
    ]  # fmt: skip
    assert "(did you mean 'readers'?)" in lines[0]
    assert "(did you mean 'version'?)" in lines[3]


def spoiled(corpus: Path, tmp_path: Path, kind: str) -> Path:
    """A copy of the corpus with one thing wrong."""
    folder = tmp_path / "spoiled"
    shutil.copytree(corpus, folder)
    file = folder / "cases" / "pytest" / "red-1"
    match kind:
        case "missing file":
            (file / "truth.json").unlink()
        case "altered byte":
            (file / "stdout.txt").write_bytes((file / "stdout.txt").read_bytes().replace(b"4 failed", b"3 failed"))
        case "altered truth":
            (file / "truth.json").write_text((file / "truth.json").read_text().replace('"fail"', '"pass"', 1))
        case "extra file":
            (folder / "cases" / "note.txt").write_text("x")
        case "no manifest":
            (folder / "MANIFEST.json").unlink()
        case "corrupt manifest":
            (folder / "MANIFEST.json").write_text("{")
    return folder


@pytest.mark.parametrize(
    ("kind", "named"),
    [
        ("missing file", "cases/pytest/red-1/truth.json: listed in MANIFEST.json, but missing"),
        ("altered byte", "cases/pytest/red-1/stdout.txt: its SHA-256 differs"),
        ("altered truth", "cases/pytest/red-1/truth.json: its SHA-256 differs"),
        ("extra file", "cases/note.txt: not listed in MANIFEST.json"),
        ("no manifest", "run `referee corpus freeze"),
        ("corrupt manifest", "MANIFEST.json: not a JSON document"),
    ],
)
def test_an_altered_corpus_is_refused_before_any_episode(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], kind: str, named: str
) -> None:
    """S19.62: the file by name, the corpus, and what to do; no receipt."""
    folder = spoiled(corpus, tmp_path, kind)
    status, err = said(run(folder, tmp_path / "out", *PAIR), capsys)
    assert status == 1
    assert named in err
    assert f"corpus {folder}: refused" in err
    assert list((tmp_path / "out").iterdir()) == []


@pytest.mark.parametrize("name", ["gone", "file"])
def test_a_corpus_that_is_not_there(tmp_path: Path, capsys: pytest.CaptureFixture[str], name: str) -> None:
    """A missing folder, a file instead of a folder."""
    (tmp_path / "file").write_text("x")
    status, err = said(run(tmp_path / name, tmp_path / "out", *PAIR), capsys)
    assert (status, len(err.splitlines())) == (1, 1)
    assert f"{tmp_path / name}: " in err
    assert "give the folder that holds MANIFEST.json" in err


def test_a_case_in_two_corpora(corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    """Rows are told apart by case: two of one name would hide each other."""
    status, err = said(run(corpus, tmp_path / "out", "--corpus", corpus, *PAIR), capsys)
    assert status == 1
    assert "in more than one corpus" in err


@pytest.mark.parametrize(
    ("out", "status", "part"),
    [
        ("", 2, "is a folder"),
        ("file/receipt.json", 2, "is no folder"),
        ("cases.csv", 2, "name of a table beside it"),
        ("/proc/nowhere/receipt.json", 3, "cannot be written to"),
        ("/dev/full", 2, "is no plain file"),
    ],
)
def test_a_place_that_cannot_hold_a_receipt_is_refused_before_the_run(
    corpus: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str], out: str, status: int, part: str
) -> None:
    """Not after minutes of judging; the device stays a device."""
    (tmp_path / "file").write_text("x")
    words: list[str | Path] = ["run", "--corpus", corpus, "--out", tmp_path / out, *PAIR]
    found, err = said(words, capsys)
    assert (found, len(err.splitlines())) == (status, 1)
    assert part in err
    assert Path("/dev/full").is_char_device()


def test_a_full_disk_is_status_3_and_leaves_nothing(corpus: Path, tmp_path: Path) -> None:
    """A real process whose files may not grow beyond 4 KiB: the table does not fit."""
    # The limit holds while the receipt is written and no longer: cut bytecode would break whoever imports it next.
    limit = (
        "import resource, referee.execute as execute\n"
        "write = execute.write_receipt\n"
        "def limited(*arguments):\n"
        "    resource.setrlimit(resource.RLIMIT_FSIZE, (4096, 4096))\n"
        "    write(*arguments)\n"
        "execute.write_receipt = limited\n"
    )
    done = referee("run", "--corpus", corpus, "--out", tmp_path / "out" / "receipt.json", *PAIR, before=limit)
    assert done.returncode == 3, done.stderr
    assert done.stderr.count("\n") == 1
    assert done.stderr.startswith("referee run: ")
    assert "cannot be written (File too large)" in done.stderr
    assert list((tmp_path / "out").iterdir()) == []


def test_an_unreadable_vocabulary_is_status_3(corpus: Path, tmp_path: Path) -> None:
    """A rank file with one token altered is not the published one; nothing is downloaded instead."""
    altered = (
        "import toktok; real = toktok._encoding\n"
        "class Altered:\n"
        "    def __init__(self, name): self._real = real(name)\n"
        "    def __getattr__(self, key): return getattr(self._real, key)\n"
        "    def decode_single_token_bytes(self, rank): \n"
        "        token = self._real.decode_single_token_bytes(rank)\n"
        "        return token + b'?' if rank == 1000 else token\n"
        "toktok._encoding = Altered\n"
    )
    done = referee("run", "--corpus", corpus, "--out", tmp_path / "r.json", *PAIR, "--workers", "1", before=altered)
    assert done.returncode == 3, done.stderr
    assert done.stderr == (
        "referee run: encoding o200k_base: vocabulary differs from the published one; reinstall toktok-rs\n"
    )
