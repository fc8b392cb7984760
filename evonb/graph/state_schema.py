"""`generate_state_schema`: a state schema made from a list of variables."""

from __future__ import annotations

import keyword
from typing import Annotated, Any

from pydantic import BaseModel, create_model

from evonb.errors import StateError
from evonb.graph.near import near_names
from evonb.graph.strategies import StateUpdater
from evonb.typing import StateMessage

__all__ = ["generate_state_schema"]

_TYPES: dict[str, type] = {kind.__name__: kind for kind in (str, int, float, bool, list, tuple, dict)}


def generate_state_schema(variables: list[tuple[str, Any, str]] | None = None) -> type[BaseModel]:
    """A pydantic model with `messages`, which collects the messages of the agents, and the given variables.

    Args:
        variables: Name, type and update strategy of each. The type is one of str, int, float, bool, list, tuple and
            dict, or its name.

    Raises:
        ValueError: A name is no Python name, reserved or repeated, a type isn't among these, or a strategy isn't
            registered.

    Example:
        >>> schema = generate_state_schema([("user_id", str, "overwrite")])
        >>> list(schema.model_fields)
        ['messages', 'user_id']
    """
    fields: dict[str, Any] = {"messages": (Annotated[list[StateMessage], "append_messages"], ...)}
    for name, kind, strategy in variables or ():
        _check_name(name, fields)
        fields[name] = (Annotated[_type_of(name, kind), _strategy(name, strategy)], ...)
    return create_model("GeneratedState", **fields)


def _check_name(name: Any, taken: dict[str, Any]) -> None:
    if not isinstance(name, str) or not name.isidentifier() or keyword.iskeyword(name) or name.startswith("_"):
        raise StateError(f"A state variable can't be called {name!r}", fix="use a Python name without leading _")
    if name in taken:
        why = "reserved" if name == "messages" else "declared twice"
        raise StateError(f"The state variable {name!r} is {why}", fix="choose another name")
    if hasattr(BaseModel, name):
        raise StateError(f"The state variable {name!r} would hide a method of pydantic models", fix="rename it")


def _type_of(name: str, kind: Any) -> type:
    found = _TYPES.get(kind) if isinstance(kind, str) else kind if kind in _TYPES.values() else None
    if found is None:
        near = near_names(kind, _TYPES, n=1)
        raise StateError(
            f"The type of state variable {name!r} is {kind!r}, expected one of {', '.join(_TYPES)}",
            fix=f"did you mean {near[0]}?" if near else "",
        )
    return found


def _strategy(name: str, strategy: str) -> str:
    try:
        StateUpdater.get(strategy)
    except StateError as error:
        error.where = f"state variable {name!r}"
        raise
    return strategy
