"""Calls that must end early: time limits, cancellation from every side, and what stays behind."""

import asyncio
import threading
import time
from typing import Any

import pytest

from evonb.tools import (
    CallRequest,
    CancelSignal,
    CancelSource,
    ToolExecutionContext,
    ToolRegistry,
    ToolScope,
    bind_scope,
    tool,
)

LIMIT_S = 0.1


@pytest.mark.asyncio
async def test_a_hung_async_tool_ends_with_its_limit_even_if_its_clean_up_takes_long() -> None:
    release = asyncio.Event()
    cleaned = asyncio.Event()
    signals: list[CancelSignal] = []

    @tool(timeout_s=LIMIT_S)
    async def hang(context: ToolExecutionContext) -> None:
        """Hang, and clean up slowly."""
        signals.append(context.signal)
        try:
            await asyncio.Event().wait()
        finally:
            await release.wait()
            cleaned.set()

    started = time.perf_counter()
    receipt = await ToolRegistry([hang]).ainvoke("hang")
    took = time.perf_counter() - started
    assert receipt.status == "timed_out"
    assert took < LIMIT_S + 5
    assert isinstance(signals[0].reason, TimeoutError)
    assert "within 0.1 s" in receipt.to_model_text()
    release.set()
    await asyncio.wait_for(cleaned.wait(), 10)  # the clean-up goes on behind the receipt


@pytest.mark.asyncio
async def test_a_hung_sync_tool_ends_with_its_limit_and_its_signal_is_aborted() -> None:
    saw: list[object] = []
    left = threading.Event()

    @tool
    def hang(signal: CancelSignal) -> None:
        """Hang until told."""
        signal.wait_in_thread(30)
        saw.append(signal.reason)
        left.set()

    started = time.perf_counter()
    receipt = await ToolRegistry([hang]).ainvoke("hang", timeout=LIMIT_S)
    assert receipt.status == "timed_out"
    assert time.perf_counter() - started < LIMIT_S + 5
    assert await asyncio.to_thread(left.wait, 10)
    assert isinstance(saw[0], TimeoutError)


@pytest.mark.asyncio
async def test_sync_tools_that_hang_do_not_block_the_ones_after_them() -> None:
    stop = threading.Event()

    @tool(timeout_s=0.02)
    def hang() -> None:
        """Ignore the signal."""
        stop.wait(30)

    @tool
    def quick() -> int:
        """Answer."""
        return 1

    calls = ToolRegistry([hang, quick])
    hung = await calls.ainvoke_many(["hang"] * 40)
    assert {receipt.status for receipt in hung} == {"timed_out"}
    assert (await calls.ainvoke("quick", timeout=10)).output == 1
    stop.set()


def test_a_timed_out_call_without_a_loop_does_not_wait_for_the_clean_up() -> None:
    release = threading.Event()

    @tool(timeout_s=LIMIT_S)
    async def hang() -> None:
        """Hang, and clean up slowly."""
        try:
            await asyncio.Event().wait()
        finally:
            await asyncio.to_thread(release.wait, 30)

    started = time.perf_counter()
    receipt = ToolRegistry([hang]).invoke("hang")
    assert receipt.status == "timed_out"
    assert time.perf_counter() - started < 2
    release.set()


@pytest.mark.parametrize(("own", "default", "given"), [(None, 0.02, None), (0.02, 30.0, None), (30.0, 30.0, 0.02)])
@pytest.mark.asyncio
async def test_the_limit_of_the_call_beats_that_of_the_tool_which_beats_the_default(
    own: float | None, default: float, given: float | None
) -> None:
    @tool(timeout_s=own)
    async def hang() -> None:
        """Hang."""
        await asyncio.Event().wait()

    receipt = await asyncio.wait_for(ToolRegistry([hang], timeout_s=default).ainvoke("hang", timeout=given), 10)
    assert receipt.status == "timed_out"


@pytest.mark.asyncio
async def test_a_tool_sees_how_much_time_is_left() -> None:
    @tool
    def look(context: ToolExecutionContext) -> float | None:
        """Tell the time left."""
        return context.remaining_s()

    calls = ToolRegistry([look])
    left = (await calls.ainvoke("look", timeout=60)).output
    assert 50 < left <= 60
    assert (await calls.ainvoke("look")).output is None


@pytest.mark.asyncio
async def test_a_slow_hook_counts_against_the_limit() -> None:
    async def check(*args: Any) -> None:
        await asyncio.Event().wait()

    @tool
    def quick() -> int:
        """Answer."""
        return 1

    receipt = await ToolRegistry([quick], before_execute=check).ainvoke("quick", timeout=0.02)
    assert receipt.status == "timed_out"


@pytest.mark.asyncio
async def test_cancelling_one_of_five_parallel_calls_leaves_four_results() -> None:
    source = CancelSource()
    arrived: list[int] = []
    go = asyncio.Event()

    @tool
    async def wait(number: int) -> int:
        """Wait for the start."""
        arrived.append(number)
        if len(arrived) == 5:
            source.cancel("not this one")
            go.set()
        if number == 2:
            await asyncio.Event().wait()
        await go.wait()
        return number

    calls = [CallRequest(tool_id="wait", raw={"number": n}, signal=source.signal if n == 2 else None) for n in range(5)]
    receipts = await asyncio.wait_for(ToolRegistry([wait]).ainvoke_many(calls), 10)
    assert [receipt.status for receipt in receipts] == ["completed"] * 2 + ["cancelled"] + ["completed"] * 2
    assert [receipt.output for receipt in receipts] == [0, 1, None, 3, 4]
    assert "not this one" in receipts[2].to_model_text()


@pytest.mark.asyncio
async def test_a_call_can_be_cancelled_by_its_id_from_a_thread(recorder: Any) -> None:
    started = asyncio.Event()

    @tool
    async def hang() -> None:
        """Hang."""
        started.set()
        await asyncio.Event().wait()

    calls = ToolRegistry([hang])
    calls.attach(recorder)
    running = asyncio.create_task(calls.ainvoke("hang", call_id="c1"))
    await asyncio.wait_for(started.wait(), 10)
    assert await asyncio.to_thread(calls.cancel, "c1", "the user said stop")
    receipt = await asyncio.wait_for(running, 10)
    assert receipt.status == "cancelled"
    assert "the user said stop" in receipt.to_model_text()
    assert len(recorder.finished) == 1
    assert not calls.cancel("c1")


@pytest.mark.asyncio
async def test_aborting_a_batch_keeps_what_is_finished() -> None:
    source = CancelSource()

    @tool
    async def quick() -> str:
        """Answer."""
        return "kept"

    @tool
    async def hang() -> None:
        """Hang, once the other one is done."""
        source.cancel("run stopped")
        await asyncio.Event().wait()

    receipts = await ToolRegistry([quick, hang]).ainvoke_many(["quick", "hang"], 1, signal=source.signal)
    assert [receipt.status for receipt in receipts] == ["completed", "cancelled"]
    assert receipts[0].output == "kept"


@pytest.mark.asyncio
async def test_an_aborted_signal_keeps_the_tool_from_running() -> None:
    source = CancelSource()
    source.cancel("too late")
    executed: list[int] = []

    @tool
    def act() -> None:
        """Act."""
        executed.append(1)

    receipt = await ToolRegistry([act]).ainvoke("act", signal=source.signal)
    assert receipt.status == "cancelled"
    assert executed == []


@pytest.mark.asyncio
async def test_the_signal_of_the_run_reaches_the_tool_and_leaves_no_listener_behind() -> None:
    source = CancelSource()

    @tool
    def stop_run() -> None:
        """Stop the whole run, then look."""
        source.cancel("run stopped")

    @tool
    def quick() -> int:
        """Answer."""
        return 1

    calls = ToolRegistry([stop_run, quick])
    with bind_scope(ToolScope(signal=source.signal)):
        assert (await calls.ainvoke("quick")).ok
        assert not source.signal._listeners
        assert (await calls.ainvoke("stop_run")).status in ("completed", "cancelled")
        assert (await calls.ainvoke("quick")).status == "cancelled"


@pytest.mark.asyncio
async def test_a_sync_tool_that_heeds_its_signal_ends_as_cancelled() -> None:
    inside = threading.Event()

    @tool
    def work(signal: CancelSignal) -> None:
        """Work in steps."""
        inside.set()
        signal.wait_in_thread(30)
        signal.raise_if_aborted()

    calls = ToolRegistry([work])
    running = asyncio.create_task(calls.ainvoke("work", call_id="c"))
    assert await asyncio.to_thread(inside.wait, 10)
    calls.cancel("c")
    assert (await asyncio.wait_for(running, 10)).status == "cancelled"


@pytest.mark.asyncio
async def test_an_outside_cancellation_aborts_the_signal_ends_the_events_and_goes_on(recorder: Any) -> None:
    started = asyncio.Event()
    signals: list[CancelSignal] = []

    @tool
    async def hang(context: ToolExecutionContext) -> None:
        """Hang."""
        signals.append(context.signal)
        started.set()
        await asyncio.Event().wait()

    calls = ToolRegistry([hang])
    calls.attach(recorder)
    running = asyncio.create_task(calls.ainvoke("hang"))
    await asyncio.wait_for(started.wait(), 10)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert signals[0].aborted
    assert [event.receipt.status for event in recorder.finished] == ["cancelled"]


@pytest.mark.asyncio
async def test_cancelling_a_batch_from_outside_reports_the_finished_receipts_first(recorder: Any) -> None:
    started = asyncio.Event()

    @tool
    async def quick() -> str:
        """Answer."""
        return "kept"

    @tool
    async def hang() -> None:
        """Hang."""
        started.set()
        await asyncio.Event().wait()

    calls = ToolRegistry([quick, hang])
    calls.attach(recorder)
    running = asyncio.create_task(calls.ainvoke_many(["quick", "hang"], 1))
    await asyncio.wait_for(started.wait(), 10)
    running.cancel()
    with pytest.raises(asyncio.CancelledError):
        await running
    assert [event.receipt.status for event in recorder.finished] == ["completed", "cancelled"]


@pytest.mark.asyncio
async def test_a_tool_that_cancels_itself_ends_in_a_receipt() -> None:
    @tool
    async def give_up() -> None:
        """Cancel the own task."""
        raise asyncio.CancelledError

    receipt = await ToolRegistry([give_up]).ainvoke("give_up")
    assert receipt.status == "cancelled"
    assert "cancelled its own task" in receipt.to_model_text()


@pytest.mark.asyncio
async def test_a_tool_that_raises_while_being_cancelled_still_counts_as_timed_out() -> None:
    @tool
    async def grumble() -> None:
        """Raise in the clean-up."""
        try:
            await asyncio.Event().wait()
        finally:
            raise ValueError("clean-up failed")

    receipt = await ToolRegistry([grumble]).ainvoke("grumble", timeout=0.02)
    assert receipt.status == "timed_out"
