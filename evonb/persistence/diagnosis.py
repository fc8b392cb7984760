"""From an error of SQLite or of the system to what a person can do about it."""

from __future__ import annotations

import sqlite3
from dataclasses import dataclass

from evonb.persistence.errors import ProblemKind, StoreError, Unusable

__all__ = ["diagnose", "kind_of", "problem"]

_KINDS: dict[int, ProblemKind] = {
    sqlite3.SQLITE_BUSY: "locked",
    sqlite3.SQLITE_LOCKED: "locked",
    sqlite3.SQLITE_FULL: "full",
    sqlite3.SQLITE_READONLY: "read-only",
    sqlite3.SQLITE_PERM: "read-only",
    sqlite3.SQLITE_CORRUPT: "damaged",
    sqlite3.SQLITE_NOTADB: "damaged",
    sqlite3.SQLITE_SCHEMA: "damaged",
    sqlite3.SQLITE_CANTOPEN: "unreachable",
    sqlite3.SQLITE_PROTOCOL: "network",
    sqlite3.SQLITE_NOLFS: "network",
    sqlite3.SQLITE_IOERR: "unreachable",
}

# Extended codes that say more than their family does.
_EXTENDED: dict[int, ProblemKind] = {
    sqlite3.SQLITE_IOERR_SHMOPEN: "network",
    sqlite3.SQLITE_IOERR_SHMSIZE: "full",
    sqlite3.SQLITE_IOERR_SHMLOCK: "network",
    sqlite3.SQLITE_IOERR_SHMMAP: "network",
    sqlite3.SQLITE_IOERR_LOCK: "network",
    sqlite3.SQLITE_IOERR_RDLOCK: "network",
    # A write that a quota or a limit cuts off, and pages that a truncated file doesn't have any more.
    sqlite3.SQLITE_IOERR_WRITE: "full",
    sqlite3.SQLITE_IOERR_TRUNCATE: "full",
    sqlite3.SQLITE_IOERR_SHORT_READ: "damaged",
    sqlite3.SQLITE_READONLY_DBMOVED: "lost",
}


@dataclass(frozen=True, slots=True)
class _Words:
    what: str
    fix: str


_WORDS: dict[ProblemKind, _Words] = {
    "locked": _Words(
        "Another program keeps the run store's file locked",
        "close what holds it (a database viewer, a stuck kernel), or give another db_file_path",
    ),
    "full": _Words(
        "There is no room to write to the run store's file", "free some space, or give another db_file_path"
    ),
    "read-only": _Words(
        "The run store's file can't be written to",
        "allow writing to the file and its folder, or give a db_file_path elsewhere",
    ),
    "damaged": _Words(
        "The run store's file is damaged, or isn't one",
        "move it away (a new one is made then), or give another db_file_path",
    ),
    "foreign": _Words("The run store's file belongs to another program", "give another db_file_path"),
    "newer": _Words("The run store's file was written by a newer evonb", "update evonb, or give another db_file_path"),
    "network": _Words(
        "The run store's file is on a file system that SQLite can't share (often a network home)",
        "give a db_file_path on a local disk, such as one below /tmp",
    ),
    "unreachable": _Words(
        "The run store's file can't be opened", "make sure that its folder exists and may be written to"
    ),
    "lost": _Words("The run store's file was removed or emptied while it was in use", "leave it until the kernel ends"),
    "taken": _Words("Another process goes on with this run", "go on there, or start a new run here"),
}


def kind_of(error: Exception) -> ProblemKind:
    """What is wrong with a file, from what was raised."""
    if isinstance(error, Unusable):
        return error.kind
    code = getattr(error, "sqlite_errorcode", None)
    if code is None:
        return "full" if isinstance(error, OSError) and error.errno in (27, 28, 122) else "unreachable"
    return _EXTENDED.get(code) or _KINDS.get(code & 0xFF, "damaged")


def problem(kind: ProblemKind, where: str, detail: str = "", consequence: str = "") -> StoreError:
    """The error that describes a kind of problem."""
    words = _WORDS[kind]
    what = f"{words.what} ({detail})" if detail else words.what
    error = StoreError(f"{what}{consequence}", where=where, fix=words.fix)
    error.kind = kind
    return error


def diagnose(error: Exception, where: str, consequence: str = "") -> StoreError:
    """A clear error for one that isn't.

    Args:
        error: What SQLite, the system or `schema.identify` raised.
        where: The file, and the run if one is concerned.
        consequence: What happens now, as the end of the sentence: "; the session goes on in memory".
    """
    return problem(kind_of(error), where, str(error), consequence)
