"""What each node last was handed, wrote and streamed, for its details. References only; text is made when asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice

from evonb.graph import events as ev
from evonb.graph.topology import NodeInfo, node_id
from evonb.protocol.encode_chunk import text_of_chunk
from evonb.protocol.messages import NodeDetails
from evonb.protocol.preview import FULL_CHARS, fields_of, full_text

__all__ = ["NodeMemory"]

MAX_KEYS = 60


@dataclass(slots=True)
class _Last:
    inputs: object = None
    delta: Mapping[str, object] | None = None
    stream: deque[str] = field(default_factory=deque)
    streamed: int = 0


class NodeMemory:
    """The last visit of every node in one run. Not thread-safe: its owner locks."""

    def __init__(self) -> None:
        self._nodes: dict[str, _Last] = {}

    def clear(self) -> None:
        self._nodes = {}

    def note(self, event: ev.Event) -> None:
        """Remember what this event tells about a node."""
        match event:
            case ev.NodeStarted():
                last = self._last(event.path, event.node)
                last.inputs = event.inputs
                last.stream.clear()
                last.streamed = 0
            case ev.NodeFinished():
                self._last(event.path, event.node).delta = event.delta
            case ev.Chunk(node=str(name)):
                self._stream(self._last(event.path, name), text_of_chunk(event.payload))
            case _:
                pass

    def details(self, node: NodeInfo) -> NodeDetails:
        """All that is known about a node, each text bounded."""
        last = self._nodes.get(node.id, _Last())
        return {
            "node": node.id,
            "doc": node.doc,
            "source": node.source,
            "location": node.location,
            "last_input": _texts(last.inputs),
            "last_delta": _texts(last.delta),
            "stream": "".join(last.stream)[-FULL_CHARS:],
        }

    def _last(self, path: tuple[str, ...], name: str) -> _Last:
        return self._nodes.setdefault(node_id(path, name), _Last())

    def _stream(self, last: _Last, text: str) -> None:
        last.stream.append(text[-FULL_CHARS:])
        last.streamed += len(last.stream[-1])
        while last.streamed - len(last.stream[0]) >= FULL_CHARS:
            last.streamed -= len(last.stream.popleft())


def _texts(value: object) -> dict[str, str] | None:
    if value is None:
        return None
    fields = fields_of(value)
    if fields is None:
        return {"value": full_text(value)}
    return {str(key)[:80]: full_text(item) for key, item in islice(fields.items(), MAX_KEYS)}
