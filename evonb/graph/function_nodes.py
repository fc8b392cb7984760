"""Functions and other callables as nodes: one class for each of the four kinds."""

from __future__ import annotations

from typing import Any

from pydantic import SkipValidation

from evonb.graph.nodes import AsyncNode, AsyncStreamNode, NodeBase, SyncNode, SyncStreamNode
from evonb.graph.streaming import StreamWriter

__all__ = ["KINDS"]


class FunctionSyncNode(SyncNode):
    """A plain callable as a node."""

    function: SkipValidation[Any]

    def __call__(self, state: Any) -> Any:
        return self.function(state)


class FunctionAsyncNode(AsyncNode):
    """An async callable as a node."""

    function: SkipValidation[Any]

    async def __call__(self, state: Any) -> Any:
        return await self.function(state)


class FunctionSyncStreamNode(SyncStreamNode):
    """A callable with a `stream_writer` as a node."""

    function: SkipValidation[Any]

    def __call__(self, state: Any, stream_writer: StreamWriter) -> Any:
        return self.function(state, stream_writer=stream_writer)


class FunctionAsyncStreamNode(AsyncStreamNode):
    """An async callable with a `stream_writer` as a node."""

    function: SkipValidation[Any]

    async def __call__(self, state: Any, stream_writer: StreamWriter) -> Any:
        return await self.function(state, stream_writer=stream_writer)


KINDS: dict[tuple[bool, bool], type[NodeBase]] = {
    (False, False): FunctionSyncNode,
    (True, False): FunctionAsyncNode,
    (False, True): FunctionSyncStreamNode,
    (True, True): FunctionAsyncStreamNode,
}
"""The class of a function's node, by whether it is async and whether it takes a stream writer."""
