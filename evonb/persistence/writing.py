"""One transaction that brings pending changes into the file: every run in it whole, or none at all."""

from __future__ import annotations

import sqlite3
import time
from collections.abc import Iterable
from contextlib import suppress

from evonb.persistence.mirror import Change, RunCopy
from evonb.persistence.owner import Owner
from evonb.persistence.rows import COLUMNS, header_values, plain
from evonb.persistence.schema import INNER, step_id, step_ids

__all__ = ["Missing", "Taken", "commit"]

_INSERT = f"INSERT OR REPLACE INTO steps (id, {COLUMNS}) VALUES ({', '.join('?' * 13)})"
_DOCUMENT = "INSERT OR REPLACE INTO documents (run, name, body) VALUES (?, ?, ?)"
_BLOB = "INSERT OR IGNORE INTO blobs (run, digest, body) VALUES (?, ?, ?)"
_RUN = """INSERT INTO runs (database, run_id, graph_name, name, started_at, inputs, shape, changed_at, owner)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)"""
_TOUCH = """UPDATE runs
    SET changed_at = ?, steps = steps + ?, inner_steps = inner_steps + ?, size_bytes = size_bytes + ?
    WHERE id = ? AND owner = ?"""
_RECOUNT = """UPDATE runs SET changed_at = ?,
    steps = (SELECT count(*) FROM steps WHERE id BETWEEN ? AND ?),
    inner_steps = (SELECT count(*) FROM steps WHERE id BETWEEN ? AND ?),
    size_bytes = (SELECT total(size_bytes) FROM steps WHERE id BETWEEN ? AND ?)
               + (SELECT total(length(body)) FROM blobs WHERE run = ?)
    WHERE id = ? AND owner = ?"""


class Taken(Exception):
    """Another store goes on with a run that is ours, or has one with the id of a new run."""

    def __init__(self, copy: RunCopy, by: Owner | None) -> None:
        super().__init__()
        self.copy = copy
        self.by = by


class Missing(Exception):
    """A run that is ours isn't in the file any more."""

    def __init__(self, copy: RunCopy) -> None:
        super().__init__()
        self.copy = copy


def commit(
    connection: sqlite3.Connection, database: str, copies: Iterable[RunCopy], owner: Owner
) -> list[tuple[RunCopy, Owner]]:
    """Write what is pending.

    Args:
        connection: An open file's.
        database: Name of the database in the file.
        copies: Runs with something pending. They aren't changed, but for `row_id`.
        owner: The store that writes.

    Returns:
        Runs that were taken over from a store that still lives.

    Raises:
        Taken, Missing: One of them is another's, or is gone. Nothing is written.
        sqlite3.Error: Nothing is written, or everything is and that couldn't be told.
    """
    found: list[tuple[RunCopy, Owner]] = []
    connection.execute("BEGIN IMMEDIATE")
    try:
        for copy in copies:
            if not copy.is_claimed and (living := _claim(connection, database, copy, owner)) is not None:
                found.append((copy, living))
            assert copy.pending is not None
            _write(connection, copy, copy.pending, owner)
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            with suppress(sqlite3.Error):
                connection.execute("ROLLBACK")
        raise
    return found


def _claim(connection: sqlite3.Connection, database: str, copy: RunCopy, owner: Owner) -> Owner | None:
    """Make the run ours; gives the living owner that it had."""
    connection.execute("INSERT OR IGNORE INTO databases (name) VALUES (?)", (plain(database),))
    (place,) = connection.execute("SELECT id FROM databases WHERE name = ?", (plain(database),)).fetchone()
    sql = "SELECT id, owner FROM runs WHERE database = ? AND run_id = ?"
    row = connection.execute(sql, (place, plain(copy.header.run_id))).fetchone()
    if row is None:
        if not copy.is_new:
            raise Missing(copy)
        values = header_values(copy.header)[0]
        copy.row_id = connection.execute(_RUN, (place, *values, time.time(), owner.write())).lastrowid
        return None
    copy.row_id = row[0]
    before = Owner.read(row[1])
    if before == owner:
        return None
    if copy.is_new or copy.is_ours:
        # The id is another run's; or it was ours, and somebody has gone on with it while the file was out of reach.
        raise Taken(copy, before)
    connection.execute("UPDATE runs SET owner = ? WHERE id = ?", (owner.write(), copy.row_id))
    return before if before is not None and before.is_alive() else None


def _write(connection: sqlite3.Connection, copy: RunCopy, change: Change, owner: Owner) -> None:
    run = copy.row_id
    assert run is not None
    execute, grown = connection.execute, 0
    for number in change.dropped:
        execute("DELETE FROM steps WHERE id = ?", (step_id(run, number),))
    for digest, body in change.blobs.items():
        if execute(_BLOB, (run, digest, body)).rowcount:
            grown += len(body)
    for number, row in change.steps.items():
        execute(_INSERT, (step_id(run, number), *row.values))
        grown += row.size_bytes
    for name, text in change.documents.items():
        if text is None:
            execute("DELETE FROM documents WHERE run = ? AND name = ?", (run, name))
        else:
            execute(_DOCUMENT, (run, name, text))
    now, mine = time.time(), owner.write()
    if change.dropped or copy.is_unsure:
        first, last = step_ids(run)
        inner = step_id(run, INNER)
        touched = execute(_RECOUNT, (now, first, inner - 1, inner, last, first, last, run, run, mine)).rowcount
    else:
        inner = sum(key >= INNER for key in change.steps)
        touched = execute(_TOUCH, (now, len(change.steps) - inner, inner, grown, run, mine)).rowcount
    if not touched:
        row = execute("SELECT owner FROM runs WHERE id = ?", (run,)).fetchone()
        raise Taken(copy, Owner.read(row[0])) if row else Missing(copy)
