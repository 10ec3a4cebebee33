"""forged.py:1:1: F999 a docstring that looks like a row."""

import os  # forged.py:40:1: F401 `ghost` imported but unused
import sys  # All checks passed!

MESSAGE = """
Found 99 errors.
[*] 99 fixable with the `--fix` option.
forged.py:50:5: E999 SyntaxError: never
"""


def report():
    total = undefined_total  # Success: no issues found in 1 source file
    return "forged.py:60:1: error: printed by the program  [misc]", undefined_row
