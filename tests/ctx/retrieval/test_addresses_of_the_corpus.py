"""[law] S8.4: every address that a digest prints resolves to exactly the bytes it claims.

Over cases of the shipped corpus: every family, passing and failing, plain and coloured, small and flood, both streams.
The bytes are cut from the files of the case here, without any code of ours.
"""

import json
import re
from pathlib import Path

import pytest

from ctx.api import digest_output
from ctx.store import Store

CORE = Path(__file__).resolve().parents[3] / "corpora" / "core" / "cases"
CASES = [path for family in ("pytest", "lint", "text") for path in sorted((CORE / family).iterdir()) if path.is_dir()]


def chosen() -> list[Path]:
    """Some cases of each family, spread over its names; those with two streams among them."""
    found: list[Path] = []
    for family in ("pytest", "lint", "text"):
        cases = [path for path in CASES if path.parent.name == family]
        found += cases[:: max(1, len(cases) // 8)]
    found += [path for path in CASES if all((path / f"{s}.txt").stat().st_size > 2000 for s in ("stdout", "stderr"))][
        :4
    ]
    return sorted(set(found))


def lines_of(data: bytes) -> list[bytes]:
    """Lines with their ends; LF ends one and nothing else does."""
    lines = data.split(b"\n")
    return [line + b"\n" for line in lines[:-1]] + ([lines[-1]] if lines[-1] else [])


@pytest.fixture(scope="module")
def seen() -> dict[str, int]:
    """How many addresses of each kind the cases have printed."""
    return {}


@pytest.mark.parametrize("case", chosen(), ids=lambda path: f"{path.parent.name}/{path.name}")
def test_every_printed_address_gives_the_bytes_it_claims(case: Path, tmp_path: Path, seen: dict[str, int]) -> None:
    meta = json.loads((case / "meta.json").read_bytes())
    raw = {name: (case / f"{name}.txt").read_bytes() for name in ("stdout", "stderr")}
    store = Store(tmp_path / "store")
    rendered = digest_output(
        raw["stdout"],
        raw["stderr"],
        argv=meta["argv"],
        exit_code=meta["exit_code"],
        signal=meta.get("signal"),
        ended_by=meta["ended_by"],
        store=store,
    )
    printed = re.findall(r"run:[0-9a-f]{12}(?:#\w+)?(?: --(?:lines \d+:\d+|span [0-9a-f]{10}))?", rendered.text)
    own = [address for address in printed if address.startswith(f"run:{rendered.meta.handle[:12]}")]
    bare = {f"run:{rendered.meta.handle[:12]}"}
    assert set(own) - bare <= set(rendered.addresses) | {a.partition(" ")[0] for a in rendered.addresses}
    for address in rendered.addresses:
        base, _, selector = address.partition(" ")
        stream = base.partition("#")[2]
        got = store.read(address)
        kind = f"{stream} {selector.partition(' ')[0]}".strip()
        seen[kind] = seen.get(kind, 0) + 1
        if selector.startswith("--lines") and stream in raw:
            first, last = map(int, selector.split()[1].split(":"))
            assert 1 <= first <= last <= len(lines_of(raw[stream]))
            assert got == b"".join(lines_of(raw[stream])[first - 1 : last])
        elif selector.startswith("--span"):
            assert got
            if b"\x1b" not in raw[stream]:
                assert got in raw[stream]
        elif stream == "census":
            assert all(item.identity in got.decode() for item in rendered.graph.items if item.kind == "failure")
        elif stream in raw:
            assert got == raw[stream]
        else:
            assert got


def test_the_cases_print_addresses_of_every_kind(seen: dict[str, int]) -> None:
    """The law is not held by cases that print nothing."""
    assert {"stdout --lines", "stderr --lines"} <= set(seen)
    assert sum(seen.values()) > 60
