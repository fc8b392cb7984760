"""What the debugger's panel asks, and the results; each command gets one reply of `messages`."""

from __future__ import annotations

from typing import Literal, NotRequired, TypedDict

from evonb.protocol.debugging import WireStep
from evonb.protocol.snapshot import Preview


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
    """`task` None takes the first that waits, to step into the first sub-graph. Out leads out of all that was begun."""

    type: Literal["step_one", "step_into", "step_out"]
    request_id: str
    task: str | None


class MoveCommand(TypedDict):
    """Look elsewhere in the record; nothing runs. `step_back` and `step_forward` by `count`, `goto` a step number.

    `inside` is the `inner` of the step inside to go to.
    """

    type: Literal["step_back", "step_forward", "goto"]
    request_id: str
    count: int
    branch: int | None
    inside: NotRequired[int]


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
