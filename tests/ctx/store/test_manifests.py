"""Manifests: canonical, the truth of a store; a damaged one is named and set aside (S1.15, S2.3, S2.4, S19.40)."""

import json
from hashlib import sha256
from pathlib import Path

import pytest

from ctx.errors import DamagedError
from ctx.store import Store
from tests.ctx.shell import Shell
from tests.ctx.store.captures import manifest_path, opened, published


def test_a_manifest_is_canonical_json_named_by_its_own_digest(tmp_path: Path) -> None:
    """`ctx.manifest/v1`: sorted keys, no blanks, and an id that anybody can compute again."""
    store, _ = opened(tmp_path)
    manifest = published(
        store, b"one\ntwo", err=b"\xff\n", session="s", started_at="2026-01-02T03:04:05.678Z", duration_ms=12
    )
    data = manifest_path(store, manifest).read_bytes()
    document = json.loads(data)
    assert data == json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    rest = {key: value for key, value in document.items() if key != "capture_id"}
    again = json.dumps(rest, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert document["capture_id"] == sha256(again).hexdigest() == manifest.capture_id
    assert document["schema"] == "ctx.manifest/v1"
    assert document["streams"]["stdout"] == {
        "blob": sha256(b"one\ntwo").hexdigest(),
        "bytes": 7,
        "lines": 2,
        "tokens": document["streams"]["stdout"]["tokens"],
        "encoding": "utf-8",
        "media_type": "text/plain",
        "last_line_ends": False,
    }
    assert document["streams"]["stderr"]["last_line_ends"] is True
    assert (document["started_at"], document["duration_ms"], document["session"]) == (
        "2026-01-02T03:04:05.678Z",
        12,
        "s",
    )
    assert document["capture"] == {"complete": True, "reason": None}


def test_two_equal_captures_have_two_manifests_and_one_handle(tmp_path: Path) -> None:
    """S1.15: the nonce keeps them apart."""
    store, _ = opened(tmp_path)
    first, second = published(store, b"same\n"), published(store, b"same\n")
    assert first.handle == second.handle
    assert first.capture_id != second.capture_id
    assert store.captures(first.handle) == [second.capture_id, first.capture_id]


def test_a_manifest_comes_back_as_it_was(tmp_path: Path) -> None:
    store, _ = opened(tmp_path)
    manifest = published(store, b"x\n" * 4000, workspace="0123456789abcdef")
    assert Store(store.root).manifest(manifest.handle) == manifest


@pytest.mark.parametrize(
    "damaged",
    [b"", b"{", b"\x00" * 512, b"null", b"[]", b'{"schema":"ctx.manifest/v9"}', b"[" * 100_000, b"altered", b"swapped"],
)
def test_a_damaged_manifest_is_named_and_set_aside_and_the_others_stay(tmp_path: Path, damaged: bytes) -> None:
    """S2.4, S19.40: a cut file, zeros, another schema, a changed value, a sound manifest under a wrong name."""
    store, said = opened(tmp_path)
    intact, victim = published(store, b"intact\n"), published(store, b"victim\n")
    path = manifest_path(store, victim)
    if damaged == b"altered":
        damaged = path.read_bytes().replace(b'"exit_code":1', b'"exit_code":0')
    elif damaged == b"swapped":
        damaged = manifest_path(store, intact).read_bytes()
    path.write_bytes(damaged)
    assert store.totals()[0] == 1
    aside = store.root / "lost+found" / f"manifest.{victim.capture_id}.json"
    assert [text.partition(": ")[0] for text in said] == [f"manifest {victim.capture_id}.json"]
    assert said[0].endswith(f"; set aside as {aside}")
    assert aside.read_bytes() == damaged
    assert not path.exists()
    assert store.stream(store.manifest(intact.handle), "stdout") == b"intact\n"


def test_an_older_capture_of_the_same_handle_stands_in_for_a_damaged_one(tmp_path: Path) -> None:
    """S2.4: it has the same text; which capture answered is said."""
    store, said = opened(tmp_path)
    older, newer = published(store, b"took 1.5s\n"), published(store, b"took 2.5s\n")
    assert older.handle == newer.handle
    assert store.totals()[0] == 2
    manifest_path(store, newer).write_bytes(b"{")
    found = store.find(older.handle)
    assert (found.manifest, found.ordinal, found.captures) == (older, 2, 2)
    assert "set aside" in said[0]
    assert store.find(older.handle).manifest == older


def test_a_handle_whose_only_manifest_is_damaged_is_damaged_and_not_unknown(tmp_path: Path) -> None:
    store, said = opened(tmp_path)
    manifest = published(store, b"one\n")
    assert store.totals()[0] == 1
    manifest_path(store, manifest).write_bytes(b"{")
    for _ in range(2):
        with pytest.raises(DamagedError, match="damaged"):
            store.manifest(manifest.handle)
    assert len(said) == 2


def test_a_blob_that_is_gone_is_damage_and_not_an_unknown_run(shell: Shell) -> None:
    """S2.5: the address is right, the store is not."""
    document = shell.ingest(b"one\ntwo\n")
    (blob,) = [path for path in (shell.store / "blobs").rglob("*") if path.is_file()]
    blob.unlink()
    done = shell.ctx("get", f"run:{document['handle']}#stdout", "--lines", "1:1")
    assert (done.returncode, done.stdout) == (3, b"")
    assert blob.name.encode() in done.stderr
    assert b"capture the same command again" in done.stderr
    shell.ingest(b"one\ntwo\n")
    assert shell.ctx("get", f"run:{document['handle']}#stdout", "--lines", "1:1").stdout == b"one\n"
