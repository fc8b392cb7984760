"""The in-memory vector store and `RetrieverNode`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import pytest

from evonb.agents import Embedder, InMemoryStore, RetrieverNode, VectorStore, WordEmbedder
from evonb.errors import EvonbError, GraphError, NodeError
from evonb.typing import DBItem, EmbedResponse, SearchResult, UserMessage

PAGES = [
    DBItem(text="Refunds take five working days.", ids="refunds", metadata={"kind": "money"}),
    DBItem(text="Invoices list every plan once.", ids="invoices", metadata={"kind": "money"}),
    DBItem(text="Reset your password in the settings.", ids="password"),
]


class Axes:
    """Vectors as the test gives them, by text."""

    def __init__(self, **vectors: list[float]) -> None:
        self.vectors = vectors

    async def embed_many(self, texts: Sequence[str], **options: Any) -> list[EmbedResponse]:
        return [EmbedResponse(embeddings=self.vectors[text]) for text in texts]


async def filled() -> InMemoryStore:
    store = InMemoryStore()
    await store.add(PAGES)
    return store


def test_the_ready_made_ones_fit_the_protocols() -> None:
    assert isinstance(InMemoryStore(), VectorStore)
    assert isinstance(WordEmbedder(), Embedder)


@pytest.mark.asyncio
async def test_the_most_alike_text_comes_first_with_its_id_and_metadata() -> None:
    best, second = await (await filled()).search("When do I get my refund?", k=2)
    assert (best.id, best.metadata) == ("refunds", {"kind": "money"})
    assert best.score is not None
    assert second.score is not None
    assert 1 >= best.score > second.score >= 0


@pytest.mark.asyncio
async def test_scores_are_cosines_that_never_leave_their_range() -> None:
    store = InMemoryStore(Axes(q=[1, 0], same=[5, 0], between=[1, 1], right=[0, 2], opposite=[-1, 0], zero=[0, 0]))
    await store.add([DBItem(text=text) for text in ("right", "between", "same", "opposite", "zero")])
    found = await store.search("q", k=9)
    assert [result.text for result in found] == ["same", "between", "right", "opposite", "zero"]
    assert [result.score for result in found] == pytest.approx([1.0, 0.5**0.5, 0.0, 0.0, 0.0])


@pytest.mark.asyncio
async def test_search_can_be_narrowed() -> None:
    store = await filled()
    assert {each.id for each in await store.search("password", k=9, where={"kind": "money"})} == {"refunds", "invoices"}
    assert [each.id for each in await store.search("reset the password", k=9, min_score=0.3)] == ["password"]
    assert await store.search("password", k=0) == []
    assert await InMemoryStore().search("password") == []


@pytest.mark.asyncio
async def test_a_known_id_replaces_and_a_missing_one_is_chosen() -> None:
    store = await filled()
    [same, new] = await store.add([DBItem(text="Refunds are quick now.", ids="refunds"), DBItem(text="New.")])
    assert same == "refunds"
    assert new not in ("", "refunds")
    assert len(store) == 4
    assert (await store.search("refunds", k=1))[0].text == "Refunds are quick now."


@pytest.mark.asyncio
async def test_what_is_stored_does_not_change_with_the_callers_objects() -> None:
    item = DBItem(text="Refunds", ids="r", metadata={"tags": ["a"]})
    store = InMemoryStore()
    await store.add([item])
    assert item.metadata is not None
    item.metadata["tags"].append("b")
    [found] = await store.search("refunds")
    assert found.metadata == {"tags": ["a"]}


@pytest.mark.asyncio
async def test_deleting_takes_all_or_nothing() -> None:
    store = await filled()
    with pytest.raises(EvonbError, match="did you mean 'refunds'"):
        await store.delete(["password", "refund"])
    assert len(store) == 3
    await store.delete(["password", "refunds"])
    assert [each.id for each in await store.search("refunds", k=9)] == ["invoices"]


@pytest.mark.asyncio
async def test_vectors_that_do_not_fit_are_refused_and_nothing_is_kept() -> None:
    store = InMemoryStore(Axes(a=[1, 0], b=[1, 0, 0]))
    with pytest.raises(EvonbError, match="different lengths"):
        await store.add([DBItem(text="a"), DBItem(text="b")])
    assert len(store) == 0
    await store.add([DBItem(text="a")])
    with pytest.raises(EvonbError, match="2, 3"):
        await store.search("b")


@pytest.mark.asyncio
async def test_an_embedder_that_loses_a_text_is_named() -> None:
    class Lossy:
        async def embed_many(self, texts: Sequence[str], **options: Any) -> list[EmbedResponse]:
            return []

    with pytest.raises(EvonbError, match="0 vectors for 1 texts"):
        await InMemoryStore(Lossy()).add([DBItem(text="a")])


@pytest.mark.asyncio
async def test_word_vectors_are_the_same_every_time() -> None:
    first, again = (
        (await WordEmbedder(64).embed_many(["Refund me"]))[0],
        (await WordEmbedder(64).embed_many(["refund ME"]))[0],
    )
    assert first == again
    assert len(first.embeddings) == 64


# --- the node --------------------------------------------------------------------------------------


@pytest.mark.parametrize("question", ["refund", [UserMessage(content="refund")], UserMessage(content="refund")])
@pytest.mark.asyncio
async def test_what_is_found_goes_to_its_key_and_onto_the_picture(single: Any, listen: Any, question: Any) -> None:
    graph = single(RetrieverNode(store=await filled(), k=1, query="question"), schema=dict)
    chunks = listen(graph)
    [found] = (await graph.run({"question": question}))["documents"]
    assert isinstance(found, SearchResult)
    assert found.id == "refunds"
    [chunk] = chunks
    assert chunk.payload["ids"] == ["refunds"]
    assert "Refunds take five" in chunk.payload["content"]


@pytest.mark.asyncio
async def test_the_question_may_be_made_of_the_state_and_weak_finds_left_out(single: Any, listen: Any) -> None:
    node = RetrieverNode(
        store=await filled(), query=lambda state: f"{state['topic']} zebra", min_score=0.9, target="hits"
    )
    graph = single(node, schema=dict)
    chunks = listen(graph)
    assert (await graph.run({"topic": "refund"}))["hits"] == []
    assert chunks[0].payload["content"] == "nothing found\n"


@pytest.mark.asyncio
async def test_a_store_of_your_own_needs_three_methods(single: Any) -> None:
    class Own:
        async def add(self, items: Sequence[DBItem]) -> list[str]:
            return []

        async def search(self, query: str, k: int = 4) -> list[SearchResult]:
            return [SearchResult(text=query)]  # gives no score

        async def delete(self, ids: Sequence[str]) -> None:
            return None

    state = await single(RetrieverNode(store=Own(), min_score=0.5), schema=dict).run({"messages": "hello"})
    assert state["documents"][0].text == "hello"


@pytest.mark.parametrize("value", ["", None, [], "  "])
@pytest.mark.asyncio
async def test_a_missing_question_is_named(single: Any, value: Any) -> None:
    with pytest.raises(NodeError, match="no question"):
        await single(RetrieverNode(store=await filled()), schema=dict).run({"messages": value})


@pytest.mark.parametrize("settings", [{}, {"store": {}}, {"store": InMemoryStore}])
def test_something_else_than_a_store_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(GraphError, match="add, search and delete"):
        RetrieverNode(**settings)


@pytest.mark.asyncio
async def test_something_else_than_an_item_is_refused_and_nothing_is_kept() -> None:
    store = InMemoryStore()
    with pytest.raises(EvonbError, match="found str 'plain'") as caught:
        await store.add([PAGES[0], "plain"])  # type: ignore[list-item]
    assert "DBItem" in caught.value.fix
    assert len(store) == 0
