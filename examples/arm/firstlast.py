"""A small tool that shortens output, as an example of what an arm file describes.

firstlast.py              stdin, with the middle left out, and the address of the whole
firstlast.py get ID       the whole again
firstlast.py grep WORD    its lines that hold a word
"""

import sys
from hashlib import sha256
from pathlib import Path

EDGE = 40
KEPT = Path.home() / ".firstlast"


def shorten(text: str) -> str:
    lines = text.splitlines(keepends=True)
    if len(lines) <= 2 * EDGE:
        return text
    name = sha256(text.encode()).hexdigest()[:8]
    KEPT.mkdir(exist_ok=True)
    (KEPT / name).write_text(text, encoding="utf-8")
    mark = f"... {len(lines) - 2 * EDGE} lines omitted (firstlast get {name})\n"
    return "".join([*lines[:EDGE], mark, *lines[-EDGE:]])


def main() -> int:
    match sys.argv[1:]:
        case []:
            sys.stdout.write(shorten(sys.stdin.buffer.read().decode("utf-8", "replace")))
        case ["--version"]:
            print("firstlast 1.0")
        case ["get", name] if (KEPT / name).is_file():
            sys.stdout.write((KEPT / name).read_text(encoding="utf-8"))
        case ["grep", word]:
            texts = [path.read_text(encoding="utf-8") for path in sorted(KEPT.glob("*"))]
            hits = [line for text in texts for line in text.splitlines() if word in line]
            print("\n".join(hits))
            return 0 if hits else 1
        case words:
            print(f"firstlast: {' '.join(words)}: nothing there", file=sys.stderr)
            return 1
    return 0


if __name__ == "__main__":
    sys.exit(main())
