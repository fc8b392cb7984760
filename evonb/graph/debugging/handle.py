"""The handle of a session that runs in the background."""

from __future__ import annotations

import asyncio
from collections.abc import Coroutine
from typing import TYPE_CHECKING, Any

from evonb.graph.bus import Bus
from evonb.graph.handle import RunHandle

if TYPE_CHECKING:
    from evonb.graph.debugger import GraphEngineDebugger

__all__ = ["SessionHandle"]


class SessionHandle(RunHandle):
    """A live session. Awaiting it gives the result once the session has finished, however often it pauses on the way.

    Commands are the debugger's own, from any cell or view. A failed node raises where the handle is awaited, and
    awaiting again after a retry gives the result.
    """

    def __init__(self, bus: Bus, engine: GraphEngineDebugger, work: Coroutine[Any, Any, Any]) -> None:
        self._debugger = engine
        super().__init__(bus, engine, work)
        self._task.add_done_callback(lambda _: engine._never_began(bus))

    @property
    def done(self) -> bool:
        """Whether the session is over: finished, or replaced by another."""
        return self._task.done() and (self._debugger.run_id != self.run_id or self._debugger.status == "finished")

    def stop(self) -> None:
        """Stop the session; does nothing after its end."""
        if self._debugger._starting is self._bus:
            super().stop()
        elif self._debugger.run_id == self.run_id and not self._debugger.allowed()["stop"]:
            self._stopped = True
            self._debugger.stop()

    async def settled(self) -> str:
        """Wait until nothing runs any more.

        Returns:
            The session's status: "paused", "failed" or "finished".
        """
        await self._until(("paused", "failed", "finished", "idle"))
        return self._debugger.status

    async def _result(self) -> Any:
        await self._until(("failed", "finished", "idle"))
        if self._task.cancelled():
            return None if self._stopped else self._task.result()
        session = self._debugger._session
        if self._debugger.run_id != self.run_id:
            return self._task.result()  # it couldn't begin, or another session has taken its place
        if session.error is not None:
            raise session.error
        return self._debugger._ended() if session.line.present.status != "stopped" else None

    async def _until(self, statuses: tuple[str, ...]) -> None:
        await asyncio.wait((self._task,))
        changed = asyncio.Event()
        detach = self._debugger.watch(changed.set)
        try:
            while self._debugger.run_id == self.run_id and self._debugger.status not in statuses:
                changed.clear()
                await changed.wait()
        finally:
            detach()
