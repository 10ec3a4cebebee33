"""The rules, one function each, and the decision over all of them (S15.7).

Refuse unless shown: nothing to count is no pass. No gain offsets a reason to reject, and every reason that applies is
listed with its cases.
"""

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from referee.gate.reasons import HOLDING, REJECTING, Decision, Reason, ReasonCode, Verdict
from referee.protocol import Protocol
from referee.score import Row
from referee.stats.decide import Finding
from referee.summarise import no_gain, preserved

CASES_LISTED = 40


@dataclass(frozen=True, kw_only=True, slots=True)
class Evidence:
    """What the gate decides over."""

    protocol: Protocol
    rows: Sequence[Row]
    families: Mapping[str, Mapping[str, Any]]
    """Family -> endpoint -> statistics."""
    overall: Mapping[str, Any]
    """Endpoint -> statistics."""
    controls: Sequence[Mapping[str, Any]] = ()
    expected_families: Sequence[str] = ()
    """Families whose profile is judged: each needs cases."""
    exploratory: bool = False
    committed: bool = True
    protocol_changed: bool = False
    subject_problems: Sequence[str] = field(default=())

    @property
    def treatment(self) -> list[Row]:
        """Rows of the treatment, one a case (the metrics of a delivery do not depend on its reader)."""
        return list({row.case: row for row in self.rows if row.arm == self.protocol.treatment}.values())


def _counted(evidence: Evidence, code: ReasonCode, of: Callable[[Row], int], one: str, more: str) -> Iterator[Reason]:
    for family in sorted({row.family for row in evidence.treatment}):
        hit = [row for row in evidence.treatment if row.family == family and of(row)]
        if hit:
            cases = tuple(row.case for row in hit[:CASES_LISTED])
            count = sum(map(of, hit))
            yield Reason(code=code, family=family, cases=cases, detail=f"{count} {one if count == 1 else more}")


def false_claims(evidence: Evidence) -> Iterator[Reason]:
    """Any claim that truth denies."""
    return _counted(evidence, ReasonCode.FALSE_CLAIM, lambda row: row.false_claims, "false claim", "false claims")


def undeclared_omissions(evidence: Evidence) -> Iterator[Reason]:
    """Any truth item that is neither visible nor covered by a mark."""
    return _counted(
        evidence,
        ReasonCode.UNDECLARED_OMISSION,
        lambda row: row.undeclared_omissions,
        "undeclared omission",
        "undeclared omissions",
    )


def unresolvable_addresses(evidence: Evidence) -> Iterator[Reason]:
    """Any printed address that fails or gives other bytes."""
    return _counted(
        evidence,
        ReasonCode.UNRESOLVABLE_ADDRESS,
        lambda row: row.unresolvable_addresses,
        "address that does not resolve",
        "addresses that do not resolve",
    )


def catastrophic_losses(evidence: Evidence) -> Iterator[Reason]:
    """Any identity that is neither inline nor addressable: every contract calls that catastrophic."""
    return _counted(evidence, ReasonCode.CATASTROPHIC_LOSS, lambda row: row.lost, "identity lost", "identities lost")


def nondeterminism(evidence: Evidence) -> Iterator[Reason]:
    """Any digest whose bytes differ over repeats or environments."""
    return _counted(
        evidence,
        ReasonCode.NONDETERMINISTIC_DIGEST,
        lambda row: int(not row.deterministic),
        "digest that differs",
        "digests that differ",
    )


def small_outputs(evidence: Evidence) -> Iterator[Reason]:
    """Any small output that costs more tokens than raw."""
    return _counted(
        evidence,
        ReasonCode.SMALL_OUTPUT_OVERHEAD,
        lambda row: row.small_output_overhead or 0,
        "token over raw",
        "tokens over raw",
    )


def family_reversals(evidence: Evidence) -> Iterator[Reason]:
    """A family in which success or preservation is worse beyond its margin."""
    margin = evidence.protocol.margin_family_reversal
    for family, found in evidence.families.items():
        for endpoint in ("success", "preservation"):
            difference = found[endpoint]["difference"]
            if difference is not None and difference < -margin:
                cases = tuple(
                    sorted({row.case for row in evidence.rows if row.family == family and _worse(evidence, row)})
                )
                detail = f"{endpoint} {difference:+.3f}, margin {margin}"
                yield Reason(code=ReasonCode.FAMILY_REVERSAL, family=family, cases=cases[:CASES_LISTED], detail=detail)


def _worse(evidence: Evidence, row: Row) -> bool:
    if row.arm != evidence.protocol.treatment:
        return False
    for other in evidence.rows:
        if other.arm == evidence.protocol.baseline and (other.case, other.reader) == (row.case, row.reader):
            return other.success > row.success or preserved(other) > preserved(row)
    return False


def _found(evidence: Evidence, endpoint: str, finding: Finding) -> Iterator[str]:
    """Groups in which an endpoint's finding is `finding`: families by name, all of them together as ``""``."""
    if evidence.overall and evidence.overall[endpoint]["verdict"] == finding:
        yield ""
    for family, found in evidence.families.items():
        if found[endpoint]["verdict"] == finding:
            yield family


def inferior(evidence: Evidence) -> Iterator[Reason]:
    """Success or preservation shown to be worse than the margin, over all families or in one."""
    for endpoint, code in (
        ("success", ReasonCode.INFERIOR_SUCCESS),
        ("preservation", ReasonCode.INFERIOR_PRESERVATION),
    ):
        for family in _found(evidence, endpoint, Finding.INFERIOR):
            found = evidence.families[family] if family else evidence.overall
            yield Reason(code=code, family=family, detail=f"difference {found[endpoint]['difference']:+.4f}")


def inconclusive(evidence: Evidence) -> Iterator[Reason]:
    """An interval that decides nothing, over all families or in one."""
    for endpoint in ("success", "preservation"):
        for family in _found(evidence, endpoint, Finding.INCONCLUSIVE):
            yield Reason(code=ReasonCode.INCONCLUSIVE, family=family, detail=f"{endpoint} decides nothing")
        if not evidence.overall:
            yield Reason(code=ReasonCode.INCONCLUSIVE, detail=f"{endpoint}: no pairs at all")


def clusters(evidence: Evidence) -> Iterator[Reason]:
    """Too few clusters for the statistics to mean anything."""
    least = evidence.protocol.minimum_clusters
    for family, found in evidence.families.items():
        count = found["success"]["clusters"]
        if count < least:
            yield Reason(
                code=ReasonCode.TOO_FEW_CLUSTERS, family=family, detail=f"{count} clusters, {least} are needed"
            )
    if not evidence.families:
        yield Reason(code=ReasonCode.TOO_FEW_CLUSTERS, detail="no pairs at all")


def registration(evidence: Evidence) -> Iterator[Reason]:
    """A protocol that was not on record, or was changed, or judged a part of its corpus."""
    if evidence.exploratory:
        yield Reason(code=ReasonCode.EXPLORATORY, detail="no protocol, or a part of its corpus")
    if not evidence.committed:
        yield Reason(code=ReasonCode.UNCOMMITTED_PROTOCOL, detail="commit the protocol file, then run again")
    if evidence.protocol_changed:
        yield Reason(code=ReasonCode.PROTOCOL_CHANGED, detail="a receipt of this name has another protocol digest")


def gain(evidence: Evidence) -> Iterator[Reason]:
    """Neither fewer tokens nor more success."""
    if not evidence.overall or no_gain(evidence.overall):
        yield Reason(code=ReasonCode.NO_GAIN, detail="neither fewer tokens nor more success was shown")


def families_present(evidence: Evidence) -> Iterator[Reason]:
    """A judged family without a case."""
    for family in evidence.expected_families:
        if family not in evidence.families:
            yield Reason(code=ReasonCode.FAMILY_MISSING, family=family, detail="no case of this family")


def arm_errors(evidence: Evidence) -> Iterator[Reason]:
    """A treatment that broke on a case."""
    hit = [row for row in evidence.treatment if row.arm_error]
    if hit:
        cases = tuple(row.case for row in hit[:CASES_LISTED])
        yield Reason(code=ReasonCode.ARM_ERRORS, cases=cases, detail=hit[0].arm_error)


def controls_held(evidence: Evidence) -> Iterator[Reason]:
    """A control that did not hold: the referee itself cannot be trusted."""
    for control in evidence.controls:
        if not control["held"]:
            yield Reason(code=ReasonCode.CONTROL_FAILED, detail=f"{control['name']}: {control['detail']}")


def subjects(evidence: Evidence) -> Iterator[Reason]:
    """What was judged is not what stands in the tree."""
    for problem in evidence.subject_problems:
        yield Reason(code=ReasonCode.SUBJECT_MISMATCH, detail=problem)


RULES: tuple[Callable[[Evidence], Iterator[Reason]], ...] = (
    false_claims,
    undeclared_omissions,
    unresolvable_addresses,
    catastrophic_losses,
    nondeterminism,
    family_reversals,
    inferior,
    small_outputs,
    inconclusive,
    clusters,
    registration,
    gain,
    families_present,
    arm_errors,
    controls_held,
    subjects,
)


def decide(evidence: Evidence) -> Decision:
    """The verdict over all rules."""
    found = [reason for rule in RULES for reason in rule(evidence)]
    if any(reason.code in REJECTING for reason in found):
        verdict = Verdict.REJECT
    elif any(reason.code in HOLDING for reason in found):
        verdict = Verdict.HOLD
    else:
        verdict = Verdict.PROMOTE
        found = [Reason(code=ReasonCode.ALL_RULES_MET)]
    return Decision(verdict=verdict, reasons=tuple(found))
