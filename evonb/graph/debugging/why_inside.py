"""Why a node inside of a sub-graph waits, ran or hasn't run: said from the steps that were recorded there."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evonb.graph.debugging.line import Inner
from evonb.graph.debugging.steps import RAN
from evonb.graph.debugging.views import waiting_tasks
from evonb.graph.debugging.ways import places_back
from evonb.graph.debugging.why import Why
from evonb.graph.topology import PATH_SEPARATOR, node_id

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session
    from evonb.graph.debugging.views import WaitingTask

__all__ = ["why_inside"]


def why_inside(session: Session, name: str) -> Why:
    """The explanation for a node, by its id in the picture, at the moment that is shown."""
    waiting = next((each for each in waiting_tasks(session) if each.node_name == name), None)
    if waiting is not None:
        return _waits(waiting)
    ran = _runs(session, name)
    if ran:
        times = "once" if len(ran) == 1 else f"{len(ran)} times"
        sentence = f"{name} ran {times} so far, as step {ran[-1].number} inside"
        return Why("ran" if len(ran) == 1 else "ran twice", f"{sentence}.", {"inside": tuple(e.number for e in ran)})
    around = name.rpartition(PATH_SEPARATOR)[0]
    begun = any(PATH_SEPARATOR.join(each.path) == around for each in _all(session))
    told = f"nothing went to it in {around}" if begun else f"{around} hasn't been begun"
    return Why("not reached", f"{name} hasn't run: {told}.")


def _waits(waiting: WaitingTask) -> Why:
    name = waiting.node_name
    if waiting.failed:
        return Why("failed", f"{name} failed. Step it again to retry.")
    if not waiting.can_run:
        facts = {"arrived": waiting.arrived, "missing": waiting.missing}
        return Why("waits", f"{name} waits: {', '.join(waiting.missing)} hasn't come.", facts)
    if waiting.held:
        what = "run_to runs up to it" if waiting.held == "run_to" else f"breakpoint {waiting.held} holds it"
        return Why("held", f"{name} could run; {what}.", {"breakpoint": waiting.held})
    return Why("ready", f"{name} is ready and runs next.")


def _runs(session: Session, name: str) -> list[Inner]:
    """The finished tasks of a node on the way to the moment that is shown, oldest first."""
    ran = [each for each in _all(session) if each.row.status in RAN and node_id(each.path, each.row.node) == name]
    return ran[::-1]


def _all(session: Session) -> list[Inner]:
    """The steps inside on the way to the moment that is shown, newest first."""
    return [inner for _, inner in places_back(session.past.place) if inner is not None]
