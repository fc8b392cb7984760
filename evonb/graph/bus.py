"""The stream of a run: numbers its events, hands them to listeners, and takes chunks from streaming writers."""

from __future__ import annotations

import asyncio
import threading
import time
from collections import deque
from collections.abc import Awaitable
from contextlib import suppress
from typing import TYPE_CHECKING, Any, cast
from uuid import uuid4

from evonb.graph.streaming import Frame
from evonb.logger import get_logger

if TYPE_CHECKING:
    from evonb.graph.events import Detach, Event, Listener, RunId, TaskId

__all__ = ["Bus", "Hub"]

_log = get_logger(__name__)


class Hub:
    """The listeners of one engine; its runs look here."""

    __slots__ = ("_buses", "_lock", "_watchers")

    def __init__(self) -> None:
        self._watchers: tuple[tuple[Listener, bool], ...] = ()
        self._buses: set[Bus] = set()
        self._lock = threading.Lock()

    def attach(self, listener: Listener, *, live: bool) -> Detach:
        """Add a listener; the answer removes it again, and may be called twice."""
        entry = (listener, live)
        self._change((*self._watchers, entry))
        return lambda: self._remove(entry)

    def _remove(self, entry: tuple[Listener, bool]) -> None:
        self._change(tuple(each for each in self._watchers if each is not entry))

    def drop(self, listener: Listener) -> None:
        """Remove a listener that raised."""
        self._change(tuple(each for each in self._watchers if each[0] is not listener))

    def _change(self, watchers: tuple[tuple[Listener, bool], ...]) -> None:
        with self._lock:
            self._watchers = watchers
            for bus in self._buses:
                self._tell(bus)

    def _tell(self, bus: Bus) -> None:
        bus.listeners = (*bus.own, *(listener for listener, _ in self._watchers))
        bus.on = bool(bus.listeners)
        bus.live = bus.own_live or any(live for _, live in self._watchers)

    def open(self, bus: Bus) -> None:
        """A run begins."""
        with self._lock:
            self._buses.add(bus)
            self._tell(bus)

    def close(self, bus: Bus) -> None:
        """A run is over."""
        with self._lock:
            self._buses.discard(bus)


class Bus:
    """The stream of one run; sub-graphs use their caller's.

    Attributes:
        on: Whether anybody listens. Events are made only then.
        live: Whether sync nodes must leave the loop free.
        graph_name: The outermost graph.
        told: The warnings that the run has given.
        closed: Whether the run is over; late chunks of threads that were given up are dropped.
    """

    __slots__ = (
        "_began", "_deliveries", "_hub", "_lock", "_loop", "_pump", "_seq",
        "closed", "graph_name", "listeners", "live", "on", "own", "own_live", "run_id", "told",
    )  # fmt: skip

    def __init__(self, hub: Hub, own: tuple[Listener, ...] = (), *, live: bool = False) -> None:
        self.run_id = cast("RunId", uuid4().hex)
        self.own = own
        self.own_live = live
        self.on = False
        self.live = False
        self.closed = False
        self.graph_name = ""
        self.told: set[str] = set()
        self.listeners: tuple[Listener, ...] = ()
        self._hub = hub
        self._lock = threading.RLock()
        self._seq = 0
        self._began = time.perf_counter()
        self._loop: asyncio.AbstractEventLoop | None = None  # a stored run is opened in plain code too
        with suppress(RuntimeError):
            self._loop = asyncio.get_running_loop()
        self._deliveries: deque[Awaitable[None]] = deque()
        self._pump: asyncio.Task[None] | None = None
        hub.open(self)

    def task_id(self, number: int, path: tuple[str, ...]) -> TaskId:
        """The id of a task, unique among all runs."""
        return cast("TaskId", "-".join((self.run_id[:12], *path, str(number))))

    def emit(self, kind: type[Event], path: tuple[str, ...], **fields: Any) -> None:
        """Make an event and hand it to every listener, in order, one call at a time; from any thread."""
        with self._lock:
            if self.closed or not self.on:
                return
            at_s = time.perf_counter() - self._began
            event = kind(run_id=self.run_id, seq=self._seq, at_s=at_s, path=path, **fields)
            self._seq += 1
            for listener in self.listeners:
                try:
                    listener(event)
                except Exception:
                    _log.exception("A listener raised and was dropped; the run goes on")
                    self._drop(listener)

    def _drop(self, listener: Listener) -> None:
        self.own = tuple(each for each in self.own if each is not listener)
        self._hub.drop(listener)
        self.listeners = tuple(each for each in self.listeners if each is not listener)
        self.on = bool(self.listeners)

    def chunk(self, frame: Frame, payload: Any) -> None:
        """Note what user code put into a stream writer."""
        if self.on:
            from evonb.graph.events import Chunk

            fields = frame.message()
            self.emit(
                Chunk,
                frame.path,
                node=fields.get("node_name"),
                call_id=fields.get("call_id"),
                tool_name=fields.get("tool_name"),
                tool_call_id=fields.get("tool_call_id"),
                payload=payload,
            )

    def note(self, frame: Frame, text: str) -> bool:
        """Note what a running node is warned of; gives whether it is new to this run."""
        name = frame.fields.get("node_name")
        if self.on and name is not None:
            from evonb.graph.events import NodeNoted

            self.emit(NodeNoted, frame.path, node=name, text=text)
        is_new = text not in self.told
        self.told.add(text)
        return is_new

    # --- asynchronous streaming handlers -----------------------------------------------

    def deliver(self, message: Awaitable[None]) -> None:
        """Await a handler's call after those before it; from any thread."""
        assert self._loop is not None  # a node runs
        try:
            here = asyncio.get_running_loop() is self._loop
        except RuntimeError:
            here = False
        if here:
            self._enqueue(message)
        else:
            self._loop.call_soon_threadsafe(self._enqueue, message)

    def _enqueue(self, message: Awaitable[None]) -> None:
        self._deliveries.append(message)
        if self._pump is None or self._pump.done():
            assert self._loop is not None
            self._pump = self._loop.create_task(self._deliver_all())

    async def _deliver_all(self) -> None:
        while self._deliveries:
            try:
                await self._deliveries.popleft()
            except Exception:
                _log.exception("The streaming handler raised; the run goes on")

    def wake(self) -> None:
        """Open the stream again, on the loop that is running now if there is one: a session goes on."""
        self.closed = False
        with suppress(RuntimeError):
            self._loop = asyncio.get_running_loop()
        self._hub.open(self)

    def shut(self) -> None:
        """End the stream at once."""
        self.closed = True
        self._hub.close(self)

    async def close(self) -> None:
        """End the stream, after every handler call has been awaited."""
        try:
            while self._pump is not None and not self._pump.done():
                await asyncio.shield(self._pump)
        finally:
            self.shut()
