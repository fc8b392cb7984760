"""Exception groups in words: what a task group collected is what the user wants to read, not that it is a group."""

from __future__ import annotations

from collections.abc import Iterator

__all__ = ["first_inside", "leaves"]

_DEEP = 50


def leaves(error: BaseException, depth: int = 0) -> Iterator[BaseException]:
    """The errors in a group, in order, those of groups inside it included; of any other error itself."""
    if not isinstance(error, BaseExceptionGroup) or depth > _DEEP:
        yield error
        return
    for inner in error.exceptions:
        yield from leaves(inner, depth + 1)


def first_inside(error: BaseException) -> tuple[BaseException, int]:
    """The error to show for a group, which is its first, and how many more there are."""
    found = list(leaves(error))
    return (found[0], len(found) - 1) if found else (error, 0)
