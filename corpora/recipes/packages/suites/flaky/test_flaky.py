import itertools

import pytest

calls = itertools.count()
tries = {"a": 0}


def test_settles_at_third_try():
    tries["a"] += 1
    assert tries["a"] == 3, f"try {tries['a']} got no answer"


def test_never_settles():
    raise TimeoutError("queue is still empty after 5 polls")


@pytest.mark.parametrize("n", range(8))
def test_steady(n):
    assert n >= 0
