"""A session's past as a tree of moments. Going back only moves; going on from an earlier moment makes a branch."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass

from evonb.graph.debugging.points import Point, Waiting
from evonb.graph.decide import Hop
from evonb.graph.events import ErrorInfo
from evonb.graph.record import Record

__all__ = ["Branch", "Call", "Change", "Line", "Moment", "Step", "Usage"]

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
        number: 1, 2, ... in the order in which steps were made; unique among all branches.
        uuid: The id of the task.
        node: Its node.
        visit: The how-manieth execution of that node on this line; 0 for the end.
        branch: The id of the branch that it was made on.
        status: "done", "failed", "edited", "skipped" (a delta was given by hand), "pinned", "replayed" (its recorded
            output was used again), "limit" (the turn limit kept it from running), "stopped".
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
    """

    id: int
    name: str
    from_step: int
    last_step: int
    steps: int
    present: bool


@dataclass(frozen=True, slots=True)
class Change:
    """An edit by hand, so that it can be made again from the store: `source` is None for an edit of a whole state."""

    target: int
    key: str
    value: object
    source: int | None = None


@dataclass(slots=True, eq=False, kw_only=True)
class Moment:
    """A step with everything that going on from it needs.

    Attributes:
        before: The moment it was made after; None for the start.
        point: What waits after it.
        ran: What was run; for an edit its target.
        record: The state after it, or of what it concerns.
        hops: The ways on that its routers and edges chose.
        made: What came to wait by it.
        step: As people see it, once somebody has asked; a moment that has its number doesn't change.
    """

    number: int
    before: Moment | None
    point: Point
    branch: int = 0
    status: str = "done"
    ran: Waiting | None = None
    record: Record
    hops: tuple[Hop, ...] = ()
    made: tuple[Waiting, ...] = ()
    at_s: float = 0.0
    duration_s: float = 0.0
    wave: int = 0
    error: ErrorInfo | None = None
    change: Change | None = None
    tools: tuple[dict[str, object], ...] = ()
    usage: Usage | None = None
    step: Step | None = None

    @property
    def wrote(self) -> tuple[str, ...]:
        """The state keys that it changed."""
        if self.change is not None:
            return (self.change.key,)
        if self.status not in RAN or self.ran is None or self.ran.task is None:
            return ()
        return tuple(self.record.delta or ())


class Line:
    """The tree of moments, and where in it the session is.

    Attributes:
        moments: By number.
        present: Where running goes on.
        cursor: The earlier moment that is looked at, None while the present is.
        tips: The newest moment of each branch.
        forked: The number of the moment that each branch began at.
        called: Those in which tools were called.
    """

    def __init__(self, start: Moment) -> None:
        self.moments: dict[int, Moment] = {start.number: start}
        self.called: list[Moment] = []
        self.present = start
        self.cursor: Moment | None = None
        self.tips: dict[int, Moment] = {start.branch: start}
        self.forked: dict[int, int] = {0: 0}
        self.names: dict[int, str] = {}
        self.last_number = start.number
        self.last_branch = start.branch

    @property
    def here(self) -> Moment:
        """The moment that is shown."""
        return self.cursor or self.present

    def add(self, moment: Moment) -> bool:
        """Make a moment the present; it gets its number and branch.

        Returns:
            Whether this began a branch.
        """
        before = self.present
        forks = self.tips[before.branch] is not before
        if forks:
            self.last_branch += 1
            self.forked[self.last_branch] = before.number
        moment.branch = self.last_branch if forks else before.branch
        self.last_number += 1
        moment.number = self.last_number
        self.put(moment)
        self.present = moment
        return forks

    def put(self, moment: Moment) -> None:
        """Keep a moment that has its number and branch already."""
        self.moments[moment.number] = moment
        if moment.tools:
            self.called.append(moment)
        self.tips[moment.branch] = moment
        self.last_number = max(self.last_number, moment.number)
        self.last_branch = max(self.last_branch, moment.branch)
        if moment.branch not in self.forked and moment.before is not None:
            self.forked[moment.branch] = moment.before.number

    def rewind(self, moment: Moment) -> None:
        """Make an earlier moment the present. Nothing is lost: going on from it begins a branch."""
        self.present, self.cursor = moment, None

    def name(self, branch: int) -> str:
        """The name of a branch."""
        return self.names.get(branch) or ("main" if branch == 0 else f"b{branch + 1}")

    def branches(self) -> list[Branch]:
        """All branches, oldest first."""
        counts: dict[int, int] = {}
        for moment in self.moments.values():
            counts[moment.branch] = counts.get(moment.branch, 0) + (moment.number > 0)
        return [
            Branch(each, self.name(each), self.forked[each], tip.number, counts[each], each == self.present.branch)
            for each, tip in sorted(self.tips.items())
        ]


def back_from(moment: Moment | None) -> Iterator[Moment]:
    """This moment and all before it, newest first; the start included."""
    while moment is not None:
        yield moment
        moment = moment.before


def line_to(moment: Moment) -> list[Moment]:
    """All moments that led to this one, oldest first, without the start; itself included."""
    line = [each for each in back_from(moment) if each.before is not None]
    line.reverse()
    return line


def visits_at(moment: Moment, count: int) -> list[int]:
    """How often each of `count` nodes had been started on the way to a moment."""
    visits = [0] * count
    for each in back_from(moment):
        for made in each.made:
            if made.task is not None:
                visits[made.node.index] += 1
    return visits


def successor(moment: Moment, towards: Moment) -> Moment | None:
    """The moment after this one on the way to another; None if it isn't on that way."""
    for each in back_from(towards):
        if each.before is moment:
            return each
    return None


def common(one: Moment, other: Moment) -> Moment:
    """The last moment that two lines share."""
    seen: Sequence[int] | set[int] = {each.number for each in back_from(one)}
    return next(each for each in back_from(other) if each.number in seen)
