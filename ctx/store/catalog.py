"""The catalog: an SQLite index of the manifests, rebuilt from them when missing or damaged (S2.3, S2.4, S2.6).

Nothing lives here alone. A writer publishes its manifest, then appends its id to a list of announcements, which costs
it neither a database nor a lock; whoever reads next turns announcements into rows. A reader that finds a handle missing
also looks for manifests that nobody announced, so a writer that died between the two loses nothing.
"""

import os
import sqlite3
from collections.abc import Callable, Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TypeVar

from ctx.digest.base import Span
from ctx.errors import DamagedError, StoreError
from ctx.store.layout import FILE_MODE, private_folder
from ctx.store.manifests import Manifest, Manifests

_BUSY_SECONDS = 2.0
_TABLES = """
create table if not exists capture(
    ordinal integer primary key autoincrement,
    capture_id text not null unique,
    handle text not null,
    cwd text not null,
    command text not null,
    family text not null,
    raw_tokens integer not null,
    digest_tokens integer not null
);
create index if not exists capture_handle on capture(handle);
create table if not exists fetched(handle text not null, tokens integer not null);
create table if not exists span(
    handle text not null, token text not null, stream text not null, kind text not null, first_line integer not null,
    last_line integer not null, first_col integer, end_col integer, primary key(handle, token)
);
"""
_Result = TypeVar("_Result")


class Catalog:
    """The index of one store."""

    def __init__(self, root: Path, manifests: Manifests, notice: Callable[[str], None]) -> None:
        self.path = root / "catalog.sqlite"
        self._announced = root / "catalog.announced"
        self._lost = root / "lost+found"
        self._manifests = manifests
        self._notice = notice

    def announce(self, capture_id: str) -> None:
        """Name one published manifest for the next reader; one short append, safe among many writers."""
        private_folder(self._announced.parent)
        try:
            descriptor = os.open(self._announced, os.O_WRONLY | os.O_CREAT | os.O_APPEND, FILE_MODE)
            try:
                os.write(descriptor, f"{capture_id}\n".encode())
            finally:
                os.close(descriptor)
        except OSError as error:
            raise StoreError(f"store {self._announced}: {error.strerror or error}") from None

    def handles(self, prefix: str, *, limit: int = 9) -> list[tuple[str, str]]:
        """Handles that begin with `prefix`, each with a command that made it, at most `limit`."""
        query = "select handle, max(command) from capture where handle >= ? and handle < ? group by handle limit ?"
        arguments = (prefix, prefix + "g", limit)
        return self._looked_up(lambda c: [(str(h), str(m)) for h, m in c.execute(query, arguments)])

    def captures(self, handle: str) -> list[str]:
        """Capture ids of a handle, newest first."""
        query = "select capture_id from capture where handle = ? order by ordinal desc"
        return self._looked_up(lambda c: [str(row[0]) for row in c.execute(query, (handle,))])

    def newest(self, cwd: str | None = None) -> str | None:
        """Handle of the newest capture, of one workspace where it is named."""
        query = "select handle from capture where (?1 is null or cwd = ?1) order by ordinal desc limit 1"
        rows = self._looked_up(lambda c: [str(row[0]) for row in c.execute(query, (cwd,))])
        return rows[0] if rows else None

    def nearest(self, handle: str, *, limit: int = 3) -> list[str]:
        """Handles next to `handle` in order, for a message."""
        query = "select distinct handle from capture where handle >= ? order by handle limit ?"
        before = "select distinct handle from capture where handle < ? order by handle desc limit ?"

        def look(connection: sqlite3.Connection) -> list[str]:
            rows = [*connection.execute(before, (handle, limit)), *connection.execute(query, (handle, limit))]
            return sorted(str(row[0]) for row in rows)[:limit]

        return self._run(look)

    def totals(self) -> tuple[int, int, int, int]:
        """Captures, raw tok, digest tok, fetched tok: sums over everything in the store."""

        def look(connection: sqlite3.Connection) -> tuple[int, int, int, int]:
            sums = "select count(*), coalesce(sum(raw_tokens), 0), coalesce(sum(digest_tokens), 0) from capture"
            captures, raw, digest = connection.execute(sums).fetchone()
            fetched = connection.execute("select coalesce(sum(tokens), 0) from fetched").fetchone()[0]
            return int(captures), int(raw), int(digest), int(fetched)

        return self._run(look)

    def note_fetch(self, handle: str, tokens: int) -> None:
        """Remember what a reader fetched later: it counts against the savings."""
        self._run(lambda c: c.execute("insert into fetched values (?, ?)", (handle, tokens)))

    def add_spans(self, handle: str, spans: Iterable[Span]) -> None:
        """Keep regions that a retrieval named; they mean the same text in every capture of the handle."""
        rows = [(handle, s.token, s.stream, s.kind, s.first_line, s.last_line, s.first_col, s.end_col) for s in spans]
        statement = "insert or ignore into span values (?, ?, ?, ?, ?, ?, ?, ?)"
        self._run(lambda connection: connection.executemany(statement, rows))

    def span(self, handle: str, token: str) -> Span | None:
        """A region that a retrieval named."""
        query = (
            "select stream, kind, first_line, last_line, first_col, end_col from span where handle = ? and token = ?"
        )
        row = self._run(lambda connection: connection.execute(query, (handle, token)).fetchone())
        return Span(token, *row) if row else None

    def _looked_up(self, look: Callable[[sqlite3.Connection], list[_Result]]) -> list[_Result]:
        found = self._run(look)
        if not found and self._run(self._adopt_unindexed):
            found = self._run(look)
        return found

    def _absorb(self, connection: sqlite3.Connection) -> None:
        """Turn announcements into rows; a list that a dead reader took along is taken over."""
        if self._announced.exists():
            os.replace(self._announced, f"{self._announced}.{os.getpid()}.{os.urandom(4).hex()}")
        for path in sorted(self._announced.parent.glob(f"{self._announced.name}.*")):
            try:
                named = path.read_text().split()
            except FileNotFoundError:  # another reader absorbed it
                continue
            self._index(connection, named)
            connection.commit()
            path.unlink(missing_ok=True)

    def _adopt_unindexed(self, connection: sqlite3.Connection) -> int:
        """Index manifests that have no row, in the order in which they were captured."""
        known = {str(row[0]) for row in connection.execute("select capture_id from capture")}
        return self._index(connection, (i for i in self._manifests.capture_ids() if i not in known))

    def _index(self, connection: sqlite3.Connection, capture_ids: Iterable[str]) -> int:
        found: list[Manifest] = []
        for capture_id in capture_ids:
            try:
                found.append(self._manifests.get(capture_id))
            except DamagedError as error:
                self._notice(str(error))
        for manifest in sorted(found, key=lambda m: (m.started_at or "", m.nonce, m.capture_id)):
            _insert(connection, manifest)
        return len(found)

    def _run(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        for attempt in (1, 2):
            try:
                with self._connection() as connection:
                    return work(connection)
            except sqlite3.OperationalError as error:
                raise StoreError(f"store {self.path}: {error}") from None
            except sqlite3.DatabaseError as error:
                if attempt == 2:
                    raise StoreError(f"store {self.path}: {error}") from None
                self._set_aside(str(error))
        raise AssertionError("unreachable")

    @contextmanager
    def _connection(self) -> Iterator[sqlite3.Connection]:
        private_folder(self.path.parent)
        fresh = not self.path.exists()
        if fresh:
            try:
                os.close(os.open(self.path, os.O_WRONLY | os.O_CREAT, FILE_MODE))
            except OSError as error:
                raise StoreError(f"store {self.path}: {error.strerror or error}") from None
        connection = sqlite3.connect(self.path, timeout=_BUSY_SECONDS)
        try:
            connection.execute("pragma journal_mode=wal")
            connection.execute("pragma synchronous=normal")
            with connection:
                if fresh or not _has_tables(connection):
                    connection.executescript(_TABLES)
                if fresh:
                    self._adopt_unindexed(connection)
                self._absorb(connection)
                yield connection
        finally:
            connection.close()

    def _set_aside(self, reason: str) -> None:
        """Move a damaged catalog away under a name of its own, name it, and let the next call rebuild it."""
        private_folder(self._lost)
        number = 1
        while (self._lost / f"catalog.{number}.sqlite").exists():
            number += 1
        target = self._lost / f"catalog.{number}.sqlite"
        os.replace(self.path, target)
        for suffix in ("-wal", "-shm"):
            Path(f"{self.path}{suffix}").unlink(missing_ok=True)
        self._notice(f"the catalog was damaged ({reason}); it lies in {target} and is rebuilt from the manifests")


def _has_tables(connection: sqlite3.Connection) -> bool:
    row = connection.execute(
        "select count(*) from sqlite_master where name in ('capture', 'fetched', 'span')"
    ).fetchone()
    return int(row[0]) == 3


def _insert(connection: sqlite3.Connection, manifest: Manifest) -> None:
    digest = manifest.digest
    connection.execute(
        "insert or ignore into capture(capture_id, handle, cwd, command, family, raw_tokens, digest_tokens) "
        "values (?, ?, ?, ?, ?, ?, ?)",
        (
            manifest.capture_id,
            manifest.handle,
            manifest.cwd,
            str(digest.get("command", "")),
            str(digest.get("family", "")),
            int(digest.get("raw_tokens", 0)),
            int(digest.get("digest_tokens", 0)),
        ),
    )
