"""The panel as a widget: the session by trait and by message, one reply for each command, also from another thread."""

from __future__ import annotations

import asyncio
import threading
from pathlib import Path
from typing import Any, TypedDict

import pytest

from evonb.graph import GraphBuilder, GraphEngineDebugger
from evonb.widgets import debug_commands
from evonb.widgets.debugger_view import DebuggerView
from evonb.widgets.feed import feed_of, known_snapshot, move_feed
from evonb.widgets.graph_view import GraphView

pytestmark = [pytest.mark.asyncio, pytest.mark.usefixtures("comms")]


class State(TypedDict, total=False):
    count: int


def add(state: Any) -> dict[str, int]:
    return {"count": state.get("count", 0) + 1}


@pytest.fixture
def debugger(tmp_path: Path) -> GraphEngineDebugger:
    builder = GraphBuilder(state_schema=State, name="adding")
    for name in ("one", "two"):
        builder.add_node(name, add)
    builder.set_entry_point("one")
    builder.add_edge("one", "two")
    made = builder.build(graph_mode="debug", db_file_path=str(tmp_path / "runs.db"))
    assert isinstance(made, GraphEngineDebugger)
    made.set_breakpoint("two")
    return made


def sent(view: DebuggerView, kind: str) -> list[Any]:
    contents = [data["content"] for _, data in view.comm.sent if isinstance(data, dict) and "content" in data]
    return [content for content in contents if content["type"] == kind]


async def reply(view: DebuggerView, **command: Any) -> Any:
    """Send a command as a browser would, from another thread; its reply."""
    command["request_id"] = f"r{len(sent(view, 'reply'))}"
    arrived = asyncio.Event()
    original = view.send

    def send(content: Any, buffers: Any = None) -> None:
        original(content, buffers)
        if content.get("request_id") == command["request_id"]:
            arrived.set()

    view.send = send
    threading.Thread(target=view._evo_receive, args=(view, command, [])).start()
    await asyncio.wait_for(arrived.wait(), 10)
    view.send = original
    return sent(view, "reply")[-1]


async def test_a_new_view_carries_the_whole_session(debugger: GraphEngineDebugger) -> None:
    await debugger.debug({"count": 1})
    view = DebuggerView(debugger)
    state = view.comm.sent[0][1]["state"]
    assert state["debug"]["status"] == "paused"
    assert state["debug"]["stopped_at"] == ["two"]
    assert state["debug"]["reason"] == "breakpoint"
    assert state["snapshot"]["nodes"]["one"]["status"] == "done"
    assert "render" in state["_esm"]


async def test_commands_come_from_any_thread_and_get_one_reply(debugger: GraphEngineDebugger) -> None:
    view = DebuggerView(debugger)
    answer = await reply(view, type="run", inputs={"count": 1})
    assert answer["ok"]
    assert debugger.status == "paused"
    assert view.debug["status"] == "paused"
    assert sent(view, "debug")[-1]["state"] == view.debug
    answer = await reply(view, type="step_back", count=1, branch=None)
    assert answer["ok"]
    assert view.debug["looking"] == 0
    assert view.picture["nodes"]["one"]["status"] == "queued"
    await reply(view, type="live")
    assert view.picture == {}
    assert len(sent(view, "reply")) == 3


async def test_what_fails_is_answered_with_what_where_and_fix(debugger: GraphEngineDebugger) -> None:
    view = DebuggerView(debugger)
    answer = await reply(view, type="resume")
    assert not answer["ok"]
    assert "no run has begun" in answer["error"]["what"]
    assert answer["error"]["fix"]
    answer = await reply(view, type="no_such_command")
    assert not answer["ok"]


async def test_commands_of_the_picture_are_answered_too(debugger: GraphEngineDebugger) -> None:
    view = DebuggerView(debugger)
    answer = await reply(view, type="inspect_node", node="one")
    assert answer["result"]["node"] == "one"
    answer = await reply(view, type="resync")
    assert answer["result"] == view.snapshot


async def test_two_views_agree_and_a_closed_one_hears_nothing(debugger: GraphEngineDebugger) -> None:
    one, other = DebuggerView(debugger), DebuggerView(debugger)
    await reply(one, type="run", inputs={})
    assert one.debug == other.debug
    assert one.snapshot == other.snapshot
    other.close()
    await reply(one, type="resume")
    assert one.debug["status"] == "finished"
    assert other.debug["status"] == "paused"
    feed_of(debugger).flush(at_once=True)
    assert one.snapshot["run"]["status"] == "finished"
    assert other.snapshot["run"]["status"] != "finished"


async def test_a_session_that_code_moves_is_shown(debugger: GraphEngineDebugger) -> None:
    view = DebuggerView(debugger)
    handle = debugger.start({"count": 5})
    await handle.settled()
    await debugger.step_over()
    assert view.debug["steps"][-1]["node"] == "two"
    await debugger.resume()
    assert (await handle)["count"] == 7
    assert view.debug["status"] == "finished"


async def test_a_breakpoint_on_a_function_is_switched_off_and_on_again(debugger: GraphEngineDebugger) -> None:
    def always(state: Any) -> bool:
        return True

    made = debugger.add_breakpoint("one", condition=always)
    view = DebuggerView(debugger)
    shown = next(each for each in view.debug["breakpoints"] if each["id"] == made.id)
    command = {name: shown[name] for name in ("id", "kind", "node", "edge", "when", "condition", "hit", "log")}
    for enabled in (False, True):
        answer = await reply(view, type="set_breakpoint", **command, enabled=enabled)
        assert answer["ok"], answer
        (kept,) = [each for each in debugger.breakpoints() if each.node == "one"]
        assert (kept.id, kept.enabled) == (made.id, enabled)
        assert kept.condition is not None
    view.close()


async def routed(tmp_path: Path, gate: asyncio.Event) -> GraphEngineDebugger:
    """A session that stands before "one", whose router waits for the gate and takes no more than a hundred."""

    async def route(state: Any) -> str:
        await gate.wait()
        if state["count"] > 100:
            raise ValueError("too many")
        return "two"

    builder = GraphBuilder(state_schema=State, name="adding")
    for name in ("one", "two"):
        builder.add_node(name, add)
    builder.set_entry_point("one")
    builder.add_condition_edge("one", route, ["two"])
    debugger = builder.build(graph_mode="debug", db_file_path=str(tmp_path / "runs.db"))
    assert isinstance(debugger, GraphEngineDebugger)
    debugger.set_breakpoint("one")
    await debugger.debug({})
    return debugger


async def test_a_command_that_takes_long_is_answered_at_once_and_its_failure_is_said(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(debug_commands, "SOON_S", 0.0)
    gate, said = asyncio.Event(), asyncio.Event()
    debugger = await routed(tmp_path, gate)
    view = DebuggerView(debugger)
    view.observe(lambda change: said.set() if "too many" in change.new["reason"] else None, "debug")
    assert (await reply(view, type="skip", task=debugger.find("one"), delta={"count": "101"}))["ok"]
    assert not said.is_set()
    gate.set()
    await asyncio.wait_for(said.wait(), 10)
    view.close()


async def test_skipping_a_node_awaits_its_router_and_what_that_raises_is_said(tmp_path: Path) -> None:
    gate = asyncio.Event()
    gate.set()
    debugger = await routed(tmp_path, gate)
    view = DebuggerView(debugger)
    task = debugger.find("one")
    refused = await reply(view, type="skip", task=task, delta={"count": "101"})
    assert "too many" in refused["error"]["what"]
    assert (await reply(view, type="skip", task=task, delta={"count": "7"}))["ok"]
    assert [(step.node, step.status) for step in debugger.history()] == [("one", "skipped")]
    assert [each.node_name for each in debugger.waiting()] == ["two"]
    assert debugger.state()["count"] == 7
    view.close()


async def test_the_panel_is_drawn_smaller_than_the_graph_view_of_the_same_debugger(
    debugger: GraphEngineDebugger,
) -> None:
    panel, graph = DebuggerView(debugger), GraphView(debugger)
    heights = [{view.snapshot["layout"]["boxes"][name]["h"] for name in ("one", "two")} for view in (panel, graph)]
    assert heights == [{26}, {34}]
    await debugger.debug({"count": 1})
    feed_of(debugger).flush(at_once=True)
    assert panel.snapshot["layout"]["height"] < graph.snapshot["layout"]["height"]
    assert {**panel.snapshot, "layout": None} == {**graph.snapshot, "layout": None}
    resynced = (await reply(panel, type="resync"))["result"]
    assert resynced["layout"] == panel.snapshot["layout"]
    assert (await reply(panel, type="step_back", count=1, branch=None))["ok"]
    past = sent(panel, "debug")[-1]["picture"]
    assert past["layout"] == panel.picture["layout"] == panel.snapshot["layout"]
    assert known_snapshot(debugger)["layout"] == graph.snapshot["layout"]  # what the still picture is drawn from


async def test_nodes_keep_their_place_in_both_densities_when_the_graph_is_replaced(
    debugger: GraphEngineDebugger, tmp_path: Path
) -> None:
    panel, graph = DebuggerView(debugger), GraphView(debugger)
    before = [view.snapshot["layout"]["boxes"]["two"] for view in (panel, graph)]
    builder = GraphBuilder(state_schema=State, name="adding")
    for name in ("one", "two", "three"):
        builder.add_node(name, add)
    builder.set_entry_point("one")
    builder.add_edge("one", "two")
    builder.add_edge("two", "three")
    other = builder.build(graph_mode="debug", db_file_path=str(tmp_path / "other.db"))
    move_feed(debugger, other)
    feed_of(other).flush(at_once=True)
    after = [view.snapshot["layout"]["boxes"] for view in (panel, graph)]
    assert [boxes["two"] for boxes in after] == before
    assert [boxes["three"]["h"] for boxes in after] == [26, 34]
