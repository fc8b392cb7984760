"""What stands behind a `%evo` command: names, and inputs as JSON or Python."""

from __future__ import annotations

import json
from typing import Any

from evonb.errors import MagicError
from evonb.graph import GraphEngine
from evonb.magics.session import Session
from evonb.protocol.preview import fields_of
from evonb.widgets.debug_schema import Keys

__all__ = ["name_of", "names_over", "read_inputs"]


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


def names_over(session: Session, graph: GraphEngine, state: Any) -> dict[str, Any]:
    """What an expression over a state may name: its keys, `state` itself, then the notebook's names.

    A key that nobody has written yet is unknown, also where a node or a variable has its name.
    """
    keys = Keys.of(graph.state_schema).by_name
    names = {name: value for name, value in session.namespace.items() if name not in keys}
    return {**names, **(fields_of(state) or {}), "state": state}
