"""`AgentNode`: what it asks, what it streams, what it writes, and how it fails."""

from __future__ import annotations

from typing import Annotated, Any, TypedDict

import pytest
from pydantic import BaseModel

from evonb.agents import (
    AgentNode,
    HumanInput,
    InMemoryStore,
    ModelSet,
    ParserNode,
    RetrieverNode,
    ToolNode,
    use_model,
)
from evonb.errors import EvonbError, GraphError, NodeError, StateError
from evonb.llm import (
    ChatClient,
    EmptyReply,
    ModelError,
    ModelUnreachable,
    ReplyCutOff,
    ScriptedModel,
    StreamBroken,
)
from evonb.parsing import FieldSchema, OutputParser, ParseError, ParseMode
from evonb.tools import ToolError, tool
from evonb.typing import AssistantMessage, ChatStreamChunk, LLMChatResponse, SystemMessage, UserMessage

HELLO = {"messages": [UserMessage(content="Hello")]}


class Weather(BaseModel):
    """What the tests parse."""

    city: str
    degrees: int


class State(TypedDict):
    """A chat with a value beside it."""

    messages: Annotated[list[Any], "append_messages"]
    answer: Any
    trace: Any
    model: str


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


@pytest.mark.asyncio
async def test_the_reply_is_appended_under_the_nodes_name(script: Any, single: Any) -> None:
    state = await single(AgentNode(model=script("Hi there.")), name="greeter").run(HELLO)
    reply = state["messages"][-1]
    assert (reply.content, reply.node_name, reply.role) == ("Hi there.", "greeter", "assistant")
    assert reply.usage.total_tokens > 0


@pytest.mark.asyncio
async def test_tokens_reasoning_calls_and_usage_are_chunks_of_the_node(
    script: Any, single: Any, listen: Any, calling: Any
) -> None:
    reply = calling(("add", '{"a": 1, "b": 2}'), content="I add.").model_copy(update={"reasoning_content": "Sum it."})
    graph = single(AgentNode(model=script(reply)))
    chunks = listen(graph)
    await graph.run(HELLO)
    words = [chunk.payload for chunk in chunks if isinstance(chunk.payload, ChatStreamChunk)]
    assert "".join(word.content or "" for word in words) == "I add."
    assert "".join(word.reasoning_content or "" for word in words) == "Sum it."
    call, usage = [chunk for chunk in chunks if isinstance(chunk.payload, dict)]
    assert (call.node, call.tool_name, call.tool_call_id) == ("node", "add", "call_1")
    assert call.payload["content"] == '\n→ add {"a": 1, "b": 2}\n'
    assert usage.payload["type"] == "usage"
    assert usage.payload["completion_tokens"] == 6
    assert usage.payload["seconds"] >= 0


@pytest.mark.asyncio
async def test_the_system_prompt_goes_to_the_model_and_not_into_the_state(script: Any, single: Any) -> None:
    model = script("Yes.")
    agent = AgentNode(model=model, system=lambda state: f"{len(state['messages'])} message so far")
    state = await single(agent).run(HELLO)
    assert model.requests[0][0] == SystemMessage(content="1 message so far")
    assert [message.role for message in state["messages"]] == ["user", "assistant"]


@pytest.mark.asyncio
async def test_a_conversation_with_a_system_message_gets_no_second_one(script: Any, single: Any) -> None:
    model = script("Yes.")
    messages = [SystemMessage(content="From the state."), UserMessage(content="Hello")]
    await single(AgentNode(model=model, system="From the node.")).run({"messages": messages})
    asked = model.requests[0]
    assert [getattr(message, "role", None) for message in asked] == ["system", "user"]
    assert asked[0].content == "From the node.\n\nFrom the state."


class Recorder:
    """A model that notes the options of each request."""

    def __init__(self) -> None:
        self.options: list[dict[str, Any]] = []

    async def chat(self, messages: Any, *, stream_writer: Any = None, **options: Any) -> LLMChatResponse:
        self.options.append(options)
        return LLMChatResponse(content='{"city": "Rome", "degrees": 21}')

    def chat_sync(self, messages: Any, *, stream_writer: Any = None, **options: Any) -> LLMChatResponse:
        raise NotImplementedError


@pytest.mark.asyncio
async def test_the_model_is_told_the_tools_the_options_and_the_schema(single: Any) -> None:
    model = Recorder()
    agent = AgentNode(model=model, tools=[add], options={"temperature": 0}, output=Weather, constrain=True)
    await single(agent, schema=State).run(HELLO)
    [options] = model.options
    assert options["tools"][0]["function"]["name"] == "add"
    assert options["temperature"] == 0
    assert options["schema"] is Weather


# --- structured output ---------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_the_reply_is_parsed_into_its_key(script: Any, single: Any) -> None:
    model = script("Sure: {'city': 'Rome', 'degrees': '21',}")
    state = await single(AgentNode(model=model, output=Weather, trace_key="trace"), schema=State).run(HELLO)
    assert state["answer"] == Weather(city="Rome", degrees=21)
    assert state["trace"].trace.repairs
    assert "degrees" in model.requests[0][0].content  # the format is asked for


@pytest.mark.asyncio
async def test_a_bad_reply_is_told_to_the_model_and_asked_again(script: Any, single: Any, listen: Any) -> None:
    model = script('{"city": "Rome"}', '{"city": "Rome", "degrees": 21}')
    graph = single(AgentNode(model=model, output=Weather), schema=State)
    chunks = listen(graph)
    state = await graph.run(HELLO)
    assert state["answer"].degrees == 21
    assert [message.role for message in state["messages"]] == ["user", "assistant"]  # only the good reply stays
    again = model.requests[1][-1]
    assert "degrees" in again.content.splitlines()[0]
    [retry] = [
        chunk.payload for chunk in chunks if isinstance(chunk.payload, dict) and chunk.payload["type"] == "retry"
    ]
    assert retry["attempt"] == 1
    assert "degrees" in retry["reason"]


@pytest.mark.parametrize("mode", [ParseMode.LENIENT, ParseMode.STRICT])
@pytest.mark.asyncio
async def test_replies_that_stay_bad_fail_the_node_with_their_trace(script: Any, single: Any, mode: ParseMode) -> None:
    model = script("no idea", "still none")
    parser = OutputParser(fields=[FieldSchema("city", "The city"), FieldSchema("degrees", "How warm")], mode=mode)
    with pytest.raises(NodeError) as caught:
        await single(AgentNode(model=model, output=parser, output_retries=1), schema=State).run(HELLO)
    cause = caught.value.__cause__
    assert isinstance(cause, ParseError)
    assert "after 2 attempts" in cause.what
    assert cause.trace is not None
    assert cause.trace.raw_input == "still none"
    assert caught.value.inputs["messages"][0].content == "Hello"


@pytest.mark.asyncio
async def test_a_reply_that_calls_tools_is_not_parsed(script: Any, single: Any, calling: Any) -> None:
    model = script(calling(("add", '{"a": 1, "b": 2}'), content="one moment"))
    state = await single(AgentNode(model=model, output=Weather, tools=[add]), schema=State).run(HELLO)
    assert state["messages"][-1].tool_calls
    assert state.get("answer") is None


# --- picking a model -------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_a_request_picks_its_model_by_id(script: Any, single: Any) -> None:
    models = ModelSet({"small": script("s", "s"), "large": script("l")})
    graph = single(AgentNode(model=models))
    assert (await graph.run(HELLO))["messages"][-1].content == "s"
    with use_model("large"):
        assert (await graph.run(HELLO))["messages"][-1].content == "l"
    assert (await graph.run(HELLO))["messages"][-1].content == "s"


@pytest.mark.asyncio
async def test_the_state_picks_the_model(script: Any, single: Any) -> None:
    models = ModelSet({"small": script("s"), "large": script("l")}, default="large")
    graph = single(AgentNode(model=models, model_key="model"), schema=State)
    assert (await graph.run({**HELLO, "model": "small"}))["messages"][-1].content == "s"
    assert (await graph.run({**HELLO, "model": ""}))["messages"][-1].content == "l"


@pytest.mark.asyncio
async def test_an_unknown_model_id_offers_the_nearest(script: Any, single: Any) -> None:
    graph = single(AgentNode(model=ModelSet({"large": script("l")}), model_key="model"), schema=State)
    with pytest.raises(NodeError, match="did you mean 'large'"):
        await graph.run({**HELLO, "model": "lagre"})


def test_a_model_set_never_changes(script: Any) -> None:
    models = ModelSet({"small": script("s")})
    more = models.with_models(large=script("l"))
    assert (list(models), list(more), more.default) == (["small"], ["small", "large"], "small")


# --- bad input --------------------------------------------------------------------------------------


@pytest.mark.parametrize("settings", [{"model": "gpt"}, {"model": Recorder}, {}])
def test_something_else_than_a_model_is_refused_when_the_node_is_made(settings: dict[str, Any]) -> None:
    with pytest.raises(GraphError, match="chat model") as caught:
        AgentNode(**settings)
    assert "ScriptedModel" in caught.value.fix


def test_an_empty_model_set_and_a_wrong_default_are_refused(script: Any) -> None:
    with pytest.raises(GraphError, match="at least one"):
        ModelSet({})
    with pytest.raises(EvonbError, match="There is no model 'larg'"):
        ModelSet({"large": script("l")}, default="larg")


@pytest.mark.parametrize("tools", [3, "search", [3]])
def test_something_else_than_tools_is_refused_when_the_node_is_made(script: Any, tools: Any) -> None:
    with pytest.raises(ToolError):
        AgentNode(model=script(), tools=tools)


def test_something_else_than_an_output_is_refused_when_the_node_is_made(script: Any) -> None:
    with pytest.raises(ParseError, match="a class or an OutputParser"):
        AgentNode(model=script(), output={"city": "str"})


@pytest.mark.parametrize("reply", ["", "  \n"])
@pytest.mark.asyncio
async def test_an_empty_reply_fails_the_node_and_keeps_its_state(script: Any, single: Any, reply: str) -> None:
    with pytest.raises(NodeError, match="EmptyReply") as caught:
        await single(AgentNode(model=script(reply))).run(HELLO)
    assert isinstance(caught.value.__cause__, EmptyReply)
    assert caught.value.fix
    assert caught.value.inputs["messages"][0].content == "Hello"


@pytest.mark.asyncio
async def test_a_models_own_error_keeps_what_where_and_fix(script: Any, single: Any) -> None:
    lost = ModelUnreachable("Nothing answers", where="model 'm' at http://127.0.0.1:1", fix="start the server")
    with pytest.raises(NodeError) as caught:
        await single(AgentNode(model=script(lost))).run(HELLO)
    assert isinstance(caught.value.__cause__, ModelError)
    assert caught.value.fix == "start the server"
    assert "node 'node'" in caught.value.where


@pytest.mark.parametrize("kind", [ReplyCutOff, StreamBroken])
@pytest.mark.asyncio
async def test_what_had_arrived_of_a_broken_reply_stays_with_the_error(
    script: Any, single: Any, kind: type[ModelError]
) -> None:
    error = kind("The reply ended early", fix="raise max_tokens", partial=LLMChatResponse(content="Half an ans"))
    with pytest.raises(NodeError, match="ended early") as caught:
        await single(AgentNode(model=script(error))).run(HELLO)
    cause = caught.value.__cause__
    assert isinstance(cause, ModelError)
    assert cause.partial is not None
    assert cause.partial.content == "Half an ans"


@pytest.mark.asyncio
async def test_a_wrong_address_and_a_missing_key_say_what_to_do(single: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    nobody = ChatClient("small", base_url="http://127.0.0.1:9/v1", max_retries=0)
    with pytest.raises(NodeError) as caught:
        await single(AgentNode(model=nobody)).run(HELLO)
    assert isinstance(caught.value.__cause__, ModelUnreachable)
    assert caught.value.fix
    monkeypatch.delenv("OPENAI_API_KEY", raising=False)
    monkeypatch.delenv("OPENAI_BASE_URL", raising=False)
    with pytest.raises(ModelError, match="key"):
        AgentNode(model=ChatClient("small"))


@pytest.mark.parametrize(
    ("inputs", "words"),
    [
        ({"messages": []}, "no message"),
        ({"messages": "Hello"}, None),
        ({"mesages": ["Hello"]}, "did you mean 'mesages'"),
    ],
)
@pytest.mark.asyncio
async def test_a_missing_conversation_is_named(script: Any, single: Any, inputs: Any, words: str | None) -> None:
    graph = single(AgentNode(model=script("Hi")), schema=dict)
    if words is None:  # a plain text is the user's
        assert isinstance((await graph.run(inputs))["messages"][-1], AssistantMessage)
        return
    with pytest.raises(NodeError) as caught:
        await graph.run(inputs)
    assert isinstance(caught.value.__cause__, StateError)
    assert words in str(caught.value.__cause__)


@pytest.mark.asyncio
async def test_an_error_of_a_model_names_its_server_and_no_line_of_a_library(single: Any) -> None:
    nobody = ChatClient("small", base_url="http://127.0.0.1:9/v1", max_retries=0)
    with pytest.raises(NodeError) as caught:
        await single(AgentNode(model=nobody)).run(HELLO)
    assert caught.value.where == "model 'small' at http://127.0.0.1:9/v1, graph 'probe' > node 'node', 1st visit"
    assert not caught.value.source


@pytest.mark.asyncio
@pytest.mark.parametrize("rows", ["[]", '[{"city": "Rome", "degrees": 1}, {"city": "Oslo", "degrees": 2}]', '""'])
async def test_a_node_that_wants_one_value_takes_no_list_and_no_empty_text(rows: str, script: Any, single: Any) -> None:
    model = script(rows, '{"city": "Oslo", "degrees": 3}')
    state = await single(AgentNode(model=model, output=Weather), schema=State).run(HELLO)
    assert state["answer"] == Weather(city="Oslo", degrees=3)
    assert "Weather" in model.requests[1][-1].content


@pytest.mark.parametrize(
    ("node", "settings", "words"),
    [
        (AgentNode, {"model": ScriptedModel([]), "outptu": Weather}, "did you mean 'output'?"),
        (ToolNode, {"tools": [add], "timeuot_s": 3}, "did you mean 'timeout_s'?"),
        (HumanInput, {"question": "?", "answer_typ": bool}, "did you mean 'answer_type'?"),
        (ParserNode, {"parser": Weather, "sorce": "x"}, "did you mean 'source'?"),
        (RetrieverNode, {"store": InMemoryStore(), "top_k": 3}, "it has store, query, target, k"),
    ],
)
def test_a_setting_that_a_node_does_not_have_is_refused(node: Any, settings: dict[str, Any], words: str) -> None:
    with pytest.raises(GraphError, match="has no setting") as caught:
        node(**settings)
    assert words in caught.value.fix


def test_a_node_of_ones_own_may_add_settings(script: Any) -> None:
    class Tempered(AgentNode):
        temper: str = "mild"

    assert Tempered(model=script("Hi"), temper="hot").temper == "hot"


@pytest.mark.asyncio
@pytest.mark.parametrize("cut", ['{"city": "Oslo", "degrees": 1', "city: Oslo\ndegrees: 1"])
async def test_a_value_that_may_be_cut_off_is_asked_for_again(cut: str, script: Any, single: Any) -> None:
    model = script(
        LLMChatResponse(content=cut, meta={"finish_reason": "length"}),
        LLMChatResponse(content='{"city": "Oslo", "degrees": 12}', meta={"finish_reason": "length"}),
    )
    state = await single(AgentNode(model=model, output=Weather), schema=State).run(HELLO)
    assert state["answer"].degrees == 12
    assert "cut off at the limit of tokens" in model.requests[1][-1].content


@pytest.mark.asyncio
@pytest.mark.parametrize("answer", ["Hi", None, {"content": "Hi"}])
async def test_a_model_of_ones_own_that_answers_something_else_is_told_so(answer: Any, single: Any) -> None:
    class Odd:
        async def chat(self, messages: Any, **options: Any) -> Any:
            return answer

        def chat_sync(self, messages: Any, **options: Any) -> Any:
            return answer

    with pytest.raises(NodeError, match=f"found {type(answer).__name__}") as caught:
        await single(AgentNode(model=Odd())).run(HELLO)
    assert "LLMChatResponse" in caught.value.fix
    assert "Odd.chat" in caught.value.where


class Sizes(BaseModel):
    """A field whose name is a word of the message about it."""

    a: int


@pytest.mark.asyncio
async def test_the_field_that_is_wrong_is_named_to_the_model_however_short_its_name(script: Any, single: Any) -> None:
    model = script('{"a": "wide"}', '{"a": 1}')
    await single(AgentNode(model=model, output=Sizes), schema=State).run(HELLO)
    assert "can't be used: a: doesn't fit Sizes" in model.requests[1][-1].content
