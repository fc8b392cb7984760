"""A model on a server: what the clients share, whatever they ask of it."""

from __future__ import annotations

from typing import Self

from evonb.llm.connection import Connection
from evonb.llm.explain import with_near_names
from evonb.llm.failures import ModelError, RequestRejected

__all__ = ["Served"]


class Served:
    """A model's name, and the connection to where it is. A context manager, plain and asynchronous, that closes it.

    Args:
        model: The model's name on the server.
        connection: The server.
    """

    def __init__(self, model: str, connection: Connection) -> None:
        self.model = model
        self._connection = connection

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.model!r}, base_url={self._connection.shown!r})"

    async def aclose(self) -> None:
        """Close the connections; the next request opens new ones."""
        await self._connection.aclose()

    def close(self) -> None:
        """Close the connections of the blocking calls; the next request opens new ones."""
        self._connection.close()

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_exc: object) -> None:
        await self.aclose()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_exc: object) -> None:
        self.close()

    @property
    def _where(self) -> str:
        return f"model {self.model!r} at {self._connection.shown}"

    async def _told(self, failure: ModelError) -> ModelError:
        """The failure; of a model that the server doesn't know, with near names of those that it has."""
        if not _is_unknown(failure):
            return failure
        return with_near_names(failure, self.model, await self._connection.model_names())

    def _told_sync(self, failure: ModelError) -> ModelError:
        if not _is_unknown(failure):
            return failure
        return with_near_names(failure, self.model, self._connection.model_names_sync())


def _is_unknown(failure: ModelError) -> bool:
    return isinstance(failure, RequestRejected) and failure.status == 404
