"""One engine's events, folded into one snapshot and published in batches to all its views.

Knows nothing of Jupyter: a view is whoever subscribed. Events may come from any thread; messages go out on the loop
that the feed was made on, or, while that loop is blocked, by time from the thread that has news.
"""

from __future__ import annotations

import threading
import time
import weakref
from collections.abc import Callable
from typing import Any, Protocol, TypeVar

from evonb.errors import GraphError
from evonb.export.drawing import Density
from evonb.graph import events as ev
from evonb.graph.debugger import GraphEngineDebugger
from evonb.graph.topology import NodeInfo, Topology
from evonb.logger import get_logger
from evonb.protocol.blank import empty_snapshot
from evonb.protocol.encode import EventEncoder, to_wire_graph
from evonb.protocol.messages import KernelMessage, NodeDetails
from evonb.protocol.reduce import apply_batch
from evonb.protocol.settle import reopened
from evonb.protocol.snapshot import RunState, Snapshot, WireLayout
from evonb.widgets.batch import Batch
from evonb.widgets.layouts import Layouts
from evonb.widgets.memory import NodeMemory
from evonb.widgets.pace import Pace
from evonb.widgets.run_message import RunMessage

__all__ = ["Feed", "Source", "feed_of", "flush_all", "known_snapshot", "move_feed"]

PERIOD_S = 0.04
"""Between two batches: 25 a second, which a browser can draw and a kernel can send."""
BOUNDARY_PERIOD_S = 0.25
"""Between two refreshes of what is saved: short runs in a row share one."""
QUIET_S = 1.0
"""A run that hasn't told anything for so long gives the picture away to a newer one."""
MAX_PARTS = 4
"""When more messages than this wait, one snapshot says it all."""

_log = get_logger(__name__)
_T = TypeVar("_T")


class Source(Protocol):
    """What a feed needs of an engine."""

    def topology(self) -> Topology: ...

    def attach(self, listener: ev.Listener, *, live: bool = False) -> ev.Detach: ...


class Feed:
    """The live state of one graph; all views of the graph share it.

    `seq` counts what this feed has taken in, over all runs and all replacements of the graph.

    Args:
        source: The engine.
        clock: For tests.
    """

    def __init__(self, source: Source, *, clock: Callable[[], float] = time.monotonic) -> None:
        self._lock = threading.RLock()
        self._sending = threading.RLock()
        self._clock = clock
        self._receivers: list[Callable[[KernelMessage], None]] = []
        self._watchers: list[Callable[[Snapshot], None]] = []
        self._batch, self._memory = Batch(), NodeMemory()
        self._outbox: list[KernelMessage] = []
        self._lagging = self._boundary = False
        self._boundary_at = self._heard_at = float("-inf")
        self._run_id: ev.RunId | None = None
        self._ended_run: ev.RunId | None = None
        self._is_still = False
        self._message, self._said_at = RunMessage(), float("-inf")
        self._pace = Pace(self.flush, PERIOD_S, clock)
        topology = source.topology()
        self._layouts = Layouts()
        self._set_graph(source, topology, self._layouts.wire(topology, "normal"), seq=0)
        self._detach = source.attach(self._hear, live=True)

    def subscribe(self, receive: Callable[[KernelMessage], None]) -> ev.Detach:
        """Call `receive` with every message from now on, in order. Returns the undo."""
        self._receivers.append(receive)
        return lambda: _discard(self._receivers, receive)

    def watch(self, callback: Callable[[Snapshot], None]) -> ev.Detach:
        """Call back when a run began or ended or the graph was replaced, a few times a second at most."""
        self._watchers.append(callback)
        return lambda: _discard(self._watchers, callback)

    @property
    def source(self) -> Source:
        return self._source

    def snapshot(self) -> Snapshot:
        """How things stand now, everything heard so far included."""
        with self._lock:
            self._fold()
            return self._snapshot

    def drawn(self, snapshot: Snapshot, density: Density) -> Snapshot:
        """A snapshot of this feed with the layout of a density; as it is where its graph was replaced since."""
        with self._lock:
            topology, is_shown = self._topology, snapshot["layout"] is self._snapshot["layout"]
        if density == "normal" or not is_shown:
            return snapshot
        # Outside the lock: a large graph takes a moment, and the run goes on meanwhile.
        return {**snapshot, "layout": self._layouts.wire(topology, density)}

    def details(self, node: str) -> NodeDetails:
        """What is known about one node.

        Raises:
            GraphError: The graph has no such node.
        """
        with self._lock:
            info = self._nodes.get(node)
            if info is None:
                raise GraphError(
                    f"The graph has no node {node!r}", where=f"graph '{self._topology.name}'", fix="click a node"
                )
            return self._memory.details(info)

    def called(self, name: str, verb: str = "run") -> None:
        """The graph stands in this variable, "" for none; what a picture says before its first run."""
        with self._lock:
            self._message.called(name, verb)
        self.flush(at_once=True)

    def replace(self, source: Source) -> None:
        """Show another graph from now on: every view gets the new picture, nodes of the same name stay in place.

        A run of the former one goes on unseen, and the picture says so until it ends.
        """
        # Engine calls stay outside our lock: the engine may hold a lock of its own while it tells us something.
        self._detach()
        topology = source.topology()
        placed = self._layouts.wire(topology, "normal")
        with self._lock:
            self._fold()
            self._leave_run()
            self._set_graph(source, topology, placed, self._snapshot["seq"])
            self._stand_at({**self._snapshot, "run": self._message.written(self._snapshot["run"])})
            self._boundary = True
        self._detach = source.attach(self._hear, live=True)
        self.flush(at_once=True)

    def rebase(self, snapshot: Snapshot) -> None:
        """Stand at another point of the run that is shown: a debugger went back, or goes on from an earlier step."""
        with self._lock:
            self._fold()
            self._stand_at(snapshot)
            self._run_id = self._ended_run = ev.RunId(snapshot["run"]["run_id"] or "") or None
            self._boundary = True
        self.flush(at_once=True)

    def flush(self, *, at_once: bool = False) -> None:
        """Publish what has been heard. `at_once` also tells the watchers without waiting for their turn."""
        with self._sending:
            with self._lock:
                self._fold()
                self._say_run_message(at_once)
                messages, self._outbox = self._outbox, []
                if self._lagging and (at_once or self._clock() - self._boundary_at >= BOUNDARY_PERIOD_S):
                    messages = [{"type": "snapshot", "snapshot": self._snapshot}]
                    self._lagging, self._boundary_at = False, self._clock()
                boundary = self._take_boundary(at_once, bool(messages))
                snapshot = self._snapshot
                self._pace.flushed(again=self._boundary or self._lagging or self._message.unsaid)
            for message in messages:
                _tell(self._receivers, message)
            if boundary:
                _tell(self._watchers, snapshot)

    def close(self) -> None:
        """Leave the engine. The last snapshot stays readable."""
        self._detach()
        self._pace.stop()

    def _set_graph(self, source: Source, topology: Topology, placed: WireLayout, seq: int) -> None:
        self._source, self._topology = source, topology
        self._snapshot: Snapshot = empty_snapshot(to_wire_graph(topology), placed, seq)
        self._nodes: dict[str, NodeInfo] = {node.id: node for node in topology.nodes}
        self._encoder = self._new_encoder()
        self._run_id = self._ended_run = None
        self._is_still = False
        self._memory.clear()

    def _new_encoder(self) -> EventEncoder:
        return EventEncoder(self._topology, resumable=isinstance(self._source, GraphEngineDebugger))

    def _stand_at(self, snapshot: Snapshot) -> None:
        """Every view gets this instead of what it would have been told."""
        self._snapshot = {**snapshot, "seq": self._snapshot["seq"] + 1}
        self._outbox, self._lagging = [{"type": "snapshot", "snapshot": self._snapshot}], False

    def _hear(self, event: ev.Event) -> None:
        """The engine's listener; any thread."""
        with self._lock:
            if not self._is_shown(event):
                self._message.note(event)
                if self._message.unsaid:
                    self._pace.ask()
                return
            self._heard_at = self._clock()
            if self._is_still and isinstance(event, ev.NodeStarted):
                self._go_on()
            wire = self._encoder.encode(event)
            if wire is None:
                return
            self._memory.note(event, wire)
            self._batch.add(wire)
            ended = wire["type"] in ("run_finished", "run_failed")
            if ended:
                self._run_id, self._ended_run = None, event.run_id
            self._is_still = ended or wire["type"] == "run_paused"
            bounds = self._is_still or wire["type"] == "run_started"
            self._boundary = self._boundary or bounds
            if bounds:
                self._message.turned()
        self._pace.ask(urgent=self._is_still)

    def _go_on(self) -> None:
        """A run that had paused or ended runs again, as debuggers do; no event says so."""
        self._fold()
        run: RunState = {
            **self._snapshot["run"],
            "status": "running", "reason": "", "message": "", "failed_node": None, "error": None, "result": None,
        }  # fmt: skip
        self._stand_at({**reopened(self._snapshot), "run": run})

    def _is_shown(self, event: ev.Event) -> bool:
        """Of several runs at once the picture shows one: the first, until it ends or falls quiet."""
        if event.run_id == self._run_id:
            return True
        if self._run_id is None and event.run_id == self._ended_run:
            self._run_id = event.run_id
            return True
        if not isinstance(event, ev.RunStarted) or event.path:
            return False
        if self._run_id is not None and self._clock() - self._heard_at < QUIET_S:
            return False
        self._leave_run()
        self._run_id = event.run_id
        self._encoder = self._new_encoder()
        self._memory.clear()
        return True

    def _leave_run(self) -> None:
        """The picture is given to something else. A session that stands still is over by that; a run goes on."""
        if self._run_id is not None and not self._is_still:
            self._message.leave(self._run_id)

    def _say_run_message(self, at_once: bool) -> None:
        if not self._message.unsaid or not (at_once or self._clock() - self._said_at >= BOUNDARY_PERIOD_S):
            return
        self._message.unsaid, self._said_at = False, self._clock()
        if (run := self._message.written(self._snapshot["run"])) is not self._snapshot["run"]:
            self._stand_at({**self._snapshot, "run": run})

    def _fold(self) -> None:
        """Move what was heard into the snapshot and the outbox."""
        parts = self._batch.take()
        for part in parts:
            first = self._snapshot["seq"] + 1
            last = first + part.weight - 1
            folded = apply_batch(self._snapshot, first, last, part.events)
            assert folded is not None
            self._snapshot = folded
            self._outbox.append({"type": "events", "first_seq": first, "last_seq": last, "events": part.events})
        if self._lagging or len(self._outbox) > MAX_PARTS:
            # More than a browser drains: the whole, a few times a second, is less than the parts.
            self._lagging, self._outbox = True, []

    def _take_boundary(self, at_once: bool, has_news: bool) -> bool:
        # Watchers draw and touch traits: never from the thread that stands in for a blocked loop.
        if not self._boundary or not self._pace.is_home:
            return False
        # What takes tens of milliseconds comes after the messages that somebody who pressed Pause is waiting for.
        if has_news and self._is_still and not at_once and self._pace.can_wait:
            return False
        if not (at_once or self._clock() - self._boundary_at >= BOUNDARY_PERIOD_S):
            return False
        self._boundary, self._boundary_at = False, self._clock()
        return True


_feeds: weakref.WeakValueDictionary[int, Feed] = weakref.WeakValueDictionary()
# By the identity of the engine, which may be unhashable. An engine keeps its feed alive by listening, and the feed its
# engine, so both go together when nobody else holds them.


def feed_of(source: Source) -> Feed:
    """The one feed of this engine; made on first use."""
    feed = _feeds.get(id(source))
    if feed is None:
        feed = Feed(source)
        _feeds[id(source)] = feed
    return feed


def known_snapshot(source: Source) -> Snapshot | None:
    """How the engine's views stand; None if it never had one, for then nobody listened."""
    feed = _feeds.get(id(source))
    return feed.snapshot() if feed is not None else None


def move_feed(old: Source, new: Source) -> None:
    """Let the views of `old`, if it has any, show `new` from now on."""
    feed = _feeds.pop(id(old), None)
    if feed is not None:
        _feeds[id(new)] = feed
        feed.replace(new)


def flush_all() -> None:
    """Publish everything now: at the end of a cell, so that what is saved with it is the last state."""
    for feed in list(_feeds.values()):
        feed.flush(at_once=True)


def _tell(receivers: list[Callable[[_T], None]], what: _T) -> None:
    for receive in list(receivers):
        try:
            receive(what)
        except Exception:
            # One broken view must not silence the others or the run.
            _log.exception("A view failed to take a message and was dropped")
            _discard(receivers, receive)


def _discard(items: list[Any], item: Any) -> None:
    if item in items:
        items.remove(item)
