"""Promises of CancelSignal and CancelSource: once, first reason, from any thread, in any loop."""

import asyncio
import logging
import threading

import pytest

from evonb.tools import CancelSignal, CancelSource, ToolCancelled


def test_a_signal_is_open_until_it_is_cancelled() -> None:
    source = CancelSource()
    assert not source.signal.aborted
    assert source.signal.reason is None
    source.signal.raise_if_aborted()
    assert source.cancel("enough")
    assert source.signal.aborted
    assert source.signal.reason == "enough"


def test_the_first_reason_stays() -> None:
    source = CancelSource()
    assert source.cancel("first")
    assert not source.cancel("second")
    assert source.signal.reason == "first"


def test_raise_if_aborted_carries_the_reason_and_an_exception_as_cause() -> None:
    source = CancelSource()
    cause = OSError("disk full")
    source.cancel(cause)
    with pytest.raises(ToolCancelled, match="disk full") as caught:
        source.signal.raise_if_aborted()
    assert caught.value.reason is cause
    assert caught.value.__cause__ is cause


def test_a_late_listener_is_called_at_once() -> None:
    source = CancelSource()
    source.cancel()
    called: list[int] = []
    source.signal.on_abort(lambda: called.append(1))
    assert called == [1]


def test_a_removed_listener_is_not_called() -> None:
    source = CancelSource()
    called: list[int] = []
    remove = source.signal.on_abort(lambda: called.append(1))
    remove()
    remove()
    source.cancel()
    assert called == []


def test_a_raising_listener_does_not_keep_the_others_from_being_called(caplog: pytest.LogCaptureFixture) -> None:
    source = CancelSource()
    called: list[int] = []
    source.signal.on_abort(lambda: 1 / 0)
    source.signal.on_abort(lambda: called.append(1))
    with caplog.at_level(logging.ERROR, "evonb"):
        source.cancel()
    assert called == [1]
    assert "ZeroDivisionError" in caplog.text


def test_any_is_aborted_by_the_first_of_its_signals_with_its_reason() -> None:
    one, two = CancelSource(), CancelSource()
    either = CancelSignal.any(one.signal, two.signal)
    assert not either.aborted
    two.cancel("two")
    one.cancel("one")
    assert either.reason == "two"


def test_any_of_an_aborted_signal_is_aborted_from_the_start() -> None:
    source = CancelSource()
    source.cancel("before")
    assert CancelSignal.any(CancelSource().signal, source.signal).reason == "before"


def test_any_leaves_no_listener_behind_on_its_signals() -> None:
    one, two = CancelSource(), CancelSource()
    CancelSignal.any(one.signal, two.signal)
    one.cancel()
    assert not two.signal._listeners


def test_a_waiting_thread_wakes_when_another_one_cancels() -> None:
    source = CancelSource()
    woken: list[bool] = []
    thread = threading.Thread(target=lambda: woken.append(source.signal.wait_in_thread(30)))
    thread.start()
    source.cancel()
    thread.join(10)
    assert woken == [True]


def test_waiting_in_a_thread_ends_with_its_time() -> None:
    assert CancelSource().signal.wait_in_thread(0.01) is False


def test_a_timeout_signal_aborts_without_a_loop() -> None:
    signal = CancelSignal.timeout(0.01)
    assert signal.wait_in_thread(10)
    assert isinstance(signal.reason, TimeoutError)


@pytest.mark.asyncio
async def test_a_timeout_signal_aborts_in_a_loop() -> None:
    reason = await asyncio.wait_for(CancelSignal.timeout(0.01).wait(), 10)
    assert isinstance(reason, TimeoutError)


@pytest.mark.asyncio
async def test_wait_wakes_when_a_thread_cancels() -> None:
    source = CancelSource()
    waiting = asyncio.create_task(source.signal.wait())
    await asyncio.to_thread(source.cancel, "from a thread")
    assert await asyncio.wait_for(waiting, 10) == "from a thread"


@pytest.mark.asyncio
async def test_a_cancelled_wait_leaves_no_listener_behind() -> None:
    source = CancelSource()
    waiting = asyncio.create_task(source.signal.wait())
    await asyncio.to_thread(lambda: None)  # let it begin to wait
    assert source.signal._listeners
    waiting.cancel()
    with pytest.raises(asyncio.CancelledError):
        await waiting
    assert not source.signal._listeners


def test_a_signal_whose_waiter_lost_its_loop_can_still_be_cancelled() -> None:
    source = CancelSource()
    loop = asyncio.new_event_loop()
    waiting = loop.create_task(source.signal.wait())
    loop.call_soon(loop.stop)
    loop.run_forever()
    listener = next(iter(source.signal._listeners.values()))
    waiting.cancel()
    loop.run_until_complete(asyncio.gather(waiting, return_exceptions=True))
    loop.close()
    source.signal.on_abort(listener)
    assert source.cancel()
