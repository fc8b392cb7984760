"""A source of events that a test drives, and a clock that it moves."""

from __future__ import annotations

from itertools import pairwise
from typing import Any

from evonb.graph import events as ev
from evonb.graph.topology import EdgeInfo, NodeInfo, Topology


def chain(name: str, *names: str) -> Topology:
    """start > names... > end."""
    nodes = (
        NodeInfo("start", "start", "start"),
        *(NodeInfo(node, node, doc=f"Does {node}.", source=f"def {node}(): ...") for node in names),
        NodeInfo("end", "end", "end"),
    )
    ids = [node.id for node in nodes]
    edges = tuple(EdgeInfo(f"{a}>{b}", a, b) for a, b in pairwise(ids))
    return Topology(name, nodes, edges)


class FakeClock:
    def __init__(self) -> None:
        self.now = 100.0

    def __call__(self) -> float:
        return self.now


class FakeEngine:
    """Has what a feed needs of an engine; `emit` tells an event to whoever is attached."""

    def __init__(self, topology: Topology | None = None) -> None:
        self._topology = topology or chain("support", "a", "b")
        self.listeners: list[ev.Listener] = []
        self.seq = 0
        self.run_id = ev.RunId("r1")

    def topology(self) -> Topology:
        return self._topology

    def attach(self, listener: ev.Listener, *, live: bool = False) -> ev.Detach:
        self.listeners.append(listener)
        return lambda: self.listeners.remove(listener)

    def emit(self, kind: type[ev.Event], run: str | None = None, **fields: Any) -> None:
        event = kind(run_id=ev.RunId(run or self.run_id), seq=self.seq, at_s=self.seq / 10, **fields)
        self.seq += 1
        for listener in list(self.listeners):
            listener(event)

    def begin(self, run: str = "r1") -> None:
        self.run_id, self.seq = ev.RunId(run), 0
        self.emit(ev.RunStarted, graph_name="support", inputs={}, started_at=1.0)

    def visit(self, node: str, delta: dict[str, Any] | None = None, inputs: Any = None) -> None:
        task = ev.TaskId(f"{node}-{self.seq}")
        self.emit(ev.NodeStarted, node=node, task_id=task, visit=1, inputs=inputs)
        self.emit(ev.NodeFinished, node=node, task_id=task, visit=1, duration_s=0.1, delta=delta or {})

    def chunk(self, node: str, payload: object) -> None:
        self.emit(ev.Chunk, node=node, call_id=None, tool_name=None, tool_call_id=None, payload=payload)

    def finish(self, **state: Any) -> None:
        self.emit(ev.RunFinished, reason="completed", state=state)
