def test_open_bracket():
    assert (1, 2 == 3
