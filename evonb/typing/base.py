"""What all documented models share. Nothing but the pydantic configuration belongs here."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Model(BaseModel):
    """Base of the documented models.

    Validators are built on first use, so that importing evonb stays quick: a session that never
    talks to a vector store never pays for its models.
    """

    model_config = ConfigDict(defer_build=True)
