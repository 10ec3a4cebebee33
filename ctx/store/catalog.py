"""The catalog: an SQLite index of the manifests, rebuilt from them when missing or damaged (S2.3, S2.4, S2.6).

Nothing lives here alone. A writer publishes its manifest, then appends its id to a list of announcements, which costs
it neither a database nor a lock; whoever reads next turns announcements into rows. A reader that finds a handle missing
also looks for manifests that nobody announced, so a writer that died between the two loses nothing. Where the catalog
cannot be written (a read-only or full disk), an index in memory takes its place for as long as the process lives.
"""

import fcntl
import os
import re
import sqlite3
import time
from collections.abc import Callable, Iterable, Iterator
from contextlib import closing, contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from ctx.errors import DamagedError, StoreError
from ctx.store.layout import ANNOUNCED, FILE_MODE, private_folder
from ctx.store.manifests import Manifest, Manifests

BUSY_SECONDS = 2.0
"""How long a lock of somebody else is waited for."""
_RETRY_SECONDS = 0.02
_SCHEMA = 2
"""Version of the tables; a catalog of another version is built anew."""
_TABLES = """
create table capture(
    ordinal integer primary key autoincrement,
    capture_id text not null unique,
    handle text not null,
    workspace text not null,
    started_at text not null,
    command text not null,
    raw_tokens integer not null,
    digest_tokens integer not null
);
create index capture_handle on capture(handle);
"""
_HELD = (sqlite3.SQLITE_BUSY, sqlite3.SQLITE_LOCKED, sqlite3.SQLITE_PROTOCOL)
_DAMAGED = (sqlite3.SQLITE_CORRUPT, sqlite3.SQLITE_NOTADB, sqlite3.SQLITE_ERROR)
"""Damage, and tables that are not ours."""
_CAPTURE_ID = re.compile(r"[0-9a-f]{64}")
_Result = TypeVar("_Result")


class Catalog:
    """The index of one store."""

    def __init__(self, root: Path, manifests: Manifests, notice: Callable[[str], None]) -> None:
        self.path = root / "catalog.sqlite"
        self._root = root
        self._announced = root / ANNOUNCED
        self._manifests = manifests
        self._notice = notice
        self._memory: sqlite3.Connection | None = None

    def handles(self, prefix: str, *, limit: int = 9) -> list[tuple[str, str]]:
        """Handles that begin with `prefix`, each with a command that made it, at most `limit`."""
        query = "select handle, max(command) from capture where handle >= ? and handle < ? group by handle limit ?"
        arguments = (prefix, prefix + "g", limit)
        return self._looked_up(lambda c: [(str(h), str(m)) for h, m in c.execute(query, arguments)])

    def captures(self, handle: str) -> list[str]:
        """Capture ids of a handle, newest first."""
        query = "select capture_id from capture where handle = ? order by ordinal desc"
        return self._looked_up(lambda c: [str(row[0]) for row in c.execute(query, (handle,))])

    def newest(self, workspace: str | None = None) -> tuple[str, str] | None:
        """Handle and start of the newest capture, of one workspace where it is named."""
        query = (
            "select handle, started_at from capture where (?1 is null or workspace = ?1) order by ordinal desc limit 1"
        )
        rows = self._looked_up(lambda c: [(str(h), str(s)) for h, s in c.execute(query, (workspace,))])
        return rows[0] if rows else None

    def nearest(self, handle: str, *, limit: int = 3) -> list[str]:
        """Handles next to `handle` in order, for a message."""
        query = "select distinct handle from capture where handle >= ? order by handle limit ?"
        before = "select distinct handle from capture where handle < ? order by handle desc limit ?"

        def look(connection: sqlite3.Connection) -> list[str]:
            rows = [*connection.execute(before, (handle, limit)), *connection.execute(query, (handle, limit))]
            return sorted(str(row[0]) for row in rows)[:limit]

        return self._run(look)

    def totals(self) -> tuple[int, int, int]:
        """Captures, raw tok, digest tok: sums over everything in the store.

        Sums have no name that could be found missing, so this checks the index whole and against the manifests.
        """

        def look(connection: sqlite3.Connection) -> tuple[int, int, int]:
            found = connection.execute("pragma quick_check(1)").fetchone()[0]
            if found != "ok":
                raise sqlite3.DatabaseError(str(found))
            rows = connection.execute("select count(*) from capture").fetchone()[0]
            if rows < sum(1 for _ in self._manifests.capture_ids()):
                with _transaction(connection):
                    self._adopt_unindexed(connection)
            sums = "select count(*), coalesce(sum(raw_tokens), 0), coalesce(sum(digest_tokens), 0) from capture"
            captures, raw, digest = connection.execute(sums).fetchone()
            return int(captures), int(raw), int(digest)

        return self._run(look)

    def _looked_up(self, look: Callable[[sqlite3.Connection], list[_Result]]) -> list[_Result]:
        def adopted(connection: sqlite3.Connection) -> list[_Result]:
            found = look(connection)
            if not found:
                with _transaction(connection):
                    self._adopt_unindexed(connection)
                found = look(connection)
            return found

        return self._run(adopted)

    # Building the index ----------------------------------------------------------------------------------------------

    def _absorb(self, connection: sqlite3.Connection) -> None:
        """Turn announcements into rows; a list that a dead reader took along is taken over."""
        if self._announced.exists():
            with suppress(FileNotFoundError):  # another reader took it
                os.replace(self._announced, f"{self._announced}.{os.getpid()}.{os.urandom(4).hex()}")
        taken = self._taken()
        if not taken:
            return
        with _transaction(connection):
            for path in taken:
                self._index(connection, _named(path))
        for path in taken:
            path.unlink(missing_ok=True)

    def _taken(self) -> list[Path]:
        """Lists that a reader took along, the oldest first."""
        return sorted(self._root.glob(f"{self._announced.name}.*"), key=_age)

    def _waiting(self) -> list[str]:
        """Ids that are announced and have no row yet, in the order in which they were published."""
        return [capture_id for path in (*self._taken(), self._announced) for capture_id in _named(path)]

    def _adopt_unindexed(self, connection: sqlite3.Connection, *, besides: Iterable[str] = ()) -> None:
        """Index manifests that have no row, in the order in which they were captured."""
        known = {str(row[0]) for row in connection.execute("select capture_id from capture")}.union(besides)
        self._index(connection, (i for i in self._manifests.capture_ids() if i not in known), sort=True)

    def _index(self, connection: sqlite3.Connection, capture_ids: Iterable[str], *, sort: bool = False) -> None:
        """Make rows, in the order of the ids or in that of their captures."""
        found: list[Manifest] = []
        for capture_id in capture_ids:
            if not self._manifests.has(capture_id):
                continue
            try:
                found.append(self._manifests.get(capture_id))
            except DamagedError as error:
                self._notice(f"{error}; set aside as {self._manifests.set_aside(capture_id)}")
        if sort:
            found.sort(key=lambda m: (m.started_at or "", self._manifests.written_ns(m.capture_id), m.nonce))
        for manifest in found:
            _insert(connection, manifest)

    def _build(self, connection: sqlite3.Connection) -> None:
        """Make the tables and fill them from the manifests but those that are announced: they come next, in order."""
        for name in ("capture", "fetched", "span"):
            connection.execute(f"drop table if exists {name}")
        for statement in _TABLES.split(";"):
            connection.execute(statement)
        self._adopt_unindexed(connection, besides=self._waiting())
        connection.execute(f"pragma user_version={_SCHEMA}")

    # Opening ---------------------------------------------------------------------------------------------------------

    def _run(self, work: Callable[[sqlite3.Connection], _Result]) -> _Result:
        """`work` on the index, after what waited was indexed.

        Raises:
            StoreError: Somebody held the lock for longer than we wait, or this is no store of ours.
        """
        until = time.monotonic() + BUSY_SECONDS
        damaged = 0
        while self._memory is None:
            inode = self._inode()
            try:
                with self._connection(max(0.0, until - time.monotonic())) as connection:
                    return work(connection)
            except sqlite3.DatabaseError as error:
                code = getattr(error, "sqlite_errorcode", sqlite3.SQLITE_CORRUPT) & 0xFF
                if code in _HELD:
                    if time.monotonic() >= until:
                        raise StoreError(f"store {self.path}: somebody holds its lock; try again later") from None
                    time.sleep(_RETRY_SECONDS)
                elif code in _DAMAGED and damaged < 2 and self._set_aside(str(error), inode):
                    damaged += 1
                else:
                    self._memory = self._in_memory()
            except OSError:
                self._memory = self._in_memory()
        try:
            return work(self._memory)
        except sqlite3.Error as error:
            raise StoreError(f"store {self.path}: {error}") from None

    @contextmanager
    def _connection(self, timeout_seconds: float) -> Iterator[sqlite3.Connection]:
        private_folder(self._root)
        if not self.path.exists():
            self._create()
        if self.path.stat().st_size == 0:  # SQLite takes a file that was cut to nothing for a new one
            raise sqlite3.DatabaseError("the file is empty")
        with closing(sqlite3.connect(self.path, timeout=timeout_seconds, isolation_level=None)) as connection:
            if connection.execute("pragma user_version").fetchone()[0] != _SCHEMA:
                with _transaction(connection):
                    self._build(connection)
            connection.execute("pragma synchronous=normal")
            self._absorb(connection)
            yield connection

    def _create(self) -> None:
        """A whole catalog under its name, or none: it is built beside and linked."""
        beside = self._root / f"catalog.{os.getpid()}.{os.urandom(4).hex()}.new"
        try:
            os.close(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, FILE_MODE))
            with closing(sqlite3.connect(beside, isolation_level=None)) as connection:
                connection.execute("pragma journal_mode=wal")
                with _transaction(connection):
                    self._build(connection)
            with suppress(FileExistsError):  # another reader was faster
                os.link(beside, self.path)
        finally:
            with suppress(OSError):
                beside.unlink(missing_ok=True)

    def _in_memory(self) -> sqlite3.Connection:
        connection = sqlite3.connect(":memory:", isolation_level=None, check_same_thread=False)
        waiting = self._waiting()
        self._build(connection)
        self._index(connection, waiting)
        return connection

    def _inode(self) -> int:
        try:
            return self.path.stat().st_ino
        except OSError:
            return 0

    def _set_aside(self, reason: str, inode: int) -> bool:
        """Move a damaged catalog away under a name of its own and name it; False where it cannot be moved.

        Of several readers that met the damage one moves the file; the others find a new one in its place.
        """
        try:
            lost = private_folder(self._root, "lost+found")
            descriptor = os.open(lost / ".lock", os.O_WRONLY | os.O_CREAT, FILE_MODE)
            try:
                fcntl.flock(descriptor, fcntl.LOCK_EX)
                if self._inode() != inode:
                    return True
                number = 1
                while (lost / f"catalog.{number}.sqlite").exists():
                    number += 1
                target = lost / f"catalog.{number}.sqlite"
                os.replace(self.path, target)
                for suffix in ("-wal", "-shm"):
                    Path(f"{self.path}{suffix}").unlink(missing_ok=True)
            finally:
                os.close(descriptor)
        except (OSError, StoreError) as error:
            self._notice(f"the catalog is damaged ({reason}) and cannot be replaced: {error}")
            return False
        self._notice(f"the catalog was damaged ({reason}); it lies in {target} and is rebuilt from the manifests")
        return True


def _named(path: Path) -> list[str]:
    """Capture ids in a list of announcements; rubbish that a full disk left in it names nothing."""
    try:
        words = path.read_text(encoding="ascii", errors="replace").split()
    except FileNotFoundError:  # another reader absorbed it
        return []
    return [word for word in words if _CAPTURE_ID.fullmatch(word)]


def _age(path: Path) -> tuple[int, str]:
    """Sorts lists of announcements that dead readers left, the oldest first."""
    try:
        return path.stat().st_mtime_ns, path.name
    except OSError:
        return 0, path.name


@contextmanager
def _transaction(connection: sqlite3.Connection) -> Iterator[None]:
    connection.execute("begin immediate")
    try:
        yield
    except BaseException:
        connection.execute("rollback")
        raise
    connection.execute("commit")


def _insert(connection: sqlite3.Connection, manifest: Manifest) -> None:
    digest = manifest.digest
    connection.execute(
        "insert or ignore into capture(capture_id, handle, workspace, started_at, command, raw_tokens, digest_tokens) "
        "values (?, ?, ?, ?, ?, ?, ?)",
        (
            manifest.capture_id,
            manifest.handle,
            manifest.workspace or "",
            manifest.started_at or "",
            str(digest.get("command", "")),
            int(digest.get("raw_tokens", 0)),
            int(digest.get("digest_tokens", 0)),
        ),
    )
