"""Copies of big lists and dicts that aren't made before somebody looks.

They are for state keys that a node is known not to read (`reads`): its state is still whole for whoever looks at it
from elsewhere, a debugger that walks frames for instance. The first look through Python fills the copy, and from then
on it is an ordinary copy-on-read. Only C code that reads a list's storage without asking would find it empty, so a
late copy is never given for a key that the node's own code could read.
"""

from __future__ import annotations

from typing import Any

from evonb.graph.containers import WRAP, ReadDict, ReadList
from evonb.graph.isolate import _TAKE

__all__ = ["BIG", "LateDict", "LateList", "fill_first", "late"]

BIG = 256
"""Copying fewer elements than this costs no more than finding out whether a node can see them."""

_LEFT = (
    "__class__ __class_getitem__ __delattr__ __dir__ __doc__ __getattribute__ __hash__ __init__ __init_subclass__ "
    "__new__ __setattr__ __sizeof__ __subclasshook__"
)


class LateList(ReadList):
    """A `ReadList` without its elements; it becomes a real one on first use."""

    __slots__ = ()

    def __init__(self, base: list[Any]) -> None:
        self._base = base
        self._own = self._flat = None
        self._changed = False

    def _fill(self) -> None:
        if type(self) is LateList:  # else another thread was quicker
            list.__init__(self, self._base)
            self.__class__ = ReadList  # type: ignore[assignment]


class LateDict(ReadDict):
    """A `ReadDict` without its items; it becomes a real one on first use."""

    __slots__ = ()

    def __init__(self, base: dict[Any, Any]) -> None:
        self._base = base
        self._own = None
        self._changed = False

    def _fill(self) -> None:
        if type(self) is LateDict:
            dict.update(self, self._base)
            self.__class__ = ReadDict  # type: ignore[assignment]


def late(value: Any) -> Any:
    """The late copy of a list or dict."""
    return LateList(value) if isinstance(value, list) else LateDict(value)


def _filling(name: str) -> Any:
    def method(self: Any, *args: Any, **kwargs: Any) -> Any:
        self._fill()
        return getattr(self, name)(*args, **kwargs)

    method.__name__ = name
    return method


def fill_first(kind: type, builtin: type) -> None:
    """Have a class fill itself, by its `_fill`, before anything that its builtin base can do is done with it."""
    left = _LEFT.split(" ")
    for name in dir(builtin):
        if name not in left and callable(getattr(builtin, name)):
            setattr(kind, name, _filling(name))


fill_first(LateList, list)
fill_first(LateDict, dict)
for _kind, _read in ((LateList, ReadList), (LateDict, ReadDict)):
    WRAP[_kind], _TAKE[_kind] = _read, lambda value: value._base
