"""What `nox -s receipts` runs: the protocol twice, equal bytes, the receipt under receipts/, and the gate.

python -m referee.receipts.publish_run --protocol protocols/core.toml --corpus corpora/core --receipts receipts
"""

import argparse
import sys
from pathlib import Path

from referee.errors import RefereeError
from referee.execute import Request, execute, save
from referee.receipts.rerun import difference
from referee.receipts.statement import reproducible_digest
from referee.receipts.summary import terminal_text
from referee.receipts.verify import check_receipt, load_receipt


def publish(protocol: Path, corpora: tuple[Path, ...], receipts: Path) -> int:
    """Run, save, verify, run again; 0 only if everything holds and the verdict is promote."""
    receipt = execute(Request(corpora=corpora, protocol_file=protocol))
    name = receipt.statement["predicate"]["protocol"]["name"]
    out = receipts / name / reproducible_digest(receipt.statement)[:12] / "receipt.json"
    save(receipt, out)
    sys.stdout.write(terminal_text(receipt.statement))
    problems = check_receipt(out)
    if not problems:
        again = execute(Request(corpora=corpora, protocol_file=protocol, workers=1))
        problems = difference(load_receipt(out), again)
    for problem in problems:
        sys.stderr.write(f"receipts: {out}: {problem}\n")
    if not problems:
        sys.stdout.write(f"a second run, in one process, gave byte-identical reproducible parts\n{out}\n")
    return 0 if receipt.verdict == "promote" and not problems else 1


def main() -> int:
    """Command line of this module."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--protocol", type=Path, required=True)
    parser.add_argument("--corpus", type=Path, action="append", required=True)
    parser.add_argument("--receipts", type=Path, default=Path("receipts"))
    words = parser.parse_args()
    try:
        return publish(words.protocol, tuple(words.corpus), words.receipts)
    except RefereeError as error:
        for line in str(error).splitlines():
            sys.stderr.write(f"receipts: {line}\n")
        return error.exit_code


if __name__ == "__main__":
    sys.exit(main())
