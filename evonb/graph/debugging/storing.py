"""The debugger's commands about its store: which runs there are, and going on with one of them in a new process."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from evonb.graph import ports
from evonb.graph.bus import Bus
from evonb.graph.debugging.attempts import DOCUMENT
from evonb.graph.debugging.face import Face
from evonb.graph.debugging.keeping import Keeper
from evonb.graph.debugging.likeness import differences, shape_of
from evonb.graph.debugging.missing import stand_ins_of
from evonb.graph.debugging.points import SessionError
from evonb.graph.debugging.restoring import Reader
from evonb.graph.events import RunId
from evonb.graph.near import wrong_kind
from evonb.graph.ports import RunStore, RunSummary
from evonb.graph.warned import warn

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["Storing"]


class Storing(Face):
    """Keep and open runs."""

    if TYPE_CHECKING:
        db_file_path: str
        db_name: str
        _store: RunStore | None

    @property
    def store(self) -> RunStore:
        """The store that sessions are kept in; opened on first use."""
        if self._store is None:
            self._store = ports.default_store(Path(self.db_file_path), self.db_name)
        return self._store

    def use_store(self, store: RunStore) -> None:
        """Keep sessions in another store, from the next one on."""
        self._store = store

    def runs(self) -> list[RunSummary]:
        """The stored runs of this graph, newest first."""
        return self.store.runs(self.name)

    def open_run(self, run_id: str) -> None:
        """Go on with a stored run where it stands: breakpoints, pins, branches and half-arrived joins included.

        Runs nothing, and reads only where it stands; values are read when somebody asks, or before it goes on, old
        messages after that. A warning says then what couldn't be made again, such as objects whose class is gone.
        What routers and filters answered is kept; only a start that hadn't answered when the process was killed waits
        to be asked again, so they must give the same state the same answer.

        Args:
            run_id: As `runs` tells it.

        Raises:
            SessionError: The session runs, or the stored run is of a graph of another shape; what differs is said.
            EvonbError: The store knows no such run, or can't be read.
        """
        if not isinstance(run_id, str):
            raise wrong_kind(
                SessionError, "A run's id is a text", run_id, where=f"graph {self.name!r}", fix="see runs()"
            )
        with self._command("reset") as session:
            header = self.store.header(run_id)
            stored = self.store.document(run_id, "graph") or {}
            found = differences(stored, shape_of(session.plan)) if stored else []
            if found:
                raise SessionError(
                    f"The run {run_id!r} is of a graph with another shape: {'; '.join(found)}",
                    where=f"graph {self.name!r}, kept as {header.graph_name!r}",
                    fix="open it with the graph that it was made with",
                )
            session.clear()
            self._open(session, run_id)
            session.opened_with = header.inputs

    def _open(self, session: Session, run_id: str) -> None:
        bus = Bus(session.hub, live=True)
        bus.run_id = RunId(run_id)
        bus.shut()  # until something runs
        session.attach(bus)
        reader = Reader(session, self.store, run_id)
        session.began -= float(reader.position.get("clock", 0.0))
        self._breakpoints_from(session, run_id, reader)
        session.load, session.load_whole = self._loaders(session, reader, run_id)
        session.stored_position = None if reader.crashed or not reader.position else reader.position
        session.attempts.take_in(self.store.document(run_id, DOCUMENT), self.store, run_id)
        session.keeper = Keeper(self.store, session, run_id)
        session.keeper.go_on(reader.last_number)

    def _breakpoints_from(self, session: Session, run_id: str, reader: Reader) -> None:
        session.breakpoints.clear()
        session.breakpoints.take_in(self.store.document(run_id, "breakpoints") or ())
        session.holding.take_in(reader.position.get("marks", {}))
        pins: Mapping[str, Any] = self.store.document(run_id, "pins") or {}
        session.pins = {node: dict(delta) for node, delta in pins.items() if self._has_node(node)}

    def _loaders(self, session: Session, reader: Reader, run_id: str) -> tuple[Any, Any]:
        def tail() -> None:
            session.stored_position = None
            made = reader.tail_with_stand_ins()
            self._name_branches(session, run_id)
            if made:
                self._say_what_is_missing(run_id, stand_ins_of(session))

        reader.kept.tell_missing = lambda found: self._say_what_is_missing(run_id, found)
        return tail, reader.whole

    def _say_what_is_missing(self, run_id: str, found: Mapping[str, Any]) -> None:
        if not found:
            return
        named = [f"{path} ({each.type_name}: {each.reason})" for path, each in found.items()]
        more = f" and {len(named) - 5} more" if len(named) > 5 else ""
        warn(
            f"What waits in the run {run_id!r} of graph {self.name!r} holds stand-ins for values that can't be made "
            f"again: {'; '.join(named[:5])}{more}. Define or import their classes, then open it again; "
            f"or set them with edit(key, value)"
        )

    def _name_branches(self, session: Session, run_id: str) -> None:
        names: Mapping[str, str] = self.store.document(run_id, "names") or {}
        session.line.names = {int(branch): name for branch, name in names.items()}

    def save_status_to_db(self) -> None:
        """Write where the session stands. Every step is written by itself, so this is never needed."""
        if self._session.keeper is not None and not self._session.busy:
            self._session.keeper.pause()

    def _keeper_for(self, session: Session, inputs: Mapping[str, Any]) -> Keeper | None:
        return Keeper.begin(self.store, session, inputs, session.run.bus.run_id)
