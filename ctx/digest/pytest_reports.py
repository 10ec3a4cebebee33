"""Machine-readable reports of pytest: JUnit XML, JSON lines (`--report-log`), JSON (`pytest-json-report`)."""

from ctx.digest.base import DigestContext
from ctx.evidence import EvidenceGraph
from ctx.text import StreamView


def report_shape(data: bytes) -> str | None:
    return None


def read_report(ctx: DigestContext, view: StreamView) -> EvidenceGraph | None:
    return None
