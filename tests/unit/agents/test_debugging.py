"""Agents in a debugging session: a failure keeps the session, going back doesn't act twice, questions wait."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evonb.agents import (
    AgentNode,
    Conversation,
    HumanInput,
    ToolNode,
    open_questions,
    react_graph,
    watch_questions,
)
from evonb.errors import NodeError
from evonb.graph import GraphBuilder, GraphEngineDebugger
from evonb.graph.streaming import StreamWriter
from evonb.llm import ModelTimeout
from evonb.tools import tool
from evonb.typing import ChatUsage, UserMessage

ASKED = {"messages": [UserMessage(content="Order tea.")]}


def debugging(builder: GraphBuilder, folder: Path) -> GraphEngineDebugger:
    engine = builder.build(graph_mode="debug", db_file_path=str(folder / "runs.db"))
    assert isinstance(engine, GraphEngineDebugger)
    return engine


@pytest.fixture
def ordered() -> list[str]:
    return []


@pytest.fixture
def order(ordered: list[str]) -> Any:
    @tool
    def order(item: str) -> str:
        """Order something."""
        ordered.append(item)
        return f"order {len(ordered)}"

    return order


@pytest.mark.asyncio
async def test_a_session_stays_at_the_model_that_failed_and_goes_on(
    script: Any, calling: Any, order: Any, ordered: list[str], tmp_path: Path
) -> None:
    slow = ModelTimeout("The server took too long", where="model 'm'", fix="try again")
    model = script(calling(("order", '{"item": "tea"}')), slow, "Tea is ordered.")
    graph = debugging(react_graph(model, [order]), tmp_path)
    with pytest.raises(NodeError, match="took too long") as caught:
        await graph.debug(ASKED)
    assert caught.value.inputs["messages"][-1].content == "order 1"
    state = await graph.resume()
    assert state["messages"][-1].content == "Tea is ordered."
    assert ordered == ["tea"]


@pytest.mark.asyncio
async def test_going_back_before_the_tools_and_on_again_does_not_act_twice(
    script: Any, calling: Any, order: Any, ordered: list[str], tmp_path: Path
) -> None:
    model = script(calling(("order", '{"item": "tea"}')), "Done.")
    graph = debugging(react_graph(model, [order]), tmp_path)
    graph.set_breakpoint("tools")
    assert await graph.debug(ASKED) is None
    assert ordered == []
    await graph.step_over()
    graph.restore_step()
    await graph.step_over()
    assert ordered == ["tea"]
    graph.clear_all_breakpoint()
    state = await graph.resume()
    assert [message.content for message in state["messages"]] == ["Order tea.", "", "order 1", "Done."]


@pytest.mark.asyncio
async def test_a_stepped_question_waits_for_its_answer(tmp_path: Path) -> None:
    builder = GraphBuilder(state_schema=dict)
    builder.add_node("person", HumanInput(question="Go on?", answer_type=bool))
    builder.set_entry_point("person")
    graph = debugging(builder, tmp_path)
    asked = asyncio.Event()
    detach = watch_questions(lambda question, change: asked.set())
    session = asyncio.ensure_future(graph.debug({}))
    await asyncio.wait_for(asked.wait(), 10)
    detach()
    open_questions(node="person")[0].answer("yes")
    assert (await session)["answer"] is True


BOTH = (("order", '{"item": "tea"}'), ("order", '{"item": "milk"}'))


def ledger(graph: GraphEngineDebugger) -> list[tuple[str, str, str | None]]:
    return [(each.kind, each.tool, each.call_id) for each in graph.effects() if each.tool]


@pytest.mark.asyncio
async def test_a_breakpoint_on_a_tool_stops_before_the_call_and_the_ledger_lists_what_acted(
    script: Any, calling: Any, order: Any, ordered: list[str], tmp_path: Path
) -> None:
    graph = debugging(react_graph(script(calling(*BOTH), "Done."), [order]), tmp_path)
    graph.add_breakpoint(tool="order", condition="item == 'milk'")
    assert await graph.debug(ASKED) is None
    assert [each.node_name for each in graph.waiting()][-1] == "tools: order"
    assert ordered == ["tea"]
    assert await graph.resume() is None
    assert ordered == ["tea"]
    await graph.step_over(graph.waiting()[-1].uuid)
    assert ordered == ["tea", "milk"]
    assert (await graph.resume())["messages"][-1].content == "Done."
    assert ledger(graph) == [("touched", "order", "call_1"), ("touched", "order", "call_2")]
    assert graph.history()[1].tools == ("order", "order")


@pytest.mark.asyncio
async def test_calls_that_only_look_or_never_began_are_not_in_the_ledger(
    script: Any, calling: Any, order: Any, tmp_path: Path
) -> None:
    @tool(effect="read")
    def price(item: str) -> int:
        """What it costs."""
        return 3

    calls = calling(("price", '{"item": "tea"}'), ("order", '{"thing": 1}'), ("send", "{}"))
    graph = debugging(react_graph(script(calls, "Done."), [order, price]), tmp_path)
    await graph.debug(ASKED)
    assert ledger(graph) == []
    assert sorted(graph.history()[1].tools) == ["order", "price", "send"]


def failing_after_the_call(script: Any, calling: Any, order: Any, fails: list[bool]) -> GraphBuilder:
    class Sends(ToolNode):
        async def __call__(self, state: Any, stream_writer: StreamWriter) -> dict[str, Any]:
            delta = await super().__call__(state, stream_writer)
            if fails:
                raise OSError("the line broke")
            return delta

    builder = GraphBuilder(state_schema=Conversation, name="sending")
    builder.add_node("agent", AgentNode(model=script(calling(("order", '{"item": "tea"}'))), tools=[order]))
    builder.add_node("tools", Sends(tools=[order]))
    builder.add_edge("agent", "tools")
    builder.set_entry_point("agent")
    return builder


@pytest.mark.asyncio
async def test_a_tool_that_acted_before_its_node_failed_acts_once_also_in_another_process(
    script: Any, calling: Any, order: Any, ordered: list[str], tmp_path: Path
) -> None:
    fails = [True]
    graph = debugging(failing_after_the_call(script, calling, order, fails), tmp_path)
    with pytest.raises(NodeError, match="the line broke"):
        await graph.debug(ASKED)
    assert ledger(graph) == [("touched", "order", "call_1")]
    with pytest.raises(NodeError, match="the line broke"):
        await graph.resume()
    graph.store.close()
    fails.clear()
    # New nodes with empty journals, as in a new kernel; only what was stored can answer.
    path = tmp_path / "runs.db"
    again = GraphEngineDebugger.open(
        path, graph.run_id, graph=failing_after_the_call(script, calling, order, fails), name=graph.db_name
    )
    state = await again.resume()
    assert state["messages"][-1].content == "order 1"
    again.step_back()
    again.step_forward()
    assert ordered == ["tea"]
    assert ledger(again) == [("touched", "order", "call_1"), *[("replayed", "order", "call_1")] * 2]
    again.goto(1)
    await again.resume()
    assert ordered == ["tea"]


@pytest.mark.asyncio
async def test_a_step_tells_its_calls_and_its_models_tokens_also_after_reopening(
    script: Any, calling: Any, order: Any, ordered: list[str], tmp_path: Path
) -> None:
    asks = calling(*BOTH, ("order", '{"thing": "tea"}'))
    asks.usage = ChatUsage(prompt_tokens=12, completion_tokens=3)
    builder = react_graph(script(asks, "Done."), [order])
    graph = debugging(builder, tmp_path)
    await graph.debug(ASKED)
    first, called, last = graph.history()[:3]
    assert first.usage is not None
    assert (first.usage.tokens_in, first.usage.tokens_out) == (12, 3)
    assert first.usage.seconds > 0
    assert first.calls == ()
    assert called.usage is None
    assert sorted((call.tool, call.call_id, call.failed) for call in called.calls) == [
        ("order", "call_1", False),
        ("order", "call_2", False),
        ("order", "call_3", True),
    ]
    assert all(call.duration_s is not None for call in called.calls)
    assert last.usage is not None
    graph.store.close()
    again = GraphEngineDebugger.open(tmp_path / "runs.db", graph.run_id, graph=builder, name=graph.db_name)
    assert [(step.calls, step.usage) for step in again.history()] == [
        (step.calls, step.usage) for step in graph.history()
    ]


@pytest.mark.asyncio
async def test_a_step_whose_tools_acted_is_replayed_and_acts_again_only_on_request(
    script: Any, calling: Any, order: Any, ordered: list[str], tmp_path: Path
) -> None:
    graph = debugging(react_graph(script(calling(("order", '{"item": "tea"}')), *["Done."] * 4), [order]), tmp_path)
    await graph.debug(ASKED)
    graph.goto(1)
    assert graph.effects()[-1].kind == "would replay"
    assert (await graph.resume())["messages"][-1].content == "Done."
    assert graph.history()[1].status == "replayed"
    assert ordered == ["tea"]
    assert ledger(graph) == [("touched", "order", "call_1"), ("replayed", "order", "call_1")]
    graph.goto(1)
    await graph.resume(rerun_effects=True)
    assert ordered == ["tea", "tea"]
