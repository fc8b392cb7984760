"""`%evo debug` and the commands that go on: each is a button of the panel, and says where the session stands."""

from __future__ import annotations

import re
from collections.abc import Awaitable, Callable, Mapping
from typing import Any

from evonb.errors import MagicError
from evonb.graph.debugger import GraphEngineDebugger
from evonb.magics.evo_inputs import name_of, names_over, read_inputs
from evonb.magics.session import Session
from evonb.magics.standing import Standing, standing_of
from evonb.magics.stops import USAGE as BREAK_USAGE
from evonb.magics.stops import parse_stop
from evonb.magics.tables import breakpoint_table
from evonb.magics.target import SOON_S, debugger_of, follow, split_target, wait_until_still
from evonb.widgets.debug_feed import look_back
from evonb.widgets.debug_schema import Keys
from evonb.widgets.display import has_kernel, show_once
from evonb.widgets.going_on import go_on

__all__ = ["COMMANDS"]


async def _debug(session: Session, rest: str) -> Standing:
    """`debug NAME [inputs]`: begin a session; in a notebook the cell is free again at once."""
    name, _, text = rest.partition(" ")
    session.graph(name_of(name, "debug"))
    inputs = read_inputs(session, text.strip(), "debug")
    debugger = debugger_of(session, name)
    session.debugging = name
    await wait_until_still(debugger)
    show_once(debugger)
    if has_kernel():
        await follow(debugger, _begun(debugger, inputs))
    else:
        await follow(debugger, debugger.debug(inputs))
    return standing_of(debugger)


async def _begun(debugger: GraphEngineDebugger, inputs: Any) -> Any:
    """A live session up to where it stands still; a failed node is raised, for its card."""
    handle = debugger.start(inputs)
    await wait_until_still(debugger)
    return await handle if debugger.status in ("failed", "finished") else None


async def _step(session: Session, rest: str) -> Standing:
    """`step [NODE]`: one task, or every ready one; `--into` a sub-graph, `--out` of it."""
    debugger, rest = await _still(session, rest)
    words = rest.split()
    again = "--again" in words
    names = [word for word in words if not word.startswith("--")]
    if "--into" in words:
        work = debugger.step_into(debugger.find(" ".join(names)) if names else None)
    elif "--out" in words:
        work = debugger.step_out()
    else:
        uuid = debugger.find(" ".join(names)) if names else None
        work = debugger.step_over(uuid, rerun_effects=again)
    return await _gone(debugger, work)


async def _resume(session: Session, rest: str) -> Standing:
    """`resume`: run what breakpoints hold, and on to the next one."""
    debugger, rest = await _still(session, rest)
    return await _gone(debugger, go_on(debugger, rerun_effects="--again" in rest.split()))


async def _to(session: Session, rest: str) -> Standing:
    """`to NODE`: run everything on, up to a node."""
    debugger, rest = await _still(session, rest)
    return await _gone(debugger, debugger.run_to(name_of(rest, "to", "NODE")))


async def _fork(session: Session, rest: str) -> Standing:
    """`fork [NAME]`: go on from the step that is shown, on a branch of its own."""
    debugger, rest = await _still(session, rest)
    if debugger.looking_at is None:
        raise MagicError("The present is shown, and going on from there makes no branch", where="%evo fork",
                         fix="go back first: %evo back")  # fmt: skip
    look_back(debugger)
    await follow(debugger, go_on(debugger))
    if rest:
        debugger.name_branch(next(each.id for each in debugger.branches() if each.present), rest)
    return standing_of(debugger)


async def _gone(debugger: GraphEngineDebugger, work: Awaitable[Any]) -> Standing:
    look_back(debugger)
    await follow(debugger, work)
    return standing_of(debugger)


async def _pause(session: Session, rest: str) -> Standing:
    debugger, _ = split_target(session, rest)
    debugger.pause()
    await wait_until_still(debugger, SOON_S)
    return standing_of(debugger)


async def _stop(session: Session, rest: str) -> Standing:
    debugger, _ = split_target(session, rest)
    debugger.stop()
    await wait_until_still(debugger, SOON_S)
    return standing_of(debugger)


async def _break(session: Session, rest: str) -> Any:
    """`break NODE [if EXPR] [after] [hit N]`; alone it lists."""
    debugger, rest = split_target(session, rest)
    if rest:
        options = parse_stop(rest)
        if set(options) == {"node"}:
            debugger.set_breakpoint(options["node"])
        else:
            debugger.add_breakpoint(**options)
    return breakpoint_table(debugger)


async def _unbreak(session: Session, rest: str) -> Any:
    """`unbreak NODE`, `unbreak ID`, or `unbreak all`."""
    debugger, rest = split_target(session, rest)
    if not rest:
        raise MagicError(
            "%evo unbreak wants a node, a number or all", where="%evo unbreak", fix="write %evo unbreak NODE"
        )
    if rest == "all":
        debugger.clear_all_breakpoint()
        return breakpoint_table(debugger)
    found = [each.id for each in debugger.breakpoints() if rest in (each.id, each.node, each.edge, each.tool)]
    if not found:
        debugger.clear_breakpoint(rest)  # says so if there is no such node
        raise MagicError(
            f"No breakpoint stands at {rest!r}", where="%evo unbreak", fix=f"see %evo break, {BREAK_USAGE}"
        )
    for each in found:
        debugger.remove_breakpoint(each)
    return breakpoint_table(debugger)


_EDIT = re.compile(r"(?P<key>\w+)\s*=(?!=)\s*(?P<text>.+)$", re.DOTALL)


async def _edit(session: Session, rest: str) -> Standing:
    """`edit KEY=EXPR`: a key of the state that the next task starts from; `NODE.KEY=EXPR` where several wait."""
    debugger, rest = await _still(session, rest)
    node, dot, tail = rest.partition(".")
    uuid = None
    if dot and node.isidentifier() and node in debugger.nodes and _EDIT.match(tail):
        uuid, rest = debugger.find(node), tail
    found = _EDIT.match(rest)
    if found is None:
        raise MagicError(
            "An edit is KEY=EXPR", where=f"%evo edit {rest[:60]}", fix="write for example: %evo edit score=0.9"
        )
    debugger.edit(found["key"], _value(session, debugger, found["key"], found["text"], uuid), uuid)
    return standing_of(debugger)


def _value(session: Session, debugger: GraphEngineDebugger, key: str, text: str, uuid: str | None) -> Any:
    """Python over the notebook's names and the state's keys, typed in the kernel; else a word, as in the panel."""
    state = debugger.state(uuid=uuid) if uuid else debugger.state()
    try:
        return eval(text, names_over(session, debugger, state))
    except (NameError, SyntaxError):
        return Keys.of(debugger.state_schema)[key].read(text)
    except Exception as error:
        raise MagicError(
            f"The value can't be worked out: {type(error).__name__}: {error}", where=f"%evo edit {key}={text[:60]}",
            fix="write a Python expression over the state's keys",
        ) from error  # fmt: skip


async def _still(session: Session, rest: str) -> tuple[GraphEngineDebugger, str]:
    debugger, rest = split_target(session, rest)
    await wait_until_still(debugger)
    return debugger, rest


COMMANDS: Mapping[str, Callable[[Session, str], Awaitable[Any]]] = {
    "debug": _debug,
    "break": _break,
    "unbreak": _unbreak,
    "step": _step,
    "resume": _resume,
    "to": _to,
    "pause": _pause,
    "stop": _stop,
    "edit": _edit,
    "fork": _fork,
}
