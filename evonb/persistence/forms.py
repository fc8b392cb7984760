"""The two tables of the codec, by type and by tag, and what their entries are given.

A value becomes plain JSON: scalars, lists and dicts with string keys as they are, everything else as an object with
a tag under "$". What one entry can't do without the others (encode a part) it asks of the `Writer` or `Reader`.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping
from typing import Any, Protocol

from evonb.persistence.names import name_of

__all__ = ["DECODE", "DUMP", "ENCODE", "LEARN", "TAG", "Reader", "Unstorable", "Writer", "tagged"]

TAG = "$"

DUMP = json.JSONEncoder(ensure_ascii=False, check_circular=False, separators=(",", ":")).encode
"""A form as compact text."""


class Unstorable(Exception):
    """A value that has no form; the path to it grows on the way out.

    Attributes:
        kind: Name of its class.
        pieces: The path to it, innermost piece first.
    """

    def __init__(self, value: Any, why: str = "") -> None:
        super().__init__(why)
        self.kind = name_of(type(value)).replace(":", ".")
        self.why = why
        self.pieces: list[str] = []

    def path(self, root: str) -> str:
        """The path from the outermost value on."""
        return root + "".join(reversed(self.pieces))


class Writer(Protocol):
    """Encodes parts."""

    def value(self, value: Any) -> Any:
        """Any value as plain JSON."""

    def part(self, piece: str, value: Any) -> Any:
        """The same; `piece` is the part's place in the path that an error names."""

    def fields(self, values: Mapping[str, Any]) -> Any:
        """Named parts as one dict."""

    def blob(self, body: bytes) -> str:
        """Keep a large body once in a run; the answer finds it again."""


class Reader(Protocol):
    """Fetches what isn't in the form itself; parts of a form are decoded before the form is."""

    def blob(self, digest: str) -> bytes:
        """A body by its digest."""

    def text(self, text: str) -> Any:
        """Decode a text that a blob held."""


Encode = Callable[[Writer, Any], Any]
Decode = Callable[[Reader, dict[str, Any]], Any]

ENCODE: dict[type, Encode] = {}
"""How values of this very type are encoded. Filled at import, and by `LEARN` when a type is first met."""

DECODE: dict[str, Decode] = {}
"""How a form with this tag is decoded."""

LEARN: list[Callable[[type], Encode | None]] = []
"""Asked in turn for a type that isn't in the table."""


def tagged(tag: str, value: Any, **more: Any) -> dict[str, Any]:
    """A form."""
    return {TAG: tag, **more, "v": value}
