def test_first():
    assert True


def test_second():
    assert [1, 2] == [1, 3]


def test_third():
    assert True


def test_fourth():
    assert True
