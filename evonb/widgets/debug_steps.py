"""The steps of a session on the panel's timeline: those of all branches, and those inside of sub-graphs."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

from evonb.graph.debugger import GraphEngineDebugger
from evonb.graph.debugging.steps import Branch, Step
from evonb.protocol.debugging import INSIDE_SHOWN, StepStatus, WireInner, WireInside, WireStep
from evonb.protocol.snapshot import TOOLS_KEPT
from evonb.widgets.debug_inside import BEGINS, Insides, Line, inside_words
from evonb.widgets.debug_places import Places, waves_inside

__all__ = ["all_steps", "lines_of", "wire_inner", "wire_inside", "wire_step", "wire_steps"]

INSIDE_OF_FINISHED = 4 * INSIDE_SHOWN
_STATUS: Mapping[str, StepStatus] = {
    "done": "done", "failed": "failed", "edited": "edited", "pinned": "pinned", "skipped": "skipped",
    "replayed": "done", "limit": "skipped", "stopped": "skipped",
}  # fmt: skip


def wire_step(step: Step, lane: int = 0, inside: int = 0) -> WireStep:
    """A step as the panel shows it.

    Args:
        step: The step.
        lane: Its place beside the others of its wave.
        inside: How many steps are inside of it.
    """
    return {
        "number": step.number,
        "task": step.uuid,
        "node": step.node,
        "visit": step.visit,
        "branch": step.branch,
        "wave": step.wave,
        "lane": lane,
        "status": _STATUS.get(step.status, "done"),
        "at_s": step.at_s,
        "duration_s": step.duration_s,
        "wrote": [key[:80] for key in step.wrote[:50]],
        "effect": step.effect,
        "tools": [call.tool[:80] for call in step.calls[:TOOLS_KEPT]],
        "tokens": _tokens(step),
        "inside": inside,
    }


def _tokens(step: Step) -> int | None:
    return None if step.usage is None else (step.usage.tokens_in + step.usage.tokens_out) or None


def lines_of(debugger: GraphEngineDebugger, branches: Sequence[Branch], shown: Line) -> list[Sequence[Step]]:
    """The steps of all branches, those inside included; the line that is shown comes last."""
    others = [debugger.history(each.id, inside=True) for each in branches] if len(branches) > 1 else []
    return [*others, shown.all]


def all_steps(lines: Sequence[Sequence[Step]]) -> list[Step]:
    """The steps of all branches but for those inside, oldest first."""
    found = {step.number: step for line in lines for step in line if not step.inner}
    return [found[number] for number in sorted(found)]


def wire_steps(
    known: Places, steps: Sequence[Step], branches: Sequence[Branch], shown: slice, insides: Insides
) -> list[WireStep]:
    places = known.of(steps, {branch.id: branch.from_step for branch in branches})
    found = zip(steps[shown], places[shown], strict=True)
    return [{**wire_step(step, lane, insides.count(step)), "wave": wave} for step, (wave, lane) in found]


def wire_inner(insides: Insides, steps: Sequence[Step], shown: int) -> list[WireInner]:
    """The steps inside of what is under way, then of the steps nearest to the shown one."""
    found = _inner_of(insides.left, 0)
    for step in sorted(steps, key=lambda each: abs(each.number - shown)) if insides.of else ():
        if step.number in insides.of and len(found) < INSIDE_OF_FINISHED:
            found += _inner_of(insides.of[step.number], step.number)
    return found


def _inner_of(steps: Sequence[Step], owner: int) -> list[WireInner]:
    shown = [(step, wave) for step, wave in zip(steps, waves_inside(steps), strict=True) if step.status != BEGINS]
    return [
        {**wire_step(step), "wave": wave, "inner": step.inner, "owner": owner} for step, wave in shown[-INSIDE_SHOWN:]
    ]


def wire_inside(at: Line) -> WireInside | None:
    text = inside_words(at)
    if not text or at.shown is None:
        return None
    return {"number": at.shown.inner, "owner": _owner(at.outer, at.shown), "node": at.shown.node, "text": text}


def _owner(outer: Sequence[Step], inside: Step) -> int:
    """The number of the step that one inside has led to, 0 if its node hasn't finished."""
    later = (each for each in outer if each.uuid == inside.owner and each.number > inside.number)
    return next((each.number for each in later if each.status != "edited"), 0)
