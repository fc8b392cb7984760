"""The feed: one snapshot, bounded batches, gapless `seq`, from any thread."""

from __future__ import annotations

import asyncio
import gc
import json
import threading
import weakref
from typing import Any

import pytest

from evonb.errors import GraphError
from evonb.export.words import headline
from evonb.graph import events as ev
from evonb.protocol.messages import KernelMessage
from evonb.protocol.reduce import apply_batch
from evonb.protocol.snapshot import TOOLS_KEPT, Snapshot
from evonb.typing import ChatStreamChunk
from evonb.widgets.batch import MAX_BYTES, MAX_EVENTS
from evonb.widgets.feed import Feed, feed_of, move_feed
from tests.unit.widgets.fakes import FakeClock, FakeEngine, chain


class Viewer:
    """Folds messages as the browser does; a gap fails the test."""

    def __init__(self, feed: Feed) -> None:
        self.snapshot: Snapshot = feed.snapshot()
        self.messages: list[KernelMessage] = []
        self.threads: set[int] = set()
        self.leave = feed.subscribe(self.receive)

    def receive(self, message: KernelMessage) -> None:
        self.messages.append(message)
        self.threads.add(threading.get_ident())
        if message["type"] == "snapshot":
            self.snapshot = message["snapshot"]
        elif message["type"] == "events":
            after = apply_batch(self.snapshot, message["first_seq"], message["last_seq"], message["events"])
            assert after is not None, "a gap"
            self.snapshot = after


def one_run(engine: FakeEngine) -> None:
    engine.begin()
    engine.visit("a", {"k": 1}, {"q": "hello"})
    engine.visit("b")
    engine.finish(k=1)


def test_a_view_ends_in_the_snapshot_of_the_feed() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    viewer = Viewer(feed)
    one_run(engine)
    feed.flush()
    assert viewer.snapshot == feed.snapshot()
    assert viewer.snapshot["nodes"]["a"]["status"] == "done"
    assert viewer.snapshot["run"]["status"] == "finished"


def test_the_end_of_a_run_is_published_without_waiting() -> None:
    engine, clock = FakeEngine(), FakeClock()
    viewer = Viewer(Feed(engine, clock=clock))
    one_run(engine)
    assert viewer.snapshot["run"]["status"] == "finished"


def test_between_two_batches_there_is_a_period() -> None:
    engine, clock = FakeEngine(), FakeClock()
    viewer = Viewer(Feed(engine, clock=clock))
    engine.begin()
    for _ in range(1000):
        engine.chunk("a", "x")
    assert len(viewer.messages) == 1
    clock.now += 0.05
    engine.chunk("a", "x")
    assert len(viewer.messages) == 2
    assert viewer.snapshot["nodes"]["a"]["chunks"] == 1001


def test_seq_goes_on_over_runs_and_replacements() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    viewer = Viewer(feed)
    one_run(engine)
    after_first = feed.snapshot()["seq"]
    engine.begin("r2")
    feed.flush()
    assert viewer.snapshot["seq"] == feed.snapshot()["seq"] == after_first + 1
    feed.replace(FakeEngine())
    assert viewer.snapshot["seq"] == feed.snapshot()["seq"] == after_first + 2


def test_a_late_subscriber_can_start_from_the_snapshot() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    engine.begin()
    engine.visit("a")
    late = Viewer(feed)
    engine.visit("b")
    engine.finish()
    feed.flush()
    assert late.snapshot == feed.snapshot()


def test_a_burst_arrives_whole_and_in_bounded_messages() -> None:
    engine, clock = FakeEngine(), FakeClock()
    feed = Feed(engine, clock=clock)
    viewer = Viewer(feed)
    engine.begin()
    for _ in range(5000):
        engine.visit("a")
    engine.finish()
    clock.now += 1
    feed.flush()
    for message in viewer.messages:
        if message["type"] == "events":
            assert len(message["events"]) <= MAX_EVENTS
            assert len(json.dumps(message)) <= MAX_BYTES + 2000
    assert len(viewer.messages) <= 6
    assert viewer.snapshot == feed.snapshot()
    assert viewer.snapshot["run"]["turns"] == 5000


def test_of_two_runs_at_once_the_picture_shows_the_first() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    engine.begin("r1")
    engine.emit(ev.RunStarted, "r2", graph_name="support", inputs={}, started_at=1.0)
    engine.emit(ev.NodeStarted, "r2", node="b", task_id=ev.TaskId("t"), visit=1)
    assert feed.snapshot()["run"]["run_id"] == "r1"
    assert feed.snapshot()["nodes"]["b"]["status"] == "idle"


def test_a_quiet_run_gives_the_picture_to_a_newer_one() -> None:
    engine, clock = FakeEngine(), FakeClock()
    feed = Feed(engine, clock=clock)
    engine.begin("r1")
    clock.now += 5
    engine.begin("r2")
    assert feed.snapshot()["run"]["run_id"] == "r2"


def test_runs_that_are_not_shown_are_counted_until_they_end() -> None:
    engine, clock = FakeEngine(), FakeClock()
    feed = Feed(engine, clock=clock)
    viewer = Viewer(feed)
    engine.begin("r1")
    for other in ("r2", "r3"):
        engine.emit(ev.RunStarted, other, graph_name="support", inputs={}, started_at=1.0)
    feed.flush(at_once=True)
    assert viewer.snapshot["run"]["message"] == "+2 more runs"
    engine.emit(ev.RunFinished, "r2", reason="completed", state={})
    engine.finish()
    feed.flush(at_once=True)
    assert viewer.snapshot["run"]["message"] == "+1 more run"
    engine.emit(ev.RunFailed, "r3", error=ev.ErrorInfo("E", "e", "", "", (), ""))
    feed.flush(at_once=True)
    assert viewer.snapshot["run"]["message"] == ""
    assert viewer.snapshot == feed.snapshot()


def test_a_run_that_the_picture_turned_away_from_is_counted() -> None:
    engine, clock = FakeEngine(), FakeClock()
    feed = Feed(engine, clock=clock)
    engine.begin("r1")
    clock.now += 5
    engine.begin("r2")
    feed.flush(at_once=True)
    assert feed.snapshot()["run"]["message"] == "+1 more run"


def test_a_run_of_a_replaced_graph_is_said_until_it_ends() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    viewer = Viewer(feed)
    engine.begin("r1")
    feed.replace(engine)  # the new engine has the listeners of the old one, so the run's end is heard
    assert viewer.snapshot["run"]["status"] == "idle"
    assert viewer.snapshot["run"]["message"] == "an earlier run goes on"
    engine.finish()
    feed.flush(at_once=True)
    assert viewer.snapshot["run"]["message"] == ""
    assert viewer.snapshot == feed.snapshot()


def test_a_session_that_stands_still_is_no_further_run() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    engine.begin("r1")
    engine.emit(ev.RunPaused, reason="paused", waiting=())
    feed.replace(engine)
    assert feed.snapshot()["run"]["message"] == ""


def test_a_run_that_was_cut_off_keeps_its_own_message() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    engine.begin("r1")
    engine.emit(ev.RunStarted, "r2", graph_name="support", inputs={}, started_at=1.0)
    engine.emit(ev.RunFinished, reason="starved", state=None, message="b waits for a")
    feed.flush(at_once=True)
    assert feed.snapshot()["run"]["message"] == "b waits for a"


def test_the_variable_of_a_graph_is_named_while_it_has_not_run() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    viewer = Viewer(feed)
    feed.called("o2")
    assert viewer.snapshot["run"]["message"] == "Run it with await o2.run({…})"
    assert "await o2.run" in headline(viewer.snapshot)
    one_run(engine)
    feed.flush(at_once=True)
    assert viewer.snapshot["run"]["message"] == ""
    feed.replace(engine)
    assert "await o2.run" in headline(feed.snapshot())
    feed.called("")
    assert headline(feed.snapshot()) == "Not run yet"


def test_details_tell_what_a_node_was_handed_wrote_and_streamed() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    engine.begin()
    engine.emit(ev.NodeStarted, node="a", task_id=ev.TaskId("t"), visit=1, inputs={"q": "hello", "n": [1]})
    engine.chunk("a", "to")
    engine.chunk("a", "ken")
    engine.emit(ev.NodeFinished, node="a", task_id=ev.TaskId("t"), visit=1, duration_s=0.1, delta={"k": 1})
    assert feed.details("a") == {
        "node": "a",
        "doc": "Does a.",
        "source": "def a(): ...",
        "location": "",
        "last_input": {"q": "hello", "n": "[\n  1\n]"},
        "last_delta": {"k": "1"},
        "stream": "token",
        "reasoning": "",
        "calls": [],
    }
    assert feed.details("b")["last_input"] is None


def test_details_keep_calls_and_thoughts_of_the_last_visit_after_its_end() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    engine.begin()
    task = ev.TaskId("t")
    engine.emit(ev.NodeStarted, node="a", task_id=task, visit=1, inputs={})
    engine.chunk("a", ChatStreamChunk(reasoning_content="Where may "))
    engine.chunk("a", {"reasoning_content": "it be?"})
    engine.chunk("a", ChatStreamChunk(content="I look. ", reasoning_content=" Sure."))
    call = {"tool": "find", "call_id": "c1"}
    engine.chunk("a", {"type": "tool_started", "content": "find {}\n", **call, "arguments": '{"q":\n 1}'})
    ended = {"status": "completed", "duration_ms": 400, "result": "x" * 500}
    engine.chunk("a", {"type": "tool_finished", "content": "find = x\n", **call, **ended})
    engine.emit(ev.NodeFinished, node="a", task_id=task, visit=1, duration_s=0.1, delta={})
    details = feed.details("a")
    assert details["stream"] == "I look. find {}\nfind = x\n"
    assert details["reasoning"] == "Where may it be? Sure."
    assert details["calls"] == [{"id": "c1", "arguments": '{"q": 1}', "result": "x" * 199 + "…"}]

    engine.emit(ev.NodeStarted, node="a", task_id=task, visit=2, inputs={})
    details = feed.details("a")
    assert (details["stream"], details["reasoning"], details["calls"]) == ("", "", [])


def test_details_keep_the_newest_calls() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    engine.begin()
    for number in range(TOOLS_KEPT + 3):
        engine.chunk("a", {"type": "tool_call", "content": "", "tool": "find", "call_id": str(number)})
    assert [call["id"] for call in feed.details("a")["calls"]] == [str(number) for number in range(3, TOOLS_KEPT + 3)]


def test_details_of_an_endless_stream_are_bounded() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    engine.begin()
    for _ in range(300):
        engine.chunk("a", "x" * 1000)
    assert len(feed.details("a")["stream"]) == 20_000


def test_details_of_an_unknown_node_are_an_error_with_a_fix() -> None:
    with pytest.raises(GraphError, match="no node 'nope'"):
        Feed(FakeEngine()).details("nope")


def test_replacing_the_graph_tells_the_views_and_keeps_positions() -> None:
    old, new = FakeEngine(), FakeEngine(chain("support", "a", "b", "c"))
    feed = Feed(old)
    viewer = Viewer(feed)
    before = viewer.snapshot["layout"]["boxes"]
    one_run(old)
    feed.replace(new)
    assert [node["id"] for node in viewer.snapshot["graph"]["nodes"]] == ["start", "a", "b", "c", "end"]
    after = viewer.snapshot["layout"]["boxes"]
    assert (after["a"]["x"] - after["b"]["x"], after["a"]["y"]) == (
        before["a"]["x"] - before["b"]["x"],
        before["a"]["y"],
    )
    assert viewer.snapshot["run"]["status"] == "idle"
    assert old.listeners == []
    new.begin()
    new.visit("c")
    new.finish()
    assert viewer.snapshot["nodes"]["c"]["status"] == "done"


def test_the_same_graph_built_again_stays_where_it_was() -> None:
    feed = Feed(FakeEngine())
    before = feed.snapshot()["layout"]
    feed.replace(FakeEngine())
    assert feed.snapshot()["layout"] == before


def test_watchers_hear_of_starts_and_ends_only() -> None:
    engine, clock = FakeEngine(), FakeClock()
    feed = Feed(engine, clock=clock)
    heard: list[str] = []
    feed.watch(lambda snapshot: heard.append(snapshot["run"]["status"]))
    engine.begin()
    clock.now += 1
    engine.visit("a")
    clock.now += 1
    engine.finish()
    assert heard == ["running", "finished"]


def test_watchers_of_many_short_runs_hear_a_few_and_the_last() -> None:
    engine, clock = FakeEngine(), FakeClock()
    feed = Feed(engine, clock=clock)
    heard: list[Any] = []
    feed.watch(lambda snapshot: heard.append(snapshot["run"]["run_id"]))
    for number in range(100):
        engine.begin(f"r{number}")
        engine.finish()
        clock.now += 0.01
    feed.flush(at_once=True)
    assert len(heard) <= 6
    assert heard[-1] == "r99"


def test_a_view_that_raises_is_dropped_and_the_others_go_on() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    calls: list[int] = []

    def broken(_message: KernelMessage) -> None:
        calls.append(1)
        raise RuntimeError("closed")

    feed.subscribe(broken)
    viewer = Viewer(feed)
    one_run(engine)
    feed.flush()
    assert len(calls) == 1
    assert viewer.snapshot["run"]["status"] == "finished"


def test_a_view_that_left_hears_nothing() -> None:
    engine = FakeEngine()
    viewer = Viewer(Feed(engine))
    viewer.leave()
    one_run(engine)
    assert viewer.messages == []


@pytest.mark.asyncio
async def test_events_of_worker_threads_are_published_on_the_loop() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    viewer = Viewer(feed)
    finished = asyncio.Event()
    feed.watch(lambda snapshot: finished.set() if snapshot["run"]["status"] == "finished" else None)
    await asyncio.to_thread(one_run, engine)
    async with asyncio.timeout(10):
        await finished.wait()
    assert viewer.threads == {threading.get_ident()}
    assert viewer.snapshot["run"]["status"] == "finished"


@pytest.mark.asyncio
async def test_chunks_are_published_in_time_without_further_news() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    viewer = Viewer(feed)
    engine.begin()
    engine.chunk("a", "x")
    arrived = asyncio.Event()
    feed.subscribe(lambda message: arrived.set())
    async with asyncio.timeout(10):
        await arrived.wait()
    assert viewer.snapshot["nodes"]["a"]["stream"] == "x"


@pytest.mark.asyncio
async def test_a_node_that_blocks_the_loop_is_published_by_time() -> None:
    engine, clock = FakeEngine(), FakeClock()
    viewer = Viewer(Feed(engine, clock=clock))
    engine.begin()
    seen = []
    for _ in range(5):
        clock.now += 0.1
        engine.chunk("a", "x")
        seen.append(viewer.snapshot["nodes"]["a"]["chunks"])
    assert seen == [1, 2, 3, 4, 5]


@pytest.mark.asyncio
async def test_a_blocked_loop_does_not_stop_the_news_of_other_threads() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    viewer = Viewer(feed)
    shown, watched = threading.Event(), threading.Event()
    feed.subscribe(lambda message: shown.set())
    feed.watch(lambda snapshot: watched.set())
    thread = threading.Thread(target=lambda: (engine.begin(), engine.chunk("a", "xy")))
    thread.start()
    assert shown.wait(10)  # the loop can't come round meanwhile
    thread.join()
    assert not watched.is_set()
    feed.flush(at_once=True)
    assert viewer.snapshot["nodes"]["a"]["stream"] == "xy"
    assert watched.is_set()


@pytest.mark.asyncio
async def test_what_a_node_told_before_it_blocked_the_loop_is_shown() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    viewer = Viewer(feed)
    engine.begin()
    shown = threading.Event()
    feed.subscribe(lambda message: shown.set())
    engine.emit(ev.NodeStarted, node="a", task_id=ev.TaskId("t"), visit=1)
    assert shown.wait(10)  # blocks the loop, as a node with `time.sleep` does
    assert viewer.snapshot["nodes"]["a"]["status"] == "running"


@pytest.mark.asyncio
async def test_events_from_many_threads_lose_nothing() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    viewer = Viewer(feed)
    engine.begin()
    await asyncio.gather(*(asyncio.to_thread(lambda: [engine.chunk("a", "x") for _ in range(500)]) for _ in range(4)))
    feed.flush()
    assert viewer.snapshot["nodes"]["a"]["chunks"] == 2000
    assert viewer.snapshot == feed.snapshot()


def test_a_loop_that_ended_does_not_stop_the_batches_of_the_next() -> None:
    engine = FakeEngine()
    feed = Feed(engine)
    viewer = Viewer(feed)

    async def tell(text: str) -> None:
        engine.chunk("a", text)

    async def tell_and_wait(text: str) -> None:
        arrived = asyncio.Event()
        feed.subscribe(lambda message: arrived.set())
        engine.chunk("a", text)
        async with asyncio.timeout(10):
            await arrived.wait()

    engine.begin()
    asyncio.run(tell("x"))
    asyncio.run(tell_and_wait("y"))
    assert viewer.snapshot["nodes"]["a"]["stream"] == "xy"


def test_one_engine_has_one_feed() -> None:
    engine = FakeEngine()
    assert feed_of(engine) is feed_of(engine)


def test_views_move_to_the_new_engine_of_a_graph() -> None:
    old, new = FakeEngine(), FakeEngine(chain("support", "z"))
    feed = feed_of(old)
    move_feed(old, new)
    assert feed_of(new) is feed
    assert feed_of(old) is not feed


def test_a_feed_goes_with_its_engine() -> None:
    engine = FakeEngine()
    gone = weakref.ref(feed_of(engine))
    del engine
    gc.collect()
    assert gone() is None


@pytest.mark.asyncio
async def test_the_news_of_a_stop_goes_out_before_what_is_drawn_and_saved_of_it() -> None:
    engine, clock, order, saved = FakeEngine(), FakeClock(), [], asyncio.Event()
    feed = Feed(engine, clock=clock)
    feed.subscribe(lambda message: order.append(message["type"]))
    feed.watch(lambda snapshot: (order.append(snapshot["run"]["status"]), saved.set()))
    engine.begin()
    clock.now += 1
    saved.clear()
    engine.finish()
    assert order == ["events", "running", "events"]
    async with asyncio.timeout(10):
        await saved.wait()
    assert order == ["events", "running", "events", "finished"]
