"""evonb and evofabric: the same documented interface, so the same adapter with other imports."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Annotated, Any

from pydantic import BaseModel, create_model

from bench.engines.base import Engine
from bench.flows import END, Flow, Run

__all__ = ["Evofabric", "Evonb"]

_SUM = "bench_sum"


class Readable(BaseModel):
    """A model state that is read as a dict is."""

    def __getitem__(self, key: str) -> Any:
        return getattr(self, key)


class _Documented(Engine):
    def __init__(self) -> None:
        self.graph, self.types = (import_module(name) for name in self.modules.split(", "))
        missing = self.types.MISSING

        def add(old: Any = missing, new: Any = missing) -> Any:
            return (0 if old is missing else old) + (0 if new is missing else new)

        self.sum = "add"
        if not self.graph.StateUpdater.registered("add"):
            self.sum = _SUM
            self.graph.StateUpdater.register(_SUM)(add)

    def message(self, text: str) -> Any:
        """A user's message."""
        return self.types.UserMessage(content=text)

    def schema(self, flow: Flow) -> type[BaseModel]:
        """The state of a flow as a model."""

        any_message: Any = self.types.StateMessage

        def declared(key: str, value: Any) -> Any:
            if key in flow.appends:
                return Annotated[list[any_message], "append_messages"], []
            return Annotated[type(value), self.sum if key in flow.sums else "overwrite"], type(value)()

        fields = {key: declared(key, value) for key, value in flow.initial.items()}
        return create_model("BenchState", __base__=Readable, **fields)

    def build(self, flow: Flow, **options: Any) -> Any:
        """The built graph."""
        builder = self.graph.GraphBuilder(state_schema=self.schema(flow))
        for name, node in flow.nodes.items():
            builder.add_node(name, node, action_mode="all" if name == flow.join else "any")
        builder.set_entry_point(flow.entry)
        for source, target in flow.edges:
            if target != END:  # nodes without an edge are connected to the end by build()
                builder.add_edge(source, target)
        for source, (router, targets) in flow.routes.items():
            builder.add_condition_edge(source, router, targets)
        return builder.build(**options)

    def run_of(self, flow: Flow) -> Run:
        """A run of the built graph."""
        engine = self.build(flow)
        return lambda: engine.run(dict(flow.initial))

    def stream_of(self, produce: Callable[[], Iterable[Any]], handler: Callable[[Any], None]) -> Run:
        """A node that puts into its stream writer."""

        async def emit(state: Any, stream_writer: Any) -> dict[str, int]:
            for chunk in produce():
                stream_writer.put(chunk)
            return {"count": 1}

        node: Any = emit
        engine = self.build(Flow({"emit": node}, [("emit", END)], {"count": 0}))

        async def run() -> None:
            self.graph.set_streaming_handler(handler)
            await engine.run({"count": 0})

        return run

    def persisted(self, flow: Flow, file: str) -> Run:
        """A debugging session, stepped from start to end."""
        engine = self.build(flow, graph_mode="debug", db_file_path=file)
        engine.set_breakpoint(flow.entry)  # stop at once; step_over then runs one node at a time

        async def run() -> Any:
            state = await engine.debug(dict(flow.initial))
            self.kept(engine)
            while state is None:
                state = await engine.step_over()
                self.kept(engine)
            return state

        return run

    def kept(self, engine: Any) -> None:
        """See to it that the step is in the file."""


class Evonb(_Documented):
    """evonb; each step is in the file by itself."""

    modules = "evonb.graph, evonb.typing"


class Evofabric(_Documented):
    """evofabric, without the log that it writes by default."""

    modules = "evofabric.core.graph, evofabric.core.typing"

    def __init__(self) -> None:
        super().__init__()
        import_module("loguru").logger.remove()

    def kept(self, engine: Any) -> None:
        """Its steps are stored on demand."""
        engine.save_status_to_db()
