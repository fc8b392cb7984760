"""The debugger's tasks by id and by name, as the documented example looks them up."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from evonb.errors import EvonbError
from evonb.graph.debugging.points import Waiting
from evonb.graph.decide import Task
from evonb.graph.near import near_names
from evonb.graph.record import Record
from evonb.graph.runtime_task import RunTimeTask
from evonb.graph.state import StateCkpt

if TYPE_CHECKING:
    from evonb.graph.debugger import GraphEngineDebugger

__all__ = ["TraceNode", "TraceTree", "UnknownTask"]


class UnknownTask(EvonbError, LookupError):
    """No such task in this session."""


@dataclass(frozen=True, slots=True)
class TraceNode:
    """One task of a session: its id, and itself as the documented class."""

    uuid: str
    task: RunTimeTask


class TraceTree:
    """Looks into the session of a debugger; keeps nothing."""

    def __init__(self, debugger: GraphEngineDebugger) -> None:
        self._debugger = debugger

    def get_leaf_node_uuid_by_node_name(self, node_name: str) -> str:
        """The id of the first task of this node that waits; a join waits from its first input on.

        Raises:
            UnknownTask: None does. A `LookupError`.
        """
        waiting = self._debugger._point.waiting
        for each in waiting:
            if each.node.name == node_name:
                return self._debugger._uuid(each.number)
        names = [each.node.name for each in waiting]
        near = near_names(node_name, names)
        raise UnknownTask(
            f"No task of node {node_name!r} is waiting",
            fix=f"did you mean {near[0]!r}?" if near else f"waiting now: {', '.join(names) or 'nothing'}",
        )

    def get_node_by_uuid(self, uuid: str) -> TraceNode:
        """The task with this id.

        Raises:
            UnknownTask: There is none. A `LookupError`.
        """
        waiting = self._debugger._waiting_by_uuid(uuid)
        if waiting is None:
            raise UnknownTask(f"No task has the id {uuid!r}", fix="use get_leaf_node_uuid_by_node_name(node_name)")
        return TraceNode(uuid, self.as_task(waiting))

    def as_task(self, waiting: Waiting) -> RunTimeTask:
        """A waiting task as the documented class."""
        schema = self._debugger._plan.schema
        inputs, parents, group = self._inputs(waiting)
        ckpts = [StateCkpt._of(record, schema) for record in inputs]
        names = [parent.node.name for parent in parents if parent.node.spec is not None]
        several = waiting.key is not None
        made = RunTimeTask.model_construct(
            node_name=waiting.node.name,
            state_ckpt=ckpts if several else ckpts[0],
            edge_group=group,
            predecessor=names if several else names[0] if names else None,
            state_filter=None,
            trace_route=[*parents[0].route(), parents[0].node.name] if names else [],
        )
        made._waiting = waiting.number
        return made

    def _inputs(self, waiting: Waiting) -> tuple[list[Record], list[Task], str]:
        if waiting.task is not None:
            return list(waiting.task.inputs), list(waiting.task.parents), waiting.task.group
        if waiting.hop is not None and waiting.source is not None:
            return [waiting.hop.record], [waiting.source], waiting.hop.edge.group
        assert waiting.key is not None
        arrivals = []
        arrival = self._debugger._point.slots[waiting.key].last
        while arrival is not None:
            arrivals.append(arrival)
            arrival = arrival.before
        arrivals.reverse()
        return [each.hop.record for each in arrivals], [each.task for each in arrivals], waiting.key[1]
