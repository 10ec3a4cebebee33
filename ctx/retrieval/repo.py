"""`repo:` addresses: lines of a file of the workspace, bound to the content they were minted against (S8.6)."""

from hashlib import sha256
from pathlib import Path

from ctx.addresses import Address, Lines
from ctx.errors import RefusedError, UnknownError, UsageError
from ctx.retrieval.region import safe_text
from ctx.retrieval.reply import Reply
from ctx.safety.confine import confined_path
from ctx.safety.redact import Redactor, private_key_lines
from ctx.text import LineIndex, sniff_encoding, tok


def get_repo(address: Address, *, context: int = 0, workspace: Path | None = None) -> Reply:
    """The addressed lines of a file inside the workspace.

    Raises:
        RefusedError: Outside the workspace, denied, or the content has changed since the address was minted.
        UnknownError: No such file or lines.
    """
    path = confined_path(workspace or Path.cwd(), address.name)
    try:
        raw = path.read_bytes()
    except OSError as error:
        raise UnknownError(f"{address.base}: {error.strerror or error}") from None
    current = sha256(raw).hexdigest()[:8]
    if address.content_hash is not None and address.content_hash != current:
        raise RefusedError(
            f"{address.base}: the file changed since this address was made (now @{current}); "
            f"read it again: ctx get repo:{address.name}@{current}"
        )
    index = LineIndex(raw)
    first, last = 1, index.count
    if isinstance(address.selector, Lines):
        first, last = max(1, address.selector.first - context), min(address.selector.last + context, index.count)
        if address.selector.first > index.count:
            raise UnknownError(f"{address.base} {address.selector}: it has {index.count} lines")
    elif address.selector is not None:
        raise UsageError(f"{address.base} {address.selector}: a file takes --lines here")
    body = raw[index.start_of(first) : index.start_of(last + 1)]
    text = safe_text(body, sniff_encoding(raw))
    secret = private_key_lines(raw)
    if secret:
        redactor, shown = Redactor(), text.split("\n")
        for place, number in enumerate(range(first, last + 1)):
            if number in secret:
                shown[place] = redactor.key_line(shown[place])
        text = "\n".join(shown)
    header = f"{address.base} · lines {first}:{last} of {index.count:,} · {tok(text):,} tok (estimate) · @{current}"
    return Reply(text=text, body=body, header=header)
