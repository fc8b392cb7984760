"""One manager over every kind of link, against real servers."""

from __future__ import annotations

import asyncio
import json
import os
import socket
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from evonb.agents import Conversation, ToolNode
from evonb.graph import GraphBuilder
from evonb.tools import McpError, McpToolManager, ToolController, ToolError, ToolRegistry, ToolReported
from evonb.typing import (
    AssistantMessage,
    Function,
    PromptRequest,
    ResourceRequest,
    StdioLink,
    StreamableHttpLink,
    ToolCall,
    ToolManagerState,
    UserMessage,
)

Start = Callable[..., tuple[subprocess.Popen[bytes], int]]
LinkOf = Callable[[str, int], Any]


def call(name: str, arguments: Any = None, call_id: str = "c1") -> ToolCall:
    text = arguments if isinstance(arguments, str) else json.dumps(arguments or {})
    return ToolCall(id=call_id, function=Function(name=name, arguments=text))


def managed(links: Any = None, *, connect_timeout_s: float = 120.0, **options: Any) -> McpToolManager:
    """A manager that is patient: a busy machine may need long to start a server."""
    return McpToolManager(links, connect_timeout_s=connect_timeout_s, **options)


async def until(condition: Callable[[], bool]) -> None:
    async with asyncio.timeout(60):
        while not condition():  # noqa: ASYNC110 - something outside this process, which sets no event
            await asyncio.sleep(0.01)


@pytest.fixture(params=["stdio", "streamable-http", "sse"])
def link(request: pytest.FixtureRequest, start_server: Start, stdio_link: StdioLink, link_of: LinkOf) -> Any:
    if request.param == "stdio":
        return stdio_link
    _, port = start_server(request.param)
    return link_of(request.param, port)


@pytest.mark.asyncio
async def test_tools_prompts_and_resources_over_every_kind_of_link(link: Any) -> None:
    async with managed({"s": link}) as manager:
        assert await manager.get_mcp_status() == {"s": True}
        schemas = {each["function"]["name"]: each["function"] for each in await manager.list_tools()}
        assert schemas["s_add"]["description"] == "Add two numbers."
        assert schemas["s_add"]["parameters"]["required"] == ["a"]
        results = await manager.call_tools(
            [
                call("s_add", {"a": 2}, "1"),
                call("s_greet", {"name": "Ada"}, "2"),
                call("s_report", {"items": ["x"]}, "3"),
                call("s_wrap", {"items": [1, 2]}, "4"),
                call("s_fail", {"why": "no paper"}, "5"),
                call("s_ad", {}, "6"),
            ]
        )
        assert [(each.tool_call_id, each.success, each.content) for each in results[:4]] == [
            ("1", True, 3),
            ("2", True, "Hello Ada"),
            ("3", True, {"items": ["x"], "count": 1}),
            ("4", True, [1, 2]),
        ]
        assert [each.success for each in results[4:]] == [False, False]
        assert "no paper" in results[4].content
        assert "did you mean 's_add'?" in results[5].content

        resources = await manager.read_resource(
            [
                ResourceRequest(server_name="s", url="notes://today"),
                ResourceRequest(server_name="s", url="notes://monday/text"),
                ResourceRequest(server_name="s", url="notes://nowhere"),
                ResourceRequest(server_name="x", url="notes://today"),
            ]
        )
        assert [each.text for each in resources] == ["buy milk", "note of monday", "", ""]
        assert [each.error is None for each in resources] == [True, True, False, False]
        assert resources[3].error is not None
        assert "no MCP server 'x'" in resources[3].error.message

        prompts = await manager.get_prompt(
            [
                PromptRequest(server_name="s", prompt_name="review", arguments={"code": "x = 1"}),
                PromptRequest(server_name="s", prompt_name="nothing", arguments={}),
            ]
        )
        assert [type(each) for each in prompts[0].messages] == [UserMessage, AssistantMessage]
        assert prompts[0].messages[0].content == "Please review: x = 1"
        assert prompts[1].error is not None

        assert [(each["server_name"], each["name"]) for each in await manager.list_prompts()] == [("s", "review")]
        assert [each["uri"] for each in await manager.list_resources("s")] == ["notes://today"]
        assert [each["uriTemplate"] for each in await manager.list_resource_templates()] == ["notes://{day}/text"]
    assert await manager.get_mcp_status() == {"s": False}


@pytest.mark.asyncio
async def test_a_server_that_dies_in_a_call_leaves_a_clear_receipt_and_comes_back(
    link: Any, tmp_path: Path, start_server: Start
) -> None:
    async with managed({"s": link}) as manager:
        [receipt] = await manager.receipts([call("s_die", {"path": str(tmp_path / "mark")})])
        assert receipt.status == "failed"
        assert receipt.error is not None
        assert receipt.error.category == "connection"
        assert "The MCP server 's' went away" in receipt.to_model_text()
        assert "call again" in receipt.error.fix
        assert "calling tool 'die'" in receipt.error.where
        assert (tmp_path / "mark").read_text() == "dying"
        if isinstance(link, StdioLink):
            assert "the last words of the server" in receipt.to_model_text()
        await until(lambda: not manager.connected("s"))
        if not isinstance(link, StdioLink):
            kind = "sse" if link.url.endswith("/sse") else "streamable-http"
            start_server(kind, int(link.url.split(":")[2].split("/")[0]))
        [again] = await manager.receipts([call("s_add", {"a": 1})])
        assert (again.status, again.output) == ("completed", 2)


@pytest.mark.asyncio
async def test_cancelling_a_call_reaches_the_server_and_its_progress_reaches_the_receipt(
    link: Any, tmp_path: Path
) -> None:
    mark = tmp_path / "mark"
    async with managed({"s": link}) as manager:
        await manager.list_tools()
        reported: list[ToolReported] = []

        def stop_after_report(event: Any) -> None:
            if isinstance(event, ToolReported):
                reported.append(event)
                manager.registry.cancel("c1", "seen enough")

        manager.registry.attach(stop_after_report)
        [receipt] = await asyncio.wait_for(manager.receipts([call("s_slow", {"path": str(mark)})]), 60)
        assert receipt.status == "cancelled"
        assert [(each.report.current, each.report.total, each.report.message) for each in receipt.reports] == [
            (1, 3, "started")
        ]
        await until(mark.exists)
        [alive] = await manager.receipts([call("s_add", {"a": 1})])
        assert alive.ok


@pytest.mark.asyncio
async def test_arguments_are_checked_against_the_servers_schema_before_they_are_sent(small_link: StdioLink) -> None:
    async with managed({"s": small_link}) as manager:
        bad, cut, none = await manager.receipts(
            [call("s_add", {"a": "x", "b": []}, "1"), call("s_add", '{"a": 1', "2"), call("s_count", "", "3")]
        )
    assert bad.status == "invalid_input"
    assert bad.error is not None
    assert [fault.field for fault in bad.error.fields] == ["a", "b"]
    assert '{"a": integer, "b"?: integer}' in bad.to_model_text()
    assert "end in the middle" in cut.to_model_text()
    assert none.output == "1"


@pytest.mark.asyncio
async def test_a_persistent_link_keeps_what_the_server_knows_and_a_fresh_one_does_not(small_link: StdioLink) -> None:
    async with managed({"s": small_link}) as manager:
        counts = [(await manager.receipts([call("s_count")]))[0].output for _ in range(2)]
    assert counts == ["1", "2"]
    manager = managed({"s": small_link}, persistent_link=False)
    counts = [(await manager.receipts([call("s_count")]))[0].output for _ in range(2)]
    assert counts == ["1", "1"]
    assert await manager.get_mcp_status() == {"s": False}


@pytest.mark.asyncio
async def test_tools_of_servers_join_others_in_a_registry_with_one_kind_of_receipt(small_link: StdioLink) -> None:
    def local(x: int) -> int:
        """Double."""
        return 2 * x

    async with managed({"one": small_link, "two": small_link}) as manager:
        calls = ToolRegistry([*await manager.tools(), local])
        assert {"one_add", "two_add", "local"} <= set(calls.ids)
        receipts = await calls.ainvoke_many([("one_add", {"a": 1}), ("two_add", {"a": 2}), ("local", {"x": 2})])
        assert [receipt.output for receipt in receipts] == [2, 3, 4]
        assert [receipt.kind for receipt in receipts] == ["mcp", "mcp", "function"]
        assert [receipt.effect for receipt in receipts] == ["read", "read", "write"]
        assert len(calls.function_schemas()) == len(calls)
        from_thread = await asyncio.to_thread(calls.invoke, "one_add", {"a": 4})  # another loop than the connection's
        assert from_thread.output == 5


@pytest.mark.asyncio
async def test_names_that_model_servers_refuse_are_cleaned_and_still_work(small_link: StdioLink) -> None:
    async with managed({"my server": small_link}) as manager:
        names = [each["function"]["name"] for each in await manager.list_tools()]
        assert all(name.replace("_", "").replace("-", "").isalnum() and len(name) <= 64 for name in names)
        [odd] = [name for name in names if name.startswith("my_server_odd_name_v2")]
        assert (await manager.call_tools([call(odd)]))[0].content == "odd"


@pytest.mark.asyncio
async def test_an_answer_that_is_no_text_comes_as_its_content_blocks(small_link: StdioLink) -> None:
    async with managed({"s": small_link}) as manager:
        [result] = await manager.call_tools([call("s_picture")])
    assert result.content == [{"type": "image", "data": "QUJD", "mimeType": "image/png"}]


@pytest.mark.asyncio
async def test_a_server_without_prompts_and_resources_lists_none_of_them(small_link: StdioLink) -> None:
    async with managed({"s": small_link}) as manager:
        assert await manager.list_prompts() == []
        assert await manager.list_resources() == []
        assert await manager.list_resource_templates() == []
        [prompt] = await manager.get_prompt([PromptRequest(server_name="s", prompt_name="x", arguments={})])
    assert prompt.error is not None
    assert "refused: unknown method" in prompt.error.message


@pytest.mark.asyncio
async def test_servers_come_and_go_while_the_manager_lives(small_link: StdioLink) -> None:
    manager = managed()
    assert await manager.list_tools() == []
    await manager.add_mcp_servers({"s": small_link.model_dump()})
    assert await manager.get_mcp_status() == {"s": False}
    await manager.connect("s")
    assert "s_add" in [each["function"]["name"] for each in await manager.list_tools("s")]
    await manager.delete_mcp_servers(["s"])
    assert await manager.get_mcp_status() == {}
    assert "s_add" not in manager.registry


@pytest.mark.asyncio
async def test_a_controller_hides_and_refuses_tools(small_link: StdioLink) -> None:
    async with managed({"s": small_link}) as manager:
        await manager.set_tool_controller(ToolController({"s_add": True, "s_*": False}))
        assert [each["function"]["name"] for each in await manager.list_tools()] == ["s_add"]
        allowed, refused = await manager.receipts([call("s_add", {"a": 1}, "1"), call("s_count", {}, "2")])
    assert allowed.ok
    assert refused.status == "failed"
    assert refused.error is not None
    assert refused.error.category == "denied"
    assert "switched off" in refused.to_model_text()


@pytest.mark.asyncio
async def test_a_saved_state_brings_tools_switches_and_notes_back_without_asking_the_server(
    small_link: StdioLink, tmp_path: Path
) -> None:
    path = tmp_path / "tools.json"
    async with managed({"s": small_link}) as manager:
        await manager.list_tools()
        await manager.set_tool_controller(ToolController({"s_count": False}))
        manager.tool_state("s_add").state["last"] = 3
        await manager.save_state(path)
    state = ToolManagerState.model_validate_json(path.read_text())
    assert state.state["s_count"].meta_state["active"] is False

    fresh = managed({"s": small_link})
    await fresh.load_state(path)
    assert await fresh.get_mcp_status() == {"s": False}
    assert fresh.tool_state("s_add").state == {"last": 3}
    controller = await fresh.get_tool_controller()
    assert controller is not None
    assert not controller.check_tool_status("s_count")
    assert "s_add" in fresh.registry
    assert fresh.dump_state() == state
    [receipt] = await fresh.receipts([call("s_add", {"a": 1})])
    assert receipt.output == 2
    await fresh.disconnect()


@pytest.mark.asyncio
async def test_a_state_of_unknown_servers_or_a_broken_file_changes_nothing(
    small_link: StdioLink, tmp_path: Path
) -> None:
    async with managed({"s": small_link}) as manager:
        await manager.list_tools()
        state = manager.dump_state()
    other = managed({"t": small_link})
    with pytest.raises(ToolError, match="There is no MCP server 's'") as caught:
        other.restore_state(state)
    assert "state of tool" in caught.value.where
    assert len(other.registry) == 0
    (tmp_path / "broken.json").write_text("{")
    for name in ("broken.json", "missing.json"):
        with pytest.raises(ToolError, match="can't be loaded"):
            await other.load_state(tmp_path / name)


@pytest.mark.asyncio
async def test_a_program_that_does_not_exist_is_named(small_link: StdioLink) -> None:
    manager = managed({"s": StdioLink(command="no-such-program-at-all")})
    with pytest.raises(McpError, match="'no-such-program-at-all' can't be started") as caught:
        await manager.connect()
    assert "MCP server 's' (no-such-program-at-all)" in caught.value.where
    assert "installed" in caught.value.fix
    [result] = await manager.call_tools([call("s_add")])
    assert not result.success


@pytest.mark.asyncio
async def test_a_server_that_crashes_at_its_start_is_told_with_its_last_words(crashing_link: StdioLink) -> None:
    with pytest.raises(McpError, match="cannot read the configuration"):
        await managed({"s": crashing_link}).connect()


@pytest.mark.parametrize("kind", ["sse", "streamable-http"])
@pytest.mark.asyncio
async def test_a_url_where_nobody_answers_is_named_without_its_secrets(
    kind: str, a_free_port: int, link_of: LinkOf
) -> None:
    link = link_of(kind, a_free_port)
    link.url = link.url.replace("http://", "http://me:secret@") + "?token=secret"
    with pytest.raises(McpError, match="can't be reached") as caught:
        await managed({"s": link}).connect()
    assert f"http://127.0.0.1:{a_free_port}/" in caught.value.where
    assert "secret" not in str(caught.value)


@pytest.mark.parametrize(("kind", "other"), [("sse", "streamable-http"), ("streamable-http", "sse")])
@pytest.mark.asyncio
async def test_a_wrong_path_is_an_error_and_not_a_hang(
    kind: str, other: str, start_server: Start, link_of: LinkOf
) -> None:
    _, port = start_server(kind)
    with pytest.raises(McpError) as caught:
        await asyncio.wait_for(managed({"s": link_of(other, port)}).connect(), 60)
    assert caught.value.fix


@pytest.mark.asyncio
async def test_a_server_that_never_answers_ends_with_the_time_for_connecting() -> None:
    with socket.create_server(("127.0.0.1", 0)) as listener:  # takes connections and never says a word
        link = StreamableHttpLink(url=f"http://127.0.0.1:{listener.getsockname()[1]}/mcp")
        manager = managed({"s": link}, connect_timeout_s=0.2)
        with pytest.raises(McpError, match="didn't answer in time") as caught:
            await manager.connect()
        assert "connect_timeout_s" in caught.value.fix
        await manager.disconnect()


@pytest.mark.asyncio
async def test_all_servers_that_fail_are_named_and_the_others_are_connected(small_link: StdioLink) -> None:
    manager = managed(
        {"good": small_link, "bad": StdioLink(command="no-such-1"), "worse": StdioLink(command="no-such-2")}
    )
    with pytest.raises(McpError, match=r"2 MCP servers can't be used.*no-such-1.*no-such-2"):
        await manager.connect()
    assert await manager.get_mcp_status() == {"good": True, "bad": False, "worse": False}
    await manager.disconnect()


@pytest.mark.asyncio
async def test_a_block_that_cannot_begin_leaves_no_connection(small_link: StdioLink) -> None:
    manager = managed({"good": small_link, "bad": StdioLink(command="no-such-program")})
    with pytest.raises(McpError):
        await manager.__aenter__()
    assert await manager.get_mcp_status() == {"good": False, "bad": False}


@pytest.mark.asyncio
async def test_unknown_servers_are_key_errors_with_near_names(small_link: StdioLink) -> None:
    manager = managed({"weather": small_link})
    for ask in (manager.connect, manager.disconnect, manager.list_tools, manager.list_prompts):
        with pytest.raises(KeyError) as caught:
            await ask("wether")
        assert isinstance(caught.value, McpError)
        assert "did you mean 'weather'?" in str(caught.value)
    with pytest.raises(ToolError, match="There is no MCP server 'wether'"):
        await manager.delete_mcp_servers(["weather", "wether"])
    assert await manager.get_mcp_status() == {"weather": False}


@pytest.mark.asyncio
async def test_a_link_that_is_none_and_a_taken_name_are_refused(small_link: StdioLink) -> None:
    with pytest.raises(ToolError, match="The link isn't usable"):
        managed({"s": {"type": "Pigeon", "url": "x"}})
    manager = managed({"s": small_link})
    with pytest.raises(ToolError, match="There is an MCP server 's' already"):
        await manager.add_mcp_servers({"t": small_link, "s": small_link})
    assert await manager.get_mcp_status() == {"s": False}


def test_a_manager_serves_several_loops_one_after_the_other(small_link: StdioLink) -> None:
    manager = managed({"s": small_link})

    async def once() -> Any:
        [receipt] = await manager.receipts([call("s_count")])
        return receipt.output

    assert asyncio.run(once()) == "1"
    assert asyncio.run(once()) == "1"  # the first loop took the connection, and so the server, with it


@pytest.mark.asyncio
@pytest.mark.parametrize("kind", ["stdio", "streamable-http", "sse"])
async def test_an_answer_that_does_not_come_in_time_is_a_time_out(
    kind: str, start_server: Start, stdio_link: StdioLink, link_of: LinkOf, tmp_path: Path
) -> None:
    link: Any = stdio_link.model_copy(update={"read_time_out": 3.0})
    if kind != "stdio":
        link = link_of(kind, start_server(kind)[1]).model_copy(update={"sse_read_timeout": 3.0})
    async with managed({"s": link}) as manager:
        [late] = await manager.receipts([call("s_slow", {"path": str(tmp_path / "mark")})])
        assert (late.status, late.error and late.error.category) == ("timed_out", "timeout")
        assert "didn't answer in time" in late.to_model_text()
        [fine] = await manager.receipts([call("s_add", {"a": 1})])
        assert fine.output == 2


@pytest.mark.asyncio
async def test_a_manager_in_a_saved_graph_starts_its_server_when_a_tool_is_called(
    stdio_link: StdioLink, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("EVONB_DATA_DIR", str(tmp_path))
    builder = GraphBuilder(Conversation, name="kept")
    builder.add_node("tools", ToolNode(tools=managed({"s": stdio_link})))
    builder.set_entry_point("tools")
    graph = GraphBuilder.loads(json.loads(json.dumps(builder.dumps()))).build()
    manager = graph.nodes["tools"].node.tools
    assert await manager.get_mcp_status() == {"s": False}
    asked = AssistantMessage(content="", tool_calls=[call("s_add", {"a": 1, "b": 2})])
    try:
        state = await graph.run({"messages": [asked]})
    finally:
        await manager.disconnect()
    assert "3" in state["messages"][-1].content


SILENT = """
import os, sys, time
sys.stdin.read()  # until the client begins to close
with open(sys.argv[1] + ".part", "w") as mark: mark.write(str(os.getpid()))
os.rename(sys.argv[1] + ".part", sys.argv[1])
time.sleep(600)
"""


@pytest.mark.parametrize("ending", ["disconnect", "end of the loop"])
def test_a_silent_server_is_ended_even_when_closing_is_cancelled(ending: str, tmp_path: Path) -> None:
    mark = tmp_path / "closing"
    link = StdioLink(command=sys.executable, args=["-c", SILENT, str(mark)])

    async def once() -> None:
        manager = managed({"s": link}, connect_timeout_s=2)
        with pytest.raises(McpError, match="didn't answer in time"):
            await manager.connect()
        await until(mark.exists)
        if ending == "disconnect":
            await manager.disconnect()

    asyncio.run(asyncio.wait_for(once(), 60))
    with pytest.raises(ProcessLookupError):
        os.kill(int(mark.read_text()), 0)


@pytest.mark.asyncio
async def test_half_of_a_surrogate_pair_does_not_break_the_connection(stdio_link: StdioLink) -> None:
    async with managed({"s": stdio_link}) as manager:
        [receipt] = await manager.receipts([call("s_greet", '{"name": "\\ud83d"}')])
        assert receipt.output == "Hello \ufffd"


@pytest.mark.asyncio
@pytest.mark.parametrize(
    ("args", "shown"),
    [
        (["--api-key", "sk-abcdef1234567890", "-v"], "--api-key [hidden] -v"),
        (["--token=hunter2", "serve"], "--token=[hidden] serve"),
        (["http://me:hunter2@host/x"], "[hidden]"),
        (["--port", "80"], "--port 80"),
    ],
)
async def test_no_error_tells_a_secret_of_the_command_line(args: list[str], shown: str) -> None:
    manager = managed({"s": StdioLink(command="no-such-program", args=args)})
    with pytest.raises(McpError) as caught:
        await manager.connect()
    assert caught.value.where == f"MCP server 's' (no-such-program {shown}), connecting"
