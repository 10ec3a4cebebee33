"""Freezing: a version number stands for its bytes for ever (S14.4)."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path

import pytest

from referee.corpus import freeze_corpus, load_manifest
from referee.errors import CorpusError


def test_the_manifest_lists_every_file_with_its_digest(unfrozen: Path) -> None:
    """S14.1: canonical JSON, every file but the manifest."""
    digest = freeze_corpus(unfrozen, "1", created_from="recipes at 0.1.0")
    body = (unfrozen / "MANIFEST.json").read_bytes()
    document = json.loads(body)
    assert sha256(body).hexdigest() == digest
    assert body == json.dumps(document, sort_keys=True, separators=(",", ":"), ensure_ascii=False).encode()
    assert document["created_from"] == "recipes at 0.1.0"
    on_disk = {p.relative_to(unfrozen).as_posix() for p in unfrozen.rglob("*") if p.is_file()}
    assert set(document["files"]) == on_disk - {"MANIFEST.json"}
    assert document["files"]["README.md"] == sha256(b"A small corpus.\n").hexdigest()


def test_freezing_equal_bytes_again_changes_nothing(unfrozen: Path) -> None:
    """S14.4: the same bytes under the same version are the same manifest."""
    assert freeze_corpus(unfrozen, "1") == freeze_corpus(unfrozen, "1")


def test_a_frozen_version_is_not_overwritten(unfrozen: Path) -> None:
    """S14.4: other bytes need another version; the name is kept."""
    first = freeze_corpus(unfrozen, "1", name="mine")
    (unfrozen / "README.md").write_text("changed\n")
    with pytest.raises(CorpusError, match=r"version 1 is frozen and README\.md differs"):
        freeze_corpus(unfrozen, "1")
    assert load_manifest(unfrozen).digest == first
    freeze_corpus(unfrozen, "2")
    manifest = load_manifest(unfrozen)
    assert (manifest.name, manifest.version) == ("mine", "2")


def test_an_ill_formed_corpus_is_not_frozen(edit_case: Callable[..., Path]) -> None:
    """S14.3: what verify would refuse is not frozen either."""
    corpus = edit_case(truth={"decisive": ["never printed"]})
    with pytest.raises(CorpusError, match="does not occur"):
        freeze_corpus(corpus, "1")
    assert not (corpus / "MANIFEST.json").exists()


def test_links_are_refused(unfrozen: Path, tmp_path: Path) -> None:
    """A corpus holds plain files: a link would make the manifest depend on the machine."""
    (unfrozen / "notes.md").symlink_to(tmp_path / "elsewhere.md")
    with pytest.raises(CorpusError, match=r"notes\.md: a link"):
        freeze_corpus(unfrozen, "1")


@pytest.mark.parametrize("version", ["", " 1", "1 2", "1\n"])
def test_a_version_is_text_without_blanks(unfrozen: Path, version: str) -> None:
    """A version is pasted into protocols and receipts."""
    with pytest.raises(CorpusError, match="expected text without blanks"):
        freeze_corpus(unfrozen, version)
