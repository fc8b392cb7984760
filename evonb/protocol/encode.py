"""Python's facts as wire data: a topology as `WireGraph`, an error as `WireError`, an event as `WireEvent`.

One `EventEncoder` reads the events of one run in order; nothing here keeps a value of the run.
"""

from __future__ import annotations

from collections.abc import Iterable

from evonb.graph import events as ev
from evonb.graph.topology import EdgeInfo, Finding, NodeInfo, Topology, node_id
from evonb.protocol.encode_chunk import encode_chunk
from evonb.protocol.events import WireEvent
from evonb.protocol.preview import full_text, previews
from evonb.protocol.snapshot import SourceLine, WireEdge, WireError, WireFinding, WireGraph, WireNode

__all__ = ["EventEncoder", "to_wire_error", "to_wire_graph"]

MAX_DOC_CHARS = 600
MAX_LINE_CHARS = 200
MAX_NOTED_CHARS = 400
MAX_LIST = 50
"""State keys, names and waiting nodes beyond this many are left out of one event."""


def to_wire_graph(topology: Topology) -> WireGraph:
    """The graph without its sources, which travel when a node is inspected."""
    return {
        "name": topology.name,
        "nodes": [_node(node) for node in topology.nodes],
        "edges": [_edge(edge) for edge in topology.edges],
        "findings": [_finding(finding) for finding in topology.findings],
    }


def to_wire_error(error: ev.ErrorInfo) -> WireError:
    lines: list[SourceLine] = [
        {"number": number, "text": _short(text, MAX_LINE_CHARS), "hit": hit} for number, text, hit in error.source
    ]
    return {
        "kind": error.kind,
        "what": _short(error.what, 1000),
        "where": _short(error.where, 400),
        "fix": _short(error.fix, 1000),
        "source": lines[:20],
        "traceback": full_text(error.traceback),
    }


class EventEncoder:
    """Encodes the events of one run, in order.

    Remembers only which tasks are running (a skipped task may have been) and which router edges a node has.

    Args:
        topology: The graph's.
        resumable: Whether a run that fails can go on from there, as a debugger's can.
    """

    def __init__(self, topology: Topology, *, resumable: bool = False) -> None:
        self._resumable = resumable
        self._running: set[ev.TaskId] = set()
        self._router_edges: dict[str, list[EdgeInfo]] = {}
        for edge in topology.edges:
            if edge.kind == "conditional":
                self._router_edges.setdefault(edge.source, []).append(edge)

    def encode(self, event: ev.Event) -> WireEvent | None:
        """The wire form, or None for an event that no picture shows."""
        at_s = event.at_s
        match event:
            case ev.NodeQueued():
                return {"type": "node_queued", "at_s": at_s, "node": node_id(event.path, event.node)}
            case ev.NodeStarted():
                self._running.add(event.task_id)
                node = node_id(event.path, event.node)
                return {"type": "node_started", "at_s": at_s, "node": node, "visit": event.visit}
            case ev.NodeFinished():
                self._running.discard(event.task_id)
                return {
                    "type": "node_finished",
                    "at_s": at_s,
                    "node": node_id(event.path, event.node),
                    "duration_s": event.duration_s,
                    "wrote": _names(event.delta),
                }
            case ev.EdgeTaken():
                return {
                    "type": "edge_taken",
                    "at_s": at_s,
                    "edge": event.edge_id,
                    "keys": _names(event.keys),
                    "count": 1,
                }
            case ev.Chunk(node=str(name)):
                return encode_chunk(event, node_id(event.path, name))
            case ev.NodeNoted():
                text = _short(event.text, MAX_NOTED_CHARS)
                return {"type": "node_noted", "at_s": at_s, "node": node_id(event.path, event.node), "text": text}
            case ev.NodeFailed() | ev.NodeSkipped() | ev.NodeWaiting():
                return self._node_trouble(event)
            case ev.RouteDecided() | ev.JoinSatisfied() | ev.JoinImpossible():
                return self._decision(event)
            case ev.RunStarted() | ev.RunPaused() | ev.RunFinished() | ev.RunFailed():
                # A sub-graph's own start and end are its node's start and end.
                return _run(event, self._resumable) if not event.path else None
            case _:
                return None

    def _node_trouble(self, event: ev.NodeFailed | ev.NodeSkipped | ev.NodeWaiting) -> WireEvent:
        at_s, node = event.at_s, node_id(event.path, event.node)
        if isinstance(event, ev.NodeWaiting):
            arrived, missing = _ids(event, event.arrived), _ids(event, event.missing)
            return {"type": "node_waiting", "at_s": at_s, "node": node, "arrived": arrived, "missing": missing}
        was_running = event.task_id in self._running
        self._running.discard(event.task_id)
        if isinstance(event, ev.NodeSkipped):
            reason = _short(event.reason, 200)
            return {"type": "node_skipped", "at_s": at_s, "node": node, "reason": reason, "was_running": was_running}
        what = _short(event.error.what, 200)
        return {"type": "node_failed", "at_s": at_s, "node": node, "duration_s": event.duration_s, "what": what}

    def _decision(self, event: ev.RouteDecided | ev.JoinSatisfied | ev.JoinImpossible) -> WireEvent:
        if isinstance(event, ev.RouteDecided):
            return {
                "type": "route_decided",
                "at_s": event.at_s,
                "node": node_id(event.path, event.source),
                "chosen": _ids(event, event.chosen),
                "passed_over": self._passed_over(event),
            }
        node, arrived = node_id(event.path, event.node), _ids(event, event.arrived)
        if isinstance(event, ev.JoinSatisfied):
            return {"type": "join_satisfied", "at_s": event.at_s, "node": node, "arrived": arrived}
        return {
            "type": "join_impossible",
            "at_s": event.at_s,
            "node": node,
            "arrived": arrived,
            "missing": _ids(event, event.missing),
            "why": _short(event.why, 200),
        }

    def _passed_over(self, event: ev.RouteDecided) -> list[str]:
        """The router's edges to targets that it declared and didn't choose; one edge for each such target."""
        left = {node_id(event.path, name) for name in event.declared} - {
            node_id(event.path, name) for name in event.chosen
        }
        edges = []
        for edge in self._router_edges.get(node_id(event.path, event.source), ()):
            if edge.target in left:
                left.discard(edge.target)
                edges.append(edge.id)
        return edges


def _run(event: ev.RunStarted | ev.RunPaused | ev.RunFinished | ev.RunFailed, resumable: bool) -> WireEvent:
    at_s = event.at_s
    match event:
        case ev.RunStarted():
            return {"type": "run_started", "at_s": at_s, "run_id": event.run_id, "started_at": event.started_at}
        case ev.RunPaused():
            return {"type": "run_paused", "at_s": at_s, "reason": event.reason, "waiting": _names(event.waiting)}
        case ev.RunFinished():
            return {
                "type": "run_finished",
                "at_s": at_s,
                "reason": event.reason,
                "message": _short(event.message, 1000),
                "result": None if event.state is None else previews(event.state),
            }
        case ev.RunFailed():
            error = to_wire_error(event.error)
            return {"type": "run_failed", "at_s": at_s, "node": event.node, "error": error, "resumable": resumable}


def _node(node: NodeInfo) -> WireNode:
    return {
        "id": node.id,
        "name": node.name,
        "kind": node.kind,
        "join": node.join,
        "parent": node.parent,
        "doc": _short(node.doc, MAX_DOC_CHARS),
        "location": node.location,
    }


def _edge(edge: EdgeInfo) -> WireEdge:
    return {
        "id": edge.id,
        "source": edge.source,
        "target": edge.target,
        "kind": edge.kind,
        "group": edge.group,
        "label": edge.label,
    }


def _finding(finding: Finding) -> WireFinding:
    return {
        "code": finding.code,
        "level": finding.level,
        "nodes": list(finding.nodes),
        "what": finding.what,
        "where": finding.where,
        "fix": finding.fix,
    }


def _ids(event: ev.Event, names: Iterable[str]) -> list[str]:
    return [node_id(event.path, name) for name in list(names)[:MAX_LIST]]


def _names(names: Iterable[object]) -> list[str]:
    return [_short(str(name), 80) for name in list(names)[:MAX_LIST]]


def _short(text: str, limit: int) -> str:
    return text if len(text) <= limit else text[: limit - 1] + "…"
