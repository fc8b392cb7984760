"""Classes by name: "module:Outer.Inner" for what is written, and back only through modules that are imported already.

Reading a file never imports a user's module and never evaluates a name. Classes that no module holds (those made in
a function) are remembered while this process lives.
"""

from __future__ import annotations

from typing import Any
from weakref import WeakValueDictionary

from pydantic import BaseModel

from evonb._optional import loaded

__all__ = ["Ref", "TypeMissing", "name_of", "ref_of", "resolve"]

Ref = str | list[Any]
"""A class as it is stored: its name, or [generic model, [its arguments]]."""

_LOCAL: WeakValueDictionary[str, type] = WeakValueDictionary()


class TypeMissing(Exception):
    """A stored class isn't there; the text says what is missing."""


def name_of(cls: type) -> str:
    """The name under which a class is stored and shown."""
    return f"{cls.__module__}:{cls.__qualname__}"


def ref_of(cls: type) -> Ref:
    """How a class is stored."""
    meta = getattr(cls, "__pydantic_generic_metadata__", None)
    if meta and meta["origin"] is not None and all(isinstance(each, type) for each in meta["args"]):
        return [ref_of(meta["origin"]), [ref_of(each) for each in meta["args"]]]
    name = name_of(cls)
    try:
        found = _look_up(name)
    except TypeMissing:
        found = None
    if found is not cls:
        # Also a class of a cell that was run again since: the newer one takes over, as it does for new values.
        _LOCAL[name] = cls
    return name


def resolve(ref: Ref) -> type:
    """The class behind a stored name.

    Raises:
        TypeMissing: Its module isn't imported, or doesn't hold it any more.
    """
    if isinstance(ref, str):
        try:
            return _look_up(ref)
        except TypeMissing:
            if (local := _LOCAL.get(ref)) is not None:
                return local
            raise
    origin, args = resolve(ref[0]), tuple(resolve(each) for each in ref[1])
    if not issubclass(origin, BaseModel):
        raise TypeMissing(f"{name_of(origin)} isn't a generic model any more")
    made: type = origin[args]  # type: ignore[index]
    return made


def _look_up(name: str) -> type:
    module_name, _, path = name.partition(":")
    module = loaded(module_name)
    if module is None:
        raise TypeMissing(f"the module {module_name} isn't imported here")
    found: Any = module
    for piece in path.split("."):
        # Looked up in the namespaces themselves: a module's or a metaclass's `__getattr__` would be code.
        found = vars(found).get(piece) if isinstance(found, type) or found is module else None
        if found is None:
            raise TypeMissing(f"{module_name} holds no class {path}")
    if not isinstance(found, type):
        raise TypeMissing(f"{path} of {module_name} isn't a class any more")
    return found
