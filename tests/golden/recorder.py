"""Writes down wire events as a run would make them, and the stream file that both `reduce` functions are held to."""

from __future__ import annotations

import json
from dataclasses import dataclass, field, replace
from pathlib import Path
from typing import Any, Literal

from evonb.export.layout import layout
from evonb.graph.topology import PATH_SEPARATOR, EdgeInfo, NodeInfo, NodeKind, Topology
from evonb.protocol.blank import empty_snapshot
from evonb.protocol.events import WireEvent
from evonb.protocol.messages import EventsMessage
from evonb.protocol.reduce import apply_batch
from evonb.protocol.snapshot import Snapshot, WireGraph, WireLayout

NO_LAYOUT: WireLayout = {"width": 0, "height": 0, "boxes": {}, "routes": {}}
STARTED_AT = 1_790_000_000.0


@dataclass
class Recorder:
    """Events in the order they are called, cut into batches; `at` moves the run's clock."""

    start: Snapshot
    batches: list[list[WireEvent]] = field(default_factory=lambda: [[]])
    clock_s: float = 0.0
    visits: dict[str, int] = field(default_factory=dict)
    began_s: dict[str, float] = field(default_factory=dict)

    def add(self, kind: str, **fields: Any) -> None:
        event: Any = {"type": kind, "at_s": round(self.clock_s, 3), **fields}
        self.batches[-1].append(event)

    def cut(self) -> None:
        if self.batches[-1]:
            self.batches.append([])

    def at(self, seconds: float) -> None:
        self.clock_s = seconds
        self.cut()

    def run(self) -> None:
        self.visits.clear()
        self.clock_s = 0.0
        self.add("run_started", run_id="run-1", started_at=STARTED_AT)

    def begin(self, node: str) -> None:
        self.visits[node] = self.visits.get(node, 0) + 1
        self.began_s[node] = self.clock_s
        self.add("node_queued", node=node)
        self.add("node_started", node=node, visit=self.visits[node])

    def end(self, node: str, *wrote: str) -> None:
        duration = round(self.clock_s - self.began_s[node], 3)
        self.add("node_finished", node=node, duration_s=duration, wrote=list(wrote))

    def step(self, node: str, seconds: float, *wrote: str) -> None:
        """A node from its start to its end."""
        self.begin(node)
        self.at(self.clock_s + seconds)
        self.end(node, *wrote)

    def take(self, edge: str, *keys: str, count: int = 1) -> None:
        self.add("edge_taken", edge=edge, keys=list(keys), count=count)

    def route(self, node: str, chosen: str, *passed_over: str) -> None:
        """A router's decision with the edge that it takes."""
        target = chosen.split(">")[1].split("#")[0]
        self.add("route_decided", node=node, chosen=[target], passed_over=list(passed_over))
        self.take(chosen)

    def say(self, node: str, text: str, count: int) -> None:
        self.add("chunk", node=node, text=text, count=count)

    def messages(self) -> list[EventsMessage]:
        out: list[EventsMessage] = []
        seq = self.start["seq"]
        for events in self.batches:
            if events:
                out.append({"type": "events", "first_seq": seq + 1, "last_seq": seq + len(events), "events": events})
                seq += len(events)
        return out


def fold(start: Snapshot, messages: list[EventsMessage]) -> Snapshot:
    """The snapshot after all batches, by the Python `reduce`."""
    snapshot = start
    for message in messages:
        after = apply_batch(snapshot, message["first_seq"], message["last_seq"], message["events"])
        if after is None:
            raise ValueError(f"batch {message['first_seq']} doesn't follow on {snapshot['seq']}")
        snapshot = after
    return snapshot


def write_stream(folder: Path, name: str, about: str, recorder: Recorder) -> Snapshot:
    """One file: where it starts, the batches, where `reduce` must end; returns that end."""
    messages = recorder.messages()
    end = fold(recorder.start, messages)
    stream = {"about": about, "start": recorder.start, "messages": messages, "end": end}
    text = json.dumps(stream, ensure_ascii=False, separators=(",", ":"), allow_nan=False)
    (folder / f"{name}.json").write_text(text + "\n", encoding="utf-8")
    return end


def graph_of(name: str, edges: str, *, joins: tuple[str, ...] = (), docs: dict[str, str] | None = None) -> Snapshot:
    """An idle snapshot of a graph written as lines `source > target [label]`; a label makes the edge conditional."""
    infos, names = _edges(edges)
    inner = tuple(_node(each, joins, docs or {}) for each in names)
    parents = {node.parent for node in inner}
    nodes = tuple(replace(node, kind="subgraph") if node.id in parents else node for node in inner)
    topology = Topology(name, nodes, tuple(infos))
    return empty_snapshot(wire_graph(topology), layout(topology).to_wire())


def wire_graph(topology: Topology) -> WireGraph:
    """The same conversion as `evonb.protocol.encode`, without findings; kept apart so that streams need no engine."""
    return {
        "name": topology.name,
        "nodes": [
            {
                "id": n.id,
                "name": n.name,
                "kind": n.kind,
                "join": n.join,
                "parent": n.parent,
                "doc": n.doc,
                "location": n.location,
            }
            for n in topology.nodes
        ],
        "edges": [
            {"id": e.id, "source": e.source, "target": e.target, "kind": e.kind, "group": e.group, "label": e.label}
            for e in topology.edges
        ],
        "findings": [],
    }


def _edges(text: str) -> tuple[list[EdgeInfo], list[str]]:
    infos: list[EdgeInfo] = []
    names: dict[str, None] = {}
    for line in filter(None, map(str.strip, text.splitlines())):
        ends, _, label = line.partition(" [")
        source, target = ends.split(" > ")
        names |= {source: None, target: None}
        count = sum(e.source == source and e.target == target for e in infos)
        edge_id = f"{source}>{target}" + (f"#{count}" if count else "")
        kind = "conditional" if label else "plain"
        infos.append(EdgeInfo(edge_id, source, target, kind, label=label.rstrip("]")))
    return infos, list(names)


def _node(name: str, joins: tuple[str, ...], docs: dict[str, str]) -> NodeInfo:
    """A name with a path, "research › find", is a node inside the sub-graph "research"."""
    path, _, own = name.rpartition(PATH_SEPARATOR)
    special: dict[str, NodeKind] = {"start": "start", "end": "end"}
    kind = special.get(own, "node")
    where = "" if own in special else "cell [3], line 24"
    join: Literal["any", "all"] = "all" if name in joins else "any"
    return NodeInfo(name, own, kind, join, path or None, doc=docs.get(name, ""), location=where)
