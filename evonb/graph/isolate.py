"""Keeping the state to itself: what is handed out is copied as it is read, what comes in is copied once.

`wrap` hands a value of the state out. `take` takes a value in: it gives plain containers that nobody else holds,
and finds out what came back untouched, which then costs nothing and counts as no change. Values without mutable
parts are shared. Tools of the standard library that stand for something outside the state (events, locks, files,
queues) are shared as well: a copy of them would be useless. Everything else is deep-copied, or shared if it refuses.
"""

from __future__ import annotations

import copy
import dataclasses
import sys
from collections.abc import Callable
from enum import Enum
from types import BuiltinFunctionType, FunctionType, MethodType, ModuleType, NoneType
from typing import Any

from pydantic import BaseModel

from evonb.errors import StateError
from evonb.graph.containers import WRAP, ReadDict, ReadList, ReadSet, set_learner, wrap

__all__ = ["is_atom", "take", "wrap"]

_Handler = Callable[[Any], Any] | None
_set = object.__setattr__

_ATOMS = (
    int,
    str,
    float,
    bool,
    NoneType,
    bytes,
    complex,
    frozenset,
    range,
    slice,
    type,
    type(...),
    type(NotImplemented),
)
_CODE = (FunctionType, BuiltinFunctionType, MethodType, ModuleType)
_ATOM_MODULES = frozenset({"datetime", "decimal", "fractions", "ipaddress", "pathlib", "re", "uuid", "zoneinfo"})
# Of the standard library only data is copied.
_DATA_MODULES = frozenset({"array", "builtins", "collections", "types"})

_TAKE: dict[type, _Handler] = {}
"""How a value of this very type is taken in; None: as it is."""


def is_atom(kind: type) -> bool:
    """Whether values of this type can't be changed in place."""
    if kind not in WRAP:
        _learn(kind)
    return WRAP[kind] is None


def take(value: Any) -> Any:
    """`value` as the state keeps it: plain containers, nothing shared that could be changed from outside.

    Raises:
        StateError: A container holds itself, or is nested too deeply.
    """
    try:
        return _take(value)
    except RecursionError:
        raise StateError(
            f"A {type(value).__name__} holds itself, or is nested too deeply for the state",
            fix="return data without cycles",
        ) from None


def _take(value: Any) -> Any:
    kind = value.__class__
    try:
        handler = _TAKE[kind]
    except KeyError:
        _learn(kind)
        handler = _TAKE[kind]
    return value if handler is None else handler(value)


# --- plain containers -----------------------------------------------------------------


def _take_list(value: list[Any]) -> list[Any]:
    return [_take(item) for item in value]


def _take_dict(value: dict[Any, Any]) -> dict[Any, Any]:
    return {key: _take(item) for key, item in value.items()}


def _tuple(each: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def convert(value: tuple[Any, ...]) -> Any:
        items = [each(item) for item in value]
        if all(new is old for new, old in zip(items, value, strict=True)):
            return value
        cls = value.__class__
        return cls(items) if cls is tuple else cls._make(items)  # type: ignore[attr-defined]

    return convert


# --- what comes back from a node --------------------------------------------------------


def _take_read_list(value: ReadList) -> list[Any]:
    own, base = value._own, value._base
    if value._changed:
        mine = own or {}
        return [_take(item) if id(item) in mine else item for item in list.__iter__(value)]
    if not own:
        return base
    changes = [(index, new) for item, index in own.values() if (new := _like(item, base[index])) is not base[index]]
    if not changes:
        return base
    result = base.copy()
    for index, new in changes:
        result[index] = new
    return result


def _take_read_dict(value: ReadDict) -> dict[Any, Any]:
    own, base = value._own or {}, value._base
    if value._changed:
        return {key: _take(item) if own.get(key, _NOTHING) is item else item for key, item in dict.items(value)}
    changes = {key: new for key, item in own.items() if (new := _like(item, base[key])) is not base[key]}
    return {**base, **changes} if changes else base


def _take_read_set(value: ReadSet) -> set[Any]:
    return set(value) if value._changed else value._base


def _like(item: Any, original: Any) -> Any:
    """`item` taken in; `original` itself if nothing in it differs."""
    return _unified(_take(item), original)


def _unified(new: Any, old: Any) -> Any:
    """`old` if `new` is a copy of it with the same parts, else `new`."""
    if new is old or new.__class__ is not old.__class__:
        return new
    if is_atom(new.__class__):
        return old if new == old else new
    if isinstance(new, tuple):
        pairs = list(zip(new, old, strict=False)) if len(new) == len(old) else None
    else:
        pairs = _fields_of(new, old)
    same = pairs is not None and all(_unified(mine, theirs) is theirs for mine, theirs in pairs)
    return old if same else new


def _fields_of(new: Any, old: Any) -> list[tuple[Any, Any]] | None:
    """The fields of two objects side by side; None for what has none to compare."""
    if isinstance(new, BaseModel):
        if new.__pydantic_extra__ or new.__pydantic_private__:
            return None
        mine, theirs = new.__dict__, old.__dict__
        return [(mine[key], theirs[key]) for key in mine] if mine.keys() == theirs.keys() else None
    if not dataclasses.is_dataclass(new):
        return None
    names = [field.name for field in dataclasses.fields(new)]
    return [(getattr(new, name, _NOTHING), getattr(old, name, _NOTHING)) for name in names]


# --- objects ---------------------------------------------------------------------------


def _model(each: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def convert(value: BaseModel) -> BaseModel:
        new = object.__new__(value.__class__)
        _set(new, "__dict__", {key: each(item) for key, item in value.__dict__.items()})
        _set(new, "__pydantic_fields_set__", set(value.__pydantic_fields_set__))
        extra, private = value.__pydantic_extra__, value.__pydantic_private__
        _set(new, "__pydantic_extra__", None if extra is None else {key: each(item) for key, item in extra.items()})
        _set(
            new, "__pydantic_private__", None if private is None else {key: each(item) for key, item in private.items()}
        )
        return new

    return convert


def _dataclass(each: Callable[[Any], Any]) -> Callable[[Any], Any]:
    def convert(value: Any) -> Any:
        new = copy.copy(value)
        for field in dataclasses.fields(value):
            if hasattr(value, field.name):
                _set(new, field.name, each(getattr(value, field.name)))
        return new

    return convert


def _deep(value: Any) -> Any:
    try:
        return copy.deepcopy(value)
    except Exception:  # a user's object may refuse in any way; it is handed round as it is then
        return value


# --- learning a type ---------------------------------------------------------------------


def _learn(kind: type) -> _Handler:
    WRAP[kind], _TAKE[kind] = _handlers(kind)
    return WRAP[kind]


def _handlers(kind: type) -> tuple[_Handler, _Handler]:
    if kind in _ATOMS or issubclass(kind, (Enum, type, BaseException, *_CODE)) or _is_value(kind):
        return None, None
    if issubclass(kind, BaseModel):
        return _model(wrap), _model(_take)
    if dataclasses.is_dataclass(kind):
        return _dataclass(wrap), _dataclass(_take)
    if kind is tuple or (issubclass(kind, tuple) and hasattr(kind, "_make")):
        return _tuple(wrap), _tuple(_take)
    if _is_tool(kind):
        return None, None
    return _deep, _deep


def _is_value(kind: type) -> bool:
    return kind.__module__ in _ATOM_MODULES


def _is_tool(kind: type) -> bool:
    root = kind.__module__.partition(".")[0]
    return (root in sys.stdlib_module_names and root not in _DATA_MODULES) or (
        root == "builtins" and kind.__name__ in ("generator", "coroutine", "async_generator", "memoryview")
    )


_NOTHING: Any = object()

WRAP.update(dict.fromkeys(_ATOMS))
_TAKE.update(dict.fromkeys(_ATOMS))
WRAP.update({list: ReadList, dict: ReadDict, set: ReadSet, ReadList: ReadList, ReadDict: ReadDict, ReadSet: ReadSet})
_TAKE.update({list: _take_list, dict: _take_dict, set: set})
_TAKE.update({ReadList: _take_read_list, ReadDict: _take_read_dict, ReadSet: _take_read_set})
set_learner(_learn)
