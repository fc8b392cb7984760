"""`reduce(snapshot, event) -> snapshot`: what an event changes in the picture. Its twin is `js/src/core/reduce.ts`.

Both must end in the same snapshot for every recorded stream; golden tests replay Python's streams in TypeScript.
Pure: neither argument is changed, untouched parts are shared. `seq` is set by whoever applies a batch.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any, TypeVar, assert_never, cast

from evonb.protocol.blank import empty_snapshot
from evonb.protocol.events import NodeSkippedW, UsageW, WireEvent
from evonb.protocol.settle import cut_off, settled, status_of
from evonb.protocol.snapshot import (
    STREAM_TAIL_CHARS,
    TOOLS_KEPT,
    WARNINGS_KEPT,
    EdgeState,
    NodeState,
    NodeStatus,
    RunState,
    Snapshot,
    WireToolCall,
)

_T = TypeVar("_T")


def reduce(snapshot: Snapshot, event: WireEvent) -> Snapshot:
    """The snapshot after `event`. Events about nodes or edges that the graph doesn't have change only the clock."""
    if event["type"] == "run_started":
        return _run_started(snapshot, event["run_id"], event["started_at"])
    snapshot = _run(snapshot, elapsed_s=event["at_s"])
    match event["type"]:
        case "run_paused":
            return _run(snapshot, status="paused", reason=event["reason"])
        case "run_finished":
            return _run(
                settled(snapshot, event["at_s"]),
                status="finished",
                reason=event["reason"],
                message=event["message"],
                result=event["result"],
            )
        case "run_failed":
            return _run(
                snapshot if event["resumable"] else settled(snapshot, event["at_s"]),
                status="failed",
                reason="failed",
                message=event["error"]["what"],
                failed_node=event["node"],
                error=event["error"],
            )
        case "node_queued":
            return _queued(snapshot, event["node"])
        case "node_waiting":
            return _node(snapshot, event["node"], arrived=event["arrived"], missing=event["missing"], ended="idle")
        case "node_started":
            return _started(snapshot, event["node"], event["visit"], event["at_s"])
        case "node_finished":
            return _finished(snapshot, event["node"], event["duration_s"], event["wrote"])
        case "node_failed":
            return _failed(snapshot, event["node"], event["duration_s"], event["what"])
        case "node_skipped":
            return _skipped(snapshot, event)
        case "edge_taken":
            return _edge(snapshot, event["edge"], taken=event["count"])
        case "route_decided":
            for edge in event["passed_over"]:
                snapshot = _edge(snapshot, edge, passed_over=1)
            return snapshot
        case "join_satisfied":
            return _node(snapshot, event["node"], arrived=event["arrived"], missing=[])
        case "join_impossible":
            return _node(snapshot, event["node"], arrived=event["arrived"], missing=event["missing"], note=event["why"])
        case "chunk":
            return _chunk(snapshot, event["node"], event["text"], event["count"])
        case "tool_call":
            return _tool_call(_chunk(snapshot, event["node"], event["text"], 1), event["node"], event["call"])
        case "usage":
            return _used(snapshot, event)
        case "question":
            return _node(_chunk(snapshot, event["node"], event["text"], 1), event["node"], question=event["question"])
        case "node_noted":
            return _noted(snapshot, event["node"], event["text"])
        case _ as never:
            assert_never(never)


def apply_batch(snapshot: Snapshot, first_seq: int, last_seq: int, events: list[WireEvent]) -> Snapshot | None:
    """The snapshot after a batch; unchanged if the batch is an old one, None if something before it is missing."""
    if last_seq <= snapshot["seq"]:
        return snapshot
    if first_seq != snapshot["seq"] + 1:
        return None
    return {**reduce_all(snapshot, events), "seq": last_seq}


class _Own(dict[str, Any]):
    """The nodes or edges of a snapshot that nobody else holds yet: changed in place."""


def reduce_all(snapshot: Snapshot, events: Iterable[WireEvent]) -> Snapshot:
    """The snapshot after some events; copies the maps of nodes and edges once, not for each event."""
    for event in events:
        if type(snapshot["nodes"]) is not _Own:  # at the start, and after what makes them anew
            snapshot = cast(Snapshot, {**snapshot, "nodes": _Own(snapshot["nodes"]), "edges": _Own(snapshot["edges"])})
        snapshot = reduce(snapshot, event)
    return {**snapshot, "nodes": dict(snapshot["nodes"]), "edges": dict(snapshot["edges"])}


def _with(items: dict[str, _T], name: str, item: _T) -> dict[str, _T]:
    if type(items) is not _Own:
        return {**items, name: item}
    items[name] = item
    return items


def _run_started(snapshot: Snapshot, run_id: str, started_at: float) -> Snapshot:
    fresh = empty_snapshot(snapshot["graph"], snapshot["layout"], snapshot["seq"])
    run: RunState = {**fresh["run"], "run_id": run_id, "status": "running", "started_at": started_at}
    return {**fresh, "run": run}


def _run(snapshot: Snapshot, **changes: object) -> Snapshot:
    return {**snapshot, "run": cast(RunState, {**snapshot["run"], **changes})}


def _node(snapshot: Snapshot, name: str, *, ended: NodeStatus | None = None, **changes: object) -> Snapshot:
    """Change one node and derive its status; `ended` is the status if nothing of it is under way."""
    old = snapshot["nodes"].get(name)
    if old is None:
        return snapshot
    node = cast(NodeState, {**old, **changes})
    node["status"] = status_of(node, ended or old["status"])
    return {**snapshot, "nodes": _with(snapshot["nodes"], name, node)}


def _queued(snapshot: Snapshot, name: str) -> Snapshot:
    old = snapshot["nodes"].get(name)
    return snapshot if old is None else _node(snapshot, name, queued=old["queued"] + 1, arrived=[], missing=[])


def _started(snapshot: Snapshot, name: str, visit: int, at_s: float) -> Snapshot:
    old = snapshot["nodes"].get(name)
    if old is None:
        return snapshot
    snapshot = _run(snapshot, turns=snapshot["run"]["turns"] + 1)
    return _node(
        snapshot,
        name,
        queued=max(0, old["queued"] - 1),
        running=old["running"] + 1,
        visits=max(old["visits"], visit),
        started_s=at_s,
        stream="" if old["running"] == 0 else old["stream"],
        chunks=0 if old["running"] == 0 else old["chunks"],
        tools=[] if old["running"] == 0 else old["tools"],
        question="",
        note="",
    )


def _finished(snapshot: Snapshot, name: str, duration_s: float, wrote: list[str]) -> Snapshot:
    old = snapshot["nodes"].get(name)
    if old is None:
        return snapshot
    return _node(
        snapshot,
        name,
        ended="done",
        running=max(0, old["running"] - 1),
        last_s=duration_s,
        total_s=old["total_s"] + duration_s,
        wrote=wrote,
        question="",
    )


def _failed(snapshot: Snapshot, name: str, duration_s: float, what: str) -> Snapshot:
    old = snapshot["nodes"].get(name)
    if old is None:
        return snapshot
    running = max(0, old["running"] - 1)
    return _node(snapshot, name, ended="failed", running=running, last_s=duration_s, note=what, question="")


def _skipped(snapshot: Snapshot, event: NodeSkippedW) -> Snapshot:
    name = event["node"]
    old = snapshot["nodes"].get(name)
    if old is None:
        return snapshot
    if not event["was_running"]:
        return _node(snapshot, name, ended="skipped", queued=max(0, old["queued"] - 1), note=event["reason"])
    if old["running"] == 0:  # told after the run's end, which has settled it already
        return _node(snapshot, name, ended="skipped", note=old["note"] or event["reason"])
    return _node(snapshot, name, ended="skipped", running=old["running"] - 1, **cut_off(old, event["at_s"]))


def _chunk(snapshot: Snapshot, name: str, text: str, count: int) -> Snapshot:
    old = snapshot["nodes"].get(name)
    if old is None:
        return snapshot
    stream = (old["stream"] + text)[-STREAM_TAIL_CHARS:]
    return _node(snapshot, name, stream=stream, chunks=old["chunks"] + count)


def _tool_call(snapshot: Snapshot, name: str, call: WireToolCall) -> Snapshot:
    old = snapshot["nodes"].get(name)
    if old is None:
        return snapshot
    known = any(each["id"] == call["id"] for each in old["tools"])
    calls = [call if each["id"] == call["id"] else each for each in old["tools"]] if known else [*old["tools"], call]
    return _node(snapshot, name, tools=calls[-TOOLS_KEPT:])


def _used(snapshot: Snapshot, event: UsageW) -> Snapshot:
    old = snapshot["nodes"].get(event["node"])
    if old is None:
        return snapshot
    return _node(
        snapshot,
        event["node"],
        tokens_in=old["tokens_in"] + event["tokens_in"],
        tokens_out=old["tokens_out"] + event["tokens_out"],
        model_s=old["model_s"] + event["seconds"],
    )


def _noted(snapshot: Snapshot, name: str, text: str) -> Snapshot:
    old = snapshot["nodes"].get(name)
    if old is None or text in old["warnings"] or len(old["warnings"]) >= WARNINGS_KEPT:
        return snapshot
    return _node(snapshot, name, warnings=[*old["warnings"], text])


def _edge(snapshot: Snapshot, name: str, *, taken: int = 0, passed_over: int = 0) -> Snapshot:
    old = snapshot["edges"].get(name)
    if old is None:
        return snapshot
    edge: EdgeState = {
        "taken": old["taken"] + taken,
        "passed_over": old["passed_over"] + passed_over,
        "unused": old["unused"] and not taken,
    }
    return {**snapshot, "edges": _with(snapshot["edges"], name, edge)}
