"""Stopping inside of a running node: sub-graphs and tool calls."""

from __future__ import annotations

import asyncio
from typing import Any

import pytest

from evonb.errors import GraphError
from evonb.graph import GraphBuilder
from evonb.graph.debugging.points import SessionError
from evonb.graph.toolwatch import current_tool_watch

pytestmark = pytest.mark.asyncio


def nested(graphs: Any, depth: int = 1, inner: Any = ("xy", "yz")) -> Any:
    """a, then a sub-graph s (x, y, z; in it further ones), then c."""
    engine = graphs.builder(inner).build()
    for _ in range(depth - 1):
        middle = graphs.builder(("pq",), q=engine)
        engine = middle.build()
    return graphs(("as", "sc"), s=engine)


async def test_step_into_stops_before_the_first_task_inside_and_steps_on_there(graphs: Any, names: Any) -> None:
    graph = nested(graphs)
    graph.set_breakpoint("s")
    await graph.debug({"n": 0})
    assert graph.allowed()["step_into"] == ""
    await graph.step_into()
    assert graphs.calls == ["a"]
    assert names(graph) == ["s", "s › x"]
    assert graph.waiting()[0].running
    await graph.step_over(graph.find("s › x"))
    assert graphs.calls == ["a", "x"]
    assert names(graph) == ["s", "s › y"]
    await graph.step_out()
    assert graphs.calls == ["a", "x", "y", "z"]
    assert names(graph) == ["c"]
    assert (await graph.resume())["log"] == ["a", "x", "y", "z", "c"]
    assert [step.node for step in graph.history()] == ["a", "s", "c", "end"]


async def test_a_breakpoint_inside_holds_and_resume_leaves_it(graphs: Any, names: Any) -> None:
    graph = nested(graphs)
    made = graph.add_breakpoint(("s", "y"), condition="n == 2")
    assert await graph.debug({"n": 0}) is None
    assert graphs.calls == ["a", "x"]
    assert [(each.node_name, each.held) for each in graph.waiting()][1] == ("s › y", made.id)
    assert await graph.resume() is None
    assert graphs.calls == ["a", "x"]
    await graph.step_over(graph.find("s › y"))
    assert (await graph.resume())["log"] == ["a", "x", "y", "z", "c"]


async def test_two_levels_down(graphs: Any, names: Any) -> None:
    graph = nested(graphs, depth=2)
    graph.set_breakpoint("s")
    await graph.debug({"n": 0})
    await graph.step_into()
    assert names(graph) == ["s", "s › p"]
    await graph.step_over(graph.find("s › p"))
    assert names(graph) == ["s", "s › q"]
    await graph.step_into(graph.find("s › q"))
    assert names(graph) == ["s", "s › q › x"]
    await graph.step_out()
    assert graphs.calls == ["a", "p", "x", "y", "z"]
    assert names(graph) == ["c"]


async def test_parallel_branches_inside_are_stepped_apart(graphs: Any, names: Any) -> None:
    graph = nested(graphs, inner=("xy", "xz"))
    graph.set_breakpoint("s")
    await graph.debug({"n": 0})
    await graph.step_into()
    await graph.step_over(graph.find("s › x"))
    assert names(graph) == ["s", "s › y", "s › z"]
    await graph.step_over(graph.find("s › z"))
    assert names(graph) == ["s", "s › y"]
    assert graphs.calls == ["a", "x", "z"]
    assert (await graph.step_out()) is None
    assert graphs.calls == ["a", "x", "z", "y"]


async def test_going_back_from_the_first_step_inside_means_to_before_the_sub_graph(graphs: Any, names: Any) -> None:
    graph = nested(graphs)
    graph.set_breakpoint("s")
    await graph.debug({"n": 0})
    await graph.step_into()
    await graph.step_over()
    graph.restore_step()
    assert names(graph) == ["s", "s › x"]
    graph.restore_step()
    assert names(graph) == ["s"]
    graph.restore_step()
    assert names(graph) == ["a"]
    graph.clear_all_breakpoint()
    assert (await graph.resume())["log"] == ["a", "x", "y", "z", "c"]
    assert graphs.calls == ["a", "x", "a", "x", "y", "z", "c"]


async def test_what_can_not_be_done_inside_is_refused(graphs: Any) -> None:
    graph = nested(graphs)
    with pytest.raises(GraphError, match="no edge"):
        graph.add_breakpoint(edge="s › x>z")
    with pytest.raises(GraphError, match="no node"):
        graph.add_breakpoint("s › nowhere")
    graph.set_breakpoint("a")
    await graph.debug({"n": 0})
    with pytest.raises(SessionError, match="Step into: no sub-graph waits"):
        await graph.step_into()
    with pytest.raises(SessionError, match="Step out"):
        await graph.step_out()


async def test_pause_stops_inside_of_a_sub_graph(graphs: Any, names: Any) -> None:
    def x(state: Any) -> Any:
        return {"n": 1}

    async def y(state: Any) -> Any:
        graph.pause()
        return {"n": 2}

    inner = graphs.builder(("xy", "yz"), x=x, y=y).build()
    graph = graphs(("as", "sc"), s=inner)
    assert await graph.debug({"n": 0}) is None
    assert names(graph) == ["s", "s › z"]
    assert (await graph.resume())["n"] == 4


async def test_a_breakpoint_on_a_tool_holds_its_call(graphs: Any, names: Any) -> None:
    called: list[Any] = []

    async def agent(state: Any) -> Any:
        watch = current_tool_watch()
        assert watch is not None
        for item in ("tea", "milk"):
            await watch.before("order", {"item": item})
            called.append(item)
            watch.done("order", call_id=item, effect=True)
        return {"n": len(called)}

    graph = graphs(("ab",), b=agent)
    made = graph.add_breakpoint(tool="order", condition="item == 'milk'")
    assert await graph.debug({"n": 0}) is None
    assert called == ["tea"]
    assert [(each.node_name, each.held) for each in graph.waiting()][1] == ("b: order", made.id)
    await graph.step_over(graph.find("b: order"))
    assert (await graph.resume())["n"] == 2
    assert graph.history()[1].tools == ("order", "order")
    assert [(each.tool, each.call_id, each.kind) for each in graph.effects()] == [
        ("order", "tea", "touched"),
        ("order", "milk", "touched"),
    ]


async def test_outside_of_a_debugger_there_is_no_watch(graphs: Any) -> None:
    seen: list[Any] = []

    def look(state: Any) -> None:
        seen.append(current_tool_watch())

    builder = GraphBuilder(dict)
    builder.add_node("look", look)
    builder.set_entry_point("look")
    await builder.build().run({})
    assert seen == [None]


async def test_a_sub_graph_that_was_stepped_to_its_end_is_one_step_when_it_comes_again(graphs: Any, names: Any) -> None:
    builder = graphs.builder(("sc",), s=graphs.builder(("xy",)).build())
    builder.add_condition_edge("c", lambda state: "s" if state["n"] < 6 else "end", ["s", "end"])
    graph = graphs.debugging(builder)
    graph.set_breakpoint("s")
    await graph.debug({"n": 0})
    await graph.step_into()
    await graph.step_over()
    await graph.step_over()
    assert names(graph) == ["c"]
    await graph.step_over()
    await graph.step_over()
    assert graphs.calls == ["x", "y", "c", "x", "y"]
    assert names(graph) == ["c"]


async def test_the_same_two_levels_down(graphs: Any, names: Any) -> None:
    middle = graphs.builder(("qp",), q=graphs.builder(("xy",)).build())
    middle.add_condition_edge("p", lambda state: "q" if state["n"] < 6 else "end", ["q", "end"])
    graph = graphs(("as", "sc"), s=middle.build())
    graph.set_breakpoint("s")
    await graph.debug({"n": 0})
    await graph.step_into()
    await graph.step_into()
    await graph.step_over()
    await graph.step_over()
    assert names(graph) == ["s", "s › p"]
    await graph.step_over(graph.find("s › p"))
    await graph.step_over(graph.find("s › q"))
    assert names(graph) == ["s", "s › p"]
    assert graphs.calls == ["a", "x", "y", "p", "x", "y"]


async def test_stepping_a_join_runs_the_sub_graph_that_it_misses_to_its_end(graphs: Any, names: Any) -> None:
    graph = graphs(("as", "ab", "sd", "bd"), "d", s=graphs.builder(("xy",)).build())
    graph.set_breakpoint("s")
    await graph.debug({"n": 0})
    await graph.step_into()
    await graph.step_over(graph.find("d"))
    assert graphs.calls == ["a", "b", "x", "y", "d"]
    assert names(graph) == ["end"]


async def test_a_breakpoint_inside_of_what_a_join_misses_holds(graphs: Any, names: Any) -> None:
    graph = graphs(("as", "ab", "sd", "bd"), "d", s=graphs.builder(("xy",)).build())
    graph.set_breakpoint("s")
    graph.add_breakpoint("s › y")
    await graph.debug({"n": 0})
    await graph.step_over(graph.find("d"))
    assert graphs.calls == ["a", "b", "x"]
    assert names(graph) == ["s", "d", "s › y"]
    await graph.step_over(graph.find("d"))
    assert graphs.calls == ["a", "b", "x", "y", "d"]


async def test_stopping_while_a_join_runs_what_it_misses_ends_the_session(graphs: Any) -> None:
    begun = asyncio.Event()

    async def long(state: Any) -> None:
        begun.set()
        await asyncio.Event().wait()

    graph = graphs(("ab", "ac", "bd", "cd"), "d", b=long)
    graph.set_breakpoint("b")
    await graph.debug({"n": 0})
    step = asyncio.create_task(graph.step_over(graph.find("d")))
    await begun.wait()
    graph.stop()
    assert await step is None
    assert graph.status == "finished"
    assert graph.history()[-1].status == "stopped"
