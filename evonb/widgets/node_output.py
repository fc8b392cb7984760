"""What nodes print, told apart by node: `print`, `sys.stderr` and warnings inside a node go to the log of its session.

Knows the node by the context that its code runs in, so it works in worker threads and with many nodes at once. Only
while somebody listens does anything stand between user code and `sys.stdout`.
"""

from __future__ import annotations

import sys
import threading
from collections.abc import Callable
from typing import Any, Literal

from evonb.graph.events import Detach, RunId
from evonb.graph.streaming import current_frame
from evonb.graph.topology import node_id

__all__ = ["Receive", "Stream", "listen_to_output"]

Stream = Literal["stdout", "stderr"]
Receive = Callable[[str, Stream, str], bool]
"""Called with the node's id, the stream and a piece of text, on the node's thread; True keeps it from going further."""

_STREAMS: tuple[Stream, Stream] = ("stdout", "stderr")
_receivers: dict[str, Receive] = {}
_lock = threading.Lock()


def listen_to_output(run_id: RunId, receive: Receive) -> Detach:
    """Have a function called with everything that nodes of this run print. Returns the undo."""
    with _lock:
        _receivers[run_id] = receive
        for name in _STREAMS:
            stream = getattr(sys, name)
            if stream is not None and not isinstance(stream, _Divided):
                setattr(sys, name, _Divided(stream, name))
    return lambda: _leave(run_id, receive)


def _leave(run_id: RunId, receive: Receive) -> None:
    with _lock:
        if _receivers.get(run_id) is receive:
            del _receivers[run_id]
        if _receivers:
            return
        for name in _STREAMS:
            # Somebody may have put a stream of their own over ours meanwhile: that stays.
            if isinstance(stream := getattr(sys, name), _Divided):
                setattr(sys, name, stream.inner)


class _Divided:
    """Stands for a standard stream; everything but writing goes to the real one."""

    def __init__(self, inner: Any, name: Stream) -> None:
        self.inner = inner
        self._name = name

    def write(self, text: str) -> int:
        if _receivers and isinstance(text, str) and text and self._taken(text):
            return len(text)
        written = self.inner.write(text)
        return len(text) if written is None else int(written)

    def writelines(self, lines: Any) -> None:
        for line in lines:
            self.write(line)

    def _taken(self, text: str) -> bool:
        frame = current_frame()
        receive = _receivers.get(getattr(frame.run, "run_id", "")) if frame is not None else None
        if frame is None or receive is None:
            return False
        return receive(node_id(frame.path, frame.fields.get("node_name", "")), self._name, text)

    def __getattr__(self, name: str) -> Any:
        return getattr(self.inner, name)
