"""Python objects out of the plain data that `saving` made of them, as far as the data are trusted.

There is no eval of names: what the data may name, and who has to have signed it, is decided here.
"""

from __future__ import annotations

import base64
import builtins
import dataclasses
import functools
import hashlib
import importlib
import inspect
import sys
from collections.abc import Callable, Mapping
from enum import Enum
from types import FunctionType, MethodType
from typing import Any, is_typeddict

from pydantic import BaseModel, Field

from evonb.errors import GraphError
from evonb.graph.declared import sharing
from evonb.graph.nodes import NodeBase
from evonb.graph.saving import KIND, follow
from evonb.graph.source import function_from
from evonb.graph.trust import is_signed, users_module
from evonb.typing import MISSING

__all__ = ["Loader", "Untrusted"]

_DATA_PACKAGES = (["typing"], ["graph"], ["parsing"])


class Untrusted(GraphError):
    """Data hold code that this user didn't sign."""


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
            "field": lambda data: Field(**self.load(data["given"])),
            "module": self._module,
            "object": self._object,
            "made": self._made,
            "same": self._same,
            "type": self._type,
            "schema": self._schema,
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
                found = follow(importlib.import_module(module), name)
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
        function.__module__, function.__name__ = data["module"], data["called"]
        if data["parameters"] is not None:
            kinds = inspect.Parameter
            shown = [kinds(name, getattr(kinds, kind)) for name, kind in data["parameters"]]
            function.__signature__ = inspect.Signature(shown)
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
        if not isinstance(kind, type) or hasattr(kind, "from_saved"):
            raise GraphError(f"Saved data name {kind!r} as the class of plain data")
        if issubclass(kind, BaseModel):
            fields = {name: self.load(value) for name, value in data["fields"].items()}
            return kind(**{name: value for name, value in fields.items() if name in kind.model_fields})
        made = object.__new__(kind)
        with sharing() as shared:
            if "as" in data:
                shared.keep(data["as"], made)
            _fill(made, {name: self.load(value) for name, value in data["fields"].items()})
        return made

    def _made(self, data: Mapping[str, Any]) -> Any:
        with sharing() as shared:
            try:
                self._must_be_signed(data, data["class"]["module"], data["class"]["name"])
                kind = self.load(data["class"])
                fields = {name: self.load(value) for name, value in data["fields"].items()}
            except Untrusted:
                shared.refuse(data)
                raise
            made = kind.from_saved(fields)
            shared.keep(data["as"], made)
            return made

    def _same(self, data: Mapping[str, Any]) -> Any:
        with sharing() as shared:
            if shared.is_refused(data["as"]):
                raise Untrusted("an object that is refused already")
            return shared.get(data["as"])

    def _type(self, data: Mapping[str, Any]) -> Any:
        from evonb.graph.saved_schema import load_type

        return load_type(data["of"], self)

    def _schema(self, data: Mapping[str, Any]) -> Any:
        from evonb.graph.saved_schema import load_schema

        return load_schema(data["of"], self)

    def _partial(self, data: Mapping[str, Any]) -> Any:
        function = self.load(data["function"])
        self._must_be_signed(data, getattr(function, "__module__", None), "a function with arguments")
        return functools.partial(function, *self.load(data["args"]), **self.load(data["kwargs"]))

    def _method(self, data: Mapping[str, Any]) -> Any:
        method = getattr(self.load(data["of"]), data["name"])
        if not isinstance(method, MethodType):
            raise GraphError(f"Saved data name {data['name']!r} as a method")
        self._must_be_signed(data, method.__func__.__module__, method.__qualname__)
        return method

    def _must_be_signed(self, data: Mapping[str, Any], module: Any, name: str) -> None:
        """Unsigned data may put together what the user's own modules define, and nothing else."""
        if not (self._trust or is_signed(data) or (isinstance(module, str) and users_module(module) is not None)):
            raise Untrusted(f"{module}:{name}")


def _fill(made: Any, fields: Mapping[str, Any]) -> None:
    """Give an object what it held. Nothing but that: assigned, `__class__` would make another object of it."""
    if not dataclasses.is_dataclass(made):
        made.__dict__.update(fields)
        return
    for field in dataclasses.fields(made):
        if field.name in fields:
            object.__setattr__(made, field.name, fields[field.name])


def _safe_name(module: str, name: str) -> Any:
    """What unsigned data may name: functions and classes that the user's imported modules define, and our types."""
    if module.partition(".")[0] == "evonb":
        found = follow(sys.modules.get(module), name) if module in sys.modules else None
        if isinstance(found, type) and _is_data(found):
            return found
        raise Untrusted(f"{module}:{name}")
    if module == "builtins" and name in ("int", "str", "float", "bool", "list", "dict", "tuple", "set", "bytes"):
        return getattr(builtins, name)
    own = users_module(module)
    found = None if own is None else follow(own, name)
    if isinstance(found, FunctionType | type) and found.__module__ == module:
        return found
    raise Untrusted(f"{module}:{name}")


def _is_data(kind: type) -> bool:
    """Whether a class of ours is a value and no more: it reads, writes, starts and asks nothing."""
    if is_typeddict(kind):
        return True
    is_value = dataclasses.is_dataclass(kind) or issubclass(kind, BaseModel | Enum)
    return is_value and kind.__module__.split(".")[1:2] in _DATA_PACKAGES and not issubclass(kind, NodeBase)
