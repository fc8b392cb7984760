"""`SqliteStore`: runs in one SQLite file, many runs of many graphs, written step by step.

What is here is the order of things: into memory first, then into the file in one transaction. How a file is opened,
kept and given up is in `keeper`, what is answered in `lookup`, and how rows look in the modules beside them.
"""

from __future__ import annotations

import warnings
import weakref
from collections.abc import Iterable, Mapping
from datetime import timedelta
from pathlib import Path
from typing import Any

from evonb.graph.ports import RunHeader, StoredStep
from evonb.persistence import reading, retention
from evonb.persistence.codec import Problems
from evonb.persistence.errors import DuplicateRun, StoreError, StoreWarning
from evonb.persistence.keeper import Keeper, Notify
from evonb.persistence.lookup import Lookup
from evonb.persistence.mirror import Change, RunCopy
from evonb.persistence.rows import document_text, header_values, key_of, plain, to_row

__all__ = ["SqliteStore"]


class SqliteStore(Lookup):
    """Keeps runs in a SQLite file. A `RunStore`; may be used from any thread.

    A step is in the file when `append` returns: killing the process loses none. What can't be written costs one
    `StoreWarning`; the session goes on in memory, and everything is written as soon as that works: at the next step,
    by itself a little later, at `flush` or at `close`. Commands that ask for something in the file (`header`, `runs`,
    `prune`) raise a `StoreError` where it can't be read. The file is made by the first run, not before.

    Several processes may write runs of their own to one file. One that goes on with a run of another is told so, and
    that other one is told at its next step and goes on in memory.

    Args:
        path: The file; ":memory:" keeps runs as long as the store.
        name: Keeps the runs of several databases in one file apart.
        notify: Gets each problem in place of `warnings.warn`, in the thread that met it, which may be the store's own.
    """

    def __init__(self, path: Path | str, name: str = "graph state", *, notify: Notify | None = None) -> None:
        self._notify = notify
        file = None if str(path) == ":memory:" else Path(path).expanduser().absolute()
        super().__init__(Keeper(file, name, _teller(self)))
        # When nobody has the store any more, and at the interpreter's end.
        weakref.finalize(self, self._keeper.end)

    # --- state -------------------------------------------------------------------------

    @property
    def path(self) -> Path | None:
        """The file, None for one in memory."""
        return self._keeper.path

    @property
    def problem(self) -> StoreError | None:
        """Why runs are only in memory now; None if they are in the file."""
        return self._keeper.problem

    # --- writing -----------------------------------------------------------------------

    def begin(self, header: RunHeader) -> None:
        """Register a run.

        Raises:
            DuplicateRun: Its id is there already.
        """
        blobs, problems = header_values(header)[1:]
        copy = RunCopy(header)
        with self._lock:
            if header.run_id in self._keeper.copies:
                raise DuplicateRun(
                    f"There is a run {header.run_id!r} already",
                    where=self._keeper.place,
                    fix="give the new run an id of its own, or open the stored one",
                )
            self._keeper.copies[header.run_id] = copy
            copy.change(Change(blobs=dict(blobs)))
            try:
                self._keeper.write(copy)
            except DuplicateRun:
                del self._keeper.copies[header.run_id]
                raise
            self._tell(copy, problems, "its inputs")

    def append(self, run_id: str, step: StoredStep, documents: Mapping[str, Any] | None = None) -> None:
        """Keep a step, and documents in the same transaction. After a crash both are there or neither.

        A value that can't be stored leaves a `StandIn` in the file and costs one warning, which has the path to it;
        this store goes on to give the step as it was.

        Raises:
            DuplicateRun: The run has a step of this number.
            UnknownRun: There is no such run.
            StateError: A document isn't plain JSON.
        """
        row, blobs, problems = to_row(step)
        key = key_of(step)
        texts = _texts(documents)
        with self._lock:
            copy = self._copy(run_id)
            if self._has_step(copy, key):
                known = copy.row(key) is not None
                whose = "" if known else ": somebody else has gone on with this run since it was opened here"
                raise DuplicateRun(
                    f"There is a step {step.number} already{whose}",
                    where=copy.where,
                    fix="give each step a number of its own, or drop the old one first"
                    if known
                    else "open the run again to go on from there",
                )
            copy.change(Change(steps={key: row}, documents=texts, blobs=blobs))
            if problems:
                copy.live[key] = step
            self._keeper.write(copy)
            self._tell(copy, problems, f"node {step.node!r}, visit {step.visit}")

    def put(self, run_id: str, documents: Mapping[str, Any]) -> None:
        """Replace documents by name; None deletes.

        Raises:
            UnknownRun, StateError: As for `append`.
        """
        texts = _texts(documents)
        with self._lock:
            copy = self._copy(run_id)
            copy.change(Change(documents=texts))
            self._keeper.write(copy)

    def drop_steps(self, run_id: str, numbers: list[int], documents: Mapping[str, Any] | None = None) -> None:
        """Take steps back, and put documents in the same transaction. A number that isn't there is fine.

        Raises:
            UnknownRun, StateError: As for `append`.
        """
        texts = _texts(documents)
        with self._lock:
            copy = self._copy(run_id)
            copy.change(Change(dropped=set(numbers), documents=texts))
            self._keeper.write(copy)

    def flush(self) -> bool:
        """Try now to write what is only in memory. Tells whether everything is in the file."""
        with self._lock:
            return self._keeper.try_again()

    def close(self) -> None:
        """Write what is still to be written, if possible, and release the file. A later call opens it again."""
        self._keeper.close()

    # --- keeping it small ----------------------------------------------------------------

    def size_bytes(self) -> int:
        """What the file takes on disk, with its log."""
        with self._lock:
            return retention.file_size(self.path, self._keeper.memory)

    def prune(
        self,
        *,
        keep_runs: int | None = None,
        older_than: timedelta | None = None,
        max_bytes: int | None = None,
        spare: Iterable[str] = (),
    ) -> list[str]:
        """Delete old runs of this database, then give the room back. What another store is writing stays.

        Args:
            keep_runs: Keep so many, those that were changed last.
            older_than: Delete those that weren't changed for so long.
            max_bytes: Delete from the oldest on until the rest takes no more than this.
            spare: Ids of runs that stay in any case, such as the one that is being debugged.

        Returns:
            The ids of the deleted runs.

        Raises:
            StoreError: The file can't be written to. Nothing is deleted.
        """
        age_s = None if older_than is None else older_than.total_seconds()
        limits = retention.Limits(keep_runs, age_s, max_bytes, frozenset(spare))
        mine = self._keeper.owner
        with self._lock:
            gone = self._keeper.command(lambda connection: retention.outdated(connection, self.name, limits, mine))
            if not gone:
                return []
            self._keeper.command(lambda connection: retention.delete_runs(connection, [run for run, _ in gone]))
            for _, run_id in gone:
                self._keeper.copies.pop(run_id, None)
            self.vacuum()
        return [run_id for _, run_id in gone]

    def vacuum(self) -> int:
        """Drop what nothing refers to any more and give free room back to the system. Gives the new size in bytes.

        Raises:
            StoreError: The file can't be written to, or another process is writing.
        """
        with self._lock:
            self._keeper.command(lambda connection: retention.collect(connection, self._keeper.owner))
            for copy in self._keeper.copies.values():
                copy.saved.blobs.clear()
                copy.is_whole = False
            self._keeper.command(retention.shrink)
            return self.size_bytes()

    # --- inside --------------------------------------------------------------------------

    def _has_step(self, copy: RunCopy, number: int) -> bool:
        if copy.is_whole or copy.row(number) is not None or copy.is_dropped(number):
            return copy.row(number) is not None
        try:
            return self._keeper.ask(copy, lambda connection, run: reading.step(connection, run, number)) is not None
        except StoreError:
            return False  # what is wrong with the file is told when it is written to

    def _tell(self, copy: RunCopy, problems: Problems, who: str) -> None:
        """Warn of values that can't be stored, once for each run and key."""
        for key, error in problems:
            if key not in copy.told:
                copy.told.add(key)
                what = f"{error.what}; a stand-in is stored, and this session keeps the value"
                told = StoreError(what, where=f"{copy.where}, {who}", fix=error.fix)
                told.kind = "value"
                self._keeper.tell(told)


def _teller(store: SqliteStore) -> Notify:
    """Tells problems for a store that may be gone: what outlives it must not keep it alive."""
    reference = weakref.ref(store)

    def tell(problem: StoreError) -> None:
        alive = reference()
        if alive is not None and alive._notify is not None:
            alive._notify(problem)
        else:
            warnings.warn(StoreWarning(problem), stacklevel=2)

    return tell


def _texts(documents: Mapping[str, Any] | None) -> dict[str, str | None]:
    return {plain(name): document_text(name, body) for name, body in (documents or {}).items()}
