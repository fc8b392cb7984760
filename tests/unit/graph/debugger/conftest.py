"""Graphs to debug: nodes that note when they are called, and an engine around them that keeps its runs in memory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from typing import Annotated, Any, TypedDict

import pytest

from evonb.graph import GraphBuilder, GraphEngineDebugger

DIAMOND = ("ab", "ac", "bd", "cd", "de")
LINE = ("ab", "bc", "cd")


class State(TypedDict):
    log: Annotated[list, "extend"]
    n: int


class Graphs:
    """Makes debuggers; `calls` says which nodes really ran."""

    def __init__(self) -> None:
        self.calls: list[str] = []

    def node(self, name: str, **delta: Any) -> Callable[[Any], dict[str, Any]]:
        """A node that logs its name and counts."""

        def body(state: Any) -> dict[str, Any]:
            self.calls.append(name)
            return {"log": [name], "n": state.get("n", 0) + 1, **delta}

        return body

    def builder(
        self, edges: Iterable[str] = LINE, joins: str = "", schema: Any = State, effects: str = "", **nodes: Any
    ) -> GraphBuilder:
        """Single letters are nodes; `nodes` gives some of them a function of their own."""
        builder = GraphBuilder(schema)
        for name in dict.fromkeys("".join(edges)):
            mode = "all" if name in joins else "any"
            builder.add_node(name, nodes.get(name) or self.node(name), action_mode=mode, effect=name in effects)
        for source, target in edges:
            builder.add_edge(source, target)
        builder.set_entry_point(next(iter(edges))[0])
        return builder

    def __call__(self, edges: Iterable[str] = LINE, joins: str = "", **options: Any) -> GraphEngineDebugger:
        return self.debugging(self.builder(edges, joins, **options))

    def diamond(self, **options: Any) -> GraphEngineDebugger:
        """a, then b and c, then d that waits for both, then e."""
        return self(DIAMOND, "d", **options)

    @staticmethod
    def debugging(builder: GraphBuilder, path: str = ":memory:", **options: Any) -> GraphEngineDebugger:
        """A debugger of a builder."""
        engine = builder.build(graph_mode="debug", db_file_path=path, **options)
        assert isinstance(engine, GraphEngineDebugger)
        return engine


@pytest.fixture
def graphs() -> Graphs:
    return Graphs()


@pytest.fixture
def names() -> Callable[[GraphEngineDebugger], list[str]]:
    """The names of what waits."""
    return lambda graph: [each.node_name for each in graph.waiting()]
