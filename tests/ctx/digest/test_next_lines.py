"""What a digest leads to: the first thing that is not shown (S7.12)."""

from pathlib import Path

from ctx.api import digest_output
from ctx.store import Store


def test_a_cut_inside_the_only_line_is_where_next_leads(tmp_path: Path) -> None:
    """Every line is shown, one of them cut: the `next:` line is the address of the cut, and gives the bytes there."""
    line = b"key=" + b"abcdefghij" * 3000
    store = Store(tmp_path)
    rendered = digest_output(b"begin\n" + line + b"\nend\n", argv=("./x",), exit_code=1, store=store)
    (following,) = [row for row in rendered.text.splitlines() if row.startswith("next: ")]
    address = following.removeprefix("next: ctx get ")
    assert address in rendered.text.partition("next: ")[0], "it is printed at the cut as well"
    cut = store.read(address)
    shown = next(row for row in rendered.text.splitlines() if row.startswith("| key="))
    before, after = shown.removeprefix("| ").split(" … ")[0], shown.rpartition(" … ")[2]
    assert before.encode() + cut.rstrip(b"\n") + after.encode() == line
