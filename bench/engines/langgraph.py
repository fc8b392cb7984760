"""LangGraph."""

from __future__ import annotations

import itertools
import operator
import sqlite3
from collections.abc import Callable, Iterable
from importlib import import_module
from typing import Annotated, Any, TypedDict

from bench.engines.base import Engine
from bench.flows import Flow, Run

__all__ = ["Langgraph"]

_NO_LIMIT = 10**9


class Langgraph(Engine):
    """Its states are TypedDicts; async graphs are awaited, sync ones called."""

    modules = "langgraph.graph, langgraph.graph.message, langgraph.config"

    def __init__(self) -> None:
        self.graph, self.messages, self.config = (import_module(name) for name in self.modules.split(", "))

    def message(self, text: str) -> Any:
        """A user's message."""
        return import_module("langchain_core.messages").HumanMessage(text)

    def build(self, flow: Flow, **options: Any) -> Any:
        """The compiled graph."""

        def declared(key: str, value: Any) -> Any:
            if key in flow.appends:
                return Annotated[list, self.messages.add_messages]
            return Annotated[int, operator.add] if key in flow.sums else type(value)

        make: Any = TypedDict
        builder = self.graph.StateGraph(
            make("BenchState", {key: declared(key, value) for key, value in flow.initial.items()})
        )
        for name, node in flow.nodes.items():
            builder.add_node(name, node)
        builder.add_edge(self.graph.START, flow.entry)
        for source, target in flow.edges:
            if target != flow.join:
                builder.add_edge(source, self._end(target))
        if flow.join is not None:
            builder.add_edge([source for source, target in flow.edges if target == flow.join], flow.join)
        for source, (router, targets) in flow.routes.items():
            builder.add_conditional_edges(source, router, {target: self._end(target) for target in targets})
        return builder.compile(**options)

    def _end(self, name: str) -> Any:
        return self.graph.END if name == "end" else name

    def run_of(self, flow: Flow) -> Run:
        """A run of the compiled graph."""
        graph = self.build(flow)
        config = {"recursion_limit": _NO_LIMIT}

        async def called() -> Any:
            return graph.invoke(dict(flow.initial), config)

        async def awaited() -> Any:
            return await graph.ainvoke(dict(flow.initial), config)

        return awaited if flow.is_async else called

    def stream_of(self, produce: Callable[[], Iterable[Any]], handler: Callable[[Any], None]) -> Run:
        """A node that writes to the custom stream."""

        async def emit(state: Any) -> dict[str, int]:
            write = self.config.get_stream_writer()
            for chunk in produce():
                write(chunk)
            return {"count": 1}

        graph = self.build(Flow({"emit": emit}, [("emit", "end")], {"count": 0}))

        async def run() -> None:
            async for chunk in graph.astream({"count": 0}, stream_mode="custom"):
                handler(chunk)

        return run

    def persisted(self, flow: Flow, file: str) -> Run:
        """A run with the SQLite checkpointer, written before each next step."""
        saver = import_module("langgraph.checkpoint.sqlite").SqliteSaver
        graph = self.build(flow, checkpointer=saver(sqlite3.connect(file, check_same_thread=False)))
        threads = itertools.count()

        async def run() -> Any:
            config = {"recursion_limit": _NO_LIMIT, "configurable": {"thread_id": str(next(threads))}}
            return graph.invoke(dict(flow.initial), config, durability="sync")

        return run
