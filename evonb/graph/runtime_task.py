"""`RunTimeTask`: a waiting task as the documented class, made on demand of the scheduler's own."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import BaseModel, ConfigDict, Field, PrivateAttr, SkipValidation

from evonb.graph.state import StateCkpt
from evonb.typing import DEFAULT_EDGE_GROUP

__all__ = ["RunTimeTask"]


class RunTimeTask(BaseModel):
    """A task that waits to be run.

    Attributes:
        node_name: The node to run.
        state_ckpt: The state that it starts from; a list for the inputs of a join.
        edge_group: The group of the edge that it came by.
        predecessor: The node before, or those before a join; None at the start.
        state_filter: A filter still to be applied to the state.
        trace_route: The nodes that led here, oldest first.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, defer_build=True)

    node_name: str
    state_ckpt: StateCkpt | list[StateCkpt]
    edge_group: str = DEFAULT_EDGE_GROUP
    predecessor: str | list[str] | None = None
    state_filter: SkipValidation[Callable[[Any], Any] | None] = None
    trace_route: list[str] = Field(default_factory=list)
    _waiting: Any = PrivateAttr(default=None)
