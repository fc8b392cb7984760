"""Text that every encoder takes.

A lone half of a surrogate pair is legal in a Python string and in JSON's escapes, but no UTF-8 can hold it. Models and
tools do send some, as when a stream is cut inside an emoji.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, TypeVar, cast

__all__ = ["encodable"]

T = TypeVar("T")


def encodable(value: T) -> T:
    """The value with each lone surrogate in its texts replaced by U+FFFD; halves that belong together are joined.

    Looks into mappings, lists and tuples, which become dicts and lists; anything else stays as it is.

    Example:
        >>> encodable({"text": "tea" + chr(0xD83C)})
        {'text': 'tea\ufffd'}
    """
    given: Any = value
    if isinstance(given, str):
        given = _text(given)
    elif isinstance(given, Mapping):
        given = {encodable(key): encodable(item) for key, item in given.items()}
    elif isinstance(given, list | tuple):
        given = [encodable(item) for item in given]
    return cast("T", given)


def _text(text: str) -> str:
    try:
        text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace")
    return text
