"""Copies objects, prints one line each; one single line on standard error. `sync.py OBJECTS`."""

import random
import sys

from planted import record

objects = int(sys.argv[1])
draw = random.Random(11)
bad = "sync: warehouse/2031/manifest.bin: checksum mismatch after 3 attempts, object skipped"
record(bad, decisive=[bad, f"{objects - 1} of {objects} objects copied"])
for n in range(objects):
    if n == objects * 2 // 5:
        sys.stdout.flush()
        print(bad, file=sys.stderr, flush=True)
    size = draw.randrange(1_000, 9_000_000)
    print(f"copied warehouse/{draw.randrange(2000, 2040)}/part-{n:06}.bin {size} bytes")
print(f"{objects - 1} of {objects} objects copied")
sys.exit(3)
