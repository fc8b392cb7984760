"""`ParserNode`: text in the state to a checked value in the state."""

from __future__ import annotations

from typing import Any

import pytest
from pydantic import BaseModel

from evonb.agents import AgentNode, ParserNode
from evonb.errors import NodeError, StateError
from evonb.graph import GraphBuilder
from evonb.parsing import ParseError
from evonb.typing import AssistantMessage, UserMessage


class Order(BaseModel):
    """What is parsed."""

    item: str
    count: int


GOOD = 'Here you are:\n```json\n{"item": "tea", "count": "2",}\n```'


@pytest.mark.parametrize(
    "reply",
    [GOOD, AssistantMessage(content=GOOD), [UserMessage(content="?"), AssistantMessage(content=GOOD)]],
    ids=["text", "message", "conversation"],
)
@pytest.mark.asyncio
async def test_the_value_is_read_off_any_kind_of_text(single: Any, reply: Any) -> None:
    node = ParserNode(parser=Order, source="reply", target="order", trace_key="trace")
    state = await single(node, schema=dict).run({"reply": reply})
    assert state["order"] == Order(item="tea", count=2)
    assert state["trace"].trace.success
    assert state["trace"].trace.repairs


@pytest.mark.asyncio
async def test_the_stream_says_what_was_read_and_repaired(single: Any, listen: Any) -> None:
    graph = single(ParserNode(parser=Order, source="reply"), schema=dict)
    chunks = listen(graph)
    await graph.run({"reply": GOOD})
    [chunk] = chunks
    assert chunk.payload["type"] == "parsed"
    assert chunk.payload["content"].startswith("read json, ")
    assert chunk.payload["success"] is True


@pytest.mark.asyncio
async def test_a_bad_text_fails_the_node_with_the_trace(single: Any) -> None:
    with pytest.raises(NodeError, match="count: ") as caught:
        await single(ParserNode(parser=Order, source="reply"), schema=dict).run({"reply": '{"item": "tea"}'})
    cause = caught.value.__cause__
    assert isinstance(cause, ParseError)
    assert cause.trace is not None
    assert "on_problem='keep'" in caught.value.fix
    assert caught.value.inputs["reply"] == '{"item": "tea"}'


@pytest.mark.asyncio
async def test_a_problem_may_be_kept_for_a_router_and_told_to_the_model(script: Any) -> None:
    model = script('{"item": "tea"}', '{"item": "tea", "count": 2}')
    builder = GraphBuilder(state_schema=dict)

    async def ask(state: Any) -> dict[str, Any]:
        reply = await model.chat([*state["messages"], *state.get("feedback", [])])
        return {"reply": reply.content}

    builder.add_node("ask", ask)
    node = ParserNode(
        parser=Order,
        source="reply",
        target="order",
        on_problem="keep",
        problem_key="problem",
        feedback_key="feedback",
    )
    builder.add_node("read", node)
    builder.set_entry_point("ask")
    builder.add_edge("ask", "read")
    builder.add_condition_edge("read", lambda state: "ask" if state["problem"] else "end", ["ask", "end"])
    state = await builder.build(max_turn=10).run({"messages": [UserMessage(content="Order?")]})
    assert state["order"] == Order(item="tea", count=2)
    assert state["problem"] == ""
    assert "count: " in model.requests[1][-1].content


@pytest.mark.asyncio
async def test_an_agents_reply_is_parsed_one_node_later(script: Any) -> None:
    builder = GraphBuilder(state_schema=dict)
    builder.add_node("agent", AgentNode(model=script("item: tea\ncount: 2")))
    builder.add_node("read", ParserNode(parser=Order, target="order"))
    builder.set_entry_point("agent")
    builder.add_edge("agent", "read")
    assert (await builder.build().run({"messages": "Order?"}))["order"].count == 2


@pytest.mark.parametrize("reply", [None, [], 3.5, {"role": "assistant", "content": ["part"]}])
@pytest.mark.asyncio
async def test_something_else_than_text_is_named(single: Any, reply: Any) -> None:
    with pytest.raises(NodeError) as caught:
        await single(ParserNode(parser=Order, source="reply"), schema=dict).run({"reply": reply})
    assert isinstance(caught.value.__cause__, StateError)


@pytest.mark.parametrize("settings", [{}, {"parser": None}, {"parser": "Order"}])
def test_a_parser_node_needs_a_parser_or_a_class(settings: dict[str, Any]) -> None:
    with pytest.raises(ParseError):
        ParserNode(**settings)
