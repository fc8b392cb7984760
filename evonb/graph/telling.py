"""Telling listeners what a run does. Called only while somebody listens."""

from __future__ import annotations

import time
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from evonb.graph.decide import Hop, Outcome, Task
from evonb.graph.events import (
    EdgeTaken,
    JoinImpossible,
    JoinSatisfied,
    NodeFailed,
    NodeFinished,
    NodeQueued,
    NodeSkipped,
    NodeStarted,
    NodeWaiting,
    RouteDecided,
    TaskId,
)
from evonb.graph.failure import describe
from evonb.graph.plan import JoinPlan
from evonb.graph.topology import node_id

if TYPE_CHECKING:
    from evonb.graph.run import Run


def task_id(run: Run, task: Task) -> TaskId:
    """The id of a task in events."""
    return run.bus.task_id(task.number, run.path)


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
    """A node, its router or a filter behind it has raised."""
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


def parted(join: JoinPlan, mask: int) -> tuple[tuple[str, ...], tuple[str, ...]]:
    """The predecessors of a join that have arrived, and those that haven't."""
    arrived = tuple(name for bit, name in enumerate(join.sources) if mask >> bit & 1)
    return arrived, tuple(name for name in join.sources if name not in arrived)


def unsatisfied(run: Run) -> list[str]:
    """Tell of every join that is left waiting; gives a sentence for each."""
    sentences = []
    for (index, group), slot in sorted(run.slots.items()):
        node = run.plan.nodes[index]
        assert node.joins is not None
        arrived, missing = parted(node.joins[group], slot.mask)
        why = "; ".join(_why(run, name) for name in missing)
        run.bus.emit(JoinImpossible, run.path, node=node.name, group=group, arrived=arrived, missing=missing, why=why)
        got = f"got {', '.join(map(repr, arrived))}" if arrived else "got nothing whole"
        sentences.append(f"{node.name!r} {got} and waits for {', '.join(map(repr, missing))}: {why}")
    return sentences


def _why(run: Run, name: str) -> str:
    node = run.plan.by_name[name]
    visits = run.visits[node.index]
    if not visits:
        return f"{name!r} was never started, as no edge to it was taken"
    return f"{name!r} ran {visits} time{'s' if visits > 1 else ''} and went elsewhere"


def end_message(run: Run) -> str:
    """Which limit was met and in which cycle, or who waits for whom; "" for a run that simply ended."""
    waits = unsatisfied(run)
    if run.skipped:
        return f"the limit of {run.limit} node calls was met{_cycle(run.skipped[0])}"
    return "; ".join(waits)


def _cycle(task: Task) -> str:
    """The loop that a task was about to go round again."""
    route = [*task.route()[-200:], task.node.name]
    for back in range(len(route) - 2, -1, -1):
        if route[back] == route[-1]:
            return ", in the cycle " + " > ".join(map(str, route[back:]))
    return ""


__all__ = ["end_message", "failed", "finished", "skipped", "started", "task_id", "unsatisfied", "went_on"]
