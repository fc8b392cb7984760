"""What the debugger's panel shows, under the rules of `snapshot`. What it asks is in `debug_commands`.

The panel's state travels whole: as the trait `debug`, and as a message at each pause and at most five times a second
while something runs. It is bounded, so a whole is small; what isn't in it is asked for. The picture itself goes on
living off `snapshot` and events.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from evonb.protocol.snapshot import Preview, Snapshot

STEPS_SHOWN = 500
"""A panel's state holds this many steps, the newest; earlier ones are asked for."""
INSIDE_SHOWN = 50
"""Of each sub-graph's run the newest so many steps, in all five times as many, those nearest to the shown step."""
LOG_SHOWN = 200

SessionStatus = Literal["idle", "running", "pausing", "paused", "failed", "finished"]
StepStatus = Literal["done", "failed", "edited", "pinned", "skipped"]
CommandName = Literal[
    "run", "resume", "pause", "step_wave", "step_one", "step_into", "step_out", "step_back", "step_forward", "goto",
    "live", "run_to", "stop", "edit", "why", "breakpoint", "retry", "skip", "pin", "fork", "compare", "answer",
]  # fmt: skip


class WireStep(TypedDict):
    """One finished task.

    `number` orders a branch; `lane` puts parallel ones under each other; `wave` groups them.

    `tools` names the tools that it called, as their calls ended, the first 20; `tokens` is what its models took in and
    gave out, None if none was asked or its server doesn't say. `inside` counts the steps inside of it.
    """

    number: int
    task: str
    node: str
    visit: int
    branch: int
    wave: int
    lane: int
    status: StepStatus
    at_s: float
    duration_s: float
    wrote: list[str]
    effect: bool
    tools: list[str]
    tokens: int | None
    inside: int


class WireInner(WireStep):
    """One finished task inside of a sub-graph. Its `number` is that of the step that had been made last.

    `inner` orders such steps; `owner` is the step of the line that it is inside of, 0 for what hasn't finished on the
    current branch; `wave` is its own there.
    """

    inner: int
    owner: int


class WireInside(TypedDict):
    """Where inside of a sub-graph the shown point is: "inside research, step 2 of 4", and the node that made it.

    `number` and `owner` are those of the step inside.
    """

    number: int
    owner: int
    node: str
    text: str


class WireBranch(TypedDict):
    """`from_step` is the step of its parent that it leaves after; None for the main line."""

    id: int
    name: str
    parent: int | None
    from_step: int | None
    steps: int
    note: str


class WireWaiting(TypedDict):
    """`can_run`: nothing is missing; `held`: a breakpoint stops it; `reads`: keys that came with it.

    `begun` is a sub-graph that stands inside, to be stepped out of; `enters` is one that can be stepped into.
    """

    task: str
    node: str
    visit: int
    can_run: bool
    held: bool
    arrived: list[str]
    missing: list[str]
    reads: list[str]
    begun: bool
    enters: bool


class WireBreakpoint(TypedDict):
    """`kind` says what it hangs on; `text` says it in words: "run_tests before, if state["score"] < 0.7"."""

    id: str
    kind: Literal["node", "edge", "predicate", "exception", "tool"]
    node: str | None
    edge: str | None
    when: Literal["before", "after"]
    condition: str
    hit: int | None
    log: str
    enabled: bool
    hits: int
    text: str


class WireKey(TypedDict):
    """One state key at the shown point. `change`: what the shown step did to it; `before` is its preview then."""

    key: str
    strategy: str
    type: str
    value: Preview
    size: str
    opens: bool
    change: Literal["", "added", "changed", "removed"]
    before: Preview | None
    edited: bool


class WireMessage(TypedDict):
    """One chat message of the state; `new` when the shown step added it."""

    role: str
    node: str
    step: int | None
    text: str
    calls: list[str]
    new: bool


class WireLog(TypedDict):
    step: int | None
    node: str
    level: Literal["out", "warning", "error", "log"]
    text: str


class WireWatch(TypedDict):
    """A watch expression and its value at the shown point, or the error in it."""

    text: str
    value: Preview | None
    error: str


class WireQuestion(TypedDict):
    """What a node asks a person and waits for. `schema` is the JSON schema of the answer; `default` fits it."""

    id: str
    node: str
    text: str
    schema: dict[str, object]
    default: NotRequired[object]


class DebugState(TypedDict):
    """All that the panel needs.

    Attributes:
        seq: Grows with each state that is published; older ones are ignored.
        looking: Number of the step that is looked at, None when live. Past and live differ only by this.
        inside: Where inside of a sub-graph the shown point is, also when live; None for a point of the line.
        step: Number of the newest step of the current branch.
        branch: The current branch.
        steps: At most `STEPS_SHOWN`: the newest, or those around the step that is looked at.
        steps_before: How many steps were left out before `steps`.
        inner: Steps inside of sub-graphs, of the newest and the shown ones; bounded by `INSIDE_SHOWN`.
        next_branch: Name that a fork would get from here, "" when going on makes no branch.
        would_run: Nodes that would run next from the shown point.
        stopped_at: Ids of nodes that the session stopped before (breakpoint, step), for the gate marks.
        allowed: For each command "" or the reason why it isn't allowed now.
        state: The state at the shown point.
        messages: Its chat messages, the newest 100; None when it has no key of messages.
        input_schema: JSON schema of the inputs, for the form.
        questions: What nodes of the live run ask and wait for, oldest first.
    """

    seq: int
    status: SessionStatus
    reason: str
    looking: int | None
    inside: WireInside | None
    step: int
    branch: int
    steps: list[WireStep]
    steps_before: int
    inner: list[WireInner]
    branches: list[WireBranch]
    next_branch: str
    would_run: list[str]
    stopped_at: list[str]
    waiting: list[WireWaiting]
    breakpoints: list[WireBreakpoint]
    allowed: dict[CommandName, str]
    state: list[WireKey]
    messages: list[WireMessage] | None
    log: list[WireLog]
    watches: list[WireWatch]
    input_schema: dict[str, object]
    questions: list[WireQuestion]


class DebugMessage(TypedDict):
    """Kernel to browser. `picture` is the snapshot of the shown point when that is a past one; None: show the live."""

    type: Literal["debug"]
    state: DebugState
    picture: Snapshot | None
