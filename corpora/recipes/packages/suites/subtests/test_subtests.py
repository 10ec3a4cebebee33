import unittest


def test_prices(subtests):
    for name, price in [("tea", 3), ("bread", -4), ("milk", 2), ("salt", -1)]:
        with subtests.test(msg="price is positive", name=name):
            assert price > 0


def test_names(subtests):
    for index in range(3):
        with subtests.test(index=index):
            assert index != 1


class TestCodes(unittest.TestCase):
    def test_codes(self):
        for code in (200, 301, 404, 500):
            with self.subTest(code=code):
                self.assertLess(code, 400)


def test_plain():
    assert True
