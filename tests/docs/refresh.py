"""Put what the commands of documents print today into the documents: ``python -m tests.docs.refresh [FILE…]``.

Of an output that was cut with ``...``, each shown line is replaced by the printed line that is most like it, in order;
where nothing is like it, the document is left as it is and the place is named.
"""

import difflib
import sys
import tempfile
from pathlib import Path

from tests.docs.documents import Clone, documents, walk

LIKE = 0.5


def realigned(shown: tuple[str, ...], printed: list[str]) -> list[str] | None:
    """The shown lines as printed today, cuts kept; None where one of them has no counterpart."""
    if "..." not in shown:
        return [line.rstrip() for line in printed]
    out: list[str] = []
    position = 0
    for place, line in enumerate(shown):
        if line == "...":
            out.append(line)
            continue
        follows = place > 0 and shown[place - 1] != "..."
        candidates = range(position, min(position + 1, len(printed)) if follows or place == 0 else len(printed))
        best = max(candidates, key=lambda n: difflib.SequenceMatcher(None, line, printed[n]).ratio(), default=None)
        if best is None or (line and difflib.SequenceMatcher(None, line, printed[best]).ratio() < LIKE):
            return None
        out.append(printed[best].rstrip())
        position = best + 1
    return out


def refresh(path: Path) -> int:
    """Rewrite one document; the number of outputs that need a hand."""
    lines = path.read_text(encoding="utf-8").split("\n")
    moved = by_hand = 0
    with tempfile.TemporaryDirectory() as folder:
        for step, printed, wrong in walk(path, Clone.make(Path(folder))):
            if not wrong:
                continue
            new = realigned(step.shown, printed) if step.shown else None
            if new is None:
                print(f"{path.name}:{step.line}: $ {step.command}\n{wrong}\n")
                by_hand += 1
                continue
            first = step.output_line - 1 + moved
            lines[first : first + len(step.shown)] = new
            moved += len(new) - len(step.shown)
    path.write_text("\n".join(lines), encoding="utf-8")
    return by_hand


def main() -> int:
    """The documents that are named, or all of them."""
    paths = [Path(word).resolve() for word in sys.argv[1:]] or documents()
    return 1 if sum(map(refresh, paths)) else 0


if __name__ == "__main__":
    sys.exit(main())
