"""Whether one run can visit all of several nodes, whatever its routers choose.

For each node the sets of wanted nodes are worked out that a run coming there can still visit, best choices first.
An ordinary fan-out visits what all its branches visit; a router that picks one target visits what one of them does.
Loops are gone round until nothing is added. Other joins are taken to fire, so the answer errs towards yes.
"""

from __future__ import annotations

from itertools import product

from evonb.graph.plan import START
from evonb.graph.shape import Shape, Way

__all__ = ["can_cover"]

_Sets = frozenset[int]
_MOST = 64  # families that grow beyond this are taken to cover everything


class _TooMany(Exception):
    """A family of sets grew too large to go on."""


def can_cover(shape: Shape, blocked: str | None, wanted: list[str], *, several: bool) -> bool:
    """Whether a run can visit every wanted node.

    Args:
        shape: The graph.
        blocked: A node that nothing leads on from; None for none.
        wanted: The nodes.
        several: Whether routers that may pick several targets do so; if not they pick one.
    """
    bits = {name: 1 << bit for bit, name in enumerate(wanted)}
    full = (1 << len(wanted)) - 1
    useful = shape.reachable(wanted, backwards=True)
    if not any(way.choice != "all" and len(way.targets) > 1 for name in useful for way in shape.outs[name]):
        return _all_reached(shape, blocked, wanted)
    families: dict[str, _Sets] = dict.fromkeys(useful, frozenset({0}))
    left = list(useful)
    try:
        while left:
            name = left.pop()
            ways = () if name == blocked else shape.outs[name]
            found = _visit(ways, families, bits.get(name, 0), several=several)
            if found != families[name]:
                families[name] = found
                left += [before for before in shape.before[name] if before in useful]
    except _TooMany:
        return True
    return full in families.get(START, ())


def _all_reached(shape: Shape, blocked: str | None, wanted: list[str]) -> bool:
    """The answer where nothing has to be chosen."""
    found, left = {START}, [START]
    while left:
        name = left.pop()
        for target in shape.after(name) if name != blocked else ():
            if target not in found:
                found.add(target)
                left.append(target)
    return found.issuperset(wanted)


def _visit(ways: list[Way] | tuple[Way, ...], families: dict[str, _Sets], own: int, *, several: bool) -> _Sets:
    reached: _Sets = frozenset({own})
    for way in ways:
        arms = [families[target] for target in way.targets if target in families]
        if not arms:
            continue
        if way.choice == "all" or (way.choice == "some" and several):
            for arm in arms:
                reached = _both(reached, arm)
        else:
            reached = _both(reached, _largest(frozenset().union(*arms)))
    return reached


def _both(one: _Sets, other: _Sets) -> _Sets:
    if len(one) == 1 == len(other):
        return frozenset({next(iter(one)) | next(iter(other))})
    if len(one) * len(other) > _MOST * _MOST:
        raise _TooMany
    return _largest(frozenset(first | second for first, second in product(one, other)))


def _largest(sets: _Sets) -> _Sets:
    """Only those that no other one contains."""
    kept: list[int] = []
    for each in sorted(sets, key=int.bit_count, reverse=True):
        if not any(each & ~other == 0 for other in kept):
            kept.append(each)
    if len(kept) > _MOST:
        raise _TooMany
    return frozenset(kept)
