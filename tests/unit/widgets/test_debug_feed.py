"""The panel of a debugger: its state follows the session, its commands act on it, and two panels agree."""

from __future__ import annotations

import asyncio
from collections.abc import AsyncIterator, Callable, Coroutine
from pathlib import Path
from typing import Annotated, Any, TypedDict

import pytest
import pytest_asyncio

from evonb.agents import react_graph
from evonb.errors import EvonbError
from evonb.graph import GraphBuilder, GraphEngineDebugger, GraphWarning
from evonb.graph.debugging.holding import LogLine
from evonb.llm import ScriptedModel
from evonb.protocol.debugging import DebugMessage, DebugState
from evonb.tools import tool
from evonb.typing import AssistantMessage, ChatUsage, Function, LLMChatResponse, ToolCall, UserMessage
from evonb.widgets.debug_commands import DebugCommands
from evonb.widgets.debug_feed import DebugFeed, debug_feed_of

pytestmark = pytest.mark.asyncio


class State(TypedDict, total=False):
    messages: Annotated[list[Any], "append_messages"]
    score: float
    rounds: Annotated[int, "add"]
    topic: str


class Desk:
    """A debugger of `plan > [docs, web] > merge > critic > (plan | end)`, its feed, and a panel that records."""

    def __init__(self, path: Path, effects: tuple[str, ...] = ()) -> None:
        self.calls: list[str] = []
        self.fails: set[str] = set()
        self.gate: asyncio.Event | None = None
        builder = GraphBuilder(state_schema=State, name="desk")
        for name in ("plan", "docs", "web", "merge", "critic"):
            mode = {"action_mode": "all"} if name == "merge" else {}
            builder.add_node(name, self._node(name), effect=name in effects, **mode)
        builder.set_entry_point("plan")
        builder.add_edge("plan", "docs")
        builder.add_edge("plan", "web")
        builder.add_edge("docs", "merge")
        builder.add_edge("web", "merge")
        builder.add_edge("merge", "critic")
        builder.add_condition_edge("critic", self._route, ["plan", "end"])
        self.debugger: GraphEngineDebugger = builder.build(graph_mode="debug", db_file_path=str(path / "runs.db"))
        self.feed = DebugFeed(self.debugger)
        self.commands = DebugCommands(self.feed)
        self.messages: list[DebugMessage] = []
        self.changed, self.started = asyncio.Event(), asyncio.Event()
        self.feed.subscribe(self.messages.append)
        self.feed.subscribe(lambda _: self.changed.set())

    def _node(self, name: str) -> Callable[[Any], Coroutine[Any, Any, dict[str, Any]]]:
        async def work(state: Any) -> dict[str, Any]:
            self.calls.append(name)
            self.started.set()
            print(f"{name} at work")
            if self.gate is not None:
                await self.gate.wait()
            if name in self.fails:
                raise KeyError("socre")
            if name == "critic":
                return {"score": state.get("score", 0.0) + 0.5, "rounds": 1}
            return {"messages": [AssistantMessage(content=f"from {name}")], "topic": name}

        return work

    def _route(self, state: Any) -> str:
        return "plan" if state["score"] < 0.9 else "end"

    async def do(self, command: str, /, **fields: Any) -> Any:
        """Send a command; its result."""
        return await self.commands.answer({"type": command, "request_id": "1", **fields})

    async def begin(self, *breaks: str) -> None:
        for node in breaks:
            self.debugger.set_breakpoint(node)
        await self.do("run", inputs={"messages": [{"role": "user", "content": "hi"}], "topic": "billing"})
        await self.until("paused", "failed", "finished")

    async def until(self, *statuses: str) -> None:
        while self.state["status"] not in statuses:
            self.changed.clear()
            await self.changed.wait()

    @property
    def state(self) -> DebugState:
        return self.feed.message["state"]

    def key(self, name: str) -> Any:
        return next(key for key in self.state["state"] if key["key"] == name)


@pytest_asyncio.fixture
async def desk(tmp_path: Path) -> AsyncIterator[Desk]:
    made = Desk(tmp_path)
    yield made
    made.feed.close()
    made.debugger.store.close()


async def test_the_state_tells_where_a_session_stands(desk: Desk) -> None:
    assert desk.state["status"] == "idle"
    assert desk.state["allowed"]["run"] == ""
    assert desk.state["allowed"]["resume"] == "Resume: no run has begun"
    await desk.begin("merge")
    state = desk.state
    assert (state["status"], state["looking"], state["step"]) == ("paused", None, 3)
    assert [(step["node"], step["wave"], step["lane"]) for step in state["steps"]] == [
        ("plan", 1, 0),
        ("docs", 2, 0),
        ("web", 2, 1),
    ]
    assert state["stopped_at"] == state["would_run"] == ["merge"]
    (waiting,) = state["waiting"]
    assert (waiting["node"], waiting["held"], waiting["can_run"]) == ("merge", True, True)
    assert waiting["reads"] == ["messages", "topic"]
    (point,) = state["breakpoints"]
    assert (point["kind"], point["node"], point["hits"], point["text"]) == ("node", "merge", 1, "before merge")
    assert state["allowed"]["pause"] == "Pause: nothing runs"
    assert desk.key("topic")["value"]["text"] == "'web'"


async def test_the_shown_step_tells_what_it_changed_from_what(desk: Desk) -> None:
    await desk.begin()
    await desk.do("goto", count=5, branch=None)
    assert desk.state["steps"][4]["node"] == "critic"
    score, rounds = desk.key("score"), desk.key("rounds")
    assert (score["change"], score["value"]["text"]) == ("added", "0.5")
    assert (rounds["change"], rounds["strategy"], rounds["type"]) == ("added", "add", "int")
    assert desk.key("topic")["change"] == ""
    await desk.do("goto", count=2, branch=None)
    topic = desk.key("topic")
    assert (topic["change"], topic["before"]["text"], topic["value"]["text"]) == ("changed", "'plan'", "'docs'")


async def test_messages_tell_their_node_and_step(desk: Desk) -> None:
    await desk.begin("merge")
    messages = desk.state["messages"]
    assert messages is not None
    assert [(each["role"], each["node"], each["step"], each["new"]) for each in messages[:2]] == [
        ("user", "", None, False),
        ("assistant", "plan", 1, False),
    ]
    assert messages[-1]["text"] == "from web"
    assert messages[-1]["new"]


async def test_looking_back_runs_nothing_and_draws_the_recorded_point(desk: Desk) -> None:
    await desk.begin("merge")
    calls = list(desk.calls)
    await desk.do("step_back", count=2, branch=None)
    message = desk.feed.message
    assert message["state"]["looking"] == 1
    assert message["state"]["next_branch"] == "b2"
    assert message["state"]["would_run"] == ["docs", "web"]
    picture = message["picture"]
    assert picture is not None
    status = {name: node["status"] for name, node in picture["nodes"].items()}
    assert status["plan"] == "done"
    assert status["docs"] == status["web"] == "queued"
    assert status["merge"] == "idle"
    assert picture["edges"]["plan>docs"]["taken"] == 1
    assert picture["edges"]["docs>merge"]["taken"] == 0
    await desk.do("live")
    assert desk.feed.message["picture"] is None
    assert desk.calls == calls


async def test_the_picture_of_the_newest_step_is_the_live_one(desk: Desk) -> None:
    await desk.begin()
    live = desk.feed.feed.snapshot()
    steps = desk.debugger.history()
    await desk.do("goto", count=steps[-2].number, branch=None)
    picture = desk.feed.message["picture"]
    assert picture is not None
    for name, node in picture["nodes"].items():
        mine = live["nodes"][name]
        assert (node["status"], node["visits"], node["wrote"]) == (mine["status"], mine["visits"], mine["wrote"]), name
    assert picture["edges"] == live["edges"]


async def test_steps_and_pictures_of_the_past_tell_tools_tokens_and_warnings(tmp_path: Path) -> None:
    @tool
    def find(q: str) -> str:
        """Find."""
        return q

    ask = ToolCall(id="c1", function=Function(name="find", arguments='{"q": "x"}'))
    usage = ChatUsage(prompt_tokens=12, completion_tokens=3)
    replies = [LLMChatResponse(content="", tool_calls=[ask], usage=usage), "Done."]
    builder = react_graph(ScriptedModel(replies, tokens_per_s=0), [find])
    builder.add_node("late", lambda state: {"nokey": 1})
    builder.add_edge("tools", "late")
    debugger = builder.build(graph_mode="debug", db_file_path=str(tmp_path / "runs.db"))
    feed = DebugFeed(debugger)
    with pytest.warns(GraphWarning, match="nokey"):
        await debugger.debug({"messages": [UserMessage(content="hi")]})
    feed.flush(force=True)
    by_node = {step["node"]: step for step in reversed(feed.state["steps"])}
    assert (by_node["agent"]["tools"], by_node["agent"]["tokens"]) == ([], 15)
    assert (by_node["tools"]["tools"], by_node["tools"]["tokens"]) == (["find"], None)

    debugger.goto(by_node["late"]["number"])
    feed.flush(force=True)
    picture = feed.message["picture"]
    assert picture is not None
    assert picture["nodes"]["agent"]["tokens_in"] >= 12
    (call,) = picture["nodes"]["tools"]["tools"]
    assert (call["id"], call["tool"], call["status"]) == ("c1", "find", "done")
    assert "nokey" in picture["nodes"]["late"]["warnings"][0]
    debugger.goto(1)
    feed.flush(force=True)
    picture = feed.message["picture"]
    assert picture is not None
    assert picture["nodes"]["late"]["warnings"] == picture["nodes"]["tools"]["tools"] == []
    feed.close()


async def test_going_on_from_the_past_makes_a_branch_and_the_live_picture_follows(desk: Desk) -> None:
    await desk.begin()
    await desk.do("goto", count=1, branch=None)
    await desk.do("step_wave")
    state = desk.state
    assert [branch["name"] for branch in state["branches"]] == ["main", "b2"]
    assert state["branches"][1]["from_step"] == 1
    assert state["branch"] == 1
    live = desk.feed.feed.snapshot()
    assert live["nodes"]["merge"]["visits"] == 0
    assert live["nodes"]["merge"]["status"] == "queued"
    assert live["edges"]["plan>docs"]["taken"] == 1
    result = await desk.do("compare", a=0, b=1)
    assert result["rows"][0]["a"]["node"] == "docs"
    assert "score" in result["state"]


async def test_resume_runs_what_a_breakpoint_holds(desk: Desk) -> None:
    await desk.begin("critic")
    await desk.do("resume")
    await desk.until("paused")
    assert desk.calls.count("critic") == 1
    await desk.do("resume")
    await desk.until("finished")
    assert desk.calls.count("critic") == 2


async def test_an_edit_is_checked_first_and_keeps_types(desk: Desk) -> None:
    await desk.begin("critic")
    answer = await desk.do("edit", key="score", text="0.75", task=None, check=True)
    assert answer == {"expects": "float", "branch": ""}
    assert "score" not in desk.debugger.state()
    with pytest.raises(EvonbError) as caught:
        await desk.do("edit", key="score", text="many", task=None, check=True)
    assert caught.value.fix == "expected: float"
    await desk.do("edit", key="score", text="0.75", task=None, check=False)
    assert desk.debugger.state()["score"] == 0.75
    assert desk.key("score")["edited"]
    await desk.do("resume")
    await desk.until("finished")
    assert desk.calls.count("critic") == 1


async def test_an_edit_stands_before_what_it_was_made_for(desk: Desk) -> None:
    await desk.begin("critic")
    await desk.do("edit", key="topic", text="tech", task=None, check=False)
    await desk.do("step_wave")
    edit, critic = desk.state["steps"][-2:]
    assert (edit["status"], critic["status"]) == ("edited", "done")
    assert (edit["lane"], critic["lane"]) == (0, 0)
    assert critic["wave"] == edit["wave"] + 1


async def test_an_edit_in_the_past_tells_its_branch(desk: Desk) -> None:
    await desk.begin("critic")
    await desk.do("step_back", count=1, branch=None)
    assert (await desk.do("edit", key="topic", text="tech", task=None, check=True))["branch"] == "b2"
    await desk.do("edit", key="topic", text="tech", task=None, check=False)
    assert [branch["note"] for branch in desk.state["branches"]] == ["", "edited"]


async def test_a_failed_node_leaves_a_session_that_can_be_retried(desk: Desk) -> None:
    desk.fails.add("merge")
    await desk.begin()
    assert desk.state["status"] == "failed"
    live = desk.feed.feed.snapshot()["nodes"]
    assert (live["merge"]["status"], live["critic"]["status"]) == ("failed", "idle")
    assert desk.state["allowed"]["retry"] == ""
    line = desk.state["log"][-1]
    assert (line["node"], line["level"], line["step"]) == ("merge", "error", 4)
    desk.fails.clear()
    await desk.do("retry")
    await desk.until("paused")
    assert [step["status"] for step in desk.state["steps"]][-2:] == ["failed", "done"]
    assert desk.feed.feed.snapshot()["nodes"]["merge"]["status"] == "done"


async def test_retrying_an_effect_that_failed_asks_once_and_pressing_again_says_yes(tmp_path: Path) -> None:
    desk = Desk(tmp_path, effects=("merge",))
    desk.fails.add("merge")
    await desk.begin()
    desk.fails.clear()
    with pytest.raises(EvonbError, match="'merge' failed and may have acted") as caught:
        await desk.do("retry")
    assert caught.value.fix.startswith("press it once more")
    assert desk.calls.count("merge") == 1
    await desk.do("retry")
    await desk.until("paused")
    assert desk.calls.count("merge") == 2
    desk.feed.close()
    desk.debugger.store.close()


async def test_log_points_are_shown_also_after_more_lines_than_are_kept(desk: Desk) -> None:
    await desk.begin()
    kept = desk.debugger._session.holding.log
    kept[:] = [LogLine(1, "merge", str(number)) for number in range(1000)]
    desk.feed.flush()
    kept.append(LogLine(1, "merge", "one more"))
    del kept[0]
    desk.feed.flush()
    assert [line["text"] for line in desk.state["log"]][-2:] == ["999", "one more"]


async def test_what_nodes_print_is_in_the_log_and_not_in_the_cell(
    desk: Desk, capsys: pytest.CaptureFixture[str]
) -> None:
    await desk.begin("merge")
    assert [(line["step"], line["node"], line["text"]) for line in desk.state["log"]] == [
        (1, "plan", "plan at work"),
        (2, "docs", "docs at work"),
        (3, "web", "web at work"),
    ]
    assert capsys.readouterr().out == ""


async def test_pause_stops_before_the_next_node_and_stop_ends(desk: Desk) -> None:
    desk.gate = asyncio.Event()
    started = asyncio.ensure_future(desk.do("run", inputs={}))
    await desk.until("running")
    await desk.started.wait()
    await desk.do("pause")
    assert desk.state["status"] == "pausing"
    desk.gate.set()
    await desk.until("paused")
    await started
    assert desk.state["would_run"] == ["docs", "web"]
    await desk.do("stop")
    assert desk.state["status"] == "finished"
    assert desk.calls == ["plan"]


async def test_step_one_and_run_to_and_skip(desk: Desk) -> None:
    await desk.begin("docs", "web")
    docs = next(each for each in desk.state["waiting"] if each["node"] == "docs")
    await desk.do("step_one", task=docs["task"])
    join = next(each for each in desk.state["waiting"] if each["node"] == "merge")
    assert (join["can_run"], join["arrived"], join["missing"]) == (False, ["docs"], ["web"])
    web = next(each for each in desk.state["waiting"] if each["node"] == "web")
    await desk.do("skip", task=web["task"], delta={"topic": "by hand"})
    assert desk.state["steps"][-1]["status"] == "skipped"
    assert desk.calls == ["plan", "docs"]
    await desk.do("run_to", node="critic")
    await desk.until("paused")
    assert desk.state["stopped_at"] == ["critic"]


async def test_breakpoints_are_set_exchanged_and_removed(desk: Desk) -> None:
    new = {"id": None, "kind": "node", "node": "critic", "edge": None, "when": "before", "hit": None, "log": ""}
    condition = '"score" in state and state["score"] > 0.4'
    await desk.do("set_breakpoint", **new, condition=condition, enabled=True)
    await desk.begin()
    assert desk.state["steps"][-1]["node"] == "merge"
    assert desk.state["step"] == 9
    (point,) = desk.state["breakpoints"]
    assert point["condition"] == condition
    await desk.do("set_breakpoint", **{**new, "id": point["id"]}, condition="", enabled=False)
    (point,) = desk.state["breakpoints"]
    assert (point["condition"], point["enabled"]) == ("", False)
    await desk.do("remove_breakpoint", id=point["id"])
    assert desk.state["breakpoints"] == []


@pytest.mark.parametrize("text", ["__import__('os').system('true')", "().__class__", "open('x')"])
async def test_text_from_a_browser_is_never_run(desk: Desk, text: str) -> None:
    await desk.begin("critic")
    new = {"id": None, "kind": "node", "node": "plan", "edge": None, "when": "before", "hit": None, "log": ""}
    with pytest.raises(EvonbError):
        await desk.do("set_breakpoint", **new, condition=text, enabled=True)
    with pytest.raises(EvonbError):
        await desk.do("watch", text=text)
    with pytest.raises(EvonbError):
        await desk.do("edit", key="score", text=text, task=None, check=False)


async def test_watches_follow_the_shown_point(desk: Desk) -> None:
    await desk.do("watch", text='len(state["messages"])')
    await desk.do("watch", text="nothing")
    await desk.begin("merge")
    first, second = desk.state["watches"]
    assert first["value"] is not None
    assert first["value"]["text"] == "4"
    assert "no key 'nothing'" in second["error"]
    await desk.do("goto", count=1, branch=None)
    assert desk.state["watches"][0]["value"] == {"kind": "int", "text": "2", "cut": False}
    await desk.do("unwatch", text="nothing")
    assert len(desk.state["watches"]) == 1


async def test_values_open_with_what_they_were_before(desk: Desk) -> None:
    await desk.begin("merge")
    opened = await desk.do("inspect_key", key="messages", path=[])
    assert [child["value"]["text"] for child in opened["children"]][-1] == "assistant: from web"
    assert len(opened["before"]["children"]) == len(opened["children"]) - 2  # of docs and of web
    content = await desk.do("inspect_key", key="messages", path=[0, "content"])
    assert content["text"] == "hi"
    with pytest.raises(EvonbError, match="no key 'nothing'"):
        await desk.do("inspect_key", key="nothing", path=[])


async def test_why_and_names_of_branches(desk: Desk) -> None:
    await desk.begin("merge")
    why = await desk.do("why", node="critic")
    assert why["kind"] == "not reached"
    assert "merge never ran" in why["sentences"][0]
    await desk.do("name_branch", branch=0, name="first try")
    assert desk.state["branches"][0]["name"] == "first try"


async def test_two_panels_get_the_same_states(desk: Desk) -> None:
    other: list[DebugMessage] = []
    desk.feed.subscribe(other.append)
    desk.messages.clear()
    await desk.begin("merge")
    await desk.do("step_back", count=1, branch=None)
    assert other == desk.messages
    assert [message["state"]["seq"] for message in other] == sorted({message["state"]["seq"] for message in other})


async def test_a_debugger_has_one_feed(desk: Desk) -> None:
    first = debug_feed_of(desk.debugger)
    assert debug_feed_of(desk.debugger) is first
    first.close()


async def test_a_plain_run_is_not_the_session(desk: Desk) -> None:
    await desk.begin("merge")
    log = desk.state["log"]
    await desk.debugger.run({"messages": [UserMessage(content="x")]})
    desk.feed.flush()
    assert desk.state["log"] == log
    assert desk.state["status"] == "paused"


@pytest.mark.parametrize(
    "command",
    [
        {"type": "goto", "count": "seven"},
        {"type": "goto", "count": 99},
        {"type": "inspect_key", "key": "messages", "path": "x"},
        {"type": "step_one", "task": "nobody"},
        {"type": "set_breakpoint", "kind": "node", "node": "nobody", "condition": ""},
        {"type": "compare", "a": 0, "b": 7},
        {"type": "edit", "key": "score", "text": 3},
        {"type": "run", "inputs": {"rounds": "many"}},
    ],
)
async def test_a_wrong_command_is_refused_and_changes_nothing(desk: Desk, command: dict[str, Any]) -> None:
    await desk.begin("merge")
    before = {**desk.state, "seq": 0}
    with pytest.raises(EvonbError) as caught:
        await desk.commands.answer({"request_id": "1", **command})
    assert caught.value.what
    assert {**desk.state, "seq": 0} == before


async def test_the_form_of_the_inputs_says_what_each_key_expects(desk: Desk) -> None:
    schema: Any = desk.state["input_schema"]
    assert schema["properties"]["score"] == {"type": "number", "description": "float", "strategy": "overwrite"}
    assert schema["properties"]["messages"]["strategy"] == "append_messages"


async def test_a_flood_of_steps_and_chunks_costs_few_states_and_the_last_one_is_right(tmp_path: Path) -> None:
    builder = GraphBuilder(state_schema=State, name="flood")

    async def spill(state: Any, stream_writer: Any) -> dict[str, int]:
        for _ in range(40):
            stream_writer.put("x")
        return {"rounds": 1}

    builder.add_node("spill", spill)
    builder.set_entry_point("spill")
    builder.add_condition_edge("spill", lambda state: "end" if state["rounds"] == 250 else "spill", ["spill", "end"])
    debugger = builder.build(graph_mode="debug", db_file_path=str(tmp_path / "runs.db"))
    assert isinstance(debugger, GraphEngineDebugger)
    feed = DebugFeed(debugger)
    messages: list[DebugMessage] = []
    feed.subscribe(messages.append)
    began = asyncio.get_running_loop().time()
    await debugger.start({})
    assert feed.state["status"] == "finished"
    elapsed_s = asyncio.get_running_loop().time() - began
    assert len(messages) <= 5 * elapsed_s + 4
    assert feed.state["step"] == 251  # the end is a step
    assert next(key for key in feed.state["state"] if key["key"] == "rounds")["value"]["text"] == "250"
    assert feed.feed.snapshot()["nodes"]["spill"]["chunks"] == 40
    feed.close()
    debugger.store.close()


async def test_the_picture_of_a_stored_run_keeps_what_ran_before_when_it_goes_on(desk: Desk) -> None:
    await desk.begin("merge")
    desk.debugger.open_run(str(desk.debugger.run_id))
    await desk.debugger.step_over(desk.debugger.find("merge"))
    await desk.until("paused")
    nodes = desk.feed.feed.snapshot()["nodes"]
    assert {name: nodes[name]["status"] for name in ("plan", "docs", "web", "merge")} == dict.fromkeys(
        ("plan", "docs", "web", "merge"), "done"
    )
