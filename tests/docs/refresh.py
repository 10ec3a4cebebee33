"""Put what the commands of documents print today into the documents: ``python -m tests.docs.refresh [FILE…]``.

Outputs that hold a line ``...`` were cut by hand; they are left as they are, and named where they no longer fit.
"""

import sys
import tempfile
from pathlib import Path

from tests.docs.documents import Clone, documents, walk


def refresh(path: Path) -> int:
    """Rewrite one document; the number of outputs that need a hand."""
    lines = path.read_text(encoding="utf-8").split("\n")
    moved = by_hand = 0
    with tempfile.TemporaryDirectory() as folder:
        for step, printed, wrong in walk(path, Clone.make(Path(folder))):
            if not wrong:
                continue
            if "..." in step.shown or not step.shown:
                print(f"{path.name}:{step.line}: $ {step.command}\n{wrong}\n")
                by_hand += 1
                continue
            first = step.output_line - 1 + moved
            lines[first : first + len(step.shown)] = [line.rstrip() for line in printed]
            moved += len(printed) - len(step.shown)
    path.write_text("\n".join(lines), encoding="utf-8")
    return by_hand


def main() -> int:
    """The documents that are named, or all of them."""
    paths = [Path(word).resolve() for word in sys.argv[1:]] or documents()
    return 1 if sum(map(refresh, paths)) else 0


if __name__ == "__main__":
    sys.exit(main())
