"""Write the manifest of a corpus: from then on its version number stands for these bytes (S14.4)."""

import os
from hashlib import sha256
from pathlib import Path
from typing import Any

import rfc8785

from referee.corpus.layout import MANIFEST_NAME, load_manifest
from referee.errors import CorpusError, EnvironmentProblem


def file_digest(path: Path) -> str:
    """SHA-256 of the file's bytes, hex."""
    return sha256(path.read_bytes()).hexdigest()


def corpus_files(corpus: Path) -> dict[str, Path]:
    """Every file of `corpus` but its manifest, by relative path with `/`, sorted; links are listed, not followed."""
    found: dict[str, Path] = {}
    for base, folders, names in os.walk(corpus):
        entries = [*names, *(name for name in folders if (Path(base) / name).is_symlink())]
        for name in entries:
            path = Path(base) / name
            found[path.relative_to(corpus).as_posix()] = path
    found.pop(MANIFEST_NAME, None)
    return dict(sorted(found.items()))


def freeze_corpus(folder: Path | str, version: str, *, name: str | None = None, created_from: str = "") -> str:
    """Write `MANIFEST.json` for the files that are there now.

    Args:
        folder: The corpus.
        version: Its version, text without blanks. A version that is frozen already stays as it is: freezing equal
            bytes again writes nothing.
        name: By default the name in the present manifest, else the folder's name.
        created_from: By default what the present manifest says.
    Returns:
        SHA-256 of the manifest, hex.
    Raises:
        CorpusError: version frozen with other bytes; cases that are not well formed; links.
        EnvironmentProblem: the manifest cannot be written.
    """
    from referee.corpus.verify import check_cases

    corpus = Path(folder)
    if not corpus.is_dir():
        raise CorpusError([f"{corpus}: no such folder; give the folder that holds cases/<family>/<case>/"])
    if not version or version != version.strip() or any(c.isspace() for c in version):
        raise CorpusError([f"version {version!r}: expected text without blanks, such as 1"])
    present = load_manifest(corpus) if (corpus / MANIFEST_NAME).exists() else None
    paths = corpus_files(corpus)
    problems = [f"{path}: a link; a corpus holds plain files only" for path, at in paths.items() if at.is_symlink()]
    problems += check_cases(corpus)
    if problems:
        raise CorpusError(problems)
    files = {path: file_digest(at) for path, at in paths.items()}
    if present is not None and present.version == version:
        changed = sorted({p for p in {*files, *present.files} if files.get(p) != present.files.get(p)})
        if not changed and name in (None, present.name) and created_from in ("", present.created_from):
            return present.digest
        what = changed[0] if changed else "name or created_from"
        raise CorpusError(
            [f"{corpus}: version {version} is frozen and {what} differs ({len(changed)} files); freeze a new version"]
        )
    document: dict[str, Any] = {
        "name": name or (present.name if present else corpus.resolve().name),
        "version": version,
        "created_from": created_from or (present.created_from if present else ""),
        "files": files,
    }
    body = rfc8785.dumps(document)
    part = corpus / f"{MANIFEST_NAME}.part"
    try:
        part.write_bytes(body)
        part.replace(corpus / MANIFEST_NAME)
    except OSError as error:
        part.unlink(missing_ok=True)
        raise EnvironmentProblem(f"{corpus / MANIFEST_NAME}: cannot be written: {error.strerror}") from error
    return sha256(body).hexdigest()
