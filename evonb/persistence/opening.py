"""Opening the file: for writing where that goes, else for looking; never longer than about a second."""

from __future__ import annotations

import os
import shutil
import sqlite3
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Literal

from evonb.persistence.errors import Unusable
from evonb.persistence.schema import identify, migrate

__all__ = ["BUSY_MS", "File", "Loss", "open_file"]

BUSY_MS = 1000
"""How long a writer waits for another one. Ours hold the lock for well under a millisecond at a time."""

VFS = ""
"""SQLite's own layer to the file system, "" for the default one; tests take one without shared memory."""

Loss = Literal["gone", "emptied", "shrunk"]

_LEAKED: list[sqlite3.Connection] = []
"""Connections of a parent process: closing them here would drop its locks."""


class File:
    """An open file. Its connection may be used from any thread, by one at a time.

    Attributes:
        connection: In autocommit mode: transactions begin and end where the code says so.
        can_write: False for one that was opened for looking.
        shares: Whether several processes may write at once (a write-ahead log needs shared memory).
    """

    def __init__(self, connection: sqlite3.Connection, path: Path | None, *, can_write: bool, shares: bool) -> None:
        self.connection = connection
        self.can_write = can_write
        self.shares = shares
        self.pid = os.getpid()
        self._path = path
        self._id, self._size = _state(path) if path is not None else (None, 0)
        self._log_id = _state(_companions(path)[0])[0] if path is not None else None
        self._copy: tempfile.TemporaryDirectory[str] | None = None

    def loss(self) -> Loss | None:
        """Whether the file isn't any more what was opened: "shrunk" may be a clean-up by somebody else."""
        if self._path is None:
            return None
        identity, size = _state(self._path)
        if identity != self._id:
            return "gone"
        before, self._size = self._size, size
        return None if size >= before else "shrunk" if size else "emptied"

    def is_whole(self) -> bool:
        """Whether every page can be read."""
        return bool(self.connection.execute("PRAGMA quick_check(1)").fetchone() == ("ok",))

    def wait_ms(self, busy_ms: int) -> None:
        """Set how long to wait for other writers."""
        self.connection.execute(f"PRAGMA busy_timeout = {busy_ms}")

    def close(self) -> None:
        """Close it; of what another process handed down only the name is dropped."""
        if self.pid != os.getpid():
            _LEAKED.append(self.connection)
            return
        with suppress(sqlite3.Error):
            self.connection.close()
        if self._copy is not None:
            self._copy.cleanup()

    def close_lost(self) -> None:
        """Close a file that is gone or emptied so that what is left of its log doesn't end up in a new one."""
        if self._path is not None:
            log, index = _companions(self._path)
            stale = [log, index] if _state(log)[0] == self._log_id else []
            if _state(self._path) == (self._id, 0):
                # Without a name, SQLite neither copies the log into it nor removes a later log of that name.
                stale.append(self._path)
            for each in stale:
                with suppress(OSError):
                    each.unlink()
        self.close()


def _state(path: Path) -> tuple[tuple[int, int] | None, int]:
    try:
        found = os.stat(path)
    except OSError:
        return None, 0
    return (found.st_dev, found.st_ino), found.st_size


def _companions(path: Path) -> tuple[Path, Path]:
    return Path(f"{path}-wal"), Path(f"{path}-shm")


def open_file(path: Path | None, *, create: bool, busy_ms: int = BUSY_MS) -> File | None:
    """Open the file, None being one in memory.

    Args:
        path: The file.
        create: Whether to make it if there is none.
        busy_ms: How long to wait for others, now and later.

    Returns:
        The file; None if there is none, or an empty one, and `create` is off.

    Raises:
        Unusable, sqlite3.Error, OSError: It can't be opened, not even for looking.
    """
    if path is None:
        connection = _connect(None, busy_ms)
        migrate(connection)
        return File(connection, None, can_write=True, shares=True)
    if not path.exists() or not path.stat().st_size:
        if not create:
            return None
        return _open_for_writing(path, busy_ms)
    if not (os.access(path, os.W_OK) and os.access(path.parent, os.W_OK)):
        return _open_for_looking(path, busy_ms)
    return _open_for_writing(path, busy_ms)


def _connect(path: Path | None, busy_ms: int, options: str = "") -> sqlite3.Connection:
    layer = f"&vfs={VFS}" if VFS else ""
    # Autocommit; statements are prepared once and kept.
    return sqlite3.connect(
        ":memory:" if path is None else f"{path.absolute().as_uri()}?{options}{layer}",
        uri=path is not None,
        timeout=busy_ms / 1000,
        isolation_level=None,
        check_same_thread=False,
        cached_statements=64,
    )


def _open_for_writing(path: Path, busy_ms: int) -> File:
    deadline = time.monotonic() + busy_ms / 1000
    while True:
        connection = _connect(path, busy_ms, "mode=rwc")
        try:
            identify(connection)
            (mode,) = connection.execute("PRAGMA journal_mode = WAL").fetchone()
            shares = mode == "wal"
            # In a log a crash of this process loses nothing, and one of the machine at most the last moments.
            connection.execute(f"PRAGMA synchronous = {'NORMAL' if shares else 'FULL'}")
            migrate(connection)
            return File(connection, path, can_write=True, shares=shares)
        except sqlite3.OperationalError as error:
            connection.close()
            # Two processes that both turn the log on: SQLite refuses one of them at once instead of waiting.
            if error.sqlite_errorcode & 0xFF != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(0.01)
        except BaseException:
            connection.close()
            raise


def _open_for_looking(path: Path, busy_ms: int) -> File:
    first: sqlite3.Error | None = None
    log = _companions(path)[0]
    # An unchanging file needs no lock and no log; one with a log that can't be opened here is read from a copy.
    for options in ("mode=ro", "mode=ro&immutable=1"):
        if "immutable" in options and log.exists() and log.stat().st_size:
            continue
        connection = _connect(path, busy_ms, options)
        try:
            identify(connection)
            return File(connection, path, can_write=False, shares=True)
        except sqlite3.Error as error:
            connection.close()
            first = first or error
        except Unusable:
            connection.close()
            raise
    if not log.exists():
        raise first or Unusable("unreachable")
    return _open_copy(path, log, busy_ms)


def _open_copy(path: Path, log: Path, busy_ms: int) -> File:
    folder = tempfile.TemporaryDirectory(prefix="evonb-")
    try:
        copy = Path(folder.name) / path.name
        shutil.copyfile(path, copy)
        shutil.copyfile(log, _companions(copy)[0])
        connection = _connect(copy, busy_ms, "mode=rw")
        identify(connection)
    except BaseException:
        folder.cleanup()
        raise
    file = File(connection, path, can_write=False, shares=True)
    file._copy = folder
    return file
