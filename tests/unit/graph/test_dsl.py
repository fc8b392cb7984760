"""The `>>` language."""

from __future__ import annotations

import asyncio
import inspect
from typing import Annotated, Any, TypedDict

import pytest

from evonb.errors import EvonbError, GraphError
from evonb.graph import END, START, GraphBuilder, dsl, edge, node, router


class State(TypedDict):
    log: Annotated[list, "extend"]
    topic: str


@node
def first(state: Any) -> dict[str, Any]:
    """Doc of first."""
    return {"log": ["first"]}


@node(action_mode="all")
async def review(state: Any) -> dict[str, Any]:
    return {"log": ["review"]}


@node
def left(state: Any) -> dict[str, Any]:
    return {"log": ["left"]}


@node
def right(state: Any) -> dict[str, Any]:
    return {"log": ["right"]}


@router("left", "right")
def by_topic(state: Any) -> str:
    return str(state["topic"])


def edges_of(builder: GraphBuilder) -> set[str]:
    return {edge.id for edge in builder.build().topology().edges}


def test_chains_lists_start_and_end_make_plain_edges() -> None:
    with GraphBuilder(State) as graph:
        START >> first >> [left, right]
        [left, right] >> review >> END
    assert edges_of(graph) == {"start>first", "first>left", "first>right", "left>review", "right>review", "review>end"}
    assert graph.build().run_sync({})["log"] == ["first", "left", "right", "review"]


def test_a_chain_goes_on_from_every_node_of_a_list() -> None:
    with GraphBuilder(State) as graph:
        START >> first >> [left, right] >> review
    assert {"left>review", "right>review"} <= edges_of(graph)


def test_chains_may_stand_in_lists() -> None:
    with GraphBuilder(State) as graph:
        START >> first
        [first >> left, first >> right] >> review
    assert edges_of(graph) == {"start>first", "first>left", "first>right", "left>review", "right>review", "review>end"}


def test_a_router_makes_a_conditional_edge_from_every_source() -> None:
    with GraphBuilder(State) as graph:
        START >> first >> by_topic
        [left, right] >> END
    engine = graph.build()
    kinds = {edge.id: edge.kind for edge in engine.topology().edges}
    assert kinds["first>left"] == kinds["first>right"] == "conditional"
    assert engine.run_sync({"topic": "right"})["log"] == ["first", "right"]


def test_a_router_with_a_mapping_answers_labels() -> None:
    @router({"yes": left, "no": END})
    def ask(state: Any) -> str:
        return str(state["topic"])

    with GraphBuilder(State) as graph:
        START >> first >> ask
        left >> END
    engine = graph.build()
    assert {edge.id: edge.label for edge in engine.topology().edges if edge.label} == {
        "first>left": "yes",
        "first>end": "no",
    }
    assert engine.run_sync({"topic": "yes"})["log"] == ["first", "left"]
    assert engine.run_sync({"topic": "no"})["log"] == ["first"]


def test_edge_carries_group_filter_and_label() -> None:
    with GraphBuilder(State) as graph:
        START >> first >> edge(group="g", filter=lambda state: {**state, "topic": "new"}, label="text") >> left >> END
    (made,) = [each for each in graph.build().topology().edges if each.id == "first>left"]
    assert (made.group, made.label) == ("g", "text")
    assert graph.build().run_sync({"topic": "old"})["topic"] == "new"


def test_names_may_be_used_before_they_are_defined() -> None:
    with GraphBuilder(State) as graph:
        START >> first >> "later"

        @node
        def later(state: Any) -> dict[str, Any]:
            return {"log": ["later"]}

    assert graph.build().run_sync({})["log"] == ["first", "later"]


def test_plain_functions_and_engines_can_stand_in_a_chain() -> None:
    def plain(state: Any) -> dict[str, Any]:
        return {"log": ["plain"]}

    with GraphBuilder(State, name="inner") as inner:
        START >> left >> END
    with GraphBuilder(State) as graph:
        START >> first >> plain >> inner.build() >> END
    engine = graph.build()
    assert [each.name for each in engine.topology().nodes if each.kind == "subgraph"] == ["inner"]
    assert engine.run_sync({})["log"] == ["first", "plain", "left"]


def test_a_decorated_function_stays_a_function() -> None:
    assert first({"log": []}) == {"log": ["first"]}
    assert first.__name__ == "first"
    assert first.__doc__ == "Doc of first."
    assert str(inspect.signature(first)) == "(state: 'Any') -> 'dict[str, Any]'"
    assert "def first(state" in inspect.getsource(first)
    assert asyncio.run(review({})) == {"log": ["review"]}
    assert by_topic({"topic": "left"}) == "left"


def test_a_decorated_function_can_be_added_to_a_builder() -> None:
    builder = GraphBuilder(State)
    builder.add_node("a", review)
    builder.set_entry_point("a")
    assert builder.build().run_sync({})["log"] == ["review"]


def test_the_options_of_a_node_reach_it() -> None:
    with GraphBuilder(State) as graph:
        START >> node(left.function, name="other", timeout=3, effect=True) >> END
    spec = graph.build().nodes["other"]
    assert (spec.timeout, spec.effect) == (3, True)


def test_all_faults_are_reported_together_and_nothing_is_added() -> None:
    graph = GraphBuilder(State)
    with pytest.raises(GraphError) as caught, graph:  # noqa: PT012 - the block is the case
        START >> "frist" >> left
        left >> by_topic
        END >> first
    text = str(caught.value)
    assert "3 faults" in text
    assert "'frist', which is no node. Did you mean 'first'?" in text
    assert "Router 'by_topic' names 'right'" in text
    assert "END leads nowhere" in text
    assert graph._nodes == {}


def test_two_functions_of_one_name_are_a_fault() -> None:
    def make() -> Any:
        @node
        def twin(state: Any) -> None: ...

        return twin

    with pytest.raises(GraphError, match="Two nodes are called 'twin'"), GraphBuilder(State):
        START >> make() >> make()


def test_an_error_in_the_block_leaves_the_builder_alone() -> None:
    graph = GraphBuilder(State)
    with pytest.raises(ZeroDivisionError), graph:  # noqa: PT012 - the block is the case
        START >> first
        1 / 0  # noqa: B018 - the block is to fail
    assert graph._nodes == {}
    with pytest.raises(GraphError, match="no graph"):
        first >> left


def test_collect_makes_a_builder_of_what_was_said() -> None:
    with dsl.collect() as collected:
        START >> first >> END
    assert collected.to_builder(State, "named").build().name == "named"


def test_collect_without_an_entry_is_a_fault() -> None:
    with dsl.collect() as collected:
        first >> END
    with pytest.raises(GraphError, match="Nothing leaves START"):
        collected.to_builder(State)


def test_a_node_that_was_defined_and_never_connected_is_found() -> None:
    with GraphBuilder(State) as graph:

        @node
        def lost(state: Any) -> None: ...

        START >> first >> END
    (finding,) = graph.check()
    assert (finding.code, finding.nodes) == ("unreachable", ("lost",))


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        (lambda: first >> left, "no graph"),
        (lambda: node(action_mod="all"), "did you mean 'action_mode'"),
        (lambda: router(lambda state: "x"), "needs its targets"),
        (lambda: router(), "at least one target"),
        (lambda: router(5), "must be a name or a node"),
    ],
)
def test_misuse_says_what_to_write(wrong: Any, says: str) -> None:
    with pytest.raises(EvonbError, match=says):
        wrong()


def test_nothing_can_follow_a_router() -> None:
    with pytest.raises(GraphError, match="Nothing can follow the router"), GraphBuilder(State):
        START >> first >> by_topic >> left


def test_two_lists_are_pythons_own_error() -> None:
    with pytest.raises(TypeError), GraphBuilder(State):
        [first] >> [left]  # type: ignore[operator]  # noqa: B018
