"""The sentinel, the default edge group and the type aliases of the graph."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Dict, Final, TypeAlias, Union, final  # noqa: UP035 - documented as Dict

from pydantic import BaseModel

__all__ = ["DEFAULT_EDGE_GROUP", "MISSING", "STREAM_CHUNK", "MissingType", "State", "StateDelta", "StateSchema"]


@final
class MissingType:
    """Type of `MISSING`, of which there is exactly one in a process."""

    __slots__ = ()
    _one: MissingType | None = None

    def __new__(cls) -> MissingType:
        if cls._one is None:
            cls._one = object.__new__(cls)
        return cls._one

    def __repr__(self) -> str:
        return "MISSING"

    def __reduce__(self) -> str:
        # A string is a global name of this module: copy, deepcopy and pickle all give the one object back.
        return "MISSING"


MISSING: Final = MissingType()
"""No value was given, where None would be a value. Compare with `is`; it is as true as any object."""

DEFAULT_EDGE_GROUP: Final = "all"
"""The group of an edge that names none; an `all` join waits for every edge of one group."""

if TYPE_CHECKING:
    STREAM_CHUNK: TypeAlias = Any
    StateDelta: TypeAlias = dict[str, Any]
    State: TypeAlias = BaseModel | dict[str, Any]
    StateSchema: TypeAlias = dict[str, Any] | BaseModel
else:
    # The documented spelling, which people compare and read in signatures; checkers get the precise one above.
    STREAM_CHUNK = Any
    StateDelta = Dict  # noqa: UP006
    State = Union[BaseModel, Dict]  # noqa: UP006, UP007
    StateSchema = Union[dict, BaseModel]  # noqa: UP007
