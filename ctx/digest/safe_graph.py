"""Secrets masked in the facts of a graph, before anything is measured, rendered, stored or written out (S7.9, S18.3).

Quoted lines and summaries are masked where they are made; names are facts of the tool and come as it printed them, so
they pass here: an identity is never cut or re-cased, but a secret inside it is a secret.
"""

from collections.abc import Iterator
from dataclasses import replace
from typing import Any

from ctx.digest.base import DigestContext
from ctx.evidence import EvidenceGraph, EvidenceItem, ItemKind, Location
from ctx.safety.redact import Redactor

_QUOTING = (ItemKind.LINE, ItemKind.TEMPLATE)
"""Kinds whose identity is a captured line, or the shape of one."""


def safe_graph(graph: EvidenceGraph, ctx: DigestContext) -> EvidenceGraph:
    """`graph` with every secret in its facts masked; the same object where there is none."""
    redactor = ctx.redactor
    joined = "\n".join(text.replace("\n", " ") for text in _texts(graph))
    hidden = {name: _key_lines(ctx, name) for name in ctx.streams}
    if redactor.redact(joined) == joined and not any(hidden.values()):
        return graph
    return replace(
        graph,
        items=tuple(
            _safe_item(item, redactor, in_key=item.source.first_line in hidden.get(item.source.stream, frozenset()))
            for item in graph.items
        ),
        warnings=tuple(replace(w, message=redactor.redact(w.message)) for w in graph.warnings),
        headline=redactor.redact(graph.headline),
        aggregate={redactor.redact(name): count for name, count in graph.aggregate.items()},
    )


def _texts(graph: EvidenceGraph) -> Iterator[str]:
    yield graph.headline
    yield from graph.aggregate
    for warning in graph.warnings:
        yield warning.message
    for item in graph.items:
        yield item.identity
        if isinstance(item.location, Location):
            yield item.location.file
        yield str(item.failure_class)
        yield str(item.summary)
        for value in item.fields.values():
            if isinstance(value, str):
                yield value


def _key_lines(ctx: DigestContext, stream: str) -> frozenset[int]:
    """Raw lines of `stream` that are text of a private key."""
    view = ctx.streams[stream]
    return frozenset(view.raw_line(number) for number in ctx.key_lines(stream))


def _safe_item(item: EvidenceItem, redactor: Redactor, *, in_key: bool) -> EvidenceItem:
    if in_key and item.kind in _QUOTING:
        shown = redactor.key_line(item.identity)
        fields = {name: shown if name == "template" else value for name, value in item.fields.items()}
        return replace(item, identity=shown, summary=_redacted(item.summary, redactor), fields=fields)
    place = item.location
    return replace(
        item,
        identity=redactor.redact(item.identity),
        location=replace(place, file=redactor.redact(place.file)) if isinstance(place, Location) else place,
        failure_class=_redacted(item.failure_class, redactor),
        summary=_redacted(item.summary, redactor),
        fields={name: _redacted(value, redactor) for name, value in item.fields.items()},
    )


def _redacted(value: Any, redactor: Redactor) -> Any:
    """A text with its secrets masked; what is no text (a number, a missing value) as it is."""
    return redactor.redact(value) if type(value) is str else value
