"""`SqliteStore`: runs in one SQLite file, many runs of many graphs, written step by step.

What is here is the order of things: into memory first, then into the file in one transaction. How a file is opened,
kept and given up is in `keeper`; how rows look and what is asked of the file is in the modules beside it.
"""

from __future__ import annotations

import difflib
import json
import sqlite3
import weakref
from collections.abc import Iterable, Iterator, Mapping
from datetime import timedelta
from heapq import merge
from operator import itemgetter
from pathlib import Path
from typing import Any

from evonb.graph.ports import RunHeader, RunSummary, StoredStep
from evonb.persistence import reading, retention
from evonb.persistence.codec import Problems, decode_mapping
from evonb.persistence.errors import DuplicateRun, StoreError, UnknownRun
from evonb.persistence.keeper import Keeper, Notify
from evonb.persistence.mirror import Change, RunCopy
from evonb.persistence.rows import Fetch, Values, document_text, from_row, header_values, plain, to_row

__all__ = ["SqliteStore"]


class SqliteStore:
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
        notify: Gets each problem in place of `warnings.warn`; called from the thread that met it.
    """

    def __init__(self, path: Path | str, name: str = "graph state", *, notify: Notify | None = None) -> None:
        self._keeper = Keeper(None if str(path) == ":memory:" else Path(path).expanduser().absolute(), name, notify)
        self._lock = self._keeper.lock
        # When nobody has the store any more, and at the interpreter's end.
        weakref.finalize(self, self._keeper.end)
        self.name = name

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
        texts = _texts(documents)
        with self._lock:
            copy = self._copy(run_id)
            if self._has_step(copy, step.number):
                raise DuplicateRun(
                    f"There is a step {step.number} already",
                    where=copy.where,
                    fix="give each step a number of its own, or drop the old one first",
                )
            copy.change(Change(steps={step.number: row}, documents=texts, blobs=blobs))
            if problems:
                copy.live[step.number] = step
            self._keeper.write(copy)
        if problems:
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

    # --- reading -----------------------------------------------------------------------

    def header(self, run_id: str) -> RunHeader:
        """The run's header.

        Raises:
            UnknownRun: There is no such run; near ids are offered.
            StoreError: The file can't be read.
        """
        with self._lock:
            return self._copy(run_id).header

    def document(self, run_id: str, name: str) -> Any:
        """A document, or None.

        Raises:
            UnknownRun, StoreError: As for `header`.
        """
        name = plain(name)
        with self._lock:
            copy = self._copy(run_id)
            text = copy.document(name)
            if text is None and not copy.has_document(name):
                text = self._keeper.ask(copy, lambda connection, run: reading.document(connection, run, name))
        return None if text is None else json.loads(text)

    def step(self, run_id: str, number: int) -> StoredStep | None:
        """One step by number.

        Raises:
            UnknownRun, StoreError: As for `header`, or the step's row is damaged.
        """
        with self._lock:
            copy = self._copy(run_id)
            row = copy.row(number)
            values = row.values if row is not None else None
            if values is None and not copy.is_whole and not copy.is_dropped(number):
                values = self._keeper.ask(copy, lambda connection, run: reading.step(connection, run, number))
        return None if values is None else self._decoded(copy, number, values)

    def steps(self, run_id: str, *, after: int = 0, newest_first: bool = False) -> Iterator[StoredStep]:
        """Steps with numbers above `after`, in order or from the last one down, read as they are asked for.

        Raises:
            UnknownRun, StoreError: As for `step`.
        """
        with self._lock:
            copy = self._copy(run_id)
            known = {number: row.values for number, row in copy.rows().items() if number > after}
            here = sorted(known.items(), reverse=newest_first)
        rows: Iterator[tuple[int, Values]] = iter(here)
        if not copy.is_whole:
            stored = self._stored(copy, after, known, newest_first=newest_first)
            rows = merge(here, stored, key=itemgetter(0), reverse=newest_first)
        for number, values in rows:
            yield self._decoded(copy, number, values)

    def runs(self, graph_name: str | None = None) -> list[RunSummary]:
        """All runs of this database, or of one graph, newest first.

        Raises:
            StoreError: The file can't be read, and nothing is known besides.
        """
        with self._lock:
            here = self._unsaved(graph_name)
            try:
                found = (
                    self._keeper.query(lambda connection: reading.summaries(connection, self.name, graph_name)) or []
                )
            except StoreError:
                if not here:
                    raise
                found = []
        listed = [here.pop(each.run_id, each) for each in found]
        return sorted([*listed, *here.values()], key=lambda each: each.started_at, reverse=True)

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

    def _copy(self, run_id: str) -> RunCopy:
        copy = self._keeper.copies.get(run_id)
        if copy is None:
            found = self._keeper.query(lambda connection: reading.find_run(connection, self.name, run_id))
            if found is None:
                raise self._unknown(run_id)
            copy = self._opened(run_id, *found)
            self._keeper.copies[run_id] = copy
        return copy

    def _opened(self, run_id: str, run: int, values: Values) -> RunCopy:
        graph_name, name, started_at, inputs, shape = values
        known = {"run_id": run_id, "graph_name": graph_name, "name": name, "started_at": started_at, "shape": shape}
        copy = RunCopy(RunHeader(**known, inputs={}), is_new=False, is_whole=False, row_id=run)
        copy.header = RunHeader(**known, inputs=decode_mapping(inputs, self._fetch(copy)))
        return copy

    def _has_step(self, copy: RunCopy, number: int) -> bool:
        if copy.is_whole or copy.row(number) is not None or copy.is_dropped(number):
            return copy.row(number) is not None
        try:
            return self._keeper.ask(copy, lambda connection, run: reading.step(connection, run, number)) is not None
        except StoreError:
            return False  # what is wrong with the file is told when it is written to

    def _unknown(self, run_id: str) -> UnknownRun:
        stored = self._keeper.query(reading.run_ids) or []
        own = list(dict.fromkeys([*(each for each, place in stored if place == self.name), *self._keeper.copies]))
        other = next((database for each, database in stored if each == run_id and database != self.name), None)
        near = difflib.get_close_matches(run_id, own, n=3, cutoff=0.5)
        fix = "`runs()` lists what there is" if own else "nothing has been stored yet"
        if near:
            fix = f"did you mean {' or '.join(map(repr, near))}?"
        if other is not None:
            fix = f"it is in the database {other!r} of this file"
        return UnknownRun(f"There is no run {run_id!r}", where=f"{self._keeper.place}, database {self.name!r}", fix=fix)

    def _fetch(self, copy: RunCopy) -> Fetch:
        def fetch(digest: str) -> bytes:
            with self._lock:
                body = copy.blob(digest)
                if body is None:
                    body = self._keeper.ask(copy, lambda connection, run: reading.blob(connection, run, digest))
            if body is None:
                raise StoreError(f"a part of it ({digest}) is missing")
            return body

        return fetch

    def _decoded(self, copy: RunCopy, number: int, values: Values) -> StoredStep:
        live = copy.live.get(number)
        where = f"{self._keeper.place}, {copy.where}"
        return live if live is not None else from_row(number, values, self._fetch(copy), where)

    def _stored(
        self, copy: RunCopy, after: int, known: Mapping[int, Values], *, newest_first: bool
    ) -> Iterator[tuple[int, Values]]:
        """Rows that are only in the file, page by page."""
        before: int | None = None
        while True:
            rows = self._page(copy, after, before, newest_first=newest_first)
            yield from (
                (number, values) for number, values in rows if number not in known and not copy.is_dropped(number)
            )
            if len(rows) < reading.PAGE:
                return
            if newest_first:
                before = rows[-1][0]
            else:
                after = rows[-1][0]

    def _page(self, copy: RunCopy, after: int, before: int | None, *, newest_first: bool) -> list[tuple[int, Values]]:
        def ask(connection: sqlite3.Connection, run: int) -> list[tuple[int, Values]]:
            return reading.page(connection, run, after, before, newest_first=newest_first)

        with self._lock:
            return self._keeper.ask(copy, ask) or []

    def _unsaved(self, graph_name: str | None) -> dict[str, RunSummary]:
        """Runs that are in memory only, or further on there."""
        found = {}
        for run_id, copy in self._keeper.copies.items():
            if copy.pending is not None and copy.is_whole and graph_name in (None, copy.header.graph_name):
                rows = copy.rows()
                found[run_id] = RunSummary(
                    run_id=run_id,
                    graph_name=copy.header.graph_name,
                    name=copy.header.name,
                    started_at=copy.header.started_at,
                    changed_at=copy.changed_at,
                    status=reading.status_of(copy.document("status")),
                    steps=len(rows),
                    size_bytes=sum(row.size_bytes for row in rows.values()),
                )
        return found

    def _tell(self, copy: RunCopy, problems: Problems, who: str) -> None:
        """Warn of values that can't be stored, once for each run and key."""
        for key, error in problems:
            if key not in copy.told:
                copy.told.add(key)
                what = f"{error.what}; a stand-in is stored, and this session keeps the value"
                told = StoreError(what, where=f"{copy.where}, {who}", fix=error.fix)
                told.kind = "value"
                self._keeper.tell(told)


def _texts(documents: Mapping[str, Any] | None) -> dict[str, str | None]:
    return {plain(name): document_text(name, body) for name, body in (documents or {}).items()}
