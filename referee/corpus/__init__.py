"""Corpora: the format and its loader, freezing, checking, counting."""

from referee.corpus.freeze import freeze_corpus
from referee.corpus.layout import Corpus, Manifest, load_case, load_corpus, load_manifest
from referee.corpus.stats import CorpusStats, corpus_stats, render_stats
from referee.corpus.verify import expected_answers, verify_corpus

__all__ = [
    "Corpus",
    "CorpusStats",
    "Manifest",
    "corpus_stats",
    "expected_answers",
    "freeze_corpus",
    "load_case",
    "load_corpus",
    "load_manifest",
    "render_stats",
    "verify_corpus",
]
