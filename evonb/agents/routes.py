"""Where a workflow goes on after a node: `route.to` another node, or `route.deliver` a key of the state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any, Literal

from evonb.errors import GraphError

__all__ = ["Route", "route"]

When = Callable[[Any], Any]


@dataclass(frozen=True, slots=True)
class Route:
    """One way out of a node. Of a node's routes the first whose condition holds is taken.

    Attributes:
        kind: "to" another node, or "deliver" the value of a key as the result.
        name: The node, or the state key.
        when: `(state) -> bool`; None always holds.
        label: Text for the picture; what the route does if empty.
    """

    kind: Literal["to", "deliver"]
    name: str
    when: When | None = None
    label: str = ""

    def holds(self, state: Any) -> bool:
        """Whether this route may be taken from this state."""
        return self.when is None or bool(self.when(state))


class _Routes:
    """The word `route`: makes routes."""

    @staticmethod
    def to(node_id: str, *, when: When | None = None, label: str = "") -> Route:
        """Go on with another node."""
        return Route("to", _text(node_id, "route.to"), _condition(when), label)

    @staticmethod
    def deliver(key: str, *, when: When | None = None, label: str = "") -> Route:
        """End the run; its result is the value of this state key."""
        return Route("deliver", _text(key, "route.deliver"), _condition(when), label or f"deliver {key}")


route = _Routes()
"""Makes the routes of a workflow node: `route.to("review")`, `route.deliver("answer", when=lambda state: ...)`."""


def _text(name: Any, word: str) -> str:
    name = getattr(name, "id", name)  # a workflow node stands for its id
    if isinstance(name, str) and name:
        return name
    raise GraphError(f"{word} needs a name, found {name!r}", fix=f'write {word}("...")')


def _condition(when: Any) -> When | None:
    if when is not None and not callable(when):
        raise GraphError(f"The condition of a route is a function of the state, found {when!r:.60}", fix="when=...")
    condition: When | None = when
    return condition
