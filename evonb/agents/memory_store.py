"""A vector store in memory, and an embedder that needs no model. numpy loads on first use."""

from __future__ import annotations

import difflib
import hashlib
import re
import threading
from collections.abc import Mapping, Sequence
from typing import Any, Self
from uuid import uuid4

from evonb._optional import require
from evonb.agents.stores import Embedder
from evonb.errors import EvonbError
from evonb.graph.near import wrong_kind
from evonb.typing import DBItem, EmbedResponse, SearchResult

__all__ = ["InMemoryStore", "WordEmbedder"]

_WORD = re.compile(r"\w+")


class WordEmbedder:
    """Vectors that say which words a text has, and which pieces of words; no model, the same every time.

    Texts that share words are alike; texts that say the same in other words aren't. Good enough for lessons, tests and
    a few hundred notes.

    Args:
        size: The length of the vectors.
    """

    def __init__(self, size: int = 512) -> None:
        self.size = size

    async def embed_many(self, texts: Sequence[str], **_options: Any) -> list[EmbedResponse]:
        """The vectors of the texts, in their order."""
        return [EmbedResponse(embeddings=self._vector(text)) for text in texts]

    def _vector(self, text: str) -> list[float]:
        vector = [0.0] * self.size
        for word in _WORD.findall(text.lower()):
            self._count(vector, word, 1.0)
            for start in range(len(word) - 3):  # so that "invoices" is like "invoice"
                self._count(vector, word[start : start + 4], 0.25)
        return vector

    def _count(self, vector: list[float], piece: str, weight: float) -> None:
        digest = hashlib.blake2b(piece.encode(), digest_size=8).digest()  # hash() differs from process to process
        vector[int.from_bytes(digest, "big") % self.size] += weight


class InMemoryStore:
    """A `VectorStore` in memory: exact, by the cosine of the vectors. May be used from several threads.

    Args:
        embedder: Makes the vectors; `WordEmbedder` if None.

    Example:
        store = InMemoryStore()
        await store.add([DBItem(text="Refunds take five days.")])
        [found] = await store.search("refund", k=1)
    """

    def __init__(self, embedder: Embedder | None = None) -> None:
        self.embedder: Embedder = embedder if embedder is not None else WordEmbedder()
        self._items: dict[str, DBItem] = {}
        self._vectors: dict[str, Any] = {}
        self._lock = threading.RLock()

    def __repr__(self) -> str:
        return f"InMemoryStore({len(self)} {'text' if len(self) == 1 else 'texts'})"

    def to_saved(self) -> dict[str, Any]:
        """What a saved graph holds of it: the embedder, the texts and their vectors, so that nothing is asked anew."""
        with self._lock:
            items = list(self._items.values())
            vectors = [self._vectors[item_id].astype("<f8").tobytes() for item_id in self._items]
        return {"embedder": self.embedder, "items": items, "vectors": vectors}

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """A store with these texts."""
        store = cls(fields["embedder"])
        for item, vector in zip(fields["items"], fields["vectors"], strict=True):
            store._items[item.ids] = item
            store._vectors[item.ids] = _numpy().frombuffer(vector, dtype="<f8")
        return store

    def __len__(self) -> int:
        return len(self._items)

    async def add(self, items: Sequence[DBItem]) -> list[str]:
        """Keep texts; all of them or, when the embedder fails or its vectors don't fit, none.

        Raises:
            EvonbError: The vectors aren't of the length of those in the store, or something isn't a `DBItem`.
        """
        _check_items(items)
        vectors = await self._embedded([item.text for item in items])
        with self._lock:
            self._check_length(vectors)
            ids = [item.ids or uuid4().hex for item in items]
            for item_id, item, vector in zip(ids, items, vectors, strict=True):
                self._items[item_id] = item.model_copy(update={"ids": item_id}, deep=True)
                self._vectors[item_id] = vector
        return ids

    async def search(
        self, query: str, k: int = 4, *, where: Mapping[str, Any] | None = None, min_score: float = 0.0
    ) -> list[SearchResult]:
        """The texts that are most like the query, best first; the older one first on a tie.

        Args:
            query: A text.
            k: How many at most.
            where: Only texts whose metadata has these values.
            min_score: Only texts at least this like, from 0 to 1.
        """
        [wanted] = await self._embedded([query])
        with self._lock:
            ids = [item_id for item_id, item in self._items.items() if _fits(item, where)]
            if not ids or k < 1:
                return []
            self._check_length([wanted])
            numpy = _numpy()
            scores = numpy.clip(numpy.stack([self._vectors[item_id] for item_id in ids]) @ wanted, 0.0, 1.0)
            order = numpy.argsort(-scores, kind="stable")[:k]
            return [self._result(ids[at], float(scores[at])) for at in order if scores[at] >= min_score]

    async def delete(self, ids: Sequence[str]) -> None:
        """Take texts away.

        Raises:
            EvonbError: Some ids aren't known; nothing was taken away.
        """
        with self._lock:
            for item_id in ids:
                if item_id not in self._items:
                    near = difflib.get_close_matches(item_id, self._items, n=1)
                    fix = f"did you mean {near[0]!r}?" if near else "use the ids that add() gave"
                    raise EvonbError(f"The store has no text {item_id!r}", where="InMemoryStore.delete", fix=fix)
            for item_id in set(ids):
                del self._items[item_id], self._vectors[item_id]

    def _result(self, item_id: str, score: float) -> SearchResult:
        item = self._items[item_id].model_copy(deep=True)
        return SearchResult(text=item.text, metadata=item.metadata, score=score, id=item_id)

    async def _embedded(self, texts: Sequence[str]) -> list[Any]:
        numpy = _numpy()
        replies = await self.embedder.embed_many(texts) if texts else []
        if len(replies) != len(texts):
            raise EvonbError(
                f"The embedder gave {len(replies)} vectors for {len(texts)} texts",
                where=type(self.embedder).__name__,
                fix="give one vector for each text, in order",
            )
        return [_unit(numpy, reply.embeddings) for reply in replies]

    def _check_length(self, vectors: Sequence[Any]) -> None:
        lengths = {len(vector) for vector in [*vectors, *list(self._vectors.values())[:1]]}
        if len(lengths) > 1:
            raise EvonbError(
                f"Vectors of different lengths can't be compared: {', '.join(map(str, sorted(lengths)))}",
                where=f"InMemoryStore with {len(self)} texts",
                fix="use one embedder for a store; make a new store after changing it",
            )


def _check_items(items: Sequence[DBItem]) -> None:
    for item in items:
        if not isinstance(item, DBItem):
            raise wrong_kind(
                EvonbError, "A store keeps items", item, where="InMemoryStore.add", fix='write DBItem(text="...")'
            )


def _unit(numpy: Any, values: Sequence[float]) -> Any:
    vector = numpy.asarray(values, dtype=numpy.float64)
    length = numpy.linalg.norm(vector)
    return vector / length if length > 0 else vector


def _fits(item: DBItem, where: Mapping[str, Any] | None) -> bool:
    return not where or all((item.metadata or {}).get(key) == value for key, value in where.items())


def _numpy() -> Any:
    return require("numpy", "to compare vectors")
