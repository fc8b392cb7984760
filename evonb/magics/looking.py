"""The `%evo` commands that look: at the state, the past, reasons, branches, stored runs. None of them runs a node."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from evonb.errors import MagicError
from evonb.graph.debugger import GraphEngineDebugger
from evonb.graph.debugging.points import SessionError
from evonb.magics.evo_inputs import name_of, names_over
from evonb.magics.options import near
from evonb.magics.session import Session
from evonb.magics.standing import Answer, Standing, asked_lines, standing_of
from evonb.magics.tables import comparison_table, run_table, state_table, write_table
from evonb.magics.target import SOON_S, debugger_of, split_target, wait_until_still
from evonb.protocol.preview import fields_of
from evonb.widgets.debug_inside import line_shown
from evonb.widgets.debug_values import state_shown
from evonb.widgets.display import show_once

__all__ = ["COMMANDS"]


async def _state(session: Session, rest: str) -> Any:
    """`state`: all keys; `state KEY`: its value."""
    debugger, key = await _soon(session, rest)
    state = state_shown(debugger)
    if not key:
        step = line_shown(debugger).shown
        asked = "; ".join(line.strip() for line in asked_lines(debugger.questions()))
        return state_table(state, step.wrote if step is not None else (), asked)
    fields = fields_of(state) or {}
    if key not in fields:
        raise MagicError(f"The state has no key {key!r}", where=f"%evo state {key}", fix=near(key, list(fields)))
    return fields[key]


async def _back(session: Session, rest: str) -> Standing:
    """`back [N]`: show an earlier step; nothing runs."""
    debugger, rest = await _soon(session, rest)
    debugger.step_back(_count(rest, "back"))
    return standing_of(debugger)


async def _on(session: Session, rest: str) -> Standing:
    """`on [N]`: show a later step of the record; nothing runs."""
    debugger, rest = await _soon(session, rest)
    debugger.step_forward(_count(rest, "on"))
    return standing_of(debugger)


async def _live(session: Session, rest: str) -> Standing:
    debugger, _ = await _soon(session, rest)
    debugger.live()
    return standing_of(debugger)


async def _until(session: Session, rest: str) -> Standing:
    """`until EXPR`: go back to the first step after which an expression over the state was true."""
    debugger, text = await _soon(session, rest)
    name_of(text, "until", "EXPR")
    try:
        code = compile(text, "<%evo until>", "eval")
    except SyntaxError as error:
        raise MagicError(f"{text[:60]!r} isn't an expression: {error.msg}", where="%evo until",
                         fix="write one over the state's keys, as in: %evo until score > 0.5") from error  # fmt: skip

    faults: list[Exception] = []

    def holds(state: Any) -> bool:
        try:
            return bool(eval(code, names_over(session, debugger, state)))
        except Exception as error:  # a key that wasn't there yet; told if it is never true
            faults.append(error)
            return False

    try:
        debugger.back_until(holds)
    except SessionError as error:
        if faults:
            error.fix = f"see whether it can be worked out: {type(faults[-1]).__name__}: {faults[-1]}"
        raise
    return standing_of(debugger)


async def _why(session: Session, rest: str) -> Answer:
    debugger, node = await _soon(session, rest)
    return Answer(debugger.why(name_of(node, "why", "NODE")).sentence)


async def _who(session: Session, rest: str) -> Any:
    debugger, key = await _soon(session, rest)
    return write_table(debugger, name_of(key, "who", "KEY"))


async def _compare(session: Session, rest: str) -> Any:
    """`compare A B`: two branches, by name or number; alone it compares the newest with main."""
    debugger, rest = await _soon(session, rest)
    names = rest.split()
    branches = [each.name for each in debugger.branches()]
    if not names and len(branches) > 1:
        names = [branches[0], branches[-1]]
    if len(names) != 2:
        raise MagicError("%evo compare wants two branches", where=f"%evo compare {rest}".strip(),
                         fix=f"there are: {', '.join(branches)}")  # fmt: skip
    a, b = (int(name) if name.isdigit() and name not in branches else name for name in names)
    return comparison_table(debugger.compare(a, b), *names)


async def _runs(session: Session, rest: str) -> Any:
    """`runs`: the stored runs of the graph."""
    debugger, _ = _named(session, rest)
    return run_table(debugger)


async def _open(session: Session, rest: str) -> Standing:
    """`open RUN`: stand where a stored run stands; an id's beginning is enough."""
    debugger, wanted = split_target(session, rest)
    known = [run.run_id for run in debugger.runs()]
    found = [run_id for run_id in known if wanted and run_id.startswith(wanted)]
    if len(found) != 1:
        what = f"There is no run {wanted!r}" if not found else f"Several runs begin with {wanted!r}"
        raise MagicError(what if wanted else "%evo open wants a run", where="%evo open", fix="see %evo runs")
    debugger.open_run(found[0])
    show_once(debugger)
    return standing_of(debugger)


def _named(session: Session, rest: str) -> tuple[GraphEngineDebugger, str]:
    if rest in session.graphs():
        session.debugging = rest
        return debugger_of(session, rest), ""
    return split_target(session, rest)


async def _soon(session: Session, rest: str) -> tuple[GraphEngineDebugger, str]:
    """The debugger, once it stands still or after a moment: a running session can be looked at too."""
    debugger, rest = split_target(session, rest)
    if debugger.run_id is None:
        raise MagicError("No session has begun", where=f"graph {debugger.name!r}", fix="%evo debug NAME {inputs}")
    await wait_until_still(debugger, SOON_S)
    return debugger, rest


def _count(text: str, command: str) -> int:
    if not text:
        return 1
    if not text.isdigit() or int(text) < 1:
        what = f"%evo {command} wants a number of steps, not {text[:40]!r}"
        raise MagicError(what, where=f"%evo {command} {text[:40]}", fix=f"write %evo {command} or %evo {command} 3")
    return int(text)


COMMANDS: Mapping[str, Callable[[Session, str], Awaitable[Any]]] = {
    "state": _state,
    "back": _back,
    "on": _on,
    "live": _live,
    "until": _until,
    "why": _why,
    "who": _who,
    "compare": _compare,
    "runs": _runs,
    "open": _open,
}
