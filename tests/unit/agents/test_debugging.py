"""Agents in a debugging session: a failure keeps the session, going back doesn't act twice, questions wait."""

from __future__ import annotations

import asyncio
from pathlib import Path
from typing import Any

import pytest

from evonb.agents import HumanInput, open_questions, react_graph, watch_questions
from evonb.errors import NodeError
from evonb.graph import GraphBuilder, GraphEngineDebugger
from evonb.llm import ModelTimeout
from evonb.tools import tool
from evonb.typing import UserMessage

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
