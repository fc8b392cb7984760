"""`GraphEngineDebugger`: stop anywhere, step, look back, fix, go on; every step is kept.

The parts of its API are in `evonb.graph.debugging`, a module for each concern, over one `Session`.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from pydantic import PrivateAttr

from evonb.errors import GraphError
from evonb.graph.bus import Bus
from evonb.graph.debugging.beginning import begin
from evonb.graph.debugging.breaking import Breaking
from evonb.graph.debugging.changing import Changing
from evonb.graph.debugging.handle import SessionHandle
from evonb.graph.debugging.looking import Looking
from evonb.graph.debugging.running import Running
from evonb.graph.debugging.session import Session
from evonb.graph.debugging.storing import Storing
from evonb.graph.debugging.trace_tree import TraceTree
from evonb.graph.engine import NOT_GIVEN, GraphEngine
from evonb.graph.handle import RunHandle
from evonb.graph.isolate import take
from evonb.graph.ports import RunStore

__all__ = ["GraphEngineDebugger"]


class GraphEngineDebugger(Running, Looking, Changing, Breaking, Storing, GraphEngine):
    """An engine that can be stopped, stepped, looked back in, edited and gone on with, also in another process.

    A breakpoint holds the tasks of its node; other branches run on, and a command returns when nothing else can run.
    A command that runs nodes is refused while another does; looking, `pause` and `stop` aren't. `run` takes no notice
    of breakpoints or the session. Looking at an earlier step runs nothing, and going on from there makes a branch:
    nothing that was recorded is ever lost.

    Attributes:
        db_file_path: The file that sessions are kept in.
        db_name: Their name in it.
    """

    db_file_path: str = ".state_storage.db"
    db_name: str = "graph state"
    _session: Session = PrivateAttr()
    _trace_tree: TraceTree = PrivateAttr()
    _store: RunStore | None = PrivateAttr(default=None)
    _starting: Bus | None = PrivateAttr(default=None)

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        self._session = Session(self._plan, self._hub, self.max_turn)
        self._session.make_keeper = self._keeper_for
        self._trace_tree = TraceTree(self)

    def start(self, inputs: Mapping[str, Any] = NOT_GIVEN) -> RunHandle:
        """Begin a live session on the running loop and return at once; all commands work while it runs.

        Args:
            inputs: State keys and their first values.

        Returns:
            A handle: await it for the result, which may take until somebody resumes a paused session.

        Raises:
            SessionError: A session runs already.
        """
        bus = Bus(self._hub, live=True)
        with self._command("start") as session:
            inputs = take(dict(self._given(inputs, "start")))
        session.busy, self._starting = "start", bus
        return SessionHandle(bus, self, self._begin_live(inputs, bus))

    async def _begin_live(self, inputs: Mapping[str, Any], bus: Bus) -> Any:
        session = self._session
        session.busy, self._starting = "", None
        with session.command("start"):
            return await self._on(session) if await begin(session, inputs, bus) else None

    def _never_began(self, bus: Bus) -> None:
        """A live session is over: if it was cancelled before its loop came to it, other commands may begin again."""
        if self._starting is bus:
            self._session.busy, self._starting = "", None
            bus.shut()
            self._session.changed()

    def take_listeners(self, former: GraphEngine) -> None:
        """As for any engine; and its sessions tell them."""
        super().take_listeners(former)
        self._session.hub = former._hub

    def reset(self) -> None:
        """Forget the session and all breakpoints and pins. Stored runs stay."""
        with self._command("reset") as session:
            session.clear()
            session.breakpoints.clear()
            session.pins.clear()

    @classmethod
    def of(cls, graph: Any, db_file_path: str = "./.storage.db", db_name: str = "evofabric") -> GraphEngineDebugger:
        """A debugger of a builder's graph or of a built engine, with its limits.

        Args:
            db_file_path, db_name: Where its sessions are kept.

        Raises:
            GraphError: `graph` is no graph.
        """
        return cls._of(graph, db_file_path, db_name)

    @classmethod
    def open(cls, path: str | Path, run_id: str, *, graph: Any, name: str | None = None) -> GraphEngineDebugger:
        """A debugger that goes on with a stored run where it stands; runs nothing.

        Args:
            path: The file.
            run_id: The run.
            graph: The graph that the run is of: a builder or an engine with the same shape.
            name: The database in the file; None takes the graph's, or the one that builders use.

        Raises:
            GraphError: `graph` is no graph.
            SessionError: The graph has another shape; what differs is said.
            EvonbError: The file has no such run, or can't be read.
        """
        made = cls._of(graph, str(path), name)
        made.open_run(run_id)
        return made

    @classmethod
    def _of(cls, graph: Any, path: str, name: str | None) -> GraphEngineDebugger:
        build = getattr(graph, "build", None)
        if build is not None:
            made: GraphEngineDebugger = build(
                graph_mode="debug", db_file_path=path, **({} if name is None else {"db_name": name})
            )
            return made
        if not isinstance(graph, GraphEngine):
            raise GraphError(f"A graph is a builder or an engine, found {type(graph).__name__}", fix="graph=builder")
        fields = {each: getattr(graph, each) for each in GraphEngine.model_fields}
        fields["nodes"] = dict(graph.nodes)
        known = name or (graph.db_name if isinstance(graph, GraphEngineDebugger) else "evofabric")
        return cls(**fields, db_file_path=path, db_name=known)
