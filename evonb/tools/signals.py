"""Cancellation that reaches a tool wherever it runs: in a task, in a thread, in a library that takes a callback.

A `CancelSource` cancels, a `CancelSignal` tells. Both may be used from any thread. Nothing here knows about tools.
"""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from evonb.logger import get_logger
from evonb.tools.errors import ToolCancelled

__all__ = ["CancelSignal", "CancelSource", "post"]

_log = get_logger(__name__)
Listener = Callable[[], object]


class CancelSignal:
    """Tells whether, and why, something was cancelled. It goes from open to aborted once and never back.

    Make one with `CancelSource().signal`, `CancelSignal.any` or `CancelSignal.timeout`.
    """

    __slots__ = ("__weakref__", "_aborted", "_condition", "_listeners", "_reason")

    def __init__(self) -> None:
        self._condition = threading.Condition()
        self._aborted = False
        self._reason: object = None
        self._listeners: dict[object, Listener] = {}

    @property
    def aborted(self) -> bool:
        """Whether it was cancelled."""
        return self._aborted

    @property
    def reason(self) -> object:
        """What the first `cancel` gave as its reason; None while open."""
        return self._reason

    def raise_if_aborted(self) -> None:
        """Leave a tool that was cancelled; call it between the steps of long work.

        Raises:
            ToolCancelled: It was cancelled. A reason that is an exception becomes its `__cause__`.
        """
        if not self._aborted:
            return
        error = ToolCancelled(f"Cancelled: {self._reason}", reason=self._reason)
        raise error from (self._reason if isinstance(self._reason, BaseException) else None)

    def on_abort(self, callback: Listener) -> Callable[[], None]:
        """Call `callback` once when this is cancelled, at once if it already is.

        The callback runs on the thread that cancels. If it raises, that is logged and the others are still called.

        Returns:
            A function that takes the callback off again; calling it twice is harmless.
        """
        key = object()
        with self._condition:
            if not self._aborted:
                self._listeners[key] = callback
                return lambda: self._remove(key)
        _call(callback)
        return lambda: None

    async def wait(self) -> object:
        """Wait until this is cancelled; the result is the reason. For code in an event loop."""
        loop = asyncio.get_running_loop()
        woken: asyncio.Future[None] = loop.create_future()

        def wake() -> None:
            if not woken.done():
                woken.set_result(None)

        remove = self.on_abort(lambda: post(loop, wake))
        try:
            await woken
        finally:
            remove()
        return self._reason

    def wait_in_thread(self, timeout_s: float | None = None) -> bool:
        """Block this thread until this is cancelled or the time is over; True if it was cancelled.

        A sync tool that has to pause uses this in place of `time.sleep`, and wakes at once when it is cancelled.
        """
        with self._condition:
            return self._condition.wait_for(lambda: self._aborted, timeout_s)

    @staticmethod
    def any(*signals: CancelSignal) -> CancelSignal:
        """A signal that is aborted as soon as one of `signals` is, with the reason of that one."""
        source = CancelSource()
        removers = [parent.on_abort(lambda parent=parent: source.cancel(parent.reason)) for parent in signals]  # type: ignore[misc]
        source.signal.on_abort(lambda: [remove() for remove in removers])
        return source.signal

    @staticmethod
    def timeout(seconds: float) -> CancelSignal:
        """A signal that aborts by itself; its reason is a `TimeoutError`.

        Made in an event loop it is driven by that loop, elsewhere by a timer thread.
        """
        source = CancelSource()

        def expire() -> None:
            source.cancel(TimeoutError(f"timed out after {seconds:g} s"))

        try:
            asyncio.get_running_loop().call_later(max(seconds, 0), expire)
        except RuntimeError:
            timer = threading.Timer(max(seconds, 0), expire)
            timer.daemon = True
            timer.start()
        return source.signal

    def _remove(self, key: object) -> None:
        with self._condition:
            self._listeners.pop(key, None)

    def _abort(self, reason: object) -> bool:
        with self._condition:
            if self._aborted:
                return False
            self._reason = reason
            self._aborted = True
            listeners = list(self._listeners.values())
            self._listeners.clear()
            self._condition.notify_all()
        for listener in listeners:  # outside the lock: a listener may look at the signal from another thread
            _call(listener)
        return True

    def __repr__(self) -> str:
        return f"<CancelSignal aborted: {self._reason!r}>" if self._aborted else "<CancelSignal open>"


class CancelSource:
    """Owns one signal and is the only thing that can abort it."""

    __slots__ = ("signal",)

    def __init__(self) -> None:
        self.signal = CancelSignal()

    def cancel(self, reason: object = "cancelled") -> bool:
        """Abort the signal. Only the first call counts, and its reason stays.

        Returns:
            Whether this call was the first.
        """
        return self.signal._abort(reason)


def _call(listener: Listener) -> None:
    try:
        listener()
    except Exception:
        _log.exception("A listener of a CancelSignal raised; the others are called all the same")


def post(loop: asyncio.AbstractEventLoop, callback: Callable[[], None]) -> None:
    """Have a loop call `callback`, from any thread; nothing happens when the loop is closed."""
    try:
        loop.call_soon_threadsafe(callback)
    except RuntimeError:  # the loop was closed: nobody waits any more
        _log.debug("A CancelSignal was aborted after the loop that waited for it had been closed")
