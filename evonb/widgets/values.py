"""Opening any value step by step, for the tree of a state: bounded, and without running a user's code.

A path leads from the value inwards. In a list, a tuple or a set a part is a position; in a model or a dataclass a
field's name; in a dict the key where it is text, else its position.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from evonb.errors import StateError
from evonb.protocol.debug_commands import InspectKeyResult, ValueChild
from evonb.protocol.preview import fields_of, full_text, preview
from evonb.protocol.snapshot import PREVIEW_CHARS
from evonb.typing import StateBaseMessage

__all__ = ["CHILDREN_SHOWN", "children_of", "count_of", "open_value", "opens", "size_of", "value_at"]

CHILDREN_SHOWN = 200
_MANY = (list, tuple, set, frozenset)

Part = str | int


def open_value(value: object, path: Sequence[Part] = ()) -> InspectKeyResult:
    """What is at the end of a path: its text and its children.

    Raises:
        StateError: The path leads nowhere (the value may have changed since it was shown).
    """
    found = value_at(value, path)
    children = [_child(label, [*path, part], item) for label, part, item in islice(children_of(found), CHILDREN_SHOWN)]
    return {"text": full_text(found), "children": children, "more": max(0, count_of(found) - CHILDREN_SHOWN)}


def value_at(value: Any, path: Sequence[Part]) -> Any:
    """The value at the end of a path.

    Raises:
        StateError: The path leads nowhere.
    """
    for depth, part in enumerate(path):
        value = _step(value, part, path[: depth + 1])
    return value


def children_of(value: Any) -> Iterator[tuple[str, Part, object]]:
    """Label, path part and value of each child, in order; none for what has no inside."""
    if isinstance(value, dict):
        for position, (key, item) in enumerate(dict.items(value)):
            named = type(key) is str and len(key) <= PREVIEW_CHARS
            yield (key if named else preview(key)["text"]), (key if named else position), item
    elif (kind := _sequence(value)) is not None:
        for position, item in enumerate(kind.__iter__(value)):
            yield str(position), position, item
    elif not isinstance(value, str | bytes) and (fields := fields_of(value)) is not None:
        for name, item in fields.items():
            yield name, name, item


def count_of(value: Any) -> int:
    """How many children it has."""
    if isinstance(value, dict):
        return dict.__len__(value)
    if (kind := _sequence(value)) is not None:
        return int(kind.__len__(value))
    fields = None if isinstance(value, str | bytes) else fields_of(value)
    return 0 if fields is None else len(fields)


def opens(value: object) -> bool:
    """Whether opening it shows more than its preview."""
    return preview(value)["cut"] if isinstance(value, str | bytes) else count_of(value) > 0


def size_of(value: object) -> str:
    """How much it holds, in words: "214 chars", "7 messages", "3 keys"; "" for what has no size."""
    if isinstance(value, str):
        return _counted(str.__len__(value), "char")
    if isinstance(value, bytes | bytearray):
        return _counted(len(value), "byte")
    if isinstance(value, dict):
        return _counted(count_of(value), "key")
    if (kind := _sequence(value)) is not None:
        first = next(iter(kind.__iter__(value)), None)
        return _counted(count_of(value), "message" if isinstance(first, StateBaseMessage) else "item")
    fields = fields_of(value)
    return "" if fields is None else _counted(len(fields), "field")


def _sequence(value: object) -> Any:
    """The built-in class to read a list, tuple or set through, past what a subclass overrides."""
    return next((kind for kind in _MANY if isinstance(value, kind)), None)


def _step(value: object, part: Part, path: Sequence[Part]) -> object:
    if isinstance(part, int) and not isinstance(part, bool) and part >= 0:
        chosen = next(islice(children_of(value), part, part + 1), None)
        if chosen is not None and chosen[1] == part:
            return chosen[2]
    elif isinstance(part, str):
        if isinstance(value, dict):
            if dict.__contains__(value, part):
                return dict.__getitem__(value, part)
        elif part in (fields := fields_of(value) or {}):
            return fields[part]
    raise StateError(
        f"There is nothing at {' > '.join(map(str, path))[:200]} any more",
        where="the state's tree",
        fix="close it and open it again: the value has changed",
    )


def _child(label: str, path: list[Part], value: object) -> ValueChild:
    return {"label": label[:PREVIEW_CHARS], "path": path, "value": preview(value), "opens": opens(value)}


def _counted(count: int, word: str) -> str:
    return f"{count:,} {word}{'' if count == 1 else 's'}"
