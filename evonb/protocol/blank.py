"""Snapshots of what hasn't run. The twin is `js/src/core/blank.ts`."""

from __future__ import annotations

from evonb.protocol.snapshot import PROTOCOL_VERSION, NodeState, RunState, Snapshot, WireGraph, WireLayout


def idle_node() -> NodeState:
    return {
        "status": "idle",
        "visits": 0,
        "queued": 0,
        "running": 0,
        "started_s": None,
        "last_s": None,
        "total_s": 0.0,
        "arrived": [],
        "missing": [],
        "note": "",
        "chunks": 0,
        "stream": "",
        "wrote": [],
        "tools": [],
        "tokens_in": 0,
        "tokens_out": 0,
        "model_s": 0.0,
        "question": "",
        "warnings": [],
    }


def idle_run() -> RunState:
    return {
        "run_id": None,
        "status": "idle",
        "started_at": None,
        "elapsed_s": 0.0,
        "turns": 0,
        "reason": "",
        "message": "",
        "failed_node": None,
        "error": None,
        "result": None,
    }


def empty_snapshot(graph: WireGraph, layout: WireLayout, seq: int = 0) -> Snapshot:
    """The picture of a graph that hasn't run."""
    return {
        "protocol": PROTOCOL_VERSION,
        "seq": seq,
        "graph": graph,
        "layout": layout,
        "run": idle_run(),
        "nodes": {node["id"]: idle_node() for node in graph["nodes"]},
        "edges": {edge["id"]: {"taken": 0, "passed_over": 0, "unused": False} for edge in graph["edges"]},
    }
