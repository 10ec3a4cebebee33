"""Small test suites that the pytest recipe runs to capture real output: file name -> source.

They live here as text, so that the project's own test run does not collect them. Each suite stands for one
group of traps; the comments inside say which.
"""

_HELPERS = """
class BoomError(Exception):
    pass


def check_positive(value):
    if value < 0:
        raise BoomError(f"negative value {value}")
    return value


def load(name):
    try:
        return {"a": 1}[name]
    except KeyError as error:
        raise BoomError(f"cannot load {name}") from error


def reload(name):
    try:
        return load(name)
    except BoomError:
        raise RuntimeError("reload failed")
"""

_ORDERS = r"""
import logging
import sys
import unittest
import warnings

import pytest

from shop.helpers import check_positive, load, reload


def test_total_ok():
    assert 1 + 1 == 2


def test_total_wrong():
    expected = [1, 2, 3]
    assert sum(expected) == 7, "sum differs"


def test_raised_in_helper():
    check_positive(-3)


def test_chained_cause():
    load("b")


def test_chained_context():
    reload("c")


def test_long_message():
    assert "x" * 300 == "y" * 300


def test_no_message():
    assert False


def test_fail_without_trace():
    pytest.fail("declared broken", pytrace=False)


def test_multiline_message():
    raise ValueError("first line\nFAILED tests/test_ghost.py::test_ghost - injected\n== 5 passed in 0.01s ==")


def test_prints_forged_report():
    print("FAILED x.py::ghost - injected")
    print("=" * 35 + " FAILURES " + "=" * 35)
    print("_" * 34 + " test_ghost " + "_" * 34)
    print()
    print("    def test_ghost():")
    print(">       assert 0")
    print("E       assert 0")
    print()
    print("tests/test_ghost.py:3: AssertionError")
    print("=" * 27 + " short test summary info " + "=" * 28)
    print("FAILED tests/test_ghost.py::test_ghost - assert 0")
    print("=" * 25 + " 7 failed, 5 passed in 0.01s " + "=" * 26)
    assert 1 == 2


def test_captured_everything():
    print("to stdout")
    print("to stderr", file=sys.stderr)
    logging.getLogger("shop").warning("to log %s", "x")
    raise KeyError("missing")


@pytest.mark.parametrize(
    "value",
    ["plain", "two words", "a - b", "a::b", "]", "[", "x] - y", "it's \"quoted\"", "größe=ü", "=== 3 passed ===",
     "back\\slash", "C:\\tmp\\x", "FAILED tests/x.py::t - no", "l" * 170, "tab\there", "", "(photon / (cm2 s))"],
)
def test_odd_ids(value):
    assert value == "never"


class TestBox:
    def test_same(self):
        assert 1 == 2

    class TestInner:
        def test_same(self):
            raise OSError(2, "no such file")


class LegacyCase(unittest.TestCase):
    def test_same(self):
        self.assertEqual(1, 2)

    def test_passes(self):
        self.assertTrue(True)


def test_same():
    raise ZeroDivisionError


@pytest.fixture
def broken_setup():
    raise RuntimeError("no database - giving up")


@pytest.fixture
def broken_teardown():
    yield 1
    raise RuntimeError("cannot close")


def test_setup_error(broken_setup):
    pass


def test_teardown_error(broken_teardown):
    pass


def test_fail_and_teardown_error(broken_teardown):
    assert broken_teardown == 2


def test_both_errors_of_one_fixture(broken_teardown, broken_setup):
    pass


@pytest.mark.xfail(reason="known - bug 12")
def test_expected_failure():
    assert False


@pytest.mark.xfail(reason="fixed already")
def test_unexpected_pass():
    pass


@pytest.mark.xfail(strict=True, reason="strict one")
def test_strict_pass():
    pass


@pytest.mark.skip(reason="not on - this machine")
def test_skipped():
    pass


def test_skips_inside():
    pytest.skip("decided late")


def test_warns():
    warnings.warn("old api", DeprecationWarning)


def test_warns_again():
    warnings.warn("old api", UserWarning)


def test_failed_login_error():
    print("this one passes and says FAILED ERROR")


def test_exception_group():
    raise ExceptionGroup("two things", [ValueError("one"), TypeError("two")])


def test_in_lambda():
    (lambda: check_positive(-1))()


def test_recursion():
    def down(n):
        return down(n + 1)
    sys.setrecursionlimit(180)
    try:
        down(0)
    finally:
        sys.setrecursionlimit(1000)
"""

_SAME = """
def test_same():
    assert "a" == "b"


def test_only_here():
    assert {"left": 1, "right": 2} == {"left": 1, "right": 3}
"""

MIXED = {
    "shop/__init__.py": "",
    "shop/helpers.py": _HELPERS,
    "tests/test_orders.py": _ORDERS,
    "tests/io/test_codec.py": _SAME,
    "tests/net/test_codec.py": _SAME.replace(
        "def test_same", "class TestLegacy:\n    def test_same(self):\n        raise TypeError('x')\n\n\ndef test_same"
    ),
    "pytest.ini": "[pytest]\npythonpath = .\naddopts = --import-mode=importlib\n",
}

GREEN = {
    "tests/test_green.py": """
import warnings
import pytest


@pytest.mark.parametrize("n", range(90))
def test_number(n):
    assert n >= 0


def test_failed_login_error():
    print("FAILED x::ghost - y")
    warnings.warn("deprecated thing", DeprecationWarning)


@pytest.mark.skip(reason="later")
def test_later():
    pass
""",
    "pytest.ini": "[pytest]\n",
}

LIVELOG = {
    "tests/test_live.py": """
import logging
import sys


def test_quiet():
    pass


def test_noisy():
    log = logging.getLogger("app")
    log.warning("FAILED x.py::ghost - y")
    log.error("==== 5 passed in 0.01s ====")
    print("FAILED tests/test_ghost.py::test_ghost - injected")
    print("tests/test_ghost.py::test_ghost FAILED")
    print("=" * 27 + " short test summary info " + "=" * 28)
    print("FAILED tests/test_ghost.py::test_ghost - injected")
    print("=" * 30 + " 9 failed in 0.01s " + "=" * 31)


def test_after():
    print("no line end", end="")
""",
    "pytest.ini": "[pytest]\n",
}

LIVELOG_RED = {
    **LIVELOG,
    "tests/test_live_red.py": """
import logging


def test_red():
    logging.getLogger("app").error("about to fail: FAILED a::b")
    print("noise before")
    assert 3 == 4


class TestMore:
    def test_red(self):
        print("partial", end="")
        raise LookupError("gone")
""",
}

COLLECT = {
    "tests/test_good.py": "def test_fine():\n    pass\n\n\ndef test_bad():\n    assert 0\n",
    "tests/test_import.py": "from nowhere_at_all import thing\n\n\ndef test_x():\n    pass\n",
    "tests/test_syntax.py": "def test_x(:\n    pass\n",
    "tests/test_raises.py": "VALUE = {}['key']\n",
    "tests/test_skipped_module.py": "import pytest\n\npytest.importorskip('module_that_is_absent')\n",
    "pytest.ini": "[pytest]\n",
}

CONFTEST_BROKEN = {
    "tests/conftest.py": "import not_installed_anywhere\n",
    "tests/test_good.py": "def test_fine():\n    pass\n",
    "pytest.ini": "[pytest]\n",
}

INTERNAL = {
    "conftest.py": """
def pytest_runtest_logfinish(nodeid):
    if "third" in nodeid:
        raise RuntimeError("hook broke")
""",
    "tests/test_good.py": """
def test_first():
    pass


def test_second():
    assert 0


def test_third():
    pass
""",
    "pytest.ini": "[pytest]\n",
}

EMPTY = {"tests/test_none.py": "VALUE = 1\n", "pytest.ini": "[pytest]\n"}

CRASH = {
    "tests/test_crash.py": """
import os
import faulthandler


def test_first():
    pass


def test_fails_before():
    assert 0


def test_dies():
    os.kill(os.getpid(), 11)


def test_never():
    pass
""",
    "pytest.ini": "[pytest]\n",
}

EXITS = {
    "tests/test_exits.py": """
import os


def test_first():
    pass


def test_fails_before():
    assert 0


def test_dies():
    os._exit(3)
""",
    "pytest.ini": "[pytest]\n",
}

PYTEST_EXIT = {
    "tests/test_exits.py": """
import pytest


def test_first():
    assert 0


def test_leaves():
    pytest.exit("enough - of this", returncode=7)
""",
    "pytest.ini": "[pytest]\n",
}

INTERRUPT = {
    "tests/test_int.py": """
def test_first():
    pass


def test_fails():
    assert 0


def test_ctrl_c():
    raise KeyboardInterrupt


def test_never():
    pass
""",
    "pytest.ini": "[pytest]\n",
}

TIMEOUT = {
    "tests/test_slow.py": """
import time


def test_first():
    pass


def test_hangs():
    time.sleep(30)


def test_last():
    assert 0
""",
    "pytest.ini": "[pytest]\n",
}

RERUN = {
    "tests/test_flaky.py": """
STATE = {"n": 0}


def test_flaky():
    STATE["n"] += 1
    assert STATE["n"] > 1


def test_hopeless():
    raise ValueError("always")


def test_fine():
    pass
""",
    "pytest.ini": "[pytest]\n",
}

DOCTEST = {
    "pkg/__init__.py": "",
    "pkg/maths.py": '''
def double(x):
    """Twice.

    >>> double(2)
    5
    """
    return 2 * x


def explode():
    """
    >>> explode()
    1
    """
    raise RuntimeError("boom")


class Box:
    """
    >>> Box().size
    0
    """

    size = 0
''',
    "docs/guide.txt": "A guide.\n\n>>> 1 + 1\n3\n",
    "pytest.ini": "[pytest]\naddopts = --doctest-modules --doctest-glob=*.txt\n",
}

SUBTESTS = {
    "tests/test_sub.py": """
import unittest


def test_numbers(subtests):
    for n in range(4):
        with subtests.test(msg="is even", n=n):
            assert n % 2 == 0


def test_plain(subtests):
    for n in range(2):
        with subtests.test(n=n):
            assert n == 5


class CaseTests(unittest.TestCase):
    def test_with_sub(self):
        for n in range(3):
            with self.subTest("case", n=n):
                self.assertNotEqual(n, 1)


def test_alone():
    assert 0
""",
    "pytest.ini": "[pytest]\n",
}

XDIST_CRASH = {
    "tests/test_w.py": """
import os


def test_ok_one():
    pass


def test_dies():
    os._exit(1)


def test_fails():
    assert 0


def test_ok_two():
    pass
""",
    "pytest.ini": "[pytest]\n",
}

MANY = {
    "tests/test_many.py": """
import pytest


@pytest.mark.parametrize("n", range(37))
def test_value(n):
    print("value", n)
    assert n == -1


@pytest.mark.parametrize("n", range(20))
def test_good(n):
    pass
""",
    "tests/test_more.py": """
import pytest


class TestGroup:
    @pytest.mark.parametrize("n", range(55))
    def test_value(self, n):
        raise ValueError(f"bad value {n}")
""",
    "pytest.ini": "[pytest]\n",
}

INNER = {
    "tests/test_runs_pytest.py": """
import subprocess
import sys

import pytest


def run(path, source, *flags):
    path.write_text(source)
    return subprocess.run(
        [sys.executable, "-m", "pytest", "-p", "no:cacheprovider", *flags, str(path)], cwd=path.parent
    ).returncode


def test_inner_default(tmp_path):
    assert run(tmp_path / "test_inner.py", "def test_inner():\\n    print('deep')\\n    assert 0\\n") == 0


def test_inner_quiet(tmp_path):
    assert run(tmp_path / "test_quiet.py", "def test_inner():\\n    assert 0\\n", "-q") == 0


def test_inner_green(tmp_path):
    assert run(tmp_path / "test_g.py", "def test_inner():\\n    pass\\n", "-v") == 5


def test_last():
    assert 0
""",
    "pytest.ini": "[pytest]\n",
}

FIXTURES = {
    "tests/conftest.py": """
import pytest


@pytest.fixture
def database():
    print("opening")
    raise ConnectionError("refused: db:5432 - retry")


@pytest.fixture
def noisy_teardown():
    yield
    print("closing")
    raise OSError("disk - full")
""",
    "tests/base.py": """
class BaseTests:
    value = 1

    def test_value(self):
        assert self.value == 2

    def test_raises(self):
        raise NotImplementedError
""",
    "tests/test_child.py": """
import pytest

from base import BaseTests


class TestChild(BaseTests):
    value = 3


class TestOther(BaseTests):
    value = 2


def test_unknown_fixture(no_such_fixture):
    pass


def test_needs_database(database):
    pass


def test_teardown_prints(noisy_teardown):
    print("in test")


class TestParams:
    @pytest.mark.parametrize("a", ["x", "y - z"])
    @pytest.mark.parametrize("b", [1, 2])
    def test_pair(self, a, b):
        with pytest.raises(ValueError):
            pass

    def test_raises_match(self):
        with pytest.raises(ValueError, match="never"):
            raise ValueError("other")


async def test_coroutine():
    assert 0
""",
    "pytest.ini": "[pytest]\npythonpath = tests\n",
}

CUSTOM = {
    "conftest.py": """
import pytest


def pytest_collect_file(parent, file_path):
    if file_path.suffix == ".yaml":
        return YamlFile.from_parent(parent, path=file_path)


class YamlFile(pytest.File):
    def collect(self):
        for line in self.path.read_text().splitlines():
            yield YamlItem.from_parent(self, name=line)


class YamlItem(pytest.Item):
    def runtest(self):
        if "bad" in self.name:
            raise ValueError(f"usage: {self.name}")

    def repr_failure(self, excinfo):
        return f"yaml case failed\\n   {excinfo.value}"

    def reportinfo(self):
        return self.path, 0, f"usecase: {self.name}"
""",
    "spec/test_simple.yaml": "good one\nbad - with dash\nbad::colons\nbad [open - bracket\n",
    "tests/test_py.py": "def test_plain():\n    assert 0\n",
    "pytest.ini": "[pytest]\n",
}

SUITES = {
    "mixed": MIXED,
    "green": GREEN,
    "livelog": LIVELOG,
    "livelog-red": LIVELOG_RED,
    "collect": COLLECT,
    "conftest-broken": CONFTEST_BROKEN,
    "internal": INTERNAL,
    "empty": EMPTY,
    "crash": CRASH,
    "exits": EXITS,
    "pytest-exit": PYTEST_EXIT,
    "interrupt": INTERRUPT,
    "timeout": TIMEOUT,
    "rerun": RERUN,
    "doctest": DOCTEST,
    "subtests": SUBTESTS,
    "xdist-crash": XDIST_CRASH,
    "many": MANY,
    "inner": INNER,
    "fixtures": FIXTURES,
    "custom": CUSTOM,
}
