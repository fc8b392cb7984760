"""Whether a node changed the state that it was handed, which changes nothing: only what it returns counts."""

from __future__ import annotations

from typing import Any

from evonb.graph.containers import WRAP, ReadDict, ReadList, ReadSet, wrap
from evonb.graph.schema import CompiledSchema, Values
from evonb.graph.warned import warn
from evonb.typing import MISSING

__all__ = ["changed_keys", "warn_of_changes"]

_COPIES = (ReadList, ReadDict, ReadSet)


def warn_of_changes(schema: CompiledSchema, node_name: str, values: Values, state: Any) -> None:
    """Warn of what a node that returned nothing did to its copy of the state: it may have meant that to count."""
    if changed := changed_keys(schema, values, state):
        warn(
            f"Node {node_name!r} changed {', '.join(map(repr, changed))} in the state that it was handed and returned "
            f"nothing, so the change is lost. Return what is to change: return {{{changed[0]!r}: ...}}"
        )


def changed_keys(schema: CompiledSchema, values: Values, state: Any) -> list[str]:
    """The keys that a node set, dropped or changed in its own copy of the state, in the state's order.

    Values that are deep copies (models, arrays) aren't looked into.

    Args:
        schema: The state's schema.
        values: What the state was made of.
        state: The state as the node left it.
    """
    given = state if schema.model is None else {**state.__dict__, **(state.__pydantic_extra__ or {})}
    dropped = [key for key, value in values.items() if key not in given and value is not MISSING]
    changed = [key for key, mine in given.items() if _is_changed(schema, key, values.get(key, MISSING), mine)]
    return [] if schema.initialises else changed + dropped


def _is_changed(schema: CompiledSchema, key: str, value: Any, mine: Any) -> bool:
    kind = mine.__class__
    if value is MISSING:  # nobody has written the key: the node was given the empty value of its type
        return kind in _PLAIN and bool(mine != schema.blank(key))
    if isinstance(mine, _COPIES) and mine._base is value:
        return _is_touched(mine)
    return mine is not value and (kind in _PLAIN or WRAP.get(value.__class__, wrap) is None)


_PLAIN = frozenset({list, dict, set, int, str, float, bool, bytes})


def _is_touched(copy: Any) -> bool:
    if copy._changed:
        return True
    own = getattr(copy, "_own", None) or {}
    parts = (part[0] if isinstance(copy, ReadList) else part for part in own.values())
    return any(isinstance(part, _COPIES) and _is_touched(part) for part in parts)
