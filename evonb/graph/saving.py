"""Python objects as plain data and back: values by a fixed list of kinds, code by import name or signed source.

There is no pickle and no eval of names. What fits no kind is refused by name, on saving as on loading.
"""

from __future__ import annotations

import base64
import builtins
import dataclasses
import functools
import hashlib
import importlib
import math
import sys
from collections.abc import Callable, Mapping
from enum import Enum
from types import FunctionType, MethodType, ModuleType
from typing import Any

from pydantic import BaseModel

from evonb.errors import GraphError
from evonb.graph.source import function_from, source_text
from evonb.graph.trust import is_signed, signed, users_module
from evonb.typing import MISSING

__all__ = ["Loader", "Saver", "Untrusted", "is_importable"]

KIND = "$"


class Untrusted(GraphError):
    """Data hold code that this user didn't sign."""


def is_importable(thing: Any) -> bool:
    """Whether importing its module and following its qualified name leads to this very object."""
    module = sys.modules.get(getattr(thing, "__module__", None) or "")
    name = getattr(thing, "__qualname__", None)
    if module is None or module.__name__ == "__main__" or not isinstance(name, str):
        return False
    return _follow(module, name) is thing


def _follow(module: Any, name: str) -> Any:
    found = module
    for part in name.split("."):
        found = getattr(found, part, None)
    return found


class Saver:
    """Makes plain data of objects. Sharing and cycles aren't kept; a cycle is refused."""

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
        if isinstance(value, Enum):
            return {KIND: "enum", "class": self.code(kind, place), "name": value.name}
        if isinstance(value, BaseModel):
            fields: dict[str, Any] = dict(value.__dict__)
        elif dataclasses.is_dataclass(value):
            fields = {field.name: getattr(value, field.name) for field in dataclasses.fields(value)}
        elif _is_plain(kind):
            fields = dict(vars(value))
        else:
            raise GraphError(
                f"{place} is {kind.__name__}, which can't be saved",
                fix="use plain data, or make it inside the function",
            )
        data = {name: self.save(item, f"{place}.{name}") for name, item in fields.items()}
        return {KIND: "object", "class": self.code(kind, place), "fields": data}

    # --- code ------------------------------------------------------------------------------------

    def code(self, thing: Any, place: str) -> dict[str, Any]:
        """A function, class or callable object as data."""
        if isinstance(thing, functools.partial):
            parts = {"function": thing.func, "args": list(thing.args), "kwargs": thing.keywords}
            return {KIND: "partial", **{key: self.save(item, f"{place}.{key}") for key, item in parts.items()}}
        if isinstance(thing, MethodType):
            return {KIND: "method", "of": self.save(thing.__self__, place), "name": thing.__name__}
        if is_importable(thing):
            return signed({KIND: "name", "module": thing.__module__, "name": thing.__qualname__})
        if isinstance(thing, FunctionType):
            return self._source(thing, place)
        if isinstance(thing, type):
            raise GraphError(
                f"{place}: the class {thing.__qualname__!r} can't be imported by name, so it can't be saved",
                fix="define it at the top of a module",
            )
        return self._object(thing, place)  # type: ignore[no-any-return]

    def _source(self, function: FunctionType, place: str) -> dict[str, Any]:
        text = source_text(function)
        cells = zip(function.__code__.co_freevars, function.__closure__ or (), strict=True)
        free = {name: cell.cell_contents for name, cell in cells if name != function.__name__}
        piece = {
            KIND: "source",
            "name": function.__name__,
            "text": text,
            "module": function.__module__,
            "free": {name: self.save(value, f"{place}: variable {name!r}") for name, value in free.items()},
            "globals": self._globals(function, place),
            "defaults": self.save(list(function.__defaults__ or ()), f"{place}: a default"),
            "kwdefaults": self.save(dict(function.__kwdefaults__ or {}), f"{place}: a default"),
        }
        return signed(piece)

    def _globals(self, function: FunctionType, place: str) -> dict[str, Any]:
        """The globals that a function of a notebook uses; a module's function finds its own there."""
        if function.__module__ != "__main__" and function.__module__ in sys.modules:
            return {}
        used = _names_of(function.__code__)
        found = {name: function.__globals__[name] for name in used if name in function.__globals__}
        return {
            name: self.save(value, f"{place}: global {name!r}")
            for name, value in found.items()
            if value is not function
        }


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


class Loader:
    """Makes objects of plain data.

    Args:
        trust: Whether code that isn't signed is run.
    """

    def __init__(self, *, trust: bool) -> None:
        self._trust = trust
        self._makers: dict[str, Callable[[Mapping[str, Any]], Any]] = {
            "float": lambda data: float(data["text"]),
            "bytes": lambda data: base64.b64decode(data["text"]),
            "missing": lambda data: MISSING,
            "tuple": lambda data: tuple(map(self.load, data["items"])),
            "set": lambda data: set(map(self.load, data["items"])),
            "frozenset": lambda data: frozenset(map(self.load, data["items"])),
            "dict": lambda data: {self.load(key): self.load(value) for key, value in data["items"]},
            "enum": lambda data: self.load(data["class"])[data["name"]],
            "module": self._module,
            "object": self._object,
            "partial": self._partial,
            "method": self._method,
            "name": self._name,
            "source": self._source,
        }

    def load(self, data: Any) -> Any:
        """The value of data that a `Saver` made.

        Raises:
            Untrusted: It holds code that isn't signed.
            GraphError: It is damaged, or a name can't be found.
        """
        if isinstance(data, list):
            return [self.load(item) for item in data]
        if not isinstance(data, Mapping):
            return data
        if KIND not in data:
            return {key: self.load(value) for key, value in data.items()}
        maker = self._makers.get(data[KIND])
        if maker is None:
            raise GraphError(f"Saved data hold the unknown kind {data[KIND]!r}")
        try:
            return maker(data)
        except (KeyError, TypeError, AttributeError) as error:
            raise GraphError(f"Saved data of kind {data[KIND]!r} are damaged: {error}") from error

    def _module(self, data: Mapping[str, Any]) -> Any:
        if not self._trust and not is_signed(data):
            raise Untrusted(f"module {data['name']!r}")
        return importlib.import_module(data["name"])

    def _name(self, data: Mapping[str, Any]) -> Any:
        module, name = data["module"], data["name"]
        if self._trust or is_signed(data):
            try:
                found = _follow(importlib.import_module(module), name)
            except ImportError as error:
                raise GraphError(f"Module {module!r} can't be imported: {error}", fix="make it importable") from error
        else:
            found = _safe_name(module, name)
        if found is None:
            raise GraphError(f"There is no {name!r} in module {module!r}", fix="define it there under this name")
        return found

    def _source(self, data: Mapping[str, Any]) -> Any:
        if not self._trust and not is_signed(data):
            raise Untrusted(f"source of {data['name']!r}")
        names = self._globals_of(data)
        free = {name: self.load(value) for name, value in data["free"].items()}
        digest = hashlib.sha256(data["text"].encode()).hexdigest()[:12]
        function = function_from(data["text"], data["name"], free, names, f"<saved {data['name']} {digest}>")
        function.__module__ = data["module"]
        function.__defaults__ = tuple(self.load(data["defaults"])) or None
        function.__kwdefaults__ = self.load(data["kwdefaults"]) or None
        return function

    def _globals_of(self, data: Mapping[str, Any]) -> dict[str, Any]:
        if not data["globals"] and data["module"] != "__main__":
            try:
                return vars(importlib.import_module(data["module"]))
            except ImportError:
                pass  # the function may not need its module
        return {"__builtins__": builtins, **{name: self.load(value) for name, value in data["globals"].items()}}

    def _object(self, data: Mapping[str, Any]) -> Any:
        kind = self.load(data["class"])
        fields = {name: self.load(value) for name, value in data["fields"].items()}
        if not isinstance(kind, type):
            raise GraphError(f"Saved data name {kind!r} as a class")
        if issubclass(kind, BaseModel):
            return kind(**{name: value for name, value in fields.items() if name in kind.model_fields})
        made = object.__new__(kind)
        for name, value in fields.items():
            object.__setattr__(made, name, value)
        return made

    def _partial(self, data: Mapping[str, Any]) -> Any:
        return functools.partial(self.load(data["function"]), *self.load(data["args"]), **self.load(data["kwargs"]))

    def _method(self, data: Mapping[str, Any]) -> Any:
        method = getattr(self.load(data["of"]), data["name"])
        if not isinstance(method, MethodType):
            raise GraphError(f"Saved data name {data['name']!r} as a method")
        return method


def _safe_name(module: str, name: str) -> Any:
    """What unsigned data may name: functions and classes that the user's imported modules define, and our types."""
    if module.partition(".")[0] == "evonb":
        found = _follow(sys.modules.get(module), name) if module in sys.modules else None
        if isinstance(found, type):
            return found
        raise Untrusted(f"{module}:{name}")
    if module == "builtins" and name in ("int", "str", "float", "bool", "list", "dict", "tuple", "set", "bytes"):
        return getattr(builtins, name)
    own = users_module(module)
    found = None if own is None else _follow(own, name)
    if isinstance(found, FunctionType | type) and found.__module__ == module:
        return found
    raise Untrusted(f"{module}:{name}")
