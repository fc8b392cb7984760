"""Which waiting tasks a session holds, and why. Each verdict is made once per task, so that hits are counted once."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evonb.graph import record as records
from evonb.graph.debugging.breakpoints import Breakpoint, Breakpoints
from evonb.graph.debugging.expressions import Condition
from evonb.graph.debugging.line import RAN, Moment
from evonb.graph.debugging.points import Waiting
from evonb.graph.decide import Task
from evonb.graph.events import BreakpointHit
from evonb.graph.reads import NO_READS
from evonb.graph.record import Record
from evonb.graph.topology import node_id

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session
    from evonb.graph.run import Run

__all__ = ["Holding", "LogLine"]

_MAX_LOG = 1000


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
        self._verdicts: dict[tuple[str, int], bool] = {}
        self._marks: dict[int, str] = {}
        self._told: set[int] = set()

    def forget(self, numbers: Iterable[int]) -> None:
        """Judge these anew when they are asked for: they were edited, or come up again after going back."""
        gone = set(numbers)
        self._verdicts = {key: verdict for key, verdict in self._verdicts.items() if key[1] not in gone}
        self._told -= gone

    def marks(self, waiting: Iterable[Waiting]) -> dict[str, str]:
        """By number, the breakpoints after a node or on an edge that hold what waits; to be kept."""
        return {str(each.number): self._marks[each.number] for each in waiting if each.number in self._marks}

    def take_in(self, marks: Mapping[str, str]) -> None:
        """Those of a stored session."""
        self._marks.update((int(number), each) for number, each in marks.items())

    # --- tasks -------------------------------------------------------------------------------------

    def holder(self, waiting: Waiting) -> str | None:
        """The id of the breakpoint that holds a waiting task, "run_to", or None."""
        if waiting.task is None:
            return None
        name = waiting.node.name
        if self.until == name:
            return "run_to"
        found: str | None = None
        for each in self.breakpoints.active():
            if each.node == name and each.when == "before" and not each.on_exception and not each.tool:
                if self._judge(each, waiting.number, lambda: self._shown(waiting)):
                    found = found or each.id
            elif each.id == self._marks.get(waiting.number):
                found = found or each.id
        if found is not None and waiting.number not in self._told:
            self._told.add(waiting.number)
            self._session.run.bus.emit(BreakpointHit, (), node=name, breakpoint_id=found)
        return found

    def passed(self, moment: Moment) -> None:
        """Note the breakpoints after a node, on edges and on predicates that a step has come past."""
        active = [each for each in self.breakpoints.active() if each.when == "after" or each.edge or each.predicate]
        if not active or moment.ran is None or moment.status not in RAN:
            return
        for each in active:
            targets = self._targets(each, moment)
            if targets:
                self._marks.update((waiting.number, each.id) for waiting in targets)

    def _targets(self, each: Breakpoint, moment: Moment) -> list[Waiting]:
        assert moment.ran is not None
        made = [*moment.made, *self._open(moment)]
        number = -moment.number  # a step's own, so that it can't be taken for a task's
        if each.edge is not None:
            taken = [hop for hop in moment.hops if hop.edge.ids[hop.target.name] == each.edge]
            targets = {hop.target.name for hop in taken}
            held = [waiting for waiting in made if waiting.node.name in targets]
            return held if taken and self._judge(each, number, lambda: taken[0].record, moment) else []
        if each.predicate is not None:
            return made if self._became_true(each, moment) else []
        if each.node == moment.ran.node.name and self._judge(each, number, lambda: moment.record, moment):
            return made
        return []

    def _open(self, moment: Moment) -> list[Waiting]:
        """The joins that it led to and that need more."""
        targets = {hop.target.index for hop in moment.hops}
        return [each for each in moment.point.waiting if not each.can_run and each.node.index in targets]

    def _became_true(self, each: Breakpoint, moment: Moment) -> bool:
        assert each.predicate is not None
        if moment.ran is None or moment.ran.task is None:
            return False
        inputs = moment.ran.task.inputs
        before = all(self._asked(each, each.predicate, record, moment) is True for record in inputs)
        return not before and self._judge(each, -moment.number, lambda: moment.record, moment, each.predicate)

    def in_subgraph(self, run: Run, task: Task) -> str | None:
        """The breakpoint that holds a task of a sub-graph before it runs."""
        name = node_id(run.path, task.node.name)
        for each in self.breakpoints.active():
            if each.node == name and each.when == "before" and not each.on_exception:
                schema = run.plan.schema
                state = schema.hand_out(records.values_of(schema, run.joined(task)), {})
                if self._verdict(each, state, None, name, each.condition):
                    self._session.run.bus.emit(BreakpointHit, run.path, node=task.node.name, breakpoint_id=each.id)
                    return each.id
        return None

    def of_tool(self, tool: str, arguments: Any) -> str | None:
        """The breakpoint that holds a tool's call."""
        for each in self.breakpoints.active():
            if each.tool == tool:
                state = arguments if isinstance(arguments, dict) else {"arguments": arguments}
                if self._verdict(each, state, None, tool, each.condition):
                    return each.id
        return None

    def catches(self, node: str) -> str | None:
        """The breakpoint on exceptions that a node's failure hits."""
        for each in self.breakpoints.active():
            if each.on_exception and each.node in (None, node):
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
        each: Breakpoint,
        number: int,
        record: Any,
        moment: Moment | None = None,
        condition: Condition | None = None,
    ) -> bool:
        key = (each.id, number)
        if key not in self._verdicts:
            state = delta = None
            condition = condition or each.condition
            if condition is not None or each.log is not None:
                schema = self._session.plan.schema
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
        text = f"its condition {condition.text} failed: {type(error).__name__}: {error}"
        return self.breakpoints.change(each.id, problem=text)

    def _print(self, each: Breakpoint, state: Any, delta: Any, place: str) -> None:
        assert each.log is not None
        try:
            text = str(each.log(state, delta))
        except Exception as error:  # a log point must never stop anything
            text = f"{type(error).__name__}: {error}"
        self.log.append(LogLine(self._session.line.present.number, place, text))
        del self.log[:-_MAX_LOG]
