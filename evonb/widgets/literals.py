"""Text that a person typed, as the value of a state key. Nothing is evaluated: only literals and known types are read.

The very text that a preview shows may be typed back: `Ticket(id=3, level=Level.HIGH)`, `datetime.date(2026, 1, 1)`.
"""

from __future__ import annotations

import ast
import datetime
import decimal
import enum
import json
import pathlib
import uuid
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import fields as dataclass_fields
from dataclasses import is_dataclass
from typing import Annotated, Any, get_args, get_origin, get_type_hints

from pydantic import BaseModel, ConfigDict, PydanticUserError, TypeAdapter, ValidationError
from typing_extensions import is_typeddict

from evonb._typeddicts import for_pydantic
from evonb.errors import StateError
from evonb.graph.annotations import unwrap
from evonb.widgets.expectations import in_words

__all__ = ["read_value"]

MAX_CHARS = 1_000_000


def _bytearray(value: bytes) -> bytearray:
    if not isinstance(value, bytes):
        raise TypeError("a bytearray is made of bytes here")  # a number would be its size, of any size
    return bytearray(value)


_STANDARD: Mapping[str, Callable[..., Any]] = {
    "datetime": datetime.datetime,
    "date": datetime.date,
    "time": datetime.time,
    "timedelta": datetime.timedelta,
    "UUID": uuid.UUID,
    "Decimal": decimal.Decimal,
    "Path": pathlib.PurePath,
    "PosixPath": pathlib.PurePosixPath,
    "WindowsPath": pathlib.PureWindowsPath,
    "set": set,
    "frozenset": frozenset,
    "bytearray": _bytearray,
}


def read_value(text: str, annotation: Any = Any, extras: tuple[Any, ...] = (), *, key: str = "value") -> Any:
    """The value that a text means for an annotation, with the types that the annotation names.

    A Python literal or JSON; where that doesn't fit and text does, the text itself: `billing` is a string, and a
    date or an enum's value needs no quotes.

    Args:
        extras: Constraints, as in `Annotated`.
        key: Named in the error.

    Raises:
        StateError: The text can't be read or doesn't fit; says what is expected.
    """
    adapter = _adapter(annotation, extras)
    text = text.strip() if annotation is not str else text
    fault: Exception | None = None
    for read in (_python, _json, _plain):
        try:
            return adapter.validate_python(read(text, annotation))
        except ValidationError as error:
            # What was understood and doesn't fit says more than a second reading would.
            fault = fault if isinstance(fault, ValidationError) else error
        except (ValueError, SyntaxError, TypeError, ArithmeticError, RecursionError, MemoryError) as error:
            fault = fault or error
    raise _refused(key, text, fault, in_words(annotation, extras))


def _python(text: str, annotation: Any) -> Any:
    if len(text) > MAX_CHARS:
        raise ValueError(f"the text is longer than {MAX_CHARS:,} characters")
    return _Reader(types_in(annotation)).read(ast.parse(text.strip(), mode="eval").body)


def _json(text: str, annotation: Any) -> Any:
    return json.loads(text)


def _plain(text: str, annotation: Any) -> Any:
    if annotation is not str and text[:1] in ("[", "{", "(", "'", '"'):
        # Meant as a literal, and broken: not the start of a sentence.
        raise ValueError("it isn't a whole literal")
    return text


class _Reader:
    """Reads an expression tree of literals and constructor calls of known types."""

    def __init__(self, types: Mapping[str, Any]) -> None:
        self._types = types

    def read(self, node: ast.expr) -> Any:
        match node:
            case ast.Constant(value=value):
                return value
            case ast.List(elts=items):
                return [self.read(item) for item in items]
            case ast.Tuple(elts=items):
                return tuple(self.read(item) for item in items)
            case ast.Set(elts=items):
                return {self.read(item) for item in items}
            case ast.Dict(keys=keys, values=values) if all(keys):
                return {self.read(key): self.read(item) for key, item in zip(keys, values, strict=True) if key}
            case ast.UnaryOp(op=ast.USub() | ast.UAdd() as sign, operand=ast.Constant(value=int() | float() as number)):
                return -number if isinstance(sign, ast.USub) else number
            case ast.Attribute(value=ast.Name(id=name), attr=member) if self._is_enum(name):
                return self._member(name, member)
            case ast.Call(func=function, args=args, keywords=words) if all(word.arg for word in words):
                return self._made(function, [self.read(each) for each in args], words)
        raise ValueError(f"{ast.unparse(node)[:80]} isn't a literal")

    def _is_enum(self, name: str) -> bool:
        kind = self._types.get(name)
        return isinstance(kind, type) and issubclass(kind, enum.Enum)

    def _member(self, name: str, member: str) -> Any:
        members = self._types[name].__members__
        if member not in members:
            raise ValueError(f"{name} has no {member}; it has {', '.join(members)}")
        return members[member]

    def _made(self, function: ast.expr, args: list[Any], words: list[ast.keyword]) -> Any:
        name = function.attr if isinstance(function, ast.Attribute) else getattr(function, "id", "")
        given = {str(word.arg): self.read(word.value) for word in words}
        kind = self._types.get(name)
        if kind is not None and not self._is_enum(name) and not args:
            # By validation, never by calling: a user's __init__ may do anything.
            return TypeAdapter(for_pydantic(kind)).validate_python(given)
        if name in _STANDARD:
            return _STANDARD[name](*args, **given)
        raise ValueError(f"{ast.unparse(function)[:80]} isn't a type of this key")


def types_in(annotation: Any) -> dict[str, Any]:
    """The models, dataclasses, TypedDicts and enums that values of this annotation may hold, by name."""
    found: dict[str, Any] = {}
    left = [annotation]
    while left:
        bare, _ = unwrap(left.pop())
        left += get_args(bare)
        kind = get_origin(bare) or bare
        if not isinstance(kind, type) and not is_typeddict(kind):
            continue
        name = kind.__name__
        if name in found:
            continue
        if issubclass(kind, enum.Enum):
            found[name] = kind
        elif (inner := _inner(kind)) is not None:
            found[name] = kind
            left += inner
    return found


def _inner(kind: Any) -> list[Any] | None:
    """The annotations of a record type's fields; None if it isn't one."""
    if issubclass(kind, BaseModel):
        return [info.annotation for info in kind.model_fields.values()]
    if is_typeddict(kind):
        return list(get_type_hints(kind).values())
    if is_dataclass(kind):
        hints = get_type_hints(kind)
        return [hints.get(field.name, Any) for field in dataclass_fields(kind)]
    return None


def _adapter(annotation: Any, extras: tuple[Any, ...]) -> TypeAdapter[Any]:
    full: Any = for_pydantic(Annotated[(annotation, *extras)] if extras else annotation)
    with suppress(PydanticUserError):
        return TypeAdapter(full, config=ConfigDict(arbitrary_types_allowed=True))
    with suppress(PydanticUserError):  # records bring their own configuration
        return TypeAdapter(full)
    # A TypedDict of `typing` inside a dataclass, before Python 3.12: it is checked when the value is taken in.
    return TypeAdapter(Any)


def _refused(key: str, text: str, fault: Exception | None, expects: str) -> StateError:
    shown = text if len(text) <= 60 else text[:57] + "..."
    if isinstance(fault, ValidationError):
        first = fault.errors(include_url=False, include_input=False)[0]
        place = "".join(f"[{part}]" if isinstance(part, int) else f".{part}" for part in first["loc"])
        reason = f"{first['msg']}{f' at {key}{place}' if place else ''}"
    else:
        reason = getattr(fault, "msg", None) or str(fault)
    return StateError(f"{key} can't be {shown}: {reason}", where=f"state key {key!r}", fix=f"expected: {expects}")
