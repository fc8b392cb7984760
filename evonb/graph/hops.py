"""Asking the user's routers and state filters where a finished task goes on, and with which state."""

from __future__ import annotations

import inspect
from collections import Counter
from typing import TYPE_CHECKING, Any

from evonb.errors import RouterError
from evonb.graph import record as records
from evonb.graph.decide import Batch, Hop, Place, Task
from evonb.graph.edges import EdgeSpec, Targets
from evonb.graph.plan import EdgePlan
from evonb.graph.record import Record
from evonb.graph.state import StateFilterLike

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
        error.where = f"graph {run.plan.name!r} > {error.where}"
        run.failed(task, error, record, role="Router")
        raise
    except Exception as error:
        raise run.failed(task, error, record, role="Router") from error


def _known(edge: EdgePlan, targets: Targets) -> Targets:
    for name, _ in targets:
        if name not in edge.targets:
            raise RouterError(
                f"An edge answered {name!r}, which isn't one of its possible targets", where=f"node {edge.source!r}"
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
    except Exception as error:
        raise run.failed(task, error, record, role="State filter") from error
