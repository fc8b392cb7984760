"""Which waiting tasks a session holds, and why. Each verdict is made once per task, so that hits are counted once."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evonb.graph import record as records
from evonb.graph.debugging.breakpoints import Breakpoint, Breakpoints
from evonb.graph.debugging.expressions import Condition
from evonb.graph.debugging.inner import Origin, ident
from evonb.graph.debugging.line import Moment
from evonb.graph.debugging.points import Waiting
from evonb.graph.debugging.steps import RAN
from evonb.graph.decide import Task
from evonb.graph.events import BreakpointHit
from evonb.graph.plan import Plan
from evonb.graph.reads import NO_READS
from evonb.graph.record import Record
from evonb.graph.topology import PATH_SEPARATOR, node_id

if TYPE_CHECKING:
    from evonb.graph.debugging.inner_run import InnerRun
    from evonb.graph.debugging.nested import InnerWaiting
    from evonb.graph.debugging.session import Session

__all__ = ["Holding", "LogLine", "lines_since"]

_MAX_LOG = 1000

Key = int | str
"""The number of a task of the session; what names one inside of a sub-graph."""


@dataclass(frozen=True, slots=True)
class _Place:
    """The graph that a task belongs to, and where that is."""

    plan: Plan
    path: tuple[str, ...]
    origin: Origin

    def key(self, number: int) -> Key:
        """What a verdict about a task goes by."""
        return ident(self.origin, number) if self.origin else number

    def short(self, name: str) -> str:
        """The name of a node without those around it."""
        return name.rpartition(PATH_SEPARATOR)[2] if self.path else name


def _owner(key: Key) -> int:
    """The session's task that a verdict is about, or that its task is inside of."""
    return key if isinstance(key, int) else int(key.partition(".")[0])


@dataclass(frozen=True, slots=True)
class LogLine:
    """What a log point printed.

    Attributes:
        step: The number of the step that had been made last.
        node: The node that it stands at.
        text: What it printed.
    """

    step: int
    node: str
    text: str


def _is_small(condition: Condition | None) -> bool:
    """Whether it is in the small language, which looks at a value only by what Python does with it."""
    return condition is None or condition.restricted


def lines_since(lines: Sequence[LogLine], last: LogLine | None) -> Sequence[LogLine]:
    """Those that came after one; all if it is None, or so old that it isn't kept any more."""
    for at in range(len(lines), 0, -1):
        if lines[at - 1] is last:
            return lines[at:]
    return lines


class Holding:
    """The judgement of one session.

    Attributes:
        log: What log points printed, oldest first; the last thousand lines.
        until: The node that `run_to` runs to.
    """

    def __init__(self, session: Session, breakpoints: Breakpoints) -> None:
        self.breakpoints = breakpoints
        self.log: list[LogLine] = []
        self.until: str | None = None
        self._session = session
        self._outside = _Place(session.plan, (), ())
        self._verdicts: dict[tuple[str, Key], bool] = {}
        self._marks: dict[Key, str] = {}
        self._told: set[Key] = set()

    def forget(self, numbers: Iterable[int]) -> None:
        """Judge these anew when they are asked for: they were edited, or come up again after going back."""
        gone = set(numbers)
        self._verdicts = {key: verdict for key, verdict in self._verdicts.items() if _owner(key[1]) not in gone}
        self._told = {each for each in self._told if _owner(each) not in gone}

    def forget_inside(self, key: str) -> None:
        """As `forget`, for a task of a sub-graph."""
        self._verdicts = {each: verdict for each, verdict in self._verdicts.items() if each[1] != key}
        self._told.discard(key)

    def marks(self, waiting: Iterable[Waiting]) -> dict[str, str]:
        """By number, the breakpoints after a node or on an edge that hold what waits; to be kept.

        Those inside of waiting sub-graphs go by what names a task there.
        """
        numbers = {each.number for each in waiting}
        return {str(key): each for key, each in self._marks.items() if _owner(key) in numbers}

    def take_in(self, marks: Mapping[str, str]) -> None:
        """Those of a stored session."""
        self._marks.update((int(key) if key.isdigit() else key, each) for key, each in marks.items())

    # --- tasks -------------------------------------------------------------------------------------

    def holder(self, waiting: Waiting) -> str | None:
        """The id of the breakpoint that holds a waiting task, "run_to", or None."""
        if waiting.task is None:
            return None
        name = waiting.node.name
        return self._holder(self._outside, waiting.number, name, lambda: self._shown(waiting))

    def holder_inside(self, run: InnerRun, task: Task) -> str | None:
        """As `holder`, for a task of a sub-graph that is about to run."""
        place = _Place(run.plan, run.path, run.origin)
        joined = self._session.nested.joined
        key, name = place.key(task.number), node_id(run.path, task.node.name)
        return self._holder(place, key, name, lambda: joined(run.plan, run.path, task))

    def held_inside(self, each: InnerWaiting) -> str:
        """The breakpoint that holds what waits in a sub-graph that isn't running, "" if none does."""
        task = each.waiting.task
        if task is None:
            return ""
        place, joined = _Place(each.standing.plan, each.path, each.origin), self._session.nested.joined
        return self._holder(place, each.ident, each.name, lambda: joined(place.plan, each.path, task)) or ""

    def _holder(self, place: _Place, key: Key, name: str, record: Callable[[], Record]) -> str | None:
        if self.until == name:
            return "run_to"
        found: str | None = None
        for each in self.breakpoints.active():
            if each.node == name and each.when == "before" and not each.on_exception and not each.tool:
                if self._judge(place, each, key, record):
                    found = found or each.id
            elif each.id == self._marks.get(key):
                found = found or each.id
        if found is not None and key not in self._told:
            self._told.add(key)
            self._session.run.bus.emit(BreakpointHit, place.path, node=place.short(name), breakpoint_id=found)
        return found

    def passed(self, moment: Moment) -> None:
        """Note the breakpoints after a node, on edges and on predicates that a step has come past."""
        # A number of a step's own, so that it can't be taken for a task's.
        self._passed(self._outside, -moment.number, moment)

    def passed_inside(self, run: InnerRun, number: int, moment: Moment) -> None:
        """As `passed`, for a step of a sub-graph. Predicates are of the session's state: none is asked there."""
        self._passed(_Place(run.plan, run.path, run.origin), f"{run.origin[0]}.step{number}", moment)

    def _passed(self, place: _Place, key: Key, moment: Moment) -> None:
        active = [each for each in self.breakpoints.active() if each.when == "after" or each.edge or each.predicate]
        if not active or moment.ran is None or moment.status not in RAN:
            return
        for each in active:
            for waiting in self._targets(place, each, key, moment):
                self._marks[place.key(waiting.number)] = each.id

    def _targets(self, place: _Place, each: Breakpoint, key: Key, moment: Moment) -> list[Waiting]:
        assert moment.ran is not None
        made = [*moment.made, *self._open(moment)]
        if each.edge is not None:
            taken = [hop for hop in moment.hops if node_id(place.path, hop.edge.ids[hop.target.name]) == each.edge]
            targets = {hop.target.name for hop in taken}
            held = [waiting for waiting in made if waiting.node.name in targets]
            return held if taken and self._judge(place, each, key, lambda: taken[0].record, moment) else []
        if each.predicate is not None:
            return made if not place.path and self._became_true(each, key, moment) else []
        if each.node == node_id(place.path, moment.ran.node.name):
            return made if self._judge(place, each, key, lambda: moment.record, moment) else []
        return []

    def _open(self, moment: Moment) -> list[Waiting]:
        """The joins that it led to and that need more."""
        targets = {hop.target.index for hop in moment.hops}
        return [each for each in moment.point.waiting if not each.can_run and each.node.index in targets]

    def _became_true(self, each: Breakpoint, key: Key, moment: Moment) -> bool:
        assert each.predicate is not None
        if moment.ran is None or moment.ran.task is None:
            return False
        inputs = moment.ran.task.inputs
        before = all(self._asked(each, each.predicate, record, moment) is True for record in inputs)
        return not before and self._judge(self._outside, each, key, lambda: moment.record, moment, each.predicate)

    def of_tool(self, tool: str, arguments: Any) -> str | None:
        """The breakpoint that holds a tool's call."""
        for each in self.breakpoints.active():
            if each.tool == tool:
                state = arguments if isinstance(arguments, dict) else {"arguments": arguments}
                if self._verdict(each, state, None, tool, each.condition):
                    return each.id
        return None

    def catches(self, node: str, inside: str) -> str | None:
        """The breakpoint on exceptions that a node's failure hits, or that of the node inside of it that failed."""
        for each in self.breakpoints.active():
            if each.on_exception and each.node in (None, node, inside):
                hit = self.breakpoints.hit(each)
                if each.hit is None or hit.hits == each.hit:
                    return each.id
        return None

    # --- verdicts ------------------------------------------------------------------------------------

    def _shown(self, waiting: Waiting) -> Record:
        assert waiting.task is not None
        return self._session.run.joined(waiting.task)

    def _judge(
        self,
        place: _Place,
        each: Breakpoint,
        number: Key,
        record: Callable[[], Record],
        moment: Moment | None = None,
        condition: Condition | None = None,
    ) -> bool:
        key = (each.id, number)
        if key not in self._verdicts:
            state = delta = None
            condition = condition or each.condition
            if condition is not None or each.log is not None:
                schema = place.plan.schema
                reads = NO_READS if _is_small(condition) and _is_small(each.log) else None
                state = schema.hand_out(records.values_of(schema, record()), {}, reads)
                delta = None if moment is None else dict(moment.record.delta or {})
            self._verdicts[key] = self._verdict(each, state, delta, each.node or "", condition)
        return self._verdicts[key]

    def _verdict(self, each: Breakpoint, state: Any, delta: Any, place: str, condition: Condition | None) -> bool:
        if condition is not None:
            try:
                if not condition(state, delta):
                    return False
            except Exception as error:  # whatever the user's condition raises: stopping shows it
                each = self._problem(each, condition, error)
        each = self.breakpoints.hit(each)
        if each.hit is not None and each.hits != each.hit:
            return False
        if each.log is not None:
            self._print(each, state, delta, place)
            return False
        return True

    def _asked(self, each: Breakpoint, condition: Condition, record: Record, moment: Moment) -> bool | None:
        schema = self._session.plan.schema
        reads = NO_READS if _is_small(condition) else None
        try:
            return bool(condition(schema.hand_out(records.values_of(schema, record), {}, reads), moment.record.delta))
        except Exception:  # `_judge` says so
            return None

    def _problem(self, each: Breakpoint, condition: Condition, error: Exception) -> Breakpoint:
        named = f" {condition.text}" if condition.text else ""
        text = f"its condition{named} failed: {type(error).__name__}: {error}"
        return self.breakpoints.change(each.id, problem=text)

    def _print(self, each: Breakpoint, state: Any, delta: Any, place: str) -> None:
        assert each.log is not None
        try:
            text = str(each.log(state, delta))
        except Exception as error:  # a log point must never stop anything
            text = f"{type(error).__name__}: {error}"
        self.log.append(LogLine(self._session.line.present.number, place, text))
        del self.log[:-_MAX_LOG]
