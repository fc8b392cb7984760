"""Forms of objects whose class says what they consist of: pydantic models, dataclasses, enums, named tuples, errors.

They are made again without running the class's own `__init__` or validators: what was stored was valid, and both
may do things that must not happen twice. A class that has changed since gets its new defaults; where that isn't
enough, the reader puts a stand-in.
"""

from __future__ import annotations

import copy
import dataclasses
import enum
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Mapping
from typing import Any

from pydantic import BaseModel
from pydantic.fields import FieldInfo, ModelPrivateAttr
from pydantic_core import PydanticUndefined

from evonb.persistence.containers import items, pairs_of
from evonb.persistence.forms import DECODE, LEARN, Reader, Unstorable, Writer, tagged
from evonb.persistence.names import TypeMissing, ref_of, resolve
from evonb.persistence.standin import StandIn

_Encode = Callable[[Writer, Any], Any]


def _learn(kind: type) -> _Encode | None:
    if kind is StandIn:
        return _stand_in
    if issubclass(kind, type):
        return lambda _, value: tagged("class", None, t=ref_of(value))
    if issubclass(kind, enum.Enum):
        return _enum
    if issubclass(kind, BaseModel):
        return _model
    if dataclasses.is_dataclass(kind):
        return _dataclass
    if issubclass(kind, tuple) and hasattr(kind, "_fields"):
        return lambda writer, value: tagged("namedtuple", items(writer, value), t=ref_of(type(value)))
    if issubclass(kind, BaseException):
        return _error
    return _learn_derived(kind)


def _stand_in(writer: Writer, value: StandIn) -> Any:
    return {key: writer.value(part) for key, part in value.form.items()}


# --- enums -----------------------------------------------------------------------------


def _enum(writer: Writer, value: enum.Enum) -> Any:
    return tagged("enum", writer.value(value.value), t=ref_of(type(value)), n=value.name)


def _read_enum(_: Reader, form: dict[str, Any]) -> Any:
    cls, name = resolve(form["t"]), form["n"]
    if not issubclass(cls, enum.Enum):
        raise TypeMissing("it isn't an enum any more")
    # By name first: a member whose value was changed is still that member. Combined flags have no member of their own.
    return cls[name] if name in cls.__members__ else cls(form["v"])


# --- pydantic models -----------------------------------------------------------------------


def _model(writer: Writer, value: BaseModel) -> Any:
    # Of `__dict__` only fields: the rest are cached properties.
    present = {name: value.__dict__[name] for name in type(value).model_fields if name in value.__dict__}
    form = tagged("model", writer.fields(present), t=ref_of(type(value)))
    given = value.__pydantic_fields_set__
    if given != present.keys():
        form["set"] = sorted(given)
    if value.__pydantic_extra__:
        form["extra"] = writer.fields(value.__pydantic_extra__)
    if value.__pydantic_private__:
        form["private"] = _private(writer, value)
    return form


def _private(writer: Writer, value: BaseModel) -> Any:
    """Private attributes; one that can't be stored (a lock, a client) is left to its default where it has one."""
    stored = {}
    for name, part in (value.__pydantic_private__ or {}).items():
        try:
            stored[name] = writer.part(f".{name}", part)
        except Unstorable:
            attribute = type(value).__private_attributes__[name]
            if attribute.default is PydanticUndefined and attribute.default_factory is None:
                raise
    return stored


def _read_model(_: Reader, form: dict[str, Any]) -> Any:
    cls, stored = resolve(form["t"]), form["v"]
    if not issubclass(cls, BaseModel):
        raise TypeMissing("it isn't a pydantic model any more")
    values = dict(stored)
    for name, field in cls.model_fields.items():
        if name not in values:
            if (default := _model_default(field, values)) is PydanticUndefined:
                raise TypeMissing(f"its field {name!r} is new and has no default")
            values[name] = default
    _refuse_dropped(stored, cls.model_fields)
    made = cls.__new__(cls)
    state = {
        "__dict__": values,
        "__pydantic_fields_set__": set(form.get("set", stored)),
        "__pydantic_extra__": form.get("extra", {} if cls.model_config.get("extra") == "allow" else None),
        "__pydantic_private__": _read_private(cls, form.get("private", {})),
    }
    BaseModel.__setstate__(made, state)
    return made


def _model_default(field: FieldInfo | ModelPrivateAttr, values: dict[str, Any]) -> Any:
    # `get_default` of pydantic takes other arguments in each version.
    factory: Any = field.default_factory
    if factory is None:
        return copy.deepcopy(field.default)
    return factory(values) if getattr(field, "default_factory_takes_validated_data", False) else factory()


def _read_private(cls: type[BaseModel], stored: dict[str, Any]) -> dict[str, Any] | None:
    known = cls.__private_attributes__
    made = {name: _model_default(part, stored) for name, part in known.items() if name not in stored}
    kept = {name: value for name, value in made.items() if value is not PydanticUndefined}
    return {**kept, **{name: value for name, value in stored.items() if name in known}} if known else None


def _refuse_dropped(stored: Mapping[str, Any], known: Any) -> None:
    if dropped := [name for name in stored if name not in known]:
        raise TypeMissing(f"it has no field {dropped[0]!r} any more")


# --- dataclasses ---------------------------------------------------------------------------


def _dataclass(writer: Writer, value: Any) -> Any:
    names = [field.name for field in dataclasses.fields(value)]
    present = {name: getattr(value, name) for name in names if hasattr(value, name)}
    form = tagged("dataclass", writer.fields(present), t=ref_of(type(value)))
    # What `__post_init__` has set besides; cached properties are worked out anew.
    besides = {name: part for name, part in getattr(value, "__dict__", {}).items() if name not in present}
    besides = {name: part for name, part in besides.items() if not hasattr(type(value), name)}
    if besides:
        form["d"] = writer.fields(besides)
    return form


def _read_dataclass(_: Reader, form: dict[str, Any]) -> Any:
    cls, stored = resolve(form["t"]), form["v"]
    if not dataclasses.is_dataclass(cls):
        raise TypeMissing("it isn't a dataclass any more")
    fields = dataclasses.fields(cls)
    _refuse_dropped(stored, {field.name for field in fields})
    made = object.__new__(cls)
    for field in fields:
        value = stored[field.name] if field.name in stored else _default(field)
        if value is not dataclasses.MISSING:
            object.__setattr__(made, field.name, value)
    if besides := form.get("d"):
        # Into the dict itself: assigned, `__class__` would make another object of it, and a property would be code.
        made.__dict__.update(besides)
    return made


def _default(field: dataclasses.Field[Any]) -> Any:
    if field.default_factory is not dataclasses.MISSING:
        return field.default_factory()
    if field.default is dataclasses.MISSING and field.init:
        raise TypeMissing(f"its field {field.name!r} is new and has no default")
    return field.default


# --- named tuples, errors ---------------------------------------------------------------------


def _read_named_tuple(_: Reader, form: dict[str, Any]) -> Any:
    cls, values = resolve(form["t"]), form["v"]
    if not issubclass(cls, tuple) or len(getattr(cls, "_fields", ())) != len(values):
        raise TypeMissing(f"it isn't a named tuple of {len(values)} fields any more")
    return tuple.__new__(cls, values)


def _error(writer: Writer, value: BaseException) -> Any:
    return tagged("error", items(writer, value.args), t=ref_of(type(value)), d=writer.fields(value.__dict__))


def _read_error(_: Reader, form: dict[str, Any]) -> Any:
    cls = resolve(form["t"])
    if not issubclass(cls, BaseException):
        raise TypeMissing("it isn't an exception any more")
    builtin: Any = next(base for base in cls.__mro__ if base.__module__ == "builtins")
    made: BaseException = builtin.__new__(cls, *form["v"])  # a `__new__` of its own would be code
    made.args = tuple(form["v"])
    made.__dict__.update(form["d"])
    return made


# --- subclasses of builtins -------------------------------------------------------------------

_BASES = (str, bytes, int, float, complex, list, dict, set, frozenset, tuple)
_FILLED = (list, dict, set)


def _learn_derived(kind: type) -> _Encode | None:
    base = next((each for each in _BASES if issubclass(kind, each)), None)
    if base is None or issubclass(kind, OrderedDict | defaultdict) or hasattr(kind, "n_sequence_fields"):
        return None  # they keep more than their base does
    if any(vars(each).get("__slots__") for each in kind.__mro__):
        return None
    return lambda writer, value: _derived(writer, value, base)


def _derived(writer: Writer, value: Any, base: Any) -> Any:
    if base is dict:
        plain: Any = dict(pairs_of(value))
    elif base is int or base is float:
        plain = base.__pos__(value)
    else:
        plain = base(base.__iter__(value)) if base not in (str, bytes, complex) else base.__new__(base, value)
    extra = getattr(value, "__dict__", None)
    return tagged("derived", writer.value(plain), t=ref_of(type(value)), d=writer.fields(extra) if extra else None)


def _read_derived(_: Reader, form: dict[str, Any]) -> Any:
    kind, plain = resolve(form["t"]), form["v"]
    base: Any = type(plain)
    if not issubclass(kind, base):
        raise TypeMissing(f"it isn't a {base.__name__} any more")
    made = base.__new__(kind) if base in _FILLED else base.__new__(kind, plain)
    if base is list:
        list.extend(made, plain)
    elif base in _FILLED:
        base.update(made, plain)
    if form["d"]:
        made.__dict__.update(form["d"])
    return made


DECODE.update({"enum": _read_enum, "model": _read_model, "dataclass": _read_dataclass, "derived": _read_derived})
DECODE.update({"namedtuple": _read_named_tuple, "error": _read_error})
DECODE["class"] = lambda _, form: resolve(form["t"])
LEARN.append(_learn)
