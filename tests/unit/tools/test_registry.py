"""The one path of every call: what ends in which receipt, with which events."""

import asyncio
import json
import logging
from typing import Any

import pytest

from evonb.tools import (
    ErasedTool,
    FieldFault,
    ToolCancelled,
    ToolError,
    ToolErrorInfo,
    ToolInputError,
    ToolReceipt,
    ToolRegistry,
    ToolScope,
    bind_scope,
    define_tool,
    tool,
)
from evonb.typing import Function, ToolCall


@tool(effect="none")
def add(a: int, b: int = 1) -> int:
    """Add two numbers."""
    return a + b


@tool
async def shout(text: str) -> str:
    """Write in capitals."""
    return text.upper()


@tool
def fail(how: str = "") -> None:
    """Raise."""
    raise RuntimeError(how)


@tool
def lie() -> int:
    """Return something else than declared."""
    return "not a number"  # type: ignore[return-value]


def registry(*tools: Any, **options: Any) -> ToolRegistry:
    return ToolRegistry(tools or (add, shout, fail, lie), **options)


# -- receipts ------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_a_completed_call_has_its_output_and_how_the_tool_was_accepted() -> None:
    receipt = await registry().ainvoke("add", '{"a": 2}', call_id="call_1")
    assert (receipt.status, receipt.output, receipt.ok, receipt.error) == ("completed", 3, True, None)
    assert (receipt.kind, receipt.mode, receipt.effect, receipt.call_id) == ("function", "sync", "none", "call_1")
    assert receipt.duration_ms >= 0
    assert receipt.unwrap() == 3


@pytest.mark.asyncio
async def test_an_unknown_tool_is_answered_with_its_near_names() -> None:
    receipt = await registry().ainvoke("shuot", {"text": "x"})
    assert receipt.status == "not_found"
    assert receipt.mode is None
    assert "did you mean 'shout'?" in receipt.to_model_text()
    assert "add, fail, lie, shout" in receipt.to_model_text()


@pytest.mark.asyncio
async def test_bad_arguments_are_named_one_by_one_with_what_is_expected(bare: Any) -> None:
    receipt = await registry().ainvoke("add", '{"a": "ten", "c": 1}')
    assert receipt.status == "invalid_input"
    assert receipt.error is not None
    assert [fault.field for fault in receipt.error.fields] == ["a", "c"]
    text = receipt.to_model_text()
    assert "a: Input should be a valid integer" in text
    assert "found 'ten'" in text
    assert "c: is no argument of this tool" in text
    assert '{"a": integer, "b"?: integer}' in text
    assert receipt.error.raw_preview == '{"a": "ten", "c": 1}'
    assert "errors.pydantic.dev" not in text


@pytest.mark.asyncio
async def test_a_misspelt_argument_gets_its_near_name() -> None:
    receipt = await registry().ainvoke("shout", {"txet": "x"})
    assert "did you mean 'text'?" in receipt.to_model_text()
    assert "text: is required and missing" in receipt.to_model_text()


@pytest.mark.parametrize("raw", ['{"a": 1', "[1]", "garbage", "3", '"{}"', [1], 7])
@pytest.mark.asyncio
async def test_arguments_that_are_no_object_never_reach_the_tool(raw: Any, bare: Any) -> None:
    executed: list[Any] = []
    spy = bare("spy", lambda value, context: executed.append(value))
    receipt = await registry(spy).ainvoke("spy", raw)
    assert receipt.status == "invalid_input"
    assert receipt.error is not None
    assert receipt.error.fix
    assert (spy.parsed, executed) == ([], [])


@pytest.mark.parametrize("raw", ["", None, "{}", "null", "  "])
@pytest.mark.asyncio
async def test_a_tool_without_arguments_takes_every_way_to_say_none(raw: Any) -> None:
    @tool
    def now() -> str:
        """Tell the time."""
        return "noon"

    assert (await registry(now).ainvoke("now", raw)).output == "noon"


@pytest.mark.asyncio
async def test_a_failing_tool_leaves_its_message_and_backtrace_but_the_model_sees_no_backtrace() -> None:
    receipt = await registry().ainvoke("fail", {"how": "disk full"})
    assert receipt.status == "failed"
    assert receipt.error is not None
    assert receipt.error.exception_type == "RuntimeError"
    assert "in fail" in (receipt.error.traceback or "")
    assert "disk full" in receipt.to_model_text()
    assert "Traceback" not in receipt.to_model_text()
    assert isinstance(receipt.exception, RuntimeError)
    with pytest.raises(ToolError, match="disk full") as caught:
        receipt.unwrap()
    assert caught.value.__cause__ is receipt.exception


@pytest.mark.parametrize("error", [SystemExit(3), StopIteration("x"), KeyError("k"), RecursionError("deep")])
@pytest.mark.asyncio
async def test_whatever_a_tool_raises_ends_in_a_receipt(error: BaseException) -> None:
    @tool
    def thrower() -> None:
        """Raise it."""
        raise error

    @tool
    async def async_thrower() -> None:
        """Raise it."""
        raise error

    for each in (thrower, async_thrower):
        receipt = await registry(each).ainvoke(each.id)
        assert receipt.status == "failed"
        assert receipt.to_model_text()


@pytest.mark.asyncio
async def test_an_exception_that_cannot_be_shown_or_looks_like_ours_is_still_a_receipt() -> None:
    class Odd(Exception):
        category = "whatever"

        def __str__(self) -> str:
            raise ValueError("no text")

    @tool
    def thrower() -> None:
        """Raise it."""
        raise Odd

    receipt = await registry(thrower).ainvoke("thrower")
    assert receipt.error is not None
    assert receipt.error.category == "raised"
    assert "a Odd that can't be shown" in receipt.to_model_text()


@pytest.mark.asyncio
async def test_a_tool_that_raises_where_it_describes_itself_still_ends_in_a_receipt(bare: Any, recorder: Any) -> None:
    def broken() -> str:
        raise ValueError("no words")

    odd = bare("odd", lambda value, context: None)
    odd.expected_arguments = broken
    calls = registry(odd)
    calls.attach(recorder)
    receipt = await calls.ainvoke("odd", "junk")
    assert receipt.status == "failed"
    assert "no words" in receipt.to_model_text()
    assert len(recorder.finished) == 1


@pytest.mark.asyncio
async def test_a_call_without_a_text_for_its_tool_is_a_mistake_of_the_caller() -> None:
    with pytest.raises(ToolError, match="id of a tool is a text, found FunctionTool"):
        await registry().ainvoke(add, {"a": 1})  # type: ignore[arg-type]


@pytest.mark.asyncio
async def test_an_output_of_another_type_is_the_fault_of_the_tool() -> None:
    receipt = await registry().ainvoke("lie")
    assert receipt.status == "invalid_output"
    assert receipt.output is None
    assert "not a number" in receipt.to_model_text()
    assert receipt.error is not None
    assert "fault of the tool" in receipt.error.fix


@pytest.mark.asyncio
async def test_a_sync_tool_that_returns_an_awaitable_breaks_the_contract() -> None:
    async def later() -> int:
        return 1

    @tool
    def hidden_async() -> Any:
        """Forget to await."""
        return later()

    receipt = await registry(hidden_async).ainvoke("hidden_async")
    assert receipt.status == "failed"
    assert receipt.error is not None
    assert receipt.error.category == "contract"
    assert "mode='async'" in receipt.error.fix


@pytest.mark.asyncio
async def test_an_async_tool_that_returns_no_awaitable_breaks_the_contract(bare: Any) -> None:
    odd = bare("odd", lambda value, context: 1)
    odd.mode = "async"
    receipt = await registry(odd).ainvoke("odd")
    assert receipt.error is not None
    assert receipt.error.category == "contract"


@pytest.mark.asyncio
async def test_the_text_for_the_model_is_never_empty(bare: Any) -> None:
    for output in (None, "", [], {}, 0, False):
        receipt = await registry(bare("t", lambda value, context, output=output: output)).ainvoke("t")
        assert receipt.to_model_text().strip()


@pytest.mark.asyncio
async def test_a_long_text_for_the_model_is_cut_and_says_so(bare: Any) -> None:
    receipt = await registry(bare("t", lambda value, context: "x" * 1000)).ainvoke("t")
    text = receipt.to_model_text(max_chars=10)
    assert text.startswith("x" * 10 + "\n")
    assert "1000 characters in all" in text


@pytest.mark.asyncio
async def test_a_receipt_survives_json_whatever_the_output(bare: Any) -> None:
    class Odd:
        def __repr__(self) -> str:
            raise ValueError("no repr")

    receipt = await registry(bare("t", lambda value, context: {"x": Odd(), "n": float("nan")})).ainvoke("t")
    loaded = ToolReceipt.model_validate_json(receipt.model_dump_json())
    assert loaded.invocation_id == receipt.invocation_id
    assert "Odd" in json.dumps(loaded.output)
    assert receipt.to_model_text()


@pytest.mark.asyncio
async def test_an_error_receipt_survives_json_with_its_field_faults() -> None:
    receipt = await registry().ainvoke("add", {})
    loaded = ToolReceipt.model_validate_json(receipt.model_dump_json())
    assert loaded.error is not None
    assert loaded.error.fields == [FieldFault("a", "is required and missing")]
    with pytest.raises(ToolInputError) as caught:
        loaded.unwrap()
    assert caught.value.faults[0].field == "a"


@pytest.mark.asyncio
async def test_a_receipt_becomes_the_documented_result_and_message() -> None:
    done = await registry().ainvoke("add", {"a": 1}, call_id="c1")
    assert done.to_result().model_dump() == {
        "tool_call_id": "c1", "success": True, "content": 2, "traceback": None,
    }  # fmt: skip
    assert (done.to_message().content, done.to_message().tool_call_id) == ("2", "c1")
    failed = await registry().ainvoke("fail", {"how": "x"}, call_id="c2")
    assert failed.to_result().success is False
    assert "RuntimeError: x" in failed.to_result().content
    assert "Traceback" in (failed.to_result().traceback or "")


@pytest.mark.asyncio
async def test_a_long_raw_input_is_kept_as_a_bounded_preview() -> None:
    receipt = await registry().ainvoke("add", "{" + "x" * 100_000)
    assert receipt.error is not None
    assert len(receipt.error.raw_preview or "") <= 200
    assert len(receipt.to_model_text()) < 1000


@pytest.mark.asyncio
async def test_the_same_failing_call_is_told_apart_from_a_first_failure() -> None:
    calls = registry()
    first = await calls.ainvoke("fail", {"how": "x"})
    again = await calls.ainvoke("fail", {"how": "x"})
    other = await calls.ainvoke("fail", {"how": "y"})
    assert "in a row" not in first.to_model_text()
    assert "failed 2 times in a row" in again.to_model_text()
    assert "in a row" not in other.to_model_text()


# -- ids and events ------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("tool_id", "raw", "status"),
    [
        ("add", {"a": 1}, "completed"),
        ("shout", {"text": "x"}, "completed"),
        ("nothing", {}, "not_found"),
        ("add", "junk", "invalid_input"),
        ("fail", {}, "failed"),
        ("lie", {}, "invalid_output"),
    ],
)
@pytest.mark.asyncio
async def test_one_id_and_one_terminal_event_however_a_call_ends(
    tool_id: str, raw: Any, status: str, recorder: Any
) -> None:
    calls = registry()
    calls.attach(recorder)
    with bind_scope(ToolScope(run_id="run", node_name="node")):
        receipt = await calls.ainvoke(tool_id, raw, call_id="c")
    assert receipt.status == status
    assert {event.invocation_id for event in recorder.events} == {receipt.invocation_id}
    assert recorder.names[0] == "ToolStarted"
    assert recorder.names[-1] == "ToolFinished"
    assert [event.receipt for event in recorder.finished] == [receipt]
    assert [event.seq for event in recorder.events] == list(range(1, len(recorder.events) + 1))
    assert {(event.run_id, event.node_name, event.call_id) for event in recorder.events} == {("run", "node", "c")}


@pytest.mark.asyncio
async def test_each_call_has_an_id_of_its_own() -> None:
    calls = registry()
    receipts = await calls.ainvoke_many([("add", {"a": 1}), ("add", {"a": 1})])
    assert receipts[0].invocation_id != receipts[1].invocation_id


@pytest.mark.asyncio
async def test_the_scope_of_a_node_sees_its_own_calls_only(recorder: Any) -> None:
    calls = registry()
    with bind_scope(ToolScope(node_name="a", observer=recorder)):
        await calls.ainvoke("add", {"a": 1})
    await calls.ainvoke("add", {"a": 2})
    assert len(recorder.finished) == 1


@pytest.mark.asyncio
async def test_a_raising_observer_is_dropped_and_the_call_goes_on(
    recorder: Any, caplog: pytest.LogCaptureFixture
) -> None:
    calls = registry()
    told: list[Any] = []

    def broken(event: Any) -> None:
        told.append(event)
        raise ValueError("broken observer")

    calls.attach(broken)
    calls.attach(recorder)
    with caplog.at_level(logging.ERROR, "evonb"):
        assert (await calls.ainvoke("add", {"a": 1})).ok
        assert (await calls.ainvoke("add", {"a": 1})).ok
    assert len(told) == 1
    assert len(recorder.finished) == 2
    assert "broken observer" in caplog.text


@pytest.mark.asyncio
async def test_a_detached_observer_hears_nothing(recorder: Any) -> None:
    calls = registry()
    detach = calls.attach(recorder)
    detach()
    detach()
    await calls.ainvoke("add", {"a": 1})
    assert recorder.events == []


# -- the hook, debug steps, decoder --------------------------------------------------------------------


@pytest.mark.asyncio
async def test_the_hook_sees_the_parsed_call_and_may_refuse_it(bare: Any) -> None:
    executed: list[Any] = []
    seen: list[Any] = []

    async def check(target: ErasedTool, value: Any, context: Any) -> None:
        seen.append((target.id, value, context.invocation_id))
        raise PermissionError("not on Sundays")

    receipt = await registry(bare("t", lambda value, context: executed.append(1)), before_execute=check).ainvoke(
        "t", '{"a": 1}'
    )
    assert seen == [("t", {"a": 1}, receipt.invocation_id)]
    assert executed == []
    assert receipt.status == "failed"
    assert receipt.error is not None
    assert receipt.error.category == "denied"
    assert "not on Sundays" in receipt.to_model_text()


@pytest.mark.asyncio
async def test_a_hook_that_says_nothing_lets_the_call_through() -> None:
    assert (await registry(before_execute=lambda *args: None).ainvoke("add", {"a": 1})).ok


@pytest.mark.asyncio
async def test_debug_steps_run_after_the_output_is_checked_and_only_when_debugging(bare: Any) -> None:
    told: list[Any] = []
    target = bare("t", lambda value, context: 1)
    target.debug_steps = lambda result, context: told.append((result, context.invocation_id))
    assert (await registry(target).ainvoke("t")).ok
    assert told == []
    receipt = await registry(target, debug=True).ainvoke("t")
    with bind_scope(ToolScope(debug=True)):
        scoped = await registry(target).ainvoke("t")
    assert told == [(1, receipt.invocation_id), (1, scoped.invocation_id)]


@pytest.mark.asyncio
async def test_raising_debug_steps_change_nothing(bare: Any, caplog: pytest.LogCaptureFixture) -> None:
    target = bare("t", lambda value, context: 1)
    target.debug_steps = lambda result, context: 1 / 0
    with caplog.at_level(logging.ERROR, "evonb"):
        receipt = await registry(target, debug=True).ainvoke("t")
    assert (receipt.status, receipt.output) == ("completed", 1)
    assert "debug_steps of tool 't' raised" in caplog.text


@pytest.mark.asyncio
async def test_a_decoder_of_the_application_is_used() -> None:
    calls = registry(decoder=lambda text: {"a": int(text)})
    assert (await calls.ainvoke("add", "41")).output == 42


# -- the catalogue -------------------------------------------------------------------------------------


def test_a_tool_without_its_members_is_refused_with_all_of_them_named() -> None:
    class Half:
        id = "half"
        execute = None

    with pytest.raises(ToolError, match="kind isn't a text; parse_input isn't a method; parse_output") as caught:
        ToolRegistry([Half()])
    assert "half" in caught.value.where


@pytest.mark.parametrize("limit", [0, -1, "5", True])
def test_a_time_limit_that_is_none_is_refused(limit: Any) -> None:
    with pytest.raises(ToolError, match="isn't a number of seconds"):
        ToolRegistry([define_tool(add.function, timeout_s=limit)])


@pytest.mark.asyncio
async def test_a_picture_is_named_to_the_model_and_kept_whole_in_the_receipt(bare: Any) -> None:
    blocks = [{"type": "text", "text": "see"}, {"type": "image", "mimeType": "image/png", "data": "QUJD" * 1000}]
    receipt = await registry(bare("t", lambda value, context: blocks)).ainvoke("t")
    assert "3000 bytes, not shown" in receipt.to_model_text()
    assert "QUJD" not in receipt.to_model_text()
    assert receipt.output == blocks


@pytest.mark.asyncio
async def test_async_debug_steps_are_told_and_change_nothing(bare: Any, caplog: pytest.LogCaptureFixture) -> None:
    async def steps(result: Any, context: Any) -> None:
        """Never awaited."""

    target = bare("t", lambda value, context: 1)
    target.debug_steps = steps
    with caplog.at_level(logging.ERROR, "evonb"):
        assert (await registry(target, debug=True).ainvoke("t")).output == 1
    assert "debug_steps is async" in caplog.text


@pytest.mark.parametrize(("name", "value"), [("mode", "both"), ("effect", "wirte"), ("run_in", "process")])
def test_an_unknown_declaration_is_refused(name: str, value: str, bare: Any) -> None:
    odd = bare("odd", lambda value, context: None)
    setattr(odd, name, value)
    with pytest.raises(ToolError, match=f"Unknown {name} '{value}'"):
        ToolRegistry([odd])


def test_a_taken_id_is_refused_and_may_be_replaced_on_purpose(bare: Any) -> None:
    calls = registry(bare("t", lambda value, context: 1))
    with pytest.raises(ToolError, match="There is a tool 't' already"):
        calls.add(bare("t", lambda value, context: 2))
    calls.add(bare("t", lambda value, context: 2), replace=True)
    assert calls.invoke("t").output == 2


def test_tools_are_found_listed_and_removed() -> None:
    calls = registry()
    assert calls.ids == ["add", "shout", "fail", "lie"]
    assert "add" in calls
    assert len(calls) == 4
    assert [each.id for each in calls] == calls.ids
    calls.remove("lie")
    with pytest.raises(ToolError, match="There is no tool 'lie'"):
        calls.get("lie")
    with pytest.raises(ToolError, match="There is no tool 'ad'") as caught:
        calls.remove("ad")
    assert "did you mean 'add'?" in caught.value.fix


@pytest.mark.parametrize("thing", [3, "add", None, []])
def test_what_is_no_tool_is_refused(thing: Any) -> None:
    with pytest.raises(ToolError, match="A tool or a function was expected"):
        ToolRegistry([thing])


def test_a_bare_tool_satisfies_the_protocol(bare: Any) -> None:
    assert isinstance(bare("t", lambda value, context: None), ErasedTool)
    assert isinstance(add, ErasedTool)
    assert not isinstance(object(), ErasedTool)


def test_a_bare_tool_has_no_schema_to_show(bare: Any) -> None:
    with pytest.raises(ToolError, match="carries no function schema"):
        registry(bare("t", lambda value, context: None)).function_schemas()


# -- sync faces ----------------------------------------------------------------------------------------


def test_invoke_works_without_a_loop_for_both_kinds() -> None:
    assert registry().invoke("add", {"a": 1}).output == 2
    assert registry().invoke("shout", {"text": "x"}).output == "X"


@pytest.mark.asyncio
async def test_invoke_of_an_async_tool_in_a_loop_says_use_await_instead_of_hanging() -> None:
    with pytest.raises(ToolError, match="is async") as caught:
        registry().invoke("shout", {"text": "x"})
    assert "await registry.ainvoke('shout'" in caught.value.fix


@pytest.mark.asyncio
async def test_invoke_of_a_sync_tool_works_in_a_loop_too() -> None:
    assert registry().invoke("add", {"a": 1}).output == 2


def test_a_tool_may_call_other_tools_in_every_way() -> None:
    calls = registry()

    @tool
    async def outer() -> list[Any]:
        """Call others from a loop."""
        return [(await calls.ainvoke("shout", {"text": "a"})).output, calls.invoke("add", {"a": 1}).output]

    @tool
    def outer_in_thread() -> list[Any]:
        """Call others from a thread."""
        return [calls.invoke("shout", {"text": "a"}).output, calls.invoke("add", {"a": 1}).output]

    calls.add(outer)
    calls.add(outer_in_thread)
    assert calls.invoke("outer").output == ["A", 2]
    assert calls.invoke("outer_in_thread").output == ["A", 2]


# -- batches -------------------------------------------------------------------------------------------


@pytest.mark.asyncio
async def test_a_batch_takes_calls_in_every_form_and_answers_in_their_order() -> None:
    call = ToolCall(id="c9", function=Function(name="shout", arguments='{"text": "hi"}'))
    receipts = await registry().ainvoke_many([("add", {"a": 1}), call, "nothing", ("fail", {"how": "x"})])
    assert [receipt.status for receipt in receipts] == ["completed", "completed", "not_found", "failed"]
    assert receipts[1].call_id == "c9"


@pytest.mark.asyncio
async def test_one_failure_does_not_sink_its_siblings() -> None:
    receipts = await registry().ainvoke_many([("add", {"a": n}) if n % 2 else ("fail", {}) for n in range(6)])
    assert [receipt.ok for receipt in receipts] == [False, True] * 3


@pytest.mark.asyncio
async def test_a_batch_runs_at_once_and_not_one_by_one() -> None:
    arrived: list[int] = []
    everybody = asyncio.Event()

    @tool
    async def meet(number: int) -> int:
        """Wait for the others."""
        arrived.append(number)
        if len(arrived) == 3:
            everybody.set()
        await everybody.wait()
        return number

    receipts = await asyncio.wait_for(registry(meet).ainvoke_many([("meet", {"number": n}) for n in range(3)]), 10)
    assert [receipt.output for receipt in receipts] == [0, 1, 2]


@pytest.mark.asyncio
async def test_a_batch_keeps_to_its_concurrency() -> None:
    running: list[int] = []
    most: list[int] = []

    @tool
    async def busy(number: int) -> int:
        """Be there for a few turns of the loop."""
        running.append(number)
        most.append(len(running))
        for _ in range(5):
            await asyncio.sleep(0)
        running.remove(number)
        return number

    await registry(busy).ainvoke_many([("busy", {"number": n}) for n in range(6)], 2)
    assert max(most) == 2


@pytest.mark.asyncio
async def test_an_exclusive_tool_runs_alone_between_the_others() -> None:
    trace: list[str] = []

    async def step(name: str) -> None:
        trace.append(f"+{name}")
        await asyncio.sleep(0)
        trace.append(f"-{name}")

    @tool
    async def shared(name: str) -> None:
        """Run with others."""
        await step(name)

    @tool(exclusive=True)
    async def alone(name: str) -> None:
        """Run alone."""
        await step(name)

    names = [("shared", "a"), ("shared", "b"), ("alone", "X"), ("shared", "c")]
    await registry(shared, alone).ainvoke_many([(tool_id, {"name": name}) for tool_id, name in names])
    assert trace == ["+a", "+b", "-a", "-b", "+X", "-X", "+c", "-c"]


@pytest.mark.parametrize("call", [3, ("add",), {"id": "x"}])
@pytest.mark.asyncio
async def test_a_batch_refuses_what_is_no_call(call: Any) -> None:
    with pytest.raises(ToolError, match="A call was expected"):
        await registry().ainvoke_many([call])


@pytest.mark.asyncio
async def test_a_batch_refuses_a_concurrency_below_one() -> None:
    with pytest.raises(ToolError, match="max_concurrency is 0"):
        await registry().ainvoke_many([("add", {"a": 1})], 0)


@pytest.mark.asyncio
async def test_an_empty_batch_is_an_empty_list() -> None:
    assert await registry().ainvoke_many([]) == []


def test_a_cancelled_receipt_unwraps_to_the_cancellation() -> None:
    info = ToolErrorInfo(category="cancelled", message="The call was cancelled: x")
    receipt = ToolReceipt(
        invocation_id="i", tool_id="t", status="cancelled", error=info, started_at=0.0, duration_ms=0.0
    )
    with pytest.raises(ToolCancelled, match="cancelled"):
        receipt.unwrap()


@tool
def halved() -> str:
    """Give half of a pair."""
    return "cut \ud83d"


@pytest.mark.asyncio
async def test_a_lone_surrogate_reaches_no_encoder() -> None:
    receipt = await ToolRegistry([halved]).ainvoke("halved", None)
    assert receipt.to_model_text() == "cut \ufffd"
    assert json.loads(receipt.model_dump_json())["output"] == "cut \ufffd"


@pytest.mark.asyncio
async def test_the_name_of_an_unknown_tool_is_told_in_short() -> None:
    receipt = await ToolRegistry([add]).ainvoke("o" * 100_000, None)
    assert receipt.status == "not_found"
    assert len(receipt.to_model_text()) < 1_000
