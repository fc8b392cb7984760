"""What errors say about what somebody gave: the known name that they may have meant, the kind of thing that it is."""

from __future__ import annotations

from collections.abc import Iterable
from typing import TypeVar

from evonb.errors import EvonbError

__all__ = ["near_names", "short", "wrong_kind"]

_E = TypeVar("_E", bound=EvonbError)


def near_names(name: object, known: Iterable[str], n: int = 1) -> list[str]:
    """Up to `n` of the known names that look like `name`, the likeliest first."""
    from difflib import get_close_matches  # only errors need it, importing evonb doesn't

    return get_close_matches(str(name), list(known), n=n)


def short(value: object) -> str:
    """A value as errors show it, at most sixty characters of it."""
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


def wrong_kind(error: type[_E], expected: str, found: object, *, where: str = "", fix: str = "") -> _E:
    """The error for an argument of another kind than expected: "A listener is a function, found int 5"."""
    return error(f"{expected}, found {type(found).__name__} {found!r:.60}", where=where, fix=fix)
