"""The known name that somebody may have meant: errors offer it."""

from __future__ import annotations

from collections.abc import Iterable

__all__ = ["near_names"]


def near_names(name: object, known: Iterable[str], n: int = 1) -> list[str]:
    """Up to `n` of the known names that look like `name`, the likeliest first."""
    from difflib import get_close_matches  # only errors need it, importing evonb doesn't

    return get_close_matches(str(name), list(known), n=n)
