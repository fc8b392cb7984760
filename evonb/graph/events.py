"""The facts that a run emits, in order. Never changed once made; every reader lives off this stream.

The live picture, the timeline, the store, the progress bar and the replay read these; none of them
reaches into the engine. Values in events are the engine's own: readers must not change them.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any, Literal, NewType

__all__ = [
    "BreakpointHit",
    "Chunk",
    "Detach",
    "EdgeTaken",
    "ErrorInfo",
    "Event",
    "FinishReason",
    "ForkMade",
    "JoinImpossible",
    "JoinSatisfied",
    "Listener",
    "NodeFailed",
    "NodeFinished",
    "NodeNoted",
    "NodeQueued",
    "NodeSkipped",
    "NodeStarted",
    "NodeWaiting",
    "RouteDecided",
    "RunFailed",
    "RunFinished",
    "RunId",
    "RunPaused",
    "RunStarted",
    "StateEdited",
    "TaskId",
]

RunId = NewType("RunId", str)
TaskId = NewType("TaskId", str)

FinishReason = Literal["completed", "max_turn", "starved", "stopped"]
"""Why a run ended: every branch done, the turn limit, nothing reached END, or stopped by the user."""


@dataclass(frozen=True, slots=True)
class ErrorInfo:
    """An error as data, made by `evonb.graph.failure.describe`.

    Attributes:
        kind: Class name of the user's exception, "KeyError".
        what: One sentence.
        where: "cell [3], line 24, in node run_tests of graph support, 1st visit".
        fix: Something to do.
        source: Lines around the user's faulty line, as (line number, text, is_the_line).
        traceback: The whole traceback as text, user's frames first named.
    """

    kind: str
    what: str
    where: str
    fix: str
    source: tuple[tuple[int, str, bool], ...] = ()
    traceback: str = ""


@dataclass(frozen=True, slots=True, kw_only=True)
class Event:
    """What all events share.

    Attributes:
        run_id: The run it belongs to; sub-graphs share the run of their caller.
        seq: 0, 1, 2, ... without gaps within a run.
        at_s: Seconds since the run began.
        path: Names of the sub-graph nodes around it, outermost first; () at top level.
    """

    run_id: RunId
    seq: int
    at_s: float
    path: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True, kw_only=True)
class RunStarted(Event):
    graph_name: str
    inputs: Mapping[str, Any]
    started_at: float
    """Wall clock, seconds since the epoch."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunPaused(Event):
    reason: str
    waiting: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFinished(Event):
    reason: FinishReason
    state: Any
    """The final state, or None when nothing reached END."""
    message: str = ""
    """For every reason but "completed": who waits for whom, or which limit was met."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RunFailed(Event):
    error: ErrorInfo
    node: str | None = None


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeQueued(Event):
    node: str
    task_id: TaskId
    visit: int


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeWaiting(Event):
    """An `all` node got one of its inputs and needs more."""

    node: str
    group: str
    arrived: tuple[str, ...]
    missing: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeStarted(Event):
    node: str
    task_id: TaskId
    visit: int
    inputs: Any = None
    """The state that the node is handed."""


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFinished(Event):
    node: str
    task_id: TaskId
    visit: int
    duration_s: float
    delta: Mapping[str, Any]


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeFailed(Event):
    node: str
    task_id: TaskId
    visit: int
    duration_s: float
    error: ErrorInfo


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeSkipped(Event):
    """A task that was ready or running didn't finish: cancelled with the run, or beyond the turn limit."""

    node: str
    task_id: TaskId
    reason: str


@dataclass(frozen=True, slots=True, kw_only=True)
class NodeNoted(Event):
    """A running node was warned of, and went on: it wrote a key that the state hasn't, say.

    Told in every visit in which it happens, between the node's start and its end; the `GraphWarning` itself is given
    once per run.
    """

    node: str
    text: str
    """The warning."""


@dataclass(frozen=True, slots=True, kw_only=True)
class EdgeTaken(Event):
    edge_id: str
    """`EdgeInfo.id` of the topology."""
    source: str
    target: str
    keys: tuple[str, ...]
    """State keys that the source's delta changed: what moved along."""


@dataclass(frozen=True, slots=True, kw_only=True)
class RouteDecided(Event):
    source: str
    chosen: tuple[str, ...]
    declared: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinSatisfied(Event):
    node: str
    group: str
    arrived: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class JoinImpossible(Event):
    """The run is over and this `all` node never got all its inputs."""

    node: str
    group: str
    arrived: tuple[str, ...]
    missing: tuple[str, ...]
    why: str


@dataclass(frozen=True, slots=True, kw_only=True)
class Chunk(Event):
    """One payload that user code put into a stream writer."""

    node: str | None
    call_id: str | None
    tool_name: str | None
    tool_call_id: str | None
    payload: Any


@dataclass(frozen=True, slots=True, kw_only=True)
class StateEdited(Event):
    node: str | None
    keys: tuple[str, ...]


@dataclass(frozen=True, slots=True, kw_only=True)
class BreakpointHit(Event):
    node: str
    breakpoint_id: str


@dataclass(frozen=True, slots=True, kw_only=True)
class ForkMade(Event):
    fork: str
    from_task_id: TaskId


Listener = Callable[[Event], None]
"""Called on the engine's loop or in a worker thread of a node, in `seq` order, one call at a time."""
Detach = Callable[[], None]
