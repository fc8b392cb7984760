"""`ToolNode` and the loop of an agent and its tools."""

from __future__ import annotations

import asyncio
import threading
from typing import Annotated, Any, TypedDict

import pytest

from evonb.agents import AgentNode, ToolNode, has_tool_calls, react_graph, tool_router
from evonb.errors import NodeError, StateError
from evonb.graph import END, START, GraphBuilder, current_ctx, get_stream_writer, node
from evonb.tools import ReceiptJournal, ToolError, ToolExecutionContext, ToolRegistry, ToolScope, bind_scope, tool
from evonb.typing import AssistantMessage, Function, StateBaseMessage, ToolCall, UserMessage


class State(TypedDict):
    """A chat with the receipts beside it."""

    messages: Annotated[list[Any], "append_messages"]
    receipts: list[Any]


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@tool
def fail() -> str:
    """Always fails."""
    raise ValueError("the shop is closed")


@tool
async def hang() -> str:
    """Never answers."""
    await asyncio.Event().wait()
    return "never"


@tool
def junk() -> int:
    """Says a number and returns something else."""
    return "many"  # type: ignore[return-value]


CALL = ToolCall(id="1", function=Function(name="f", arguments=""))


def asking(reply: Any) -> dict[str, Any]:
    """A state whose last message is this reply."""
    message = AssistantMessage(content=reply.content, tool_calls=reply.tool_calls, msg_id="m1")
    return {"messages": [UserMessage(content="go"), message]}


@pytest.mark.asyncio
async def test_answers_come_in_the_order_of_the_calls(calling: Any, single: Any) -> None:
    first_may_end = threading.Event()

    @tool
    def slow() -> str:
        """Ends after the quick one."""
        first_may_end.wait(10)
        return "slow"

    @tool
    def quick() -> str:
        """Ends first."""
        first_may_end.set()
        return "quick"

    state = await single(ToolNode(tools=[slow, quick])).run(asking(calling(("slow", ""), ("quick", "{}"))))
    answers = state["messages"][2:]
    assert [message.content for message in answers] == ["slow", "quick"]
    assert [message.tool_call_id for message in answers] == ["call_1", "call_2"]
    assert {message.node_name for message in answers} == {"node"}


@pytest.mark.asyncio
async def test_no_call_sinks_another_and_the_model_is_told_what_is_wrong(calling: Any, single: Any) -> None:
    calls = calling(
        ("add", '{"a": 1, "b": 2}'),
        ("add", '{"a": 1, "b":'),
        ("add", '{"a": "x"}'),
        ("ad", "{}"),
        ("fail", ""),
        ("hang", ""),
        ("junk", ""),
    )
    tools = ToolNode(tools=[add, fail, hang, junk], timeout_s=0.2, receipts_key="receipts")
    state = await single(tools, schema=State).run(asking(calls))
    statuses = ["completed", "invalid_input", "invalid_input", "not_found", "failed", "timed_out", "invalid_output"]
    assert [receipt.status for receipt in state["receipts"]] == statuses
    texts = [message.content for message in state["messages"][2:]]
    assert texts[0] == "3"
    assert "end in the middle" in texts[1]
    assert "b: " in texts[2]
    assert "did you mean 'add'?" in texts[3]
    assert "the shop is closed" in texts[4]
    assert "0.2 s" in texts[5]
    assert all(text for text in texts)


@pytest.mark.asyncio
async def test_a_tool_streams_under_its_name_and_the_calls_id(calling: Any, single: Any, listen: Any) -> None:
    contexts = []

    @tool
    def work(context: ToolExecutionContext) -> str:
        """Streams in every way there is."""
        contexts.append(current_ctx())
        get_stream_writer().put("by the graph's writer")
        context.stream_writer.put("by the tool's writer")
        context.report({"message": "half", "current": 1, "total": 2})
        outside = threading.Thread(target=context.report, args=("from a thread of its own",))
        outside.start()
        outside.join()
        return "done"

    graph = single(ToolNode(tools=[work]), name="tools")
    chunks = listen(graph)
    await graph.run(asking(calling(("work", ""))))
    assert {(chunk.node, chunk.tool_name, chunk.tool_call_id) for chunk in chunks} == {("tools", "work", "call_1")}
    assert (contexts[0].node_name, contexts[0].tool_name, contexts[0].tool_call_id) == ("tools", "work", "call_1")
    seen = [chunk.payload if isinstance(chunk.payload, str) else chunk.payload["type"] for chunk in chunks]
    assert seen == [
        "tool_started",
        "by the graph's writer",
        "by the tool's writer",
        "tool_progress",
        "tool_progress",
        "tool_finished",
    ]
    ids = {chunk.payload["invocation_id"] for chunk in chunks if isinstance(chunk.payload, dict)}
    assert len(ids) == 1
    assert chunks[3].payload["content"] == "work: 1 of 2, half\n"
    assert chunks[-1].payload["content"] == "work = done\n"


@pytest.mark.asyncio
async def test_errors_may_fail_the_node_after_all_calls_have_ended(calling: Any, single: Any) -> None:
    ran = []

    @tool
    def note() -> str:
        """Notes that it ran."""
        ran.append(1)
        return "ok"

    graph = single(ToolNode(tools=[fail, note], on_error="raise"))
    with pytest.raises(NodeError, match="1 of 2 tool calls failed: ValueError: the shop is closed") as caught:
        await graph.run(asking(calling(("fail", ""), ("note", ""))))
    assert isinstance(caught.value.__cause__, ToolError)
    assert isinstance(caught.value.__cause__.__cause__, ValueError)
    assert ran == [1]
    assert caught.value.inputs["messages"][-1].tool_calls


@pytest.mark.asyncio
async def test_long_answers_are_cut_and_say_so(calling: Any, single: Any) -> None:
    @tool
    def tell() -> str:
        """Tells much."""
        return "x" * 1000

    state = await single(ToolNode(tools=[tell], max_chars=20)).run(asking(calling(("tell", ""))))
    assert state["messages"][-1].content.startswith("x" * 20 + "\n[cut: 1000")


@pytest.mark.asyncio
async def test_cancelling_the_run_reaches_the_tool(calling: Any, single: Any) -> None:
    begun, cancelled = asyncio.Event(), asyncio.Event()

    @tool
    async def wait() -> str:
        """Waits."""
        begun.set()
        try:
            await asyncio.Event().wait()
        finally:
            cancelled.set()
        return "never"

    handle = single(ToolNode(tools=[wait])).start(asking(calling(("wait", ""))))
    await asyncio.wait_for(begun.wait(), 10)
    handle.stop()
    assert await handle is None
    await asyncio.wait_for(cancelled.wait(), 10)


@pytest.mark.asyncio
async def test_a_scope_bound_outside_keeps_its_gate_and_observer(calling: Any, single: Any) -> None:
    seen: list[str] = []

    def gate(asked: Any, parsed: Any, context: Any) -> None:
        if asked.id == "fail":
            raise PermissionError("not today")

    scope = ToolScope(gate=gate, observer=lambda event: seen.append(type(event).__name__))
    with bind_scope(scope):
        state = await single(ToolNode(tools=[add, fail])).run(
            asking(calling(("add", '{"a": 1, "b": 1}'), ("fail", "")))
        )
    assert state["messages"][-2].content == "2"
    assert "wasn't allowed" in state["messages"][-1].content
    assert seen.count("ToolFinished") == 2


# --- running again ---------------------------------------------------------------------------------


def counting() -> tuple[Any, list[int]]:
    ran: list[int] = []

    @tool
    def act() -> int:
        """Acts on the world."""
        ran.append(1)
        return len(ran)

    return act, ran


@pytest.mark.asyncio
async def test_a_retry_of_the_node_repeats_no_completed_call(calling: Any, single: Any) -> None:
    act, ran = counting()
    attempts = []

    @tool
    def flaky() -> str:
        """Fails the first time."""
        attempts.append(1)
        if len(attempts) == 1:
            raise ConnectionError("lost")
        return "found"

    node_with_retry = ToolNode(tools=[act, flaky], on_error="raise")
    state = await single(node_with_retry, retry=2).run(asking(calling(("act", ""), ("flaky", ""))))
    assert [message.content for message in state["messages"][2:]] == ["1", "found"]
    assert len(ran) == 1


@pytest.mark.asyncio
async def test_another_run_or_another_message_with_the_same_call_id_acts_anew(calling: Any, single: Any) -> None:
    act, ran = counting()
    graph = single(ToolNode(tools=[act]))
    await graph.run(asking(calling(("act", ""))))
    await graph.run(asking(calling(("act", ""))))
    assert len(ran) == 2


@pytest.mark.asyncio
async def test_calls_run_again_when_that_is_asked_for(calling: Any, single: Any) -> None:
    act, ran = counting()
    failures = iter([ConnectionError("lost")])

    @tool
    def flaky() -> str:
        """Fails the first time."""
        for failure in failures:
            raise failure
        return "found"

    graph = single(ToolNode(tools=[act, flaky], on_error="raise", rerun=True), retry=2)
    await graph.run(asking(calling(("act", ""), ("flaky", ""))))
    assert len(ran) == 2


@pytest.mark.asyncio
async def test_a_registry_that_is_handed_in_keeps_its_own_journal(calling: Any, single: Any) -> None:
    act, ran = counting()
    graph = single(ToolNode(tools=ToolRegistry([act], journal=ReceiptJournal())))
    await graph.run(asking(calling(("act", ""))))
    await graph.run(asking(calling(("act", ""))))
    assert len(ran) == 1  # its owner shares one journal between the runs


# --- the loop ----------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_the_loop_goes_from_agent_to_tools_until_there_are_no_calls(script: Any, calling: Any) -> None:
    model = script(calling(("add", '{"a": 1, "b": 2}')), calling(("add", '{"a": 3, "b": 4}')), "It is 7.")
    graph = react_graph(model, [add], system="Add.").build()
    visits = [
        event.node
        async for event in graph.stream({"messages": [UserMessage(content="1 + 2 + 4?")]})
        if hasattr(event, "duration_s")
    ]
    assert visits == ["agent", "tools", "agent", "tools", "agent"]
    assert model.requests[2][-1].content == "7"
    edges = {(edge.source, edge.target): edge.label for edge in graph.topology().edges}
    assert edges["agent", "tools"] == "calls"
    assert edges["agent", "end"] == "answers"
    assert [finding for finding in graph.check() if finding.level == "error"] == []


@pytest.mark.asyncio
async def test_the_router_works_in_the_arrow_language(script: Any, calling: Any) -> None:
    with GraphBuilder(State) as builder:
        agent = node(AgentNode(model=script(calling(("add", '{"a": 1, "b": 2}')), "3")), name="agent")
        act = node(ToolNode(tools=[add]), name="act")
        START >> agent >> tool_router(act)
        act >> agent
    state = await builder.build().run({"messages": [UserMessage(content="1 + 2?")]})
    assert state["messages"][-1].content == "3"
    assert END.value == "end"


@pytest.mark.parametrize(
    ("conversation", "expected"),
    [
        ([], False),
        (UserMessage(content="hi"), False),
        (StateBaseMessage(content="hi"), False),
        (AssistantMessage(content="hi", tool_calls=[]), False),
        (
            {
                "role": "assistant",
                "content": "",
                "tool_calls": [{"id": "1", "function": {"name": "f", "arguments": ""}}],
            },
            True,
        ),
        ({"messages": [AssistantMessage(content="", tool_calls=[CALL])]}, True),
    ],
)
def test_whether_tools_are_called_is_read_off_the_last_message(conversation: Any, expected: bool) -> None:
    assert has_tool_calls(conversation) is expected


# --- bad input ----------------------------------------------------------------------------------------


@pytest.mark.parametrize("message", [UserMessage(content="hi"), AssistantMessage(content="hi")])
@pytest.mark.asyncio
async def test_a_last_message_without_calls_says_how_to_lead_here(single: Any, message: Any) -> None:
    with pytest.raises(NodeError, match="asks for no tool") as caught:
        await single(ToolNode(tools=[add])).run({"messages": [message]})
    assert isinstance(caught.value.__cause__, StateError)
    assert "tool_router" in caught.value.fix


@pytest.mark.parametrize("settings", [{}, {"tools": []}, {"tools": None}])
def test_a_tool_node_without_tools_is_refused(settings: dict[str, Any]) -> None:
    with pytest.raises(ToolError, match="needs tools"):
        ToolNode(**settings)
