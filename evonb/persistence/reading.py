"""What is asked of an open file. No cursor stays open between calls: a reader must not hold up anybody's log."""

from __future__ import annotations

import json
import sqlite3
from typing import Any

from evonb.graph.ports import RunSummary
from evonb.persistence.owner import Owner
from evonb.persistence.rows import COLUMNS, Values, plain
from evonb.persistence.schema import step_id, step_ids

__all__ = ["FoundRun", "blob", "document", "find_run", "page", "run_ids", "step", "summaries"]

PAGE = 128

FoundRun = tuple[int, Values]
"""A run's id in the file, and the values of its header: graph_name, name, started_at, inputs, shape."""

_FIND = """SELECT runs.id, graph_name, runs.name, started_at, inputs, shape
    FROM runs JOIN databases ON databases.id = runs.database WHERE databases.name = ? AND run_id = ?"""
_SUMMARIES = """SELECT run_id, graph_name, runs.name, started_at, changed_at, steps, size_bytes, owner,
    status.body, position.body FROM runs JOIN databases ON databases.id = runs.database
    LEFT JOIN documents AS status ON status.run = runs.id AND status.name = 'status'
    LEFT JOIN documents AS position ON position.run = runs.id AND position.name = 'position'
    WHERE databases.name = ? AND (? IS NULL OR graph_name = ?) ORDER BY started_at DESC, runs.id DESC"""
_IDS = """SELECT run_id, databases.name FROM runs JOIN databases ON databases.id = runs.database
    ORDER BY runs.id DESC LIMIT 2000"""


def find_run(connection: sqlite3.Connection, database: str, run_id: str) -> FoundRun | None:
    """A run by its id."""
    row = connection.execute(_FIND, (plain(database), plain(run_id))).fetchone()
    return None if row is None else (row[0], row[1:])


def run_ids(connection: sqlite3.Connection) -> list[tuple[str, str]]:
    """Ids and databases of the newest runs of the file."""
    return connection.execute(_IDS).fetchall()


def summaries(connection: sqlite3.Connection, database: str, graph_name: str | None) -> list[RunSummary]:
    """The runs of a database, newest first."""
    rows = connection.execute(_SUMMARIES, (plain(database), graph_name, graph_name)).fetchall()
    return [_summary(row) for row in rows]


def _summary(row: Values) -> RunSummary:
    run_id, graph_name, name, started_at, changed_at, steps, size_bytes, owner, status, position = row
    told, by = status_of(status), Owner.read(owner)
    goes_on = told == "running" or steps - 1 > _newest(position)
    return RunSummary(
        run_id=run_id,
        graph_name=graph_name,
        name=name,
        started_at=started_at,
        changed_at=changed_at,
        status="interrupted" if goes_on and (by is None or by.is_gone()) else told,
        steps=steps,
        size_bytes=size_bytes,
    )


def _newest(text: str | None) -> float:
    """The newest step at the last pause; of a run that doesn't tell of pauses, none is newer."""
    position: Any = json.loads(text) if text else None
    newest = position.get("newest") if isinstance(position, dict) else None
    return newest if isinstance(newest, int) else float("inf")


def status_of(text: str | None) -> str:
    """The status that a document holds; "" if there is none."""
    body: Any = json.loads(text) if text else ""
    return body if isinstance(body, str) else json.dumps(body)


def document(connection: sqlite3.Connection, run: int, name: str) -> str | None:
    """A document's text."""
    row = connection.execute("SELECT body FROM documents WHERE run = ? AND name = ?", (run, name)).fetchone()
    return None if row is None else row[0]


def blob(connection: sqlite3.Connection, run: int, digest: str) -> bytes | None:
    """A body by its digest."""
    row = connection.execute("SELECT body FROM blobs WHERE run = ? AND digest = ?", (run, digest)).fetchone()
    return None if row is None else row[0]


def step(connection: sqlite3.Connection, run: int, number: int) -> Values | None:
    """One step's values."""
    row: Values | None = connection.execute(
        f"SELECT {COLUMNS} FROM steps WHERE id = ?", (step_id(run, number),)
    ).fetchone()
    return row


def page(
    connection: sqlite3.Connection, run: int, after: int, before: int, *, newest_first: bool
) -> list[tuple[int, Values]]:
    """The next steps with numbers above `after` and below `before`, at most `PAGE`."""
    first, last = step_ids(run, after)[0], step_id(run, before) - 1
    order = "DESC" if newest_first else "ASC"
    sql = f"SELECT id, {COLUMNS} FROM steps WHERE id BETWEEN ? AND ? ORDER BY id {order} LIMIT {PAGE}"
    rows = connection.execute(sql, (first, last)).fetchall()
    return [(row[0] - step_id(run, 0), row[1:]) for row in rows]
