"""What a run's end, and going on after it, makes of what is under way. The twin is `js/src/core/settle.ts`."""

from __future__ import annotations

from typing import cast

from evonb.protocol.durations import duration
from evonb.protocol.snapshot import EdgeState, NodeState, NodeStatus, Snapshot

__all__ = ["cut_off", "reopened", "settled", "status_of"]


def status_of(node: NodeState, ended: NodeStatus) -> NodeStatus:
    """The status that a node's counters say; `ended` if nothing of it is under way."""
    if node["running"] > 0:
        return "waiting" if node["question"] else "running"
    if node["queued"] > 0:
        return "queued"
    if node["missing"]:
        return "waiting"
    return "idle" if ended in ("running", "queued", "waiting") else ended


def cut_off(old: NodeState, at_s: float) -> dict[str, object]:
    """What a node keeps of a visit that was stopped: how long it took until then."""
    spent = max(0.0, at_s - (at_s if old["started_s"] is None else old["started_s"]))
    note = f"stopped after {duration(spent)}"
    return {"last_s": spent, "total_s": old["total_s"] + spent, "note": note, "question": ""}


def settled(snapshot: Snapshot, at_s: float) -> Snapshot:
    """Nothing is under way after a run's end: what didn't complete is skipped and says why, untaken edges are unused.

    A join that still waits goes on saying for whom.
    """
    chosen_over = {
        edge["target"] for edge in snapshot["graph"]["edges"] if snapshot["edges"][edge["id"]]["passed_over"] > 0
    }
    nodes = dict(snapshot["nodes"])
    for node in snapshot["graph"]["nodes"]:
        if node["kind"] not in ("start", "end"):
            nodes[node["id"]] = _settled_node(nodes[node["id"]], at_s, passed_over=node["id"] in chosen_over)
    edges = {
        name: edge if edge["taken"] else cast(EdgeState, {**edge, "unused": True})
        for name, edge in snapshot["edges"].items()
    }
    return {**snapshot, "nodes": nodes, "edges": edges}


def _settled_node(old: NodeState, at_s: float, *, passed_over: bool) -> NodeState:
    changes: dict[str, object]
    if old["running"] > 0:
        changes = cut_off(old, at_s)
    elif old["queued"] > 0:
        changes = {"note": "stopped before it ran again" if old["visits"] else "stopped before it ran"}
    elif old["status"] == "idle" and not old["visits"]:
        changes = {"note": "not chosen" if passed_over else "not reached"}
    else:
        return old
    node = cast(NodeState, {**old, **changes, "running": 0, "queued": 0})
    node["status"] = status_of(node, "skipped")
    return node


def reopened(snapshot: Snapshot) -> Snapshot:
    """A run that had ended goes on, as debuggers do: what it hadn't reached may still come."""
    nodes = {
        name: cast(NodeState, {**node, "status": "idle", "note": ""})
        if node["status"] == "skipped" and not node["visits"]
        else node
        for name, node in snapshot["nodes"].items()
    }
    edges = {name: cast(EdgeState, {**edge, "unused": False}) for name, edge in snapshot["edges"].items()}
    return {**snapshot, "nodes": nodes, "edges": edges}
