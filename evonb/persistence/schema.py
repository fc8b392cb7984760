"""The tables, and how older files become newer ones.

A step's id is its run's id and its own number in one integer: steps of a run lie together in order of number, in the
one tree that a rowid table is, so that adding one touches its end only and reading from either end needs no index.
Steps inside of sub-graphs, which are counted apart, have the upper half of their run's numbers.
"""

from __future__ import annotations

import sqlite3

from evonb.persistence.errors import Unusable

__all__ = ["APPLICATION", "INNER", "VERSION", "identify", "migrate", "step_id", "step_ids"]

APPLICATION = 0x65766F6E
"""Marks a file as ours in its header ("evon"), so that no other program's database is ever changed."""

_NUMBERS = 1 << 32

INNER = 1 << 31
"""Added to the number of a step that was made inside of a sub-graph's node: the key of its row in its run."""

_FIRST = (
    "CREATE TABLE databases (id INTEGER PRIMARY KEY, name TEXT NOT NULL UNIQUE)",
    """CREATE TABLE runs (
        id INTEGER PRIMARY KEY, database INTEGER NOT NULL, run_id TEXT NOT NULL, graph_name TEXT NOT NULL,
        name TEXT NOT NULL, started_at REAL NOT NULL, changed_at REAL NOT NULL, inputs TEXT NOT NULL,
        shape TEXT NOT NULL, steps INTEGER NOT NULL DEFAULT 0, size_bytes INTEGER NOT NULL DEFAULT 0, owner TEXT,
        UNIQUE (database, run_id))""",
    """CREATE TABLE steps (
        id INTEGER PRIMARY KEY, branch INTEGER NOT NULL, node TEXT NOT NULL, visit INTEGER NOT NULL,
        parents TEXT NOT NULL, status TEXT NOT NULL, at_s REAL NOT NULL, duration_s REAL NOT NULL,
        size_bytes INTEGER NOT NULL, delta TEXT NOT NULL, cut TEXT, snapshot TEXT, notes TEXT)""",
    "CREATE TABLE documents (run INTEGER, name TEXT, body TEXT NOT NULL, PRIMARY KEY (run, name)) WITHOUT ROWID",
    """CREATE TABLE blobs (
        id INTEGER PRIMARY KEY, run INTEGER NOT NULL, digest TEXT NOT NULL, body BLOB NOT NULL,
        UNIQUE (run, digest))""",
)

_INSIDE = ("ALTER TABLE runs ADD COLUMN inner_steps INTEGER NOT NULL DEFAULT 0",)
"""Steps inside of sub-graphs; an older program, which would take them for steps of the line, refuses the file."""

MIGRATIONS: tuple[tuple[str, ...], ...] = (_FIRST, _INSIDE)
"""What takes a file of version n to version n + 1. Released entries never change."""

VERSION = len(MIGRATIONS)


def step_id(run: int, number: int) -> int:
    """The id of a step by its number, which for one inside of a sub-graph is above `INNER`."""
    return run * _NUMBERS + number


def step_ids(run: int, after: int = -1) -> tuple[int, int]:
    """First and last possible id of a run's steps with numbers above `after`, those inside of sub-graphs included."""
    return step_id(run, max(after, -1) + 1), step_id(run + 1, 0) - 1


def identify(connection: sqlite3.Connection) -> int:
    """The version of a file, 0 for an empty one.

    Raises:
        Unusable: It is a database of another program, or of a newer evonb.
        sqlite3.Error: It isn't readable.
    """
    (application,) = connection.execute("PRAGMA application_id").fetchone()
    (version,) = connection.execute("PRAGMA user_version").fetchone()
    (tables,) = connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    if not tables:
        return 0
    if application != APPLICATION:
        raise Unusable("foreign")
    if version > VERSION:
        raise Unusable("newer", f"format {version}; this one reads up to {VERSION}")
    return int(version)


def migrate(connection: sqlite3.Connection) -> None:
    """Bring a file to the current version, in one transaction: after a crash it is as before.

    Raises:
        Unusable, sqlite3.Error: As for `identify`.
    """
    if identify(connection) == VERSION:
        return
    connection.execute("BEGIN IMMEDIATE")
    try:
        # Somebody else may have done it while we waited for the lock.
        for statements in MIGRATIONS[identify(connection) :]:
            for statement in statements:
                connection.execute(statement)
        connection.execute(f"PRAGMA user_version = {VERSION}")
        connection.execute(f"PRAGMA application_id = {APPLICATION}")
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise
