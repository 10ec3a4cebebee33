"""Profiles that are broken on purpose, one fault each: what the gate must reject (DESIGN 14).

They are named in arm specs (`ctx+tests.referee.broken_profiles:DropsIdentity`), so that other processes can make them.
"""

import os
from dataclasses import replace

import ctx


def usual_text(given: "ctx.DigestContext") -> str:
    """What the shipped profile delivers where nothing is stored: no address in it."""
    facts = given.manifest
    return ctx.digest_output(
        given.streams["stdout"].raw,
        given.streams["stderr"].raw,
        argv=facts.argv,
        exit_code=facts.exit_code,
        ended_by=facts.ended_by,
    ).text


class DropsIdentity(ctx.PytestProfile):
    """Lists all failing tests but the last, says so, and gives no way to the rest: a catastrophic fact is lost."""

    def render(self, given):
        graph = self.extract(given)
        names = sorted({item.identity for item in graph.items if str(item.kind) in ("failing_test", "load_error")})
        if not names:
            return None
        rows = [f"  {name}" for name in names[:-1]]
        return "\n".join([f"pytest: FAIL {len(names)} failing tests, 1 not shown", "failing: some tests", *rows, ""])


class ClaimsComplete(ctx.PytestProfile):
    """Says that its census is complete, whatever was cut upstream."""

    def extract(self, given):
        graph = super().extract(given)
        coverage = replace(
            graph.coverage, expected=graph.coverage.parsed, input_truncated=False, reasons=(), complete=True
        )
        return replace(graph, coverage=coverage)


class PrintsDeadAddress(ctx.PytestProfile):
    """Prints an address that nothing stands behind."""

    def render(self, given):
        if given.manifest.exit_code == 0:
            return None
        return usual_text(given) + "next: ctx get run:00000000dead#stdout\n"


class Nondeterministic(ctx.PytestProfile):
    """Prints other bytes each time."""

    def render(self, given):
        if given.manifest.exit_code == 0:
            return None
        return usual_text(given) + f"mark: {os.urandom(4).hex()}\n"


class HidesIdentity(ctx.PytestProfile):
    """Leaves the last failing test out of the facts and says nothing; the whole output stays addressed."""

    def extract(self, given):
        graph = super().extract(given)
        failing = [item for item in graph.items if str(item.kind) == "failing_test"]
        last = failing[-1:] and failing[-1].identity
        return replace(graph, items=tuple(item for item in graph.items if item.identity != last))


class Raises(ctx.PytestProfile):
    """Cannot render."""

    def render(self, given):
        raise RuntimeError("this profile is broken")
