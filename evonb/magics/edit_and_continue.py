"""A graph's cell was run again: its debugger takes the new code and goes on, or another engine takes its place.

What was recorded, breakpoints and pins stay whenever they can.
"""

from __future__ import annotations

from collections.abc import Iterable

from evonb.errors import EvonbError
from evonb.graph import GraphEngine
from evonb.graph.debugger import GraphEngineDebugger
from evonb.widgets.debug_feed import move_debug_feed
from evonb.widgets.feed import feed_of, move_feed

__all__ = ["replaced", "stand_breaks"]


def replaced(former: GraphEngine, engine: GraphEngine) -> GraphEngine:
    """What stands in the place of `former` now: itself with the new code, if it is a stopped session that this fits.

    Listeners and views go on with it either way. What doesn't fit is printed.
    """
    if isinstance(former, GraphEngineDebugger) and former.run_id is not None:
        if former.status in ("running", "pausing"):
            former.stop()
            print(f"The session of {former.name} was running; it is stopped, since its graph was replaced.")
        elif not (misfits := former.adopt(engine)):
            feed_of(former).replace(former)
            move_debug_feed(former, former)
            print(_kept(former))
            return former
        else:
            print(f"The session of {former.name} can't go on with the new code, so a new one begins:")
            print("\n".join(f"- {misfit}" for misfit in misfits))
    if isinstance(former, GraphEngineDebugger) and not isinstance(engine, GraphEngineDebugger):
        # Breakpoints set by hand outlive a new run of the cell.
        engine = GraphEngineDebugger.of(engine, former.db_file_path, former.db_name)
    engine.take_listeners(former)
    move_feed(former, engine)
    if isinstance(former, GraphEngineDebugger) and isinstance(engine, GraphEngineDebugger):
        _keep_breakpoints(former, engine)
        move_debug_feed(former, engine)
    return engine


def stand_breaks(debugger: GraphEngineDebugger, nodes: Iterable[str]) -> None:
    """Stop before these nodes; a breakpoint that stands there already stays as it is."""
    standing = {each.node for each in debugger.breakpoints() if each.when == "before"}
    for node in nodes:
        if node not in standing:
            debugger.set_breakpoint(node)


def _kept(debugger: GraphEngineDebugger) -> str:
    steps = len(debugger.history())
    stay = "1 recorded step stays" if steps == 1 else f"{steps} recorded steps stay"
    return (
        f"The session of {debugger.name} goes on with the new code; its {stay}. "
        f"%evo resume or %evo step runs it, %evo debug {debugger.name} begins anew."
    )


def _keep_breakpoints(former: GraphEngineDebugger, engine: GraphEngineDebugger) -> None:
    for each in former.breakpoints():
        options = {
            name: getattr(each, name)
            for name in ("node", "edge", "condition", "predicate", "hit", "on_exception", "tool", "log")
        }
        try:
            made = engine.add_breakpoint(when=each.when, **options)
        except EvonbError as error:
            print(f"The breakpoint {each} is gone: {error.what}")
            continue
        if not each.enabled:
            engine.disable_breakpoint(made.id)
