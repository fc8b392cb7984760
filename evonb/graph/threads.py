"""Worker threads for sync nodes: as many as are needed, kept for the next call, never holding up the exit.

A pool of limited size would let blocking nodes delay ready ones, and the standard one waits at exit for nodes that
were given up.
"""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable
from contextlib import suppress
from typing import Any

__all__ = ["in_thread"]

_Call = tuple[asyncio.AbstractEventLoop, "asyncio.Future[Any]", Callable[[], Any]]
_calls: queue.SimpleQueue[_Call] = queue.SimpleQueue()
_lock = threading.Lock()
_free = 0


def in_thread(function: Callable[[], Any]) -> asyncio.Future[Any]:
    """Call `function` in a worker thread; must be called on a running loop, which gets the result.

    Cancelling the future gives up the result, it can't stop the thread.
    """
    global _free
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()
    with _lock:
        start_one = _free == 0
        _free += 0 if start_one else -1
    _calls.put((loop, future, function))
    if start_one:
        threading.Thread(target=_work, name="evonb-node", daemon=True).start()
    return future


def _work() -> None:
    global _free
    while True:
        loop, future, function = _calls.get()
        try:
            result, error = function(), None
        except BaseException as raised:
            result, error = None, raised
        with _lock:
            _free += 1
        _settle(loop, future, result, error)
        del loop, future, function, result, error  # a waiting thread must keep nothing alive


def _settle(loop: asyncio.AbstractEventLoop, future: asyncio.Future[Any], result: Any, error: Any) -> None:
    def settle() -> None:
        if future.done():
            return
        if error is None:
            future.set_result(result)
        elif isinstance(error, StopIteration):  # a future refuses it
            future.set_exception(RuntimeError("the node raised StopIteration"))
        else:
            future.set_exception(error)

    with suppress(RuntimeError):  # the loop was closed: nobody waits any more
        loop.call_soon_threadsafe(settle)
