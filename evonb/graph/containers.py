"""Lists, dicts and sets that a node may do anything with: copies made piece by piece, as they are read.

Each is a subclass of the builtin whose own storage is a shallow copy of the state's value, so that C code which
looks straight into it (json, len, ==, pickle) is right. An element that could be changed in place is copied when
it is first read through Python, and the copy takes its place: `x[0] is x[0]` holds, and nothing that is done to
it reaches the state. What is never read is never copied.

`_base` is the state's value. `_own` remembers the elements that belong to this copy already. `_changed` says
that the copy no longer corresponds to its base element by element.
"""

from __future__ import annotations

import copy
import opcode
import sys
from collections.abc import Callable, Iterable, Iterator
from typing import Any, SupportsIndex

_Handler = Callable[[Any], Any] | None

WRAP: dict[type, _Handler] = {}
"""How a value of this very type is handed out; None: as it is. Types are learnt on first use (`isolate`)."""

_learn: Callable[[type], _Handler]


def set_learner(learn: Callable[[type], _Handler]) -> None:
    """Give the function that finds the handler of a type seen for the first time."""
    global _learn
    _learn = learn


def wrap(value: Any) -> Any:
    """`value` for a reader who may do anything with it: itself if it can't be changed, else a copy-on-read."""
    try:
        handler = WRAP[value.__class__]
    except KeyError:
        handler = _learn(value.__class__)
    return value if handler is None else handler(value)


def _adding_in_place() -> bool:
    """Whether the caller's caller is executing `x += y` and not `x + y`.

    `plain += copy` first asks the right-hand side's `__radd__`; leaving it to list then extends in place, through
    our iterator, as it should. `plain + copy` would read our storage directly, so that one is done here.
    """
    frame = sys._getframe(2)
    code = frame.f_code.co_code
    return code[frame.f_lasti] == _BINARY_OP and code[frame.f_lasti + 1] >= _IN_PLACE


_BINARY_OP = opcode.opmap["BINARY_OP"]
_IN_PLACE = 13  # every in-place operator of BINARY_OP has an argument from here on


class ReadList(list[Any]):
    """A list that copies its elements when they are read."""

    __slots__ = ("_base", "_changed", "_flat", "_own")

    def __init__(self, base: list[Any]) -> None:
        list.__init__(self, base)
        self._base = base
        self._own: dict[int, tuple[Any, int]] | None = None
        self._changed = False
        self._flat: bool | None = None

    def _is_flat(self) -> bool:
        # Nothing in it could be changed in place: plain list behaviour is right and quick.
        if self._flat is None:
            kinds = set(map(type, list.__iter__(self)))
            self._flat = all(kind in WRAP and WRAP[kind] is None for kind in kinds)
        return self._flat

    def _read(self, index: int) -> Any:
        value = list.__getitem__(self, index)
        kind = value.__class__
        try:
            handler = WRAP[kind]
        except KeyError:
            handler = _learn(kind)
        if handler is None or (self._own is not None and id(value) in self._own):
            return value
        return self._adopt(handler(value), index if index >= 0 else index + len(self))

    def _adopt(self, mine: Any, index: int) -> Any:
        if self._own is None:
            self._own = {}
        self._own[id(mine)] = (mine, index)
        list.__setitem__(self, index, mine)
        return mine

    def _keep(self, values: Iterable[Any]) -> list[Any]:
        """Note that these come from the user: they are never copied again."""
        kept = list(values)
        self._changed = True
        self._flat = None
        if self._own is None:
            self._own = {}
        for value in kept:
            if WRAP.get(value.__class__, wrap) is not None:
                self._own[id(value)] = (value, -1)
        return kept

    def _reset(self) -> bool:
        """Become as new; False if that would cost as much as a new one. Only for a copy that nobody holds."""
        if self._changed:
            return False
        if self._own:
            for _, index in self._own.values():
                list.__setitem__(self, index, self._base[index])
            self._own = None
        return True

    def _all(self) -> list[Any]:
        if self._is_flat():
            return list.__getitem__(self, slice(None))
        return [self._read(index) for index in range(len(self))]

    def __getitem__(self, index: Any) -> Any:
        if isinstance(index, slice):
            if self._is_flat():
                return list.__getitem__(self, index)
            return [self._read(position) for position in range(*index.indices(len(self)))]
        return self._read(index.__index__())

    def __iter__(self) -> Iterator[Any]:
        plain: Iterator[Any] = list.__iter__(self)
        return plain if self._is_flat() else self._walk()

    def _walk(self) -> Iterator[Any]:
        index = 0
        while index < len(self):
            yield self._read(index)
            index += 1

    def __reversed__(self) -> Iterator[Any]:
        backwards: Iterator[Any] = reversed(self._all())
        return backwards

    def __setitem__(self, index: Any, value: Any) -> None:
        if isinstance(index, slice):
            list.__setitem__(self, index, self._keep(value))
        else:
            list.__setitem__(self, index, self._keep((value,))[0])

    def __delitem__(self, index: Any) -> None:
        self._changed = True
        list.__delitem__(self, index)

    def append(self, value: Any) -> None:
        list.append(self, self._keep((value,))[0])

    def extend(self, values: Iterable[Any]) -> None:
        list.extend(self, self._keep(values))

    def insert(self, index: SupportsIndex, value: Any) -> None:
        list.insert(self, index, self._keep((value,))[0])

    def pop(self, index: SupportsIndex = -1) -> Any:
        value = self._read(index.__index__())
        self._changed = True
        list.pop(self, index)
        return value

    def remove(self, value: Any) -> None:
        self._changed = True
        list.remove(self, value)

    def clear(self) -> None:
        self._changed = True
        list.clear(self)

    def reverse(self) -> None:
        self._changed = True
        list.reverse(self)

    def sort(self, *, key: Any = None, reverse: bool = False) -> None:
        items = self._all()  # `key` is the user's code: it sees copies only
        items.sort(key=key, reverse=reverse)
        self[:] = items

    def copy(self) -> list[Any]:
        return self._all()

    def __add__(self, other: Any) -> Any:
        return self._all() + other if isinstance(other, list) else NotImplemented

    def __radd__(self, other: Any) -> Any:
        if not isinstance(other, list) or _adding_in_place():
            return NotImplemented
        return list(other) + self._all()

    def __iadd__(self, values: Iterable[Any]) -> ReadList:  # type: ignore[misc]
        self.extend(values)
        return self

    def __mul__(self, times: SupportsIndex) -> list[Any]:
        return self._all() * times

    __rmul__ = __mul__

    def __imul__(self, times: SupportsIndex) -> ReadList:
        self[:] = self._all() * times
        return self

    def __reduce_ex__(self, _protocol: SupportsIndex) -> tuple[Any, ...]:
        return (list, (list.__getitem__(self, slice(None)),))

    def __copy__(self) -> list[Any]:
        return self._all()

    def __deepcopy__(self, memo: dict[int, Any]) -> list[Any]:
        return [copy.deepcopy(item, memo) for item in list.__iter__(self)]


class ReadDict(dict[Any, Any]):
    """A dict that copies its values when they are read.

    `__iter__` is overridden although it does nothing else: CPython copies a dict subclass through its
    `__getitem__` only then, which keeps `dict(x)` and `{**x}` from seeing the state's own values.
    """

    __slots__ = ("_base", "_changed", "_own")

    def __init__(self, base: dict[Any, Any]) -> None:
        dict.__init__(self, base)
        self._base = base
        self._own: dict[Any, Any] | None = None
        self._changed = False

    def _read(self, key: Any, value: Any) -> Any:
        kind = value.__class__
        try:
            handler = WRAP[kind]
        except KeyError:
            handler = _learn(kind)
        if handler is None or (self._own is not None and self._own.get(key, _NOTHING) is value):
            return value
        return self._put(key, handler(value))

    def _put(self, key: Any, mine: Any) -> Any:
        if self._own is None:
            self._own = {}
        self._own[key] = mine
        dict.__setitem__(self, key, mine)
        return mine

    def _reset(self) -> bool:
        """As `ReadList._reset`."""
        if self._changed:
            return False
        if self._own:
            for key in self._own:
                dict.__setitem__(self, key, self._base[key])
            self._own = None
        return True

    def __getitem__(self, key: Any) -> Any:
        return self._read(key, dict.__getitem__(self, key))

    def __iter__(self) -> Iterator[Any]:
        return dict.__iter__(self)

    def get(self, key: Any, default: Any = None) -> Any:
        value = dict.get(self, key, _NOTHING)
        return default if value is _NOTHING else self._read(key, value)

    def _wrap_all(self) -> None:
        for key, value in list(dict.items(self)):
            self._read(key, value)

    def values(self) -> Any:
        self._wrap_all()
        return dict.values(self)

    def items(self) -> Any:
        self._wrap_all()
        return dict.items(self)

    def __setitem__(self, key: Any, value: Any) -> None:
        self._changed = True
        self._put(key, value)

    def __delitem__(self, key: Any) -> None:
        self._changed = True
        dict.__delitem__(self, key)

    def setdefault(self, key: Any, default: Any = None) -> Any:
        if key not in self:
            self[key] = default
        return self[key]

    def pop(self, key: Any, *default: Any) -> Any:
        if key in self:
            self[key]
        self._changed = True
        return dict.pop(self, key, *default)

    def popitem(self) -> tuple[Any, Any]:
        if self:
            self[next(reversed(self))]
        self._changed = True
        return dict.popitem(self)

    def update(self, *args: Any, **kwargs: Any) -> None:
        for key, value in dict(*args, **kwargs).items():
            self[key] = value

    def clear(self) -> None:
        self._changed = True
        dict.clear(self)

    def copy(self) -> dict[Any, Any]:
        self._wrap_all()
        return dict(dict.items(self))

    def __or__(self, other: Any) -> Any:
        return self.copy() | other if isinstance(other, dict) else NotImplemented

    def __ror__(self, other: Any) -> Any:
        return {**other, **self} if isinstance(other, dict) else NotImplemented

    def __ior__(self, other: Any) -> ReadDict:
        self.update(other)
        return self

    def __reduce_ex__(self, _protocol: SupportsIndex) -> tuple[Any, ...]:
        return (dict, (list(dict.items(self)),))

    __copy__ = copy

    def __deepcopy__(self, memo: dict[int, Any]) -> dict[Any, Any]:
        return {_deep(key, memo): _deep(value, memo) for key, value in dict.items(self)}


_deep = copy.deepcopy
_NOTHING: Any = object()


class ReadSet(set[Any]):
    """A set that knows whether it was changed; its elements have hashes and are taken to be immutable."""

    __slots__ = ("_base", "_changed")

    def __init__(self, base: set[Any]) -> None:
        set.__init__(self, base)
        self._base = base
        self._changed = False

    def _reset(self) -> bool:
        """As `ReadList._reset`."""
        return not self._changed

    def __reduce_ex__(self, _protocol: SupportsIndex) -> tuple[Any, ...]:
        return (set, (list(self),))

    def __repr__(self) -> str:
        return repr(set(self))

    def __copy__(self) -> set[Any]:
        return set(self)

    def copy(self) -> set[Any]:
        return set(self)

    def __deepcopy__(self, memo: dict[int, Any]) -> set[Any]:
        return {_deep(item, memo) for item in self}


def _noting(name: str) -> Any:
    method = getattr(set, name)

    def changing(self: ReadSet, *args: Any) -> Any:
        self._changed = True
        return method(self, *args)

    changing.__name__ = name
    changing.__doc__ = method.__doc__
    return changing


_CHANGERS = (
    "add discard remove pop clear update difference_update intersection_update symmetric_difference_update "
    "__ior__ __iand__ __isub__ __ixor__"
)
for _name in _CHANGERS.split(" "):
    setattr(ReadSet, _name, _noting(_name))
