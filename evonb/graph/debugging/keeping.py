"""Writing a session to the run store as it goes: a row for every moment before anything follows from it, whole states
now and then, and where the session stands at every pause.

A whole state is kept when the deltas since the last one have grown as large as it, so both the file and the way back
stay small: the whole states cost as much as the deltas, and going on after a restart reads a bounded part. At a pause,
where a restart is likely, a quarter is enough.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evonb.errors import EvonbError
from evonb.graph import record as records
from evonb.graph.debugging.likeness import digest, shape_of
from evonb.graph.debugging.line import Moment
from evonb.graph.debugging.rows import plain, rough_size, row_of
from evonb.graph.debugging.views import waiting_data
from evonb.graph.ports import RunHeader, RunStore, StoredStep
from evonb.graph.warned import warn
from evonb.typing import MISSING

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["Keeper"]

_FEWEST = 8  # rows between two whole states, however small these are
_FEWEST_AT_PAUSE = 64
_PART_AT_PAUSE = 4


class Keeper:
    """Keeps one session in a store. What can't be kept costs one warning; the session goes on in memory."""

    def __init__(self, store: RunStore, session: Session, run_id: str) -> None:
        self.store = store
        self.run_id = run_id
        self._session = session
        self._notes: list[tuple[Moment, int]] = []
        self._given = 0  # waiting numbers that the last row knows of
        self._rows = 0
        self._size = 0
        self._whole = 0
        self._dirty = True
        self._breakpoints = -1
        self.lost = False

    @classmethod
    def begin(cls, store: RunStore, session: Session, inputs: Mapping[str, Any], run_id: str) -> Keeper | None:
        """A keeper for a new run; None, with a warning, if its inputs can't be kept."""
        made = cls(store, session, run_id)
        shape = shape_of(session.plan)
        header = RunHeader(
            run_id=run_id,
            graph_name=session.plan.name,
            name="",
            started_at=time.time(),
            inputs=dict(inputs),
            shape=digest(shape),
        )

        def write() -> None:
            store.begin(header)
            store.put(run_id, {"graph": shape, "status": "running"})

        made._tried(write, "inputs")
        made._whole = rough_size(dict(inputs))
        return None if made.lost else made

    def go_on(self, given: int) -> None:
        """Keep a session that was read from the store."""
        self._given = given
        self._dirty = False
        self._breakpoints = self._session.breakpoints.changes

    # --- moments -----------------------------------------------------------------------------------------

    def note(self, moment: Moment) -> None:
        """Have a moment written by the next `flush`."""
        self._notes.append((moment, self._session.numbers.last))
        self._dirty = True

    def flush(self, *, last: bool = False) -> None:
        """Write the moments noted; with `last` also where the session stands, in the same transaction."""
        notes, self._notes = self._notes, []
        for at, (moment, given) in enumerate(notes):
            documents = self._documents() if last and at == len(notes) - 1 else None
            row = self._with_whole(moment, row_of(moment, self._given, given), pauses=documents is not None)
            self._given = given
            self._write(moment, row, documents)

    def _write(self, moment: Moment, row: StoredStep, documents: Mapping[str, Any] | None) -> None:
        def write() -> None:
            self.store.append(self.run_id, row, documents)

        if self._tried(write, f"node {row.node!r}, step {moment.number}") and documents is not None:
            self._clean()

    def _with_whole(self, moment: Moment, row: StoredStep, *, pauses: bool) -> StoredStep:
        """The row, with the whole state and all counters if it is time and everything goes on from this one state."""
        if moment.number == 0:
            return replace(row, snapshot=self._values(moment))
        self._rows += 1
        self._size += rough_size(row.delta)
        if not self._is_time(pauses=pauses) or not _is_narrow(moment) or self._session.run.skipped:
            return row
        values = self._values(moment)
        visits = {str(index): count for index, count in enumerate(self._session.run.visits) if count}
        self._whole = rough_size(values) + 12 * len(visits)
        self._rows = self._size = 0
        waiting = moment.point.waiting[0]
        assert waiting.task is not None
        base = {"visits": visits, "turns": moment.point.turns, "waiting": waiting.number, "edge": waiting.task.edge}
        base |= {"node": waiting.node.name, "group": waiting.task.group, "visit": waiting.task.visit}
        return replace(row, snapshot=values, notes={**(row.notes or {}), "base": base})

    def _is_time(self, *, pauses: bool) -> bool:
        if pauses and self._rows >= _FEWEST_AT_PAUSE and self._size * _PART_AT_PAUSE >= self._whole:
            return True
        return self._rows >= _FEWEST and self._size >= self._whole

    def _values(self, moment: Moment) -> dict[str, Any]:
        values = plain(records.values_of(self._session.plan.schema, moment.record))
        return {key: value for key, value in values.items() if value is not MISSING}

    # --- where it stands -----------------------------------------------------------------------------------

    def moved(self) -> None:
        """The session stands somewhere else."""
        self._dirty = True

    def pause(self) -> None:
        """A command is over: write what isn't written yet."""
        self.flush(last=True)
        if self._breakpoints != self._session.breakpoints.changes:
            self._dirty = True
        if self._dirty and self._session.begun:
            documents = self._documents()
            if self._tried(lambda: self.store.put(self.run_id, documents), "where it stands"):
                self._clean()

    def put(self, documents: Mapping[str, Any]) -> None:
        """Keep small documents of plain JSON."""
        self._tried(lambda: self.store.put(self.run_id, documents), ", ".join(documents))

    def _clean(self) -> None:
        self._dirty = False
        self._breakpoints = self._session.breakpoints.changes

    def _documents(self) -> dict[str, Any]:
        session = self._session
        line = session.line
        present = line.present
        point = present.point
        status = "failed" if present.status == "failed" else session.status_after()
        documents: dict[str, Any] = {
            "status": "stopped" if present.status == "stopped" else status,
            "position": {
                "step": present.number,
                "newest": line.last_number,
                "branches": len(line.tips),
                "numbers": session.numbers.last,
                "status": status,
                "waiting": waiting_data(session),
                "marks": session.holding.marks(point.waiting),
                "clock": session.now(),
            },
        }
        if self._breakpoints != session.breakpoints.changes:
            documents["breakpoints"] = session.breakpoints.as_data()
        return documents

    def _tried(self, write: Callable[[], None], what: str) -> bool:
        if self.lost:
            return False
        try:
            write()
        except EvonbError as error:
            self._lose(f"{what}: {error.what}", error.fix)
        except Exception as error:  # a store of somebody else may raise anything; the run goes on
            self._lose(f"{what}: {type(error).__name__}: {error}", "")
        return not self.lost

    def _lose(self, why: str, fix: str) -> None:
        self.lost = True
        warn(
            f"The session of graph {self._session.plan.name!r} isn't kept from here on, and goes on in memory. {why}"
            + (f". {fix}" if fix else "")
        )


def _is_narrow(moment: Moment) -> bool:
    """Whether everything goes on from the state after this moment, by one task that can be made anew from it."""
    point = moment.point
    if len(point.waiting) != 1 or point.slots or point.ended:
        return False
    task = point.waiting[0].task
    return task is not None and task.place is None and task.node.joins is None and task.inputs == (moment.record,)
