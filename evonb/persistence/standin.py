"""What stands for a value that can't be made again: its class is gone, or it could never be written."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import fields, is_dataclass
from typing import Any, ClassVar

from pydantic import BaseModel

__all__ = ["StandIn", "stand_ins"]


class StandIn:
    """Keeps what is known of a value that can't be made again.

    Fields of the lost object can be read as attributes as long as they don't have one of the names below. Encoding
    a stand-in gives what it was decoded from, so that nothing is lost by writing it again.

    Attributes:
        type_name: Name of the value's class, "shop:Order.Line".
        reason: Why it couldn't be made again, in one sentence.
        data: What was stored of it, decoded: its fields by name, its items, or a short text.
        form: What it was decoded from.
        made: How many there have been in this process, so that a reader can tell cheaply whether it met any.
    """

    __slots__ = ("data", "form", "reason", "type_name")
    made: ClassVar[int] = 0

    def __init__(self, type_name: str, reason: str, data: Any, form: Mapping[str, Any]) -> None:
        self.type_name = type_name
        self.reason = reason
        self.data = data
        self.form = form
        StandIn.made += 1

    def __getattr__(self, name: str) -> Any:
        # Slots that aren't filled yet come here as well (copy, pickle): they mustn't ask for themselves.
        if not name.startswith("__") and name not in StandIn.__slots__:
            if isinstance(self.data, dict) and name in self.data:
                return self.data[name]
            raise AttributeError(f"stand-in of a {self.type_name} has no {name!r}: {self.reason}")
        raise AttributeError(name)

    def __eq__(self, other: object) -> bool:
        return isinstance(other, StandIn) and self.form == other.form

    def __hash__(self) -> int:
        return hash(self.type_name)

    def __repr__(self) -> str:
        return f"<stand-in of a {self.type_name}: {self.reason}>"


def stand_ins(value: Any, path: str = "") -> Iterator[tuple[str, StandIn]]:
    """Every stand-in inside a value, with the path to it: `("messages[2].image", <stand-in ...>)`."""
    if isinstance(value, StandIn):
        yield path, value
    elif isinstance(value, dict):
        for key, item in value.items():
            yield from stand_ins(item, f"{path}{key_piece(key)}" if path else str(key))
    elif isinstance(value, list | tuple):
        for index, item in enumerate(value):
            yield from stand_ins(item, f"{path}[{index}]")
    elif isinstance(value, set | frozenset):
        for item in value:
            yield from stand_ins(item, f"{path}{{}}")
    elif isinstance(value, BaseModel):
        for name, item in value.__dict__.items():
            yield from stand_ins(item, f"{path}.{name}")
    elif is_dataclass(value) and not isinstance(value, type):
        for each in fields(value):
            yield from stand_ins(getattr(value, each.name, None), f"{path}.{each.name}")


def key_piece(key: Any) -> str:
    """How a dict's key is written in a path: `.name` where it reads as one, else `['two words']`."""
    return f".{key}" if isinstance(key, str) and key.isidentifier() else f"[{key!r}]"
