"""What people see of a session's past: its steps and branches, as plain values."""

from __future__ import annotations

from dataclasses import dataclass

from evonb.graph.events import ErrorInfo

__all__ = ["RAN", "Branch", "Call", "Step", "Usage"]

RAN = frozenset({"done", "replayed", "pinned", "skipped"})
"""Statuses of steps that gave the run a delta."""


@dataclass(frozen=True, slots=True)
class Call:
    """A tool call of a step.

    Attributes:
        tool: The tool's name.
        call_id: The model's id of the call, None if no model asked for it.
        failed: Whether it gave no result.
        duration_s: How long it took, None if it didn't tell.
    """

    tool: str
    call_id: str | None = None
    failed: bool = False
    duration_s: float | None = None


@dataclass(frozen=True, slots=True)
class Usage:
    """What the models of a step took: tokens as their servers count them, and the seconds spent waiting for them."""

    tokens_in: int = 0
    tokens_out: int = 0
    seconds: float = 0.0


@dataclass(frozen=True, slots=True)
class Step:
    """One step of a session, as people see it.

    Attributes:
        number: 1, 2, ... in the order in which steps were made; unique among all branches. Inside of a sub-graph's node
            that of the step of the line that had been made last.
        uuid: The id of the task.
        node: Its node; inside of a sub-graph its id in the picture ("sub › inner").
        visit: The how-manieth execution of that node on this line; 0 for the end.
        branch: The id of the branch that it was made on.
        status: "done", "failed", "edited", "skipped" (a delta was given by hand), "pinned", "replayed" (its recorded
            output was used again), "limit" (the turn limit kept it from running), "stopped"; "entered" for the
            beginning of a sub-graph's run.
        at_s: When it began, in seconds since the session did.
        duration_s: How long it took.
        wrote: The state keys that it changed.
        wave: One more than the wave of the latest step it follows from: steps of one wave could run side by side.
        error: What went wrong, for a failed step.
        tools: Names of the tools that it called, as far as they told.
        edges: The ids in the picture of the edges that were taken after it.
        effect: Whether its node is marked as doing something outside of the state.
        calls: The same tool calls with what is known of each, in the order in which they ended.
        usage: What its models took; None if none told.
        inner: 0 for a step of the line. Inside of a sub-graph's node 1, 2, ... in the order in which such steps were
            made; unique among all branches.
        owner: The id of the session's task that it was made inside of, "" for a step of the line.
    """

    number: int
    uuid: str
    node: str
    visit: int
    branch: int
    status: str
    at_s: float
    duration_s: float
    wrote: tuple[str, ...]
    wave: int
    error: ErrorInfo | None = None
    tools: tuple[str, ...] = ()
    edges: tuple[str, ...] = ()
    effect: bool = False
    calls: tuple[Call, ...] = ()
    usage: Usage | None = None
    inner: int = 0
    owner: str = ""


@dataclass(frozen=True, slots=True)
class Branch:
    """One line of a session's history.

    Attributes:
        id: 0 for the line that the session began with.
        name: "main", "b2", "b3", ..., or what it was called.
        from_step: The step it was forked at; 0 is the start.
        last_step: Its newest step.
        steps: How many steps are its own.
        present: Whether the session is on it.
        last_inner: Its newest step inside of a sub-graph after `last_step` (`Step.inner`), 0 if there is none.
    """

    id: int
    name: str
    from_step: int
    last_step: int
    steps: int
    present: bool
    last_inner: int = 0
