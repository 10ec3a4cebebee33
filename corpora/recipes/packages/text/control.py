"""Escapes, bidirectional marks, zero-width and tag characters, links, odd line separators."""

import sys

from planted import record

bad = "account 88-1203 was locked after 5 attempts"
record(bad)
print("\x1b[2J\x1b[1;1H\x1b[32mAll good\x1b[0m")
print("file invoice\u202efdp.exe and pass\u200bword and tag\U000e0041\U000e0042")
print("\x1b]0;window title\x07\x1b]8;;https://example.invalid/\x1b\\click\x1b]8;;\x1b\\ done")
for n in range(300):
    print(f"checked account {n:02}-{n * 7 % 1000:04}" + ("\u2028second part" if n % 50 == 0 else "") + ("\x0cpage" if n % 60 == 1 else ""))
    if n == 150:
        print(f"\x1b[31m{bad}\x1b[0m")
print("hidden\rshown!")
print("abc\b\b\bxyz")
sys.exit(1)
