"""Lending a state value to node after node without copying it each time.

A node gets a shallow copy of every list, dict or set in the state, which for ten megabytes is felt. So the copy
is kept and lent again if nobody has kept a reference to it (its reference count says so) and it can be made as
new cheaply. Where reference counts can't be trusted, every hand-out makes a new copy.
"""

from __future__ import annotations

import sys
from typing import Any

from evonb.graph.containers import WRAP, ReadDict, ReadList, ReadSet

Pool = dict[str, Any]
"""The copy that was lent last for each state key; one pool per run."""


def _held(pool: Pool, key: str) -> int:
    """References to the kept copy, seen from a function shaped as `lend` is."""
    copy = pool.get(key)
    return sys.getrefcount(copy)


def _calibrate() -> int:
    gil = getattr(sys, "_is_gil_enabled", None)
    if sys.implementation.name != "cpython" or (gil is not None and not gil()):
        return -1
    return _held({"key": ReadList([])}, "key")


_UNSHARED = _calibrate()


def lend(pool: Pool, key: str, value: Any) -> Any:
    """A copy-on-read of the container `value` that no other reader holds."""
    copy = pool.get(key)
    if copy is not None and copy._base is value and sys.getrefcount(copy) == _UNSHARED and copy._reset():
        return copy
    handler = WRAP[value.__class__]
    assert handler is not None
    copy = pool[key] = handler(value)
    return copy


LENT: frozenset[type] = frozenset({list, dict, set})
"""Types of values that go through `lend`; `messages` adds its own."""

__all__ = ["LENT", "Pool", "ReadDict", "ReadList", "ReadSet", "lend"]
