"""What a corpus holds, counted: by family, tool, origin, stratum, cluster, question; bytes."""

from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass

from referee.cases import Case
from referee.corpus.layout import Corpus


@dataclass(frozen=True, kw_only=True, slots=True)
class FamilyStats:
    """One family of a corpus."""

    cases: int
    clusters: int
    """Distinct source repositories."""
    items: int
    output_bytes: int
    tools: Mapping[str, int]
    """Cases by tool; keys sorted."""


@dataclass(frozen=True, kw_only=True, slots=True)
class CorpusStats:
    """Counts over the cases of a corpus; every mapping has sorted keys."""

    name: str
    version: str
    cases: int
    clusters: Mapping[str, int]
    """Cases by source repository."""
    families: Mapping[str, FamilyStats]
    origins: Mapping[str, int]
    answers: Mapping[str, int]
    """Cases by answer type of the question."""
    strata: Mapping[str, Mapping[str, int]]
    """Stratum to value to cases; a case without the stratum counts as `-`."""
    items: int
    output_bytes: int
    largest_bytes: int
    """Output of the largest case."""


def corpus_stats(corpus: Corpus) -> CorpusStats:
    """Counts over `corpus`; reads the sizes of the outputs, not the bytes."""
    cases = corpus.cases
    sizes = {case.id: _output_bytes(case) for case in cases}
    families = {
        family: _family([c for c in cases if c.family == family], sizes) for family in sorted({c.family for c in cases})
    }
    names = sorted({name for case in cases for name in case.strata})
    return CorpusStats(
        name=corpus.name,
        version=corpus.version,
        cases=len(cases),
        clusters=_counted(case.source_repo for case in cases),
        families=families,
        origins=_counted(case.origin for case in cases),
        answers=_counted(case.question.answer.value for case in cases),
        strata={name: _counted(case.strata.get(name, "-") for case in cases) for name in names},
        items=sum(len(case.truth.items) for case in cases),
        output_bytes=sum(sizes.values()),
        largest_bytes=max(sizes.values(), default=0),
    )


def render_stats(stats: CorpusStats) -> str:
    """The counts as a table for people, ending in a line feed."""
    lines = [
        f"corpus {stats.name} version {stats.version}: {stats.cases} cases, {len(stats.clusters)} clusters, "
        f"{stats.items} truth items, {stats.output_bytes:,} bytes of output (largest case {stats.largest_bytes:,})",
        "",
        f"{'family':<10} {'cases':>6} {'clusters':>9} {'items':>7} {'bytes':>12}  tools",
    ]
    for name, family in stats.families.items():
        tools = ", ".join(f"{tool} {number}" for tool, number in family.tools.items())
        lines.append(
            f"{name:<10} {family.cases:>6} {family.clusters:>9} {family.items:>7} {family.output_bytes:>12,}  {tools}"
        )
    lines.append("")
    for title, counts in (("origin", stats.origins), ("answer", stats.answers), *stats.strata.items()):
        lines.append(f"{title:<18} " + ", ".join(f"{name} {number}" for name, number in counts.items()))
    lines.append("")
    lines.append("clusters           " + ", ".join(f"{name} {number}" for name, number in stats.clusters.items()))
    return "\n".join(lines) + "\n"


def _family(cases: list[Case], sizes: Mapping[str, int]) -> FamilyStats:
    return FamilyStats(
        cases=len(cases),
        clusters=len({case.source_repo for case in cases}),
        items=sum(len(case.truth.items) for case in cases),
        output_bytes=sum(sizes[case.id] for case in cases),
        tools=_counted(case.tool for case in cases),
    )


def _counted(values: Iterable[str]) -> dict[str, int]:
    return dict(sorted(Counter(values).items()))


def _output_bytes(case: Case) -> int:
    return sum((case.folder / stream).stat().st_size for stream in ("stdout.txt", "stderr.txt"))
