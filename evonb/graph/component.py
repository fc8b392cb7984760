"""`BaseComponent`: what every documented class of the graph is made of."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict

__all__ = ["BaseComponent"]


class BaseComponent(BaseModel):
    """A pydantic model whose fields may hold any Python object.

    Subclass it (or a node class) and declare settings as fields; they are validated when an instance is made.
    Validators are built on first use, so that importing evonb stays quick.
    """

    model_config = ConfigDict(arbitrary_types_allowed=True, defer_build=True, validate_default=False)
