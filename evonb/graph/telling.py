"""Telling listeners what a run does. Called only while somebody listens."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import TYPE_CHECKING, Any

from evonb.graph.decide import Hop, Outcome, Task
from evonb.graph.events import (
    EdgeTaken,
    FinishReason,
    JoinImpossible,
    JoinSatisfied,
    NodeFailed,
    NodeFinished,
    NodeQueued,
    NodeSkipped,
    NodeStarted,
    NodeWaiting,
    RouteDecided,
    RunFailed,
    RunFinished,
    RunStarted,
    TaskId,
)
from evonb.graph.failure import describe
from evonb.graph.topology import node_id
from evonb.graph.waits import end_message, open_joins, parted

if TYPE_CHECKING:
    from evonb.graph.bus import Bus
    from evonb.graph.run import Run


def task_id(run: Run, task: Task) -> TaskId:
    """The id of a task in events."""
    return run.task_id(task)


def started(run: Run, task: Task, values: dict[str, Any]) -> None:
    """A node begins."""
    run.bus.emit(
        NodeStarted,
        run.path,
        node=task.node.name,
        task_id=task_id(run, task),
        visit=task.visit,
        inputs=run.plan.schema.view(values),
    )


def finished(run: Run, task: Task, delta: dict[str, Any], began: float) -> None:
    """A node has answered."""
    run.bus.emit(
        NodeFinished,
        run.path,
        node=task.node.name,
        task_id=task_id(run, task),
        visit=task.visit,
        duration_s=time.perf_counter() - began,
        delta=delta,
    )


def failed(run: Run, task: Task, error: Exception, began: float) -> None:
    """A node, or the join before it, has raised."""
    run.bus.emit(
        NodeFailed,
        run.path,
        node=task.node.name,
        task_id=task_id(run, task),
        visit=task.visit,
        duration_s=time.perf_counter() - began if began else 0.0,
        error=describe(error),
    )


def skipped(run: Run, task: Task, reason: str) -> None:
    """A task won't finish."""
    run.bus.emit(NodeSkipped, run.path, node=task.node.name, task_id=task_id(run, task), reason=reason)


def went_on(run: Run, task: Task, hops: Sequence[Hop], outcome: Outcome) -> None:
    """Where a finished task leads: routes, edges, joins, then what is ready."""
    bus, path = run.bus, run.path
    for edge in task.node.outs:
        if edge.plain is None:
            chosen = tuple(hop.target.name for hop in hops if hop.edge is edge)
            bus.emit(RouteDecided, path, source=edge.source, chosen=chosen, declared=tuple(edge.targets))
    for hop in hops:
        keys = tuple(hop.record.delta or hop.record.cut or ())
        bus.emit(
            EdgeTaken,
            path,
            edge_id=node_id(path, hop.edge.ids[hop.target.name]),
            source=hop.edge.source,
            target=hop.target.name,
            keys=keys,
        )
    for note in outcome.notes:
        arrived, missing = parted(note.join, note.mask)
        if note.fired:
            bus.emit(JoinSatisfied, path, node=note.node.name, group=note.join.group, arrived=arrived)
        else:
            bus.emit(NodeWaiting, path, node=note.node.name, group=note.join.group, arrived=arrived, missing=missing)
    for ready in outcome.ready:
        bus.emit(NodeQueued, path, node=ready.node.name, task_id=task_id(run, ready), visit=ready.visit)


def run_started(bus: Bus, graph_name: str, inputs: Mapping[str, Any]) -> None:
    """A run begins."""
    bus.emit(RunStarted, (), graph_name=graph_name, inputs=inputs, started_at=time.time())


def run_failed(bus: Bus, graph_name: str, error: Exception) -> None:
    """A run has ended by an error; the node is the one that failed, or whose router did."""
    name = getattr(error, "node_name", "")
    node = node_id(getattr(error, "path", ()), name) if name else None
    where = getattr(error, "where", "") or f"graph {graph_name!r}"
    bus.emit(RunFailed, (), error=describe(error, where=where), node=node)


def run_finished(run: Run, state: Any, *, reason: FinishReason | None = None, message: str = "") -> None:
    """A run has ended; joins that are left waiting are told of first."""
    if reason is None:
        reason = "max_turn" if run.skipped else "starved" if state is None else "completed"
        message = end_message(run)
    for join in open_joins(run):
        run.bus.emit(
            JoinImpossible,
            run.path,
            node=join.node,
            group=join.group,
            arrived=join.arrived,
            missing=join.missing,
            why=join.why,
        )
    if not run.path:
        run.bus.emit(RunFinished, (), reason=reason, state=state, message=message)


__all__ = [
    "failed",
    "finished",
    "run_failed",
    "run_finished",
    "run_started",
    "skipped",
    "started",
    "task_id",
    "went_on",
]
