"""Verifying: an altered corpus and truth that the bytes do not bear out are refused (S14.3, S15.8, S19.62)."""

import json
from collections.abc import Callable
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest

from referee.corpus import expected_answers, freeze_corpus, load_case, verify_corpus
from referee.corpus.screen import screen_text
from referee.corpus.verify import MAX_CORPUS_BYTES, check_cases, check_size

CASE = "cases/pytest/two-failures"


def test_an_untouched_corpus_has_no_problem(unfrozen: Path) -> None:
    """The control of the tests below."""
    freeze_corpus(unfrozen, "1")
    assert verify_corpus(unfrozen) == []


def test_one_altered_byte_is_refused(unfrozen: Path) -> None:
    """S19.62: one byte of the output."""
    freeze_corpus(unfrozen, "1")
    path = unfrozen / CASE / "stdout.txt"
    path.write_bytes(path.read_bytes().replace(b"2 passed", b"3 passed"))
    problems = verify_corpus(unfrozen)
    assert f"{CASE}/stdout.txt: its SHA-256 differs from MANIFEST.json" in problems


def test_one_altered_truth_field_is_refused(unfrozen: Path) -> None:
    """S19.62: one truth field, here one that stays consistent in itself."""
    freeze_corpus(unfrozen, "1")
    path = unfrozen / CASE / "truth.json"
    truth = json.loads(path.read_text())
    truth["counts"]["passed"] = 3
    path.write_text(json.dumps(truth))
    assert verify_corpus(unfrozen) == [f"{CASE}/truth.json: its SHA-256 differs from MANIFEST.json"]


@pytest.mark.parametrize("place", ["notes.txt", "cases/pytest/extra.txt"])
def test_one_unlisted_file_is_refused(unfrozen: Path, place: str) -> None:
    """S14.3: an unlisted file, wherever it lies."""
    freeze_corpus(unfrozen, "1")
    (unfrozen / place).write_text("x")
    assert f"{place}: not listed in MANIFEST.json" in verify_corpus(unfrozen)


def test_one_missing_file_is_refused(unfrozen: Path) -> None:
    """S14.3: a listed file that is gone."""
    freeze_corpus(unfrozen, "1")
    (unfrozen / CASE / "channel.json").unlink()
    problems = verify_corpus(unfrozen)
    assert f"{CASE}/channel.json: listed in MANIFEST.json, but missing" in problems


def test_a_corpus_without_manifest_is_refused(unfrozen: Path) -> None:
    """Nothing is judged that is not frozen."""
    assert any("referee corpus freeze" in problem for problem in verify_corpus(unfrozen))


def test_an_altered_manifest_is_refused(unfrozen: Path) -> None:
    """A digest in the manifest that is no digest is located."""
    freeze_corpus(unfrozen, "1")
    path = unfrozen / "MANIFEST.json"
    path.write_text(path.read_text().replace('"files":{', '"files":{"x":"1",'))
    assert any(
        "MANIFEST.json: files: expected an object of paths to 64 hex digits" in p for p in verify_corpus(unfrozen)
    )


BAD_TRUTH: list[tuple[str, dict[str, Any], str]] = [
    ("decisive string not printed", {"decisive": ["9 failed"]}, "decisive[0]: does not occur in the output"),
    ("decisive string overwritten on screen", {"decisive": ["working 10%"]}, "decisive[0]: does not occur"),
    ("blank decisive string", {"decisive": ["  "]}, "decisive[0]: must not be blank"),
    ("truth from the extractor", {"channel": "ctx"}, "is the extractor under test"),
    ("truth from the extractor, spelt out", {"channel": "extractor: pytest/v2"}, "is the extractor under test"),
    ("failed against items", {"counts": {"failed": 3, "passed": 2}}, "failed and errors are 3, but 2 items"),
    (
        "errors against kinds",
        {
            "counts": {"failed": 2, "errors": 0},
            "items": [{"id": "t.py::test_a"}, {"id": "t.py::test_b[x - y]", "kind": "erroring_test"}],
        },
        "the items' kinds say otherwise",
    ),
    ("item count", {"counts": {"items": 5}}, "items is 5, but 2 are listed"),
    ("unnamed too many", {"counts": {"failed": 2, "unnamed": 1}}, "2 items and 1 unnamed"),
    ("pass with failures", {"outcome": "pass"}, "outcome: pass, but something failed"),
    ("channel digest", {"channel_digest": "0" * 64}, "is not the SHA-256 of channel.json"),
    ("no channel digest", {"channel_digest": None}, "channel_digest: missing"),
    ("identity made up", {"items": [{"id": "zz.py::none"}, {"id": "t.py::test_a"}]}, "nothing of it occurs"),
]  # fmt: skip


@pytest.mark.parametrize(("truth", "problem"), [row[1:] for row in BAD_TRUTH], ids=[row[0] for row in BAD_TRUTH])
def test_truth_that_the_bytes_do_not_bear_out_is_refused(
    edit_case: Callable[..., Path], truth: dict[str, Any], problem: str
) -> None:
    """S14.3: each rule refuses on its own."""
    assert any(problem in found for found in check_cases(edit_case(truth=truth)))


BAD_META: list[tuple[str, dict[str, Any], str]] = [
    ("captured without recipe", {"recipe": ""}, "recipe: a captured case must name it"),
    ("captured without licence", {"licence": ""}, "licence: a captured case must name it"),
    ("exit without a status", {"exit_code": None, "ended_by": "exit"}, "'exit' needs an exit_code"),
    (
        "line question with two answers",
        {"question": {"text": "Which?", "answer": {"type": "line", "pattern": "", "scope": ""}, "words": []}},
        "needs one item in truth, found 2",
    ),
    (
        "pattern that is the answer",
        {
            "question": {
                "text": "?",
                "answer": {"type": "identities", "pattern": r"t\.py::test_a|t.py.*", "scope": ""},
                "words": [],
            }
        },
        "pattern: gives the answer away",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("meta", "problem"), [row[1:] for row in BAD_META], ids=[row[0] for row in BAD_META])
def test_meta_that_contradicts_itself_is_refused(
    edit_case: Callable[..., Path], meta: dict[str, Any], problem: str
) -> None:
    """S14.2, S14.3: provenance, ending and question."""
    assert any(problem in found for found in check_cases(edit_case(meta=meta)))


STRICT: list[tuple[str, dict[str, Any], dict[str, Any], str]] = [
    (
        "identity that nothing prints as a whole",
        {},
        {"items": [{"identity": "t.py::test_a"}, {"identity": "t.py::test_c"}]},
        "'t.py::test_c': name does not occur in the output",
    ),
    (
        "diagnostic whose message nothing prints",
        {},
        {
            "items": [{"identity": "t.py:2: none such", "kind": "diagnostic", "file": "t.py", "message": "none such"}],
            "counts": {},
        },
        "message does not occur in the output",
    ),
    ("unknown stratum", {"strata": {"colour": "red"}}, {}, "strata: colour: unknown stratum"),
    (
        "pattern that fits no answer",
        {"question": {"text": "?", "answer": {"type": "identities", "pattern": "^[0-9]+$", "scope": ""}, "words": []}},
        {},
        "pattern: does not fit the answer",
    ),
    (
        "number that nothing prints",
        {"question": {"text": "How many?", "answer": {"type": "count", "pattern": "", "scope": ""}, "words": []}},
        {"counts": {"answer": 77}},
        "the number 77 does not occur",
    ),
]  # fmt: skip


@pytest.mark.parametrize(("meta", "truth", "problem"), [row[1:] for row in STRICT], ids=[row[0] for row in STRICT])
def test_strict_checking_holds_a_corpus_to_more(
    edit_case: Callable[..., Path], meta: dict[str, Any], truth: dict[str, Any], problem: str
) -> None:
    """S14.2: the raw output answers the question. Other people's corpora are warned by controls, not refused."""
    corpus = edit_case(meta=meta, truth=truth)
    assert any(problem in found for found in check_cases(corpus, strict=True))
    assert check_cases(corpus) == []


def test_a_private_channel_is_committed_to_by_its_digest(unfrozen: Path) -> None:
    """S14.4: truth may be sealed; the shipped corpus keeps the bytes beside the case."""
    (unfrozen / CASE / "channel.json").unlink()
    assert check_cases(unfrozen) == []
    assert any("found 0" in problem for problem in check_cases(unfrozen, strict=True))


@pytest.mark.parametrize(
    ("answer", "truth", "expected"),
    [
        ("outcome", {}, ["fail"]),
        ("identities", {}, ["t.py::test_a", "t.py::test_b[x - y]"]),
        ("count", {"counts": {"answer": 2, "failed": 2}}, ["2"]),
        ("count", {"counts": {"rows": 4}}, ["4"]),
        ("count", {}, ["2"]),
        ("value", {"items": [], "counts": {}, "decisive": ["working 100%"]}, ["working 100%"]),
        ("line", {"items": [{"id": "working 100%"}], "counts": {}}, ["working 100%"]),
    ],
)
def test_answers_follow_from_truth(
    edit_case: Callable[..., Path], answer: str, truth: dict[str, Any], expected: list[str]
) -> None:
    """S14.2: each answer type has one place in truth."""
    question = {"text": "?", "answer": {"type": answer, "pattern": None, "scope": None}, "words": []}
    corpus = edit_case(meta={"question": question}, truth=truth)
    assert expected_answers(load_case(corpus / CASE)) == expected


def test_generated_cases_need_no_recipe(edit_case: Callable[..., Path]) -> None:
    """S14.3 asks captured cases only."""
    assert check_cases(edit_case(meta={"origin": "generated", "recipe": "", "licence": ""})) == []


def test_counts_may_exceed_items_by_what_the_output_does_not_name(edit_case: Callable[..., Path]) -> None:
    """`unnamed` is the channel's total minus the named items."""
    truth = {"counts": {"failed": 9, "unnamed": 7}}
    assert check_cases(edit_case(truth=truth)) == []


def test_two_channel_files_are_refused(unfrozen: Path) -> None:
    """The kept bytes of the channel are one file."""
    (unfrozen / CASE / "channel.xml").write_text("<x/>")
    assert any("expected one file channel.<ext>" in problem for problem in check_cases(unfrozen))


def test_a_forbidden_word_is_found_in_names_and_bytes(unfrozen: Path) -> None:
    """The word list keeps names of the capturing machine out of a corpus."""
    (unfrozen / "LICENCES.md").write_text("captured on build-host-7\n")
    freeze_corpus(unfrozen, "1")
    found = verify_corpus(unfrozen, forbidden_words=["build-host-7", "two-failures"])
    assert "LICENCES.md: holds the forbidden text 'build-host-7'" in found
    assert any(problem.startswith(CASE) for problem in found)


def test_a_corpus_over_the_size_limit_is_refused(tmp_path: Path) -> None:
    """At most 40 MB: a sparse file stands for a large one."""
    large = tmp_path / "large"
    with large.open("wb") as out:
        out.truncate(MAX_CORPUS_BYTES + 1)
    assert check_size({"large": large}) == [f"corpus: {MAX_CORPUS_BYTES + 1} bytes; at most {MAX_CORPUS_BYTES}"]


@pytest.mark.parametrize(
    ("raw", "text"),
    [
        (b"\x1b[31mred\x1b[0m \x1b(Bplain", "red plain"),
        (b"10%\r100%\r\nend\r\n", "100%\nend\n"),
        (b"longer\rab", "abnger"),
        (b"a\x1b]8;;https://example.invalid\x1b\\link\x1b]8;;\x07b", "alinkb"),
        (b"abc\x08\x08x", "ax"),
        (b"caf\xe9", "caf\ufffd"),
        ("né".encode("utf-16"), "né"),
        (b"\x1b]0;never ended\nnext", "\nnext"),
    ],
)
def test_the_screen_shows_what_a_terminal_would(raw: bytes, text: str) -> None:
    """Decisive strings are looked for after escape removal and carriage return resolution (S14.3, S5.0.3)."""
    assert screen_text(raw) == text


def test_digest_of_the_channel_is_of_its_bytes(unfrozen: Path) -> None:
    """S14.3: the bytes of the channel are kept, and the digest is theirs."""
    truth = json.loads((unfrozen / CASE / "truth.json").read_text())
    assert truth["channel_digest"] == sha256((unfrozen / CASE / "channel.json").read_bytes()).hexdigest()
