"""The picture of a session at one of its steps, folded from the recorded steps: no node is called, no event needed.

So a past step, a branch that left an earlier step and a session out of a file are drawn by the rules of a live run.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, Protocol, cast

from evonb.graph.debugging.steps import Call, Usage
from evonb.graph.events import ErrorInfo
from evonb.graph.topology import PATH_SEPARATOR, EdgeInfo, Topology
from evonb.protocol.blank import empty_snapshot
from evonb.protocol.encode import to_wire_error
from evonb.protocol.events import WireEvent
from evonb.protocol.reduce import reduce, reduce_all
from evonb.protocol.snapshot import RunState, Snapshot, WireToolCall
from evonb.widgets.debug_inside import BEGINS

__all__ = ["PastStep", "PastWaiting", "Pictures", "picture_of", "warned_as"]

KEPT_EVERY = 200
"""Steps from one kept picture to the next: a few milliseconds of folding."""
MOST_KEPT = 100
Outs = dict[str, list[EdgeInfo]]
Kinds = Mapping[str, str]

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
    @property
    def inner(self) -> int: ...


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
    @property
    def is_next(self) -> bool: ...
    @property
    def visit(self) -> int: ...


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
    return Pictures().of(live, topology, steps, waiting, finished=finished)


class Pictures:
    """Makes pictures of one session; keeps some on the way, so that the next isn't folded from the first step on."""

    def __init__(self) -> None:
        self._of: tuple[object, ...] = ()
        self._kept: dict[int, tuple[PastStep, Snapshot]] = {}  # by how many steps it is after, with the last of them

    def of(
        self,
        live: Snapshot,
        topology: Topology,
        steps: Sequence[PastStep],
        waiting: Iterable[PastWaiting],
        *,
        finished: bool = False,
    ) -> Snapshot:
        """As `picture_of`. A step that is the same object as before is taken to follow from the same steps."""
        left = list(waiting)
        outs = _outs(topology)
        kinds = {node.id: node.kind for node in topology.nodes}
        snapshot = self._after(live, steps, left, outs, kinds)
        at_s = _end(steps[-1]) if steps else 0.0
        snapshot = reduce_all(snapshot, (*_waits(left, at_s, kinds), *_begun_around(snapshot, left, at_s)))
        return _ended({**snapshot, "seq": live["seq"]}, live["run"], steps[-1] if steps else None, left, finished)

    def _after(
        self, live: Snapshot, steps: Sequence[PastStep], waiting: list[PastWaiting], outs: Outs, kinds: Kinds
    ) -> Snapshot:
        outer = (step for step in steps if step.wave == 1 and not step.inner)
        first = {step.node for step in outer} or {each.node_name for each in waiting}
        run = live["run"]
        made_of = (id(live["graph"]), id(live["layout"]), run["run_id"], run["started_at"], first)
        if made_of != self._of:
            self._of, self._kept = made_of, {}
        every = KEPT_EVERY
        while len(steps) > every * MOST_KEPT:
            every *= 2  # so a record of any length keeps few, and those of a shorter one still serve
        at = len(steps) - len(steps) % every
        while at and (at not in self._kept or self._kept[at][0] is not steps[at - 1]):
            at -= every
        snapshot = self._kept[at][1] if at else _begun(live, first, outs, kinds)
        while at < len(steps):
            part = steps[at : at + every]
            snapshot = reduce_all(snapshot, (each for step in part for each in _step(step, kinds, outs)))
            at += len(part)
            if at % every == 0:
                self._kept[at] = (steps[at - 1], snapshot)
        return snapshot


def _ended(
    snapshot: Snapshot, run: RunState, last: PastStep | None, left: list[PastWaiting], finished: bool
) -> Snapshot:
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


def _outs(topology: Topology) -> Outs:
    outs: dict[str, list[EdgeInfo]] = {}
    for edge in topology.edges:
        outs.setdefault(edge.source, []).append(edge)
    return outs


def _begun(live: Snapshot, first: set[str], outs: Outs, kinds: Kinds) -> Snapshot:
    """Before the first step: the start's edges were taken."""
    run = live["run"]
    events: list[WireEvent] = [
        {"type": "run_started", "at_s": 0.0, "run_id": run["run_id"] or "", "started_at": run["started_at"] or 0.0}
    ]
    parents = {node["id"]: node["parent"] for node in live["graph"]["nodes"]}
    for start in (name for name, kind in kinds.items() if kind == "start" and parents.get(name) is None):
        entered = [edge for edge in outs.get(start, ()) if edge.kind == "plain" or edge.target in first]
        events += _went(start, 0.0, [edge.id for edge in entered], [], outs)
    return reduce_all(empty_snapshot(live["graph"], live["layout"], live["seq"]), events)


def _waits(waiting: list[PastWaiting], at_s: float, kinds: Kinds) -> Iterable[WireEvent]:
    for each in waiting:
        if each.failed:
            continue  # it waits to be tried again; that it failed says more
        if each.is_next and kinds.get(each.node_name) != "end":
            yield {"type": "node_queued", "at_s": at_s, "node": each.node_name}
        elif not each.can_run:
            arrived, missing = list(each.arrived), list(each.missing)
            yield {"type": "node_waiting", "at_s": at_s, "node": each.node_name, "arrived": arrived, "missing": missing}


def _begun_around(snapshot: Snapshot, waiting: list[PastWaiting], at_s: float) -> Iterable[WireEvent]:
    """The sub-graphs that were begun, in which something waits: these run, whoever is in them."""
    begun: dict[str, int] = {}
    for each in waiting:
        if each.can_run and not each.is_next:
            begun[each.node_name] = each.visit
        around = each.node_name.split(PATH_SEPARATOR)[:-1]
        for depth in range(2, len(around) + 1):
            name = PATH_SEPARATOR.join(around[:depth])
            begun.setdefault(name, snapshot["nodes"][name]["visits"] + 1 if name in snapshot["nodes"] else 1)
    for node, visit in begun.items():
        yield {"type": "node_started", "at_s": at_s, "node": node, "visit": visit}


def _step(step: PastStep, kinds: Kinds, outs: Outs) -> Iterable[WireEvent]:
    if step.status == "limit":
        reason = "the limit of node calls was met"
        yield {"type": "node_skipped", "at_s": step.at_s, "node": step.node, "reason": reason, "was_running": False}
    if step.status == BEGINS:
        for taken in step.edges:
            yield {"type": "edge_taken", "at_s": step.at_s, "edge": taken, "keys": [], "count": 1}
    if kinds.get(step.node) == "end" or step.status not in (*ANSWERED, "failed"):
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


def _went(node: str, at_s: float, edges: Sequence[str], keys: list[str], outs: Outs) -> Iterable[WireEvent]:
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
