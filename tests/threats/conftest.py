"""What every threat starts from: a store of its own."""

from pathlib import Path

import pytest

from tests.threats.shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Shell:
    return Shell(tmp_path)
