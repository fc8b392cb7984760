"""Counts, ordinals and lists as people say them."""

from __future__ import annotations

from collections.abc import Sequence


def plural(count: int, noun: str) -> str:
    return f"{count:,} {noun}{'' if count == 1 else 's'}"


def ordinal(count: int) -> str:
    last = 0 if 11 <= count % 100 <= 13 else count % 10
    return f"{count}{('th', 'st', 'nd', 'rd')[last] if last < 4 else 'th'}"


def listed(words: Sequence[str]) -> str:
    """ "a", "a and b", "a, b and c"."""
    return words[0] if len(words) == 1 else f"{', '.join(words[:-1])} and {words[-1]}" if words else ""
