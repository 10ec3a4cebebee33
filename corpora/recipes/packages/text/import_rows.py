"""Imports rows in batches; the last lines give the total. `import_rows.py BATCHES`."""

import random
import sys

from planted import record

batches = int(sys.argv[1])
draw = random.Random(19)
rejected = 0
lines = []
for n in range(1, batches + 1):
    bad = draw.choice((0, 0, 0, 0, 1, 2))
    rejected += bad
    lines.append(f"batch {n}: 500 rows read, {500 - bad} stored, {bad} rejected")
record(decisive=[f"rejected rows in total: {rejected}"], items=[], answer=rejected)
print("\n".join(lines))
print(f"rejected rows in total: {rejected}")
print("finished without fatal errors")
