"""A session's past as a tree of moments. Going back only moves; going on from an earlier moment makes a branch."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evonb.graph.debugging.points import Point, Waiting
from evonb.graph.debugging.steps import RAN, Branch, Step, Usage
from evonb.graph.debugging.ways import places_back
from evonb.graph.decide import Hop
from evonb.graph.events import ErrorInfo
from evonb.graph.ports import StoredStep
from evonb.graph.record import Record

if TYPE_CHECKING:
    from evonb.graph.debugging.inner import Standing

__all__ = ["Change", "Inner", "Line", "Moment", "Place", "branch_of"]


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
        after: The step inside of a sub-graph that was the last one when it was made, if that came after `before`.
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
    after: Inner | None = None

    @property
    def wrote(self) -> tuple[str, ...]:
        """The state keys that it changed."""
        if self.change is not None:
            return (self.change.key,)
        if self.status not in RAN or self.ran is None or self.ran.task is None:
            return ()
        return tuple(self.record.delta or ())


@dataclass(slots=True, eq=False, kw_only=True)
class Inner:
    """One step inside of a sub-graph's node. It hangs on the moment of the line that it was made after.

    Attributes:
        number: 1, 2, ... in the order in which such steps were made; unique among all branches.
        outer: The moment of the line that had been made last.
        before: The step inside that was made before it, after the same moment.
        branch: The branch that it was made on.
        origin: Which run of a sub-graph it belongs to: the number of the session's task, then those of the tasks in it.
        path: The names of the sub-graph nodes around it.
        row: As it is kept.
        standing: Where its run stands after it; None until somebody asks, for one that was read from the store.
        step: As people see it, once somebody has asked.
    """

    number: int = 0
    outer: Moment
    before: Inner | None = None
    branch: int = 0
    origin: tuple[int, ...]
    path: tuple[str, ...]
    row: StoredStep
    standing: Standing | None = None
    step: Step | None = None

    @property
    def notes(self) -> Mapping[str, Any]:
        """What is kept with it."""
        return self.row.notes or {}


Place = tuple[Moment, Inner | None]
"""A moment of the line, and the last step inside of a sub-graph after it."""


class Line:
    """The tree of moments, and where in it the session is.

    Attributes:
        moments: By number.
        present: Where running goes on.
        inner: The last step inside of a sub-graph after the present moment.
        cursor: The earlier moment that is looked at, None while the present is.
        inner_cursor: The step inside that is looked at, after `cursor`.
        tips: The newest moment of each branch.
        inner_tips: By branch, the last step inside after its newest moment.
        inners: The steps inside of sub-graphs, by number.
        forked: The number of the moment that each branch began at.
        called, called_inside: Moments, and steps inside, in which tools were called.
    """

    def __init__(self, start: Moment) -> None:
        self.moments: dict[int, Moment] = {start.number: start}
        self.called: list[Moment] = []
        self.called_inside: list[Inner] = []
        self.present = start
        self.inner: Inner | None = None
        self.cursor: Moment | None = None
        self.inner_cursor: Inner | None = None
        self.inners: dict[int, Inner] = {}
        self.inner_tips: dict[int, Inner] = {}
        self.last_inner = 0
        self.tips: dict[int, Moment] = {start.branch: start}
        self.forked: dict[int, int] = {0: 0}
        self.names: dict[int, str] = {}
        self.last_number = start.number
        self.last_branch = start.branch

    @property
    def here(self) -> Moment:
        """The moment that is shown."""
        return self.cursor or self.present

    @property
    def here_inner(self) -> Inner | None:
        """The last step inside of a sub-graph at the moment that is shown."""
        return self.inner if self.cursor is None else self.inner_cursor

    @property
    def place(self) -> Place:
        """What is shown."""
        return self.here, self.here_inner

    @property
    def is_at_end(self) -> bool:
        """Whether the present is the newest of its branch, so that going on doesn't fork."""
        inner = self.inner
        branch = self.present.branch if inner is None else inner.branch
        return self.tips[branch] is self.present and self.inner_tips.get(branch) is inner

    def _fork(self) -> tuple[int, bool]:
        """The branch that what comes next belongs to, and whether that is a new one."""
        if self.is_at_end:
            return (self.present if self.inner is None else self.inner).branch, False
        self.last_branch += 1
        self.forked[self.last_branch] = self.present.number
        return self.last_branch, True

    def add(self, moment: Moment) -> bool:
        """Make a moment the present; it gets its number and branch.

        Returns:
            Whether this began a branch.
        """
        moment.branch, forks = self._fork()
        moment.after = self.inner
        self.last_number += 1
        moment.number = self.last_number
        self.put(moment)
        self.present, self.inner = moment, None
        return forks

    def add_inner(self, inner: Inner) -> bool:
        """Make a step inside of a sub-graph the present; it gets its place.

        Returns:
            Whether this began a branch.
        """
        inner.branch, forks = self._fork()
        inner.outer, inner.before = self.present, self.inner
        self.last_inner += 1
        inner.number = self.last_inner
        self.put_inner(inner)
        self.inner = inner
        return forks

    def put(self, moment: Moment) -> None:
        """Keep a moment that has its number and branch already."""
        self.moments[moment.number] = moment
        if moment.tools:
            self.called.append(moment)
        self.tips[moment.branch] = moment
        self.inner_tips.pop(moment.branch, None)
        self.last_number = max(self.last_number, moment.number)
        self.last_branch = max(self.last_branch, moment.branch)
        if moment.branch not in self.forked and moment.before is not None:
            self.forked[moment.branch] = moment.before.number

    def put_inner(self, inner: Inner) -> None:
        """Keep a step inside that has its place already."""
        self.inners[inner.number] = inner
        if (inner.row.notes or {}).get("tools"):
            self.called_inside.append(inner)
        self.last_inner = max(self.last_inner, inner.number)
        self.last_branch = max(self.last_branch, inner.branch)
        self.forked.setdefault(inner.branch, inner.outer.number)
        if self.tips.setdefault(inner.branch, inner.outer) is inner.outer:
            self.inner_tips[inner.branch] = inner

    def rewind(self, moment: Moment, inner: Inner | None = None) -> None:
        """Make an earlier moment the present. Nothing is lost: going on from it begins a branch."""
        self.present, self.inner = moment, inner
        self.cursor = self.inner_cursor = None

    def show(self, moment: Moment, inner: Inner | None = None) -> None:
        """Look at a moment."""
        is_present = moment is self.present and inner is self.inner
        self.cursor, self.inner_cursor = (None, None) if is_present else (moment, inner)

    def tip(self, branch: int) -> Place:
        """The newest place of a branch."""
        return self.tips[branch], self.inner_tips.get(branch)

    def towards(self) -> Place:
        """Where the line that is shown leads: to the present, if what is shown is on the way there."""
        present = (self.present, self.inner)
        return present if self.place in places_back(present) else self.tip(branch_of(*self.place))

    def name(self, branch: int) -> str:
        """The name of a branch."""
        return self.names.get(branch) or ("main" if branch == 0 else f"b{branch + 1}")

    def branches(self) -> list[Branch]:
        """All branches, oldest first."""
        counts: dict[int, int] = {}
        for moment in self.moments.values():
            counts[moment.branch] = counts.get(moment.branch, 0) + (moment.number > 0)
        present = branch_of(self.present, self.inner)
        return [
            Branch(
                id=each,
                name=self.name(each),
                from_step=self.forked[each],
                last_step=tip.number,
                steps=counts.get(each, 0),
                present=each == present,
                last_inner=inner.number if (inner := self.inner_tips.get(each)) is not None else 0,
            )
            for each, tip in sorted(self.tips.items())
        ]


def branch_of(moment: Moment, inner: Inner | None) -> int:
    """The branch that a place is on."""
    return moment.branch if inner is None else inner.branch
