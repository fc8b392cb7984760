"""Python objects as plain data: values by a fixed list of kinds, code by import name or signed source.

There is no pickle. What fits no kind is refused by name. `loading` is the way back.
"""

from __future__ import annotations

import base64
import dataclasses
import functools
import inspect
import math
import sys
from enum import Enum
from types import FunctionType, MethodType, ModuleType
from typing import Any, get_origin, is_typeddict

from pydantic import BaseModel, Field
from pydantic.fields import FieldInfo

from evonb.errors import EvonbError, GraphError
from evonb.graph.declared import Sharing, declares, sharing
from evonb.graph.source import source_text
from evonb.graph.trust import signed
from evonb.typing import MISSING

__all__ = ["KIND", "Saver", "follow", "is_importable"]

KIND = "$"


def is_importable(thing: Any) -> bool:
    """Whether importing its module and following its qualified name leads to this very object."""
    module = sys.modules.get(getattr(thing, "__module__", None) or "")
    name = getattr(thing, "__qualname__", None)
    if module is None or module.__name__ == "__main__" or not isinstance(name, str):
        return False
    return follow(module, name) is thing


def follow(module: Any, name: str) -> Any:
    """What a dotted name leads to from a module; None if nothing."""
    found = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


class Saver:
    """Makes plain data of objects.

    An object of a user's class, or one that declares its form, stays one wherever it is met. Other values are copied
    wherever they are met, and a cycle of them is refused.
    """

    def __init__(self) -> None:
        self._open: list[int] = []

    def save(self, value: Any, place: str) -> Any:
        """The data of a value.

        Raises:
            GraphError: It fits no kind; `place` and the way to it are named.
        """
        if value is None or value.__class__ in (bool, int, str):
            return value
        if value.__class__ is float:
            return value if math.isfinite(value) else {KIND: "float", "text": repr(value)}
        if id(value) in self._open:
            raise GraphError(f"{place} holds itself, which can't be saved", fix="save data without cycles")
        self._open.append(id(value))
        try:
            return self._save(value, place)
        finally:
            self._open.pop()

    def _save(self, value: Any, place: str) -> Any:
        kind = value.__class__
        if kind is list:
            return [self.save(item, f"{place}[{at}]") for at, item in enumerate(value)]
        if kind in (tuple, set, frozenset):
            items = sorted(value, key=repr) if kind is not tuple else value
            return {KIND: kind.__name__, "items": [self.save(item, f"{place}[...]") for item in items]}
        if kind is dict:
            return self._dict(value, place)
        if kind is bytes:
            return {KIND: "bytes", "text": base64.b64encode(value).decode()}
        if value is MISSING:
            return {KIND: "missing"}
        if isinstance(value, ModuleType):
            return signed({KIND: "module", "name": value.__name__})
        if get_origin(value) is not None or value is Any:
            from evonb.graph.saved_schema import save_type

            return {KIND: "type", "of": save_type(value, self, place)}
        if isinstance(value, FunctionType | type) or (callable(value) and not isinstance(value, BaseModel)):
            return self.code(value, place)
        return self._object(value, place)

    def _dict(self, value: dict[Any, Any], place: str) -> Any:
        if all(isinstance(key, str) for key in value) and KIND not in value:
            return {key: self.save(item, f"{place}[{key!r}]") for key, item in value.items()}
        pairs = [[self.save(key, f"{place} key"), self.save(item, f"{place}[{key!r}]")] for key, item in value.items()]
        return {KIND: "dict", "items": pairs}

    def _object(self, value: Any, place: str) -> Any:
        kind = type(value)
        if declares(value, place):
            with sharing() as shared:
                return self._declared(value, shared, place)
        if isinstance(value, FieldInfo):
            return {KIND: "field", "given": self.save(_field_arguments(value, place), place)}
        if isinstance(value, Enum):
            return {KIND: "enum", "class": self.code(kind, place), "name": value.name}
        if isinstance(value, BaseModel):
            fields: dict[str, Any] = dict(value.__dict__)
        elif dataclasses.is_dataclass(value):
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        elif _is_plain(kind):
            with sharing() as shared:
                return self._plain_object(value, shared, place)
        else:
            raise GraphError(
                f"{place} is {kind.__name__}, which can't be saved",
                fix="use plain data, make it inside a function, or give its class the methods to_saved and from_saved",
            )
        data = {name: self.save(item, f"{place}.{name}") for name, item in fields.items()}
        return {KIND: "object", "class": self.code(kind, place), "fields": data}

    def _plain_object(self, value: Any, shared: Sharing, place: str) -> dict[str, Any]:
        known = shared.name_of(value)
        if known is not None:
            return {KIND: "same", "as": known}
        name = shared.add(value)
        # A tool that was taken from the object is kept in it, and made anew when it is taken again.
        held = {key: item for key, item in vars(value).items() if getattr(item, "holder", None) is not value}
        fields = {key: self.save(item, f"{place}.{key}") for key, item in held.items()}
        return {KIND: "object", "class": self.code(type(value), place), "fields": fields, "as": name}

    def _declared(self, value: Any, shared: Sharing, place: str) -> dict[str, Any]:
        """An object by its own saved form, signed as a whole: these are what talks to the world."""
        known = shared.name_of(value)
        if known is not None:
            return {KIND: "same", "as": known}
        try:
            form = value.to_saved()
        except EvonbError as error:
            raise GraphError(f"{place}: {error.what}", where=error.where, fix=error.fix) from error
        fields = {name: self.save(item, f"{place}.{name}") for name, item in form.items()}
        name = shared.add(value)
        return signed({KIND: "made", "class": self.code(type(value), place), "fields": fields, "as": name})

    # --- code ------------------------------------------------------------------------------------

    def code(self, thing: Any, place: str) -> dict[str, Any]:
        """A function, class or callable object as data.

        Raises:
            GraphError: It can't be saved; `place` is named.
        """
        if isinstance(thing, functools.partial):
            parts = {"function": thing.func, "args": list(thing.args), "kwargs": thing.keywords}
            saved = {key: self.save(item, f"{place}.{key}") for key, item in parts.items()}
            return signed({KIND: "partial", **saved})
        if isinstance(thing, MethodType):
            return signed({KIND: "method", "of": self.save(thing.__self__, place), "name": thing.__name__})
        if is_importable(thing):
            return signed({KIND: "name", "module": thing.__module__, "name": thing.__qualname__})
        if isinstance(thing, FunctionType):
            return self._source(thing, place)
        if isinstance(thing, type) and _is_shape(thing):
            from evonb.graph.saved_schema import save_schema

            return {KIND: "schema", "of": save_schema(thing, self)}
        if isinstance(thing, type):
            raise GraphError(
                f"{place}: the class {thing.__qualname__!r} can't be imported by name, so it can't be saved",
                fix="define it at the top of a module",
            )
        return self._object(thing, place)  # type: ignore[no-any-return]

    def _source(self, function: FunctionType, place: str) -> dict[str, Any]:
        text = source_text(function)
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        # The name in the text: a wrapper is called as what it wraps.
        name = function.__code__.co_name
        free = {each: cell.cell_contents for each, cell in cells if each != name}
        piece = {
            KIND: "source",
            "name": name,
            "called": function.__name__,
            "parameters": _shown_signature(function),
            "text": text,
            "module": _home(function),
            "free": {each: self.save(value, f"{place}: variable {each!r}") for each, value in free.items()},
            "globals": self._globals(function, place),
            "defaults": self.save(list(function.__defaults__ or ()), f"{place}: a default"),
            "kwdefaults": self.save(dict(function.__kwdefaults__ or {}), f"{place}: a default"),
        }
        return signed(piece)

    def _globals(self, function: FunctionType, place: str) -> dict[str, Any]:
        """The globals that a function of a notebook uses; a module's function finds its own there."""
        if _home(function) != "__main__" and _home(function) in sys.modules:
            return {}
        used = _names_of(function.__code__)
        found = {name: function.__globals__[name] for name in used if name in function.__globals__}
        return {
            name: self.save(value, f"{place}: global {name!r}")
            for name, value in found.items()
            if value is not function
        }


def _home(function: FunctionType) -> str:
    """The module whose names it uses; a wrapper claims that of what it wraps."""
    return str(function.__globals__.get("__name__", function.__module__))


def _shown_signature(function: FunctionType) -> list[list[str]] | None:
    """The parameters that a wrapper says it has, by name and kind; None if it says nothing of its own."""
    shown = function.__dict__.get("__signature__")
    if not isinstance(shown, inspect.Signature):
        return None
    return [[each.name, each.kind.name] for each in shown.parameters.values()]


def _field_arguments(info: FieldInfo, place: str) -> dict[str, Any]:
    """What `Field` was called with; pydantic turns limits into objects that have them under the same names."""
    given = {name: value for name, value in info._attributes_set.items() if name != "annotation"}
    for limit in info.metadata:
        limits = {each.name for each in dataclasses.fields(limit)} if dataclasses.is_dataclass(limit) else vars(limit)
        given.update({name: getattr(limit, name) for name in limits})
    if unknown := given.keys() - inspect.signature(Field).parameters.keys():
        raise GraphError(
            f"{place} has a rule that can't be saved: {', '.join(sorted(unknown))}",
            fix="use limits such as ge, max_length and pattern, or check inside the function",
        )
    return given


def _is_shape(kind: type) -> bool:
    """Whether a class without an import name is nothing but its fields, so that it can be made again key by key."""
    if is_typeddict(kind):
        return True
    if not issubclass(kind, BaseModel) or kind.__bases__ != (BaseModel,) or kind.model_config:
        return False
    validators = kind.__pydantic_decorators__
    has_rules = any(getattr(validators, field.name) for field in dataclasses.fields(validators))
    has_code = any(isinstance(value, FunctionType | property | classmethod) for value in vars(kind).values())
    return not has_rules and not has_code and all(info.alias is None for info in kind.model_fields.values())


def _is_plain(kind: type) -> bool:
    """Whether all that its instances hold is in their `__dict__`: the class and its bases are the user's own."""
    bases = [base for base in kind.__mro__ if base.__module__ not in ("typing", "abc") and base is not object]
    return all(
        base.__module__.partition(".")[0] not in sys.stdlib_module_names - {"__main__"}
        and not base.__dict__.get("__slots__")
        for base in bases
    )


def _names_of(code: Any) -> list[str]:
    names = list(code.co_names)
    for constant in code.co_consts:
        if hasattr(constant, "co_names"):
            names += _names_of(constant)
    return list(dict.fromkeys(names))
