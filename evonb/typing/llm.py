"""What model clients answer with: stream chunks, whole responses, usage. The calls in them are defined in `calls`."""

from __future__ import annotations

from typing import Any

from pydantic import Field

from evonb.typing.base import Model
from evonb.typing.calls import ChatUsage, Function, ToolCall

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
