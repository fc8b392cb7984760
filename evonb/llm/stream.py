"""An answer that is being written: iterate over its pieces, then take it whole."""

from __future__ import annotations

from collections.abc import AsyncGenerator, Callable, Generator
from typing import Self

from evonb.errors import EvonbError
from evonb.typing import ChatStreamChunk, LLMChatResponse

__all__ = ["ChatStream", "SyncChatStream"]


class _Answer:
    _whole: LLMChatResponse | None = None

    @property
    def response(self) -> LLMChatResponse:
        """The whole answer.

        Raises:
            EvonbError: The iteration hasn't come to its end.
        """
        if self._whole is None:
            raise EvonbError(
                "The answer isn't complete: its pieces haven't been read to the end",
                where="ChatStream.response",
                fix="iterate over the stream first: async for chunk in stream: ...",
            )
        return self._whole

    def finish(self, response: LLMChatResponse) -> None:
        """The source says that this is the whole answer."""
        self._whole = response


class ChatStream(_Answer):
    """An answer as an async iterator of pieces. One reader, once; leaving early with `aclose` ends the request."""

    def __init__(self, source: Callable[[ChatStream], AsyncGenerator[ChatStreamChunk, None]]) -> None:
        self._pieces = source(self)

    def __aiter__(self) -> Self:
        return self

    async def __anext__(self) -> ChatStreamChunk:
        return await self._pieces.__anext__()

    async def aclose(self) -> None:
        """End the request, if it is still running."""
        await self._pieces.aclose()


class SyncChatStream(_Answer):
    """As `ChatStream`, for plain functions; leave early with `close`."""

    def __init__(self, source: Callable[[SyncChatStream], Generator[ChatStreamChunk, None, None]]) -> None:
        self._pieces = source(self)

    def __iter__(self) -> Self:
        return self

    def __next__(self) -> ChatStreamChunk:
        return next(self._pieces)

    def close(self) -> None:
        """End the request, if it is still running."""
        self._pieces.close()
