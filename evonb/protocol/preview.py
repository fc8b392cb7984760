"""Any value as bounded text: one line for the picture, more for the details on request.

Never raises, and never runs a user's code: no user `__repr__`, `__str__`, `__iter__`, `__len__` or property is called,
since a preview is made while a run goes on and the value may be huge, half made, or the engine's own.
"""

from __future__ import annotations

import enum
import types
from collections.abc import Iterable, Iterator, Mapping
from itertools import islice
from typing import Any

from evonb.protocol.snapshot import PREVIEW_CHARS, Preview
from evonb.typing import StateBaseMessage

__all__ = ["FULL_CHARS", "fields_of", "full_text", "kind_of", "preview", "previews"]

FULL_CHARS = 20_000
"""The longest text that travels when a whole value is asked for."""
MAX_KEYS = 60
"""How many keys of a state are previewed."""

_MAX_DEPTH = 6
_MAX_BITS = 2_000
# Types whose `repr` is C code or the standard library's, and short.
_FUNCTIONS = (types.FunctionType, types.BuiltinFunctionType, types.MethodType)
_PLAIN_MODULES = frozenset({"datetime", "uuid", "pathlib", "ipaddress", "zoneinfo", "re", "decimal"})


class _Full(Exception):
    """The text is as long as it may be."""


class _Text:
    """Text that grows up to a limit."""

    def __init__(self, limit: int) -> None:
        self.parts: list[str] = []
        self.room = limit

    def add(self, text: str) -> None:
        if len(text) > self.room:
            self.parts.append(text[: self.room])
            self.room = 0
            raise _Full
        self.parts.append(text)
        self.room -= len(text)


def preview(value: object, limit: int = PREVIEW_CHARS) -> Preview:
    """One line for any value: `'text'`, `[1, 2, 3]`, `assistant: text`, `Ticket(id=3)`, `<ndarray (3, 4) float64>`."""
    text, cut = _bounded(value, limit, indent=None)
    return {"kind": kind_of(value), "text": text, "cut": cut}


def kind_of(value: object) -> str:
    """The name of a value's type; of what the engine lends to nodes, the type that it stands for."""
    kind = type(value)
    if kind.__module__.startswith("evonb.graph."):
        kind = next((base for base in (list, dict, set) if isinstance(value, base)), kind)
    return kind.__name__


def previews(state: object) -> dict[str, Preview]:
    """A preview for each key of a state: a mapping, a model or a dataclass. Other values stand under 'value'."""
    fields = fields_of(state)
    items = [("value", state)] if fields is None else islice(fields.items(), MAX_KEYS)
    return {_key(key): preview(value) for key, value in items}


def full_text(value: object, limit: int = FULL_CHARS) -> str:
    """The value over several lines, at most `limit` characters; a string is its own text."""
    if isinstance(value, str):
        text = str.__getitem__(value, slice(0, limit + 1))
        return text if len(text) <= limit else text[: limit - 1] + "…"
    text, _ = _bounded(value, limit, indent="")
    return text


def fields_of(state: object) -> Mapping[str, object] | None:
    """What a state holds by key, without running user code; None if it isn't a mapping, a model or a dataclass."""
    if isinstance(state, dict):
        return dict(dict.items(state))
    if _is_record(state):
        return _attributes(state)
    return None


def _bounded(value: object, limit: int, indent: str | None) -> tuple[str, bool]:
    out = _Text(limit)
    try:
        _write(out, value, 0, indent)
    except _Full:
        text = "".join(out.parts)
        return (text[:-1] + "…") if text else "…", True
    except Exception:
        # Another thread changed the value while it was read, or its type is broken.
        return f"<{type(value).__name__}>"[:limit], True
    return "".join(out.parts), False


def _key(key: object) -> str:
    text = str.__str__(key) if isinstance(key, str) else preview(key)["text"]
    return text[:PREVIEW_CHARS]


def _write(out: _Text, value: object, depth: int, indent: str | None) -> None:
    """Add `value` to `out`; subclasses are read through their base class, so overridden methods aren't run."""
    if depth > _MAX_DEPTH:
        out.add("…")
    elif isinstance(value, enum.Enum):
        out.add(f"{type(value).__name__}.{value._name_}")
    elif isinstance(value, str):
        _write_str(out, value)
    elif isinstance(value, bytes | bytearray):
        _write_bytes(out, value)
    elif value is None or isinstance(value, bool):
        out.add(str(value))
    elif isinstance(value, int):
        bits = int.bit_length(value)
        out.add(int.__repr__(value) if bits <= _MAX_BITS else f"<int of {bits} bits>")
    elif isinstance(value, float):
        out.add(float.__repr__(value))
    elif type(value) is complex or type(value).__module__.partition(".")[0] in _PLAIN_MODULES:
        out.add(repr(value))
    elif isinstance(value, dict):
        pairs = ((_key_text(key), item) for key, item in dict.items(value))
        _write_many(out, "{", "}", ": ", pairs, depth, indent)
    elif isinstance(value, list | tuple | set | frozenset):
        _write_sequence(out, value, depth, indent)
    elif isinstance(value, StateBaseMessage):
        _write_message(out, value, depth)
    else:
        _write_object(out, value, depth, indent)


def _write_str(out: _Text, value: str) -> None:
    # One more than there is room for, so that a longer string is noticed.
    piece = str.__getitem__(value, slice(0, out.room + 1))
    out.add(repr(str(piece)))


def _write_bytes(out: _Text, value: bytes | bytearray) -> None:
    out.add(repr(bytes(memoryview(value)[:32])) + (f" and {len(value) - 32} bytes more" if len(value) > 32 else ""))


def _key_text(key: object) -> str:
    return preview(key)["text"]


def _write_sequence(out: _Text, value: Any, depth: int, indent: str | None) -> None:
    names = getattr(type(value), "_fields", None)
    if isinstance(value, tuple) and isinstance(names, tuple):
        pairs = zip(map(str, names), tuple.__iter__(value), strict=False)
        _write_many(out, f"{type(value).__name__}(", ")", "=", pairs, depth, indent)
        return
    base = next(kind for kind in (list, tuple, set, frozenset) if isinstance(value, kind))
    left, right = {list: ("[", "]"), tuple: ("(", ")")}.get(base, ("{", "}"))
    items = base.__iter__(value)
    _write_many(out, left, right, "", (("", item) for item in items), depth, indent)


def _write_many(
    out: _Text,
    left: str,
    right: str,
    colon: str,
    pairs: Iterable[tuple[str, object]],
    depth: int,
    indent: str | None,
) -> None:
    """`left key colon value, ... right`; on lines of their own when `indent` is given."""
    out.add(left)
    inner = None if indent is None else indent + "  "
    first = True
    for key, item in pairs:
        out.add(("" if first else ", ") if inner is None else ("\n" if first else ",\n") + inner)
        out.add(key + colon)
        _write(out, item, depth + 1, inner)
        first = False
    if not first and indent is not None:
        out.add("\n" + indent)
    out.add(right)


def _write_message(out: _Text, message: StateBaseMessage, depth: int) -> None:
    fields = _attributes(message)
    role, content = fields.get("role") or "message", fields.get("content")
    out.add(f"{role}: ")
    if isinstance(content, str):
        out.add(_one_line(content, out.room + 1))
    else:
        _write(out, content, depth + 1, None)
    if calls := fields.get("tool_calls"):
        out.add(" calls ")
        _write(
            out, [getattr(getattr(call, "function", call), "name", call) for call in _listed(calls)], depth + 1, None
        )


def _listed(value: object) -> Iterator[Any]:
    return list.__iter__(value) if isinstance(value, list) else iter(())


def _one_line(text: str, limit: int) -> str:
    return str.__getitem__(text, slice(0, limit)).replace("\n", "↵").replace("\r", "").replace("\t", " ")


def _write_object(out: _Text, value: object, depth: int, indent: str | None) -> None:
    cls = type(value)
    if isinstance(value, type):
        out.add(f"<class {value.__name__}>")
    elif _is_record(value):
        pairs = ((name, item) for name, item in _attributes(value).items())
        _write_many(out, f"{cls.__name__}(", ")", "=", pairs, depth, indent)
    elif isinstance(value, _FUNCTIONS):
        out.add(f"<function {value.__name__}>")
    elif cls.__module__.partition(".")[0] in ("numpy", "pandas", "torch", "polars", "xarray"):
        _write_array(out, value)
    else:
        out.add(f"<{cls.__name__}>")


def _write_array(out: _Text, value: Any) -> None:
    """Of big numeric things only the shape; their `repr` can take seconds."""
    shape, kind = getattr(value, "shape", None), getattr(value, "dtype", None)
    if shape == () and hasattr(value, "item"):
        out.add(repr(value.item()))
        return
    size = f" {tuple(shape)}" if isinstance(shape, tuple) else ""
    out.add(f"<{type(value).__name__}{size}{f' {kind}' if kind is not None else ''}>")


def _is_record(value: object) -> bool:
    """Pydantic models and dataclasses: what they hold stands in `__dict__` or in slots."""
    cls = type(value)
    return not isinstance(value, type) and (hasattr(cls, "__pydantic_fields__") or hasattr(cls, "__dataclass_fields__"))


def _attributes(value: object) -> dict[str, object]:
    """Fields in declaration order, then extra ones, read past properties and `__getattr__`."""
    cls = type(value)
    own = _read(value, "__dict__") or {}
    names = getattr(cls, "__pydantic_fields__", None) or getattr(cls, "__dataclass_fields__", {})
    found = {name: own[name] if name in own else _read(value, name) for name in names}
    return {**found, **(_read(value, "__pydantic_extra__") or {})}


def _read(value: object, name: str) -> Any:
    try:
        return object.__getattribute__(value, name)
    except AttributeError:
        return None
