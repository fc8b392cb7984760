"""Steps inside of sub-graphs: recorded, gone back to, gone on from, without anything running twice."""

from __future__ import annotations

import asyncio
import gc
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest

from evonb.errors import NodeError
from evonb.graph import GraphBuilder, GraphEngineDebugger
from evonb.graph.debugging.effects import EffectRepeats
from evonb.graph.debugging.points import SessionError

pytestmark = pytest.mark.asyncio

LINE = ("xy", "yz")


def nested(graphs: Any, inner: Any = LINE, joins: str = "", path: str = ":memory:", **options: Any) -> Any:
    """a, then a sub-graph s (x, y, z), then c."""
    engine = graphs.builder(inner, joins, **options).build()
    return graphs.debugging(graphs.builder(("as", "sc"), s=engine), path)


async def inside(graph: Any, *steps: str) -> Any:
    """Into s, and over these nodes in it."""
    graph.set_breakpoint("s")
    await graph.debug({"n": 0})
    await graph.step_into()
    for name in steps:
        await graph.step_over(graph.find(f"s › {name}"))
    return graph


def told(graph: Any, *args: Any) -> list[str]:
    """What was done, and inside of s in which order."""
    return [
        f"{step.node}{'' if step.status == 'done' else ' ' + step.status}" for step in graph.history(*args, inside=True)
    ]


def reopened(graph: Any, path: Path, builder: Any) -> Any:
    """The session as another process would open it; what is parked here is given up."""
    run_id = str(graph.run_id)
    graph.reset()
    graph.store.close()
    return GraphEngineDebugger.open(path, run_id, graph=builder)


def copied(path: Path, copy: Path) -> None:
    """A file with its log, as it is now."""
    for end in ("", "-wal"):
        if Path(f"{path}{end}").exists():
            Path(f"{copy}{end}").write_bytes(Path(f"{path}{end}").read_bytes())


# --- recorded ----------------------------------------------------------------------------------------------


async def test_steps_inside_are_recorded_also_of_a_run_that_never_stops(graphs: Any) -> None:
    graph = nested(graphs)
    await graph.debug({"n": 0})
    assert [step.node for step in graph.history()] == ["a", "s", "c", "end"]
    assert told(graph) == ["a", "s entered", "s › x", "s › y", "s › z", "s", "c", "end"]
    steps = graph.history(inside=True)
    x, s = steps[2], steps[5]
    assert (x.number, x.inner, x.visit, x.wrote, x.edges, x.owner) == (1, 2, 1, ("log", "n"), ("s › x>y",), s.uuid)
    assert (s.number, s.inner, s.owner) == (2, 0, "")
    assert [step.wave for step in steps[2:5]] == [1, 2, 3]
    assert graph.state(x) == {"log": ["a", "x"], "n": 2}


async def test_a_step_inside_keeps_its_own_copy(graphs: Any) -> None:
    kept: list[Any] = []

    def x(state: Any) -> Any:
        kept.append(["x"])
        return {"log": kept[0]}

    graph = await inside(nested(graphs, x=x), "x")
    kept[0].append("changed since")
    assert graph.state()["log"] == ["a", "x"]
    graph.state()["log"].append("changed by a reader")
    assert graph.state()["log"] == ["a", "x"]


# --- going back ----------------------------------------------------------------------------------------------


async def test_step_back_goes_to_the_step_before_inside_then_to_before_the_sub_graph(graphs: Any, names: Any) -> None:
    graph = await inside(nested(graphs), "x", "y")
    before = list(graphs.calls)
    assert (graph.state()["log"], names(graph)) == (["a", "x", "y"], ["s", "s › z"])
    assert graph.step_back().node == "s › x"
    assert (graph.state()["log"], names(graph)) == (["a", "x"], ["s", "s › y"])
    assert (graph.looking_at, graph.looking_inside) == (1, 2)
    assert graph.step_back().status == "entered"
    assert (graph.state()["log"], names(graph)) == (["a"], ["s", "s › x"])
    assert graph.step_back().node == "a"
    assert (names(graph), graph.looking_inside) == (["s"], None)
    assert graph.step_back().number == 0
    assert names(graph) == ["a"]
    assert [graph.step_forward().node for _ in range(3)] == ["a", "s", "s › x"]
    assert graph.live().node == "s › y"
    assert graph.looking_at is None
    assert names(graph) == ["s", "s › z"]
    assert graphs.calls == before


async def test_looking_at_the_start_of_a_branch_made_inside_shows_its_steps(graphs: Any) -> None:
    graph = await inside(nested(graphs), "x", "y")
    graph.step_back()
    await graph.resume()
    steps = graph.history(inside=True)
    graph.goto(1)
    assert graph.history(inside=True) == steps


async def test_looking_back_leaves_what_is_parked(graphs: Any) -> None:
    graph = await inside(nested(graphs), "x", "y")
    graph.step_back(2)
    graph.live()
    assert len(graph.branches()) == 1
    assert (await graph.resume())["log"] == ["a", "x", "y", "z", "c"]
    assert graphs.calls == ["a", "x", "y", "z", "c"]


async def test_going_on_from_a_step_inside_makes_a_branch_and_calls_only_what_follows(graphs: Any, names: Any) -> None:
    graph = await inside(nested(graphs), "x", "y")
    graph.step_back()
    await graph.step_over(graph.find("s › y"))
    assert graphs.calls == ["a", "x", "y", "y"]
    assert names(graph) == ["s", "s › z"]
    assert [(each.name, each.from_step, each.present) for each in graph.branches()] == [
        ("main", 0, False),
        ("b2", 1, True),
    ]
    assert (await graph.step_out()) is None
    assert (await graph.resume())["log"] == ["a", "x", "y", "z", "c"]
    assert graphs.calls == ["a", "x", "y", "y", "z", "c"]
    assert told(graph, "main") == ["a", "s entered", "s › x", "s › y"]
    assert told(graph, "b2") == ["a", "s entered", "s › x", "s › y", "s › z", "s", "c", "end"]


async def test_back_then_over_gives_the_same_state_and_what_waits(graphs: Any) -> None:
    graph = await inside(nested(graphs), "x", "y")
    there = graph.state(), [each.node_name for each in graph.waiting()], graph.history(inside=True)[-1].wrote
    graph.step_back()
    await graph.step_over()
    assert (graph.state(), [each.node_name for each in graph.waiting()], graph.history(inside=True)[-1].wrote) == there


async def test_a_step_of_a_sub_graph_that_has_finished_can_be_gone_to(graphs: Any, names: Any) -> None:
    graph = nested(graphs)
    await graph.debug({"n": 0})
    graphs.calls.clear()
    graph.step_back(2)
    assert graph.step_back().node == "a", "outside a sub-graph is one step"
    x = graph.history(inside=True)[2]
    assert graph.goto(x) == x
    assert names(graph) == ["s", "s › y"]
    assert graph.step_forward().node == "s › y"
    assert graph.goto(1, inside=x.inner) == x
    assert graphs.calls == []
    assert (await graph.resume())["log"] == ["a", "x", "y", "z", "c"]
    assert graphs.calls == ["y", "z", "c"]
    with pytest.raises(SessionError, match="no step 99 inside"):
        graph.goto(1, inside=99)


async def test_restore_step_takes_steps_inside_back_one_by_one(graphs: Any, names: Any) -> None:
    graph = await inside(nested(graphs), "x", "y")
    graph.restore_step()
    assert names(graph) == ["s", "s › y"]
    graph.restore_step(graph.history(inside=True)[-1].uuid)
    assert names(graph) == ["s", "s › x"]
    graph.restore_step()
    graph.restore_step()
    assert names(graph) == ["a"]
    assert graphs.calls == ["a", "x", "y"]


async def test_a_loop_that_is_gone_costs_only_what_ran(graphs: Any) -> None:
    graph = nested(graphs)

    def elsewhere(work: Any) -> Any:
        return asyncio.run(work)

    await asyncio.to_thread(elsewhere, inside(graph, "x"))
    assert await asyncio.to_thread(elsewhere, graph.step_over(graph.find("s › y"))) is None
    graph.clear_all_breakpoint()
    assert (await asyncio.to_thread(elsewhere, graph.resume()))["log"] == ["a", "x", "y", "z", "c"]
    assert graphs.calls == ["a", "x", "y", "z", "c"]


# --- shapes --------------------------------------------------------------------------------------------------


async def test_sub_graphs_in_sub_graphs(graphs: Any, names: Any) -> None:
    deep = graphs.builder(LINE).build()
    middle = graphs.builder(("pq", "qr"), q=deep).build()
    graph = graphs(("as", "sc"), s=middle)
    graph.set_breakpoint("s")
    await graph.debug({"n": 0})
    await graph.step_into()
    await graph.step_over(graph.find("s › p"))
    await graph.step_into(graph.find("s › q"))
    await graph.step_over(graph.find("s › q › x"))
    assert names(graph) == ["s", "s › q › y"]
    graph.step_back()
    assert names(graph) == ["s", "s › q › x"]
    graph.step_back()
    assert names(graph) == ["s", "s › q"]
    graph.step_forward(2)
    await graph.step_over(graph.find("s › q › y"))
    assert graphs.calls == ["a", "p", "x", "y"]
    await graph.step_out()
    assert names(graph) == ["s", "s › r"]
    graph.clear_all_breakpoint()
    assert (await graph.resume())["log"] == ["a", "p", "x", "y", "z", "r", "c"]
    assert told(graph) == [
        "a", "s entered", "s › p", "s › q entered", "s › q › x", "s › q › y", "s › q › z", "s › q", "s › r", "s", "c",
        "end",
    ]  # fmt: skip


async def test_a_half_arrived_join_inside_waits_when_it_is_begun_again(graphs: Any, names: Any) -> None:
    graph = await inside(nested(graphs, ("xy", "xz", "yw", "zw"), "w"), "x", "z")
    assert names(graph) == ["s", "s › y", "s › w"]
    join = graph.waiting()[-1]
    assert (join.arrived, join.missing, join.can_run) == (("z",), ("y",), False)
    await graph.step_over(graph.find("s › y"))
    graph.step_back()
    assert graph.waiting()[-1].arrived == ("z",)
    assert names(graph) == ["s", "s › y", "s › w"]
    graph.clear_all_breakpoint()
    assert (await graph.resume())["log"] == ["a", "x", "y", "z", "w", "c"]
    assert sorted(graphs.calls) == sorted(["a", "x", "z", "y", "y", "w", "c"])


async def test_each_round_of_a_loop_has_steps_of_its_own(graphs: Any, names: Any) -> None:
    engine = graphs.builder(("xy",)).build()
    builder = graphs.builder(("as",), s=engine)
    builder.add_condition_edge("s", lambda state: "a" if state["n"] < 6 else "end", ["a", "end"])
    graph = graphs.debugging(builder)
    assert (await graph.debug({"n": 0}))["n"] == 6
    line = graph.history(inside=True)
    assert told(graph) == ["a", "s entered", "s › x", "s › y", "s", "a", "s entered", "s › x", "s › y", "s", "end"]
    assert len({step.uuid for step in line if step.status == "done"}) == 9
    graph.goto(line[7])
    graphs.calls.clear()
    assert (await graph.resume())["n"] == 6
    assert graphs.calls == ["y"]


async def test_two_executions_of_a_sub_graph_side_by_side_are_told_apart(graphs: Any) -> None:
    mapped = GraphBuilder(State)
    mapped.add_node("a", graphs.node("a"))
    mapped.add_node("s", graphs.builder(("xy",)).build())
    both = [("s", lambda state: {**state, "n": 10}), ("s", lambda state: {**state, "n": 20})]
    mapped.add_condition_edge("a", lambda state: both, ["s"])
    mapped.set_entry_point("a")
    mapped.add_edge("s", "end")
    graph = graphs.debugging(mapped)
    graph.add_breakpoint("s › y")
    await graph.debug({"n": 0})
    first, second = [each.uuid for each in graph.waiting() if each.node_name == "s › y"]
    assert first != second
    await graph.step_over(second)
    graph.step_back(2)
    assert [each.uuid for each in graph.waiting() if each.node_name == "s › y"] == [first, second]
    graph.clear_all_breakpoint()
    assert (await graph.resume())["log"] == ["a", "x", "y", "x", "y"]
    assert graphs.calls.count("x") == 2


class State(TypedDict):
    log: Annotated[list, "extend"]
    n: int


async def test_routers_inside_are_not_asked_again(graphs: Any) -> None:
    asked: list[str] = []

    def router(name: str, target: str) -> Any:
        def answer(state: Any) -> str:
            asked.append(name)
            return target

        return answer

    inner = GraphBuilder(State)
    for name in "xyz":
        inner.add_node(name, graphs.node(name))
    inner.add_condition_edge("start", router("start", "x"), ["x", "y"])
    inner.add_condition_edge("x", router("x", "y"), ["y", "z"])
    inner.add_edge("y", "z")
    inner.add_edge("z", "end")
    graph = await inside(graphs(("as", "sc"), s=inner.build()), "x", "y")
    graph.step_back()
    await graph.step_over(graph.find("s › y"))
    assert asked == ["start", "x"]


async def test_what_filters_inside_made_is_kept(graphs: Any, tmp_path: Path) -> None:
    asked: list[int] = []

    def filtered(state: Any) -> Any:
        asked.append(state["n"])
        return {**state, "n": 100}

    inner = GraphBuilder(State)
    for name in "xyz":
        inner.add_node(name, graphs.node(name))
    inner.add_edge("x", "y", state_filter=filtered)
    inner.add_edge("y", "z")
    inner.set_entry_point("x")
    builder = graphs.builder(("as", "sc"), s=inner.build())
    path = tmp_path / "runs.db"
    graph = reopened(await inside(graphs.debugging(builder, str(path)), "x"), path, builder)
    assert graph.state(uuid=graph.find("s › y"))["n"] == 100
    graph.clear_all_breakpoint()
    assert (await graph.resume())["n"] == 103
    assert asked == [2]


async def test_the_turn_limit_inside_counts_what_was_recorded(graphs: Any) -> None:
    engine = graphs.builder(("xy", "yz")).build(max_turn=2)
    graph = await inside(graphs(("as", "sc"), s=engine), "x")
    graph.step_back()
    graph.step_forward()
    graph.goto(graph.history(inside=True)[-1])
    graph.restore_step()
    graph.clear_all_breakpoint()
    with pytest.warns(match="the limit of 2 node calls"):
        await graph.resume()
    assert graphs.calls == ["a", "x", "x", "y", "c"]


# --- failing ---------------------------------------------------------------------------------------------------


async def test_a_failed_node_inside_is_tried_again_alone(graphs: Any, names: Any) -> None:
    tries: list[int] = []

    def y(state: Any) -> Any:
        tries.append(1)
        if len(tries) < 2:
            raise ValueError("not today")
        return {"log": ["y"]}

    graph = nested(graphs, y=y)
    with pytest.raises(NodeError, match="not today"):
        await graph.debug({"n": 0})
    assert told(graph) == ["a", "s entered", "s › x", "s › y failed", "s failed"]
    error = graph.history(inside=True)[3].error
    assert error.kind == "ValueError"
    assert error.where.endswith("graph 'graph' > node 's' > node 'y', 1st visit")
    assert [(each.node_name, each.failed) for each in graph.waiting()] == [("s", True), ("s › y", True)]
    assert (await graph.resume())["log"] == ["a", "x", "y", "z", "c"]
    assert graphs.calls == ["a", "x", "z", "c"]
    assert len(tries) == 2


async def test_a_step_back_from_a_failure_inside_is_before_it(graphs: Any, names: Any) -> None:
    def y(state: Any) -> Any:
        raise ValueError("never")

    graph = nested(graphs, y=y)
    with pytest.raises(NodeError):
        await graph.debug({"n": 0})
    graph.restore_step()
    assert told(graph) == ["a", "s entered"]
    assert graph.status == "paused"
    assert names(graph) == ["s", "s › x"]


async def test_an_exception_breakpoint_on_a_node_inside_pauses(graphs: Any) -> None:
    def y(state: Any) -> Any:
        raise ValueError("never")

    graph = nested(graphs, y=y)
    graph.add_breakpoint("s › x", on_exception=True)
    with pytest.raises(NodeError):
        await graph.debug({"n": 0})
    graph.add_breakpoint("s › y", on_exception=True)
    assert await graph.debug({"n": 0}) is None
    assert graph.status == "failed"


# --- changed by hand -------------------------------------------------------------------------------------------


async def test_an_edit_inside_goes_on_with_the_new_value_and_can_be_taken_back(graphs: Any) -> None:
    graph = await inside(nested(graphs), "x")
    graph.edit("n", 50, graph.find("s › y"))
    assert graph.state(uuid=graph.find("s › y"))["n"] == 50
    graph.restore_step()
    assert graph.state(uuid=graph.find("s › y"))["n"] == 2
    graph.edit("n", 60, graph.find("s › y"))
    await graph.step_over(graph.find("s › y"))
    assert graph.state()["n"] == 61
    graph.clear_all_breakpoint()
    assert (await graph.resume())["n"] == 63
    assert graphs.calls == ["a", "x", "y", "z", "c"]


async def test_edits_and_skips_inside_survive_going_back_and_reopening(graphs: Any, tmp_path: Path) -> None:
    builder = graphs.builder(("as", "sc"), s=graphs.builder(LINE).build())
    path = tmp_path / "runs.db"
    graph = await inside(graphs.debugging(builder, str(path)), "x")
    graph.edit("n", 50, graph.find("s › y"))
    graph.skip(graph.find("s › y"), {"log": ["by hand"], "n": 70})
    assert told(graph)[-2:] == ["s › y edited", "s › y skipped"]
    again = reopened(graph, path, builder)
    assert [each.node_name for each in again.waiting()] == ["s", "s › z"]
    assert again.state() == {"log": ["a", "x", "by hand"], "n": 70}
    again.step_back()
    assert again.state(uuid=again.find("s › y"))["n"] == 50
    again.live()
    again.clear_all_breakpoint()
    assert await again.resume() == {"log": ["a", "x", "by hand", "z", "c"], "n": 72}
    assert graphs.calls == ["a", "x", "z", "c"]


async def test_change_output_between_tasks_inside(graphs: Any) -> None:
    graph = await inside(nested(graphs, ("xy", "xz", "yw", "zw"), "w"), "x", "y")
    y = graph.history(inside=True)[-1].uuid
    graph.change_output(y, graph.find("s › w"), "log", ["other"])
    await graph.step_over(graph.find("s › z"))
    assert graph.state(uuid=graph.find("s › w"))["log"] == ["a", "x", "other", "z"]
    with pytest.raises(SessionError, match="got nothing from"):
        graph.change_output(graph.history()[0].uuid, graph.find("s › w"), "log", [])


async def test_an_edit_of_what_the_sub_graph_starts_from_begins_it_anew(graphs: Any) -> None:
    graph = await inside(nested(graphs), "x")
    graph.step_back(2)
    graph.edit("n", 10, graph.find("s"))
    graph.clear_all_breakpoint()
    assert (await graph.resume())["n"] == 14
    assert graphs.calls == ["a", "x", "x", "y", "z", "c"]


async def test_a_pinned_node_inside_is_not_called(graphs: Any, tmp_path: Path) -> None:
    builder = graphs.builder(("as", "sc"), s=graphs.builder(LINE).build())
    path = tmp_path / "runs.db"
    graph = graphs.debugging(builder, str(path))
    graph.set_breakpoint("s")
    await graph.debug({"n": 0})
    graph.pin("s › y", {"log": ["pinned"]})
    again = reopened(graph, path, builder)
    again.clear_all_breakpoint()
    assert (await again.resume())["log"] == ["a", "x", "pinned", "z", "c"]
    assert told(again)[3] == "s › y pinned"


async def test_new_code_of_a_sub_graph_keeps_its_steps_if_it_has_the_same_shape(graphs: Any) -> None:
    graph = await inside(nested(graphs), "x")
    other = graphs.builder(LINE, y=lambda state: {"log": ["new y"]}).build()
    graph.replace_node("s", other)
    graph.clear_all_breakpoint()
    assert (await graph.resume())["log"] == ["a", "x", "new y", "z", "c"]
    assert graphs.calls == ["a", "x", "z", "c"]
    with pytest.raises(SessionError, match="inside of a sub-graph"):
        graph.replace_node("s › x", lambda state: {})


async def test_a_sub_graph_of_another_shape_is_begun_anew(graphs: Any) -> None:
    graph = await inside(nested(graphs), "x")
    graph.replace_node("s", graphs.builder(("uv",)).build())
    graph.clear_all_breakpoint()
    assert (await graph.resume())["log"] == ["a", "u", "v", "c"]
    assert "s › x" in told(graph)


# --- breakpoints -------------------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "place",
    [
        {"node": "s › x", "when": "after"},
        {"edge": "s › x>y"},
        {"edge": ("s › x", "s › y")},
        {"node": "s › x", "when": "after", "condition": "n == 2 and 'log' in delta"},
    ],
)
async def test_breakpoints_after_nodes_and_on_edges_hold_inside(graphs: Any, names: Any, place: Any) -> None:
    graph = nested(graphs)
    made = graph.add_breakpoint(**place)
    assert await graph.debug({"n": 0}) is None
    assert graphs.calls == ["a", "x"]
    assert [(each.node_name, each.held) for each in graph.waiting()] == [("s", ""), ("s › y", made.id)]
    assert await graph.resume() is None
    assert graphs.calls == ["a", "x"]
    await graph.step_over(graph.find("s › y"))
    assert (await graph.resume())["log"] == ["a", "x", "y", "z", "c"]


async def test_a_condition_after_a_node_inside_that_is_false_holds_nothing(graphs: Any) -> None:
    graph = nested(graphs)
    graph.add_breakpoint("s › x", when="after", condition="n > 100")
    assert (await graph.debug({"n": 0}))["log"] == ["a", "x", "y", "z", "c"]


async def test_a_hit_inside_is_counted_once_however_often_it_is_begun_again(graphs: Any) -> None:
    engine = graphs.builder(("xy",)).build()
    builder = graphs.builder(("as",), s=engine)
    builder.add_condition_edge("s", lambda state: "a" if state["n"] < 9 else "end", ["a", "end"])
    graph = graphs.debugging(builder)
    graph.add_breakpoint("s › y", hit=2)
    assert await graph.debug({"n": 0}) is None
    assert graph.state()["n"] == 5
    graph.goto(graph.history(inside=True)[-1])
    [hold] = [each for each in graph.waiting() if each.held]
    assert hold.node_name == "s › y"
    assert graph.breakpoints()[0].hits == 2


async def test_run_to_a_node_inside(graphs: Any, names: Any) -> None:
    graph = nested(graphs)
    graph.set_breakpoint("a")
    await graph.debug({"n": 0})
    await graph.run_to("s › z")
    assert names(graph) == ["s", "s › z"]
    assert graphs.calls == ["a", "x", "y"]


# --- the store ---------------------------------------------------------------------------------------------------


async def test_a_session_opened_elsewhere_goes_on_inside(graphs: Any, tmp_path: Path) -> None:
    builder = graphs.builder(("as", "sc"), s=graphs.builder(("xy", "xz", "yw", "zw"), "w").build())
    path = tmp_path / "runs.db"
    graph = await inside(graphs.debugging(builder, str(path)), "x", "z")
    before = graph.waiting(), graph.status, graph.state(), graph.history(inside=True)
    again = reopened(graph, path, builder)
    assert again.waiting() == before[0]
    assert (again.status, again.state(), again.history(inside=True)) == before[1:]
    assert again.allowed()["step_out"] == ""
    await again.step_over(again.find("s › y"))
    assert [each.node_name for each in again.waiting()] == ["s", "s › w"]
    again.clear_all_breakpoint()
    assert (await again.resume())["log"] == ["a", "x", "y", "z", "w", "c"]
    assert graphs.calls == ["a", "x", "z", "y", "w", "c"]
    assert [each.steps for each in again.runs()] == [5]


async def test_a_process_that_ends_inside_loses_nothing_that_had_finished(graphs: Any, tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    inner = GraphBuilder(State)
    for name in "xz":
        inner.add_node(name, graphs.node(name))
    gone = asyncio.Event()

    async def y(state: Any) -> Any:
        graphs.calls.append("y")
        if graphs.calls.count("y") == 1:
            gone.set()
            await asyncio.Event().wait()
        return {"log": ["y"]}

    inner.add_node("y", y)
    for edge in LINE:
        inner.add_edge(*edge)
    inner.set_entry_point("x")
    builder = graphs.builder(("as", "sc"), s=inner.build())
    graph = graphs.debugging(builder, str(path))
    work = asyncio.ensure_future(graph.debug({"n": 0}))
    await gone.wait()
    copy = tmp_path / "copy.db"
    copied(path, copy)
    work.cancel()
    await asyncio.wait([work])
    graph.store.close()
    again = GraphEngineDebugger.open(copy, str(graph.run_id), graph=builder)
    assert [each.node_name for each in again.waiting()] == ["s", "s › y"]
    assert (await again.resume())["log"] == ["a", "x", "y", "z", "c"]
    assert graphs.calls == ["a", "x", "y", "y", "z", "c"]
    assert told(again) == ["a", "s entered", "s › x", "s › y", "s › z", "s", "c", "end"]


async def test_a_later_sub_graph_of_an_opened_run_has_numbers_of_its_own(graphs: Any, tmp_path: Path) -> None:
    first, second = (graphs.builder((edge,)).build() for edge in ("xy", "uv"))
    builder = graphs.builder(("as", "sc", "ct"), s=first, t=second)
    path = tmp_path / "runs.db"
    graph = graphs.debugging(builder, str(path))
    graph.set_breakpoint("c")
    await graph.debug({"n": 0})
    again = reopened(graph, path, builder)
    again.clear_all_breakpoint()
    assert (await again.resume())["log"] == ["a", "x", "y", "c", "u", "v"]
    assert [step.inner for step in again.history(inside=True) if step.inner] == [1, 2, 3, 4, 5, 6]


async def test_branches_inside_are_kept(graphs: Any, tmp_path: Path) -> None:
    builder = graphs.builder(("as", "sc"), s=graphs.builder(LINE).build())
    path = tmp_path / "runs.db"
    graph = await inside(graphs.debugging(builder, str(path)), "x", "y")
    graph.step_back()
    await graph.step_over(graph.find("s › y"))
    graph.restore_step()

    def shown(one: Any) -> Any:
        lines = [one.history(name, inside=True) for name in ("main", "b2")]
        return one.waiting(), one.branches(), lines, one.state()

    before = shown(graph)
    assert shown(reopened(graph, path, builder)) == before


async def test_marks_of_breakpoints_inside_are_kept(graphs: Any, tmp_path: Path) -> None:
    builder = graphs.builder(("as", "sc"), s=graphs.builder(LINE).build())
    path = tmp_path / "runs.db"
    graph = graphs.debugging(builder, str(path))
    graph.add_breakpoint("s › x", when="after")
    await graph.debug({"n": 0})
    again = reopened(graph, path, builder)
    assert [each.held for each in again.waiting()] == ["", "1"]
    assert await again.resume() is None
    assert [each.held for each in again.waiting()] == ["", "1"]
    assert graphs.calls == ["a", "x"]


# --- effects -----------------------------------------------------------------------------------------------------


async def test_an_effect_inside_is_answered_from_the_record_after_going_back(graphs: Any) -> None:
    graph = nested(graphs, effects="y")
    await graph.debug({"n": 0})
    graph.goto(0)
    assert (await graph.resume())["log"] == ["a", "x", "y", "z", "c"]
    assert graphs.calls.count("y") == 1
    assert graphs.calls.count("x") == 2
    assert [(each.kind, each.node) for each in graph.effects()] == [("touched", "s › y"), ("replayed", "s › y")]


async def test_an_effect_inside_asks_before_it_acts_again_with_another_state(graphs: Any) -> None:
    graph = nested(graphs, effects="y")
    await graph.debug({"n": 0})
    graph.goto(1)
    graph.edit("n", 40, graph.find("s"))
    with pytest.raises(EffectRepeats, match="'s › y'") as caught:
        await graph.resume()
    assert graphs.calls.count("y") == 1
    assert caught.value.uuids == (graph.find("s › y"),)
    with pytest.raises(EffectRepeats):
        await graph.resume()
    graph.allow_rerun(graph.find("s › y"))
    assert (await graph.resume())["n"] == 44
    assert graphs.calls.count("y") == 2


async def test_what_was_begun_inside_stays_so_at_a_later_step_of_the_line(graphs: Any, names: Any) -> None:
    graph = graphs(("as", "ab", "sd", "bd"), "d", s=graphs.builder(("xy",)).build())
    graph.set_breakpoint("s")
    graph.set_breakpoint("b")
    await graph.debug({"n": 0})
    await graph.step_into()
    await graph.step_over(graph.find("b"))
    await graph.step_over()
    assert names(graph) == ["s", "d", "s › y"]
    graph.step_back()
    assert (graph.looking_at, graph.looking_inside) == (2, None)
    await graph.step_over()
    assert names(graph) == ["s", "d", "s › y"]
    assert graphs.calls == ["a", "b", "x", "x"]


async def test_a_session_that_is_let_go_of_inside_writes_nothing_more(graphs: Any, tmp_path: Path) -> None:
    path = tmp_path / "runs.db"
    graph = await inside(nested(graphs, path=str(path)), "x")
    run_id, steps = str(graph.run_id), told(graph)
    del graph
    gc.collect()
    await asyncio.sleep(0)
    builder = graphs.builder(("as", "sc"), s=graphs.builder(LINE).build())
    assert told(GraphEngineDebugger.open(path, run_id, graph=builder)) == steps


@pytest.mark.parametrize("error", [SystemExit(2), KeyboardInterrupt()])
async def test_a_node_inside_that_wants_to_end_the_program_fails(graphs: Any, error: BaseException) -> None:
    def leaves(state: Any) -> None:
        raise error

    graph = nested(graphs, y=leaves)
    with pytest.raises(NodeError, match="'y' failed") as failed:
        await graph.debug({"n": 0})
    assert failed.value.__cause__ is error
    assert graph.status == "failed"
    graph.replace_node("s", graphs.builder(LINE).build())
    assert (await graph.resume())["log"][-1] == "c"
