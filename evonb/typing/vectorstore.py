"""What goes into a vector store, and what a search gives back."""

from __future__ import annotations

from typing import Any

from evonb.typing.base import Model

__all__ = ["DBItem", "SearchResult"]


class DBItem(Model):
    """A text to store.

    Attributes:
        text: What is turned into a vector.
        ids: Its id in the store; None lets the store choose.
        metadata: Anything to keep with it.
    """

    text: str
    ids: str | None = None
    metadata: dict[str, Any] | None = None


class SearchResult(Model):
    """A text that a search found.

    Attributes:
        text: The stored text.
        metadata: What was kept with it.
        score: Likeness from 0 to 1, higher is nearer; None when the store gives none.
        id: The text's id in the store, empty when it has none.
    """

    text: str
    metadata: dict[str, Any] | None = None
    score: float | None = None
    id: str = ""
