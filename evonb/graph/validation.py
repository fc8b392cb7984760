"""Checking one value against one annotation, quickly when its very type says that it is right."""

from __future__ import annotations

from collections.abc import Callable
from types import NoneType
from typing import TYPE_CHECKING, Annotated, Any, get_args, get_origin, is_typeddict

from pydantic_core import ValidationError

from evonb._typeddicts import for_pydantic
from evonb.errors import StateError
from evonb.graph.annotations import declared_keys, is_function, is_union, strategy_name, unwrap
from evonb.graph.near import short

if TYPE_CHECKING:
    from pydantic import TypeAdapter

__all__ = ["Check", "blank_value", "constraints", "exact_types", "make_check"]

Check = Callable[[Any], Any]

_ATOMS = frozenset({int, str, float, bool, bytes, NoneType})
_CONTAINERS = frozenset({list, dict, set})
_BLANKS: dict[Any, Callable[[], Any]] = {
    kind: kind for kind in (list, dict, set, frozenset, tuple, int, float, str, bool, bytes)
}


def constraints(metadata: tuple[Any, ...]) -> tuple[Any, ...]:
    """The extras of an `Annotated` that mean something to pydantic."""
    return tuple(item for item in metadata if not isinstance(item, str) and not is_function(item))


def exact_types(annotation: Any, extras: tuple[Any, ...]) -> frozenset[type]:
    """Immutable types of which every value fits the annotation as it is; empty when only a check can tell."""
    if extras:
        return frozenset()
    arms = get_args(annotation) if is_union(annotation) else (annotation,)
    arms = tuple(NoneType if arm is None else arm for arm in arms)
    return frozenset(arms) if all(arm in _ATOMS for arm in arms if _hashable(arm)) and arms else frozenset()


def _hashable(value: Any) -> bool:
    return type(value).__hash__ is not None


def make_check(name: str, annotation: Any, extras: tuple[Any, ...]) -> Check | None:
    """A function that gives the value as the annotation wants it, or raises; None if anything is right.

    The check raises `StateError` with the path to the value, what was expected and what was found.
    """
    if annotation is Any and not extras:
        return None
    bare = annotation if annotation in _CONTAINERS and not extras else None
    adapter: TypeAdapter[Any] | None = None

    def check(value: Any) -> Any:
        nonlocal adapter
        if value.__class__ is bare:
            return value
        if adapter is None:
            adapter = _adapter(annotation, extras)
        try:
            return adapter.validate_python(value)
        except ValidationError as error:
            raise unfit(name, error) from error

    return check


def _adapter(annotation: Any, extras: tuple[Any, ...]) -> TypeAdapter[Any]:
    from pydantic import ConfigDict, PydanticUserError, TypeAdapter  # many graphs need no check

    full: Any = for_pydantic(Annotated[(annotation, *extras)] if extras else annotation)
    try:
        return TypeAdapter(full, config=ConfigDict(arbitrary_types_allowed=True))
    except PydanticUserError:  # models, dataclasses and TypedDicts bring their own configuration
        return TypeAdapter(full)


def unfit(name: str, error: ValidationError) -> StateError:
    """The error for a value that doesn't fit its key."""
    faults = error.errors(include_url=False)
    first = faults[0]
    path = "".join(f"[{part!r}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
    given = first["input"]
    what = f"State key '{name}{path}' can't be {type(given).__name__} {short(given)}: {first['msg']}"
    if len(faults) > 1:
        what += f" (and {len(faults) - 1} more)"
    return StateError(what, fix=f"give '{name}' a value that fits its annotation in the schema")


def blank_value(annotation: Any) -> Any:
    """What a node sees under a key that nobody has written yet: the empty value of its type, or None."""
    annotation, _ = unwrap(annotation)
    if is_union(annotation):
        arms = get_args(annotation)
        return None if NoneType in arms else blank_value(arms[0])
    origin = get_origin(annotation) or annotation
    if is_typeddict(origin):
        return {key.name: blank_value(key.annotation) for key in declared_keys(annotation) if not key.optional}
    make = _BLANKS.get(origin) if _hashable(origin) else None
    return make() if make else None


def has_strategies(annotation: Any) -> bool:
    """Whether a TypedDict declares an update strategy, itself or in a nested one."""
    return any(
        strategy_name(key.metadata) is not None
        or (is_typeddict(get_origin(key.annotation) or key.annotation) and has_strategies(key.annotation))
        for key in declared_keys(annotation)
    )
