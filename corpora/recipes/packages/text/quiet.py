"""Prints nothing and fails."""

import sys

from planted import record

record()
sys.exit(9)
