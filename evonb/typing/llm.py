"""What model clients answer with: usage, function calls, stream chunks and whole responses."""

from __future__ import annotations

from typing import Any, Literal

from pydantic import Field

from evonb.typing.base import Model

__all__ = [
    "ChatStreamChunk",
    "ChatUsage",
    "EmbedResponse",
    "EmbedUsage",
    "Function",
    "LLMChatResponse",
    "RerankResponse",
    "RerankUsage",
    "Reranking",
    "ToolCall",
]


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


class EmbedUsage(Model):
    """What one embedding request cost.

    Attributes:
        generation_time: Seconds. A whole number stays an `int`, as documented; fractions are kept too.
    """

    generation_time: int | float


class RerankUsage(Model):
    """What one reranking request cost.

    Attributes:
        generation_time: Seconds. A whole number stays an `int`, as documented; fractions are kept too.
    """

    generation_time: int | float


Reranking = RerankUsage
"""The documented name of `RerankUsage`."""


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


class ChatStreamChunk(Model):
    """A piece of a streamed answer: text to append to the content, to the reasoning, or to both."""

    reasoning_content: str | None = None
    content: str | None = None


class LLMChatResponse(Model):
    """A whole answer of a chat model.

    Attributes:
        content: The text; empty when the model only calls tools.
        tool_calls: The calls, in the model's order.
        reasoning_content: What the model thought, if the server tells.
        usage: Tokens and time.
        id: The server's id of this response.
        meta: Anything else worth keeping, by name.
    """

    content: str
    tool_calls: list[ToolCall] | None = None
    reasoning_content: str | None = None
    usage: ChatUsage | None = None
    id: str = ""
    meta: dict[str, Any] = Field(default_factory=dict)


class EmbedResponse(Model):
    """The vector of one text."""

    embeddings: list[float]
    usage: EmbedUsage | None = None


class RerankResponse(Model):
    """Texts in their new order; `scores[i]` belongs to `texts[i]`."""

    scores: list[float]
    texts: list[str]
    usage: RerankUsage | None = None
