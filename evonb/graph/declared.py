"""Objects that say themselves what of them is saved, by the methods `to_saved` and `from_saved`; and shared objects.

Models, stores and tool registries hold locks, connections and keys. They give their settings instead, and are made
anew of them. Whether data may make such objects is decided in `loading`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol, Self

from evonb.errors import GraphError

__all__ = ["Savable", "Sharing", "declares", "sharing"]


class Savable(Protocol):
    """What an object offers to be saved with a graph, whatever it holds beside its settings."""

    def to_saved(self) -> Mapping[str, Any]:
        """The settings that it can be made of again: no secrets, nothing that is open or running.

        Raises:
            EvonbError: It can't be saved; why and what to do.
        """

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """A new object of such settings. Starts nothing: what it needs is opened on first use."""


def declares(value: Any, place: str) -> bool:
    """Whether the object has a saved form of its own.

    Raises:
        GraphError: Its class takes other arguments than the one that declared the form, and says no form of its own.
    """
    kind = type(value)
    if not (hasattr(kind, "to_saved") and hasattr(kind, "from_saved")):
        return False
    for base in kind.__mro__:
        if "to_saved" in base.__dict__:
            return base.__dict__["to_saved"] is not None
        if "__init__" in base.__dict__:
            raise GraphError(
                f"{place}: {kind.__name__} has an __init__ of its own, and no to_saved that fits it",
                fix=f"give {base.__name__} the methods to_saved and from_saved",
            )
    return False


class Sharing:
    """One object that a graph holds in several places stays one: it is saved once, and referred to after that."""

    def __init__(self) -> None:
        self._names: dict[int, str] = {}
        self._objects: list[Any] = []  # keeps them alive, so that no id is given twice
        self._made: dict[str, Any] = {}
        self._refused: set[str] = set()

    def name_of(self, value: Any) -> str | None:
        """The name under which the object was saved; None for the first time."""
        return self._names.get(id(value))

    def add(self, value: Any) -> str:
        """A name for an object that is being saved."""
        name = f"shared {len(self._objects) + 1}"
        self._objects.append(value)
        self._names[id(value)] = name
        return name

    def keep(self, name: str, made: Any) -> None:
        """Remember an object that was loaded."""
        self._made[name] = made

    def refuse(self, data: Any) -> None:
        """Remember that the objects in these data weren't loaded, since they aren't trusted."""
        if isinstance(data, Mapping):
            self._refused.add(str(data.get("as")))
        for item in data.values() if isinstance(data, Mapping) else data if isinstance(data, list) else ():
            self.refuse(item)

    def is_refused(self, name: str) -> bool:
        """Whether the object under this name was refused."""
        return name in self._refused

    def get(self, name: str) -> Any:
        """The object that was loaded under this name.

        Raises:
            GraphError: None was.
        """
        if name not in self._made:
            raise GraphError(f"Saved data refer to {name!r}, which isn't there", fix="use what dumps() gave, unchanged")
        return self._made[name]


_current: ContextVar[Sharing | None] = ContextVar("evonb_sharing", default=None)


@contextmanager
def sharing() -> Iterator[Sharing]:
    """Everything that is saved or loaded inside counts as one graph; inside of another such block, as part of that."""
    known = _current.get()
    if known is not None:
        yield known
        return
    made = Sharing()
    token = _current.set(made)
    try:
        yield made
    finally:
        _current.reset(token)
