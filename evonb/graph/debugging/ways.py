"""Ways through a session's past: what comes before and after a place, what led to it, what two lines share."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING

from evonb.graph.debugging.steps import RAN

if TYPE_CHECKING:
    from evonb.graph.debugging.line import Inner, Moment, Place

__all__ = ["back_from", "common", "line_to", "place_before", "places_back", "step_after", "step_before", "visits_at"]


def place_before(moment: Moment, inner: Inner | None) -> Place | None:
    """The place before one; None before the start."""
    if inner is not None:
        return moment, inner.before
    return None if moment.before is None else (moment.before, moment.after)


def places_back(place: Place) -> Iterator[Place]:
    """This place and all before it, newest first; the start included."""
    found: Place | None = place
    while found is not None:
        yield found
        found = place_before(*found)


def step_before(place: Place) -> Place | None:
    """The place one step before: inside of a sub-graph one there. One that has finished is a single step."""
    before, (moment, inner) = place_before(*place), place
    if before is None:
        return None
    if inner is not None and inner.row.status in RAN:
        return _around((*inner.origin, inner.notes["ran"]), before)
    if inner is None and moment.status in RAN and moment.ran is not None:
        return _around((moment.ran.number,), before)
    return before


def _around(origin: tuple[int, ...], place: Place) -> Place:
    """The place before all that was done inside of a task; this place if something else was done meanwhile."""
    moment, inner = place
    while inner is not None and inner.origin[: len(origin)] == origin:
        if inner.origin == origin and inner.row.status == "entered":
            return moment, inner.before
        inner = inner.before
    return place


def step_after(place: Place, towards: Place) -> Place | None:
    """The place one step after, on the way to another; None if it isn't on that way, or is its end."""
    after: Place | None = towards
    while after is not None and (before := step_before(after)) != place:
        after = before
    if after is not None:
        return after
    # It is inside of a sub-graph that is one step on the way there.
    return next((each for each in places_back(towards) if place_before(*each) == place), None)


def back_from(moment: Moment | None) -> Iterator[Moment]:
    """This moment and all before it, newest first; the start included."""
    while moment is not None:
        yield moment
        moment = moment.before


def line_to(moment: Moment) -> list[Moment]:
    """All moments that led to this one, oldest first, without the start; itself included."""
    line = [each for each in back_from(moment) if each.before is not None]
    line.reverse()
    return line


def visits_at(moment: Moment, count: int) -> list[int]:
    """How often each of `count` nodes had been started on the way to a moment."""
    visits = [0] * count
    for each in back_from(moment):
        for made in each.made:
            if made.task is not None:
                visits[made.node.index] += 1
    return visits


def common(one: Moment, other: Moment) -> Moment:
    """The last moment that two lines share."""
    seen: Sequence[int] | set[int] = {each.number for each in back_from(one)}
    return next(each for each in back_from(other) if each.number in seen)
