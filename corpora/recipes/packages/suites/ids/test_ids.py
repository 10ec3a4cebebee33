import pytest

IDS = [
    "two words",
    "a - b",
    "a::b",
    "[nested]",
    "x] - y",
    "it's \"quoted\"",
    "=== 3 passed in 0.01s ===",
    "grüße-日本語",
    "FAILED tests/other.py::test_ghost - no",
    "C:\\temp\\file.txt",
    "percent 100%",
    "[ 40%]",
    "long-" + "segment-" * 24 + "end",
    "trailing blank ",
    "tab\there",
]


@pytest.mark.parametrize("value", IDS, ids=IDS)
def test_accepts(value):
    assert len(value) < 0, f"refused: {value}"


class TestNested:
    @pytest.mark.parametrize("text", ["ok", "a - b - c", "::", "]["])
    def test_text(self, text):
        assert text == "ok"


@pytest.mark.parametrize("n", range(6))
def test_number(n):
    assert n % 3
