"""An epoch from a file of the user's, before it is put into the folder of epochs (S13.1, S13.3)."""

from pathlib import Path

import pytest

from ctx.errors import ContractError
from ctx.policy.epoch import active_epoch

TABLE = 'schema = "ctx.epoch/v1"\nid = "2030-own"\nparent = "2026.1"\n[defaults]\ninline_tokens = 7\n'


def test_a_path_that_ends_in_toml_is_read(tmp_path: Path) -> None:
    file = tmp_path / "2030-own.toml"
    file.write_text(TABLE, encoding="utf-8")
    epoch = active_epoch(str(file))
    assert (epoch.id, epoch.inline_tokens, epoch.budget_tokens) == ("2030-own", 7, 480)


@pytest.mark.parametrize(("content", "said"), [(None, "No such file"), (b"\xff\xfe", "not UTF-8"), ("", "directory")])
def test_a_file_that_cannot_be_read_is_named(tmp_path: Path, content: object, said: str) -> None:
    file = tmp_path / "2030-own.toml"
    if isinstance(content, bytes):
        file.write_bytes(content)
    elif content is not None:
        file.mkdir()
    with pytest.raises(ContractError, match=rf"2030-own\.toml: .*{said}.*give a file such as epochs/"):
        active_epoch(str(file))
