"""A short green run. `summary.py`."""

from planted import record

record("12 pages built, 0 broken links")
print("building docs")
print("12 pages built, 0 broken links")
