"""A generator of pytest reports in the shape of `pytest -v`, which knows the failures it planted."""

import random
from pathlib import Path


def write_log(path: Path, *, passing: int, failing: int, seed: int = 1, captured_lines: int = 8) -> list[str]:
    """Write a report with `passing` and `failing` tests to `path`; the failing node ids, in order."""
    rng = random.Random(seed)
    total = passing + failing
    fails = set(rng.sample(range(total), failing))
    ids = []
    with path.open("w", encoding="utf-8") as out:
        out.write("============================= test session starts ==============================\n")
        out.write("platform linux -- Python 3.11.7, pytest-9.2.0, pluggy-1.6.0 -- /usr/bin/python3\n")
        out.write(f"rootdir: /srv/project\ncollecting ... collected {total} items\n\n")
        for number in range(total):
            node = (
                f"tests/unit/area_{number // 4000:03d}/test_module_{number // 100:05d}.py"
                f"::TestCase{number % 7}::test_case_{number}[param-{rng.randrange(1000)}]"
            )
            status = "PASSED"
            if number in fails:
                status = "FAILED"
                ids.append(node)
            out.write(f"{node} {status} [{100 * (number + 1) // total:3d}%]\n")
        out.write("\n=================================== FAILURES ===================================\n")
        for position, node in enumerate(ids):
            file, _, rest = node.partition("::")
            name = rest.replace("::", ".")
            out.write(f"{f' {name} '.center(80, '_')}\n\nself = <{file}>\n\n    def test(self):\n")
            out.write(f">       assert compute({position}) == {position + 1}\n")
            out.write(
                f"E       AssertionError: assert {position} == {position + 1}\n\n"
                f"{file}:{position + 10}: AssertionError\n"
            )
            if captured_lines:
                out.write("----------------------------- Captured stdout call -----------------------------\n")
                out.writelines(f"working on step {line} of {position}\n" for line in range(captured_lines))
        out.write("=========================== short test summary info ============================\n")
        for position, node in enumerate(ids):
            out.write(f"FAILED {node} - AssertionError: assert {position} == {position + 1}\n")
        out.write(f"=================== {failing} failed, {passing} passed in 812.33s (0:13:32) ===================\n")
    return ids
