"""What "resume" means on a button and in a magic: past what breakpoints hold, on to the next one."""

from __future__ import annotations

from typing import Any

from evonb.graph.debugger import GraphEngineDebugger

__all__ = ["go_on"]


async def go_on(debugger: GraphEngineDebugger, *, rerun_effects: bool = False) -> Any:
    """Run held tasks once and everything that isn't held.

    The documented `resume` leaves held tasks held, so they are stepped over first.

    Raises:
        NodeError: A node failed.
        EffectRepeats: An effect would act again.
        SessionError: It isn't allowed now.
    """
    for task in [task for task in debugger.waiting() if task.held and task.is_next]:
        result = await debugger.step_over(task.uuid, rerun_effects=rerun_effects)
        if debugger.status == "finished":
            return result
    return await debugger.resume(rerun_effects=rerun_effects)
