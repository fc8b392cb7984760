"""The real model inside a graph: its tokens enter the run's stream of events under the node that asked."""

from __future__ import annotations

import asyncio
from typing import Annotated, Any, TypedDict

import pytest

from evonb.graph import END, START, GraphBuilder
from evonb.graph.events import Chunk
from evonb.llm import LocalModel, to_message
from evonb.typing import ChatStreamChunk, UserMessage


class Talk(TypedDict):
    messages: Annotated[list[Any], "append_messages"]


@pytest.mark.parametrize("is_async", [True, False], ids=["async", "sync"])
def test_tokens_stream_onto_the_node(local: LocalModel, is_async: bool) -> None:
    async def ask(state: Talk, stream_writer: Any) -> dict[str, Any]:
        return {
            "messages": [to_message(await local.chat(state["messages"], stream_writer=stream_writer, max_tokens=5))]
        }

    def ask_sync(state: Talk, stream_writer: Any) -> dict[str, Any]:
        return {"messages": [to_message(local.chat_sync(state["messages"], stream_writer=stream_writer, max_tokens=5))]}

    builder = GraphBuilder(state_schema=Talk)
    builder.add_node("ask", ask if is_async else ask_sync)
    builder.add_edge(START, "ask")
    builder.add_edge("ask", END)
    graph = builder.build()
    seen: list[Chunk] = []
    graph.attach(lambda event: seen.append(event) if isinstance(event, Chunk) else None)
    state = asyncio.run(graph.run({"messages": [UserMessage(content="Say hello.")]}))
    assert {chunk.node for chunk in seen} == {"ask"}
    assert all(isinstance(chunk.payload, ChatStreamChunk) for chunk in seen)
    assert "".join(chunk.payload.content or "" for chunk in seen) == state["messages"][-1].content
    assert len(seen) > 1
