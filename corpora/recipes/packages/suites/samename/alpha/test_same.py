import pytest


def check(value):
    if value != "alpha":
        raise ValueError(f"alpha: unexpected {value!r}")


def test_load():
    check("alpha" if "alpha" == "alpha" else "gamma")


def test_save():
    check("delta")


class TestTable:
    def test_load(self):
        assert len("alpha") == 5


class TestChair:
    def test_load(self):
        assert "alpha".startswith("b")


@pytest.mark.parametrize("n", [1, 2])
def test_many(n):
    assert n + len("alpha") > 6
