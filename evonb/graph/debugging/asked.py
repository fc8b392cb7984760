"""A session whose running nodes only wait for a person: what they ask, and going on elsewhere meanwhile."""

from __future__ import annotations

import asyncio
import sys
from collections import Counter
from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from evonb.graph.asking import Question
    from evonb.graph.debugging.inside import Parked
    from evonb.graph.debugging.points import Waiting
    from evonb.graph.debugging.session import Session

__all__ = ["go_beside", "idle_tasks", "only_asks", "questions_of"]


def questions_of(session: Session) -> list[Question]:
    """What the session's nodes ask and wait for, oldest first."""
    asking = sys.modules.get("evonb.graph.asking")  # most sessions never ask
    return [] if asking is None or not session.begun else asking.open_questions(session.run.bus.run_id)


def only_asks(session: Session) -> bool:
    """Whether a command runs and all that is under way waits: for answers, or parked inside beside one that asks."""
    if not session.busy or not session.flying:
        return False
    asked = Counter(each.path[0] if each.path else each.node for each in questions_of(session))
    if not asked:
        return False
    for waiting in session.flying.values():
        name = waiting.node.name
        if any(each.owner == waiting.number for each in session.inside.parked):
            continue
        if not asked[name]:
            return False
        asked[name] -= 1
    return True


def idle_tasks(session: Session) -> list[Waiting]:
    """What could run beside the tasks that are under way."""
    flying = {each.number for each in session.flying.values()}
    return [each for each in session.line.present.point.waiting if each.can_run and each.number not in flying]


async def go_beside(session: Session, ready: Iterable[Waiting], *, on: bool, release: Iterable[Parked] = ()) -> None:
    """Have the command that waits for answers run these tasks too, and what follows from them if `on`.

    Returns once again nothing but answers is waited for, or the command is over.

    Raises:
        EffectRepeats: An effect would act again; everything else that could has run.
    """
    from evonb.graph.asking import watch_questions

    loop, moved = asyncio.get_running_loop(), asyncio.Event()
    leave = watch_questions(lambda *_: loop.call_soon_threadsafe(moved.set))
    session.watchers.append(moved.set)
    performer = session.performer
    try:
        session.driver.beside(ready, on=on, release=release)
        session.changed()
        while session.busy and not only_asks(session):
            moved.clear()
            await moved.wait()
    finally:
        leave()
        session.watchers.remove(moved.set)
    if performer.has_asked and session.busy:
        error = performer.asking()
        performer.forget_asked()
        raise error
