"""The catalog is an index: missing, damaged or locked, it loses nothing (S2.3, S2.4, S2.6, S19.40, S19.46)."""

import json
import os
import sqlite3
import subprocess
import sys
import threading
import time
from pathlib import Path

import pytest

from ctx.digest.base import Span
from ctx.errors import ExpiredError, StoreError, UnknownError
from ctx.store import Store
from tests.ctx.shell import CTX, Shell, flood, obeys_permissions
from tests.ctx.store.captures import manifest_path, opened, published

DAMAGE = {
    "garbage": b"no database at all\n" * 100,
    "emptied": b"",
    "zeros in front": None,
    "cut in its middle": None,
    "tables of somebody else": None,
}


def damage(path: Path, kind: str) -> bytes:
    """Damage a catalog; what it is now."""
    for side in ("-wal", "-shm"):
        Path(f"{path}{side}").unlink(missing_ok=True)
    data = path.read_bytes()
    if kind == "zeros in front":
        path.write_bytes(b"\x00" * 512 + data[512:])
    elif kind == "cut in its middle":
        path.write_bytes(data[:4096])
    elif kind == "tables of somebody else":
        with sqlite3.connect(path) as connection:
            connection.execute("drop table capture")
        connection.close()
    else:
        path.write_bytes(DAMAGE[kind] or b"")
    return path.read_bytes()


@pytest.mark.parametrize("kind", list(DAMAGE))
@pytest.mark.parametrize("question", ["handle", "last", "totals"])
def test_a_damaged_catalog_is_set_aside_named_and_rebuilt(tmp_path: Path, kind: str, question: str) -> None:
    """S2.4, S19.40, field case of the damaged file: never taken for an empty one, and every handle resolves."""
    store, _ = opened(tmp_path)
    manifests = [published(store, b"run %d\n" % n, started_at=f"2026-01-02T03:04:0{n}.000Z") for n in range(5)]
    assert store.totals()[0] == 5
    was = damage(store.root / "catalog.sqlite", kind)
    again, said = opened(tmp_path)
    if question == "handle":
        assert again.manifest(manifests[2].handle) == manifests[2]
    elif question == "last":
        assert again.manifest("last") == manifests[4]
    else:
        assert again.totals()[0] == 5
    aside = again.root / "lost+found" / "catalog.1.sqlite"
    assert aside.read_bytes() == was
    assert len(said) == 1
    assert said[0].startswith("the catalog was damaged (")
    assert said[0].endswith(f"; it lies in {aside} and is rebuilt from the manifests")
    for manifest in manifests:
        assert Store(again.root).manifest(manifest.handle) == manifest


def test_two_damages_are_kept_apart(tmp_path: Path) -> None:
    """S2.4: under unique names without a time in them."""
    for number in (1, 2):
        store, _ = opened(tmp_path)
        published(store, b"one\n")
        assert store.totals()[0] == number
        (store.root / "catalog.sqlite").write_bytes(b"damage %d" % number)
    assert opened(tmp_path)[0].totals()[0] == 2
    lost = store.root / "lost+found"
    assert [(lost / f"catalog.{n}.sqlite").read_bytes() for n in (1, 2)] == [b"damage 1", b"damage 2"]


def test_a_missing_catalog_is_rebuilt_in_the_order_of_the_captures(tmp_path: Path) -> None:
    """S2.3."""
    store, _ = opened(tmp_path)
    manifests = [published(store, b"took %d.5s\n" % n, started_at=f"2026-01-02T03:04:0{n}.000Z") for n in (3, 1, 2)]
    assert store.captures(manifests[0].handle) == [manifests[n].capture_id for n in (2, 1, 0)]
    (store.root / "catalog.sqlite").unlink()
    again, said = opened(tmp_path)
    assert again.captures(manifests[0].handle) == [manifests[n].capture_id for n in (0, 2, 1)]
    assert said == []


def test_what_a_retrieval_named_and_fetched_outlives_the_catalog(tmp_path: Path) -> None:
    """S8.4 [law]: an address that a zoom printed resolves until retention ends; what was fetched stays fetched."""
    store, _ = opened(tmp_path)
    manifest = published(store, b"x" * 9000 + b"\n")
    span = Span("0123456789", "stdout", "columns", 1, 1, 40, 80)
    assert store.add_spans(manifest.handle, [span])
    store.note_fetch(manifest.handle, 41)
    assert store.totals()[3] == 41
    (store.root / "catalog.sqlite").write_bytes(b"garbage")
    again, _ = opened(tmp_path)
    assert again.span(manifest, "0123456789") == span
    assert again.totals()[3] == 41
    with pytest.raises(UnknownError, match="--span 9876543210: no such region"):
        again.span(manifest, "9876543210")


def test_a_span_is_kept_once_and_a_cut_line_of_them_names_nothing(tmp_path: Path) -> None:
    store, _ = opened(tmp_path)
    handle = published(store, b"x\n").handle
    spans = [Span(f"{n:010d}", "stdout", "columns", 1, 1, n, n + 1) for n in (1, 2)]
    store.add_spans(handle, spans)
    store.add_spans(handle, spans)
    path = store.root / "spans" / handle[:2] / handle
    assert len(path.read_text().split("\n")) == 4
    path.write_text(path.read_text()[:-20])
    manifest = store.manifest(handle)
    assert store.span(manifest, "0000000001") == spans[0]
    with pytest.raises(UnknownError):
        store.span(manifest, "0000000002")
    store.add_spans(handle, spans)
    assert store.span(manifest, "0000000002") == spans[1]


def test_a_capture_that_nobody_announced_is_found(tmp_path: Path) -> None:
    """S2.3: its writer died between manifest and announcement."""
    store, _ = opened(tmp_path)
    published(store, b"announced\n")
    assert store.totals()[0] == 1
    silent = published(store, b"silent\n")
    (store.root / "catalog.announced").unlink()
    assert store.manifest(silent.handle) == silent
    lost = published(store, b"silent too\n")
    (store.root / "catalog.announced").unlink()
    assert store.totals()[0] == 3
    assert store.manifest(lost.handle) == lost


def test_a_list_that_a_dead_reader_took_along_is_taken_over(tmp_path: Path) -> None:
    store, _ = opened(tmp_path)
    first = published(store, b"took 1.5s\n")
    (store.root / "catalog.announced").rename(store.root / "catalog.announced.999999.dead")
    second = published(store, b"took 2.5s\n")
    assert store.captures(first.handle) == [second.capture_id, first.capture_id]
    assert not list(store.root.glob("catalog.announced*"))


def test_rubbish_among_the_announcements_hides_no_capture(tmp_path: Path) -> None:
    """What a full disk cut off, and an id whose manifest is gone."""
    store, said = opened(tmp_path)
    published(store, b"one\n")
    with (store.root / "catalog.announced").open("ab") as file:
        file.write(b"\nabc\xff\x00\n" + b"0" * 64 + b"\n" + b"f" * 30)
    published(store, b"two\n")
    assert store.totals()[0] == 2
    assert said == []


def test_an_announcement_that_fails_takes_its_manifest_back(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """S2.8: what was called not stored is not there either."""
    store, _ = opened(tmp_path)

    def fails(*_: object) -> None:
        raise StoreError("no space")

    monkeypatch.setattr("ctx.store.store.append_line", fails)
    with pytest.raises(StoreError, match="no space"):
        published(store, b"one\n")
    assert list((store.root / "manifests").rglob("*.json")) == []


# Names --------------------------------------------------------------------------------------------------------------


def test_last_is_of_the_workspace_that_asks(tmp_path: Path) -> None:
    """S2.1, S2.4: one store serves many workspaces."""
    store, _ = opened(tmp_path)
    keel = published(store, b"keel\n", workspace="a" * 16)
    sail = published(store, b"sail\n", workspace="b" * 16)
    assert store.resolve("last", "a" * 16) == keel.handle
    assert store.resolve("last", "b" * 16) == sail.handle
    assert store.resolve("last") == sail.handle
    assert store.manifest(keel.handle, workspace="b" * 16) == keel, "handles are not scoped"
    with pytest.raises(UnknownError, match="nothing was captured here yet"):
        store.resolve("last", "c" * 16)


def test_two_projects_do_not_see_each_others_last_run(shell: Shell) -> None:
    """S2.1, field case of two runs in one second."""
    for name, text in (
        ("one", "FAILED tests/test_keel.py::test_depth"),
        ("two", "FAILED tests/test_sail.py::test_area"),
    ):
        (shell.folder / name / ".git").mkdir(parents=True)
        (shell.folder / name / "deep").mkdir()
        shell.line(f"cd {name}/deep && ctx run -- echo '{text}'")
    assert shell.line("cd one && ctx get run:last").stdout == b"FAILED tests/test_keel.py::test_depth\n"
    assert shell.line("cd two/deep && ctx get run:last").stdout == b"FAILED tests/test_sail.py::test_area\n"
    shell.line("cd one && ctx get run:last#manifest > ../manifest")
    assert json.loads((shell.folder / "manifest").read_text())["cwd"] == "deep"


def test_a_prefix_of_several_runs_lists_them_with_their_commands(tmp_path: Path) -> None:
    """S8.5: at most eight, and nothing is chosen."""
    store, _ = opened(tmp_path)
    manifests = [published(store, b"%d\n" % n, argv=("make", f"target-{n}")) for n in range(3)]
    lookup = {m.handle: m for m in manifests}
    store._catalog.handles("0" * 6)  # the index is there
    with sqlite3.connect(store.root / "catalog.sqlite") as connection:
        for number, handle in enumerate(lookup):
            connection.execute(
                "update capture set handle = ? where handle = ?", (f"abcdef{number}" + handle[7:], handle)
            )
    connection.close()
    with pytest.raises(
        UnknownError, match=r"a prefix of several runs: .*make target-0.*make target-1.*give more digits"
    ):
        store.resolve("abcdef")
    assert store.resolve("abcdef1").startswith("abcdef1")


def test_an_unknown_run_names_its_nearest_and_a_removed_one_its_command(tmp_path: Path) -> None:
    """S8.11, S19.50: two answers; a secret of the removed command is not in the second."""
    store, _ = opened(tmp_path)
    manifest = published(store, b"one\n")
    with pytest.raises(UnknownError, match=f"never in this store; nearest: run:{manifest.handle[:12]}"):
        store.resolve("0" * 12)
    (store.root / "tombstones").mkdir()
    secret = "ghp_" + "a1B2c3D4e5" * 4
    stone = {
        "capture_id": "1" * 64,
        "handle": "5" * 64,
        "argv": ["deploy it", "--token", secret],
        "removed_at": "2026-01-02T03:04:05.678Z",
        "reason": "size",
    }
    (store.root / "tombstones" / "1.json").write_text(json.dumps(stone))
    (store.root / "tombstones" / "0.json").write_text("{")
    with pytest.raises(ExpiredError) as raised:
        store.resolve("5" * 12)
    assert "removed at 2026-01-02T03:04:05.678Z (size)" in str(raised.value)
    assert "get it again with: ctx run -- 'deploy it' --token" in str(raised.value)
    assert secret not in str(raised.value)


# Many at once, and somebody who does not give back ------------------------------------------------------------------


def test_eight_writers_and_a_reader_at_once_lose_nothing(shell: Shell) -> None:
    """S2.6, S19.46, field case: eight processes of 25 outputs each; every one is counted and gives its own line."""
    script = (
        "import sys\n"
        "from pathlib import Path\n"
        "from tests.ctx.store.captures import published\n"
        "from ctx.store import Store\n"
        f"store = Store(Path({str(shell.store)!r}))\n"
        "for item in range(25):\n"
        "    print(published(store, f'writer {sys.argv[1]} item {item}\\n'.encode()).handle)\n"
    )
    root = Path(__file__).resolve().parents[3]
    writers = [
        subprocess.Popen([sys.executable, "-c", script, str(n)], stdout=subprocess.PIPE, cwd=root) for n in range(8)
    ]
    reader, said = Store(shell.store), list[str]()
    reader.notice = said.append
    counts = []
    while any(writer.poll() is None for writer in writers):
        counts.append(reader.totals()[0])
        time.sleep(0.1)
    handles = [writer.communicate(timeout=30)[0].decode().split() for writer in writers]
    assert [writer.returncode for writer in writers] == [0] * 8
    assert counts == sorted(counts)
    store = Store(shell.store)
    assert store.totals()[0] == 200
    assert said == []
    for number, written in enumerate(handles):
        for item, handle in enumerate(written):
            text = store.stream(store.manifest(handle), "stdout")
            assert text == f"writer {number} item {item}\n".encode()
    with sqlite3.connect(shell.store / "catalog.sqlite") as connection:
        assert connection.execute("pragma integrity_check").fetchone() == ("ok",)
    connection.close()


def test_first_readers_at_once_build_one_catalog(tmp_path: Path) -> None:
    """S2.6: none of them finds a half-built one and calls it damaged."""
    store, _ = opened(tmp_path)
    for n in range(5):
        published(store, b"%d\n" % n)
    found: list[int] = []
    said: list[str] = []

    def ask() -> None:
        found.append(Store(store.root, notice=said.append).totals()[0])

    readers = [threading.Thread(target=ask) for _ in range(8)]
    for reader in readers:
        reader.start()
    for reader in readers:
        reader.join()
    assert found == [5] * 8
    assert said == []
    assert not list(store.root.glob("*.new"))
    assert not (store.root / "lost+found").exists()


@pytest.fixture
def held(shell: Shell) -> sqlite3.Connection:
    """A catalog whose lock somebody holds and does not give back."""
    shell.ingest(b"before\n")
    shell.ctx("stats")
    connection = sqlite3.connect(shell.store / "catalog.sqlite", isolation_level=None)
    connection.execute("pragma locking_mode=exclusive")
    connection.execute("begin exclusive")
    connection.execute("update capture set ordinal = ordinal")
    return connection


def test_a_held_lock_does_not_stop_a_command(shell: Shell, held: sqlite3.Connection) -> None:
    """S2.6, S2.7, S19.46, field case: the digest comes at once, the status is the command's, it ran once."""
    shell.file("text", flood(900) + b"FAILED tests/test_keel.py::test_depth - assert 11 == 12\n")
    begun = time.monotonic()
    done = shell.ctx("run", "--", "sh", "-c", "echo ran >> runs; cat text; exit 1")
    assert time.monotonic() - begun < 10
    assert done.returncode == 1
    assert b"FAILED tests/test_keel.py::test_depth - assert 11 == 12" in done.stdout
    assert (shell.folder / "runs").read_text() == "ran\n"
    held.close()
    assert json.loads(shell.ctx("stats", "--json").stdout)["captures"] == 2


def test_a_question_waits_for_a_held_lock_within_bounds_and_says_so(shell: Shell, held: sqlite3.Connection) -> None:
    """S2.6: two seconds, at most three in all."""
    begun = time.monotonic()
    done = shell.ctx("stats", "run:last")
    assert 1.5 < time.monotonic() - begun < 6
    assert (done.returncode, done.stdout) == (3, b"")
    assert done.stderr.count(b"\n") == 1
    assert b"somebody holds its lock" in done.stderr
    held.close()


def test_a_store_that_cannot_be_written_can_be_read(shell: Shell) -> None:
    """S2.7: a read-only copy of a store answers, indexed or not, and damage in it is named where it lies."""
    document = shell.ingest(flood(900), "--exit-code", "1")
    address = [f"run:{document['handle']}#stdout", "--lines", "5:5"]
    for indexed in (False, True):
        if indexed:
            assert shell.ctx("stats").returncode == 0
        for folder, _, _ in os.walk(shell.store):
            os.chmod(folder, 0o500)
        done = shell.ctx("get", *address, before=obeys_permissions)
        assert (done.returncode, done.stdout) == (0, flood(900).splitlines(keepends=True)[4]), done.stderr
        assert json.loads(shell.ctx("stats", "--json", before=obeys_permissions).stdout)["captures"] == 1
        for folder, _, _ in os.walk(shell.store):
            os.chmod(folder, 0o700)


def test_the_catalog_of_an_older_layout_is_built_anew(tmp_path: Path) -> None:
    """It is an index: its version costs nobody a capture."""
    store, said = opened(tmp_path)
    manifest = published(store, b"one\n")
    assert store.totals()[0] == 1
    with sqlite3.connect(store.root / "catalog.sqlite") as connection:
        connection.execute("pragma user_version=1")
    connection.close()
    assert Store(store.root, notice=said.append).manifest(manifest.handle) == manifest
    assert said == []


def test_nobody_needs_a_shell_to_read_a_store(tmp_path: Path) -> None:
    """S2.14: the Python surface reads what the command line wrote."""
    env = {**os.environ, "CTX_STORE": str(tmp_path / "store")}
    subprocess.run([str(CTX), "run", "--", "echo", "hello"], env=env, cwd=tmp_path, capture_output=True, check=True)
    store = Store(tmp_path / "store")
    manifest = store.manifest("last")
    assert store.read(f"run:{manifest.handle[:12]}#stdout") == b"hello\n"
    assert manifest_path(store, manifest).exists()
