"""Commands while a session runs: pause, stop, live sessions, failures and retries, limits."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evonb.errors import NodeError, RouterError, StateError
from evonb.graph import GraphEngineDebugger, events
from evonb.graph.debugging.points import SessionError

pytestmark = pytest.mark.asyncio


class Gate:
    """A node that waits for the test."""

    def __init__(self) -> None:
        self.entered = asyncio.Event()
        self.go = asyncio.Event()
        self.calls = 0
        self.cancelled = False

    async def node(self, state: Any) -> dict[str, Any]:
        self.calls += 1
        self.entered.set()
        try:
            await self.go.wait()
        except asyncio.CancelledError:
            self.cancelled = True
            raise
        return {"log": ["gate"], "n": state["n"] + 1}


async def test_pause_stops_before_the_next_task_and_waits_for_the_running_one(graphs: Any, names: Any) -> None:
    gate = Gate()
    graph = graphs(b=gate.node)
    handle = graph.start({"n": 0})
    await gate.entered.wait()
    assert graph.status == "running"
    graph.pause()
    assert graph.status == "pausing"
    gate.go.set()
    assert await handle.settled() == "paused"
    assert names(graph) == ["c"]
    assert (await graph.resume())["n"] == 4
    assert (await handle)["n"] == 4
    assert handle.done


async def test_commands_work_while_a_live_session_runs_and_others_say_why_not(graphs: Any) -> None:
    gate = Gate()
    graph = graphs(b=gate.node)
    handle = graph.start({"n": 0})
    with pytest.raises(SessionError, match="it runs"):
        graph.start({"n": 0})
    await gate.entered.wait()
    graph.add_breakpoint("d")
    assert [step.node for step in graph.history()] == ["a"]
    assert graph.why("b").kind == "running"
    assert graph.allowed()["resume"] == "Resume: it runs"
    assert graph.allowed()["pause"] == ""
    with pytest.raises(SessionError, match="Edit: it runs"):
        graph.edit("n", 3)
    gate.go.set()
    assert await handle.settled() == "paused"
    assert [each.node_name for each in graph.waiting()] == ["d"]
    assert not handle.done


async def test_stop_cancels_what_runs_and_keeps_the_record(graphs: Any) -> None:
    gate = Gate()
    graph = graphs(b=gate.node)
    handle = graph.start({"n": 0})
    await gate.entered.wait()
    handle.stop()
    assert await handle is None
    assert gate.cancelled
    assert graph.status == "finished"
    assert [(step.node, step.status) for step in graph.history()] == [("a", "done"), ("b", "stopped")]
    assert graph.allowed()["step_over"] == "Step: the run is over"
    gate.go.set()
    graph.step_back()
    assert (await graph.resume())["n"] == 4


async def test_a_paused_session_can_be_stopped(graphs: Any) -> None:
    graph = graphs()
    graph.set_breakpoint("b")
    await graph.debug({"n": 0})
    graph.stop()
    assert (graph.status, graph.waiting()) == ("finished", [])
    assert graph.allowed()["stop"] == "Stop: nothing runs"


def ends_of(seen: list[Any]) -> list[tuple[str, str]]:
    """Which of the events that nothing runs after were told, and why."""
    ends = [each for each in seen if isinstance(each, events.RunFinished | events.RunFailed | events.RunPaused)]
    return [(type(each).__name__, getattr(each, "reason", "")) for each in ends]


async def given_up(work: Any, entered: asyncio.Event) -> None:
    """Cancel work once a node runs in it."""
    task = asyncio.ensure_future(work)
    await entered.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task


@pytest.mark.parametrize("is_reopened", [False, True])
async def test_a_cancelled_debug_ends_for_everybody_and_can_be_gone_on_from(
    graphs: Any, tmp_path: Path, is_reopened: bool
) -> None:
    gate = Gate()
    builder = graphs.builder(b=gate.node)
    graph = graphs.debugging(builder, str(tmp_path / "runs.db"))
    seen: list[Any] = []
    graph.attach(seen.append)
    await given_up(graph.debug({"n": 0}), gate.entered)
    assert gate.cancelled
    assert ends_of(seen) == [("RunFinished", "stopped")]
    assert [each.node for each in seen if isinstance(each, events.NodeSkipped)] == ["b"]
    assert graph.runs()[0].status == "stopped"
    assert (graph.status, graph.allowed()["debug"]) == ("finished", "")
    assert [(step.node, step.status) for step in graph.history()] == [("a", "done"), ("b", "stopped")]
    assert graph.state(1) == {"log": ["a"], "n": 1}
    gate.go.set()
    if is_reopened:
        graph.store.close()
        graph = GraphEngineDebugger.open(tmp_path / "runs.db", graph.run_id, graph=builder)
    graph.restore_step()
    assert (await graph.resume())["log"] == ["a", "gate", "c", "d"]


async def test_a_cancelled_step_leaves_the_session_paused_where_it_was(graphs: Any, names: Any) -> None:
    gate = Gate()
    graph = graphs(b=gate.node)
    graph.set_breakpoint("b")
    await graph.debug({"n": 0})
    seen: list[Any] = []
    graph.attach(seen.append)
    await given_up(graph.step_over(), gate.entered)
    assert ends_of(seen) == [("RunPaused", "pause")]
    assert (graph.status, names(graph), len(graph.history())) == ("paused", ["b"], 1)
    gate.go.set()
    assert await graph.step_over() is None
    assert (await graph.resume())["n"] == 4


async def test_a_cancelled_live_session_ends_for_everybody(graphs: Any) -> None:
    gate = Gate()
    graph = graphs(b=gate.node)
    seen: list[Any] = []
    graph.attach(seen.append)
    handle = graph.start({"n": 0})
    await gate.entered.wait()
    handle._task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await handle
    assert handle.done
    assert ends_of(seen) == [("RunFinished", "stopped")]
    gate.go.set()
    graph.goto(1)
    assert (await graph.resume())["n"] == 4


async def test_a_live_session_that_is_given_up_at_once_leaves_the_debugger_free(graphs: Any) -> None:
    graph = graphs()
    cancelled = graph.start({"n": 0})
    cancelled._task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await cancelled
    stopped = graph.start({"n": 0})
    stopped.stop()
    assert await stopped is None
    assert (graph.status, graphs.calls) == ("idle", [])
    assert (await graph.debug({"n": 0}))["n"] == 4


@pytest.mark.parametrize("way", ["cancel", "stop", "stop the handle"])
async def test_giving_up_while_the_starts_router_is_asked_leaves_no_session_and_a_run_to_open(
    graphs: Any, tmp_path: Path, way: str
) -> None:
    asked, may_answer = asyncio.Event(), asyncio.Event()

    async def route(state: Any) -> str:
        asked.set()
        await may_answer.wait()
        return "b"

    builder = graphs.builder(("ac", "bc"))
    builder._edges["start"].clear()
    builder.add_condition_edge("start", route, ["a", "b"])
    graph = graphs.debugging(builder, str(tmp_path / "runs.db"))
    seen: list[Any] = []
    graph.attach(seen.append)
    if way == "cancel":
        await given_up(graph.debug({"n": 0}), asked)
    else:
        handle = graph.start({"n": 0})
        await asked.wait()
        (graph if way == "stop" else handle).stop()
        assert await handle is None
    assert ends_of(seen) == [("RunFinished", "stopped")]
    assert graph.status == "idle"
    assert [run.status for run in graph.runs()] == ["stopped"]
    may_answer.set()
    graph.open_run(graph.runs()[0].run_id)
    assert (await graph.resume())["log"] == ["b", "c"]


async def test_a_start_whose_router_fails_is_told_as_a_failed_run(graphs: Any) -> None:
    builder = graphs.builder()
    builder._edges["start"].clear()
    builder.add_condition_edge("start", lambda state: "nowhere", ["a"])
    graph = graphs.debugging(builder)
    seen: list[Any] = []
    graph.attach(seen.append)
    with pytest.raises(RouterError):
        await graph.debug({"n": 0})
    assert ends_of(seen) == [("RunFailed", "")]
    assert (graph.status, graph.runs()[0].status) == ("idle", "failed")


async def test_commands_without_a_session_say_so(graphs: Any) -> None:
    graph = graphs()
    assert graph.status == "idle"
    assert graph.waiting() == []
    assert graph.allowed()["step_back"] == "Step back: no run has begun"
    assert graph.allowed()["pause"] == "Pause: nothing runs"
    assert graph.allowed()["start"] == ""
    with pytest.raises(SessionError, match="Pause: nothing runs"):
        graph.pause()
    with pytest.raises(SessionError, match="no run has begun"):
        await graph.step_over()


async def test_a_failed_node_can_be_replaced_and_stepped_again(graphs: Any) -> None:
    def broken(state: Any) -> Any:
        raise ValueError("no")

    graph = graphs(b=broken)
    with pytest.raises(NodeError, match="no"):
        await graph.debug({"n": 0})
    assert graph.status == "failed"
    [task] = graph.waiting()
    assert (task.node_name, task.failed) == ("b", True)
    assert graph.why("b").kind == "failed"
    graph.replace_node("b", graphs.node("b"))
    assert await graph.step_over(task.uuid) is None
    assert graph.status == "paused"
    assert (await graph.resume())["log"] == ["a", "b", "c", "d"]
    assert graphs.calls == ["a", "b", "c", "d"]
    assert [step.status for step in graph.history()] == ["done", "failed", "done", "done", "done", "done"]


async def test_a_live_session_raises_where_it_is_awaited_and_gives_its_result_after_a_retry(graphs: Any) -> None:
    tries: list[int] = []

    def second_time(state: Any) -> Any:
        tries.append(1)
        if len(tries) == 1:
            raise ValueError("not yet")
        return {"n": 10}

    graph = graphs(c=second_time)
    handle = graph.start({"n": 0})
    with pytest.raises(NodeError, match="not yet"):
        await handle
    await graph.resume()
    assert (await handle)["n"] == 11


async def test_taking_back_a_failure_goes_to_before_the_step_that_led_there(graphs: Any, names: Any) -> None:
    def broken(state: Any) -> Any:
        raise ValueError("no")

    graph = graphs(c=broken)
    with pytest.raises(NodeError):
        await graph.debug({"n": 0})
    graph.restore_step()
    assert names(graph) == ["b"]


async def test_the_limit_of_turns_ends_a_session_as_it_ends_a_run(graphs: Any) -> None:
    builder = graphs.builder(("ab",))
    builder.add_condition_edge("b", lambda state: ["a", "end"], ["a", "end"])
    graph = graphs.debugging(builder, max_turn=5)
    graph.set_breakpoint("a")
    await graph.debug({"n": 0})
    result = None
    while graph.waiting() and result is None:
        result = await graph.step_over()
    assert result == await builder.build(max_turn=5).run({"n": 0})
    assert graph.history()[-1].status == "limit" or any(step.status == "limit" for step in graph.history())


async def test_a_resumed_finished_session_gives_its_result_again(graphs: Any) -> None:
    graph = graphs()
    first = await graph.debug({"n": 0})
    assert await graph.resume() == first
    assert len(graphs.calls) == 4


async def test_the_next_session_begins_anew_and_keeps_breakpoints(graphs: Any) -> None:
    graph = graphs()
    made = graph.add_breakpoint("b", hit=1)
    await graph.debug({"n": 0})
    before = graph.run_id
    await graph.debug({"n": 5})
    assert graph.run_id != before
    assert graph.state()["n"] == 6
    assert [each.id for each in graph.breakpoints()] == [made.id]


async def test_pausing_a_live_session_before_it_has_begun_stops_before_its_first_task(graphs: Any, names: Any) -> None:
    graph = graphs()
    handle = graph.start({"n": 0})
    graph.pause()
    assert await handle.settled() == "paused"
    assert (graphs.calls, names(graph)) == ([], ["a"])
    assert (await graph.resume())["n"] == 4


async def test_inputs_that_do_not_fit_leave_no_session(graphs: Any) -> None:
    graph = graphs()
    with pytest.raises(StateError, match="'n'"):
        await graph.debug({"n": "many"})
    assert graph.status == "idle"
    with pytest.raises(StateError, match="'n'"):
        await graph.start({"n": "many"})
    assert graph.status == "idle"
