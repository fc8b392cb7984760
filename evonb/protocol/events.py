"""Wire events: one for each event of `evonb.graph.events` that a picture shows. `reduce` says what each changes.

`node` is a node id (with its path), `at_s` the run's clock.
"""

from __future__ import annotations

from typing import Literal, TypedDict

from evonb.protocol.snapshot import Preview, WireError, WireToolCall


class RunStartedW(TypedDict):
    type: Literal["run_started"]
    at_s: float
    run_id: str
    started_at: float


class RunPausedW(TypedDict):
    type: Literal["run_paused"]
    at_s: float
    reason: str
    waiting: list[str]


class RunFinishedW(TypedDict):
    type: Literal["run_finished"]
    at_s: float
    reason: str
    message: str
    result: dict[str, Preview] | None


class RunFailedW(TypedDict):
    """`resumable`: a session stands at the failure and can go on, so what waits is not lost."""

    type: Literal["run_failed"]
    at_s: float
    node: str | None
    error: WireError
    resumable: bool


class NodeQueuedW(TypedDict):
    type: Literal["node_queued"]
    at_s: float
    node: str


class NodeWaitingW(TypedDict):
    type: Literal["node_waiting"]
    at_s: float
    node: str
    arrived: list[str]
    missing: list[str]


class NodeStartedW(TypedDict):
    type: Literal["node_started"]
    at_s: float
    node: str
    visit: int


class NodeFinishedW(TypedDict):
    type: Literal["node_finished"]
    at_s: float
    node: str
    duration_s: float
    wrote: list[str]


class NodeFailedW(TypedDict):
    type: Literal["node_failed"]
    at_s: float
    node: str
    duration_s: float
    what: str


class NodeSkippedW(TypedDict):
    type: Literal["node_skipped"]
    at_s: float
    node: str
    reason: str
    was_running: bool


class EdgeTakenW(TypedDict):
    """`count` merges several crossings of one edge within a batch."""

    type: Literal["edge_taken"]
    at_s: float
    edge: str
    keys: list[str]
    count: int


class RouteDecidedW(TypedDict):
    """`passed_over` names the edges of this decision that were not chosen."""

    type: Literal["route_decided"]
    at_s: float
    node: str
    chosen: list[str]
    passed_over: list[str]


class JoinSatisfiedW(TypedDict):
    type: Literal["join_satisfied"]
    at_s: float
    node: str
    arrived: list[str]


class JoinImpossibleW(TypedDict):
    type: Literal["join_impossible"]
    at_s: float
    node: str
    arrived: list[str]
    missing: list[str]
    why: str


class ChunkW(TypedDict):
    """Streamed text of one node; consecutive chunks of a node merge within a batch (`count` of them)."""

    type: Literal["chunk"]
    at_s: float
    node: str
    text: str
    count: int


class ToolCallW(TypedDict):
    """A call of a tool came to a new stage. `text` is streamed text of the node, as a chunk's."""

    type: Literal["tool_call"]
    at_s: float
    node: str
    call: WireToolCall
    text: str


class UsageW(TypedDict):
    """What one reply of a model took: tokens as its server counts them, and seconds."""

    type: Literal["usage"]
    at_s: float
    node: str
    tokens_in: int
    tokens_out: int
    seconds: float


class QuestionW(TypedDict):
    """A node asks a person and waits; `question` is "" once that is over. `text` is streamed text, as a chunk's."""

    type: Literal["question"]
    at_s: float
    node: str
    question: str
    text: str


class NodeNotedW(TypedDict):
    """The engine warned about a node: a wrong key in its delta, say."""

    type: Literal["node_noted"]
    at_s: float
    node: str
    text: str


WireEvent = (
    RunStartedW
    | RunPausedW
    | RunFinishedW
    | RunFailedW
    | NodeQueuedW
    | NodeWaitingW
    | NodeStartedW
    | NodeFinishedW
    | NodeFailedW
    | NodeSkippedW
    | EdgeTakenW
    | RouteDecidedW
    | JoinSatisfiedW
    | JoinImpossibleW
    | ChunkW
    | ToolCallW
    | UsageW
    | QuestionW
    | NodeNotedW
)
