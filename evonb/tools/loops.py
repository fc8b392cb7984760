"""Async work for callers without an event loop: one daemon thread with a loop, made on first use.

`asyncio.run` would do for the call itself, but it waits at its end for every task that is still cleaning up, and a
timed-out call must not wait.
"""

from __future__ import annotations

import asyncio
import contextvars
import threading
from collections.abc import Coroutine
from concurrent.futures import Future
from typing import Any, TypeVar

__all__ = ["has_running_loop", "run_blocking"]

T = TypeVar("T")
_lock = threading.Lock()
_loop: asyncio.AbstractEventLoop | None = None


def has_running_loop() -> bool:
    """Whether this thread is inside an event loop, as every notebook cell is."""
    try:
        asyncio.get_running_loop()
    except RuntimeError:
        return False
    return True


def run_blocking(work: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine and wait for it here, whatever thread this is; an interrupt cancels it.

    Inside a running loop that loop stands still meanwhile, so the coroutine must not need it.
    """
    if has_running_loop():
        return _in_own_thread(work)  # not on the shared loop: it may be the one that is running here
    future = asyncio.run_coroutine_threadsafe(work, _background())
    try:
        return future.result()
    except BaseException:
        future.cancel()
        raise


def _in_own_thread(work: Coroutine[Any, Any, T]) -> T:
    done: Future[T] = Future()
    context = contextvars.copy_context()

    def run() -> None:
        try:
            done.set_result(context.run(asyncio.run, work))
        except BaseException as error:
            done.set_exception(error)

    threading.Thread(target=run, name="evonb-tools-invoke", daemon=True).start()
    return done.result()


def _background() -> asyncio.AbstractEventLoop:
    global _loop
    with _lock:
        if _loop is None or _loop.is_closed():
            _loop = asyncio.new_event_loop()
            threading.Thread(target=_loop.run_forever, name="evonb-tools", daemon=True).start()
        return _loop
