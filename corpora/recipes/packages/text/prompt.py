"""Asks, gets no answer, ends."""

import sys

from planted import record

ask = "Overwrite 3 existing releases in production? [y/N] "
record("aborted: no answer on standard input", decisive=["Overwrite 3 existing releases in production? [y/N]", "aborted: no answer on standard input"])
for n in range(60):
    print(f"plan: release {n} -> {'exists' if n % 20 == 0 else 'new'}")
sys.stdout.write(ask)
sys.stdout.flush()
if not sys.stdin.readline():
    print("\naborted: no answer on standard input")
    sys.exit(1)
