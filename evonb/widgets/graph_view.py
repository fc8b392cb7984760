"""`GraphView`: the live picture of one graph as a widget. Draws nothing itself; the browser draws from the snapshot."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Any, ClassVar

import anywidget
import traitlets

from evonb.errors import EvonbError
from evonb.export.drawing import Density
from evonb.logger import get_logger
from evonb.protocol.messages import ErrorReply, KernelMessage, NodeDetails, OkReply
from evonb.protocol.snapshot import Snapshot
from evonb.widgets.feed import Feed, Source, feed_of
from evonb.widgets.pace import running_loop

__all__ = ["GraphView"]

_STATIC = Path(__file__).parent / "static"
_log = get_logger(__name__)


class GraphView(anywidget.AnyWidget):
    """The live picture of a graph; all views of one graph show the same.

    The trait holds the whole as of the last run boundary, messages hold what changed since; both carry `seq`.

    Args:
        graph: An engine, as `GraphBuilder.build` gives it.
    """

    _esm = _STATIC / "graph.js"
    _css = _STATIC / "graph.css"

    _evo_density: ClassVar[Density] = "normal"

    snapshot = traitlets.Dict().tag(sync=True)

    def __init__(self, graph: Source, **kwargs: Any) -> None:
        self._evo_feed: Feed = feed_of(graph)
        self._evo_loop = running_loop()
        self._evo_owns_layout = "layout" not in kwargs
        super().__init__(snapshot=self._evo_drawn(self._evo_feed.snapshot()), **kwargs)
        self._evo_undo: list[Callable[[], None]] = [
            self._evo_feed.subscribe(self._evo_publish),
            self._evo_feed.watch(self._evo_refresh),
        ]
        self.on_msg(self._evo_receive)

    @property
    def graph(self) -> Source:
        """The engine that is shown; another one after the graph's cell was run again."""
        return self._evo_feed.source

    def close(self) -> None:
        """End the view and forget its state in the notebook. The graph and its other views aren't touched."""
        for undo in getattr(self, "_evo_undo", []):
            undo()
        self._evo_undo = []
        # The base class leaves its layout model behind, and with it a piece of state in every saved notebook.
        if self.comm is not None and self._evo_owns_layout and self.layout is not None:
            self.layout.close()
        super().close()

    def _evo_drawn(self, snapshot: Snapshot) -> Snapshot:
        return self._evo_feed.drawn(snapshot, self._evo_density)

    def _evo_publish(self, message: KernelMessage) -> None:
        if message["type"] == "snapshot":
            message = {**message, "snapshot": self._evo_drawn(message["snapshot"])}
        self.send(message)

    def _evo_refresh(self, snapshot: Snapshot) -> None:
        self.snapshot = self._evo_drawn(snapshot)

    def _evo_receive(self, _widget: object, content: Any, _buffers: object) -> None:
        # Any thread, depending on the kernel's version: do one thing only.
        loop = self._evo_loop
        if loop is None or loop.is_closed():
            self._evo_answer(content)
        else:
            loop.call_soon_threadsafe(self._evo_answer, content)

    def _evo_answer(self, content: Any) -> None:
        """Send one reply for one command, whatever it holds."""
        try:
            self.send(answer(self._evo_feed, content, self._evo_density))
        except Exception:
            _log.exception("A command of a view couldn't be answered")


def answer(feed: Feed, command: Any, density: Density = "normal") -> OkReply | ErrorReply:
    """The reply to one command of a view. Never raises: a wrong command gets a reply with what, where and fix."""
    request_id = str(command.get("request_id", ""))[:100] if isinstance(command, dict) else ""
    try:
        return {"type": "reply", "request_id": request_id, "ok": True, "result": _result(feed, command, density)}
    except EvonbError as error:
        what, where, fix = error.what, error.where, error.fix
    except Exception as error:
        _log.exception("A command of a view failed")
        what, where, fix = f"{type(error).__name__}: {error}"[:500], "the kernel", "run the graph's cell again"
    return {"type": "reply", "request_id": request_id, "ok": False, "error": {"what": what, "where": where, "fix": fix}}


def _result(feed: Feed, command: Any, density: Density) -> Snapshot | NodeDetails:
    kind = command.get("type") if isinstance(command, dict) else None
    if kind == "resync":
        return feed.drawn(feed.snapshot(), density)
    if kind == "inspect_node" and isinstance(node := command.get("node"), str):
        return feed.details(node)
    raise EvonbError(
        f"The kernel doesn't know the command {str(kind)[:80]!r}",
        where="a view's message",
        fix="use the same version of evonb in the page and in the kernel: reload the page",
    )
