"""`GraphEngine`: a built graph. Thin: it holds the plan and the listeners, and starts runs."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Iterable, Mapping
from typing import TYPE_CHECKING, Any

from pydantic import BaseModel, PrivateAttr, SkipValidation

from evonb.errors import GraphError, StateError
from evonb.graph import record as records
from evonb.graph.bus import Bus, Hub
from evonb.graph.component import BaseComponent
from evonb.graph.edges import EdgeSpecBase
from evonb.graph.handle import RunHandle, run_all, run_in_loop_thread, stream_events
from evonb.graph.isolate import take
from evonb.graph.near import wrong_kind
from evonb.graph.nodes import AsyncNode, GraphNodeSpec
from evonb.graph.plan import Plan, compile_plan
from evonb.graph.record import Record
from evonb.graph.run import Run, telling
from evonb.graph.schema import Values, compile_schema
from evonb.graph.warned import warn
from evonb.typing import MISSING

if TYPE_CHECKING:
    from evonb.graph.events import Detach, Event, Listener
    from evonb.graph.topology import Finding, Topology

__all__ = ["GraphEngine"]


NOT_GIVEN: Any = MISSING
"""Stands for inputs that were left out, to be refused in words."""


class GraphEngine(BaseComponent):
    """A graph that runs. It never changes; each run has its own queue, state and stream, and runs may overlap.

    Attributes:
        nodes: The nodes by name.
        edges: The edges by source; those of "start" lead to the entry.
        state_schema: The schema; None takes any keys.
        max_turn: How many node executions one run may have; None for any number. What reached the end is kept.
        timeout: Seconds for one node execution; None for any time.
        name: What the graph is called in pictures and errors.
        strict: Whether unknown state keys are errors.

    Raises:
        GraphError: The nodes and edges make no graph.
        StateError: The schema isn't usable.
    """

    nodes: dict[str, GraphNodeSpec]
    edges: dict[str, list[EdgeSpecBase]]
    state_schema: SkipValidation[Any] = None
    max_turn: int | None = None
    timeout: float | None = None
    name: str = "graph"
    strict: bool = False
    _plan: Plan = PrivateAttr()
    _hub: Hub = PrivateAttr(default_factory=Hub)
    _topology: Topology | None = PrivateAttr(default=None)
    _built_from: tuple[Callable[[], Any], int] | None = PrivateAttr(default=None)

    def __init__(self, **fields: Any) -> None:
        super().__init__(**fields)
        # Not in model_post_init: pydantic would wrap our errors into its own.
        schema = compile_schema(self.state_schema, strict=self.strict)
        self._plan = compile_plan(self.name, self.nodes, self.edges, schema, self.timeout)

    # --- running ---------------------------------------------------------------------------

    async def run(self, inputs: Mapping[str, Any] = NOT_GIVEN) -> Any:
        """Run the graph once and wait for its end.

        Inputs aren't changed; a value that no node touched may be shared between inputs and result. If the run is
        cancelled or fails, nothing of it goes on.

        Args:
            inputs: State keys and their first values.

        Returns:
            The final state in the type of the schema; None, with a warning, if nothing reached the end.

        Raises:
            NodeError: A node failed; the user's exception is its cause.
            RouterError: A router answered an undeclared target.
            StateError: An input doesn't fit the schema.
        """
        return await self._run(Bus(self._hub), self._given(inputs))

    def run_sync(self, inputs: Mapping[str, Any] = NOT_GIVEN) -> Any:
        """As `run`, for plain code: blocks until the run's end.

        The run has a loop of its own, in a thread of its own, so this works where a loop is running too.
        """
        return run_in_loop_thread(self.run(inputs))

    def start(self, inputs: Mapping[str, Any] = NOT_GIVEN) -> RunHandle:
        """Begin a run on the running loop and return at once; sync nodes go to worker threads.

        Args:
            inputs: As for `run`.

        Returns:
            A handle: await it for the result, or stop the run by it.

        Raises:
            StateError: The inputs are no dict of state keys.
            GraphError: No loop is running.
        """
        given = take(dict(self._given(inputs, "start")))
        _needs_loop(self.name)
        bus = Bus(self._hub, live=True)
        return RunHandle(bus, self, self._run(bus, given))

    async def run_many(
        self, inputs: Iterable[Mapping[str, Any]], concurrency: int = 8, *, progress: bool = False
    ) -> list[Any]:
        """Run the graph once for each of many inputs.

        Args:
            inputs: The inputs of each run.
            concurrency: How many runs there may be at once.
            progress: Whether to show a progress bar, in a terminal or a notebook (needs `tqdm`).

        Returns:
            The results in the order of the inputs; in place of a failed run's result stands its error.

        Raises:
            GraphError: `concurrency` is no number above 0.
            StateError: The inputs are no list.
            MissingDependency: A progress bar is wanted, and `tqdm` is missing.
        """
        return await run_all(self.run, inputs, concurrency, progress=progress)

    def stream(self, inputs: Mapping[str, Any] = NOT_GIVEN) -> AsyncIterator[Event]:
        """The events of a new run, as an async iterator; leaving it early cancels the run.

        An error of the run is raised after its last event.
        """
        given = take(dict(self._given(inputs, "stream")))
        return stream_events(lambda listener: self._run(Bus(self._hub, (listener,)), given))

    def attach(self, listener: Listener, *, live: bool = False) -> Detach:
        """Have a function called with every event of every run of this engine.

        Calls come in `seq` order, one at a time per run, from the loop or from a node's thread. A listener that
        raises is dropped and logged; the run goes on.

        Args:
            listener: The function.
            live: Whether sync nodes go to worker threads meanwhile, so that the loop stays free to show things.

        Returns:
            A function that detaches it again.

        Raises:
            GraphError: It can't be called.
        """
        if not callable(listener):
            raise wrong_kind(
                GraphError,
                "A listener is called with each event",
                listener,
                where=f"graph {self.name!r}",
                fix="attach(print)",
            )
        return self._hub.attach(listener, live=live)

    def take_listeners(self, former: GraphEngine) -> None:
        """Have the listeners of an engine that this one takes the place of; they can still leave. Before any run."""
        self._hub = former._hub

    def _tell_if_outdated(self) -> None:
        """Warn, once, that the builder was changed since this engine was built."""
        made = self._built_from
        builder = None if made is None else made[0]()
        if made is None or builder is None or builder._version == made[1]:
            return
        self._built_from = None
        added = [name for name in builder._nodes if name not in self.nodes]
        what = f"node {added[0]!r} was added" if added else "edges were added"
        warn(
            f"Graph {self.name!r} runs as it was built; since then {what} to its builder. Build it again: "
            "engine = builder.build()"
        )

    def _given(self, inputs: Any, call: str = "run") -> Mapping[str, Any]:
        if isinstance(inputs, Mapping | BaseModel):
            return inputs  # type: ignore[return-value]  # a state of the schema's own class will do
        keys = list(self._plan.schema.fields)
        found = "none were given" if inputs is NOT_GIVEN else f"found {type(inputs).__name__} {inputs!r:.60}"
        raise StateError(
            f"The inputs of a run are a dict of state keys, {found}",
            where=f"graph {self.name!r}",
            fix=f"{call}({{{keys[0]!r}: ...}}), or {call}({{}}) to begin with nothing" if keys else f"{call}({{}})",
        )

    async def _run(self, bus: Bus, inputs: Mapping[str, Any]) -> Any:
        self._tell_if_outdated()
        run = Run(self._plan, bus, self.max_turn)
        try:
            return await self._finish(run, await self._begin(run, inputs))
        finally:
            await bus.close()

    async def _begin(self, run: Run, inputs: Mapping[str, Any]) -> Record | None:
        bus, schema = run.bus, self._plan.schema
        if bus.on:
            inputs = take(dict(inputs))  # events are kept, and must not change with the caller's objects
            telling().run_started(bus, self.name, inputs)
        try:
            return await run.execute(records.root(schema, inputs, borrow=True))
        except Exception as error:
            if bus.on:
                telling().run_failed(bus, self.name, error)
            raise
        except BaseException:
            if bus.on:
                reached = run.result()
                state = None if reached is None else self._state(reached)
                telling().run_finished(run, state, reason="stopped", message="stopped before its end")
            raise

    async def _finish(self, run: Run, reached: Record | None) -> Any:
        state = None if reached is None else self._state(reached)
        if run.bus.on:
            telling().run_finished(run, state)
            state = take(state)  # the events keep theirs
        if reached is None:
            warn(f"Graph {self.name!r}: nothing reached the end, so the result is None: {_why_no_end(run)}")
        return state

    def _state(self, record: Record) -> Any:
        schema = self._plan.schema
        return schema.view(records.values_of(schema, record))

    # --- as a node of another graph ----------------------------------------------------------

    def _as_node(self) -> SubgraphNode:
        return SubgraphNode(engine=self)

    async def run_nested(self, run: Run, values: Values) -> Values:
        """Run as a node of another graph, in its stream; gives what the state keys were changed by."""
        schema, path = self._plan.schema, run.path
        known = {key: value for key, value in values.items() if key in schema.fields or not schema.fields}
        start = run.root(known)
        reached = await run.execute(start)
        if run.bus.on:
            telling().run_finished(run, None)
        if reached is None:
            name = " > ".join(path)
            warn(f"Sub-graph {name!r}: nothing reached its end, so it changes nothing: {_why_no_end(run)}")
            return {}
        return records.changes_since(schema, start, reached)

    # --- looking at it -------------------------------------------------------------------------

    def topology(self) -> Topology:
        """What the graph looks like, sub-graphs included, with what `check` says."""
        if self._topology is None:
            from evonb.graph.describe import topology_of

            self._topology = topology_of(self)
        return self._topology

    def check(self) -> list[Finding]:
        """Everything that looks wrong about the graph, all at once; runs nothing."""
        from evonb.graph.check import check_engine

        return check_engine(self)

    def draw_graph(self, save_path: str | None = None, auto_open: bool = True) -> None:
        """Write the picture of the graph as one offline HTML page.

        Args:
            save_path: Where to; None keeps nothing, unless the page is to be opened.
            auto_open: Whether to open it in the browser.

        Raises:
            OSError: It can't be written.
        """
        from evonb.graph.drawing import draw

        draw(self.topology(), save_path, auto_open=auto_open)


def _needs_loop(name: str) -> None:
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        raise GraphError(
            "start() needs a running loop, and none runs here",
            where=f"graph {name!r}",
            fix="call it in async code, or wait for the result: run_sync(inputs)",
        ) from None


def _why_no_end(run: Run) -> str:
    from evonb.graph.waits import end_message  # most runs reach their end

    return end_message(run) or "no branch chose a target"


class SubgraphNode(AsyncNode):
    """An engine as a node; returns what its run changed."""

    engine: GraphEngine

    @property
    def _subgraph(self) -> GraphEngine:
        return self.engine

    async def __call__(self, state: Any) -> Any:
        """Run the graph on this state, in a stream of its own."""
        engine = self.engine
        schema = engine._plan.schema
        bus = Bus(engine._hub)
        try:
            run = Run(engine._plan, bus, engine.max_turn)
            return await engine.run_nested(run, {**schema.changes(state, "state")})
        finally:
            await bus.close()
