"""What a tool can tell while it runs: progress, pieces, lines, diagnostics, from any thread and in order."""

import asyncio
import logging
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any

import pytest

from evonb.tools import (
    ChunkWriter,
    NodeReport,
    SubFlowLogger,
    ToolChunk,
    ToolDiagnosed,
    ToolExecutionContext,
    ToolFinished,
    ToolLogged,
    ToolRegistry,
    ToolReported,
    ToolScope,
    ToolStarted,
    bind_scope,
    current_context,
    tool,
)


@pytest.mark.asyncio
async def test_reports_from_a_thread_arrive_in_order_with_what_the_runtime_stamps(recorder: Any) -> None:
    @tool
    def count(context: ToolExecutionContext) -> None:
        """Report from the tool's thread and from one of its own."""
        helper = threading.Thread(target=lambda: [context.report(f"step {n}") for n in range(50)])
        helper.start()
        helper.join(10)
        context.report(NodeReport(message="done", current=50, total=50))
        context.report({"data": {"rows": 3}})

    calls = ToolRegistry([count])
    calls.attach(recorder)
    with bind_scope(ToolScope(run_id="r", node_name="n")):
        receipt = await calls.ainvoke("count")
    told = [each.report.message for each in receipt.reports]
    assert told == [*(f"step {n}" for n in range(50)), "done", None]
    assert receipt.reports[-1].report.data == {"rows": 3}
    assert {(each.invocation_id, each.run_id, each.node_name) for each in receipt.reports} == {
        (receipt.invocation_id, "r", "n")
    }
    reported = [event for event in recorder.events if isinstance(event, ToolReported)]
    assert [event.seq for event in reported] == [each.seq for each in receipt.reports] == list(range(2, 54))


@pytest.mark.asyncio
async def test_threads_that_report_at_once_do_not_share_a_number() -> None:
    @tool
    def crowd(context: ToolExecutionContext) -> None:
        """Report from eight threads."""
        threads = [threading.Thread(target=lambda: [context.report("x") for _ in range(25)]) for _ in range(8)]
        for each in threads:
            each.start()
        for each in threads:
            each.join(10)

    receipt = await ToolRegistry([crowd]).ainvoke("crowd")
    assert [each.seq for each in receipt.reports] == list(range(2, 202))


@pytest.mark.asyncio
async def test_an_async_tool_reports_too() -> None:
    @tool
    async def step(context: ToolExecutionContext) -> None:
        """Report."""
        context.report("one")
        await asyncio.sleep(0)
        context.report("two")

    receipt = await ToolRegistry([step]).ainvoke("step")
    assert [each.report.message for each in receipt.reports] == ["one", "two"]


@pytest.mark.asyncio
async def test_a_report_after_the_end_is_dropped_with_a_warning(
    recorder: Any, caplog: pytest.LogCaptureFixture
) -> None:
    kept: list[ToolExecutionContext] = []

    @tool
    def leak(context: ToolExecutionContext) -> None:
        """Keep the context."""
        kept.append(context)

    calls = ToolRegistry([leak])
    calls.attach(recorder)
    receipt = await calls.ainvoke("leak")
    with caplog.at_level(logging.WARNING, "evonb"):
        kept[0].report("too late")
        kept[0].stream_writer.put("too late")
        assert kept[0].logger is not None
        kept[0].logger.info("too late")
    assert receipt.reports == []
    assert recorder.names == ["ToolStarted", "ToolFinished"]
    assert caplog.text.count("was dropped: its invocation") == 3


@pytest.mark.asyncio
async def test_the_sub_flow_logger_is_one_object_in_a_visit_and_another_in_the_next(recorder: Any) -> None:
    made: list[SubFlowLogger] = []

    @tool
    def flow(context: ToolExecutionContext) -> None:
        """Log in a sub-flow."""
        made.append(context.create_sub_flow_logger())
        made.append(context.create_sub_flow_logger())
        made[-1].scope("download").info("got it", size_bytes=3)

    calls = ToolRegistry([flow])
    calls.attach(recorder)
    await calls.ainvoke("flow")
    assert made[0] is made[1]
    assert made[0].closed
    await calls.ainvoke("flow")
    assert made[2] is made[3]
    assert made[2] is not made[0]
    lines = [event for event in recorder.events if isinstance(event, ToolLogged)]
    assert [(line.level, line.message, line.data) for line in lines] == [("info", "got it", {"size_bytes": 3})] * 2
    assert lines[0].path == (made[0].flow_id, "download")
    assert lines[0].path != lines[1].path


@pytest.mark.asyncio
async def test_lines_and_diagnostics_carry_the_id_of_the_invocation(recorder: Any) -> None:
    @tool
    def look(context: ToolExecutionContext) -> str:
        """Log and measure."""
        assert context.logger is not None
        assert context.diagnostics is not None
        context.logger.debug("d")
        context.logger.scope("a").scope("b").warning("w")
        context.logger.error("e")
        context.diagnostics.record("rows", 3)
        with context.diagnostics.span("query"):
            pass
        return context.diagnostics.invocation_id

    calls = ToolRegistry([look])
    calls.attach(recorder)
    receipt = await calls.ainvoke("look")
    assert receipt.output == receipt.invocation_id
    assert {event.invocation_id for event in recorder.events} == {receipt.invocation_id}
    lines = [event for event in recorder.events if isinstance(event, ToolLogged)]
    assert [(line.level, line.path) for line in lines] == [("debug", ()), ("warning", ("a", "b")), ("error", ())]
    values = [event for event in recorder.events if isinstance(event, ToolDiagnosed)]
    assert [(value.name, value.value) for value in values] == [("rows", 3), ("query", None)]
    assert values[0].duration_ms is None
    assert values[1].duration_ms is not None


@pytest.mark.asyncio
async def test_a_span_is_recorded_also_when_its_block_raises(recorder: Any) -> None:
    @tool
    def trip(context: ToolExecutionContext) -> None:
        """Raise inside a span."""
        assert context.diagnostics is not None
        with context.diagnostics.span("query"):
            raise ValueError("x")

    calls = ToolRegistry([trip])
    calls.attach(recorder)
    assert (await calls.ainvoke("trip")).status == "failed"
    assert "ToolDiagnosed" in recorder.names


@pytest.mark.asyncio
async def test_without_recording_there_is_no_logger_and_no_diagnostics() -> None:
    @tool
    def look(context: ToolExecutionContext) -> list[bool]:
        """Look at what is there."""
        return [context.logger is None, context.diagnostics is None]

    assert (await ToolRegistry([look], record=False).ainvoke("look")).output == [True, True]


@pytest.mark.asyncio
async def test_the_context_tells_the_declared_mode_and_the_ids() -> None:
    @tool
    def sync_look(context: ToolExecutionContext) -> list[Any]:
        """Look."""
        return [context.mode, context.tool_id, context.call_id]

    @tool
    async def async_look(context: ToolExecutionContext) -> list[Any]:
        """Look."""
        return [context.mode, context.tool_id, context.call_id]

    calls = ToolRegistry([sync_look, async_look])
    assert (await calls.ainvoke("sync_look", call_id="c")).output == ["sync", "sync_look", "c"]
    assert (await calls.ainvoke("async_look")).output == ["async", "async_look", None]


@pytest.mark.asyncio
async def test_pieces_of_parallel_tools_carry_the_right_tool_and_call(recorder: Any) -> None:
    @tool
    async def talk(word: str, stream_writer: ChunkWriter) -> None:
        """Stream a word in three pieces."""
        for number in range(3):
            stream_writer.put(f"{word}{number}")
            await asyncio.sleep(0)

    @tool
    def say(word: str, stream_writer: Any) -> None:
        """Stream from a thread."""
        for number in range(3):
            stream_writer.put(f"{word}{number}")

    calls = ToolRegistry([talk, say])
    calls.attach(recorder)
    await asyncio.gather(
        calls.ainvoke("talk", {"word": "a"}, call_id="1"), calls.ainvoke("say", {"word": "b"}, call_id="2")
    )
    pieces = [event for event in recorder.events if isinstance(event, ToolChunk)]
    assert [(piece.tool_id, piece.chunk) for piece in pieces if piece.call_id == "1"] == [
        ("talk", "a0"), ("talk", "a1"), ("talk", "a2"),
    ]  # fmt: skip
    assert [(piece.tool_id, piece.chunk) for piece in pieces if piece.call_id == "2"] == [
        ("say", "b0"), ("say", "b1"), ("say", "b2"),
    ]  # fmt: skip


@pytest.mark.asyncio
async def test_what_the_scope_sets_around_a_tool_is_seen_inside_it_in_a_thread_too() -> None:
    where: ContextVar[str] = ContextVar("where", default="nowhere")
    left: list[str] = []

    @contextmanager
    def around(context: ToolExecutionContext) -> Iterator[None]:
        token = where.set(f"inside {context.tool_id}")
        yield
        where.reset(token)
        left.append(context.tool_id)

    @tool
    def in_thread() -> list[Any]:
        """Look from a thread."""
        found = current_context()
        return [where.get(), found is not None and found.tool_id, threading.current_thread() is threading.main_thread()]

    @tool
    async def in_loop() -> list[Any]:
        """Look from the loop."""
        found = current_context()
        return [where.get(), found is not None and found.tool_id]

    calls = ToolRegistry([in_thread, in_loop])
    with bind_scope(ToolScope(around=around)):
        assert (await calls.ainvoke("in_thread")).output == ["inside in_thread", "in_thread", False]
        assert (await calls.ainvoke("in_loop")).output == ["inside in_loop", "in_loop"]
    assert left == ["in_thread", "in_loop"]
    assert where.get() == "nowhere"
    assert current_context() is None


@pytest.mark.asyncio
async def test_context_variables_of_the_caller_reach_a_sync_tool() -> None:
    user: ContextVar[str] = ContextVar("user", default="")
    user.set("ada")

    @tool
    def who() -> str:
        """Tell who asks."""
        return user.get()

    assert (await ToolRegistry([who]).ainvoke("who")).output == "ada"
    assert ToolRegistry([who]).invoke("who").output == "ada"


@pytest.mark.asyncio
async def test_a_sync_tool_pinned_to_the_loop_runs_on_the_loops_thread() -> None:
    @tool(run_in="loop")
    def here() -> bool:
        """Tell the thread."""
        return threading.current_thread() is threading.main_thread()

    assert (await ToolRegistry([here]).ainvoke("here")).output is True


@pytest.mark.asyncio
async def test_an_observer_of_the_end_cannot_report_behind_it(recorder: Any) -> None:
    kept: list[ToolExecutionContext] = []

    @tool
    def leak(context: ToolExecutionContext) -> None:
        """Keep the context."""
        kept.append(context)

    calls = ToolRegistry([leak])
    calls.attach(lambda event: kept[0].report("behind") if isinstance(event, ToolFinished) else None)
    calls.attach(recorder)
    assert (await calls.ainvoke("leak")).reports == []
    assert recorder.names == ["ToolStarted", "ToolFinished"]


@pytest.mark.asyncio
async def test_a_gate_may_hold_a_call_longer_than_its_limit(recorder: Any) -> None:
    opened, reached = asyncio.Event(), asyncio.Event()
    held: list[Any] = []

    async def gate(target: Any, value: Any, context: ToolExecutionContext) -> None:
        held.append((target.id, value))
        reached.set()
        await opened.wait()

    @tool(timeout_s=0.02)
    async def quick(x: int) -> int:
        """Answer."""
        return x

    calls = ToolRegistry([quick])
    with bind_scope(ToolScope(gate=gate)):
        running = asyncio.create_task(calls.ainvoke("quick", {"x": 1}))
        await asyncio.wait_for(reached.wait(), 10)
        assert held == [("quick", {"x": 1})]
        assert not (await asyncio.wait({running}, timeout=0.1))[0]
        opened.set()
        assert (await running).output == 1


@pytest.mark.asyncio
async def test_a_call_that_is_held_can_be_cancelled_and_a_gate_can_refuse() -> None:
    executed: list[int] = []

    @tool
    def act() -> None:
        """Act."""
        executed.append(1)

    calls = ToolRegistry([act])

    async def hold(*args: Any) -> None:
        calls.cancel("c", "not now")
        await asyncio.Event().wait()

    def refuse(*args: Any) -> None:
        raise PermissionError("never")

    with bind_scope(ToolScope(gate=hold)):
        assert (await calls.ainvoke("act", call_id="c")).status == "cancelled"
    with bind_scope(ToolScope(gate=refuse)):
        receipt = await calls.ainvoke("act")
    assert receipt.error is not None
    assert receipt.error.category == "denied"
    assert executed == []


@pytest.mark.asyncio
async def test_a_call_can_be_stopped_by_an_observer_of_its_start() -> None:
    executed: list[int] = []

    @tool
    def act() -> None:
        """Act."""
        executed.append(1)

    calls = ToolRegistry([act])
    calls.attach(lambda event: calls.cancel(event.invocation_id, "seen") if isinstance(event, ToolStarted) else None)
    assert (await calls.ainvoke("act")).status == "cancelled"
    assert executed == []


@pytest.mark.asyncio
async def test_a_report_that_is_none_fails_the_tool_and_not_the_registry() -> None:
    @tool
    def odd(context: ToolExecutionContext) -> None:
        """Report junk."""
        context.report({"current": "half"})

    receipt = await ToolRegistry([odd]).ainvoke("odd")
    assert receipt.status == "failed"
    assert "current" in receipt.to_model_text()
