"""Context variables in coroutines that may be given up in the middle."""

from __future__ import annotations

from contextlib import suppress
from contextvars import ContextVar, Token
from typing import Any

__all__ = ["put_back"]


def put_back(variable: ContextVar[Any], token: Token[Any]) -> None:
    """Give a variable the value it had before.

    A coroutine that nobody awaits any more is closed by the garbage collector, in a context that isn't its own: there
    is nothing to put back there, and an error would take the place of what ends it.
    """
    with suppress(ValueError):
        variable.reset(token)
