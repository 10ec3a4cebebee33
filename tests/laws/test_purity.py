"""Law: rendering reads no clock, environment, locale, file, random number or global (S7.1).

Every door to such a thing is replaced by one that raises while a digest is made; what a renderer needs must have come
in as an argument.
"""

import builtins
import io
import locale
import os
import random
import socket
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from ctx.contracts.load import load_contract
from ctx.digest import evidence_render, measure
from ctx.evidence import EvidenceGraph, ExcerptRole
from ctx.policy.epoch import active_epoch
from ctx.policy.plan import Bounds, DeliveryPlan
from ctx.policy.resolve import DENSE_STEPS, FAIL_STEPS, FLOOD_STEPS, PASS_STEPS, resolve, step_plan
from tests.laws.graphs import failing, graph_of, quoted

STEPS = (*PASS_STEPS, *FAIL_STEPS, *DENSE_STEPS, *FLOOD_STEPS)


class RefusedError(AssertionError):
    """A pure function asked the world."""


class _Environment(dict[str, str]):
    """An environment that may not be looked at."""

    def __getitem__(self, key: str) -> str:
        raise RefusedError(f"os.environ[{key!r}]")

    def get(self, key: str, default: object = None) -> str:  # type: ignore[override]
        raise RefusedError(f"os.environ.get({key!r})")

    def __contains__(self, key: object) -> bool:
        raise RefusedError(f"{key!r} in os.environ")

    def __iter__(self) -> Iterator[str]:
        raise RefusedError("iteration over os.environ")


def sealed(monkeypatch: pytest.MonkeyPatch) -> None:
    """From here to the end of the test the world outside the arguments raises."""

    def refuse(name: str) -> object:
        def door(*_: object, **__: object) -> object:
            raise RefusedError(name)

        return door

    for module, names in (
        (time, ("time", "time_ns", "monotonic", "perf_counter", "localtime", "gmtime", "strftime")),
        (random, ("random", "randrange", "choice", "shuffle", "sample")),
        (os, ("getenv", "urandom", "getcwd", "getpid", "listdir", "stat", "open")),
        (locale, ("getlocale", "localeconv", "getpreferredencoding")),
        (socket, ("socket",)),
        (subprocess, ("Popen",)),
        (builtins, ("open",)),
        (io, ("open",)),
    ):
        for name in names:
            monkeypatch.setattr(module, name, refuse(f"{module.__name__}.{name}"))
    monkeypatch.setattr(os, "environ", _Environment())


@pytest.fixture
def graph() -> EvidenceGraph:
    items = tuple(
        failing(f"tests/test_a.py::test_{n}", line=10 * n + 1, failure=f"Error{n % 3}", summary=f"said {n % 5}")
        for n in range(30)
    )
    windows = (quoted(ExcerptRole.CONCLUSION, 99_000, ["30 failed in <elapsed>", "and a line more"]),)
    return graph_of(items, excerpts=windows)


@pytest.mark.parametrize("step", STEPS)
def test_every_step_renders_without_asking_the_world(
    step: str, graph: EvidenceGraph, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Rendered first with the doors open (modules load once), then with all of them shut: the same bytes."""
    contract = load_contract("pytest")
    plan = step_plan(step, token_budget=900)
    open_world = evidence_render.render_fail_evidence(graph, contract, plan)
    sealed(monkeypatch)
    shut_world = evidence_render.render_fail_evidence(graph, contract, plan)
    monkeypatch.undo()
    assert shut_world == open_world


def test_measuring_and_resolving_ask_the_world_nothing(graph: EvidenceGraph, monkeypatch: pytest.MonkeyPatch) -> None:
    """S6.1, S6.3: both are functions of their arguments."""
    contract, epoch = load_contract("pytest"), active_epoch()

    def decided() -> tuple[dict[str, int], DeliveryPlan]:
        sizes = measure.measure(graph, contract)
        bounds = Bounds(
            raw_tokens=9000, sizes=sizes, floor_tokens=contract.floor_tokens, ceiling_tokens=contract.ceiling_tokens
        )
        return sizes, resolve(graph, contract, bounds, epoch=epoch)

    first = decided()
    sealed(monkeypatch)
    second = decided()
    monkeypatch.undo()
    assert second == first


def test_the_seal_shuts_the_doors(monkeypatch: pytest.MonkeyPatch) -> None:
    """A test of the test: each kind of door raises."""
    sealed(monkeypatch)
    for door in (time.time, random.random, os.getcwd, lambda: os.environ["HOME"], Path("/dev/null").read_bytes):
        with pytest.raises(RefusedError):
            door()
