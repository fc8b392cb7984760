"""The declaration of all wire data: the snapshot, the events, the commands and the replies.

Wire values are plain JSON: text previews are bounded, whole values travel only when asked for. A snapshot
travels as a widget trait, a change as a custom message; both carry `seq`, so a view can tell that it missed
something and ask for `resync`. `python -m evonb.protocol.typescript` writes the TypeScript twin of this file.

`seq` here counts what one *view source* has published (across runs), unlike `Event.seq`, which counts in one run.
"""

from __future__ import annotations

from typing import Literal, TypedDict

PROTOCOL_VERSION = 1
PREVIEW_CHARS = 80
"""A value in one line; the whole is shown on request."""
STREAM_TAIL_CHARS = 400
"""How much of a node's streamed text a snapshot keeps; the end matters."""
TOOLS_KEPT = 20
WARNINGS_KEPT = 5

NodeStatus = Literal["idle", "queued", "waiting", "running", "done", "failed", "skipped", "paused"]
RunStatus = Literal["idle", "running", "paused", "finished", "failed"]


# -- what a graph is --------------------------------------------------------------------------------------------


class WireFinding(TypedDict):
    code: str
    level: Literal["error", "warning", "note"]
    nodes: list[str]
    what: str
    where: str
    fix: str


class WireNode(TypedDict):
    """`NodeInfo` without the source, which is sent on request."""

    id: str
    name: str
    kind: Literal["start", "end", "node", "subgraph"]
    join: Literal["any", "all"]
    parent: str | None
    doc: str
    location: str


class WireEdge(TypedDict):
    id: str
    source: str
    target: str
    kind: Literal["plain", "conditional"]
    group: str
    label: str


class WireGraph(TypedDict):
    name: str
    nodes: list[WireNode]
    edges: list[WireEdge]
    findings: list[WireFinding]


# -- where it is drawn ------------------------------------------------------------------------------------------


class WireBox(TypedDict):
    """Pixels at 100 %; x and y are the top left corner."""

    x: float
    y: float
    w: float
    h: float


class WireRoute(TypedDict):
    """Orthogonal corner points from the source's border to the target's, and where the label stands."""

    points: list[list[float]]
    label: WireBox | None


class WireLayout(TypedDict):
    width: float
    height: float
    boxes: dict[str, WireBox]
    routes: dict[str, WireRoute]


# -- how a run stands -------------------------------------------------------------------------------------------


class Preview(TypedDict):
    """A value as one line of text.

    `text` has at most PREVIEW_CHARS characters; `cut` says that there is more; `kind` is the Python type's name.
    """

    kind: str
    text: str
    cut: bool


class WireError(TypedDict):
    kind: str
    what: str
    where: str
    fix: str
    source: list[SourceLine]
    traceback: str


class SourceLine(TypedDict):
    number: int
    text: str
    hit: bool


class WireToolCall(TypedDict):
    """One call of a tool: `asked` by a model, `running`, or over.

    `started_s` is when it began on the run's clock, while it runs; `duration_s` how long it took, once it is over.
    """

    id: str
    tool: str
    status: Literal["asked", "running", "done", "failed"]
    started_s: float | None
    duration_s: float | None


class NodeState(TypedDict):
    """One node in the current run.

    `running` and `queued` count executions under way and ready; `status` is derived from them: running (waiting while
    it asks a person), else queued, else waiting, else how the last one ended. `started_s` is the newest start on
    the run's clock, `total_s` the time of all finished visits. `stream` holds the end of the text that the current
    visit has streamed. A node is "skipped" if it did not complete in this run; `note` says why: "not chosen", "not
    reached", "stopped after 0.5 s".

    `tools` are the newest TOOLS_KEPT calls of the current visit. Tokens (as the model's server counts them) and
    `model_s`, the seconds spent waiting for models, add up over the run, as do `warnings`, at most WARNINGS_KEPT.
    `question` is what the node asks a person and waits for, "" if nothing.
    """

    status: NodeStatus
    visits: int
    queued: int
    running: int
    started_s: float | None
    last_s: float | None
    total_s: float
    arrived: list[str]
    missing: list[str]
    note: str
    chunks: int
    stream: str
    wrote: list[str]
    tools: list[WireToolCall]
    tokens_in: int
    tokens_out: int
    model_s: float
    question: str
    warnings: list[str]


class EdgeState(TypedDict):
    """`taken` counts crossings; `passed_over` counts decisions of its router that chose other targets.

    `unused`: the run has ended and never took this edge.
    """

    taken: int
    passed_over: int
    unused: bool


class RunState(TypedDict):
    run_id: str | None
    status: RunStatus
    started_at: float | None
    elapsed_s: float
    turns: int
    reason: str
    message: str
    failed_node: str | None
    error: WireError | None
    result: dict[str, Preview] | None


class Snapshot(TypedDict):
    """All that a view needs to draw: the graph, its layout, and the run as of `seq`."""

    protocol: int
    seq: int
    graph: WireGraph
    layout: WireLayout
    run: RunState
    nodes: dict[str, NodeState]
    edges: dict[str, EdgeState]


# -- what happens -----------------------------------------------------------------------------------------------
# One wire event for each event of `evonb.graph.events` that a picture shows. `node` is a node id (with its path).


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


# -- kernel to browser ------------------------------------------------------------------------------------------


class EventsMessage(TypedDict):
    """A batch. Apply it when `first_seq` is the snapshot's `seq` + 1; its new `seq` is `last_seq`.

    Older batches (`last_seq` not above the snapshot's `seq`) are ignored; a gap asks for `resync`.
    `last_seq - first_seq + 1` counts the source events before merging, so it may exceed `len(events)`.
    """

    type: Literal["events"]
    first_seq: int
    last_seq: int
    events: list[WireEvent]


class SnapshotMessage(TypedDict):
    """A new whole: sent when the graph itself was replaced."""

    type: Literal["snapshot"]
    snapshot: Snapshot


class ReplyError(TypedDict):
    what: str
    where: str
    fix: str


class ToolCallDetails(TypedDict):
    """What a call of a tool, found by its `id` in `NodeState.tools`, was given and gave, in a line each."""

    id: str
    arguments: str
    result: str


class NodeDetails(TypedDict):
    """Answer to `inspect_node`: what its last visit was given, wrote, streamed and called.

    Texts have at most 20,000 characters; `last_input` and `last_delta` have one for each state key. `stream` keeps what
    it streamed also after its end, but for what its model thought before it answered: that is `reasoning`.
    """

    node: str
    doc: str
    source: str
    location: str
    last_input: dict[str, str] | None
    last_delta: dict[str, str] | None
    stream: str
    reasoning: str
    calls: list[ToolCallDetails]


class OkReply(TypedDict):
    type: Literal["reply"]
    request_id: str
    ok: Literal[True]
    result: Snapshot | NodeDetails | None


class ErrorReply(TypedDict):
    type: Literal["reply"]
    request_id: str
    ok: Literal[False]
    error: ReplyError


KernelMessage = EventsMessage | SnapshotMessage | OkReply | ErrorReply


# -- browser to kernel ------------------------------------------------------------------------------------------


class ResyncCommand(TypedDict):
    type: Literal["resync"]
    request_id: str


class InspectNodeCommand(TypedDict):
    type: Literal["inspect_node"]
    request_id: str
    node: str


Command = ResyncCommand | InspectNodeCommand
