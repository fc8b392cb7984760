"""The snapshot: all that a view draws, as plain JSON. What changes it is in `events`, how it travels in `messages`.

Text previews are bounded, whole values travel only when asked for.
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
