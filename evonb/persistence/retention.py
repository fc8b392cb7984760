"""How large a file is and how it is kept small: old runs go, bodies that nothing refers to go, free pages go."""

from __future__ import annotations

import re
import sqlite3
import time
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from evonb.persistence.owner import Owner
from evonb.persistence.rows import plain
from evonb.persistence.schema import step_ids

__all__ = ["Limits", "collect", "delete_runs", "file_size", "outdated", "shrink"]

_DIGEST = re.compile(r'"([A-Za-z0-9_-]{20})"')
_RUNS = """SELECT runs.id, run_id, changed_at, size_bytes, owner FROM runs
    JOIN databases ON databases.id = runs.database WHERE databases.name = ? ORDER BY changed_at DESC, runs.id DESC"""


def file_size(path: Path | None, connection: sqlite3.Connection | None) -> int:
    """Bytes that the file takes with its log; of a database in memory, its pages."""
    if path is not None:
        return sum(each.stat().st_size for each in (path, Path(f"{path}-wal")) if each.exists())
    if connection is None:
        return 0
    pages, size = (connection.execute(f"PRAGMA {name}").fetchone()[0] for name in ("page_count", "page_size"))
    return int(pages * size)


@dataclass(frozen=True, slots=True)
class Limits:
    """What may stay: so many runs, changed so lately, of so many bytes together; None is no limit.

    Attributes:
        spared: Ids of runs that stay in any case.
    """

    keep_runs: int | None = None
    older_than_s: float | None = None
    max_bytes: int | None = None
    spared: frozenset[str] = frozenset()


def outdated(connection: sqlite3.Connection, database: str, limits: Limits, mine: Owner) -> list[tuple[int, str]]:
    """Runs that are to go, the one first that wasn't changed for longest; never one that another store is writing."""
    kept = total = 0
    gone = []
    for run, run_id, changed_at, size_bytes, owner in connection.execute(_RUNS, (plain(database),)).fetchall():
        total += size_bytes
        is_old = limits.older_than_s is not None and changed_at < time.time() - limits.older_than_s
        is_many = limits.keep_runs is not None and kept >= limits.keep_runs
        is_much = limits.max_bytes is not None and total > limits.max_bytes
        by = Owner.read(owner)
        is_spared = run_id in limits.spared or (by is not None and by != mine and by.is_alive())
        if (is_old or is_many or is_much) and not is_spared:
            total -= size_bytes
            gone.append((run, run_id))
        else:
            kept += 1
    gone.reverse()
    return gone


def delete_runs(connection: sqlite3.Connection, runs: Iterable[int]) -> None:
    """Take runs out, in one transaction."""
    with _transaction(connection):
        for run in runs:
            connection.execute("DELETE FROM steps WHERE id BETWEEN ? AND ?", step_ids(run))
            for table in ("documents", "blobs"):
                connection.execute(f"DELETE FROM {table} WHERE run = ?", (run,))
            connection.execute("DELETE FROM runs WHERE id = ?", (run,))


def collect(connection: sqlite3.Connection, mine: Owner) -> None:
    """Take out the bodies that no step refers to any more (steps were taken back), but of runs that others write."""
    for run, owner in connection.execute("SELECT id, owner FROM runs").fetchall():
        living = Owner.read(owner)
        if living is None or living == mine or not living.is_alive():
            with _transaction(connection):
                _collect_run(connection, run)


def _collect_run(connection: sqlite3.Connection, run: int) -> None:
    lost = {row[0] for row in connection.execute("SELECT digest FROM blobs WHERE run = ?", (run,))}
    if not lost:
        return
    rows = connection.execute("SELECT delta, cut, snapshot, notes FROM steps WHERE id BETWEEN ? AND ?", step_ids(run))
    texts = [text for row in rows for text in row if text]
    texts += [row[0] for row in connection.execute("SELECT inputs FROM runs WHERE id = ?", (run,))]
    while texts:
        found = lost.intersection(_DIGEST.findall(texts.pop()))
        lost -= found
        for digest in found:
            sql = "SELECT body FROM blobs WHERE run = ? AND digest = ?"
            (body,) = connection.execute(sql, (run, digest)).fetchone()
            # A body may be a text with digests of its own; what only looks like one keeps a body too many.
            texts.append(body.decode("utf-8", "replace"))
    connection.executemany("DELETE FROM blobs WHERE run = ? AND digest = ?", [(run, digest) for digest in lost])


def shrink(connection: sqlite3.Connection) -> None:
    """Give free pages back to the system."""
    connection.execute("VACUUM")
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchall()


class _transaction:
    def __init__(self, connection: sqlite3.Connection) -> None:
        self._connection = connection

    def __enter__(self) -> None:
        self._connection.execute("BEGIN IMMEDIATE")

    def __exit__(self, kind: object, *_: object) -> None:
        if self._connection.in_transaction:
            self._connection.execute("COMMIT" if kind is None else "ROLLBACK")
