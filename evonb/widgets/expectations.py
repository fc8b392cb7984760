"""What a state key expects, in words: "int, 0 or more", "one of 'low', 'high'", "Ticket(id, title)"."""

from __future__ import annotations

import datetime
import enum
from collections.abc import Callable, Mapping
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from types import NoneType, UnionType
from typing import Any, Literal, TypeVar, Union, get_args, get_origin, get_type_hints

from pydantic import BaseModel
from pydantic.fields import FieldInfo
from typing_extensions import is_typeddict

from evonb.graph.annotations import unwrap

__all__ = ["in_words", "members_of", "type_words"]

_EXAMPLES: Mapping[Any, str] = {
    datetime.datetime: "date and time, as 2026-11-30T14:00",
    datetime.date: "date, as 2026-11-30",
    datetime.time: "time, as 14:00",
    datetime.timedelta: "duration, as 1:30:00",
    Any: "anything",
    object: "anything",
    NoneType: "None",
}
_SHOWN = 8


def in_words(annotation: Any, extras: tuple[Any, ...] = ()) -> str:
    """What an annotation and its constraints allow."""
    return ", ".join([_words(annotation), *(text for extra in extras for text in _limits(extra))])


def type_words(annotation: Any) -> str:
    """The type alone, short: "list of str"."""
    if annotation in (datetime.datetime, datetime.date, datetime.time, datetime.timedelta):
        return str(annotation.__name__)
    return _words(annotation)


def members_of(annotation: Any) -> list[tuple[str, Any]] | None:
    """Label and value of each choice of a Literal, an enum or a bool; None for anything else."""
    bare, _ = unwrap(annotation)
    if bare is bool:
        return [("False", False), ("True", True)]
    if get_origin(bare) is Literal:
        return [(str(value), value) for value in get_args(bare)]
    if isinstance(bare, type) and issubclass(bare, enum.Enum):
        return [(str(member.value), member) for member in bare]
    return None


def _words(annotation: Any) -> str:
    bare, extras = unwrap(annotation)
    if extras:
        return in_words(bare, tuple(extra for extra in extras if not isinstance(extra, str)))
    if _hashable(bare) and bare in _EXAMPLES:
        return _EXAMPLES[bare]
    if bare is not bool and (members := members_of(bare)) is not None:
        names = [repr(value) if get_origin(bare) is Literal else label for label, value in members[:_SHOWN]]
        return f"one of {', '.join(names)}{' …' if len(members) > _SHOWN else ''}"
    origin, args = get_origin(bare), get_args(bare)
    if origin in (Union, UnionType):
        return " or ".join(_words(arm) for arm in args)
    if origin is not None and args and origin in _CONTAINERS:
        return _CONTAINERS[origin](args)
    return _named(origin or bare)


def _named(kind: Any) -> str:
    name = getattr(kind, "__name__", None) or str(kind)
    if isinstance(kind, type) and issubclass(kind, BaseModel):
        return f"{name}({_listed(kind.model_fields)})"
    if is_typeddict(kind):
        return f"dict with {_listed(get_type_hints(kind))}"
    if isinstance(kind, type) and is_dataclass(kind):
        return f"{name}({_listed(field.name for field in dataclass_fields(kind))})"
    return "anything" if isinstance(kind, TypeVar) else str(name)


def _listed(names: Any) -> str:
    found = list(names)
    return ", ".join(found[:_SHOWN]) + (" …" if len(found) > _SHOWN else "")


def _tuple(args: tuple[Any, ...]) -> str:
    if len(args) == 2 and args[1] is Ellipsis:
        return f"tuple of {_words(args[0])}"
    return f"tuple ({', '.join(map(_words, args))})"


def _of(word: str) -> Callable[[tuple[Any, ...]], str]:
    return lambda args: f"{word} of {_words(args[0])}"


_CONTAINERS: Mapping[Any, Callable[[tuple[Any, ...]], str]] = {
    list: _of("list"),
    set: _of("set"),
    frozenset: _of("set"),
    tuple: _tuple,
    dict: lambda args: f"dict of {_words(args[0])} to {_words(args[1])}",
}
_LIMITS: Mapping[str, str] = {
    "ge": "{} or more",
    "gt": "more than {}",
    "le": "{} or less",
    "lt": "less than {}",
    "multiple_of": "a multiple of {}",
    "min_length": "{} or more long",
    "max_length": "at most {} long",
    "pattern": "matching {}",
}


def _limits(extra: Any) -> list[str]:
    """A constraint in words; those of a pydantic `Field` too."""
    if isinstance(extra, FieldInfo):
        return [text for each in extra.metadata for text in _limits(each)]
    found = []
    for name, form in _LIMITS.items():
        value = getattr(extra, name, None)
        if value is not None and not callable(value):
            found.append(form.format(value))
    return found


def _hashable(value: Any) -> bool:
    try:
        hash(value)
    except TypeError:
        return False
    return True
