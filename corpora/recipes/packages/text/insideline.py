"""The decisive text stands in the middle of one line of 300 KB; there is nothing else."""

import sys

from planted import record

bad = "SolverError(node=4711, reason=singular matrix)"
record(decisive=[bad], items=[{"identity": bad, "kind": "value"}])
filler = "".join(f"residual[{n}]={1 / (n + 2):.6f} " for n in range(8000))
sys.stdout.write(filler + bad + " " + filler + "\n")
sys.exit(1)
