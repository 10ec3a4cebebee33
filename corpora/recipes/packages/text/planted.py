"""What a generating program planted in its own output: written beside the output, to the file named by `PLANTED`."""

import json
import os


def record(*lines, decisive=(), answer=None, items=None):
    """Note the planted lines (the items), further decisive strings, and the number that answers a count question."""
    facts = {
        "items": [{"identity": line, "kind": "line"} for line in lines] if items is None else items,
        "decisive": [*decisive] or [*lines],
        "answer": answer,
    }
    if os.environ.get("PLANTED"):
        with open(os.environ["PLANTED"], "w", encoding="utf-8") as out:
            json.dump(facts, out, ensure_ascii=False, indent=1, sort_keys=True)
            out.write("\n")
