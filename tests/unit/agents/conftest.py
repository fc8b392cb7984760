"""What the tests of agents share: tool calls as a model writes them, a chat state, and a recorder of chunks."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import pytest

from evonb.agents import Conversation
from evonb.graph import GraphBuilder, GraphEngine
from evonb.graph.events import Chunk, Event
from evonb.llm import ScriptedModel
from evonb.typing import Function, LLMChatResponse, ToolCall


@pytest.fixture
def calling() -> Callable[..., LLMChatResponse]:
    """Makes a reply that calls tools: pairs of name and argument text."""

    def make(*calls: tuple[str, str], content: str = "") -> LLMChatResponse:
        made = [
            ToolCall(id=f"call_{place}", function=Function(name=name, arguments=arguments))
            for place, (name, arguments) in enumerate(calls, 1)
        ]
        return LLMChatResponse(content=content, tool_calls=made)

    return make


@pytest.fixture
def script() -> Callable[..., ScriptedModel]:
    """A scripted model that doesn't wait between its words."""
    return lambda *replies: ScriptedModel(list(replies), tokens_per_s=0)


@pytest.fixture
def single() -> Callable[..., GraphEngine]:
    """A graph of one node."""

    def make(node: Any, *, schema: Any = Conversation, name: str = "node", **options: Any) -> GraphEngine:
        builder = GraphBuilder(state_schema=schema, name="probe")
        builder.add_node(name, node, **options)
        builder.set_entry_point(name)
        return builder.build()

    return make


@pytest.fixture
def listen() -> Callable[[GraphEngine], list[Chunk]]:
    """Collects the chunks of a graph's runs."""

    def attach(graph: GraphEngine) -> list[Chunk]:
        seen: list[Chunk] = []

        def note(event: Event) -> None:
            if isinstance(event, Chunk):
                seen.append(event)

        graph.attach(note)
        return seen

    return attach
