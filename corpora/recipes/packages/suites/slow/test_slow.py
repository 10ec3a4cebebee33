import time

import pytest


@pytest.mark.parametrize("n", range(40))
def test_quick(n):
    assert n != 11


def test_waits_for_the_queue():
    time.sleep(60)


@pytest.mark.parametrize("n", range(40))
def test_later(n):
    assert n
