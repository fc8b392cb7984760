"""Vectors and rankings from a server on loopback."""

from __future__ import annotations

import asyncio
from collections.abc import Callable
from typing import Any

import pytest

from evonb.errors import EvonbError
from evonb.llm import EmbedClient, ModelError, RequestRejected, RerankClient


def both(make: Callable[[], Any], name: str, *args: Any, **options: Any) -> list[Any]:
    """The answers of the async and of the blocking call."""

    async def main() -> Any:
        async with make() as client:
            return await getattr(client, name)(*args, **options)

    with make() as client:
        return [asyncio.run(main()), getattr(client, f"{name}_sync")(*args, **options)]


def test_texts_get_their_vectors_in_order(stub: Any, wire: Any) -> None:
    rows = [{"index": 1, "embedding": [0, 1]}, {"index": 0, "embedding": [1.5, 0]}]
    stub.answers = [wire.json({"data": rows})]
    for answer in both(lambda: EmbedClient("e", base_url=stub.url), "embed_many", ["a", "b"], dimensions=2):
        assert [one.embeddings for one in answer] == [[1.5, 0.0], [0.0, 1.0]]
        assert answer[0].usage.generation_time >= 0
    assert stub.asked[0].path == "/v1/embeddings"
    assert stub.asked[0].body == {"model": "e", "input": ["a", "b"], "encoding_format": "float", "dimensions": 2}


def test_one_text_gets_one_vector(stub: Any, wire: Any) -> None:
    stub.answers = [wire.json({"data": [{"embedding": [1, 2]}]})]
    for answer in both(lambda: EmbedClient("e", base_url=stub.url), "embed", "a"):
        assert answer.embeddings == [1.0, 2.0]


def test_no_texts_need_no_server() -> None:
    embed, rerank = EmbedClient("e", base_url="http://127.0.0.1:9/v1"), RerankClient("r", base_url="http://127.0.0.1:9")
    assert embed.embed_many_sync([]) == []
    assert rerank.rerank_sync("q", []).texts == []


def test_one_text_for_many_is_refused() -> None:
    with pytest.raises(EvonbError, match="found one text"):
        EmbedClient("e", base_url="http://127.0.0.1:9/v1").embed_many_sync("text")


@pytest.mark.parametrize("data", [{}, {"data": [{}]}, {"data": None}, {"data": [{"embedding": "x"}]}, {"data": []}, 3])
def test_odd_answer_is_an_error(stub: Any, wire: Any, data: Any) -> None:
    stub.answers = [wire.json(data)]
    with EmbedClient("e", base_url=stub.url) as client, pytest.raises(ModelError, match="isn't what was asked for"):
        client.embed_sync("a")


@pytest.mark.parametrize(("field", "score"), [("results", "relevance_score"), ("data", "score")])
def test_texts_come_best_first(stub: Any, wire: Any, field: str, score: str) -> None:
    rows = [{"index": 0, score: 0.1}, {"index": 1, score: 0.9}, {"index": 2, score: 0.1}]
    stub.answers = [wire.json({field: rows})]
    for answer in both(lambda: RerankClient("r", base_url=stub.url), "rerank", "q", ["a", "b", "c"]):
        assert (answer.texts, answer.scores) == (["b", "a", "c"], [0.9, 0.1, 0.1])
    for answer in both(lambda: RerankClient("r", base_url=stub.url), "rerank", "q", ["a", "b", "c"], top_n=1):
        assert answer.texts == ["b"]
    assert stub.asked[0].body == {"model": "r", "query": "q", "documents": ["a", "b", "c"]}


@pytest.mark.parametrize("place", [7, -1])
def test_place_beyond_the_texts_is_an_error(stub: Any, wire: Any, place: int) -> None:
    stub.answers = [wire.json({"results": [{"index": place, "relevance_score": 1}]})]
    with RerankClient("r", base_url=stub.url) as client, pytest.raises(ModelError, match="isn't what was asked for"):
        client.rerank_sync("q", ["a"])


def test_refusal_is_said_in_the_servers_words(stub: Any, wire: Any) -> None:
    stub.answers = [wire.error(501, "This server does not support embeddings", **{"retry-after-ms": "1"})]
    with EmbedClient("e", base_url=stub.url) as client, pytest.raises(RequestRejected, match="does not support"):
        client.embed_sync("a")
