"""Optional packages of the parsers, loaded when a format first needs them."""

from __future__ import annotations

from typing import Any

from evonb._optional import require
from evonb.errors import MissingDependency
from evonb.parsing.failure import Unreadable


def load(name: str, purpose: str) -> Any:
    """The module `name`.

    Raises:
        Unreadable: It isn't installed. The message names the extra, so that the trace of the parse does.
    """
    try:
        return require(name, purpose)
    except MissingDependency as error:
        raise Unreadable(f"{error.what} (fix: pip install 'evonb[parsing]')") from error
