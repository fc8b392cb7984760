"""The picture of a session at one of its steps, folded from the recorded steps: no node is called, no event needed.

So a past step, a branch that left an earlier step and a session out of a file are drawn by the rules of a live run.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Literal, Protocol, cast

from evonb.graph.debugging.line import Call, Usage
from evonb.graph.events import ErrorInfo
from evonb.graph.topology import EdgeInfo, Topology
from evonb.protocol.encode import to_wire_error
from evonb.protocol.messages import Snapshot, WireEvent, WireToolCall
from evonb.protocol.reduce import empty_snapshot, reduce

__all__ = ["PastStep", "PastWaiting", "picture_of", "warned_as"]

ANSWERED = frozenset({"done", "pinned", "skipped", "replayed"})
"""Steps after which the graph went on."""


class PastStep(Protocol):
    """What a picture needs of a step."""

    @property
    def node(self) -> str: ...
    @property
    def visit(self) -> int: ...
    @property
    def status(self) -> str: ...
    @property
    def at_s(self) -> float: ...
    @property
    def duration_s(self) -> float: ...
    @property
    def wrote(self) -> Sequence[str]: ...
    @property
    def wave(self) -> int: ...
    @property
    def edges(self) -> Sequence[str]: ...
    @property
    def error(self) -> ErrorInfo | None: ...
    @property
    def calls(self) -> Sequence[Call]: ...
    @property
    def usage(self) -> Usage | None: ...


class PastWaiting(Protocol):
    """What a picture needs of something that waits."""

    @property
    def node_name(self) -> str: ...
    @property
    def can_run(self) -> bool: ...
    @property
    def arrived(self) -> Sequence[str]: ...
    @property
    def missing(self) -> Sequence[str]: ...
    @property
    def failed(self) -> bool: ...


def picture_of(
    live: Snapshot,
    topology: Topology,
    steps: Sequence[PastStep],
    waiting: Iterable[PastWaiting],
    *,
    finished: bool = False,
) -> Snapshot:
    """The snapshot after these steps of one line.

    Args:
        live: Gives the graph, its layout, the run's id and `seq`.
        topology: Of the same graph.
        steps: From the first one on.
        waiting: What waited then.
        finished: Whether the line was at its end.
    """
    run = live["run"]
    snapshot = empty_snapshot(live["graph"], live["layout"], live["seq"])
    left = list(waiting)
    for event in _events(topology, steps, left, run["run_id"] or "", run["started_at"] or 0.0):
        snapshot = reduce(snapshot, event)
    last = steps[-1] if steps else None
    at_s = _end(last) if last else 0.0
    if last is not None and last.status == "failed" and last.error is not None:
        error = to_wire_error(last.error)
        node = last.node
        return reduce(
            snapshot, {"type": "run_failed", "at_s": at_s, "node": node, "error": error, "resumable": not finished}
        )
    if not finished:
        names = [each.node_name for each in left]
        return reduce(snapshot, {"type": "run_paused", "at_s": at_s, "reason": "step", "waiting": names})
    # The state shows what came out; only the live picture knows it as the run's result.
    result = run["result"] if run["status"] == "finished" else None
    reason: Literal["completed", "stopped"] = "stopped" if last and last.status == "stopped" else "completed"
    return reduce(snapshot, {"type": "run_finished", "at_s": at_s, "reason": reason, "message": "", "result": result})


def _events(
    topology: Topology, steps: Sequence[PastStep], waiting: list[PastWaiting], run_id: str, started_at: float
) -> Iterable[WireEvent]:
    outs: dict[str, list[EdgeInfo]] = {}
    for edge in topology.edges:
        outs.setdefault(edge.source, []).append(edge)
    kinds = {node.id: node.kind for node in topology.nodes}
    yield {"type": "run_started", "at_s": 0.0, "run_id": run_id, "started_at": started_at}
    first = {step.node for step in steps if step.wave == 1} or {each.node_name for each in waiting}
    for start in (node.id for node in topology.nodes if node.kind == "start" and node.parent is None):
        entered = [edge for edge in outs.get(start, ()) if edge.kind == "plain" or edge.target in first]
        yield from _went(start, 0.0, [edge.id for edge in entered], [], outs)
    for step in steps:
        yield from _step(step, kinds.get(step.node, "node"), outs)
    at_s = _end(steps[-1]) if steps else 0.0
    for each in waiting:
        if each.failed:
            continue  # it waits to be tried again; that it failed says more
        if each.can_run and kinds.get(each.node_name) != "end":
            yield {"type": "node_queued", "at_s": at_s, "node": each.node_name}
        elif not each.can_run:
            arrived, missing = list(each.arrived), list(each.missing)
            yield {"type": "node_waiting", "at_s": at_s, "node": each.node_name, "arrived": arrived, "missing": missing}


def _step(step: PastStep, kind: str, outs: dict[str, list[EdgeInfo]]) -> Iterable[WireEvent]:
    if step.status == "limit":
        reason = "the limit of node calls was met"
        yield {"type": "node_skipped", "at_s": step.at_s, "node": step.node, "reason": reason, "was_running": False}
    if kind == "end" or step.status not in (*ANSWERED, "failed"):
        return
    at_s, node = _end(step), step.node
    yield {"type": "node_started", "at_s": step.at_s, "node": node, "visit": step.visit}
    yield from _called(step)
    if step.status == "failed":
        what = step.error.what if step.error is not None else ""
        yield {"type": "node_failed", "at_s": at_s, "node": node, "duration_s": step.duration_s, "what": what[:200]}
        return
    wrote = list(step.wrote)
    yield {"type": "node_finished", "at_s": at_s, "node": node, "duration_s": step.duration_s, "wrote": wrote}
    yield from _went(node, at_s, step.edges, wrote, outs)


def _called(step: PastStep) -> Iterable[WireEvent]:
    """The tool calls of a step, and what its models took."""
    at_s, node = _end(step), step.node
    for number, call in enumerate(step.calls):
        told: WireToolCall = {
            "id": call.call_id or str(number),
            "tool": call.tool,
            "status": "failed" if call.failed else "done",
            "started_s": None,
            "duration_s": call.duration_s,
        }
        yield {"type": "tool_call", "at_s": at_s, "node": node, "call": told, "text": ""}
    if (used := step.usage) is not None:
        yield {
            "type": "usage",
            "at_s": at_s,
            "node": node,
            "tokens_in": used.tokens_in,
            "tokens_out": used.tokens_out,
            "seconds": used.seconds,
        }


def warned_as(picture: Snapshot, live: Snapshot) -> Snapshot:
    """The picture of a step with the warnings of the live one about nodes that had run by then."""
    nodes = {
        name: {**node, "warnings": live["nodes"][name]["warnings"]}
        if node["visits"] and name in live["nodes"]
        else node
        for name, node in picture["nodes"].items()
    }
    return cast(Snapshot, {**picture, "nodes": nodes})


def _went(
    node: str, at_s: float, edges: Sequence[str], keys: list[str], outs: dict[str, list[EdgeInfo]]
) -> Iterable[WireEvent]:
    """The edges taken from a node, and those of its routers that were passed over."""
    chosen = [edge for edge in outs.get(node, ()) if edge.id in edges]
    targets = {edge.target for edge in chosen}
    passed: list[str] = []
    for edge in outs.get(node, ()):
        if edge.kind == "conditional" and edge.target not in targets:
            targets.add(edge.target)
            passed.append(edge.id)
    if passed or any(edge.kind == "conditional" for edge in chosen):
        names = [edge.target for edge in chosen if edge.kind == "conditional"]
        yield {"type": "route_decided", "at_s": at_s, "node": node, "chosen": names, "passed_over": passed}
    for taken in edges:
        yield {"type": "edge_taken", "at_s": at_s, "edge": taken, "keys": keys, "count": 1}


def _end(step: PastStep) -> float:
    return step.at_s + step.duration_s
