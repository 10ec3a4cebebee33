"""The receipt document: where things stand, what may never stand in it, how it is written (S16.1 to S16.3, S16.6)."""

import csv
import json
import os
from dataclasses import replace
from hashlib import sha256
from pathlib import Path
from typing import Any

import pytest
import rfc8785

from referee.errors import EnvironmentProblem, RefereeError, UsageError
from referee.execute import Receipt, save
from referee.receipts import statement as module
from referee.receipts.schema import machine_problems, place_problems, shape_problems
from referee.receipts.statement import check_out, write_receipt
from referee.receipts.table import load_table, table_digest, table_text
from tests.referee.builders import ROW


@pytest.fixture
def document(kept: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((kept / "receipt.json").read_bytes())
    return found


def test_it_is_an_in_toto_statement_in_canonical_json(kept: Path, document: dict[str, Any]) -> None:
    """S16.1, RFC 8785."""
    assert document["_type"] == "https://in-toto.io/Statement/v1"
    assert document["predicateType"] == "urn:ctx-referee:receipt:v1"
    assert (kept / "receipt.json").read_bytes() == rfc8785.dumps(document) + b"\n"


def test_subjects_are_what_was_judged(document: dict[str, Any]) -> None:
    """Profiles of the families that were run, their contracts, the epoch, the shared pipeline; each by SHA-256."""
    names = {entry["name"].partition("/")[0] + "/" + entry["name"].partition("/")[2] for entry in document["subject"]}
    assert {"contract/pytest", "contract/text", "pipeline/ctx", "profile/pytest/v1", "profile/text/v1"} <= names
    assert any(name.startswith("epoch/") for name in names)
    assert not any("lint" in name for name in names)
    assert all(len(entry["digest"]["sha256"]) == 64 for entry in document["subject"])


def test_the_paths_that_tools_rely_on_exist(document: dict[str, Any]) -> None:
    """DESIGN 15, every one of them."""
    predicate = document["predicate"]
    found = predicate["reproducible"]
    assert found["decision"]["verdict"] in ("promote", "hold", "reject")
    assert {"code", "family", "cases"} <= set(found["decision"]["reasons"][0])
    for arm in ("ctx", "head_tail", "raw"):
        for metrics in (found["families"]["pytest"]["arms"][arm], found["overall"]["arms"][arm]):
            assert {
                "success", "turns", "tokens_delivered", "tokens_retrieved", "tokens_resident", "priced_cost",
                "identity_recall_inline", "identity_recall_addressable", "decisive_recall_inline",
                "decisive_recall_addressable", "false_claims", "undeclared_omissions", "unresolvable_addresses",
                "required_fraction", "containment", "frontier", "small_output_overhead", "deterministic",
            } <= set(metrics)  # fmt: skip
        assert set(predicate["observed"]["latency"][arm]) == {"p50_ms", "p95_ms"}
    assert found["cases_digest"].startswith("sha256:")
    assert isinstance(found["reversals"], list)
    assert isinstance(found["failures"], list)
    assert {"first_commit", "digest", "exploratory"} <= set(predicate["protocol"])
    assert predicate["arms"]["treatment"]["epoch"].partition("@")[0]
    assert predicate["environment"]["encoding_digest"].startswith("446a9538")


def test_statistics_name_pairs_clusters_and_what_could_have_been_shown(document: dict[str, Any]) -> None:
    """S15.6, S16.1."""
    found = document["predicate"]["reproducible"]["families"]["pytest"]["statistics"]["success"]
    assert {"difference", "low", "high", "p", "p_adjusted", "pairs", "clusters", "mde", "verdict"} <= set(found)
    assert (found["pairs"], found["clusters"]) == (5 * 7, 5)


def test_latency_stands_in_what_was_observed_and_nowhere_else(document: dict[str, Any]) -> None:
    """S16.2."""
    assert "latency" not in json.dumps(document["predicate"]["reproducible"])


def test_the_table_has_a_row_for_each_case_arm_and_reader_in_that_order(kept: Path, document: dict[str, Any]) -> None:
    """S16.3: sorted; its digest is in the receipt; latencies stand in a table of their own."""
    with (kept / "cases.csv").open(newline="") as file:
        rows = list(csv.DictReader(file))
    keys = [(row["case"], row["arm"], row["reader"]) for row in rows]
    assert keys == sorted(keys)
    assert len(keys) == len(set(keys)) == 6 * 8 * 7
    digest = sha256((kept / "cases.csv").read_bytes()).hexdigest()
    assert document["predicate"]["reproducible"]["cases_digest"] == f"sha256:{digest}"
    assert "latency_ms" not in rows[0]
    with (kept / "observed.csv").open(newline="") as file:
        observed = list(csv.DictReader(file))
    assert {(row["case"], row["arm"]) for row in observed} == {key[:2] for key in keys}
    assert all(float(row["latency_ms"]) >= 0 for row in observed)


def test_an_undefined_value_is_an_empty_cell_and_null_with_a_count(kept: Path, document: dict[str, Any]) -> None:
    """S14.12, S16.1: recall over an empty truth set; the passing case and the text case have no identities."""
    rows = load_table(kept / "cases.csv")
    assert {row.identity_recall_inline for row in rows if row.case == "pytest/green"} == {None}
    metrics = document["predicate"]["reproducible"]["families"]["text"]["arms"]["ctx"]
    assert metrics["identity_recall_inline"] is None
    assert metrics["undefined"]["identity_recall_inline"] == 7


def test_means_are_those_of_the_table(kept: Path, document: dict[str, Any]) -> None:
    """Worked out here from the CSV text, without the code that made them."""
    with (kept / "cases.csv").open(newline="") as file:
        own = [row for row in csv.DictReader(file) if row["arm"] == "tail" and row["family"] == "pytest"]
    metrics = document["predicate"]["reproducible"]["families"]["pytest"]["arms"]["tail"]
    assert metrics["success"] == pytest.approx(sum(row["success"] == "true" for row in own) / len(own), abs=1e-6)
    tokens = sum(int(row["tokens_delivered"]) for row in own) / len(own)
    assert metrics["tokens_delivered"] == pytest.approx(tokens, abs=1e-6)
    recalls = [float(row["identity_recall_inline"]) for row in own if row["identity_recall_inline"]]
    assert metrics["identity_recall_inline"] == pytest.approx(sum(recalls) / len(recalls), abs=1e-6)
    once = {row["case"]: int(row["undeclared_omissions"]) for row in own}
    assert metrics["undeclared_omissions"] == sum(once.values())


@pytest.mark.parametrize(
    "text",
    [
        "/home/someone/project",
        "/tmp/referee-ctx-1/blob",
        "see /var/lib/x/y",
        "C:\\Users\\x",
        "file:///etc",
        "~someone/x",
    ],
)
def test_an_absolute_path_in_the_reproducible_part_is_found(document: dict[str, Any], text: str) -> None:
    """S16.2, wherever it stands."""
    found = document["predicate"]["reproducible"]
    assert place_problems(found) == []
    found["controls"][0]["detail"] = text
    assert len(place_problems(found)) == 1
    assert "controls[0].detail" in place_problems(found)[0]


def test_a_path_that_the_corpus_holds_is_no_path_of_this_machine(document: dict[str, Any]) -> None:
    """Identities are quoted as the tool printed them; a note of the referee's own is not."""
    found = document["predicate"]["reproducible"]
    entry = {"case": "lint/x", "reader": "r", "arm": "ctx", "ending": "answer", "uncut": True}
    found["failures"] = [{**entry, "lost": ["/home/dev/a.js:3:1: no-undef"], "notes": ["undeclared: /home/dev/a.js"]}]
    assert place_problems(found) == []
    found["failures"][0]["notes"] = ["dead: /home/dev/a.js"]
    assert len(place_problems(found)) == 1


def test_names_of_this_machine_are_found(document: dict[str, Any], monkeypatch: pytest.MonkeyPatch) -> None:
    """S16.2: host, user, folders; a word that only contains the host's name is none."""
    monkeypatch.setattr("socket.gethostname", lambda: "builder7")
    monkeypatch.setattr("getpass.getuser", lambda: "root")
    found = document["predicate"]["reproducible"]
    assert machine_problems(found) == []
    for text in ("made on builder7", "root@builder7", f"in {os.getcwd()}"):
        found["controls"][0]["detail"] = text
        assert machine_problems(found), text
    found["controls"][0]["detail"] = "rebuilder7x, root"
    assert machine_problems(found) == []


def test_a_run_that_would_name_this_machine_gives_no_receipt(
    finished: Receipt, monkeypatch: pytest.MonkeyPatch, corpus: Path
) -> None:
    """The writer refuses too, not only whoever checks."""
    from referee.execute import Request, execute

    monkeypatch.setattr(module, "machine_problems", lambda found: ["reproducible.x: holds the host name"])
    with pytest.raises(RefereeError, match="host name"):
        execute(Request(corpora=(corpus,), arms=("raw", "tail"), cases=("pytest/green",), workers=1))


@pytest.mark.parametrize(
    ("path", "value"),
    [
        ("predicate.reproducible.host", "x"),
        ("predicate.protocol.digest", 3),
        ("predicate.arms.baseline", "raw"),
        ("predicate.observed.latency", None),
        ("predicate.corpora", {}),
    ],
)
def test_the_form_of_a_receipt_is_closed(document: dict[str, Any], path: str, value: object) -> None:
    """A key that is unknown or holds another kind is named by its path."""
    assert shape_problems(document) == []
    entry: Any = document
    *parents, key = path.split(".")
    for parent in parents:
        entry = entry[parent]
    entry[key] = value
    assert any(path in problem for problem in shape_problems(document))


def test_a_missing_part_is_named(document: dict[str, Any]) -> None:
    """By its path."""
    del document["predicate"]["reproducible"]["cases_digest"]
    assert shape_problems(document) == ["predicate.reproducible.cases_digest: missing"]


def test_nothing_is_left_where_a_write_fails(
    finished: Receipt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S16.6: what was there before stays, nothing partial stays beside it."""
    save(finished, tmp_path / "receipt.json")
    before = {path.name: path.read_bytes() for path in tmp_path.iterdir()}

    for working in range(4):
        calls: list[int] = []

        def full(descriptor: int, calls: list[int] = calls, working: int = working) -> None:
            calls.append(descriptor)
            if len(calls) > working:
                raise OSError(28, "No space left on device")

        monkeypatch.setattr(os, "fsync", full)
        with pytest.raises(EnvironmentProblem, match="No space left on device"):
            write_receipt(tmp_path / "receipt.json", finished.statement, [], "other", [])
        assert {path.name: path.read_bytes() for path in tmp_path.iterdir()} == before


def test_a_rename_that_fails_leaves_no_temporary_file(
    finished: Receipt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """What was renamed before it stands; the receipt is the last, so a half of it never says that it is one."""
    real = os.replace

    def refused(source: str, target: Path) -> None:
        if Path(target).name == "summary.md":
            raise OSError(30, "Read-only file system")
        real(source, target)

    monkeypatch.setattr(os, "replace", refused)
    with pytest.raises(EnvironmentProblem, match="Read-only file system"):
        save(finished, tmp_path / "receipt.json")
    assert sorted(path.name for path in tmp_path.iterdir()) == ["cases.csv", "observed.csv"]


def test_a_run_that_is_killed_while_it_writes_leaves_no_receipt(
    finished: Receipt, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """S16.6: the receipt is renamed last; what lies there is named `.partial` and refused."""
    renamed: list[str] = []

    def killed(source: str, target: Path) -> None:
        renamed.append(Path(target).name)
        raise KeyboardInterrupt

    monkeypatch.setattr(os, "replace", killed)
    with pytest.raises(KeyboardInterrupt):
        save(finished, tmp_path / "receipt.json")
    assert renamed == ["cases.csv"]
    assert not (tmp_path / "receipt.json").exists()


def test_a_partial_table_is_refused(kept: Path, tmp_path: Path) -> None:
    """S16.6."""
    partial = tmp_path / ".cases.csv.x.partial"
    partial.write_bytes((kept / "cases.csv").read_bytes())
    with pytest.raises(RefereeError, match="partial table of an interrupted run"):
        load_table(partial)


def test_the_place_of_a_receipt_is_checked_before_the_run(tmp_path: Path) -> None:
    """Nobody waits for a run that cannot be kept; a device is never replaced by a file."""
    (tmp_path / "file").write_text("x")
    for out in (tmp_path, Path("/dev/null"), tmp_path / "file" / "receipt.json", tmp_path / "cases.csv"):
        with pytest.raises(UsageError, match="--out"):
            check_out(out)
    assert Path("/dev/null").is_char_device()
    check_out(tmp_path / "new" / "receipt.json")
    assert list((tmp_path / "new").iterdir()) == []


def test_two_receipts_never_share_a_folder(copy: Path) -> None:
    """The second would take the first one's table away."""
    with pytest.raises(UsageError, match=r"receipt\.json and its tables lie there"):
        check_out(copy.parent / "second.json")
    check_out(copy)


def test_the_table_survives_being_read_and_written(kept: Path) -> None:
    """Every cell parses back to the value it was written from."""
    rows = load_table(kept / "cases.csv")
    assert table_digest(rows) == f"sha256:{sha256((kept / 'cases.csv').read_bytes()).hexdigest()}"


def test_a_cell_may_hold_anything(tmp_path: Path) -> None:
    """Line ends of every kind, quotes, commas."""
    rows = [replace(ROW, arm_error='a\r\nb\rc\nd "e", f')]
    (tmp_path / "cases.csv").write_text(table_text(rows), newline="")
    assert load_table(tmp_path / "cases.csv") == rows


@pytest.mark.parametrize(("old", "new"), [("true", "yes"), ("answer,1,", "answer,one,")])
def test_a_cell_that_cannot_be_is_refused_with_its_row(copy: Path, old: str, new: str) -> None:
    """And its column."""
    table = copy.parent / "cases.csv"
    head, _, rest = table.read_text().partition("\n")
    table.write_text(f"{head}\n{rest.replace(old, new, 1)}")
    with pytest.raises(RefereeError, match=r"cases\.csv: row \d+: "):
        load_table(table)
