"""Counting a corpus."""

from pathlib import Path

from referee.corpus import corpus_stats, freeze_corpus, load_corpus, render_stats


def test_stats_count_by_family_origin_and_cluster(unfrozen: Path) -> None:
    """Every count is over cases; bytes are those of both streams."""
    freeze_corpus(unfrozen, "1", name="small")
    corpus = load_corpus(unfrozen)
    stats = corpus_stats(corpus)
    assert stats.cases == 1
    assert stats.items == 2
    assert stats.clusters == {"example": 1}
    assert stats.origins == {"captured": 1}
    assert stats.answers == {"identities": 1}
    assert stats.strata == {"outcome": {"fail": 1}, "size": {"small": 1}}
    assert stats.output_bytes == stats.largest_bytes == len(corpus.cases[0].stdout)
    assert stats.families["pytest"].tools == {"pytest": 1}
    assert render_stats(stats).startswith("corpus small version 1: 1 cases, 1 clusters, 2 truth items")
