"""Writing a session to the run store as it goes: a row for every moment before anything follows from it, states now and
then (`basing`), and where the session stands at every pause.
"""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Any

from evonb.errors import EvonbError
from evonb.graph.debugging.attempts import DOCUMENT
from evonb.graph.debugging.basing import Bases
from evonb.graph.debugging.likeness import digest, shape_of
from evonb.graph.debugging.line import Inner, Moment
from evonb.graph.debugging.rows import row_of
from evonb.graph.debugging.views import inside_data, waiting_data
from evonb.graph.ports import RunHeader, RunStore, StoredStep
from evonb.graph.warned import warn

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["Keeper"]


class Keeper:
    """Keeps one session in a store. What can't be kept costs one warning; the session goes on in memory."""

    def __init__(self, store: RunStore, session: Session, run_id: str) -> None:
        self.store = store
        self.run_id = run_id
        self._session = session
        self._notes: list[tuple[Moment, int]] = []
        self._given = 0  # waiting numbers that the last row knows of
        self.bases = Bases(session)
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
        made.bases.begin(inputs)
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

    def note_inner(self, inner: Inner) -> None:
        """Write a step inside of a sub-graph."""
        self._dirty = True
        row = inner.row
        self._tried(lambda: self.store.append(self.run_id, row), f"node {row.node!r} inside, step {row.number}")

    def flush(self, *, last: bool = False) -> None:
        """Write the moments noted; with `last` also where the session stands, in the same transaction."""
        notes, self._notes = self._notes, []
        for at, (moment, given) in enumerate(notes):
            documents = self._documents() if last and at == len(notes) - 1 else None
            row = _after_inner(moment, row_of(moment, self._given, given), self._session.line.last_inner)
            row = self.bases.added(moment, row, pauses=documents is not None)
            self._given = given
            self._write(moment, row, documents)

    def _write(self, moment: Moment, row: StoredStep, documents: Mapping[str, Any] | None) -> None:
        def write() -> None:
            self.store.append(self.run_id, row, documents)

        if self._tried(write, f"node {row.node!r}, step {moment.number}") and documents is not None:
            self._clean()

    # --- where it stands -----------------------------------------------------------------------------------

    def moved(self) -> None:
        """The session stands somewhere else."""
        self._dirty = True

    def pause(self) -> None:
        """A command is over: write what isn't written yet."""
        self.flush(last=True)
        if self._breakpoints != self._session.breakpoints.changes or not self._session.attempts.is_written:
            self._dirty = True
        if self._dirty and self._session.begun:
            documents = self._documents()
            if self._tried(lambda: self.store.put(self.run_id, documents), "where it stands"):
                self._clean()

    def put(self, documents: Mapping[str, Any]) -> bool:
        """Keep small documents of plain JSON; tells whether they are kept."""
        return self._tried(lambda: self.store.put(self.run_id, documents), ", ".join(documents))

    def _clean(self) -> None:
        self._dirty = False
        self._breakpoints = self._session.breakpoints.changes
        self._session.attempts.is_written = True

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
        if line.last_inner:
            inner = 0 if line.inner is None else line.inner.number
            documents["position"] |= {
                "inner": inner, "inners": line.last_inner, "at_end": line.is_at_end, "inside": inside_data(session)
            }  # fmt: skip
        if self._breakpoints != session.breakpoints.changes:
            documents["breakpoints"] = session.breakpoints.as_data()
        if not session.attempts.is_written:
            documents[DOCUMENT] = session.attempts.as_data()
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


def _after_inner(moment: Moment, row: StoredStep, made: int) -> StoredStep:
    """The row with what there is of steps inside: the one that it was made after, and how many there were."""
    if not made:
        return row
    after = None if moment.after is None else moment.after.number
    return replace(row, notes={**(row.notes or {}), "after": after, "inners": made})
