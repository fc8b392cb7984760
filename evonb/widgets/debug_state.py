"""A debugger's session as the panel's state: everything that it shows, bounded, made anew as a whole.

Only reads the debugger; no node is called. What waits, the record and the breakpoints are here, the state at the shown
point is in `debug_values`.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Literal, cast

from evonb.graph.debugger import GraphEngineDebugger
from evonb.graph.debugging.breakpoints import Breakpoint
from evonb.graph.debugging.expressions import Condition
from evonb.graph.debugging.steps import Branch, Step
from evonb.graph.debugging.views import WaitingTask
from evonb.protocol.debugging import (
    LOG_SHOWN,
    STEPS_SHOWN,
    CommandName,
    DebugState,
    SessionStatus,
    WireBranch,
    WireBreakpoint,
    WireWaiting,
)
from evonb.protocol.preview import fields_of
from evonb.widgets.debug_inside import Insides, Line, line_shown, schema_at
from evonb.widgets.debug_log import SessionLog
from evonb.widgets.debug_places import Places, window
from evonb.widgets.debug_questions import shown_questions
from evonb.widgets.debug_schema import Keys
from evonb.widgets.debug_steps import all_steps, lines_of, wire_inner, wire_inside, wire_steps
from evonb.widgets.debug_values import Shown, is_call, shown_keys, shown_messages, shown_watches

__all__ = ["Session", "make_state"]

LIST_SHOWN = 200
"""Waiting tasks, branches and breakpoints beyond this many are left out."""

Kind = Literal["node", "edge", "predicate", "exception", "tool"]
_COMMANDS: Mapping[CommandName, str] = {
    "run": "start", "resume": "resume", "pause": "pause", "step_wave": "step_over", "step_one": "step_over",
    "step_out": "step_out", "step_back": "step_back", "step_forward": "step_forward", "goto": "goto", "live": "live",
    "run_to": "run_to", "stop": "stop", "edit": "edit", "retry": "step_over", "skip": "skip",
}  # fmt: skip
"""The panel's commands, and the debugger's that they need."""


@dataclass(slots=True)
class Session:
    """What a panel's state is made of.

    Attributes:
        log: What nodes have printed.
        watches: Watch expressions, in the small language.
        reason: What is to be said beside the status.
        seq: Of the state that was made last.
        came_with: By message, the step that it came with, as far as is known.
        places: Of the steps on the timeline.
    """

    debugger: GraphEngineDebugger
    keys: Keys
    log: SessionLog
    watches: list[str]
    reason: str = ""
    seq: int = 0
    came_with: dict[object, int] = field(default_factory=dict)
    places: Places = field(default_factory=Places)
    _inner_keys: dict[Any, Keys] = field(default_factory=dict)

    def keys_at(self, node: str) -> Keys:
        """The state keys that a node works with, by its id in the picture: inside of a sub-graph those of its own."""
        schema = schema_at(self.debugger, node)
        if schema is self.debugger.state_schema:
            return self.keys
        if schema not in self._inner_keys:
            self._inner_keys[schema] = Keys.of(schema)
        return self._inner_keys[schema]


def make_state(session: Session) -> DebugState:
    """The state as of now, under the next `seq`."""
    debugger = session.debugger
    session.seq += 1
    begun = debugger.run_id is not None
    looking = debugger.looking_at
    branches = debugger.branches() if begun else []
    at = line_shown(debugger)
    line = at.outer
    lines = lines_of(debugger, branches, at)
    steps = all_steps(lines)
    insides = Insides.over(lines)
    waiting = debugger.waiting()
    shown = Shown(debugger, at.shown, begun=begun)
    keys = session.keys_at(shown.within)
    seen = window(steps, looking, STEPS_SHOWN)
    numbers = {step.uuid: step.number for step in steps if step.status != "edited"}
    return {
        "seq": session.seq,
        "status": cast(SessionStatus, debugger.status),
        "reason": session.reason or _reason(debugger.status, line, waiting),
        "looking": looking,
        "inside": wire_inside(at),
        "step": line[-1].number if line else 0,
        "branch": at.all[-1].branch if at.all else 0,
        "steps": wire_steps(session.places, steps, branches, seen, insides),
        "steps_before": seen.start,
        "inner": wire_inner(insides, steps[seen], at.number),
        "branches": [_branch(each, steps, branches) for each in branches[:LIST_SHOWN]],
        "next_branch": _next_branch(at, branches),
        "would_run": [each.node_name for each in waiting if each.is_next][:LIST_SHOWN],
        "stopped_at": _stopped_at(debugger, waiting),
        "waiting": _waitings(debugger, waiting[:LIST_SHOWN]),
        "breakpoints": [_breakpoint(each) for each in debugger.breakpoints()[:LIST_SHOWN]],
        "allowed": _allowed(debugger, waiting),
        "state": shown_keys(shown, keys),
        "messages": shown_messages(shown, keys, session.came_with),
        "log": session.log.lines(numbers, LOG_SHOWN),
        "watches": shown_watches(shown, session.watches),
        "input_schema": session.keys.input_schema,
        "questions": shown_questions(debugger.run_id),
    }


def _branch(branch: Branch, steps: Sequence[Step], branches: Sequence[Branch]) -> WireBranch:
    parent = next((step.branch for step in steps if step.number == branch.from_step), 0)
    first = next((step for step in steps if step.branch == branch.id), None)
    return {
        "id": branch.id,
        "name": branch.name,
        "parent": parent if branch.id else None,
        "from_step": branch.from_step if branch.id else None,
        "steps": branch.steps,
        "note": "edited" if first is not None and first.status == "edited" and branch.id else "",
    }


def _next_branch(at: Line, branches: Sequence[Branch]) -> str:
    """Going on from anywhere but the newest step of its branch makes a branch."""
    tips = {(each.last_step, each.last_inner) for each in branches}
    here = (0, 0) if at.shown is None else (at.shown.number, at.shown.inner)
    if not at.all or here in tips:
        return ""
    taken = {each.name for each in branches}
    number = len(branches) + 1
    return f"b{number}" if f"b{number}" not in taken else "a branch"


def _reason(status: str, line: Sequence[Step], waiting: Sequence[WaitingTask]) -> str:
    """Why the session stands still, in a word or two."""
    last = line[-1] if line else None
    if status == "failed" and last is not None and last.error is not None:
        return last.error.what[:500]
    if status == "finished" and last is not None:
        return {"stopped": "stopped", "limit": "the limit of node calls was met"}.get(last.status, "")
    held = {each.held for each in waiting if each.held and (each.inside or not each.running)}
    return "breakpoint" if status == "paused" and held - {"run_to"} else ""


def _stopped_at(debugger: GraphEngineDebugger, waiting: Sequence[WaitingTask]) -> list[str]:
    if debugger.status in ("running", "pausing", "idle"):
        return [each.node_name for each in waiting if each.held][:LIST_SHOWN]
    return [each.node_name for each in waiting if each.is_next and not each.failed][:LIST_SHOWN]


def _waitings(debugger: GraphEngineDebugger, waiting: Sequence[WaitingTask]) -> list[WireWaiting]:
    begun = {each.uuid.partition(".")[0] for each in waiting if "." in each.uuid}
    return [_waiting(debugger, each, begun=each.uuid in begun) for each in waiting]


def _waiting(debugger: GraphEngineDebugger, task: WaitingTask, *, begun: bool) -> WireWaiting:
    reads = fields_of(debugger.state(uuid=task.uuid)) if task.is_next and not is_call(task) else None
    return {
        "task": task.uuid,
        "node": task.node_name,
        "visit": task.visit,
        "can_run": task.can_run,
        "held": bool(task.held),
        "arrived": list(task.arrived),
        "missing": list(task.missing),
        "reads": [str(key)[:80] for key in reads or ()][:50],
        "begun": begun,
        "enters": task.enters and task.is_next,
    }


def _breakpoint(each: Breakpoint) -> WireBreakpoint:
    kind = "tool" if each.tool else "exception" if each.on_exception else "edge" if each.edge else "node"
    if each.predicate is not None:
        kind = "predicate"
    condition = each.condition or each.predicate
    return {
        "id": each.id,
        "kind": cast(Kind, kind),
        "node": each.node if not each.tool else each.tool,
        "edge": each.edge,
        "when": each.when,
        "condition": _text(condition),
        "hit": each.hit,
        "log": _text(each.log),
        "enabled": each.enabled,
        "hits": each.hits,
        "text": f"{each}; {each.problem}" if each.problem else str(each),
    }


def _text(condition: Condition | None) -> str:
    return "" if condition is None else condition.text or "a function"


def _allowed(debugger: GraphEngineDebugger, waiting: Sequence[WaitingTask]) -> dict[CommandName, str]:
    reasons = debugger.allowed()
    found = {name: reasons[needs] for name, needs in _COMMANDS.items()}
    begun = "" if debugger.run_id is not None else "no run has begun"
    into = "" if any(each.is_next and each.enters for each in waiting) else "Step into: no sub-graph waits"
    found["step_into"] = reasons["step_into"] or into
    found["retry"] = found["retry"] or ("" if any(each.failed for each in waiting) else "Retry: nothing failed")
    found["fork"] = begun and f"Fork: {begun}"
    found["why"] = begun and f"Why: {begun}"
    found["compare"] = begun and f"Compare: {begun}"
    found["breakpoint"] = found["pin"] = found["answer"] = ""
    return found
