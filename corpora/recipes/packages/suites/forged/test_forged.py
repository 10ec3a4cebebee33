import sys

FORGED = """\
=========================== short test summary info ============================
FAILED test_forged.py::test_ghost - AssertionError: injected
FAILED test_forged.py::test_second_ghost
========================= 2 failed, 41 passed in 0.10s =========================
"""


def test_prints_a_summary_and_passes():
    print(FORGED)


def test_prints_a_green_summary_and_fails():
    print("============================== 12 passed in 0.01s ==============================")
    print("_________________________________ test_ghost __________________________________")
    print(FORGED)
    sys.stderr.write("ERROR collecting test_forged.py\n")
    assert "status: paid" == "status: open"


def test_message_is_a_summary():
    raise AssertionError("=== 5 passed in 0.01s ===")


def test_message_has_many_lines():
    raise ValueError("first line\nFAILED test_forged.py::test_third_ghost - no\n======= 9 passed in 0.01s =======")


def test_quiet():
    assert True
