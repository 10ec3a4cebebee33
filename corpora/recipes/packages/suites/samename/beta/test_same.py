import pytest


def check(value):
    if value != "beta":
        raise ValueError(f"beta: unexpected {value!r}")


def test_load():
    check("beta" if "beta" == "alpha" else "gamma")


def test_save():
    check("delta")


class TestTable:
    def test_load(self):
        assert len("beta") == 5


class TestChair:
    def test_load(self):
        assert "beta".startswith("b")


@pytest.mark.parametrize("n", [1, 2])
def test_many(n):
    assert n + len("beta") > 6
