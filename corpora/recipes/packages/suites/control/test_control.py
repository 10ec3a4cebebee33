import pytest

BIDI = "user\u202egpj.exe"
ZERO = "pass\u200bword"


@pytest.mark.parametrize("name", [BIDI, ZERO, "bell\a", "esc\x1b[31mred", "nel\u0085x", "ls\u2028x"])
def test_name(name):
    assert name.isascii() and name.isprintable(), f"name is {name!r}"


def test_escapes_in_output():
    print("\x1b[2J\x1b[1;1H\x1b[32m1 passed\x1b[0m\r0 failed \x1b]8;;https://example.invalid\x07link\x1b]8;;\x07 \x9b31mred")
    raise RuntimeError("screen \u202ederiw\u202c text")
