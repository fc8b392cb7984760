"""Two branches side by side: their steps aligned, and what came out differently."""

from __future__ import annotations

import difflib
from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evonb.graph import record as records
from evonb.graph.debugging.line import Moment
from evonb.graph.debugging.steps import RAN, Step
from evonb.graph.debugging.ways import common, line_to

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["Comparison", "Pair", "RouteDifference", "StateDifference", "compare_lines"]


@dataclass(frozen=True, slots=True)
class Pair:
    """One row of a comparison: a step of either branch, or of one only.

    Attributes:
        left, right: The steps; None where the branch has none.
        same: Whether both did the same: the same step, or the same node with an equal delta.
    """

    left: Step | None
    right: Step | None
    same: bool


@dataclass(frozen=True, slots=True)
class StateDifference:
    """A state key that the branches left with other values; MISSING where it was never written."""

    key: str
    left: Any
    right: Any


@dataclass(frozen=True, slots=True)
class RouteDifference:
    """A node that went on to other nodes, at the same visit."""

    node: str
    visit: int
    left: tuple[str, ...]
    right: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Comparison:
    """What differs between two branches.

    Attributes:
        forked_at: The last step that both share; 0 is the start.
        pairs: The steps after it, aligned.
        state: State keys with other values at the ends.
        routes: Where they went other ways.
    """

    forked_at: int
    pairs: tuple[Pair, ...]
    state: tuple[StateDifference, ...]
    routes: tuple[RouteDifference, ...]

    def __bool__(self) -> bool:
        """Whether anything differs."""
        return bool(self.state or self.routes or any(not pair.same for pair in self.pairs))


def compare_lines(session: Session, left: Moment, right: Moment, view: Any) -> Comparison:
    """Compare the lines that lead to two moments; `view` makes a `Step` of a moment."""
    shared = common(left, right)
    ours, theirs = (_since(tip, shared) for tip in (left, right))
    return Comparison(
        shared.number,
        tuple(_pairs(ours, theirs, view)),
        tuple(_state(session, left, right)),
        tuple(_routes(ours, theirs)),
    )


def _since(tip: Moment, shared: Moment) -> list[Moment]:
    return [each for each in line_to(tip) if each.number > shared.number]


def _name(moment: Moment) -> tuple[str, str]:
    return (moment.ran.node.name if moment.ran is not None else "", "" if moment.status in RAN else moment.status)


def _pairs(ours: Sequence[Moment], theirs: Sequence[Moment], view: Any) -> list[Pair]:
    matcher = difflib.SequenceMatcher(
        None, [_name(each) for each in ours], [_name(each) for each in theirs], autojunk=False
    )
    pairs: list[Pair] = []
    for kind, start, end, begin, stop in matcher.get_opcodes():
        if kind == "equal":
            both = zip(ours[start:end], theirs[begin:stop], strict=True)
            pairs += [Pair(view(one), view(other), _alike(one, other)) for one, other in both]
        else:
            pairs += [Pair(view(each), None, False) for each in ours[start:end]]
            pairs += [Pair(None, view(each), False) for each in theirs[begin:stop]]
    return pairs


def _alike(one: Moment, other: Moment) -> bool:
    if one.change is not None or other.change is not None:
        return one.change is not None and other.change is not None and _equal(one.change.value, other.change.value)
    mine, yours = one.record.delta or {}, other.record.delta or {}
    return mine.keys() == yours.keys() and all(_equal(value, yours[key]) for key, value in mine.items())


def _equal(one: Any, other: Any) -> bool:
    if one is other:
        return True
    try:
        return bool(one == other)
    except Exception:  # arrays and the like
        return False


def _state(session: Session, left: Moment, right: Moment) -> list[StateDifference]:
    schema = session.plan.schema
    mine, yours = (records.values_of(schema, session.record_at(each)) for each in (left, right))
    return [
        StateDifference(key, mine.get(key), yours.get(key))
        for key in dict.fromkeys((*mine, *yours))
        if not _equal(mine.get(key), yours.get(key))
    ]


def _routes(ours: Sequence[Moment], theirs: Sequence[Moment]) -> list[RouteDifference]:
    went = {_visit(each): each for each in theirs if each.status in RAN}
    found = []
    for each in ours:
        other = went.get(_visit(each)) if each.status in RAN else None
        if other is not None and (mine := _targets(each)) != (yours := _targets(other)):
            found.append(RouteDifference(*_visit(each), mine, yours))
    return found


def _visit(moment: Moment) -> tuple[str, int]:
    ran = moment.ran
    return (ran.node.name, ran.task.visit if ran.task is not None else 0) if ran is not None else ("", 0)


def _targets(moment: Moment) -> tuple[str, ...]:
    return tuple(hop.target.name for hop in moment.hops)
