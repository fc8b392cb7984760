"""What each node last was handed, wrote and streamed, for its details. References only; text is made when asked."""

from __future__ import annotations

from collections import deque
from collections.abc import Mapping
from dataclasses import dataclass, field
from itertools import islice

from evonb.graph import events as ev
from evonb.graph.topology import NodeInfo, node_id
from evonb.protocol.encode_chunk import text_of_chunk, thought_of_chunk
from evonb.protocol.events import WireEvent
from evonb.protocol.messages import NodeDetails, ToolCallDetails
from evonb.protocol.preview import FULL_CHARS, fields_of, full_text
from evonb.protocol.snapshot import TOOLS_KEPT

__all__ = ["NodeMemory"]

MAX_KEYS = 60
MAX_LINE_CHARS = 200


class _Tail:
    """The end of a text that grows in pieces."""

    def __init__(self) -> None:
        self._pieces: deque[str] = deque()
        self._size = 0

    def add(self, text: str) -> None:
        self._pieces.append(text[-FULL_CHARS:])
        self._size += len(self._pieces[-1])
        while self._size - len(self._pieces[0]) >= FULL_CHARS:
            self._size -= len(self._pieces.popleft())

    def text(self) -> str:
        return "".join(self._pieces)[-FULL_CHARS:]


@dataclass(slots=True)
class _Last:
    inputs: object = None
    delta: Mapping[str, object] | None = None
    stream: _Tail = field(default_factory=_Tail)
    reasoning: _Tail = field(default_factory=_Tail)
    calls: dict[str, ToolCallDetails] = field(default_factory=dict)


class NodeMemory:
    """The last visit of every node in one run. Not thread-safe: its owner locks."""

    def __init__(self) -> None:
        self._nodes: dict[str, _Last] = {}

    def clear(self) -> None:
        self._nodes = {}

    def note(self, event: ev.Event, wire: WireEvent) -> None:
        """Remember what this event, and its wire form, tell about a node."""
        match event:
            case ev.NodeStarted():
                last = self._last(event.path, event.node)
                last.inputs = event.inputs
                last.stream, last.reasoning, last.calls = _Tail(), _Tail(), {}
            case ev.NodeFinished():
                self._last(event.path, event.node).delta = event.delta
            case ev.Chunk(node=str(name)):
                _stream(self._last(event.path, name), event.payload, wire)
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
            "stream": last.stream.text(),
            "reasoning": last.reasoning.text(),
            "calls": list(last.calls.values()),
        }

    def _last(self, path: tuple[str, ...], name: str) -> _Last:
        return self._nodes.setdefault(node_id(path, name), _Last())


def _stream(last: _Last, payload: object, wire: WireEvent) -> None:
    text, thought = text_of_chunk(payload), thought_of_chunk(payload)
    last.reasoning.add(thought)
    # A chunk without words of the answer stands for its thoughts, which are kept apart.
    last.stream.add("" if text == thought else text)
    if wire["type"] == "tool_call" and isinstance(payload, dict):
        _called(last.calls, wire["call"]["id"], payload)


def _called(calls: dict[str, ToolCallDetails], call_id: str, payload: dict[str, object]) -> None:
    """Take in a stage of a call; the newest calls are kept, as in the picture."""
    call = calls.setdefault(call_id, {"id": call_id, "arguments": "", "result": ""})
    if arguments := payload.get("arguments"):
        call["arguments"] = _line(arguments)
    if result := payload.get("result"):
        call["result"] = _line(result)
    while len(calls) > TOOLS_KEPT:
        del calls[next(iter(calls))]


def _line(value: object) -> str:
    text = " ".join(full_text(value).split())
    return text if len(text) <= MAX_LINE_CHARS else f"{text[: MAX_LINE_CHARS - 1]}…"


def _texts(value: object) -> dict[str, str] | None:
    if value is None:
        return None
    fields = fields_of(value)
    if fields is None:
        return {"value": full_text(value)}
    return {str(key)[:80]: full_text(item) for key, item in islice(fields.items(), MAX_KEYS)}
