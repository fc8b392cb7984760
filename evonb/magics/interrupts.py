"""The kernel's interrupt: it takes effect at once, and what it stops is said on a card.

A kernel hears the interrupt of an awaiting cell on its loop, and a loop that waits for something far off comes round
late. So while a cell runs the loop is woken a few times a second.
"""

from __future__ import annotations

import asyncio
import os
from collections.abc import Iterator
from types import FrameType, TracebackType
from typing import Any

from evonb.graph import GraphEngine, RunHandle
from evonb.graph.failure import describe
from evonb.graph.places import users_frame
from evonb.graph.run import Run
from evonb.magics.cards import Card
from evonb.widgets.display import has_kernel
from evonb.widgets.pace import running_loop

__all__ = ["Waking", "card_of_interrupt"]

WAKE_S = 0.2


class Waking:
    """Wakes the loop that runs a cell until the cell has ended."""

    def __init__(self) -> None:
        self._timer: asyncio.TimerHandle | None = None

    def start(self) -> None:
        """A cell begins; without a kernel an interrupt needs no help."""
        self.stop()
        loop = running_loop()
        if loop is not None and has_kernel():
            self._arm(loop)

    def stop(self) -> None:
        if self._timer is not None:
            self._timer.cancel()
            self._timer = None

    def _arm(self, loop: asyncio.AbstractEventLoop) -> None:
        self._timer = loop.call_later(WAKE_S, self._arm, loop)


def card_of_interrupt(error: BaseException) -> Card | None:
    """The card of an interrupt that stopped a run; None for any other."""
    if not isinstance(error, asyncio.CancelledError | KeyboardInterrupt):
        return None
    frames = list(_frames(error.__traceback__))
    owner = next((found for frame in frames if (found := _owner_of(frame)) is not None), None)
    if owner is None:
        return None
    if isinstance(owner, RunHandle):
        return _card_of_waiting(owner)
    graph = owner.name
    at = next((number for number in reversed(range(len(frames))) if _node_of(frames[number])), None)
    node = "" if at is None else _node_of(frames[at])
    inside = users_frame(error.__traceback__)
    info = describe(error) if at is not None and inside is not None and inside[0] in frames[at:] else None
    where = f"graph {graph!r} > node {node!r}" if node else f"graph {graph!r}"
    return Card(
        "Interrupted",
        "The run was stopped, because its cell was interrupted",
        ", ".join(part for part in ("" if info is None else info.where, where) if part),
        "run the cell again; %evo debug runs step by step, and keeps what was done",
        () if info is None else info.source,
    )


def _frames(trace: TracebackType | None) -> Iterator[FrameType]:
    while trace is not None:
        yield trace.tb_frame
        trace = trace.tb_next


def _card_of_waiting(handle: RunHandle) -> Card:
    goes_on = "" if handle.done else "; the run goes on"
    return Card(
        "Interrupted",
        f"The cell that waited for a background run was interrupted{goes_on}",
        f"graph {handle.engine.name!r}",
        "" if handle.done else "await its handle again, or stop the run: handle.stop()",
    )


def _owner_of(frame: FrameType) -> GraphEngine | RunHandle | None:
    """Whose code a frame of ours runs, if it is a graph's or a background run's."""
    owner: Any = frame.f_locals.get("self") if frame.f_code.co_filename.startswith(_HOME) else None
    return owner if isinstance(owner, GraphEngine | RunHandle) else None


def _node_of(frame: FrameType) -> str:
    task: Any = frame.f_locals.get("task") if frame.f_code is Run.perform.__code__ else None
    return str(task.node.name) if task is not None else ""


_HOME = os.path.dirname(GraphEngine.run.__code__.co_filename) + os.sep
