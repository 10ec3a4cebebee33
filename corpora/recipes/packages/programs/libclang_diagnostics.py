"""Print the diagnostics of libclang for a command line, one JSON line each; run with Debian's python3-clang."""

import json
import sys

from clang import cindex

LEVELS = {0: "ignored", 1: "note", 2: "warning", 3: "error", 4: "fatal error"}
unit = cindex.Index.create().parse(None, args=sys.argv[1:])
for found in unit.diagnostics:
    place = found.location
    row = {"file": place.file.name if place.file else "", "line": place.line, "column": place.column}
    print(json.dumps({**row, "severity": LEVELS[found.severity], "message": found.spelling, "option": found.option}))
