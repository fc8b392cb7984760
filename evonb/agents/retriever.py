"""`RetrieverNode`: finds texts for a question in a vector store."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from pydantic import Field, SkipValidation

from evonb.agents.cards import card, text_line, thing_line
from evonb.agents.conversation import as_message, value_of
from evonb.agents.payloads import short
from evonb.agents.settings import check_settings
from evonb.agents.stores import VectorStore
from evonb.errors import GraphError, StateError
from evonb.graph.nodes import AsyncStreamNode
from evonb.graph.streaming import StreamWriter, current_ctx
from evonb.typing import SearchResult

__all__ = ["RetrieverNode"]


class RetrieverNode(AsyncStreamNode):
    """Searches a vector store for the question in the state, and writes what it finds.

    Attributes:
        store: Any `VectorStore`.
        query: The state key with the question (a text, a message, or messages, of which the last counts), or a function
            that makes the question of the state.
        target: The state key for the found texts, a list of `SearchResult`, best first.
        k: How many at most.
        min_score: Texts less like than this are left out, when the store gives scores.

    Raises:
        GraphError: The store has no search.
    """

    store: SkipValidation[Any]
    query: SkipValidation[str | Callable[[Any], str]] = "messages"
    target: str = "documents"
    k: int = Field(default=4, ge=1)
    min_score: float = 0.0

    def __init__(self, **fields: Any) -> None:
        check_settings(type(self), fields)
        store = fields.get("store")
        if not isinstance(store, VectorStore) or isinstance(store, type):
            raise GraphError(
                f"A vector store has the methods add, search and delete, found {type(store).__name__}",
                where="RetrieverNode",
                fix="give InMemoryStore(), or an object with these methods",
            )
        super().__init__(**fields)

    def describe(self) -> str:
        """What its card says: where it looks, what for, how much it takes."""
        asked = text_line(self.query) if callable(self.query) else f"the state's {self.query!r}"
        least = f", at least {self.min_score:g} alike" if self.min_score else ""
        lines = {"store": thing_line(self.store), "question": asked, "takes": f"{self.k} at most{least}"}
        return card("Searches a vector store.", lines)

    async def __call__(self, state: Any, stream_writer: StreamWriter) -> dict[str, Any]:
        """Search.

        Raises:
            StateError: There is no question.
        """
        where = f"node {current_ctx().node_name or type(self).__name__!r}"
        question = self.query(state) if callable(self.query) else _question(state, self.query, where)
        found = await self.store.search(question, self.k)
        kept = [each for each in found if each.score is None or each.score >= self.min_score]
        stream_writer.put(_told(question, kept))
        return {self.target: kept}


def _question(state: Any, key: str, where: str) -> str:
    value = value_of(state, key, where)
    if isinstance(value, list | tuple) and value:
        value = value[-1]
    text = value if isinstance(value, str) else as_message(value).content if value else None
    if isinstance(text, str) and text.strip():
        return text
    raise StateError(
        f"The state key {key!r} holds no question: {value!r:.80}",
        where=where,
        fix="put the question there, or give query=lambda state: ...",
    )


def _told(question: str, found: list[SearchResult]) -> dict[str, Any]:
    lines = [f"{'' if each.score is None else f'{each.score:.2f} '}{short(each.text)}\n" for each in found]
    return {
        "type": "retrieved",
        "content": "".join(lines) or "nothing found\n",
        "question": question,
        "ids": [each.id for each in found],
        "scores": [each.score for each in found],
    }
