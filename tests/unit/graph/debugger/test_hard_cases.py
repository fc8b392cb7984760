"""What broke other debuggers, or should break this one: parallel branches, second answers, time, odd moments."""

from __future__ import annotations

import asyncio
import datetime
import enum
import sys
from pathlib import Path
from typing import Any

import pytest
from pydantic import BaseModel

from evonb.errors import NodeError
from evonb.graph import GraphBuilder, GraphEngineDebugger
from evonb.graph.debugging.points import SessionError
from evonb.graph.toolwatch import current_tool_watch

pytestmark = pytest.mark.asyncio


class Colour(enum.Enum):
    RED = "red"
    BLUE = "blue"


class Order(BaseModel):
    item: str
    colour: Colour
    at: datetime.datetime
    pair: tuple[int, str]


class Shop(BaseModel):
    order: Order
    seen: str = ""


ORDER = {"item": "tea", "colour": "red", "at": "2026-01-02T03:04:05", "pair": (1, "x")}


def shop() -> GraphBuilder:
    builder = GraphBuilder(Shop)
    builder.add_node("a", lambda state: {})
    builder.add_node(
        "b", lambda state: {"seen": f"{state.order.colour.name} {state.order.at.year} {state.order.pair[0] + 1}"}
    )
    builder.add_edge("a", "b")
    builder.set_entry_point("a")
    return builder


async def test_of_two_held_branches_only_the_released_one_moves(graphs: Any, names: Any) -> None:
    graph = graphs(("ab", "ac", "bd", "ce", "df", "ef"), "f")
    graph.set_breakpoint("b")
    graph.set_breakpoint("c")
    await graph.debug({"n": 0})
    assert names(graph) == ["b", "c"]
    await graph.step_over(graph.find("c"))
    await graph.resume()
    assert graphs.calls == ["a", "c", "e"]
    assert names(graph) == ["b", "f"]
    await graph.step_over(graph.find("b"))
    assert (await graph.resume())["log"] == ["a", "b", "d", "c", "e", "f"]
    assert graphs.calls == ["a", "c", "e", "b", "d", "f"]


async def test_a_second_try_with_another_answer_gives_another_result_also_after_a_restart(
    graphs: Any, tmp_path: Path
) -> None:
    builder = graphs.builder()
    graph = graphs.debugging(builder, str(tmp_path / "runs.db"))
    graph.set_breakpoint("b")
    await graph.debug({"n": 0})
    graph.skip(graph.find("b"), {"log": ["yes"]})
    first = await graph.resume()
    graph.goto(1)
    graph.store.close()
    again = GraphEngineDebugger.open(tmp_path / "runs.db", graph.run_id, graph=builder)
    again.goto(1)
    again.skip(again.find("b"), {"log": ["no"]})
    second = await again.resume()
    assert (first["log"], second["log"]) == (["a", "yes", "c", "d"], ["a", "no", "c", "d"])
    assert [(each.name, each.from_step) for each in again.branches()] == [("main", 0), ("b2", 1)]
    assert graphs.calls == ["a", "c", "d", "c", "d"]


async def test_editing_an_earlier_point_leaves_its_next_nodes_and_they_run_with_the_edit(
    graphs: Any, names: Any
) -> None:
    graph = graphs()
    await graph.debug({"n": 0})
    graph.step_back(3)
    assert names(graph) == ["c"]
    graph.edit("n", 50)
    assert names(graph) == ["c"]
    assert (await graph.resume())["n"] == 52
    assert [each.node for each in graph.history("main")] == ["a", "b", "c", "d", "end"]
    assert graph.state(4)["n"] == 4


async def test_nested_models_enums_dates_and_tuples_keep_their_types_after_an_edit_and_a_restart(
    tmp_path: Path,
) -> None:
    graph = GraphEngineDebugger.of(shop(), str(tmp_path / "runs.db"), "shop")
    graph.set_breakpoint("b")
    await graph.debug({"order": ORDER})
    graph.edit("order", {**ORDER, "colour": "blue", "at": "2027-01-01T00:00:00", "pair": [7, "y"]})
    before = graph.state(uuid=graph.find("b"))
    with pytest.raises(Exception, match="colour"):
        graph.edit("order", {**ORDER, "colour": "green"})
    assert graph.state(uuid=graph.find("b")) == before
    graph.store.close()
    again = GraphEngineDebugger.open(tmp_path / "runs.db", graph.run_id, graph=shop(), name="shop")
    state = again.state(uuid=again.find("b"))
    assert state.order == Order(item="tea", colour=Colour.BLUE, at=datetime.datetime(2027, 1, 1), pair=(7, "y"))
    assert (await again.step_over() or await again.resume()).seen == "BLUE 2027 8"


async def test_a_paused_session_leaves_another_running(graphs: Any) -> None:
    inside, gone_on = asyncio.Event(), asyncio.Event()

    async def slow(state: Any) -> dict[str, Any]:
        inside.set()
        await gone_on.wait()
        return {"n": 10}

    one, other = graphs(b=slow), graphs()
    other.set_breakpoint("b", condition=lambda state: state["n"] == 1)
    first = asyncio.ensure_future(one.debug({"n": 0}))
    await inside.wait()
    assert await other.debug({"n": 0}) is None
    assert (one.status, other.status) == ("running", "paused")
    gone_on.set()
    assert (await first)["n"] == 12
    assert other.status == "paused"


async def test_running_to_a_node_and_that_node_again_runs_only_that_node(graphs: Any, names: Any) -> None:
    graph = graphs()
    graph.set_breakpoint("a")
    await graph.debug({"n": 0})
    await graph.run_to("c")
    assert (graphs.calls, names(graph)) == (["a", "b"], ["c"])
    for _ in range(3):
        await graph.step_over(graph.find("c"))
        assert names(graph) == ["d"]
        graph.restore_step()
    assert graphs.calls == ["a", "b", "c", "c", "c"]


async def test_time_limits_stand_still_while_a_tool_call_is_held(graphs: Any) -> None:
    async def calls(state: Any) -> dict[str, Any]:
        watch = current_tool_watch()
        assert watch is not None
        await watch.before("order", {})
        watch.done("order")
        return {"n": 7}

    builder = graphs.builder(("ab",), a=calls)
    builder._nodes["a"].timeout = 0.05
    graph = graphs.debugging(builder)
    graph.add_breakpoint(tool="order")
    await graph.debug({"n": 0})
    loop = asyncio.get_running_loop()
    until = loop.time() + 0.2
    late = asyncio.Event()
    loop.call_at(until, late.set)
    await late.wait()
    await graph.step_over(graph.waiting()[-1].uuid)
    assert graph.history()[0].status == "done"
    assert graph.history()[0].duration_s < 0.15


async def test_time_limits_still_end_a_node_that_was_held_and_goes_on_too_long(graphs: Any) -> None:
    async def calls(state: Any) -> dict[str, Any]:
        watch = current_tool_watch()
        assert watch is not None
        await watch.before("order", {})
        await asyncio.Event().wait()
        return {}

    builder = graphs.builder(("ab",), a=calls)
    builder._nodes["a"].timeout = 0.05
    graph = graphs.debugging(builder)
    graph.add_breakpoint(tool="order")
    await graph.debug({"n": 0})
    with pytest.raises(Exception, match=r"0\.05"):
        await graph.step_over(graph.waiting()[-1].uuid)


async def test_a_session_stopped_while_a_node_runs_goes_on_from_an_earlier_step(graphs: Any, names: Any) -> None:
    inside = asyncio.Event()
    hangs = [True]

    async def slow(state: Any) -> dict[str, Any]:
        inside.set()
        if hangs:
            await asyncio.Event().wait()
        return {"n": 10}

    graph = graphs(b=slow)
    session = asyncio.ensure_future(graph.debug({"n": 0}))
    await inside.wait()
    graph.stop()
    assert await session is None
    assert names(graph) == []
    hangs.clear()
    graph.restore_step()
    assert names(graph) == ["b"]
    assert (await graph.resume())["n"] == 12
    assert graphs.calls == ["a", "c", "d"]


async def test_a_second_debug_while_one_runs_is_refused_and_harms_nothing(graphs: Any) -> None:
    inside, gone_on = asyncio.Event(), asyncio.Event()

    async def slow(state: Any) -> dict[str, Any]:
        inside.set()
        await gone_on.wait()
        return {"n": 10}

    graph = graphs(b=slow)
    session = asyncio.ensure_future(graph.debug({"n": 0}))
    await inside.wait()
    for command in (graph.debug({"n": 1}), graph.resume(), graph.step_over()):
        with pytest.raises(SessionError, match="it runs"):
            await command
    gone_on.set()
    assert (await session)["n"] == 12


async def test_back_and_forward_at_the_ends_move_nothing(graphs: Any, names: Any) -> None:
    graph = graphs()
    graph.set_breakpoint("a")
    await graph.debug({"n": 0})
    with pytest.raises(SessionError, match="this is the start"):
        graph.step_back()
    with pytest.raises(SessionError, match=r"the start|no step"):
        graph.restore_step()
    with pytest.raises(SessionError, match=r"newest step|the present"):
        graph.step_forward()
    assert names(graph) == ["a"]


async def test_a_fork_of_a_fork_and_its_own_fork_come_back_with_their_states(graphs: Any, tmp_path: Path) -> None:
    builder = graphs.builder(("ab", "bc", "cd", "de"))
    graph = graphs.debugging(builder, str(tmp_path / "runs.db"))
    await graph.debug({"n": 0})
    results = []
    for back, n in ((4, 10), (3, 100), (2, 1000)):
        graph.step_back(back)
        graph.edit("n", n)
        results.append((await graph.resume())["n"])
    assert [each.name for each in graph.branches()] == ["main", "b2", "b3", "b4"]
    states = {each.name: graph.state(each.last_step) for each in graph.branches()}
    graph.store.close()
    graphs.calls.clear()
    again = GraphEngineDebugger.open(tmp_path / "runs.db", graph.run_id, graph=builder)
    assert again.branches() == graph.branches()
    assert {each.name: again.state(each.last_step) for each in again.branches()} == states
    assert [states[name]["n"] for name in ("b2", "b3", "b4")] == results
    again.restore_step()
    again.restore_step()
    await again.resume()
    assert len(again.branches()) == 5
    assert graphs.calls == ["e"]


async def test_an_ordinary_run_of_a_debugger_ignores_breakpoints_and_leaves_the_session(
    graphs: Any, names: Any
) -> None:
    graph = graphs()
    graph.set_breakpoint("c")
    await graph.debug({"n": 0})
    history = graph.history()
    assert (await graph.run({"n": 100}))["n"] == 104
    assert (graph.history(), names(graph), graph.status) == (history, ["c"], "paused")
    graph.clear_all_breakpoint()
    assert (await graph.resume())["n"] == 4


async def test_a_lock_that_a_held_node_doesnt_have_is_free_for_others(graphs: Any) -> None:
    lock = asyncio.Lock()

    async def locked(state: Any) -> dict[str, Any]:
        async with lock:
            return {"n": state["n"] + 1}

    graph = graphs(("ab", "bc"), b=locked)
    graph.set_breakpoint("b")
    await graph.debug({"n": 0})
    async with asyncio.timeout(5), lock:
        pass
    await graph.step_over()
    assert not lock.locked()
    assert (await graph.resume())["n"] == 3


@pytest.mark.parametrize("error", [SystemExit(2), KeyboardInterrupt()])
@pytest.mark.parametrize("is_async", [False, True])
async def test_a_node_that_wants_to_end_the_program_fails_and_can_be_mended(
    graphs: Any, error: BaseException, is_async: bool
) -> None:
    def leaves(state: Any) -> None:
        raise error

    async def leaves_too(state: Any) -> None:
        raise error

    graph = graphs(b=leaves_too if is_async else leaves)
    with pytest.raises(NodeError, match="'b' failed") as failed:
        await graph.debug({"n": 0})
    assert failed.value.__cause__ is error
    assert graph.status == "failed"
    graph.replace_node("b", graphs.node("b"))
    assert (await graph.resume())["log"] == ["a", "b", "c", "d"]


async def test_a_router_that_wants_to_end_the_program_fails(graphs: Any) -> None:
    builder = graphs.builder(("ab",))
    builder.add_condition_edge("b", lambda state: sys.exit(3), ["a", "end"])
    graph = graphs.debugging(builder)
    with pytest.raises(NodeError, match="router"):
        await graph.debug({"n": 0})
    assert graph.status == "failed"
