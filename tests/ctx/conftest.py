"""What tests of ctx share."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.ctx.shell import Shell


@pytest.fixture
def shell(tmp_path: Path) -> Iterator[Shell]:
    """ctx processes with a store of their own."""
    made = Shell(tmp_path)
    yield made
    made.end()
