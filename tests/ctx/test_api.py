"""The Python entry: `ctx.digest_output`, and the reading side of `ctx.Store` (S17.6, S2.14).

`pin`, `unpin`, `gc` and `check` of S2.14 are not part of this release, so nothing here asks for them.
"""

import os
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from ctx import CtxError, Rendered, Store, digest_output
from ctx.errors import ContractError, UnknownError, UsageError

LOG = b"".join(b"step %d of the job went by without a word\n" % n for n in range(900))


@pytest.mark.parametrize("same", [LOG.decode(), bytearray(LOG), memoryview(LOG)], ids=["text", "bytearray", "view"])
def test_a_text_or_a_buffer_stands_for_its_bytes(same: "bytes | str") -> None:
    assert digest_output(same, exit_code=1).text == digest_output(LOG, exit_code=1).text
    assert digest_output("", same, exit_code=1).text == digest_output(b"", LOG, exit_code=1).text


def test_text_that_came_from_bytes_keeps_them() -> None:
    """What Python reads with `surrogateescape` goes back to the byte it was, shown as U+FFFD."""
    assert digest_output(b"a\xff\n".decode("utf-8", "surrogateescape")).text == "a\ufffd\n"


@pytest.mark.parametrize("exit_code", [None, 0, 1])
def test_no_output_at_all_is_no_output(exit_code: int | None) -> None:
    rendered = digest_output(b"", exit_code=exit_code)
    assert rendered.text == ""
    assert rendered.addresses == ()
    assert rendered.graph.outcome == {None: "unknown", 0: "pass", 1: "fail"}[exit_code]


def test_what_is_not_told_stays_unknown() -> None:
    """S1.13: an exit status that nobody told is not 0."""
    rendered = digest_output(LOG)
    assert rendered.graph.outcome == "unknown"
    assert rendered.graph.operation.exit_code is None
    assert "exit unknown" in rendered.text.split("\n")[0]
    assert "PASS" not in rendered.text


@pytest.mark.parametrize(
    ("told", "ended_by"),
    [({}, "unknown"), ({"exit_code": 3}, "exit"), ({"signal": 9}, "signal"), ({"ended_by": "timeout"}, "timeout")],
)
def test_how_a_command_ended_follows_from_what_is_told(told: dict[str, object], ended_by: str) -> None:
    assert digest_output(LOG, **told).graph.operation.ended_by == ended_by  # type: ignore[arg-type]


def test_cut_input_is_never_called_complete() -> None:
    rendered = digest_output(LOG, exit_code=0, incomplete="declared")
    assert rendered.receipt.input_truncated
    assert not rendered.receipt.complete
    assert rendered.meta.handle != digest_output(LOG, exit_code=0).meta.handle


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        ({"stdout": None}, "stdout is bytes or text, not NoneType"),
        ({"stdout": b"", "stderr": 7}, "stderr is bytes or text, not int"),
        ({"stdout": b"", "argv": "pytest -q"}, "argv is a list of words, not 'pytest -q'"),
        ({"stdout": b"", "argv": [b"pytest"]}, "argv is a list of words"),
        ({"stdout": b"", "exit_code": "1"}, "exit_code is a whole number or None, not '1'"),
        ({"stdout": b"", "exit_code": True}, "exit_code is a whole number or None, not True"),
        ({"stdout": b"", "signal": 1.5}, "signal is a whole number or None, not 1.5"),
    ],
)
def test_an_argument_of_another_kind_is_refused_with_what_would_fit(arguments: dict[str, object], said: str) -> None:
    with pytest.raises(UsageError, match=said):
        digest_output(**arguments)  # type: ignore[arg-type]


def test_an_epoch_is_chosen_by_its_id() -> None:
    shipped = digest_output(LOG, epoch="2026.1")
    assert shipped.meta.epoch_id == digest_output(LOG).meta.epoch_id
    with pytest.raises(ContractError, match="not there; known: "):
        digest_output(LOG, epoch="1999.1")


@given(st.binary(max_size=300), st.binary(max_size=100), st.sampled_from([None, 0, 1, 137]))
def test_no_bytes_make_it_raise_and_equal_bytes_give_equal_digests(
    stdout: bytes, stderr: bytes, exit_code: int | None
) -> None:
    """Odd input is input."""
    first = digest_output(stdout, stderr, exit_code=exit_code)
    assert first == digest_output(stdout, stderr, exit_code=exit_code)
    first.text.encode("utf-8")


@pytest.mark.parametrize(
    "odd",
    [
        b"\n" * 50_000,
        b"x" * 500_000,
        b"\xff" * 50_000,
        bytes(range(256)) * 200,
        "\N{SNOWMAN}".encode() * 40_000,
        "größe\n".encode("utf-16") * 400,
        b"\r" * 50_000,
        b"\x1b[31m" * 10_000,
        b"a\x00" * 20_000,
        b"\xef\xbb\xbf" + LOG,
    ],
    ids=["blank lines", "one line", "no utf-8", "all bytes", "wide", "utf-16", "returns", "escapes", "nul", "bom"],
)
@pytest.mark.parametrize("exit_code", [0, 1])
def test_large_and_odd_input_has_a_bounded_digest(odd: bytes, exit_code: int) -> None:
    """At most the ceiling of its contract, in tok."""
    rendered = digest_output(odd, exit_code=exit_code)
    assert rendered.digest_tokens <= 4000


# The store -----------------------------------------------------------------------------------------------------------


@pytest.fixture
def store(tmp_path: Path) -> Store:
    return Store(tmp_path / "store")


def kept(store: Store, data: bytes = LOG, **told: object) -> Rendered:
    return digest_output(data, argv=("job",), exit_code=1, store=store, **told)  # type: ignore[arg-type]


def test_a_stored_capture_is_read_back_exactly(store: Store) -> None:
    """S2.14: `captures`, `manifest` and `read`."""
    rendered = kept(store)
    handle = rendered.meta.handle
    assert len(store.captures(handle)) == 1
    manifest = store.manifest(handle)
    assert (manifest.handle, manifest.argv, manifest.exit_code) == (handle, ("job",), 1)
    assert store.read(f"run:{handle[:12]}#stdout") == LOG
    assert store.read(f"run:{handle[:12]}#stdout --lines 3:4") == b"".join(LOG.splitlines(keepends=True)[2:4])
    assert store.read(f"run:{handle[:12]}#stdout --bytes 0:4") == b"step"
    assert store.read(f"run:{handle[:12]}") == rendered.text.encode()


def test_every_address_of_a_digest_is_redeemed_to_the_lines_it_names(store: Store) -> None:
    """S8.4 [law]."""
    rendered = kept(store)
    assert rendered.addresses
    lines = LOG.splitlines(keepends=True)
    for address in rendered.addresses:
        _, _, selector = address.partition(" --lines ")
        if selector:
            first, last = map(int, selector.split(":"))
            assert store.read(address) == b"".join(lines[first - 1 : last])
        else:
            assert store.read(address)


def test_equal_captures_are_kept_each_and_the_newest_is_the_first(store: Store) -> None:
    """S1.15: one handle, two captures."""
    first, second = kept(store, LOG + b"took 0.11 s\n"), kept(store, LOG + b"took 7.93 s\n")
    assert first.meta.handle == second.meta.handle
    handle = first.meta.handle
    assert len(set(store.captures(handle))) == 2
    assert store.read(f"run:{handle[:12]}#stdout").endswith(b"took 7.93 s\n")
    assert store.manifest(handle, 2) != store.manifest(handle, 1)


def test_a_name_that_was_never_stored_is_unknown(store: Store) -> None:
    kept(store)
    with pytest.raises(UnknownError, match="never in this store"):
        store.read("run:000000000000#stdout")
    with pytest.raises(CtxError):
        store.read("run:zz")


def test_without_a_store_no_address_is_printed_and_the_facts_are_the_same(store: Store) -> None:
    """S2.7."""
    stored, plain = kept(store), digest_output(LOG, argv=("job",), exit_code=1)
    assert plain.addresses == ()
    assert "run:" not in plain.text.split("\nrerun:")[0]
    assert plain.graph.to_canonical() == stored.graph.to_canonical()
    assert "not stored: omitted text cannot be retrieved" in plain.text


def test_a_store_that_cannot_take_the_capture_costs_the_addresses_alone(tmp_path: Path) -> None:
    """S2.7: a file in the place of its folder."""
    (tmp_path / "store").write_bytes(b"no folder")
    rendered = kept(Store(tmp_path / "store"))
    assert rendered.text == digest_output(LOG, argv=("job",), exit_code=1).text


def test_a_store_is_private_from_its_creation(store: Store) -> None:
    """S2.2: folders 0700, files 0600, whatever the umask says."""
    before = os.umask(0)
    try:
        kept(store)
    finally:
        os.umask(before)
    found = [store.root, *store.root.rglob("*")]
    assert len(found) > 4
    for path in found:
        assert path.stat().st_mode & 0o777 == (0o700 if path.is_dir() else 0o600), path
