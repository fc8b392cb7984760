"""Wire events that wait to be published: merged by meaning, then cut into bounded messages.

Chunks of one node become one longer chunk, crossings of one edge one crossing with a count. Every part knows how many
source events it stands for, so `seq` stays gapless whatever was merged.
"""

from __future__ import annotations

import json
from dataclasses import dataclass

from evonb.protocol.events import WireEvent
from evonb.protocol.snapshot import STREAM_TAIL_CHARS

__all__ = ["MAX_BYTES", "MAX_EVENTS", "Batch", "Part"]

MAX_EVENTS = 400
MAX_BYTES = 64_000


@dataclass(frozen=True, slots=True)
class Part:
    """Some events in order, standing for `weight` source events."""

    events: list[WireEvent]
    weight: int


class Batch:
    """Collects events and gives them back in parts.

    Folding all parts gives the same snapshot as folding the source events: what is merged commutes with everything
    that came between.
    """

    def __init__(self) -> None:
        self._events: dict[tuple[str, str, int] | int, tuple[WireEvent, int]] = {}
        self._next_key = 0
        self._epoch: dict[str, int] = {}
        self.weight = 0

    def __len__(self) -> int:
        return len(self._events)

    def add(self, event: WireEvent) -> None:
        """Take in one event; it may merge with an earlier one."""
        self.weight += 1
        if event["type"] == "chunk":
            self._merge(("chunk", event["node"], self._epoch.get(event["node"], 0)), event)
        elif event["type"] == "edge_taken":
            self._merge(("edge", event["edge"], 0), event)
        elif event["type"] == "run_started":
            # A new run resets the whole picture, so nothing before it needs to travel.
            self._events, self._epoch = {}, {}
            self._append(event, self.weight)
        else:
            self._append(_bounded(event))
            if event["type"] in ("node_started", "tool_call", "question"):
                # It resets the node's stream, or adds to it: later chunks mustn't merge with earlier ones.
                self._epoch[event["node"]] = self._epoch.get(event["node"], 0) + 1

    def take(self, max_events: int = MAX_EVENTS, max_bytes: int = MAX_BYTES) -> list[Part]:
        """Everything collected, in order, in parts that keep to both limits (an event alone may be larger)."""
        parts: list[Part] = []
        events: list[WireEvent] = []
        weight = size = 0
        for event, count in self._events.values():
            length = len(json.dumps(event, ensure_ascii=False).encode())
            if events and (len(events) >= max_events or size + length > max_bytes):
                parts.append(Part(events, weight))
                events, weight, size = [], 0, 0
            events.append(event)
            weight += count
            size += length
        if events:
            parts.append(Part(events, weight))
        self.clear()
        return parts

    def clear(self) -> None:
        self._events = {}
        self.weight = 0

    def _append(self, event: WireEvent, weight: int = 1) -> None:
        self._events[self._next_key] = (event, weight)
        self._next_key += 1

    def _merge(self, key: tuple[str, str, int], event: WireEvent) -> None:
        """Join with the open event of the same key; the result moves to the end, so that the clock never runs back."""
        if (former := self._events.pop(key, None)) is None:
            self._events[key] = (_bounded(event), 1)
            return
        old, count = former
        self._events[key] = (_merged(old, event), count + 1)


def _bounded(event: WireEvent) -> WireEvent:
    if event["type"] in ("chunk", "tool_call", "question"):
        return {**event, "text": event["text"][-STREAM_TAIL_CHARS:]}  # type: ignore[return-value]
    return event


def _merged(old: WireEvent, new: WireEvent) -> WireEvent:
    if old["type"] == "chunk" and new["type"] == "chunk":
        # A view keeps only the end of a stream, so no more of it needs to travel.
        text = (old["text"] + new["text"])[-STREAM_TAIL_CHARS:]
        return {**new, "text": text, "count": old["count"] + new["count"]}
    if old["type"] == "edge_taken" and new["type"] == "edge_taken":
        keys = list(dict.fromkeys([*old["keys"], *new["keys"]]))
        return {**new, "keys": keys, "count": old["count"] + new["count"]}
    raise AssertionError(f"{old['type']} and {new['type']} don't merge")
