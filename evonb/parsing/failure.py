"""The error that users see, and the one with which a reader says "not mine"."""

from __future__ import annotations

from evonb.errors import EvonbError
from evonb.parsing.schema import OutputFormat, ParseTrace

__all__ = ["ParseError", "TooDeep", "Unreadable"]


class ParseError(EvonbError, ValueError):
    """A reply couldn't be parsed, or failed a check, and the mode is STRICT.

    Attributes:
        trace: What was tried, or None.
    """

    def __init__(self, message: str, trace: ParseTrace | None = None, *, where: str = "", fix: str = "") -> None:
        super().__init__(message, where=where, fix=fix)
        self.trace = trace


class Unreadable(Exception):
    """A reader can't read this text; the message says why. Never leaves the package.

    Attributes:
        position: How far the reader got, so that a search can count its work.
        format: What the text would be, where that is known.
    """

    def __init__(self, message: str, *, position: int = 0, format: OutputFormat | None = None) -> None:
        super().__init__(message)
        self.position = position
        self.format = format


class TooDeep(Unreadable):
    """The text nests deeper than any real reply; nobody else should try it either."""
