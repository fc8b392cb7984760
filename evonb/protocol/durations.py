"""Durations in words: the picture says them, and so do the notes that `reduce` writes; twin of js/src/core/format.ts.

Both round halves up: the same run must give the same words in Python and in the browser.
"""

from __future__ import annotations

from math import floor

SPACE = "\u00a0"
"""Between a number and its unit, which don't part at the end of a line."""


def duration(seconds: float) -> str:
    """ "12 ms", "3.1 s", "1 m 04 s", "2 h 05 m": two or three figures, which fit in a node."""
    s = max(0.0, seconds)
    if s < 0.0995:
        return f"{_rounded(s * 1000)}{SPACE}ms"
    if s < 59.95:
        return f"{_rounded(s * 10) / 10:.1f}{SPACE}s"
    if s < 3599.5:
        minutes, rest = divmod(_rounded(s), 60)
        return f"{minutes}{SPACE}m{SPACE}{rest:02d}{SPACE}s"
    hours, rest = divmod(_rounded(s / 60), 60)
    return f"{hours}{SPACE}h{SPACE}{rest:02d}{SPACE}m"


def _rounded(value: float) -> int:
    return floor(value + 0.5)
