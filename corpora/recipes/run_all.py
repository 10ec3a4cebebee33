"""Capture the corpus: `run_all.py --work /home/dev [--family pytest] [--only NAME] [--install] [--forbid TEXT]`."""

import argparse
import fcntl
import sys
import time
from pathlib import Path

import lint_cases
import pins
import pytest_cases
import text_cases
from driver import HERE, RecipeError, Work

FAMILIES = {"pytest": pytest_cases, "lint": lint_cases, "text": text_cases}


def main() -> int:
    """Run the recipes; the number of cases that could not be captured decides the exit status."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--work", type=Path, required=True, help="a neutral folder; its path appears in the captures")
    parser.add_argument("--out", type=Path, default=HERE.parent / "core", help="the corpus folder")
    parser.add_argument("--family", choices=[*FAMILIES], help="only this family")
    parser.add_argument("--only", default="", help="only cases whose name holds this text")
    parser.add_argument("--forbid", action="append", default=[], help="refuse captures that hold this text")
    parser.add_argument("--install", action="store_true", help="install the pinned tools and packages first")
    options = parser.parse_args()
    work = Work(root=options.work, out=options.out, forbidden=tuple(options.forbid))
    options.work.mkdir(parents=True, exist_ok=True)
    lock = (options.work / "lock").open("w")  # Two runs would take each other's working folders away.
    fcntl.flock(lock, fcntl.LOCK_EX)
    if options.install:
        pins.install(options.work)
    failed = 0
    for family, module in FAMILIES.items():
        if options.family not in (None, family):
            continue
        for spec in module.SPECS:
            if options.only not in spec.name:
                continue
            started = time.monotonic()
            try:
                module.capture(work, spec)
                print(f"{family}/{spec.name}  {time.monotonic() - started:.1f} s", flush=True)
            except (RecipeError, OSError, ValueError, KeyError, SyntaxError) as error:
                failed += 1
                print(f"{family}/{spec.name}  NOT CAPTURED: {error!r}", file=sys.stderr, flush=True)
    print(f"{len(work.written)} cases written, {failed} not captured")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
