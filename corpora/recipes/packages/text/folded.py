"""Thousands of equal lines, one that differs in one character."""

import sys

from planted import record

bad = "node 0417 heartbeat ok (term 92)"
record(decisive=[bad], items=[{"identity": bad, "kind": "line"}])
for n in range(4000):
    print(bad if n == 2617 else "node 0417 heartbeat ok (term 91)")
