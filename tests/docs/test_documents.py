"""Documents do not rot: every command in them runs, prints what they show, and every list in them is whole."""

import json
import re
import subprocess
import sys
from collections.abc import Iterable, Iterator
from importlib.util import module_from_spec, spec_from_file_location
from pathlib import Path

import pytest

from ctx.canonical import VolatileClass
from ctx.cli.run import _FLAGS, _VALUED, HELP
from ctx.contracts.model import FactClass, Rung
from ctx.evidence import CENSUS_KINDS, CoverageReason
from ctx.policy import epoch
from ctx.safety.control import structural_words
from referee import protocol, summarise
from referee.arms import command
from referee.controls import NAMES
from referee.gate.reasons import HOLDING, REJECTING, ReasonCode
from referee.receipts.summary import terminal_text
from referee.stats.decide import Finding, Rule
from referee.stats.interval import Method
from tests.docs.documents import ROOT, Clone, blocks, documents, walk

NAMES_OF = {path: str(path.relative_to(ROOT)) for path in documents()}
LANGUAGES = {"console", "sh", "text", "toml", "json", "python"}


def page(name: str) -> str:
    return (ROOT / name).read_text(encoding="utf-8")


def first_cells(name: str, heading: str) -> list[str]:
    """The words in backquotes of the first column of the table whose header row begins with `heading`."""
    lines = page(name).split("\n")
    start = next(n for n, line in enumerate(lines) if line.startswith(f"| {heading} |"))
    rows = []
    for line in lines[start + 2 :]:
        if not line.startswith("|"):
            break
        rows.append(line.split(" | ")[0].removeprefix("| "))
    return [word for row in rows for word in re.findall(r"`([^`]+)`", row)]


# What is run --------------------------------------------------------------------------------------------------------


RECEIPTS = ROOT / "docs" / "receipts.md"


def problems_of(path: Path, clone: Clone) -> str:
    found = [
        f"{NAMES_OF[path]}:{step.line}: $ {step.command}\n{wrong}" for step, _, wrong in walk(path, clone) if wrong
    ]
    return "\n\n".join([*found, "python -m tests.docs.refresh puts today's output in"]) if found else ""


@pytest.mark.parametrize(
    "path",
    [p for p in documents() if "```console" in p.read_text(encoding="utf-8") and p != RECEIPTS],
    ids=NAMES_OF.get,
)
def test_every_command_prints_what_the_document_shows(path: Path, tmp_path: Path) -> None:
    assert not problems_of(path, Clone.make(tmp_path))


@pytest.fixture(scope="module")
def judged(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The receipt that the commands of docs/receipts.md write."""
    folder = tmp_path_factory.mktemp("receipts")
    assert not problems_of(RECEIPTS, Clone.make(folder))
    return folder / "clone" / "judged" / "receipt.json"


def test_the_receipt_of_the_receipts_page_has_the_paths_that_the_page_lists(judged: Path) -> None:
    """Both ways: every listed path is in the receipt that its commands write, and every path of it is listed."""
    receipt = json.loads(judged.read_bytes())
    listed = set(listed_paths()) - {"predicate.reproducible"}
    written = {generic(path) for path in leaves(receipt)}
    assert {path for path in written if not any(below(path, known) for known in listed)} == set()
    assert {known for known in listed if not any(below(path, known) for path in written)} == set()


def test_the_table_of_the_readme_is_what_a_receipt_says(judged: Path) -> None:
    """Between its marks, and nothing beside them: cut where lists are long, never altered."""
    spec = spec_from_file_location("generate", ROOT / "docs" / "generate.py")
    assert spec
    assert spec.loader
    generate = module_from_spec(spec)
    spec.loader.exec_module(generate)
    readme = generate.readme_with(judged, "before\n<!-- receipt -->\nold\n<!-- end of receipt -->\nafter\n")
    head, block, tail = re.split("<!-- receipt -->\n|<!-- end of receipt -->\n", readme)
    assert (head, tail) == ("before\n", "after\n")
    (shown,) = blocks(block)
    lines = [line for line in shown.lines if line.strip() != "..."]
    rest = iter(line.rstrip() for line in terminal_text(json.loads(judged.read_bytes())).split("\n"))
    assert all(line in rest for line in lines), "in the order in which they were printed"
    assert lines[0].startswith("verdict: ")
    assert any(line.startswith("overall: ") for line in lines)
    reasons = lines[: next(n for n, line in enumerate(lines) if line.startswith("reversals"))]
    assert sum(line.startswith("  ") for line in reasons) == generate.LISTED, "its receipt is held for more reasons"


def below(path: str, known: str) -> bool:
    """Whether a written path is a listed one, leads on from it, or is the empty list that it would stand in."""
    return path == known or path.startswith((f"{known}.", f"{known}[]")) or known.startswith(f"{path}[]")


def listed_paths() -> Iterator[str]:
    """The first column of the table of paths; `.name` has the parent of the path before it."""
    for row in page("docs/receipts.md").partition("## JSON paths")[2].partition("## Metrics")[0].split("\n"):
        parent = ""
        for word in re.findall(r"`([^`]+)`", row.split(" | ")[0]) if row.startswith("| `") else []:
            path = parent + word if word.startswith(".") else word
            parent = parent if word.startswith(".") else path.rpartition(".")[0]
            yield path


def leaves(value: object, path: str = "") -> Iterator[str]:
    """The path of everything in a document that holds nothing further."""
    if isinstance(value, dict) and value:
        for key, entry in value.items():
            yield from leaves(entry, f"{path}.{key}" if path else key)
    elif isinstance(value, list) and value:
        for entry in value:
            yield from leaves(entry, f"{path}[]")
    else:
        yield path


_FOUND = r"^(predicate\.reproducible\."
_GENERIC = (
    (_FOUND + r"families)\.[^.]+", r"\1.FAMILY"),
    (_FOUND + r"readers)\.[^.]+", r"\1.READER"),
    (_FOUND + r"(?:families\.FAMILY|overall|readers\.READER)\.arms)\.[^.]+\.[^.]+", r"\1.ARM.METRIC"),
    (_FOUND + r"(?:families\.FAMILY|overall)\.statistics)\.[^.]+", r"\1.ENDPOINT"),
    (_FOUND + r"strata)\.[^.]+\.[^.]+", r"\1.STRATUM.VALUE"),
    (r"^(predicate\.observed\.latency)\.[^.]+", r"\1.ARM"),
)


def generic(path: str) -> str:
    """A path with the names of families, arms, readers and strata taken out."""
    for form, instead in _GENERIC:
        path = re.sub(form, instead, path)
    return path


def test_what_is_not_run_is_an_installer_or_nox() -> None:
    """S17.7: blocks `sh` hold nothing else; blocks of other kinds hold no command."""
    for path in documents():
        for block in blocks(page(NAMES_OF[path])):
            where = f"{NAMES_OF[path]}:{block.first_line}"
            assert block.language in LANGUAGES, f"{where}: fence {block.language!r}"
            for line in block.lines:
                if block.language == "sh":
                    assert re.match(r"python3 -m venv \.venv && \.venv/bin/python -m pip install ", line), where
                else:
                    assert block.language == "console" or not line.startswith("$ "), where


def test_the_first_two_commands_are_the_ones_that_ci_runs() -> None:
    """`.ci/run` takes the first line of the README that ends in the session's name."""
    for session in ("receipts", "tests"):
        found = [line for line in page("README.md").split("\n") if line.endswith(f"-s {session}")]
        assert found == [
            "python3 -m venv .venv && .venv/bin/python -m pip install -q 'nox[uv]' && .venv/bin/nox -s " + session
        ]


def test_a_wrong_output_a_wrong_status_and_hidden_output_are_found(tmp_path: Path) -> None:
    """The walker itself: three documents that lie."""
    lies = {
        "output": "$ echo one\ntwo",
        "status": "$ false",
        "hidden": "$ echo one",
        "after the cut": "$ printf 'a\\nb\\n'\n...\nc",
        "name": "$ echo 0123456789ab 0123456789ac\n0123456789ab 0123456789ab",
        "time": "$ echo 3.11\n3.12",
        "a few numbers": "$ echo raw 1 2 3 4 5 6 7\nraw 1 2 3 4 5 6 8",
        "words of a measurement": "$ echo raw 1 2 3 4 5 6 7 8\nhead 1 2 3 4 5 6 7 9",
    }
    for number, (lie, text) in enumerate(lies.items()):
        document = tmp_path / f"{number}.md"
        document.write_text(f"```console\n{text}\n```\n", encoding="utf-8")
        folder = tmp_path / str(number)
        folder.mkdir()
        assert [wrong for _, _, wrong in walk(document, Clone.make(folder)) if wrong], lie


def test_a_document_is_followed_as_a_newcomer_would(tmp_path: Path) -> None:
    """Folder and status are kept, files are saved where the text says, names stand for what came in their place."""
    document = tmp_path / "page.md"
    document.write_text(
        "Save as `sub/a.txt`:\n\n```text\n1.25s\nlast\n```\n\n"
        "```console\n$ cd sub\n$ cat a.txt; (exit 3)\n0.07s\n...\n$ echo $?\n3\n"
        "$ echo raw 1 2 3 4 5 6 7 8.5\n  raw  11 12 13 14 15 16 17 1,800\n"
        "$ echo fedcba987654\n0123456789ab\n$ echo 0123456789ab\n0123456789ab\n```\n",
        encoding="utf-8",
    )
    assert [wrong for _, _, wrong in walk(document, Clone.make(tmp_path)) if wrong] == []


# What is generated ----------------------------------------------------------------------------------------------------


def test_generated_pages_are_up_to_date() -> None:
    """S17.7: docs/cli.md, and the table in the README where receipts are committed."""
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "generate.py"), "--check"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 0, done.stderr


def test_the_help_of_run_lists_the_options_that_it_takes() -> None:
    """It is not made by the command framework, so nothing else holds the two together."""
    assert sorted(re.findall(r"^  (--[a-z]+)", HELP, re.MULTILINE)) == sorted((*_VALUED, *_FLAGS))


def test_every_command_has_its_section_with_an_example_and_exit_statuses() -> None:
    """S17.2."""
    sections = re.split(r"^## ", page("docs/cli.md"), flags=re.MULTILINE)[1:]
    assert [section.split("\n")[0] for section in sections][:6] == [
        "ctx run", "ctx ingest", "ctx get", "ctx search", "ctx stats", "ctx explain",
    ]  # fmt: skip
    for section in sections:
        assert "Example: " in section, section.split("\n")[0]
        if not section.split("\n")[0].endswith(" list"):
            assert re.search(r"exit status", section, re.IGNORECASE), section.split("\n")[0]


# What is referred to --------------------------------------------------------------------------------------------------


def test_every_link_leads_to_a_file() -> None:
    for path in documents():
        for target in re.findall(r"\]\(([^)#]+)(?:#[^)]*)?\)", page(NAMES_OF[path])):
            if "://" not in target and not target.startswith("receipts/core/"):
                assert (path.parent / target).exists(), f"{NAMES_OF[path]}: {target}"


def test_every_document_that_code_refers_to_exists() -> None:
    """Messages and comments of ctx, referee and the session file."""
    files = [*(ROOT / "ctx").rglob("*.py"), *(ROOT / "referee").rglob("*.py"), ROOT / "noxfile.py"]
    named = {
        (str(file.relative_to(ROOT)), name)
        for file in files
        for name in re.findall(r"\bdocs/[\w./-]+\w", file.read_text(encoding="utf-8"))
    }
    assert named
    assert [pair for pair in sorted(named) if not (ROOT / pair[1]).exists()] == []


def test_shown_files_are_the_files_in_examples() -> None:
    """What a page shows of an example is the example."""
    shown = {
        "docs/profiles.md": "examples/profile/ctx_checks/checks.toml",
        "docs/arms.md": "examples/arm/firstlast.toml",
        "docs/protocols.md": "examples/protocol/checks.toml",
        "docs/epochs.md": "examples/epoch/2026-lean.toml",
    }
    for document, file in shown.items():
        (block,) = [block for block in blocks(page(document)) if block.language == "toml"]
        assert "\n".join(block.lines) + "\n" == page(file), document


def test_the_example_tests_pass() -> None:
    done = subprocess.run(
        [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"],
        cwd=ROOT / "examples" / "profile", capture_output=True, text=True, timeout=60,
    )  # fmt: skip
    assert done.returncode == 0, done.stdout


# Lists that are closed in the code, and whole in the documents -------------------------------------------------------


def whole(found: Iterable[str], known: Iterable[object]) -> None:
    assert sorted(found) == sorted(map(str, known))


def test_digests_page_lists_lines_rungs_reasons_and_masks() -> None:
    whole(first_cells("docs/digests.md", "begins with"), ["FAMILY:", *structural_words()])
    whole(first_cells("docs/digests.md", "rung"), Rung)
    whole(first_cells("docs/digests.md", "reason"), CoverageReason)
    whole(re.findall(r"`<([a-z_]+)>`", page("docs/digests.md")), VolatileClass)


def test_profiles_page_lists_fact_classes_and_census_kinds() -> None:
    whole(first_cells("docs/profiles.md", "fact class"), FactClass)
    sentence = re.search(r"kinds ((?:`[a-z_]+`,?\s+?)+)", page("docs/profiles.md").replace("`.", "` "))
    assert sentence
    whole(re.findall(r"`([a-z_]+)`", sentence[1]), CENSUS_KINDS)


def test_keys_of_arm_files_protocols_and_epochs_are_whole() -> None:
    whole(first_cells("docs/arms.md", "key"), [*command._TEXTS, *command._LISTS, "timeout_seconds"])
    whole(first_cells("docs/protocols.md", "key"), protocol._TOP)
    found = {word.split(".")[0] for word in first_cells("docs/epochs.md", "key") if not word.startswith(".")}
    whole(found, epoch._TOP)
    defaults = [word for word in first_cells("docs/epochs.md", "key") if word.startswith("defaults.")]
    whole(defaults, [f"defaults.{name}" for name in epoch._DEFAULTS])


def test_receipts_page_lists_reasons_metrics_and_controls() -> None:
    lines = [line.split(" | ")[:2] for line in page("docs/receipts.md").split("\n")]
    codes = {code.strip("`"): verdict.removeprefix("| ") for verdict, code in filter(lambda c: len(c) == 2, lines)}
    listed = {name: verdict for name, verdict in codes.items() if verdict in ("reject", "hold", "promote")}
    assert listed == {
        str(code): "reject" if code in REJECTING else "hold" if code in HOLDING else "promote" for code in ReasonCode
    }
    whole(first_cells("docs/receipts.md", "control"), NAMES)
    whole(
        first_cells("docs/receipts.md", "metric"),
        ["rows", "cases", *summarise.MEANS, *summarise.SUMS, "deterministic", "undefined"],
    )


def test_programs_page_lists_the_keys_of_every_document(tmp_path: Path) -> None:
    clone = Clone.make(tmp_path)

    def keys(command: str) -> list[str]:
        (line,) = clone.run(command)
        return list(json.loads(line))

    ingest = "ctx ingest --exit-code 1 --stdout corpora/core/cases/pytest/slow-killed/stdout.txt --json -- pytest"
    whole(first_cells("docs/programs.md", "key"), keys(ingest))
    documents_of = re.findall(r"^\| `(ctx [^`]+) --json` \| (.+) \|$", page("docs/programs.md"), re.MULTILINE)
    assert len(documents_of) == 5
    for line, listed in documents_of:
        words = line.replace("RUN", "run:last").replace("ADDRESS", "run:last#stdout").replace("TEXT", "test_quick")
        whole(re.findall(r"`(\w+)`", listed), keys(f"{words} --json"))


def test_statistics_page_lists_methods_verdicts_and_rules() -> None:
    whole(first_cells("docs/statistics.md", "`method`"), Method)
    whole(first_cells("docs/statistics.md", "`verdict`"), Finding)
    whole(first_cells("docs/statistics.md", "`rule`"), Rule)
    whole(first_cells("docs/statistics.md", "endpoint"), protocol.ENDPOINTS)


def test_corpora_page_lists_the_keys_of_the_loader() -> None:
    source = page("referee/corpus/layout.py")
    meta = re.search(r"meta\.known\((.*?)\)", source, re.DOTALL)
    truth = re.search(r"truth\.known\((.*?)\)", source, re.DOTALL)
    assert meta
    assert truth
    whole(first_cells("docs/corpora.md", "`meta.json`"), re.findall(r'"(\w+)"', meta[1]))
    whole(first_cells("docs/corpora.md", "`truth.json`"), re.findall(r'"(\w+)"', truth[1]))


def test_session_table_of_contributing_names_real_sessions() -> None:
    sessions = re.findall(r"^@nox\.session\ndef (\w+)", page("noxfile.py"), re.MULTILINE)
    named = [word for cell in first_cells("CONTRIBUTING.md", "session") for word in cell.split()[2:]]
    whole(named, sessions)
