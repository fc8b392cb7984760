"""`EmbedClient` and `RerankClient`: vectors of texts, and texts in order of fitness, from a server."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Self

from evonb._unicode import encodable
from evonb.errors import EvonbError
from evonb.llm.connection import Connection
from evonb.llm.failures import ModelError
from evonb.llm.served import Served
from evonb.typing import EmbedResponse, EmbedUsage, RerankResponse, RerankUsage

__all__ = ["EmbedClient", "RerankClient"]


class _VectorClient(Served):
    """What both share: one POST, whose answer is one JSON object.

    Args:
        model: The model's name on the server.
        connection: As for `ChatClient`: `base_url`, `api_key`, `timeout_s`, `max_retries`, `headers`.
    """

    def __init__(self, model: str, **connection: Any) -> None:
        super().__init__(model, Connection(**connection))

    def to_saved(self) -> dict[str, Any]:
        """What a saved graph holds of it: everything but keys and the values of headers."""
        return {"model": self.model, **self._connection.to_saved()}

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """A client of such settings; it connects with the first request."""
        return cls(**fields)

    async def _post(self, path: str, body: dict[str, Any]) -> Any:
        client = await self._connection.async_client()
        try:
            return await client.post(path, body={"model": self.model, **encodable(body)}, cast_to=object)
        except Exception as error:
            raise await self._told(self._failure(error)) from error

    def _post_sync(self, path: str, body: dict[str, Any]) -> Any:
        client = self._connection.sync_client()
        try:
            return client.post(path, body={"model": self.model, **encodable(body)}, cast_to=object)
        except Exception as error:
            raise self._told_sync(self._failure(error)) from error

    def _failure(self, error: Exception) -> ModelError:
        explained = self._connection.explained(error, self._where)
        return explained or self._odd(f"{type(error).__name__}: {error}")

    def _odd(self, found: Any) -> ModelError:
        return ModelError(
            f"The server's answer isn't what was asked for: {str(found)[:200]}",
            where=self._where,
            fix="check that base_url ends where the server's documentation says, and that the model is of this kind",
        )


class EmbedClient(_VectorClient):
    """A model that turns a text into a vector, behind an OpenAI-compatible server (`/embeddings`).

    Args:
        model: The model's name on the server.
        connection: As for `ChatClient`: `base_url`, `api_key`, `timeout_s`, `max_retries`, `headers`.
    """

    async def embed(self, text: str, **options: Any) -> EmbedResponse:
        """The vector of one text."""
        return (await self.embed_many([text], **options))[0]

    def embed_sync(self, text: str, **options: Any) -> EmbedResponse:
        """As `embed`, for plain functions."""
        return self.embed_many_sync([text], **options)[0]

    async def embed_many(self, texts: Sequence[str], **options: Any) -> list[EmbedResponse]:
        """The vectors of several texts in their order, with one request; each carries the time of the whole request.

        Raises:
            ModelError: The server has no usable answer.
        """
        begun = time.monotonic()
        reply = await self._post("/embeddings", _texts(texts, options)) if texts else {"data": []}
        return self._vectors(reply, len(texts), begun)

    def embed_many_sync(self, texts: Sequence[str], **options: Any) -> list[EmbedResponse]:
        """As `embed_many`, for plain functions."""
        begun = time.monotonic()
        reply = self._post_sync("/embeddings", _texts(texts, options)) if texts else {"data": []}
        return self._vectors(reply, len(texts), begun)

    def _vectors(self, reply: Any, wanted: int, begun: float) -> list[EmbedResponse]:
        try:
            # Servers may answer in any order, and say which text a vector belongs to.
            rows = sorted(enumerate(reply["data"]), key=lambda row: row[1].get("index", row[0]))
            vectors = [[float(number) for number in row["embedding"]] for _, row in rows]
        except (KeyError, TypeError, ValueError, AttributeError) as error:
            raise self._odd(reply) from error
        if len(vectors) != wanted:
            raise self._odd(f"{len(vectors)} vectors for {wanted} texts")
        usage = EmbedUsage(generation_time=round(time.monotonic() - begun, 4))
        return [EmbedResponse(embeddings=vector, usage=usage) for vector in vectors]


class RerankClient(_VectorClient):
    """A model that says how well texts fit a question, behind a server with `/rerank` (llama.cpp, vLLM, Jina, ...).

    Args:
        model: The model's name on the server.
        connection: As for `ChatClient`: `base_url`, `api_key`, `timeout_s`, `max_retries`, `headers`.
    """

    async def rerank(self, query: str, texts: Sequence[str], *, top_n: int | None = None) -> RerankResponse:
        """The texts, best first; equal ones keep their order.

        Args:
            query: What they should fit.
            texts: The texts.
            top_n: How many to return; None for all.

        Raises:
            ModelError: The server has no usable answer.
        """
        begun = time.monotonic()
        reply = await self._post("/rerank", _ranking(query, texts)) if texts else {"results": []}
        return self._ranked(reply, texts, top_n, begun)

    def rerank_sync(self, query: str, texts: Sequence[str], *, top_n: int | None = None) -> RerankResponse:
        """As `rerank`, for plain functions."""
        begun = time.monotonic()
        reply = self._post_sync("/rerank", _ranking(query, texts)) if texts else {"results": []}
        return self._ranked(reply, texts, top_n, begun)

    def _ranked(self, reply: Any, texts: Sequence[str], top_n: int | None, begun: float) -> RerankResponse:
        try:
            rows = reply if isinstance(reply, list) else reply.get("results", reply.get("data"))
            scores = {int(row["index"]): _score(row) for row in rows}
            if not scores.keys() <= set(range(len(texts))):
                raise self._odd(reply)
            order = sorted(scores, key=lambda place: (-scores[place], place))[:top_n]
            ranked = [texts[place] for place in order]
        except (KeyError, TypeError, ValueError, AttributeError, IndexError) as error:
            raise self._odd(reply) from error
        usage = RerankUsage(generation_time=round(time.monotonic() - begun, 4))
        return RerankResponse(scores=[scores[place] for place in order], texts=ranked, usage=usage)


def _texts(texts: Sequence[str], options: Mapping[str, Any]) -> dict[str, Any]:
    if isinstance(texts, str):
        raise EvonbError("embed_many takes a list of texts, found one text", fix="use embed(text), or put it in a list")
    return {"input": list(texts), "encoding_format": "float", **options}


def _ranking(query: str, texts: Sequence[str]) -> dict[str, Any]:
    return {"query": query, "documents": list(texts)}


def _score(row: Mapping[str, Any]) -> float:
    return float(row["relevance_score"] if "relevance_score" in row else row["score"])
