"""What stands behind a `%evo` command: names, and inputs as JSON or Python."""

from __future__ import annotations

import json
from typing import Any

from evonb.errors import MagicError
from evonb.magics.session import Session

__all__ = ["name_of", "read_inputs"]


def name_of(name: str, command: str, kind: str = "NAME") -> str:
    """The name, which must be there.

    Raises:
        MagicError: It isn't.
    """
    if not name:
        wants = "a graph" if kind == "NAME" else f"a {kind.lower()}"
        raise MagicError(f"%evo {command} wants {wants}", where=f"%evo {command}", fix=f"write: %evo {command} {kind}")
    return name


def read_inputs(session: Session, text: str, command: str) -> Any:
    """JSON, or a Python expression over the notebook's names: what the user typed, evaluated where they typed it.

    Raises:
        MagicError: It is neither, or it raised.
    """
    if not text:
        return {}
    try:
        return json.loads(text)
    except ValueError:
        pass
    try:
        return eval(text, session.namespace)
    except Exception as error:
        raise MagicError(
            f"The inputs can't be read: {type(error).__name__}: {error}",
            where=f"%evo {command}: {text[:80]}",
            fix=f'write JSON or Python, as in: %evo {command} NAME {{"topic": "billing"}}',
        ) from error
