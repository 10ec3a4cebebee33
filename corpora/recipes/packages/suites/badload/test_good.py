def test_good():
    assert 1 + 1 == 2
