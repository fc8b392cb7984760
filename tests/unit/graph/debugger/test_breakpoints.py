"""Where a session stops: nodes, edges, conditions, hits, exceptions; and log points, which don't stop."""

from __future__ import annotations

from typing import Any

import pytest

from evonb.errors import GraphError, NodeError
from evonb.graph.debugging.expressions import compile_condition
from evonb.graph.debugging.points import SessionError

pytestmark = pytest.mark.asyncio


def loop(graphs: Any, rounds: int) -> Any:
    """a and b in turn."""
    builder = graphs.builder(("ab",))
    builder.add_condition_edge("b", lambda state: "a" if state["n"] < 2 * rounds else "end", ["a", "end"])
    return graphs.debugging(builder)


async def test_one_after_a_node_stops_before_what_follows(graphs: Any, names: Any) -> None:
    graph = graphs.diamond()
    graph.add_breakpoint("b", when="after")
    await graph.debug({"n": 0})
    assert sorted(graphs.calls) == ["a", "b", "c"]
    assert names(graph) == ["d"]  # the join that it leads to, whoever came first
    graph.clear_all_breakpoint()
    graph.add_breakpoint("a", when="after")
    graphs.calls.clear()
    await graph.debug({"n": 0})
    assert graphs.calls == ["a"]
    assert names(graph) == ["b", "c"]


async def test_one_on_an_edge_holds_what_comes_along_it(graphs: Any) -> None:
    graph = graphs.diamond()
    made = graph.add_breakpoint(edge=("a", "c"))
    await graph.debug({"n": 0})
    assert [(each.node_name, each.held) for each in graph.waiting()] == [("c", made.id), ("d", "")]
    assert str(made) == "on a>c"


async def test_one_on_an_edge_into_a_join_holds_the_join(graphs: Any) -> None:
    graph = graphs.diamond()
    made = graph.add_breakpoint(edge="b>d")
    await graph.debug({"n": 0})
    assert [(each.node_name, each.held) for each in graph.waiting()] == [("d", made.id)]


@pytest.mark.parametrize(
    "condition",
    ["n >= 2 and log[-1] == 'b'", lambda state: state["n"] >= 2, compile_condition("n >= 2 and len(log) > 1")],
)
async def test_a_condition_decides(graphs: Any, condition: Any, names: Any) -> None:
    graph = graphs()
    graph.add_breakpoint("b", condition=condition)
    graph.add_breakpoint("c", condition=condition)
    await graph.debug({"n": 0})
    assert names(graph) == ["c"]


async def test_a_condition_that_fails_stops_and_says_why(graphs: Any, names: Any) -> None:
    graph = graphs()
    graph.add_breakpoint("b", condition="m > 1")
    await graph.debug({"n": 0})
    assert names(graph) == ["b"]
    assert "NameError" in graph.breakpoints()[0].problem


async def test_one_holds_at_its_nth_hit_only(graphs: Any) -> None:
    graph = loop(graphs, 5)
    graph.add_breakpoint("b", hit=3)
    await graph.debug({"n": 0})
    assert graphs.calls == ["a", "b"] * 2 + ["a"]
    await graph.step_over()
    assert (await graph.resume())["n"] == 10
    assert graph.breakpoints()[0].hits == 5


async def test_a_predicate_stops_where_it_becomes_true(graphs: Any) -> None:
    graph = loop(graphs, 5)
    graph.add_breakpoint(predicate="n > 4")
    assert await graph.debug({"n": 0}) is None
    assert graph.state()["n"] == 5
    await graph.step_over()
    assert (await graph.resume())["n"] == 10


async def test_a_log_point_prints_and_does_not_stop(graphs: Any) -> None:
    graph = graphs()
    graph.add_breakpoint("b", log="f'n is {n}'")
    graph.add_breakpoint("c", when="after", log="delta['log']")
    assert (await graph.debug({"n": 0}))["n"] == 4
    assert [(each.node, each.text) for each in graph.log_lines()] == [("b", "n is 1"), ("c", "['c']")]


async def test_one_on_exceptions_pauses_instead_of_raising_and_the_others_run_on(graphs: Any) -> None:
    def broken(state: Any) -> Any:
        raise KeyError("nothing here")

    graph = graphs(("ab", "ac", "cd"), b=broken)
    with pytest.raises(NodeError):
        await graph.debug({"n": 0})
    graph.add_breakpoint(on_exception=True)
    graphs.calls.clear()
    assert await graph.debug({"n": 0}) is None
    assert graphs.calls == ["a", "c", "d"]
    assert graph.status == "failed"
    assert [each.node_name for each in graph.waiting()] == ["b"]
    assert [step.node for step in graph.history() if step.status == "failed"] == ["b"]


async def test_switched_off_and_removed_ones_do_not_hold(graphs: Any, names: Any) -> None:
    graph = graphs()
    one, two = graph.add_breakpoint("b"), graph.add_breakpoint("c")
    graph.disable_breakpoint(one.id)
    await graph.debug({"n": 0})
    assert names(graph) == ["c"]
    graph.remove_breakpoint(two.id)
    assert (await graph.resume())["n"] == 4
    graph.enable_breakpoint(one.id)
    await graph.debug({"n": 0})
    assert names(graph) == ["b"]
    with pytest.raises(SessionError, match="no breakpoint '2'"):
        graph.enable_breakpoint(two.id)


async def test_the_documented_calls_work_on_the_same_list(graphs: Any) -> None:
    graph = graphs()
    graph.set_breakpoint("b")
    graph.set_breakpoint("b", condition="n > 1")
    graph.add_breakpoint("b", when="after")
    assert [str(each) for each in graph.breakpoints()] == ["before b if n > 1", "after b"]
    graph.clear_breakpoint("b")
    assert [str(each) for each in graph.breakpoints()] == ["after b"]


async def test_run_to_passes_what_is_held_and_stops_at_the_node(graphs: Any, names: Any) -> None:
    graph = graphs()
    graph.set_breakpoint("b")
    await graph.debug({"n": 0})
    assert await graph.run_to("d") is None
    assert names(graph) == ["d"]
    assert graphs.calls == ["a", "b", "c"]


@pytest.mark.parametrize(
    ("place", "what"),
    [
        ({"node": "x"}, "no node called 'x'"),
        ({"edge": "a>d"}, "no edge 'a>d'"),
        ({}, "exactly one place"),
        ({"node": "a", "tool": "t"}, "exactly one place"),
        ({"node": "a", "condition": "1 +"}, "isn't an expression"),
        ({"node": "a", "condition": 3}, "function or an expression"),
        ({"node": "a", "hit": 0}, "1 or more"),
    ],
)
async def test_what_is_no_breakpoint_is_refused(graphs: Any, place: dict[str, Any], what: str) -> None:
    graph = graphs()
    with pytest.raises(GraphError, match=what):
        graph.add_breakpoint(**place)
    assert graph.breakpoints() == []


async def test_only_the_released_branch_moves(graphs: Any) -> None:
    graph = graphs(("ab", "ac", "bd", "ce"))
    graph.set_breakpoint("b")
    graph.set_breakpoint("c")
    await graph.debug({"n": 0})
    await graph.step_over(graph.find("b"))
    await graph.resume()
    assert graphs.calls == ["a", "b", "d"]
    assert [each.node_name for each in graph.waiting()] == ["c"]


async def test_sessions_of_one_kernel_do_not_stop_each_other(graphs: Any) -> None:
    one, two = graphs(), graphs()
    one.set_breakpoint("b")
    await one.debug({"n": 0})
    assert (await two.debug({"n": 0}))["n"] == 4
    assert one.status == "paused"
