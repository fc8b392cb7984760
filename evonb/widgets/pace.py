"""When to publish: a few times a second, on the loop of the views, and not later because that loop is blocked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

from evonb.widgets.watchdog import Watchdog

__all__ = ["Pace", "running_loop"]

STUCK_S = 0.2
"""A loop that hasn't come round for so long is blocked by somebody's code."""

_watchdog = Watchdog()


class Pace:
    """Calls `flush` in time: at once when the last one is long past, else when the period is over.

    Made on the thread of the views' loop; without a running loop everything happens on the thread that asks.

    Args:
        flush: Publishes; must be callable from any thread and call `flushed`.
        period_s: Least time between two calls, urgent ones aside.
        clock: Monotonic seconds.
    """

    def __init__(self, flush: Callable[[], None], period_s: float, clock: Callable[[], float]) -> None:
        self._flush, self._period_s, self._clock = flush, period_s, clock
        self._thread = threading.get_ident()
        self._loop = running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._timer_loop: asyncio.AbstractEventLoop | None = None
        self._flushed_at = float("-inf")
        self._is_asked = self._urgent = False

    @property
    def is_home(self) -> bool:
        """Whether the caller is on the thread of the views' loop."""
        return self._loop is None or threading.get_ident() == self._thread

    @property
    def can_wait(self) -> bool:
        """Whether what is put off comes by itself: a loop is there to ring."""
        loop = running_loop() or self._loop
        return loop is not None and loop.is_running()

    def ask(self, *, urgent: bool = False) -> None:
        """There is news. Any thread."""
        self._urgent = self._urgent or urgent
        if self.is_home:
            self._serve()
        elif not self._is_asked:
            self._is_asked = True
            self._promise()
            self._send_home(self._serve)

    def flushed(self, *, again: bool) -> None:
        """A flush happened; `again` wants another one after a period, news or not."""
        self._flushed_at, self._urgent = self._clock(), False
        _watchdog.keep(id(self))
        if self.is_home:
            self._cancel()  # what it was to publish is out; ringing, it would cut the period short
        if again and self.is_home:
            self._arm()
        elif again:
            self._send_home(self._arm)

    def stop(self) -> None:
        """Forget the timer. Home thread."""
        _watchdog.keep(id(self))
        self._cancel()

    def _serve(self) -> None:
        self._is_asked = False
        if self._urgent or self._clock() - self._flushed_at >= self._period_s:
            self._flush()
        else:
            self._arm()

    def _arm(self) -> None:
        loop = running_loop() or self._loop
        if loop is None or loop.is_closed():
            return
        self._promise()
        if self._timer is None or self._timer_loop is not loop:
            # A timer of another loop may never ring: that loop may have stopped with the cell that ran it.
            self._timer, self._timer_loop = loop.call_later(self._period_s, self._ring), loop

    def _cancel(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _promise(self) -> None:
        """Blocked by a sync call in a cell or a node? Better a message from another thread than a dead picture."""
        if self._loop is not None:
            _watchdog.promise(id(self), STUCK_S, self._rescue)

    def _rescue(self) -> None:
        self._is_asked = False
        self._flush()

    def _ring(self) -> None:
        self._timer = None
        self._flush()

    def _send_home(self, callback: Callable[[], None]) -> None:
        try:
            assert self._loop is not None
            self._loop.call_soon_threadsafe(callback)
        except RuntimeError:
            # The loop is closed: nobody is at home any more, so whoever asks does it.
            self._loop = None
            self._flush()


def running_loop() -> asyncio.AbstractEventLoop | None:
    """The loop that runs on this thread now."""
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
