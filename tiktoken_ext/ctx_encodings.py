"""tiktoken encodings that need no network: `ctx_o200k_base`, `ctx_cl100k_base`.

tiktoken finds this module in its namespace package `tiktoken_ext`. The constructors are tiktoken's own; only the ranks
come from the vocabulary that is installed, after its digest has been checked.
"""

from collections.abc import Callable
from typing import Any
from unittest import mock

from referee.tokens import load_ranks


def _constructor(name: str) -> Callable[[], dict[str, Any]]:
    def construct() -> dict[str, Any]:
        from tiktoken_ext import openai_public

        with mock.patch.object(openai_public, "load_tiktoken_bpe", return_value=load_ranks(name)):
            arguments = dict(openai_public.ENCODING_CONSTRUCTORS[name]())
        arguments["name"] = f"ctx_{name}"
        return arguments

    return construct


ENCODING_CONSTRUCTORS = {f"ctx_{name}": _constructor(name) for name in ("o200k_base", "cl100k_base")}
