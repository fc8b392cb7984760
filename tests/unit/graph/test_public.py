"""The public face: names, what importing loads, what the topology tells."""

from __future__ import annotations

import subprocess
import sys
from typing import Any, TypedDict

import pytest

import evonb.graph as graph
from evonb.graph import AsyncNode, EdgeSpec, GraphBuilder, GraphWarning, cast_edge
from evonb.graph.topology import NodeInfo


def test_every_public_name_is_there() -> None:
    assert all(hasattr(graph, name) for name in graph.__all__)
    assert sorted(graph.__all__) == sorted(set(graph.__all__))
    assert set(graph.__all__) <= set(dir(graph))


def test_an_unknown_name_is_an_attribute_error() -> None:
    with pytest.raises(AttributeError, match="GraphBilder"):
        graph.GraphBilder  # noqa: B018


def test_importing_loads_pydantic_and_nothing_optional() -> None:
    code = (
        "import sys, evonb.graph\n"
        "heavy = {'networkx', 'pyvis', 'openai', 'mcp', 'IPython', 'anywidget', 'graphlay', 'tqdm', 'sqlite3',\n"
        "  'pydantic.functional_serializers', 'evonb.graph.waits', 'evonb.graph.state', 'evonb.graph.function_nodes'}\n"
        "print(sorted(heavy & set(sys.modules)))"
    )
    done = subprocess.run([sys.executable, "-c", code], check=True, capture_output=True, text=True, env=_env())
    assert done.stdout.strip() == "[]"


def _env() -> dict[str, str]:
    import os

    return {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}


class State(TypedDict):
    n: int


def documented(state: Any) -> None:
    """What it is for."""


class Worker(AsyncNode):
    """A node class."""

    async def __call__(self, state: Any) -> None:
        return None


def info(node: Any) -> NodeInfo:
    builder = GraphBuilder(State)
    builder.add_node("a", node)
    builder.set_entry_point("a")
    (found,) = [each for each in builder.build().topology().nodes if each.id == "a"]
    return found


def test_a_node_shows_doc_source_and_place_of_its_function() -> None:
    found = info(documented)
    assert found.doc == "What it is for."
    assert found.source.startswith("def documented(state")
    assert found.location == f"test_public.py:{documented.__code__.co_firstlineno}"


def test_a_node_instance_shows_its_class() -> None:
    found = info(Worker())
    assert found.doc == "A node class."
    assert found.source.startswith("class Worker")


def test_a_function_without_source_shows_nothing() -> None:
    names: dict[str, Any] = {}
    exec("def made(state): return None", names)
    assert info(names["made"]).source == ""


def test_the_topology_lists_start_nodes_end_in_order() -> None:
    builder = GraphBuilder(State)
    for name in ("z", "a", "m"):
        builder.add_node(name, documented)
    builder.add_edge("z", "a")
    builder.add_edge("z", "a", group="again")
    builder.add_edge("a", "m")
    builder.set_entry_point("z")
    topology = builder.build().topology()
    assert [node.id for node in topology.nodes] == ["start", "z", "a", "m", "end"]
    assert [edge.id for edge in topology.edges] == ["z>a", "z>a#1", "a>m", "start>z", "m>end"]
    assert [edge.label for edge in topology.edges if edge.label] == ["again"]


def test_a_start_with_several_edges_runs_all_of_them() -> None:
    builder = GraphBuilder(dict)
    for name in "ab":
        builder.add_node(name, lambda state, name=name: {name: 1})
        builder.add_edge("start", name)
    assert builder.build().run_sync({}) == {"a": 1, "b": 1}


def test_start_may_route() -> None:
    builder = GraphBuilder(dict)
    for name in "ab":
        builder.add_node(name, lambda state, name=name: {name: 1})
    builder.add_condition_edge("start", lambda state: "b", ["a", "b"])
    assert builder.build().run_sync({}) == {"b": 1}


def test_a_builder_can_go_on_after_build() -> None:
    builder = GraphBuilder(dict)
    builder.add_node("a", lambda state: {"a": 1})
    builder.set_entry_point("a")
    first = builder.build()
    builder.add_node("b", lambda state: {"b": 1})
    builder.add_edge("a", "b")
    with pytest.warns(GraphWarning, match="runs as it was built"):
        assert first.run_sync({}) == {"a": 1}
    assert builder.build().run_sync({}) == {"a": 1, "b": 1}


class Dear(EdgeSpec):
    price: int = 3


def test_an_engine_dumps_each_edge_whole_as_its_own_kind() -> None:
    builder = GraphBuilder(dict)
    for name in "ab":
        builder.add_node(name, documented)
    builder.add_condition_edge("start", documented, ["a", "b"])
    engine = builder.build()
    engine.edges["a"] = [Dear(source="a", target="b", state_filter=documented)]
    edges = engine.model_dump(include={"edges"})["edges"]
    assert edges["a"] == [engine.edges["a"][0].model_dump()]
    assert edges["a"][0]["price"] == 3
    assert cast_edge(edges["start"][0]).get_possible_targets() == ["a", "b"]
    assert '"target":"b"' in engine.model_dump_json(include={"edges"})
