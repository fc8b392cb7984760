"""Graphs with ready-made nodes as data: what travels, what never does, and that loading starts nothing."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Annotated, Any, Literal, TypedDict

import pytest
from pydantic import BaseModel, Field

from evonb.agents import (
    AgentCoreEngine,
    AgentNode,
    Conversation,
    HumanInput,
    InMemoryStore,
    ModelSet,
    ParserNode,
    RetrieverNode,
    Runtime,
    ToolNode,
    define_workflow,
    react_graph,
    route,
)
from evonb.agents.workflow_graph import to_builder
from evonb.errors import EvonbError, GraphError
from evonb.graph import GraphBuilder
from evonb.graph.events import Chunk
from evonb.llm import (
    ChatClient,
    EmbedClient,
    FromEnv,
    LocalModel,
    ModelError,
    RecordingModel,
    RerankClient,
    ScriptedModel,
)
from evonb.parsing import FieldSchema, OutputParser, ParseMode
from evonb.tools import (
    CancelSignal,
    CodeSandbox,
    McpToolManager,
    ToolController,
    ToolExecutionContext,
    ToolRegistry,
    define_tool,
    tool,
)
from evonb.typing import (
    CodeExecDockerConfig,
    DBItem,
    LLMChatResponse,
    SseLink,
    StdioLink,
    StreamableHttpLink,
    ToolInnerState,
    UserMessage,
)

HELLO = {"messages": [UserMessage(content="Hello")]}
SECRET = "hunter2-and-more"


class Weather(BaseModel):
    """What the tests parse."""

    city: str
    degrees: int


class State(TypedDict):
    messages: Annotated[list[Any], "append_messages"]
    documents: list[Any]
    answer: Any


@tool
def add(a: int, b: int) -> int:
    """Add two numbers."""
    return a + b


class Shop:
    """Tools that are methods."""

    def __init__(self, stock: int) -> None:
        self.stock = stock

    @tool
    def order(self, count: int, inner_state: ToolInnerState) -> int:
        """Order something."""
        inner_state.state["orders"] = inner_state.state.get("orders", 0) + 1
        return self.stock - count


class FixedModel:
    """A model of the user's own, with a lock and the saved form that goes with it."""

    def __init__(self, text: str) -> None:
        self.text, self.lock = text, threading.Lock()

    async def chat(self, messages: Any, **options: Any) -> LLMChatResponse:
        return LLMChatResponse(content=self.text)

    def chat_sync(self, messages: Any, **options: Any) -> LLMChatResponse:
        return LLMChatResponse(content=self.text)

    def to_saved(self) -> Mapping[str, Any]:
        return {"text": self.text}

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> FixedModel:
        return cls(**fields)


class NumberedModel(FixedModel):
    """A subclass whose arguments aren't those of the form that it inherits."""

    def __init__(self, number: int) -> None:
        super().__init__(str(number))


class LockedModel(FixedModel):
    to_saved = None  # type: ignore[assignment]


@pytest.fixture(autouse=True)
def _own_secret(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVONB_DATA_DIR", str(tmp_path / "data"))


def of_nodes(schema: Any = State, **nodes: Any) -> GraphBuilder:
    builder = GraphBuilder(schema, name="kept")
    for name, node in nodes.items():
        builder.add_node(name, node)
    names = list(nodes)
    for name, after in itertools.pairwise(names):
        builder.add_edge(name, after)
    builder.set_entry_point(names[0])
    return builder


def text_of(builder: GraphBuilder) -> str:
    return json.dumps(builder.dumps())


def again(builder: GraphBuilder) -> GraphBuilder:
    """Saved, loaded, saved and loaded: the second text has to be the first."""
    text = text_of(builder)
    loaded = GraphBuilder.loads(json.loads(text))
    assert unsigned(json.loads(text_of(loaded))) == unsigned(json.loads(text))
    return loaded


def unsigned(data: Any) -> Any:
    if isinstance(data, dict):
        return {key: unsigned(value) for key, value in data.items() if key != "signature"}
    return [unsigned(item) for item in data] if isinstance(data, list) else data


def node_of(builder: GraphBuilder, name: str = "node") -> Any:
    return builder.build().nodes[name].node


def model_again(model: Any) -> Any:
    return node_of(again(of_nodes(node=AgentNode(model=model)))).model


def tools_again(tools: Any) -> Any:
    return node_of(again(of_nodes(node=ToolNode(tools=tools)))).tools


def refused(builder: GraphBuilder) -> str:
    with pytest.raises(GraphError) as caught:
        builder.dumps()
    return str(caught.value)


# --- models ----------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_an_agent_with_tools_runs_after_a_round_trip(calling: Any) -> None:
    model = ScriptedModel([calling(("add", '{"a": 1, "b": 2}')), "It is 3."], tokens_per_s=0)
    builder = react_graph(model, [add], system="Be brief.", options={"temperature": 0})
    loaded = again(builder)
    agent, tools = (loaded.build().nodes[name].node for name in ("agent", "tools"))
    assert (agent.system, agent.options) == ("Be brief.", {"temperature": 0})
    assert agent.tools is tools.tools, "one registry of two nodes stays one"
    state = await loaded.build().run(HELLO)
    assert [message.content for message in state["messages"][1:]] == ["", "3", "It is 3."]


def test_a_script_keeps_errors_responses_and_pace() -> None:
    problem = ModelError("It is down", where="here", fix="wait")
    loaded = model_again(ScriptedModel([problem, ValueError("no", 2), "yes"], tokens_per_s=0, first_token_s=3))
    with pytest.raises(ModelError, match="It is down") as caught:
        loaded.chat_sync("a")
    assert (caught.value.where, caught.value.fix, caught.value.partial) == ("here", "wait", None)
    with pytest.raises(ValueError, match=r"'no', 2"):
        loaded.chat_sync("b")
    assert loaded.chat_sync("c").content == "yes"
    assert loaded.to_saved()["first_token_s"] == 3


def test_one_model_of_two_nodes_stays_one() -> None:
    model = ScriptedModel(["first", "second"], tokens_per_s=0)
    loaded = again(of_nodes(a=AgentNode(model=model), b=AgentNode(model=model)))
    state = loaded.build().run_sync({**HELLO, "documents": [], "answer": None})
    assert [message.content for message in state["messages"][1:]] == ["first", "second"]


def test_a_model_in_a_functions_closure_travels_too() -> None:
    model = ScriptedModel(["from the closure"], tokens_per_s=0)
    loaded = again(of_nodes(node=lambda state: {"answer": model.chat_sync("hi").content}))
    assert loaded.build().run_sync({"messages": [], "documents": [], "answer": None})["answer"] == "from the closure"


def test_a_client_keeps_its_settings_and_not_its_key(monkeypatch: pytest.MonkeyPatch) -> None:
    model = ChatClient(
        "m",
        base_url="http://127.0.0.1:1/v1",
        api_key=SECRET,
        timeout_s=7,
        max_retries=0,
        stream=False,
        accept_cut_off=True,
        send_reasoning="never",
        headers={"X-Tenant-Key": SECRET, "User-Agent": "tests"},
        temperature=0,
        max_tokens=9,
    )
    text = text_of(of_nodes(node=AgentNode(model=model)))
    assert SECRET not in text
    loaded = model_again(model)
    assert loaded.to_saved() == model.to_saved()
    assert loaded.to_saved()["defaults"] == {"temperature": 0, "max_tokens": 9}
    with pytest.raises(ModelError, match="EVONB_API_KEY") as caught:
        loaded.chat_sync("hi")
    assert "os.environ['EVONB_API_KEY']" in caught.value.fix
    monkeypatch.setenv("EVONB_API_KEY", "now-there")
    with pytest.raises(ModelError, match="EVONB_HEADER_X_TENANT_KEY"):
        loaded.chat_sync("hi")
    monkeypatch.setenv("EVONB_HEADER_X_TENANT_KEY", "there-too")
    sent = loaded._connection._settings()
    assert (sent["api_key"], sent["default_headers"]["X-Tenant-Key"]) == ("now-there", "there-too")


def test_openais_key_comes_from_openais_variable(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("OPENAI_API_KEY", SECRET)
    builder = of_nodes(node=AgentNode(model=ModelSet({"a": ChatClient("m"), "b": FixedModel("x")}, default="b")))
    text = text_of(builder)
    assert SECRET not in text
    monkeypatch.delenv("OPENAI_API_KEY")
    models = node_of(GraphBuilder.loads(json.loads(text))).model  # a graph can be looked at without any key
    assert (list(models), models.default) == (["a", "b"], "b")
    with pytest.raises(ModelError, match="OPENAI_API_KEY"):
        models["a"].chat_sync("hi")


def test_a_key_from_a_variable_of_ones_own_stays_that() -> None:
    loaded = model_again(ChatClient("m", base_url="http://127.0.0.1:1/v1", api_key=FromEnv("LAB_KEY")))
    assert loaded.to_saved()["api_key"] == FromEnv("LAB_KEY")
    with pytest.raises(ModelError, match="LAB_KEY"):
        loaded.chat_sync("hi")


@pytest.mark.parametrize(
    ("settings", "field"),
    [
        ({"base_url": f"http://me:{SECRET}@127.0.0.1/v1"}, "base_url"),
        ({"base_url": f"http://127.0.0.1/v1?api_key={SECRET}"}, "base_url"),
        ({"extra": {"authToken": SECRET}}, "defaults['extra']['authToken']"),
        ({"user": "sk-abcdefghijklmnop"}, "defaults['user']"),
    ],
)
def test_a_secret_in_an_odd_place_is_refused_by_name(settings: dict[str, Any], field: str) -> None:
    model = ChatClient("m", **{"base_url": "http://127.0.0.1:1/v1", **settings})
    said = refused(of_nodes(asker=AgentNode(model=model)))
    assert "node 'asker'.model" in said
    assert field in said
    assert SECRET not in said
    assert "headers" in said


def test_a_secret_option_of_an_agent_is_refused() -> None:
    said = refused(of_nodes(asker=AgentNode(model=FixedModel("x"), options={"password": SECRET})))
    assert "node 'asker': options['password']" in said


def test_local_recorded_and_vector_models_keep_their_settings(tmp_path: Path) -> None:
    local = LocalModel(weights=tmp_path / "w.gguf", context_tokens=99, max_tokens=5, top_p=0.5)
    loaded = model_again(local)
    assert loaded.to_saved() == local.to_saved()
    assert not loaded.is_running
    tape = tmp_path / "tape.jsonl"
    recording = RecordingModel(tape, ScriptedModel(["once"], tokens_per_s=0))
    assert recording.chat_sync("q").content == "once"
    replayed = model_again(recording)
    assert (replayed.mode, replayed.chat_sync("q").content) == ("auto", "once")
    for client in (EmbedClient("e", base_url="http://x/v1"), RerankClient("r", base_url="http://x/v1", api_key="k")):
        assert type(client).from_saved(client.to_saved()).to_saved() == client.to_saved()


def test_a_model_of_ones_own_declares_its_form() -> None:
    assert model_again(FixedModel("hi")).chat_sync("x").content == "hi"
    said = refused(of_nodes(a=AgentNode(model=NumberedModel(3)), b=AgentNode(model=LockedModel("x"))))
    assert "node 'a'.model: NumberedModel has an __init__ of its own" in said
    assert "node 'b'.model" in said
    assert "to_saved" in said


# --- tools -----------------------------------------------------------------------------------------


def test_tools_by_name_by_source_and_of_objects_come_back() -> None:
    class Options(BaseModel):
        """How to search."""

        deep: bool = Field(default=False, description="Look everywhere")

    @tool(strict=False, effect="read", timeout_s=4, exclusive=True)
    def search(
        text: Annotated[str, "What to look for"],
        how: Options,
        limit: Annotated[int, Field(ge=1)] = 3,
        kind: Literal["a", "b"] | None = None,
        *,
        context: ToolExecutionContext,
        signal: CancelSignal,
    ) -> list[str]:
        """Search.

        Args:
            kind: Which kind.
        """
        return [text] * limit

    shop = Shop(5)
    plain = define_tool(lambda x: x + 1, name="plus", description="Plus one.", exclude=())
    before = ToolRegistry([add, search, shop.order, plain], timeout_s=8, debug=True)
    before.invoke("order", {"count": 1})
    after = tools_again(before)
    assert after.function_schemas() == before.function_schemas()
    assert (after.timeout_s, after.debug, after.journal) == (8, True, None)
    assert after.get("add") is add
    made = after.get("search")
    assert (made.effect, made.timeout_s, made.exclusive) == ("read", 4, True)
    assert after.invoke("search", {"text": "x", "how": {"deep": True}, "limit": 2}).output == ["x", "x"]
    assert after.invoke("search", {"text": "x", "how": {}, "limit": 0}).status == "invalid_input"
    assert after.invoke("order", {"count": 2}).output == 3
    assert after.dump_state().state["order"].state == {"orders": 2}
    assert after.invoke("plus", {"x": 1}).output == 2


def test_what_a_tool_cannot_keep_is_named_with_node_tool_and_field() -> None:
    lock = threading.Lock()

    @tool
    def guarded(x: int) -> int:
        """Guard."""
        with lock:
            return x

    said = refused(of_nodes(work=ToolNode(tools=[add, guarded])))
    assert "node 'work'.tools.tools[1].function: variable 'lock' is lock" in said
    assert "make it inside a function" in said


def test_a_registrys_own_functions_travel(calling: Any) -> None:
    def gate(tool: Any, value: Any, context: Any) -> None:
        if value["a"] > 5:
            raise PermissionError("too much")

    after = tools_again(ToolRegistry([add], before_execute=gate, decoder=json.loads))
    assert after.invoke("add", {"a": 9, "b": 1}).error.category == "denied"
    assert after.invoke("add", '{"a": 1, "b": 1}').output == 2


def test_a_sandbox_travels_as_its_settings() -> None:
    sandbox = CodeSandbox(CodeExecDockerConfig(name="mine", network="none"))
    after = tools_again([sandbox.as_tool()])
    kept = after.get("run_python").function.__closure__
    configs = [cell.cell_contents.config for cell in kept if isinstance(cell.cell_contents, CodeSandbox)]
    assert configs == [sandbox.config]
    with_client = CodeSandbox(client=threading.Lock())
    assert "client" in refused(of_nodes(node=ToolNode(tools=[with_client.as_tool()])))


# --- MCP -------------------------------------------------------------------------------------------


def mcp() -> McpToolManager:
    return McpToolManager(
        {
            "local": StdioLink(command="never-run", args=["--fast", "a.py"], env={"MODE": "x", "API_TOKEN": SECRET}),
            "events": SseLink(url="http://127.0.0.1:1/sse", headers={"Authorization": f"Bearer {SECRET}"}),
            "http": StreamableHttpLink(url="http://127.0.0.1:1/mcp", timeout=2),
        },
        timeout=9,
        tool_controller=ToolController({"local_*": False}),
        persistent_link=False,
        connect_timeout_s=3,
    )


def test_a_manager_keeps_its_links_without_secrets_and_starts_nothing() -> None:
    text = text_of(of_nodes(node=ToolNode(tools=mcp())))
    assert SECRET not in text
    after = tools_again(mcp())
    links = after.to_saved()["server_links"]
    assert links["local"].env == {"MODE": "x", "API_TOKEN": FromEnv("API_TOKEN")}
    assert links["events"].headers == {"Authorization": FromEnv("EVONB_HEADER_AUTHORIZATION")}
    assert links["http"] == StreamableHttpLink(url="http://127.0.0.1:1/mcp", timeout=2)
    assert (after.timeout, after.to_saved()["persistent_link"]) == (9, False)
    assert after._servers.status() == {"local": False, "events": False, "http": False}
    assert not after._is_active("local_x")


@pytest.mark.asyncio
async def test_a_missing_secret_of_a_link_is_asked_for_when_the_server_is_needed() -> None:
    after = tools_again(mcp())
    with pytest.raises(EvonbError, match="API_TOKEN") as caught:
        await after.connect("local")
    assert "os.environ['API_TOKEN']" in caught.value.fix
    with pytest.raises(EvonbError, match="EVONB_HEADER_AUTHORIZATION"):
        await after.connect("events")


@pytest.mark.parametrize(
    "link",
    [
        StdioLink(command="x", args=["--api-key", SECRET]),
        StdioLink(command="x", args=[f"--token={SECRET}"]),
        SseLink(url=f"http://me:{SECRET}@127.0.0.1/sse"),
        StreamableHttpLink(url=f"http://127.0.0.1/mcp?token={SECRET}"),
    ],
)
def test_a_secret_in_a_command_or_address_is_refused(link: Any) -> None:
    said = refused(of_nodes(work=ToolNode(tools=McpToolManager({"s": link}))))
    assert "node 'work'.tools.server_links['s']" in said
    assert SECRET not in said


# --- the other nodes -------------------------------------------------------------------------------


def test_people_parsers_and_retrievers_come_back() -> None:
    class Local(BaseModel):
        """Only here."""

        word: str = Field(description="A word")
        count: int = 1

    parser = OutputParser(fields=[FieldSchema("a", "A number", dtype="int")], mode=ParseMode.STRICT, fallback=True)
    nodes = {
        "ask": HumanInput(question="Sure?", answer_type=Literal["yes", "no"], default="no", key="answer"),
        "maybe": HumanInput(question=lambda state: "Really?", answer_type=int | None),
        "parse": ParserNode(parser=parser, on_problem="keep"),
        "weather": AgentNode(model=FixedModel("{}"), output=Weather),
        "local": AgentNode(model=FixedModel('{"word": "x"}'), output=Local),
    }
    loaded = {name: spec.node for name, spec in again(of_nodes(**nodes)).build().nodes.items()}
    assert (loaded["ask"].answer_type, loaded["ask"].default) == (Literal["yes", "no"], "no")
    assert (loaded["maybe"].question(None), loaded["maybe"].answer_type) == ("Really?", int | None)
    assert loaded["parse"].parser.to_saved() == parser.to_saved()
    assert loaded["weather"].output is Weather
    made = loaded["local"].output
    assert made.model_json_schema() == Local.model_json_schema()


def test_a_class_with_rules_of_its_own_needs_an_import_name() -> None:
    class Checked(BaseModel):
        word: str

        def loud(self) -> str:
            return self.word.upper()

    said = refused(of_nodes(node=AgentNode(model=FixedModel("x"), output=Checked)))
    assert "node 'node'.output" in said
    assert "define it at the top of a module" in said


@pytest.mark.asyncio
async def test_a_store_in_memory_comes_back_with_its_texts() -> None:
    store = InMemoryStore()
    await store.add(
        [DBItem(text="Refunds take five days.", ids="r", metadata={"page": 3}), DBItem(text="We open at nine.")]
    )
    loaded = again(of_nodes(find=RetrieverNode(store=store, k=1, query=lambda state: "refund")))
    kept = loaded.build().nodes["find"].node.store
    state = await loaded.build().run({"messages": [], "documents": [], "answer": None})
    [found] = state["documents"]
    assert (found.id, found.text, found.metadata) == ("r", "Refunds take five days.", {"page": 3})
    assert [each.score for each in await kept.search("refund")] == [each.score for each in await store.search("refund")]
    await kept.add([DBItem(text="Refunds again.")])
    assert len(kept) == 3


def test_a_store_of_ones_own_that_holds_a_connection_is_named() -> None:
    class Remote:
        def __init__(self) -> None:
            self.connection = threading.Lock()

        async def add(self, items: Any) -> list[str]: ...
        async def search(self, query: str, k: int = 4) -> list[Any]: ...
        async def delete(self, ids: Any) -> None: ...

    said = refused(of_nodes(find=RetrieverNode(store=Remote())))
    assert "node 'find'.store.connection is lock" in said
    assert "to_saved and from_saved" in said


# --- trust -----------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "node",
    [
        ToolNode(tools=McpToolManager({"s": StdioLink(command="touch", args=["/nowhere"])})),
        AgentNode(model=ChatClient("m", base_url="http://127.0.0.1:1/v1")),
        AgentNode(model=LocalModel()),
        AgentNode(model=RecordingModel("tape.jsonl")),
        HumanInput(question="?"),
    ],
)
def test_unsigned_data_make_none_of_these(node: Any) -> None:
    data = json.loads(text_of(of_nodes(node=node)))
    with pytest.raises(GraphError, match="wasn't signed") as caught:
        GraphBuilder.loads(unsigned(data))
    assert "node 'node'" in str(caught.value)
    assert type(node_of(GraphBuilder.loads(unsigned(data), trust=True))) is type(node)


def test_a_changed_link_is_refused_though_every_name_in_it_is_signed() -> None:
    text = text_of(of_nodes(a=ToolNode(tools=mcp()), b=ToolNode(tools=[add])))
    with pytest.raises(GraphError, match="wasn't signed") as caught:
        GraphBuilder.loads(json.loads(text.replace("never-run", "rm")))
    assert "node 'a'" in str(caught.value)
    assert "node 'b'" not in str(caught.value)


def test_a_declared_object_cannot_be_forged_as_plain_data() -> None:
    data = json.loads(text_of(of_nodes(node=ToolNode(tools=mcp()))))
    manager = data["nodes"]["node"]["node"]["instance"]["fields"]["tools"]
    manager.update({"$": "object", "fields": {"timeout": 1}})
    with pytest.raises(GraphError, match="plain data"):
        GraphBuilder.loads(data)


def test_what_is_shared_with_a_refused_object_is_refused_as_well() -> None:
    model = ScriptedModel(["a"])
    data = unsigned(json.loads(text_of(of_nodes(a=lambda state: model, b=lambda state: model))))
    with pytest.raises(GraphError, match="wasn't signed"):
        GraphBuilder.loads(data)
    builder = of_nodes(a=AgentNode(model=model), b=AgentNode(model=model))
    data = json.loads(text_of(builder))
    data["nodes"]["a"]["node"]["instance"]["fields"]["model"]["fields"]["tokens_per_s"] = 1
    with pytest.raises(GraphError, match="signed") as caught:
        GraphBuilder.loads(data)
    assert "node 'a'" in str(caught.value)


# --- another process -------------------------------------------------------------------------------

_MAKE = '''
import sys
from typing import Annotated
from evonb.agents import AgentNode, InMemoryStore, react_graph
from evonb.llm import ChatClient, ScriptedModel
from evonb.tools import ToolRegistry, tool
from evonb.typing import Function, LLMChatResponse, ToolCall

STEP = 2

@tool
def climb(floors: Annotated[int, "How many"]) -> int:
    """Climb stairs."""
    return floors * STEP

call = ToolCall(id="c", function=Function(name="climb", arguments='{"floors": 3}'))
model = ScriptedModel([LLMChatResponse(content="", tool_calls=[call]), "Up there."], tokens_per_s=0)
graph = react_graph(model, [climb], system="Be brief.")
graph.dump(sys.argv[1])
'''
_USE = """
import sys
from evonb.graph import GraphBuilder
from evonb.graph.events import Chunk
from evonb.typing import UserMessage
engine = GraphBuilder.load(sys.argv[1]).build()
schema = engine.nodes["tools"].node.tools.function_schemas()[0]["function"]["parameters"]
state = engine.run_sync({"messages": [UserMessage(content="Go")]})
print(schema["properties"]["floors"]["description"], [message.content for message in state["messages"]])
"""


def test_an_agent_saved_in_one_process_runs_in_another(tmp_path: Path) -> None:
    script, use, path = tmp_path / "make.py", tmp_path / "use.py", str(tmp_path / "graph.json")
    script.write_text(_MAKE)
    use.write_text(_USE)
    env = {**os.environ, "PYTHONPATH": os.pathsep.join(sys.path)}
    subprocess.run([sys.executable, str(script), path], check=True, env=env)
    done = subprocess.run([sys.executable, str(use), path], env=env, capture_output=True, text=True)
    assert done.stdout.strip() == "How many ['Go', '', '6', 'Up there.']", done.stderr


def test_the_graph_of_a_workflow_keeps_its_models_and_its_streams() -> None:
    def greet(state: Any, runtime: Any, stream_writer: Any) -> dict[str, str]:
        stream_writer.put("greeting")
        return {"answer": runtime.model().chat_sync("hi").content}

    desk = define_workflow("desk", [{"id": "greet", "run": greet, "routes": [route.deliver("answer")]}])
    engine = AgentCoreEngine(workflow=desk, models={"m": ScriptedModel(["hello"], tokens_per_s=0)}, tools=[add])
    loaded = again(to_builder(desk, Runtime(models=ModelSet({"m": ScriptedModel(["hello"], tokens_per_s=0)})))).build()
    seen: list[Any] = []
    loaded.attach(lambda event: seen.append(event.payload) if isinstance(event, Chunk) else None)
    assert loaded.run_sync({})["answer"] == "hello" == engine.run_sync({})
    assert "greeting" in seen


def test_the_smallest_chat_state_is_known_by_name() -> None:
    loaded = again(of_nodes(Conversation, node=AgentNode(model=FixedModel("hi"))))
    assert loaded.state_schema is Conversation
