"""Where a session stands, in a few lines: the answer of every `%evo` command that moves it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from evonb.graph.asking import Question
from evonb.graph.debugger import GraphEngineDebugger
from evonb.graph.debugging.steps import Step
from evonb.graph.debugging.views import WaitingTask
from evonb.graph.topology import node_id
from evonb.widgets.debug_inside import BEGINS, Line, inside_words, line_shown

__all__ = ["Answer", "Standing", "asked_lines", "place_of", "standing_of"]

CHOICES_CHARS = 120


class Answer(str):
    """A sentence that shows without quotes."""

    __slots__ = ()

    def __repr__(self) -> str:
        return str(self)


@dataclass(frozen=True, slots=True)
class Standing:
    """Prints as what it says.

    Attributes:
        status: The session's status.
        step: The number of the step that is shown.
        lines: The words.
    """

    status: str
    step: int
    lines: tuple[str, ...]

    def __repr__(self) -> str:
        return "\n".join(self.lines)


def standing_of(debugger: GraphEngineDebugger) -> Standing:
    """Where the session stands now."""
    status = debugger.status
    if debugger.run_id is None:
        return Standing(status, 0, ("No session yet: %evo debug NAME {inputs}",))
    at = line_shown(debugger)
    lines = [_headline(debugger, status, at), *_last(at.shown), *asked_lines(debugger.questions())]
    if status not in ("running", "pausing") or at.looking:
        lines += _waits(debugger.waiting(), {each.id: each.problem for each in debugger.breakpoints() if each.problem})
    return Standing(status, at.number, tuple(lines))


def _headline(debugger: GraphEngineDebugger, status: str, line: Line) -> str:
    branches, at = debugger.branches(), line.number
    branch = next((each for each in branches if line.all and each.id == line.all[-1].branch), branches[0])
    inside = inside_words(line)
    where = (f", {inside}" if inside else "") + (f" on {branch.name}" if len(branches) > 1 else "")
    if line.looking:
        last = line.outer[-1].number if line.outer else 0
        return (
            f"Looking at step {at} of {last}{where}; nothing runs. %evo fork goes on from here, %evo live leads back."
        )
    words = {
        "running": "Waits for you: %evo answer VALUE goes on."
        if debugger.only_asks
        else "Running; %evo pause stops before the next node.",
        "pausing": "Pausing: the running node is waited for.",
        "paused": f"Paused after step {at}{where}." if at else f"Paused at the start{where}.",
        "failed": f"Failed at step {at}{where}: mend it and %evo step runs the node again.",
        "finished": f"Finished after step {at}{where}.",
    }
    return words.get(status, status)


def place_of(question: Question) -> str:
    """The node that asks, as the picture calls it."""
    return node_id(question.path, question.node) if question.node else "a question outside of a node"


def asked_lines(asked: Sequence[Question]) -> list[str]:
    """What is asked, one line for each question."""
    return [f"  {place_of(each)} asks: {' '.join(each.text.split())[:200]}{_choices(each)}" for each in asked]


def _choices(question: Question) -> str:
    found = [str(value) for value in question.schema.get("enum", ())]
    return f" ({', '.join(found)})" if found and len(", ".join(found)) <= CHOICES_CHARS else ""


def _last(step: Step | None) -> list[str]:
    if step is None:
        return []
    wrote = f", wrote {', '.join(step.wrote)}" if step.wrote else ""
    visit = f" (visit {step.visit})" if step.visit > 1 else ""
    error = f": {step.error.kind}: {step.error.what}" if step.error is not None else ""
    if step.status == BEGINS:
        return []
    number = f"{step.number}, inside" if step.inner else step.number
    return [f"  step {number}: {step.node}{visit} {step.status}{wrote}{error}"]


def _waits(waiting: Sequence[WaitingTask], problems: Mapping[str, str]) -> list[str]:
    ready = [each for each in waiting if each.is_next]
    lines = []
    if ready:
        lines.append("  next: " + ", ".join(each.node_name + _why_held(each, problems) for each in ready))
    for each in waiting:
        if not each.can_run:
            count = f"{len(each.arrived)} of {len(each.arrived) + len(each.missing)} arrived"
            lines.append(f"  {each.node_name} waits: {count}, missing {', '.join(each.missing)}")
    return lines


def _why_held(task: WaitingTask, problems: Mapping[str, str]) -> str:
    if not task.held:
        return ""
    problem = f": {problems[task.held]}" if task.held in problems else ""
    return " (run up to it)" if task.held == "run_to" else f" (breakpoint {task.held}{problem})"
