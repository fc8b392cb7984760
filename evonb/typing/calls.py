"""What an assistant's message holds beside its text: the calls that a model asks for, and what the answer cost."""

from __future__ import annotations

from typing import Literal

from evonb.typing.base import Model

__all__ = ["ChatUsage", "Function", "ToolCall"]


class ChatUsage(Model):
    """What one chat request cost; a client leaves out what its server doesn't report.

    Attributes:
        completion_tokens: Tokens that the model wrote.
        prompt_tokens: Tokens that it read.
        total_tokens: Both together.
        generation_time: Seconds from request to the last token.
    """

    completion_tokens: int | None = None
    prompt_tokens: int | None = None
    total_tokens: int | None = None
    generation_time: float | None = None


class Function(Model):
    """The function that a model wants called.

    Attributes:
        arguments: JSON text exactly as the model wrote it, so possibly broken.
        name: The function's name.
    """

    arguments: str
    name: str


class ToolCall(Model):
    """One call that a model asks for; a `ToolMessage` answers it by `id`."""

    id: str
    function: Function
    type: Literal["function"] = "function"
