"""`typing.TypedDict` for pydantic, which takes only that of `typing_extensions` before Python 3.12."""

from __future__ import annotations

import sys
import types
import typing
from collections.abc import MutableMapping
from typing import Annotated, Any, Literal, Union, get_args, get_origin
from weakref import WeakKeyDictionary

import typing_extensions

__all__ = ["for_pydantic"]

_made: MutableMapping[type, Any] = WeakKeyDictionary()
_MODIFIERS = (typing.Required, typing.NotRequired, typing_extensions.ReadOnly)


def for_pydantic(annotation: Any) -> Any:
    """The type with each `typing.TypedDict` in it, at any depth, as one that pydantic takes.

    Same keys, same optional keys, same types. A type without such a class comes back as it is; what is inside of
    dataclasses and models isn't changed.
    """
    return annotation if sys.version_info >= (3, 12) else _converted(annotation)


def _converted(annotation: Any) -> Any:
    if isinstance(annotation, type) and typing_extensions.is_typeddict(annotation):
        return _made[annotation] if annotation in _made else _class(annotation)
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        inner = _converted(annotation.__origin__)
        return annotation if inner is annotation.__origin__ else Annotated[(inner, *annotation.__metadata__)]
    if origin in (None, Literal) or typing_extensions.is_typeddict(origin):
        return annotation
    new = tuple(arg if isinstance(arg, list) else _converted(arg) for arg in args)
    if all(ours is theirs for ours, theirs in zip(new, args, strict=True)):
        return annotation
    if origin in (Union, types.UnionType):
        return Union[new]  # noqa: UP007 - made of a tuple
    return annotation.copy_with(new) if hasattr(annotation, "copy_with") else origin[new]


def _class(plain: Any) -> Any:
    """A twin of a TypedDict; the class itself if it needs none."""
    try:
        hints = typing.get_type_hints(plain, include_extras=True)
    except (NameError, TypeError):  # pydantic will say which name it is
        return plain
    optional = {name for name, hint in hints.items() if _is_optional(name, hint, plain)}
    keys = {name: typing_extensions.NotRequired[Any] if name in optional else Any for name in hints}
    make: Any = typing_extensions.TypedDict
    twin = make(plain.__name__, keys)
    _made[plain] = twin  # before its keys are looked at: they may lead back here
    bare = {name: _bare(hint) for name, hint in hints.items()}
    new = {name: _converted(hint) for name, hint in bare.items()}
    if type(plain).__module__ != "typing" and all(new[name] is bare[name] for name in bare):
        del _made[plain]
        return plain
    for name, hint in new.items():
        twin.__annotations__[name] = typing_extensions.NotRequired[hint] if name in optional else hint
    twin.__module__, twin.__qualname__, twin.__doc__ = plain.__module__, plain.__qualname__, plain.__doc__
    if (config := plain.__dict__.get("__pydantic_config__")) is not None:
        twin.__pydantic_config__ = config
    return twin


def _is_optional(name: str, hint: Any, plain: Any) -> bool:
    # The class itself doesn't see a modifier in an annotation that was text.
    modifiers = set()
    while get_origin(hint) in _MODIFIERS:
        modifiers.add(get_origin(hint))
        [hint] = get_args(hint)
    return typing.NotRequired in modifiers or (name in plain.__optional_keys__ and typing.Required not in modifiers)


def _bare(hint: Any) -> Any:
    while get_origin(hint) in _MODIFIERS:
        [hint] = get_args(hint)
    return hint
