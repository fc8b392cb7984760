"""Effects that were begun: which of them may have acted although the record holds no answer of theirs.

An effect is noted before its node is called, in the store too, so that one whose process was killed in the middle is
known when its run is opened again. What asks before such an effect acts once more is `effects`.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any, Literal

from evonb.graph.debugging.inner import Origin, ident
from evonb.graph.debugging.line import Moment, Place
from evonb.graph.decide import Task
from evonb.graph.plan import NodePlan, Plan
from evonb.graph.ports import RunStore

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["DOCUMENT", "WORDS", "Attempt", "Attempts", "is_marked"]

DOCUMENT = "begun"
"""The name of what the store keeps of them."""

Fate = Literal["running", "failed", "stopped", "killed"]

WORDS: dict[Fate, str] = {
    "running": "was begun",
    "failed": "failed",
    "stopped": "was stopped in the middle",
    "killed": "was at work when its process ended",
}
"""How an attempt ended, for people."""

Path = tuple[str, ...]


@dataclass(slots=True, kw_only=True)
class Attempt:
    """One time that an effect was begun and hasn't given an answer.

    Attributes:
        path, node: The node; the names of the sub-graph nodes around it.
        visits: Which execution of it, after those of the nodes around it.
        ident: What names its task in the session.
        step, branch: The step of the line that had been made last, and the branch.
        after: The numbers of the newest step of the line and of the newest one inside, when it was begun.
        fate: What became of it.
        answered: Whether the same execution was begun again since, and gave its answer.
    """

    path: Path
    node: str
    visits: tuple[int, ...]
    ident: str
    step: int
    branch: int
    after: tuple[int, int]
    fate: Fate = "running"
    answered: bool = False


def is_marked(node: NodePlan | None) -> bool:
    """Whether a node is marked as doing something outside of the state."""
    return node is not None and bool(node.spec and node.spec.effect)


class Attempts:
    """The effects of a session that were begun.

    Attributes:
        made: Those without an answer, oldest first.
        is_written: Whether the store knows of all that there is to know.
    """

    def __init__(self, session: Session) -> None:
        self.made: list[Attempt] = []
        self.is_written = True
        self._session = session

    def acts(self, path: Path, node: NodePlan) -> bool:
        """Whether a node is an effect: marked itself, or one of those that do the work of a marked sub-graph."""
        if is_marked(node):
            return True
        return bool(path) and node.subgraph is None and self._is_in_marked(path)

    def _is_in_marked(self, path: Path) -> bool:
        plan: Plan = self._session.plan
        for name in path:
            around = plan.by_name.get(name)
            if around is None or around.subgraph is None:
                return False
            if is_marked(around):
                return True
            plan = around.subgraph._plan
        return False

    def unanswered(self, origin: Origin, path: Path, task: Task) -> Attempt | None:
        """The newest attempt at the very execution that a waiting task is, at the moment that is shown."""
        if not self.made:
            return None
        visits = self._visits(origin, task, self._session.line.place)
        same = (each for each in reversed(self.made) if (each.path, each.node) == (path, task.node.name))
        return next((each for each in same if each.visits == visits and not each.answered), None)

    def is_running(self, origin: Origin, number: int) -> bool:
        """Whether a task is an effect that is at work."""
        return any(each.ident == ident(origin, number) and self.fate(each) == "running" for each in self.made)

    def fate(self, attempt: Attempt) -> Fate:
        """What became of an attempt; one whose task was given up was stopped, also if nobody could tell it so."""
        if attempt.fate == "running" and _owner(attempt) not in self._session.driver.alive:
            return "stopped"
        return attempt.fate

    # --- noting ------------------------------------------------------------------------------------------

    def begin(self, origin: Origin, path: Path, task: Task) -> Attempt:
        """Note, in the store too, that an effect is about to act."""
        line = self._session.line
        visits, name = self._visits(origin, task, (line.present, line.inner)), ident(origin, task.number)
        for each in self.made:
            if each.ident == name and each.fate == "running":
                each.fate = "stopped"
        branch = line.present.branch if line.inner is None else line.inner.branch
        attempt = Attempt(
            path=path, node=task.node.name, visits=visits, ident=name, step=line.present.number, branch=branch,
            after=(line.last_number, line.last_inner),
        )  # fmt: skip
        self.made.append(attempt)
        self._changed(now=True)
        return attempt

    def left(self, attempt: Attempt) -> None:
        """An effect was left by an error that the record won't tell of, such as being cancelled."""
        if attempt.fate == "running":
            attempt.fate = "stopped"
            self._changed()

    def recorded(self, origin: Origin, moment: Moment) -> None:
        """A step is in the record: an effect has given its answer, or has failed."""
        if not self.made or moment.ran is None:
            return
        name = ident(origin, moment.ran.number)
        mine = next((each for each in reversed(self.made) if each.ident == name and not each.answered), None)
        if mine is not None:
            self._ended(mine, moment.status)

    def _ended(self, mine: Attempt, status: str) -> None:
        if status == "failed":
            mine.fate = "failed"
        elif status == "done":
            self.made.remove(mine)
            same = (mine.path, mine.node, mine.visits)
            for each in self.made:
                each.answered = each.answered or (each.path, each.node, each.visits) == same
        self._changed()

    def _changed(self, *, now: bool = False) -> None:
        self.is_written = False
        keeper = self._session.keeper
        if now and keeper is not None:
            self.is_written = keeper.put({DOCUMENT: self.as_data()})

    def _visits(self, origin: Origin, task: Task, place: Place) -> tuple[int, ...]:
        """Which execution of its node a task is, after those of the tasks around it."""
        visits, point = [], place[0].point
        for depth, number in enumerate(origin):
            if depth:
                last = self._session.nested.last(origin[:depth], place)
                if last is None or last.standing is None:
                    break
                point = last.standing.moment.point
            waiting = point.find(number)
            visits.append(0 if waiting is None or waiting.task is None else waiting.task.visit)
        return (*visits, task.visit)

    # --- in the store --------------------------------------------------------------------------------------

    def as_data(self) -> list[dict[str, Any]]:
        """Plain JSON."""
        return [{**asdict(each), "fate": self.fate(each)} for each in self.made]

    def take_in(self, data: Iterable[Mapping[str, Any]] | None, store: RunStore, run_id: str) -> None:
        """Have those of a stored run: one that is neither over nor stopped was at work when its process ended."""
        for each in data or ():
            lists = {name: tuple(each[name]) for name in ("path", "visits", "after")}
            self.made.append(Attempt(**{**each, **lists}))
        for attempt in [each for each in self.made if each.fate == "running"]:
            status = _status_after(store, run_id, attempt)
            attempt.fate = "killed"
            if status:
                self._ended(attempt, status)
        self.is_written = True  # opening a run writes nothing, and the next one to open it finds the same


def _owner(attempt: Attempt) -> int:
    return int(attempt.ident.partition(".")[0])


def _status_after(store: RunStore, run_id: str, attempt: Attempt) -> str:
    """How the task of an attempt came out, by the steps that were written since; "" if none tells."""
    *origin, number = map(int, attempt.ident.split("."))
    for row in store.steps(run_id, after=attempt.after[1 if origin else 0], inner=bool(origin)):
        notes: Mapping[str, Any] = row.notes or {}
        around: Sequence[int] = notes.get("origin", ())
        if row.status in ("done", "failed") and notes.get("ran") == number and list(around) == origin:
            return row.status
    return ""
