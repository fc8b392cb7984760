"""What a store answers: from memory where it knows, from the file else, and both together where a run is in both."""

from __future__ import annotations

import difflib
import json
import sqlite3
from collections.abc import Iterator, Mapping
from heapq import merge
from operator import itemgetter
from typing import Any

from evonb.graph.ports import RunHeader, RunSummary, StoredStep
from evonb.persistence import reading
from evonb.persistence.codec import decode_mapping
from evonb.persistence.errors import StoreError, UnknownRun
from evonb.persistence.keeper import Keeper
from evonb.persistence.mirror import RunCopy
from evonb.persistence.rows import Fetch, Values, from_row, plain
from evonb.persistence.schema import INNER

__all__ = ["Lookup"]


class Lookup:
    """The reading half of a `RunStore`."""

    def __init__(self, keeper: Keeper) -> None:
        self._keeper = keeper
        self._lock = keeper.lock
        self.name = keeper.database

    # --- answers -----------------------------------------------------------------------

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

    def steps(
        self, run_id: str, *, after: int = 0, newest_first: bool = False, inner: bool = False
    ) -> Iterator[StoredStep]:
        """Steps with numbers above `after`, in order or from the last one down, read as they are asked for.

        With `inner` those that were made inside of sub-graphs, else the others.

        Raises:
            UnknownRun, StoreError: As for `step`.
        """
        after, before = (after + INNER, 2 * INNER) if inner else (after, INNER)
        with self._lock:
            copy = self._copy(run_id)
            known = {number: row.values for number, row in copy.rows().items() if after < number < before}
            here = sorted(known.items(), reverse=newest_first)
        rows: Iterator[tuple[int, Values]] = iter(here)
        if not copy.is_whole:
            stored = self._stored(copy, after, before, known, newest_first=newest_first)
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
        self, copy: RunCopy, after: int, before: int, known: Mapping[int, Values], *, newest_first: bool
    ) -> Iterator[tuple[int, Values]]:
        """Rows that are only in the file, page by page."""
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

    def _page(self, copy: RunCopy, after: int, before: int, *, newest_first: bool) -> list[tuple[int, Values]]:
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
                    steps=sum(key < INNER for key in rows),
                    size_bytes=sum(row.size_bytes for row in rows.values()),
                )
        return found
