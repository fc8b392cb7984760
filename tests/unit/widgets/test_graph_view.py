"""The widget: snapshot by trait, change by message, one reply for each command, nothing left after closing."""

from __future__ import annotations

import asyncio
import threading
from typing import Any

import ipywidgets
import pytest

from evonb.widgets.feed import Feed, feed_of
from evonb.widgets.graph_view import GraphView, answer
from tests.unit.widgets.fakes import FakeEngine, chain

pytestmark = pytest.mark.usefixtures("comms")


def messages(view: GraphView) -> list[Any]:
    """The custom messages that a view has sent."""
    return [
        data["content"]
        for kind, data in view.comm.sent
        if kind == "comm_msg" and isinstance(data, dict) and data.get("method") == "custom"
    ]


def run(engine: FakeEngine) -> None:
    engine.begin()
    engine.visit("a", {"k": 1}, {"q": "hello"})
    engine.finish(k=1)


def test_a_new_view_carries_the_whole_state() -> None:
    engine = FakeEngine()
    view = GraphView(engine)
    state = view.comm.sent[0][1]["state"]
    assert state["snapshot"] == feed_of(engine).snapshot()
    assert "render" in state["_esm"]
    assert ".evo" in state["_css"]


def test_events_travel_as_messages_and_the_trait_is_refreshed_at_the_end() -> None:
    engine = FakeEngine()
    view = GraphView(engine)
    run(engine)
    feed_of(engine).flush(at_once=True)
    assert [message["type"] for message in messages(view)] == ["events"] * len(messages(view))
    assert view.snapshot["run"]["status"] == "finished"
    assert view.snapshot == feed_of(engine).snapshot()


def test_a_second_view_shows_the_same() -> None:
    engine = FakeEngine()
    first = GraphView(engine)
    run(engine)
    feed_of(engine).flush(at_once=True)
    assert GraphView(engine).snapshot == first.snapshot


def test_replacing_the_graph_reaches_every_view() -> None:
    engine, new = FakeEngine(), FakeEngine(chain("support", "z"))
    views = [GraphView(engine), GraphView(engine)]
    feed_of(engine).replace(new)
    for view in views:
        assert messages(view)[-1]["type"] == "snapshot"
        assert [node["id"] for node in view.snapshot["graph"]["nodes"]] == ["start", "z", "end"]
        assert view.graph is new


def test_resync_answers_with_the_snapshot() -> None:
    engine = FakeEngine()
    feed = feed_of(engine)
    run(engine)
    assert answer(feed, {"type": "resync", "request_id": "1"}) == {
        "type": "reply",
        "request_id": "1",
        "ok": True,
        "result": feed.snapshot(),
    }


def test_inspect_answers_with_the_details() -> None:
    engine = FakeEngine()
    feed = feed_of(engine)
    run(engine)
    reply = answer(feed, {"type": "inspect_node", "request_id": "1", "node": "a"})
    assert reply["ok"]
    assert reply["result"] == feed.details("a")


@pytest.mark.parametrize(
    "command",
    [
        None,
        7,
        "resync",
        [],
        {},
        {"type": "nope", "request_id": "1"},
        {"type": "inspect_node", "request_id": "1"},
        {"type": "inspect_node", "request_id": "1", "node": ["a"]},
        {"type": "inspect_node", "request_id": "1", "node": "<img src=x>"},
        {"type": ["resync"], "request_id": {"a": 1}},
    ],
)
def test_any_other_command_gets_an_error_reply_with_a_fix(command: Any) -> None:
    reply = answer(Feed(FakeEngine()), command)
    assert not reply["ok"]
    assert reply["error"]["what"]
    assert reply["error"]["fix"]


def test_a_failure_inside_is_a_reply_too(monkeypatch: pytest.MonkeyPatch) -> None:
    feed = Feed(FakeEngine())
    monkeypatch.setattr(feed, "snapshot", lambda: 1 / 0)
    reply = answer(feed, {"type": "resync", "request_id": "1"})
    assert not reply["ok"]
    assert "ZeroDivisionError" in reply["error"]["what"]


@pytest.mark.asyncio
async def test_a_command_from_any_thread_is_answered_on_the_loop() -> None:
    view = GraphView(FakeEngine())
    threads: list[int] = []
    answered = asyncio.Event()
    loop_send = view.send

    def send(content: Any, buffers: Any = None) -> None:
        threads.append(threading.get_ident())
        loop_send(content, buffers)
        answered.set()

    view.send = send
    content = {"type": "resync", "request_id": "1"}
    message = {"content": {"data": {"method": "custom", "content": content}}, "buffers": []}
    await asyncio.to_thread(view._handle_msg, message)
    async with asyncio.timeout(10):
        await answered.wait()
    assert threads == [threading.get_ident()]
    assert messages(view)[-1]["request_id"] == "1"


def test_closing_leaves_no_comm_and_no_listener(comms: list[Any]) -> None:
    engine = FakeEngine()
    before = len(ipywidgets.widgets.widget._instances)
    view = GraphView(engine)
    view.close()
    run(engine)
    assert [comm.is_open for comm in comms] == [False] * len(comms)
    assert len(ipywidgets.widgets.widget._instances) == before
    view.close()


def test_closing_one_view_leaves_the_other() -> None:
    engine = FakeEngine()
    first, second = GraphView(engine), GraphView(engine)
    first.close()
    run(engine)
    assert messages(second)


def test_a_layout_of_the_user_is_not_closed(comms: list[Any]) -> None:
    layout = ipywidgets.Layout(width="50%")
    GraphView(FakeEngine(), layout=layout).close()
    assert layout.comm is not None
    layout.close()
