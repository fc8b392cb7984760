"""When to publish: a few times a second, on the loop of the views, and not later because that loop is blocked."""

from __future__ import annotations

import asyncio
import threading
from collections.abc import Callable

__all__ = ["Pace"]

STUCK_S = 0.2
"""A loop that hasn't come round for so long is blocked by somebody's code."""


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
        self._loop = _running_loop()
        self._timer: asyncio.TimerHandle | None = None
        self._flushed_at = float("-inf")
        self._asked_at: float | None = None
        self._urgent = False

    def ask(self, *, urgent: bool = False) -> None:
        """There is news. Any thread."""
        self._urgent = self._urgent or urgent
        if self._is_home():
            self._serve()
        elif self._asked_at is None:
            self._asked_at = self._clock()
            self._send_home(self._serve)
        elif self._clock() - self._asked_at >= STUCK_S:
            # Blocked by a sync call in a cell: better a message from this thread than a dead picture.
            self._flush()

    def flushed(self, *, again: bool) -> None:
        """A flush happened; `again` wants another one after a period, news or not."""
        self._flushed_at, self._urgent = self._clock(), False
        if self._asked_at is not None:
            self._asked_at = self._flushed_at
        if again and self._is_home():
            self._arm()
        elif again:
            self._send_home(self._arm)

    def stop(self) -> None:
        """Forget the timer. Home thread."""
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _serve(self) -> None:
        self._asked_at = None
        if self._urgent or self._clock() - self._flushed_at >= self._period_s:
            self._flush()
        else:
            self._arm()

    def _arm(self) -> None:
        loop = _running_loop() or self._loop
        if self._timer is None and loop is not None and not loop.is_closed():
            self._timer = loop.call_later(self._period_s, self._ring)

    def _ring(self) -> None:
        self._timer = None
        self._flush()

    def _is_home(self) -> bool:
        return self._loop is None or threading.get_ident() == self._thread

    def _send_home(self, callback: Callable[[], None]) -> None:
        try:
            assert self._loop is not None
            self._loop.call_soon_threadsafe(callback)
        except RuntimeError:
            # The loop is closed: nobody is at home any more, so whoever asks does it.
            self._loop = None
            self._flush()


def _running_loop() -> asyncio.AbstractEventLoop | None:
    try:
        return asyncio.get_running_loop()
    except RuntimeError:
        return None
