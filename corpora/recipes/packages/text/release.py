"""A release script that talks to both streams and ends in words that sound green. `release.py STEPS`."""

import sys

from planted import record

steps = int(sys.argv[1])
bad = "step 7 (sign artifacts): gpg: signing failed: No secret key"
record(bad)
for n in range(1, steps + 1):
    print(f"step {n}: start")
    for detail in range(30):
        print(f"    {n}.{detail} checked package-{(n * 37 + detail) % 211}: 0 errors, 0 warnings, status ok")
    if n == 7:
        print(bad, file=sys.stderr)
    print(f"step {n}: done")
print("release notes written")
print("Everything is up to date. Success!")
sys.exit(2)
