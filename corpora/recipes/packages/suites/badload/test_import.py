from warehouse.shelves import Shelf


def test_shelf():
    assert Shelf()
