"""Asking the user's routers and state filters where a finished task goes on, and with which state."""

from __future__ import annotations

import inspect
from collections import Counter
from typing import TYPE_CHECKING, Any

from evonb.errors import NodeError, RouterError
from evonb.graph import record as records
from evonb.graph.decide import Batch, Hop, Place, Task
from evonb.graph.edges import EdgeSpec, StateFilterLike, Targets
from evonb.graph.failure import describe, visit_of
from evonb.graph.near import near_names
from evonb.graph.plan import EdgePlan
from evonb.graph.record import Record

if TYPE_CHECKING:
    from evonb.graph.run import Run

__all__ = ["hops_of"]


async def hops_of(run: Run, task: Task, record: Record) -> list[Hop]:
    """Where a task goes on, in edge order.

    Raises:
        RouterError: A router answered something undeclared.
        NodeError: A router or a filter raised.
    """
    hops: list[Hop] = []
    for edge in task.node.outs:
        if edge.plain is not None:
            spec = edge.spec
            assert isinstance(spec, EdgeSpec)
            arrived = _filtered(run, task, record, spec.state_filter, edge)
            hops.append(Hop(edge, edge.plain, arrived, task.place))
        else:
            hops.extend(_routed(run, task, record, edge, await _answer(run, task, record, edge)))
    return hops


async def _answer(run: Run, task: Task, record: Record, edge: EdgePlan) -> Targets:
    schema = run.plan.schema
    state = schema.hand_out(records.values_of(schema, record), run.pool, edge.reads)
    try:
        if edge.router is None:
            return _known(edge, edge.spec.get_targets(state))
        answer = edge.router(state)
        if inspect.isawaitable(answer):
            answer = await answer
        return edge.spec.read_answer(answer)  # type: ignore[attr-defined, no-any-return]
    except RouterError as error:
        who, function = _who("router", edge)
        info = describe(error, where=_after(run, task, who), whose="router", function=function)
        error.where, error.source, error.info = info.where, info.source, info  # type: ignore[attr-defined]
        error.node_name, error.path = task.node.name, run.path  # type: ignore[attr-defined]
        raise
    except (Exception, SystemExit) as error:
        raise _failed(run, task, record, error, "router", edge) from error


def _failed(
    run: Run, task: Task, record: Record, error: BaseException, kind: str, edge: EdgePlan, function: Any = None
) -> NodeError:
    """The error for what a router or filter raised. The node before it is done: it doesn't fail, the run does."""
    who, function = _who(kind, edge, function)
    subject = who[0].upper() + who[1:] + ("" if "'" in who else f" of node {task.node.name!r}")
    return run.error_of(task, error, record, _after(run, task, who), subject=subject, function=function)


def _who(kind: str, edge: EdgePlan, function: Any = None) -> tuple[str, Any]:
    """ "router 'by_topic'", "state filter" for one without a name; and the user's function."""
    function = function or getattr(edge.spec, "router", None) or type(edge.spec).get_targets
    name = getattr(function, "__name__", "<lambda>")
    return (kind if name in ("<lambda>", "get_targets") else f"{kind} {name!r}"), function


def _after(run: Run, task: Task, who: str) -> str:
    return run.place(f"{who} after {visit_of(task)}")


def _known(edge: EdgePlan, targets: Targets) -> Targets:
    for name, _ in targets:
        if name not in edge.targets:
            near = near_names(name, edge.targets)
            raise RouterError(
                f"An edge answered {name!r}, which isn't one of its targets: {', '.join(map(repr, edge.targets))}",
                where=f"node {edge.source!r}",
                fix=f"answer {near[0]!r}" if near else "answer one of these",
            )
    return targets


def _routed(run: Run, task: Task, record: Record, edge: EdgePlan, targets: Targets) -> list[Hop]:
    # A bare name that comes twice means one visit; a pair that comes twice maps the target over its filters.
    chosen = list(dict.fromkeys(targets)) if all(each is None for _, each in targets) else targets
    sizes = Counter(name for name, _ in chosen)
    batches: dict[str, Batch] = {}
    hops: list[Hop] = []
    for name, state_filter in chosen:
        place: Place | None = task.place
        if sizes[name] > 1:
            batch = batches.setdefault(name, Batch(sizes[name], task.place))
            place = (batch, len([hop for hop in hops if hop.target.name == name]))
        arrived = _filtered(run, task, record, state_filter, edge)
        hops.append(Hop(edge, edge.targets[name], arrived, place))
    return hops


def _filtered(run: Run, task: Task, record: Record, state_filter: StateFilterLike | None, edge: EdgePlan) -> Record:
    if state_filter is None:
        return record
    schema = run.plan.schema
    try:
        answer: Any = state_filter(schema.hand_out(records.values_of(schema, record), run.pool))
        if answer is None:
            raise TypeError("The state filter returned None, expected a state")
        return records.cut(schema, record, answer, f"The filter of edge {edge.source!r}")
    except (Exception, SystemExit) as error:
        raise _failed(run, task, record, error, "state filter", edge, state_filter) from error
