import pytest


class Ledger:
    def __init__(self, rows):
        self.rows = list(rows)

    def total(self):
        return sum(price for _, price in self.rows)


@pytest.fixture
def ledger():
    return Ledger([("tea", 3), ("bread", 4)])


@pytest.fixture
def database():
    raise ConnectionError("could not connect to db.internal:5432: timeout after 3 tries")


@pytest.fixture
def lock(request):
    yield "lock"
    if "leaky" in request.node.name:
        raise RuntimeError(f"lock of {request.node.name} was never released")
