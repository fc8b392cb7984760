"""What a retriever needs of a vector store and of an embedding model; any object with these methods will do."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Protocol, runtime_checkable

from evonb.typing import DBItem, EmbedResponse, SearchResult

__all__ = ["Embedder", "VectorStore"]


@runtime_checkable
class Embedder(Protocol):
    """A model that turns texts into vectors, such as `EmbedClient`."""

    async def embed_many(self, texts: Sequence[str], **options: Any) -> list[EmbedResponse]:
        """The vectors of the texts, in their order, all of one length."""


@runtime_checkable
class VectorStore(Protocol):
    """Texts that can be found by likeness."""

    async def add(self, items: Sequence[DBItem]) -> list[str]:
        """Keep texts and give their ids, in order. A text whose id is known replaces the old one."""

    async def search(self, query: str, k: int = 4) -> list[SearchResult]:
        """The k texts that are most like the query, best first."""

    async def delete(self, ids: Sequence[str]) -> None:
        """Take texts away; ids that aren't known are an error that names them, and nothing is taken away then."""
