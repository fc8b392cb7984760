"""Keeps one file: opens it when it is needed, gives it up when it fails, and comes back to it.

Whatever happens to the file, what a session wrote stays in `copies`, and a caller never waits longer than about a
second. All of it runs under `lock`; problems are told when that is released, so that who hears of them may do anything.
"""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from pathlib import Path
from typing import TypeVar
from weakref import WeakMethod

from evonb.logger import get_logger
from evonb.persistence import reading
from evonb.persistence.diagnosis import diagnose, problem
from evonb.persistence.errors import DuplicateRun, ProblemKind, StoreError, StoreWarning, Unusable
from evonb.persistence.mirror import RunCopy, known_where
from evonb.persistence.opening import BUSY_MS, File, open_file
from evonb.persistence.owner import Owner
from evonb.persistence.writing import Missing, Taken, commit

__all__ = ["Keeper", "Notify"]

Notify = Callable[[StoreError], None]
T = TypeVar("T")

_FIRST_RETRY_S, _LAST_RETRY_S = 0.5, 10.0
_SAY_AGAIN_S = 60.0
"""A problem that comes and goes is told once a minute at most."""

_MEMORY_BYTES = 64 << 20
"""How much of what is in the file already is kept in memory as well."""

_FAILURES = (sqlite3.Error, OSError, Unusable)
_IN_MEMORY = "; the session goes on in memory, and is written when that works again"

_log = get_logger(__name__)


class Turn:
    """The lock of a store. Who leaves it last says what there is to say."""

    __slots__ = ("_depth", "_lock", "_say", "waiting")

    def __init__(self, say: Notify) -> None:
        self._lock = threading.RLock()
        self._depth = 0
        self._say = say
        self.waiting: list[StoreError] = []

    def __enter__(self) -> None:
        self._lock.acquire()
        self._depth += 1

    def __exit__(self, *_: object) -> None:
        self._depth -= 1
        told: list[StoreError] = []
        if not self._depth and self.waiting:
            told, self.waiting = self.waiting, told
        self._lock.release()
        for each in told:
            self._say(each)


class Keeper:
    """See the module.

    Attributes:
        path: The file, None for a database in memory.
        lock: Is held by whoever calls.
        copies: The runs that were used, by id.
        problem: Why they can't be written now.
        owner: What this store is called in the file.
    """

    def __init__(self, path: Path | None, database: str, say: Notify) -> None:
        self.path = path
        self.database = database
        self.lock = Turn(say)
        self.copies: dict[str, RunCopy] = {}
        self.problem: StoreError | None = None
        self.owner = Owner.this()
        self._file: File | None = None
        self._unsaved: dict[str, RunCopy] = {}
        self._kept_bytes = 0
        self._retry_at = 0.0
        self._retry_s = _FIRST_RETRY_S
        self._timer: threading.Timer | None = None
        self._told_at: dict[ProblemKind, float] = {}

    @property
    def place(self) -> str:
        """How errors name the file."""
        return "the run store in memory" if self.path is None else f"file {self.path}"

    @property
    def memory(self) -> sqlite3.Connection | None:
        """The connection of a database in memory."""
        return self._file.connection if self.path is None and self._file is not None else None

    # --- writing -----------------------------------------------------------------------

    def write(self, copy: RunCopy) -> None:
        """Bring what is pending of a run into the file; if that can't be, it stays pending.

        Raises:
            DuplicateRun: A run that is new has the id of another. Nothing of it is kept.
        """
        if copy.is_taken:
            return
        self._unsaved[copy.header.run_id] = copy
        if self.problem is None or time.monotonic() >= self._retry_at:
            self._attempt(copy)

    def try_again(self) -> bool:
        """Write everything that is pending. Tells whether nothing is left."""
        if self._unsaved:
            self._attempt()
        return not self._unsaved

    def _attempt(self, new: RunCopy | None = None) -> None:
        while self._unsaved:
            copies: list[RunCopy] = []
            try:
                connection = self._open_to_write().connection
                copies = list(self._unsaved.values())
                found = commit(connection, self.database, copies, self.owner)
            except Taken as taken:
                self._was_taken(taken, new)
            except Missing as missing:
                # Somebody has moved the file or deleted the run, which is still in use here.
                missing.copy.was_lost()
                self._tell_loss()
            except _FAILURES as error:
                self._give_up(error)
                return
            else:
                self._was_saved(copies)
                for copy, living in found:
                    where = f"{self.place}, {copy.where}"
                    self.tell(problem("taken", where, str(living), "; it is written here from now on"))
        self.problem = None

    def _was_saved(self, copies: list[RunCopy]) -> None:
        self._kept_bytes += sum(copy.was_saved() for copy in copies)
        self._unsaved.clear()
        if self.problem is not None:
            _log.info("%s: written again", self.place)
            self._retry_s = _FIRST_RETRY_S
            if self._file is not None:
                self._file.wait_ms(BUSY_MS)
        if self._kept_bytes > _MEMORY_BYTES:
            for copy in self.copies.values():
                copy.forget()
            self._kept_bytes = 0

    def _was_taken(self, taken: Taken, new: RunCopy | None) -> None:
        copy = taken.copy
        del self._unsaved[copy.header.run_id]
        if copy.is_new and not copy.is_unsure and copy is new:
            raise DuplicateRun(
                f"There is a run {copy.header.run_id!r} already",
                where=f"{self.place}, database {self.database!r}",
                fix="give the new run an id of its own, or open the stored one",
            )
        copy.is_taken = True
        detail = str(taken.by or "one that has ended since")
        self.tell(problem("taken", f"{self.place}, {copy.where}", detail, "; here it goes on in memory"))

    def _give_up(self, error: Exception) -> None:
        """Go on in memory. The next attempt is made by a later call, or by a timer if there is none."""
        for copy in self._unsaved.values():
            copy.is_unsure = True
        self._retry_s = min(2 * self._retry_s, _LAST_RETRY_S) if self.problem is not None else _FIRST_RETRY_S
        self._retry_at = time.monotonic() + self._retry_s
        where = f"{self.place}, {known_where(self._unsaved)}"
        self.problem = diagnose(error, where, _IN_MEMORY)
        if self.problem.kind in ("locked", "full", "read-only") and self._file is not None:
            with suppress(sqlite3.Error):
                self._file.wait_ms(0)
        else:
            self._release()
        self._set_timer()
        self.tell(self.problem)

    def tell(self, told: StoreError) -> None:
        """Say what is wrong; the same kind not again at once. (Values and runs are told by the one.)"""
        now = time.monotonic()
        if told.kind not in ("value", "taken"):
            if now - self._told_at.get(told.kind, -_SAY_AGAIN_S) < _SAY_AGAIN_S:
                return
            self._told_at[told.kind] = now
        _log.warning("%s", told)
        self.lock.waiting.append(told)

    def _set_timer(self) -> None:
        if self._timer is None:
            self._timer = threading.Timer(self._retry_s, _retry, [WeakMethod(self._on_timer)])
            self._timer.daemon = True
            self._timer.start()

    def _on_timer(self) -> None:
        with self.lock:
            self._timer = None
            if self.problem is not None:
                self.try_again()

    # --- the file ----------------------------------------------------------------------

    def _open(self, *, create: bool) -> File | None:
        if self._file is not None and self._file.pid != os.getpid():
            self._release()  # we are a fork
            self._be_another()
        if self._file is None:
            self._file = open_file(self.path, create=create, busy_ms=0 if self.problem else BUSY_MS)
            for copy in self.copies.values():
                copy.row_id, copy.is_claimed = None, False
            if self._file is not None and not self._file.shares:
                self.tell(problem("network", self.place, "", "; it is written, but keep it to one notebook at a time"))
        return self._file

    def _open_to_write(self) -> File:
        """The file, opened and looked after.

        Raises:
            sqlite3.Error, OSError, Unusable: It can't be written.
        """
        if self._file is not None and not self._file.can_write:
            self._release()  # it was opened for looking; perhaps it may be written by now
        file = self._open(create=True)
        assert file is not None
        loss = file.loss()
        if loss in ("gone", "emptied"):
            self._start_anew(file)
            file = self._open(create=True)
            assert file is not None
        if not file.can_write:
            raise Unusable("read-only")
        was_damaged = self.problem is not None and self.problem.kind == "damaged"
        if (loss == "shrunk" or was_damaged) and not file.is_whole():
            raise Unusable("damaged", "pages are missing")
        return file

    def _start_anew(self, file: File) -> None:
        """The file is gone: what is known of its runs goes to a new one."""
        file.close_lost()
        self._file = None
        for run_id, copy in self.copies.items():
            if (copy.is_claimed or copy.pending is not None) and not copy.is_taken:
                copy.was_lost()
                self._unsaved[run_id] = copy
        self._kept_bytes = 0
        self._tell_loss()

    def _tell_loss(self) -> None:
        if self.problem is not None:
            return  # what was wrong was told: the file was moved, as the way out said
        whole = all(copy.is_whole for copy in self._unsaved.values())
        rest = "" if whole else "; of runs that were opened, earlier steps are lost with it"
        where = f"{self.place}, {known_where(self._unsaved)}"
        self.tell(problem("lost", where, "", f"; the runs of this session are written to a new one{rest}"))

    def _release(self) -> None:
        if self._file is not None:
            self._file.close()
            self._file = None

    def end(self) -> None:
        """The last thing that is done with the store; what is in memory ends with it."""
        with self.lock:
            self._close()
            self._release()

    def close(self) -> None:
        """Write what can be written, give up the runs, close the file. What couldn't be written stays here."""
        with self.lock:
            self._close()

    def _close(self) -> None:
        self.try_again()
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None
        if self.path is None:
            return  # closing it would be the end of its runs
        if self._file is not None and self._file.can_write and any(copy.is_claimed for copy in self.copies.values()):
            with suppress(sqlite3.Error):
                sql = "UPDATE runs SET owner = NULL WHERE owner = ?"
                self._file.connection.execute(sql, (self.owner.write(),))
        self._release()
        self._be_another()
        self.copies = dict(self._unsaved)
        self._kept_bytes = 0

    def _be_another(self) -> None:
        """What was ours belongs to nobody any more, or, in a fork, to the parent."""
        self.owner.release()
        self.owner = Owner.this()
        for copy in self.copies.values():
            copy.is_ours = False

    # --- asking ------------------------------------------------------------------------

    def query(self, ask: Callable[[sqlite3.Connection], T]) -> T | None:
        """Ask the file; None if there is none.

        Raises:
            StoreError: It can't be read.
        """
        try:
            is_ours = any(copy.is_claimed for copy in self.copies.values())
            if self._file is not None and not is_ours and self._file.loss() == "gone":
                self._release()  # another file has taken its place
            file = self._open(create=False)
            return None if file is None else ask(file.connection)
        except _FAILURES as error:
            raise diagnose(error, self.place) from error

    def ask(self, copy: RunCopy, ask: Callable[[sqlite3.Connection, int], T]) -> T | None:
        """Ask the file about a run; None if it isn't there.

        Raises:
            StoreError: The file can't be read.
        """

        def found(connection: sqlite3.Connection) -> T | None:
            if copy.row_id is None:
                row = reading.find_run(connection, self.database, copy.header.run_id)
                if row is None:
                    return None
                copy.row_id = row[0]
            return ask(connection, copy.row_id)

        return self.query(found)

    def command(self, do: Callable[[sqlite3.Connection], T]) -> T | None:
        """Change the file as a user asks; None if there is none.

        Raises:
            StoreError: It can't be written.
        """
        try:
            if self._open(create=False) is None:
                return None
            return do(self._open_to_write().connection)
        except _FAILURES as error:
            raise diagnose(error, self.place) from error


def _retry(method: WeakMethod[Callable[[], None]]) -> None:
    """The timer's work: it doesn't keep a keeper alive that nobody uses any more."""
    on_timer = method()
    if on_timer is not None:
        # Whoever turned warnings into errors has no caller here that could get one.
        with suppress(StoreWarning):
            on_timer()
