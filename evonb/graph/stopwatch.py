"""The time that a node has run, without the time in which a debugger held it: limits must not run out meanwhile."""

from __future__ import annotations

import asyncio
import time
from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["Stopwatch", "stopwatch"]


class Stopwatch:
    """Stands still while anything inside of the node is held. To be used on one loop.

    Attributes:
        held_s: How long it stood still, up to the last time that it went on.
    """

    def __init__(self) -> None:
        self.held_s = 0.0
        self._began = time.monotonic()
        self._since = 0.0
        self._holds = 0
        self._free = asyncio.Event()
        self._free.set()

    @contextmanager
    def hold(self) -> Iterator[None]:
        """Stop it for a while; several holds may overlap."""
        if not self._holds:
            self._since = time.monotonic()
            self._free.clear()
        self._holds += 1
        try:
            yield
        finally:
            self._holds -= 1
            if not self._holds:
                self.held_s += time.monotonic() - self._since
                self._free.set()

    @property
    def ran_s(self) -> float:
        """What it shows."""
        return (self._since if self._holds else time.monotonic()) - self._began - self.held_s

    async def wait(self, work: asyncio.Future[object], limit_s: float) -> None:
        """Return once the work is done, or the watch shows this much more than now."""
        end_s = self.ran_s + limit_s
        while not work.done() and (self._holds or self.ran_s < end_s):
            if self._holds:
                free = asyncio.ensure_future(self._free.wait())
                try:
                    await asyncio.wait((work, free), return_when=asyncio.FIRST_COMPLETED)
                finally:
                    free.cancel()
            else:
                await asyncio.wait((work,), timeout=end_s - self.ran_s)


stopwatch: ContextVar[Stopwatch | None] = ContextVar("evonb_stopwatch", default=None)
"""That of the session's node that this code runs in, if a debugger runs it."""
