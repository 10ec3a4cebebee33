"""Profiles of third parties: found by entry point, in their place in the order, with the contract beside them.

A distribution is written by hand: a module, its contract, and the metadata folder that an installer would write.
"""

import sys
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from ctx.api import digest_output
from ctx.digest import profiles_in_order

CONTRACT = """
schema = "ctx.evidence-contract/v1"
family = "{family}"
profile = "{family}/v1"
decision_unit = "line"
question = "What did it say?"
unacceptable = "A line that is neither shown nor addressed."
[outcomes.default]
required = ["omission_address"]
[rendering]
hard_ceiling_tokens = {ceiling}
"""

PROFILE = """
import ctx
from ctx.digest.textprof import TextProfile


class Own(TextProfile):
    version = "{family}/v1"
    {extra}

    def detect(self, context):
        return "says beacon" if "beacon" in context.stdout.line(1) else None
"""

Install = Callable[..., None]


@pytest.fixture
def install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[Install]:
    """Puts a distribution with one profile on the path; what it imported is forgotten afterwards."""
    monkeypatch.syspath_prepend(str(tmp_path))
    before = set(sys.modules)

    def write(module: str, source: str, target: str, contract: str = "", family: str = "") -> None:
        package = tmp_path / module
        package.mkdir()
        (package / "__init__.py").write_text(source, encoding="utf-8")
        if contract:
            (package / f"{family}.toml").write_text(contract, encoding="utf-8")
        info = tmp_path / f"{module}-1.dist-info"
        info.mkdir()
        (info / "METADATA").write_text(f"Metadata-Version: 2.1\nName: {module}\nVersion: 1\n", encoding="utf-8")
        (info / "entry_points.txt").write_text(f"[ctx.profiles]\n{module} = {target}\n", encoding="utf-8")

    yield write
    for name in set(sys.modules) - before:
        del sys.modules[name]


def versions() -> list[str]:
    """The order of detection."""
    return [profile.version for profile in profiles_in_order()]


def test_a_profile_of_a_third_party_stands_before_text(install: Install) -> None:
    """S5.0.4."""
    install("beacon_one", PROFILE.format(family="beacon", extra=""), "beacon_one:Own")
    assert versions() == ["pytest/v1", "lint/v1", "beacon/v1", "text/v1"]


def test_it_comes_before_the_built_in_of_its_family_only_if_it_says_so(install: Install) -> None:
    """S5.0.4."""
    install("lint_first", PROFILE.format(family="lint", extra="before_built_in = True"), "lint_first:Own")
    install("lint_later", PROFILE.format(family="lint", extra=""), "lint_later:Own")
    from ctx.digest.lazy import LazyProfile

    order = [(profile.family, isinstance(profile, LazyProfile)) for profile in profiles_in_order()]
    assert order == [("pytest", True), ("lint", False), ("lint", True), ("lint", False), ("text", False)]


def test_the_contract_beside_the_profile_is_the_one_that_holds(install: Install) -> None:
    """S4.9: its ceiling of 300 tok bounds the digest; the built-in contracts have 4,000."""
    contract = CONTRACT.format(family="beacon", ceiling=300)
    install("beacon_two", PROFILE.format(family="beacon", extra=""), "beacon_two:Own", contract, "beacon")
    text = b"beacon\n" + b"".join(b"step %d went on for a while and is done now\n" % n for n in range(900))
    rendered = digest_output(text, argv=("beacon",), exit_code=1)
    assert rendered.family == "beacon"
    assert rendered.plan.token_budget <= 300
    assert rendered.digest_tokens <= 300


def test_a_faulty_contract_beside_a_profile_is_named_with_its_key(install: Install) -> None:
    """S4.9: the same checks as for the built-in ones."""
    contract = CONTRACT.format(family="beacon", ceiling=0)
    install("beacon_three", PROFILE.format(family="beacon", extra=""), "beacon_three:Own", contract, "beacon")
    with pytest.raises(Exception, match=r"beacon\.toml: rendering\.hard_ceiling_tokens: 0 is no positive integer"):
        digest_output(b"beacon\n", exit_code=0)


@pytest.mark.parametrize(
    ("source", "target", "said"),
    [
        ("import a_module_that_is_not_there\n", "broken:Own", "No module named 'a_module_that_is_not_there'"),
        ("Own = dict\n", "broken:Own", "makes a dict, not a ctx.Profile"),
        ("", "broken:Own", "has no attribute 'Own'"),
        ("import ctx\nclass Own(ctx.Profile):\n    pass\n", "broken:Own", "has no attribute 'version'"),
    ],
)
def test_a_profile_that_cannot_be_loaded_declines_and_says_why(
    install: Install, source: str, target: str, said: str
) -> None:
    """S5.0.4: a broken distribution costs nobody a digest."""
    install("broken", source, target)
    rendered = digest_output(b"beacon\n", exit_code=0)
    assert rendered.family == "text"
    reasons = dict(rendered.meta.declined)
    assert said in reasons["broken/not-loaded"]
