"""Writes half a job, then waits for the end that comes from outside."""

import sys
import time

from planted import record

last = "segment 0183 written"
record(last, decisive=[last])
for n in range(184):
    print(f"segment {n:04} written")
sys.stdout.write("segment 0184 wri")
sys.stdout.flush()
time.sleep(60)
