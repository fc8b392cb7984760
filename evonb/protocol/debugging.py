"""What the debugger's panel shows and asks: declared beside `messages.py`, under the same rules.

The panel's state travels whole: as the trait `debug`, and as a message at each pause and at most five times a second
while something runs. It is bounded, so a whole is small; what isn't in it is asked for. The picture itself goes on
living off `snapshot` and events.
"""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from evonb.protocol.messages import Preview, Snapshot

STEPS_SHOWN = 500
"""A panel's state holds this many steps, the newest; earlier ones are asked for."""
LOG_SHOWN = 200

SessionStatus = Literal["idle", "running", "pausing", "paused", "failed", "finished"]
StepStatus = Literal["done", "failed", "edited", "pinned", "skipped"]
CommandName = Literal[
    "run", "resume", "pause", "step_wave", "step_one", "step_back", "step_forward", "goto", "live",
    "run_to", "stop", "edit", "why", "breakpoint", "retry", "skip", "pin", "fork", "compare", "answer",
]  # fmt: skip


class WireStep(TypedDict):
    """One finished task.

    `number` orders a branch; `lane` puts parallel ones under each other; `wave` groups them.

    `tools` names the tools that it called, as their calls ended, the first 20; `tokens` is what its models took in and
    gave out, None if none was asked or its server doesn't say.
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


class WireBranch(TypedDict):
    """`from_step` is the step of its parent that it leaves after; None for the main line."""

    id: int
    name: str
    parent: int | None
    from_step: int | None
    steps: int
    note: str


class WireWaiting(TypedDict):
    """`can_run`: nothing is missing; `held`: a breakpoint stops it; `reads`: keys that came with it."""

    task: str
    node: str
    visit: int
    can_run: bool
    held: bool
    arrived: list[str]
    missing: list[str]
    reads: list[str]


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
        step: Number of the newest step of the current branch.
        branch: The current branch.
        steps: At most `STEPS_SHOWN`: the newest, or those around the step that is looked at.
        steps_before: How many steps were left out before `steps`.
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
    step: int
    branch: int
    steps: list[WireStep]
    steps_before: int
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


# -- browser to kernel; each gets one reply of `messages.py` -----------------------------------------------------


class SessionCommand(TypedDict):
    """Commands without arguments."""

    type: Literal["resume", "pause", "step_wave", "live", "stop", "retry"]
    request_id: str


class RunCommand(TypedDict):
    """`inputs` are JSON values from the form."""

    type: Literal["run"]
    request_id: str
    inputs: dict[str, object]


class StepOneCommand(TypedDict):
    """`task` None takes the first that waits."""

    type: Literal["step_one"]
    request_id: str
    task: str | None


class MoveCommand(TypedDict):
    """Look elsewhere in the record; nothing runs. `step_back` and `step_forward` by `count`, `goto` a step number."""

    type: Literal["step_back", "step_forward", "goto"]
    request_id: str
    count: int
    branch: int | None


class RunToCommand(TypedDict):
    type: Literal["run_to"]
    request_id: str
    node: str


class SetBreakpointCommand(TypedDict):
    """Add one (`id` None) or replace it. Conditions from the browser go through the restricted evaluator."""

    type: Literal["set_breakpoint"]
    request_id: str
    id: str | None
    kind: Literal["node", "edge", "predicate", "exception", "tool"]
    node: str | None
    edge: str | None
    when: Literal["before", "after"]
    condition: str
    hit: int | None
    log: str
    enabled: bool


class RemoveBreakpointCommand(TypedDict):
    type: Literal["remove_breakpoint"]
    request_id: str
    id: str


class EditCommand(TypedDict):
    """Set a state key from text (a Python or JSON literal). `check` only validates: the reply says what is expected."""

    type: Literal["edit"]
    request_id: str
    key: str
    text: str
    task: str | None
    check: bool


class SkipCommand(TypedDict):
    """Don't run the task; take `delta` (literals by key) as if it had answered so. `pin` keeps it for later visits."""

    type: Literal["skip", "pin"]
    request_id: str
    task: str
    delta: dict[str, str]


class InspectKeyCommand(TypedDict):
    """Open a value: `path` leads into it (keys and indices); the reply holds its children."""

    type: Literal["inspect_key"]
    request_id: str
    key: str
    path: list[str | int]


class WhyCommand(TypedDict):
    type: Literal["why"]
    request_id: str
    node: str


class WatchCommand(TypedDict):
    type: Literal["watch", "unwatch"]
    request_id: str
    text: str


class AnswerCommand(TypedDict):
    """Answer a question with a JSON value. One that doesn't fit is refused with the reason; the question stays open."""

    type: Literal["answer"]
    request_id: str
    question: str
    value: object


class NameBranchCommand(TypedDict):
    type: Literal["name_branch"]
    request_id: str
    branch: int
    name: str


class CompareCommand(TypedDict):
    type: Literal["compare"]
    request_id: str
    a: int
    b: int


DebugCommand = (
    SessionCommand
    | RunCommand
    | StepOneCommand
    | MoveCommand
    | RunToCommand
    | SetBreakpointCommand
    | RemoveBreakpointCommand
    | EditCommand
    | SkipCommand
    | InspectKeyCommand
    | WhyCommand
    | WatchCommand
    | AnswerCommand
    | NameBranchCommand
    | CompareCommand
)


# -- results of commands -----------------------------------------------------------------------------------------


class ValueChild(TypedDict):
    """One child of an opened value; `path` opens it in turn when `opens`."""

    label: str
    path: list[str | int]
    value: Preview
    opens: bool


class ValueBefore(TypedDict):
    """The same value before the shown step, under the same bounds."""

    text: str
    children: list[ValueChild]


class InspectKeyResult(TypedDict):
    """`text` is the whole value as text, at most 20,000 characters; `children` at most 200, `more` are left out.

    `before` is given when the shown step changed the value, so that the panel can show what changed inside it.
    """

    text: str
    children: list[ValueChild]
    more: int
    before: NotRequired[ValueBefore | None]


class EditResult(TypedDict):
    """`expects` in words: "int, 0 or more"; `branch` is the branch that applying makes, "" if none."""

    expects: str
    branch: str


class WhyResult(TypedDict):
    """An answer in sentences, oldest fact first."""

    kind: str
    title: str
    sentences: list[str]


class CompareRow(TypedDict):
    """Aligned steps of two branches; None where one has no counterpart. `differs` names the keys that differ then."""

    a: WireStep | None
    b: WireStep | None
    differs: list[str]


class CompareResult(TypedDict):
    rows: list[CompareRow]
    state: dict[str, list[Preview]]
