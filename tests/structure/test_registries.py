"""Lists that must agree with the files they speak of (S4.10, S5.0.4, S5.0.12)."""

from importlib import import_module
from pathlib import Path

import pytest

from ctx.contracts.load import load_contract, packaged_families
from ctx.contracts.model import BUILT_IN_FAMILIES, GENERIC
from ctx.digest import _PROFILES
from ctx.digest.base import Profile
from tests.structure.source_tree import ROOT

FAMILIES = [profile.family for profile in _PROFILES]


def test_every_profile_has_a_contract_and_every_contract_a_profile() -> None:
    """S4.10; `generic` is for families without a file of their own."""
    assert sorted([*FAMILIES, GENERIC]) == sorted(packaged_families())
    assert len(set(FAMILIES)) == len(FAMILIES)


@pytest.mark.parametrize("profile", _PROFILES, ids=FAMILIES)
def test_profile_contract_and_module_bear_one_name(profile: Profile) -> None:
    """S5.0.12: `ctx/digest/<family>prof.py`, `ctx/contracts/<family>.toml`, `<family>/vN`."""
    loaded = profile.loaded()
    contract = load_contract(profile.family)
    assert type(loaded).__module__ == f"ctx.digest.{profile.family}prof"
    assert loaded.version == profile.version == contract.profile
    assert contract.family == profile.family
    assert profile.family in BUILT_IN_FAMILIES


def test_text_is_the_last_profile_and_pytest_stands_before_lint() -> None:
    """S5.0.4: specific before general."""
    assert FAMILIES[-1] == "text"
    assert FAMILIES.index("pytest") < FAMILIES.index("lint")


@pytest.mark.parametrize("family", FAMILIES)
def test_the_docstring_of_a_family_has_its_fixed_headings(family: str) -> None:
    """S5.0.13: recognises, extracts, complete when, loses, content classes, example."""
    text = (import_module(f"ctx.digest.{family}prof").__doc__ or "").lower()
    for heading in ("recognises", "extracts", "complete when", "loses", "content classes", "example"):
        assert heading in text, heading


@pytest.mark.parametrize("family", FAMILIES)
def test_a_family_has_cases_in_the_corpus(family: str) -> None:
    assert len(list((ROOT / "corpora" / "core" / "cases" / family).glob("*/meta.json"))) >= 10


def test_fixed_names_are_where_readers_look_for_them() -> None:
    """DESIGN 2: names that profiles, tests and readers of the specification rely on."""
    for module, names in {
        "ctx.evidence": ("EvidenceItem", "EvidenceGraph", "CoverageReceipt"),
        "ctx.digest.base": ("Profile", "DigestContext"),
        "ctx.digest": ("_PROFILES", "render_run_digest"),
        "ctx.digest.evidence_render": ("render_fail_evidence",),
        "ctx.policy.plan": ("DeliveryPlan",),
        "ctx.policy.resolve": ("resolve",),
        "ctx": ("digest_output", "Store", "Profile"),
        "referee": ("run",),
    }.items():
        for name in names:
            assert hasattr(import_module(module), name), f"{module}.{name}"
    for test in ("test_coverage_profiles.py", "test_contract_conformance.py", "test_pytest_census.py"):
        assert Path(ROOT, "tests", test).is_file()
