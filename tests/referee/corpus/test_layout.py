"""Loading a corpus: every mistake of a folder is reported, with path and key (S14.1, S14.2)."""

import json
from collections.abc import Callable
from pathlib import Path

import pytest

from referee.cases import AnswerType
from referee.corpus import freeze_corpus, load_case, load_corpus
from referee.errors import CorpusError


def case_folder(corpus: Path) -> Path:
    return corpus / "cases" / "pytest" / "two-failures"


def problems_of(corpus: Path) -> list[str]:
    with pytest.raises(CorpusError) as caught:
        load_case(case_folder(corpus))
    return list(caught.value.problems)


def test_a_frozen_corpus_loads_with_typed_records(unfrozen: Path) -> None:
    """S14.1: the case record holds what meta.json and truth.json say."""
    digest = freeze_corpus(unfrozen, "3", name="small")
    corpus = load_corpus(unfrozen)
    assert (corpus.name, corpus.version, corpus.manifest_digest) == ("small", "3", digest)
    (case,) = corpus.cases
    assert case.id == "pytest/two-failures"
    assert case.question.answer is AnswerType.IDENTITIES
    assert [item.identity for item in case.truth.items] == ["t.py::test_a", "t.py::test_b[x - y]"]
    assert case.truth.items[0].line == 3
    assert case.truth.items[1].line is None
    assert case.stdout.startswith(b"..\x1b[31mF")
    assert case.stderr == b""


def test_cases_are_sorted_by_id(unfrozen: Path, edit_case: Callable[..., Path]) -> None:
    """S14.1: the order of cases does not depend on the file system."""
    for name in ("zeta", "alpha"):
        folder = unfrozen / "cases" / "pytest" / name
        folder.mkdir()
        for file in case_folder(unfrozen).iterdir():
            (folder / file.name).write_bytes(file.read_bytes())
        meta = json.loads((folder / "meta.json").read_text())
        (folder / "meta.json").write_text(json.dumps({**meta, "id": name}))
    freeze_corpus(unfrozen, "1")
    assert [case.id for case in load_corpus(unfrozen).cases] == ["pytest/alpha", "pytest/two-failures", "pytest/zeta"]


def test_several_mistakes_are_reported_at_once(edit_case: Callable[..., Path]) -> None:
    """STYLE, errors: a file with five mistakes reports five, each with its key."""
    corpus = edit_case(
        meta={"argv": "pytest", "origin": "capture", "exit_code": "1", "colour": "red", "duration_ms": -1},
        truth={"outcome": "failed", "items": [{"line": 3}]},
    )
    found = "\n".join(problems_of(corpus))
    for expected in (
        "meta.json: argv: expected a list of texts",
        "meta.json: origin: 'capture' is none of captured, generated, made; did you mean 'captured'?",
        'meta.json: exit_code: expected a whole number or null, found "1"',
        "meta.json: colour: unknown key",
        "meta.json: duration_ms: expected a whole number, 0 or more, found -1",
        "truth.json: outcome: 'failed' is none of pass, fail, unknown",
        "truth.json: items[0]: identity: missing",
    ):
        assert expected in found


def test_a_misspelt_item_key_is_named_and_a_foreign_one_is_let_through(edit_case: Callable[..., Path]) -> None:
    """The format lets an item carry extras of its channel, never a misspelling of a known key."""
    extras = edit_case(truth={"items": [{"id": "t.py::test_a", "worker": "gw1"}, {"identity": "t.py::test_b[x - y]"}]})
    assert load_case(case_folder(extras)).truth.items[0].identity == "t.py::test_a"
    misspelt = edit_case(truth={"items": [{"identity": "t.py::test_a", "mesage": "x"}]})
    assert any("items[0]: mesage: unknown key; did you mean 'message'?" in p for p in problems_of(misspelt))


@pytest.mark.parametrize("key", ["id", "family", "argv", "exit_code", "origin", "question"])
def test_a_missing_required_key_is_named(edit_case: Callable[..., Path], key: str) -> None:
    """S14.1: the keys a case cannot do without."""
    assert any(f"meta.json: {key}: missing" in problem for problem in problems_of(edit_case(drop=(key,))))


@pytest.mark.parametrize("key", ["outcome", "counts", "items", "decisive", "channel"])
def test_a_missing_truth_key_is_named(edit_case: Callable[..., Path], key: str) -> None:
    """S14.1: truth without one of these is none."""
    assert any(f"truth.json: {key}: missing" in problem for problem in problems_of(edit_case(drop=(key,))))


def test_an_item_may_be_named_by_its_parts(edit_case: Callable[..., Path]) -> None:
    """A diagnostic of a machine-readable report has a place and a message, and no identity of its own."""
    parts = {"file": "a.c", "line": 3, "column": 5, "code": "-Wx", "message": "unused"}
    corpus = edit_case(truth={"items": [{**parts, "kind": "diagnostic"}], "counts": {}})
    assert load_case(case_folder(corpus)).truth.items[0].identity == "a.c:3:5: -Wx unused"


def test_optional_texts_may_be_null(edit_case: Callable[..., Path]) -> None:
    """`null` is how other programs write an absent text."""
    case = load_case(case_folder(edit_case(meta={"recipe": None, "licence": None, "strata": {"size": 3}})))
    assert (case.recipe, case.licence, case.strata) == ("", "", {"size": "3"})


def test_a_broken_pattern_and_answer_type_are_named(edit_case: Callable[..., Path]) -> None:
    """S14.2: closed answer types, and a pattern that compiles."""
    question = {"text": "Which?", "answer": {"type": "identity", "pattern": "(", "scope": ""}, "words": []}
    found = "\n".join(problems_of(edit_case(meta={"question": question})))
    assert "answer: type: 'identity' is none of" in found
    assert "answer: pattern: not a regular expression" in found


def test_a_missing_stream_is_named(unfrozen: Path) -> None:
    """S14.1: an empty stream is an empty file, a missing one is an error."""
    (case_folder(unfrozen) / "stdout.txt").unlink()
    assert any("stdout.txt: missing file" in problem for problem in problems_of(unfrozen))


@pytest.mark.parametrize("body", [b"", b"{", b"[]", b"null", b'{"id": 1, "id": 2}', b"\xff"])
def test_a_document_that_is_no_object_is_refused(unfrozen: Path, body: bytes) -> None:
    """A truncated, doubled or undecodable document is an error with its path, never a crash."""
    (case_folder(unfrozen) / "meta.json").write_bytes(body)
    assert any("meta.json" in problem for problem in problems_of(unfrozen))


def test_family_and_id_follow_the_folder(edit_case: Callable[..., Path]) -> None:
    """S14.1: `cases/<family>/<case>/`."""
    found = "\n".join(problems_of(edit_case(meta={"family": "lint", "id": "lint/other"})))
    assert "family: 'lint' is not the parent folder 'pytest'" in found
    assert "id: 'lint/other' is neither" in found


def test_no_manifest_says_what_to_run(unfrozen: Path) -> None:
    """A folder that is not frozen names the command that freezes it."""
    with pytest.raises(CorpusError, match="referee corpus freeze"):
        load_corpus(unfrozen)


@pytest.mark.parametrize("name", ["nowhere", "file"])
def test_no_folder_is_an_error(tmp_path: Path, name: str) -> None:
    """A missing folder and a file are one clear message."""
    (tmp_path / "file").write_text("x")
    with pytest.raises(CorpusError, match=r"no such folder|not a folder"):
        load_corpus(tmp_path / name)


def test_a_corpus_without_cases_is_an_error(unfrozen: Path) -> None:
    """Refuse unless shown: nothing to count is no pass (S15.7)."""
    freeze_corpus(unfrozen, "1")
    for file in case_folder(unfrozen).iterdir():
        file.unlink()
    case_folder(unfrozen).rmdir()
    with pytest.raises(CorpusError, match="no case"):
        load_corpus(unfrozen)


def test_half_a_surrogate_pair_is_no_text(edit_case: Callable[..., Path]) -> None:
    """JSON can spell it, nothing can write it; it would stop a run at its end."""
    corpus = edit_case(truth={"decisive": ["\ud800"]})
    assert problems_of(corpus) == ["pytest/two-failures/truth.json: holds half of a surrogate pair, which is no text"]
