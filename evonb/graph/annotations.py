"""Reading a state schema: which keys it has, of what type, with which strategy and default.

Understands TypedDict (inheritance, `total`, `NotRequired`, generics, postponed annotations), pydantic models
(defaults, factories, aliases, generics) and plain `dict`. What the keys then do is `fields`' business.
"""

from __future__ import annotations

import inspect
import sys
import types
import typing
import weakref
from collections.abc import Callable, Mapping
from typing import Annotated, Any, TypeVar, Union, get_args, get_origin, is_typeddict

from pydantic import BaseModel
from pydantic.fields import FieldInfo

from evonb.errors import StateError

__all__ = [
    "Declared",
    "declared_keys",
    "function_name",
    "is_function",
    "is_schema",
    "strategy_name",
    "strategy_of",
    "unwrap",
]

_MODIFIERS = tuple(getattr(typing, name) for name in ("Required", "NotRequired", "ReadOnly") if hasattr(typing, name))


class Declared:
    """One key as the user declared it."""

    __slots__ = ("aliases", "annotation", "info", "metadata", "name", "optional")

    def __init__(
        self,
        name: str,
        annotation: Any,
        metadata: tuple[Any, ...] = (),
        *,
        optional: bool = False,
        info: FieldInfo | None = None,
        aliases: tuple[str, ...] = (),
    ) -> None:
        self.name = name
        self.annotation = annotation
        self.metadata = metadata
        self.optional = optional
        self.info = info
        self.aliases = aliases


def is_schema(schema: Any) -> bool:
    """Whether `schema` can be the schema of a state: a TypedDict, a pydantic model class, or dict itself."""
    origin = get_origin(schema) or schema
    return is_typeddict(origin) or (isinstance(origin, type) and issubclass(origin, BaseModel | dict))


def declared_keys(schema: Any) -> list[Declared]:
    """The keys of a schema in declaration order; none for a plain dict, which takes any key.

    Raises:
        StateError: An annotation can't be resolved; it is named.
    """
    origin = get_origin(schema) or schema
    if is_typeddict(origin):
        return _typed_dict_keys(schema, origin)
    if isinstance(origin, type) and issubclass(origin, BaseModel):
        return _model_keys(origin)
    return []


def _model_keys(schema: type[BaseModel]) -> list[Declared]:
    if not schema.__pydantic_fields_complete__:
        schema.model_rebuild()
    keys = []
    for name, info in schema.model_fields.items():
        aliases = {alias for alias in (info.alias, info.validation_alias) if isinstance(alias, str)}
        keys.append(Declared(name, info.annotation, tuple(info.metadata), info=info, aliases=tuple(aliases)))
    return keys


def _typed_dict_keys(schema: Any, origin: Any) -> list[Declared]:
    hints = _hints(origin)
    known: dict[Any, Any] = {}
    if origin is not schema:
        known = dict(zip(origin.__parameters__, get_args(schema), strict=True))
    optional_keys: frozenset[str] = getattr(origin, "__optional_keys__", frozenset())
    keys = []
    for name, hint in hints.items():
        annotation, modifiers = _strip_modifiers(hint)
        optional = typing.NotRequired in modifiers or (name in optional_keys and typing.Required not in modifiers)
        bare, metadata = unwrap(_substitute(annotation, known))
        keys.append(Declared(name, bare, metadata, optional=optional))
    return keys


def _strip_modifiers(hint: Any) -> tuple[Any, set[Any]]:
    found = set()
    metadata: tuple[Any, ...] = ()
    while True:
        origin = get_origin(hint)
        if origin in _MODIFIERS:
            found.add(origin)
            hint = get_args(hint)[0]
        elif origin is Annotated and get_origin(hint.__origin__) in _MODIFIERS:
            metadata += hint.__metadata__
            hint = hint.__origin__
        else:
            break
    return (Annotated[(hint, *metadata)] if metadata else hint), found


def _substitute(annotation: Any, known: Mapping[Any, Any]) -> Any:
    if not known:
        return annotation
    if isinstance(annotation, TypeVar):
        return known.get(annotation, annotation)
    parameters = getattr(annotation, "__parameters__", ())
    return annotation[tuple(known.get(parameter, parameter) for parameter in parameters)] if parameters else annotation


def _hints(schema: Any) -> dict[str, Any]:
    if schema not in _known_hints:
        try:
            _known_hints[schema] = typing.get_type_hints(schema, localns=_defining_names(schema), include_extras=True)
        except NameError as error:
            raise _unresolved(schema, error) from error
    return _known_hints[schema]


_known_hints: weakref.WeakKeyDictionary[Any, dict[str, Any]] = weakref.WeakKeyDictionary()
"""Kept, since the names of a function are gone when it has returned."""


def _defining_names(schema: Any) -> dict[str, Any]:
    """The names of the function that defines the schema, while it is running."""
    outer, local, _ = schema.__qualname__.rpartition(".<locals>.")
    frame = sys._getframe(1) if local else None
    while frame is not None:
        if frame.f_code.co_qualname == outer and frame.f_globals.get("__name__") == schema.__module__:
            return dict(frame.f_locals)
        frame = frame.f_back
    return {}


def _unresolved(schema: Any, error: NameError) -> StateError:
    key = _unresolved_key(schema, error.name)
    return StateError(
        f"The annotation of state key {key!r} names {error.name!r}, which can't be found",
        where=f"schema {schema.__qualname__} in {schema.__module__}",
        fix="import or define the name where the schema is defined, outside of `if TYPE_CHECKING`",
    )


def _unresolved_key(schema: Any, missing: str | None) -> str:
    for base in reversed(schema.__mro__):
        module = vars(sys.modules.get(base.__module__, types.ModuleType("none")))
        for key, annotation in getattr(base, "__annotations__", {}).items():
            text = getattr(annotation, "__forward_arg__", annotation)
            if isinstance(text, str) and missing and missing in text and missing not in module:
                return str(key)
    return "?"


def unwrap(annotation: Any) -> tuple[Any, tuple[Any, ...]]:
    """An annotation without `Annotated`, and what was in it."""
    if get_origin(annotation) is Annotated:
        return annotation.__origin__, annotation.__metadata__
    return annotation, ()


def strategy_of(metadata: tuple[Any, ...], key: str) -> str | Callable[[Any, Any], Any] | None:
    """The update strategy among the extras of an `Annotated`: the first text, or a function `(old, new) -> merged`.

    Raises:
        StateError: There are two, or the function can't be called so.
    """
    functions = [item for item in metadata if is_function(item)]
    name = next((item for item in metadata if isinstance(item, str)), None)
    if len(functions) > 1 or (functions and name is not None):
        names = [*([repr(name)] if name is not None else []), *(repr(function_name(each)) for each in functions)]
        raise StateError(
            f"State key {key!r} has several update strategies: {', '.join(names)}",
            where=f"state key {key!r}",
            fix="keep one of them",
        )
    if functions and not _takes_two(functions[0]):
        raise StateError(
            f"State key {key!r} has {function_name(functions[0])!r} as its update strategy, which can't be called "
            "with two arguments",
            where=f"state key {key!r}",
            fix="give a function (old, new) -> merged, or the name of a strategy, as 'extend'",
        )
    return functions[0] if functions else name


def strategy_name(metadata: tuple[Any, ...]) -> str | None:
    """What the update strategy among the extras of an `Annotated` is called; "add()" for a function."""
    named = (
        item if isinstance(item, str) else function_name(item)
        for item in metadata
        if isinstance(item, str) or is_function(item)
    )
    return next(named, None)


def is_function(item: Any) -> bool:
    """Whether an extra of an `Annotated` can only be an update strategy: callable, and not pydantic's."""
    if not callable(item) or hasattr(item, "__get_pydantic_core_schema__"):
        return False
    kind = item if isinstance(item, type) else type(item)
    return kind.__module__.partition(".")[0] not in ("pydantic", "pydantic_core", "annotated_types")


def function_name(function: Any) -> str:
    """ "add()": no strategy can be registered under such a name by accident."""
    name = getattr(function, "__name__", None) or getattr(getattr(function, "func", None), "__name__", None)
    return f"{name or type(function).__name__}()"


def _takes_two(function: Any) -> bool:
    try:
        inspect.signature(function).bind(None, None)
    except TypeError:
        return False
    except ValueError:  # some C functions don't tell
        return not isinstance(function, type)
    return not isinstance(function, type)


def is_union(annotation: Any) -> bool:
    """Whether an annotation is `A | B`, in either spelling."""
    return get_origin(annotation) in (Union, types.UnionType)
