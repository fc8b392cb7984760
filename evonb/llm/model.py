"""What every chat model has in common, so that a node can be given any of them.

The protocols and the aliases only; each model lives in a module of its own.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any, Protocol, TypeAlias, runtime_checkable

from evonb.typing import ChatStreamChunk, LLMChatResponse

__all__ = ["ChatModel", "ChunkSink", "ChunkWriter", "Messages", "putter", "text_of"]

Messages: TypeAlias = Sequence[Any]
"""Messages, mappings with `role` and `content`, or plain strings, which count as the user's."""


class ChunkWriter(Protocol):
    """The part of a stream writer that a model needs."""

    def put(self, payload: Any, /) -> None:
        """Take one piece; called in the order of the text, never from two threads at once."""


ChunkSink: TypeAlias = ChunkWriter | Callable[[ChatStreamChunk], object]
"""Where the pieces of an answer go: a stream writer, or a function."""


@runtime_checkable
class ChatModel(Protocol):
    """A model that answers a conversation: a server's, a local one, a script, a recording.

    `options` are what a server takes beside the messages (`tools`, `schema`, `temperature`, `max_tokens`, ...); a
    model that has no use for one ignores it.
    """

    async def chat(
        self, messages: Messages | str, *, stream_writer: ChunkWriter | None = None, **options: Any
    ) -> LLMChatResponse:
        """Answer: piece by piece into `stream_writer`, and whole in the end."""

    def chat_sync(
        self, messages: Messages | str, *, stream_writer: ChunkWriter | None = None, **options: Any
    ) -> LLMChatResponse:
        """As `chat`, for plain functions; blocks the calling thread."""


def putter(sink: ChunkSink | None) -> Callable[[ChatStreamChunk], object]:
    """The function that hands a piece to `sink`; one that drops it when there is no sink.

    Raises:
        TypeError: `sink` is no function and has no `put`.
    """
    if sink is None:
        return lambda _chunk: None
    put = getattr(sink, "put", sink)
    if not callable(put):
        raise TypeError(f"A stream writer has a method 'put' or is a function; found {type(sink).__name__}")
    return put


def text_of(message: Any) -> str:
    """The text of a message, of a mapping with `content`, or of anything else."""
    content = message.get("content") if isinstance(message, Mapping) else getattr(message, "content", message)
    return content if isinstance(content, str) else str(content)
