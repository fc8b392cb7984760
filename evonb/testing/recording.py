"""Record what a graph did and read it back as a list of steps, to assert on or to print."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Literal, Protocol

from evonb.graph.events import (
    Detach,
    Event,
    Listener,
    NodeFailed,
    NodeFinished,
    NodeSkipped,
    NodeStarted,
    TaskId,
)
from evonb.graph.topology import node_id

__all__ = ["Step", "record", "steps"]


class Attachable(Protocol):
    """The part of an engine that recording needs."""

    def attach(self, listener: Listener, *, live: bool = False) -> Detach: ...


@dataclass(frozen=True, slots=True)
class Step:
    """One execution of a node.

    Attributes:
        node: Its name, after the sub-graph nodes around it.
        visit: 1 for the node's first execution in its run.
        ended: How it ended; "running" when the events stop before it did.
        started_s: When it started, on the run's clock.
        duration_s: How long it took; None unless it finished or failed.
        wrote: The state keys of its delta.
        what: What went wrong, or why it was skipped.
    """

    node: str
    visit: int
    ended: Literal["finished", "failed", "skipped", "running"]
    started_s: float
    duration_s: float | None = None
    wrote: tuple[str, ...] = ()
    what: str = ""


@contextmanager
def record(engine: Attachable) -> Iterator[list[Event]]:
    """Collect the events of every run of `engine` within the block; the list fills while the runs go on.

    Example:
        >>> import asyncio
        >>> from typing import TypedDict
        >>> from evonb.graph import END, START, GraphBuilder
        >>> from evonb.testing import record, steps
        >>> builder = GraphBuilder(state_schema=TypedDict("State", {"n": int}))
        >>> builder.add_node("double", lambda state: {"n": state["n"] * 2})
        >>> builder.add_edge(START, "double")
        >>> builder.add_edge("double", END)
        >>> engine = builder.build()
        >>> with record(engine) as events:
        ...     result = asyncio.run(engine.run({"n": 21}))
        >>> [(step.node, step.ended, step.wrote) for step in steps(events)]
        [('double', 'finished', ('n',))]
    """
    events: list[Event] = []
    detach = engine.attach(events.append)
    try:
        yield events
    finally:
        detach()


def steps(events: Iterable[Event]) -> list[Step]:
    """The executions of nodes in the order of their starts; tasks that never started are left out."""
    found: dict[tuple[str, TaskId], Step] = {}
    for event in events:
        match event:
            case NodeStarted():
                name = node_id(event.path, event.node)
                found[event.run_id, event.task_id] = Step(name, event.visit, "running", event.at_s)
            case NodeFinished():
                wrote = tuple(event.delta)
                _end(found, event, ended="finished", duration_s=event.duration_s, wrote=wrote)
            case NodeFailed():
                _end(found, event, ended="failed", duration_s=event.duration_s, what=event.error.what)
            case NodeSkipped():
                _end(found, event, ended="skipped", what=event.reason)
    return list(found.values())


def _end(
    found: dict[tuple[str, TaskId], Step],
    event: NodeFinished | NodeFailed | NodeSkipped,
    *,
    ended: Literal["finished", "failed", "skipped"],
    duration_s: float | None = None,
    wrote: tuple[str, ...] = (),
    what: str = "",
) -> None:
    begun = found.get((event.run_id, event.task_id))
    if begun is not None:
        found[event.run_id, event.task_id] = Step(
            begun.node, begun.visit, ended, begun.started_s, duration_s, wrote, what
        )
