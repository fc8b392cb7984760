"""Ways to run: background, plain code, streams, many at once; limits, retries, threads, mapped fan-out."""

from __future__ import annotations

import asyncio
import contextvars
import threading
import time
from typing import Annotated, Any, TypedDict

import pytest

from evonb.errors import NodeError, NodeTimeout, StateError
from evonb.graph import GraphBuilder, GraphEngine, GraphWarning, RetryPolicy, Send, events, set_streaming_handler


class State(TypedDict):
    log: Annotated[list, "extend"]
    n: int


def one(node: Any, schema: Any = State, **options: Any) -> GraphEngine:
    builder = GraphBuilder(schema)
    builder.add_node("a", node, **options)
    builder.set_entry_point("a")
    return builder.build()


def run(engine: GraphEngine, inputs: dict[str, Any] | None = None) -> Any:
    return asyncio.run(engine.run(inputs or {}))


# --- background ---------------------------------------------------------------------------


def test_start_returns_at_once_and_gives_the_result_to_everyone_who_awaits() -> None:
    async def main() -> None:
        gate = asyncio.Event()

        async def body(state: Any) -> dict[str, int]:
            await gate.wait()
            return {"n": 1}

        engine = one(body)
        handle = engine.start({})
        assert handle.engine is engine
        assert not handle.done
        gate.set()
        assert (await handle)["n"] == 1
        assert (await handle)["n"] == 1
        assert handle.done
        assert handle.run_id

    asyncio.run(main())


def test_a_stopped_run_says_so_and_leaves_no_task() -> None:
    async def main() -> None:
        started = asyncio.Event()

        async def body(state: Any) -> None:
            started.set()
            await asyncio.Event().wait()

        engine = one(body)
        seen: list[events.Event] = []
        engine.attach(seen.append)
        handle = engine.start({})
        await started.wait()
        handle.stop()
        assert await handle is None
        ended = seen[-1]
        assert isinstance(ended, events.RunFinished)
        assert ended.reason == "stopped"
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())


def test_a_background_failure_raises_where_it_is_awaited() -> None:
    async def main() -> None:
        handle = one(lambda state: 1 / 0).start({})
        with pytest.raises(NodeError):
            await handle

    asyncio.run(main())


def test_start_takes_the_inputs_as_they_are_now() -> None:
    async def main() -> None:
        inputs = {"log": ["first"]}
        handle = one(lambda state: None).start(inputs)
        inputs["log"].append("later")
        assert (await handle)["log"] == ["first"]

    asyncio.run(main())


def test_run_sync_works_inside_a_running_loop() -> None:
    async def main() -> Any:
        return one(lambda state: {"n": 5}).run_sync({})

    assert asyncio.run(main())["n"] == 5


def test_run_sync_raises_the_error_of_the_run() -> None:
    with pytest.raises(NodeError):
        one(lambda state: 1 / 0).run_sync({})


def test_stream_gives_events_and_then_the_error() -> None:
    async def main() -> list[str]:
        names: list[str] = []
        stream = one(lambda state: 1 / 0).stream({})
        with pytest.raises(NodeError):
            await anext_until_error(stream, names)
        return names

    assert asyncio.run(main())[-1] == "RunFailed"


async def anext_until_error(stream: Any, names: list[str]) -> None:
    async for event in stream:
        names.append(type(event).__name__)  # noqa: PERF401 - what came before the error is wanted too


def test_leaving_a_stream_early_cancels_the_run() -> None:
    cancelled = []

    async def body(state: Any) -> None:
        try:
            await asyncio.Event().wait()
        except asyncio.CancelledError:
            cancelled.append(True)
            raise

    async def main() -> None:
        stream = one(body).stream({})
        async for event in stream:
            if isinstance(event, events.NodeStarted):
                break
        await stream.aclose()  # type: ignore[attr-defined]
        assert asyncio.all_tasks() == {asyncio.current_task()}

    asyncio.run(main())
    assert cancelled == [True]


def test_run_many_keeps_order_and_failures() -> None:
    def body(state: Any) -> dict[str, Any]:
        if state["n"] == 2:
            raise ValueError("two")
        return {"log": [state["n"]]}

    results = asyncio.run(one(body).run_many([{"n": n} for n in range(4)], concurrency=2))
    assert [r["log"] for at, r in enumerate(results) if at != 2] == [[0], [1], [3]]
    assert isinstance(results[2], NodeError)


def test_run_many_never_runs_more_at_once_than_asked() -> None:
    active, most = 0, 0

    async def body(state: Any) -> None:
        nonlocal active, most
        active += 1
        most = max(most, active)
        for _ in range(3):
            await asyncio.sleep(0)
        active -= 1

    asyncio.run(one(body).run_many([{} for _ in range(9)], concurrency=3))
    assert most == 3


# --- limits and retries ----------------------------------------------------------------------


def test_a_timeout_names_the_node_and_the_limit() -> None:
    async def slow(state: Any) -> None:
        await asyncio.Event().wait()

    with pytest.raises(NodeTimeout, match=r"'a' ran longer than its timeout of 0\.05 s"):
        run(one(slow, timeout=0.05))


def test_a_node_that_refuses_to_be_cancelled_is_given_up() -> None:
    release = threading.Event()

    async def stubborn(state: Any) -> None:
        while not release.is_set():
            try:
                await asyncio.sleep(0.01)
            except asyncio.CancelledError:
                release_soon()

    def release_soon() -> None:
        threading.Timer(0.2, release.set).start()

    with pytest.raises(NodeTimeout):
        run(one(stubborn, timeout=0.05))


def test_a_node_is_tried_again_with_a_fresh_state() -> None:
    seen = []

    def flaky(state: Any) -> dict[str, int]:
        seen.append(list(state["log"]))
        state["log"].append("graffiti")
        if len(seen) < 3:
            raise ConnectionError
        return {"n": len(seen)}

    assert run(one(flaky, retry=RetryPolicy(attempts=3, on=ConnectionError)), {"log": ["x"]})["n"] == 3
    assert seen == [["x"]] * 3


def test_only_the_named_errors_are_tried_again() -> None:
    calls = []

    def body(state: Any) -> None:
        calls.append(1)
        raise ValueError

    with pytest.raises(NodeError):
        run(one(body, retry=RetryPolicy(attempts=3, on=ConnectionError)))
    assert len(calls) == 1


def test_a_number_as_retry_is_the_number_of_executions() -> None:
    calls = []

    def body(state: Any) -> None:
        calls.append(1)
        raise ValueError

    with pytest.raises(NodeError):
        run(one(body, retry=2))
    assert len(calls) == 2


# --- threads -----------------------------------------------------------------------------------


def test_a_lone_sync_node_runs_on_the_loop_thread() -> None:
    where: list[int] = []
    run(one(lambda state: where.append(threading.get_ident())))
    assert where == [threading.get_ident()]


@pytest.mark.parametrize(("run_in", "same"), [("loop", True), ("thread", False)])
def test_run_in_pins_a_sync_node(run_in: str, same: bool) -> None:
    where: list[int] = []
    run(one(lambda state: where.append(threading.get_ident()), run_in=run_in))
    assert (where == [threading.get_ident()]) is same


def test_a_node_in_a_thread_sees_the_callers_context() -> None:
    var: contextvars.ContextVar[str] = contextvars.ContextVar("var", default="unset")
    seen: list[str] = []

    async def main() -> None:
        var.set("set")
        await one(lambda state: seen.append(var.get()), run_in="thread").run({})

    asyncio.run(main())
    assert seen == ["set"]


def test_many_blocking_nodes_run_side_by_side() -> None:
    barrier = threading.Barrier(20, timeout=10)  # passes only when all twenty wait at once

    def meet(state: Any) -> None:
        barrier.wait()

    builder = GraphBuilder(State)
    builder.add_node("fork", lambda state: None)
    for at in range(20):
        builder.add_node(f"b{at}", meet)
        builder.add_edge("fork", f"b{at}")
    builder.set_entry_point("fork")
    run(builder.build())


def test_an_abandoned_thread_is_heard_no_more() -> None:
    go, done = threading.Event(), threading.Event()
    seen: list[Any] = []
    set_streaming_handler(seen.append)

    def slow(state: Any, stream_writer: Any) -> None:
        go.wait(10)
        stream_writer.put("late")
        done.set()

    try:
        with pytest.raises(NodeTimeout):
            run(one(slow, timeout=0.05))
        go.set()
        assert done.wait(10)
        assert seen == []
    finally:
        set_streaming_handler(lambda message: None)


def test_one_node_runs_once_at_a_time_within_a_run() -> None:
    active, most = 0, 0

    async def body(state: Any) -> None:
        nonlocal active, most
        active += 1
        most = max(most, active)
        await asyncio.sleep(0)
        active -= 1

    builder = GraphBuilder(State)
    for name in "abc":
        builder.add_node(name, lambda state: None)
    builder.add_node("d", body)
    for edge in (("a", "b"), ("a", "c"), ("b", "d"), ("c", "d")):
        builder.add_edge(*edge)
    builder.set_entry_point("a")
    run(builder.build())
    assert most == 1


def test_a_node_that_is_cancelled_from_inside_fails_the_run() -> None:
    async def body(state: Any) -> None:
        raise asyncio.CancelledError

    with pytest.raises(NodeError, match="'a'"):
        run(one(body))


def test_a_long_chain_of_sync_nodes_lets_the_loop_breathe() -> None:
    ticks = 0

    def body(state: Any) -> dict[str, int]:
        return {"n": state["n"] + 1}

    builder = GraphBuilder(State)
    builder.add_node("a", body)
    builder.add_condition_edge("a", lambda state: "a" if state["n"] < 1000 else "end", ["a", "end"])
    builder.set_entry_point("a")
    engine = builder.build()

    async def main() -> None:
        nonlocal ticks
        work = asyncio.ensure_future(engine.run({}))
        while not work.done():
            await asyncio.sleep(0)
            ticks += 1
        assert (await work)["n"] == 1000

    asyncio.run(main())
    assert ticks > 10


# --- mapped fan-out ------------------------------------------------------------------------------


def mapped(count: int) -> GraphEngine:
    async def work(state: Any) -> dict[str, Any]:
        for _ in range(count - state["n"]):  # the first item takes longest
            await asyncio.sleep(0)
        return {"log": [state["n"]]}

    builder = GraphBuilder(State)
    builder.add_node("split", lambda state: None)
    builder.add_node("work", work)
    builder.add_node("gather", lambda state: {"log": ["gathered"]}, action_mode="all")
    builder.add_condition_edge("split", lambda state: [Send("work", n=item) for item in range(count)], ["work"])
    builder.add_edge("work", "gather")
    builder.set_entry_point("split")
    return builder.build()


@pytest.mark.parametrize("count", [1, 2, 7])
def test_a_mapped_node_joins_in_the_order_of_the_items(count: int) -> None:
    assert run(mapped(count))["log"] == [*range(count), "gathered"]


def test_mapped_nodes_run_side_by_side() -> None:
    async def main() -> Any:
        arrived = 0
        everybody = asyncio.Event()

        async def work(state: Any) -> None:
            nonlocal arrived
            arrived += 1
            if arrived == 3:
                everybody.set()
            await everybody.wait()

        builder = GraphBuilder(State)
        builder.add_node("split", lambda state: None)
        builder.add_node("work", work)
        builder.add_condition_edge("split", lambda state: [("work", lambda s: s)] * 3, ["work"])
        builder.set_entry_point("split")
        return await asyncio.wait_for(builder.build().run({}), 10)

    asyncio.run(main())


# --- what goes in and out -------------------------------------------------------------------------


def test_unknown_keys_are_told_with_a_near_name() -> None:
    class Score(TypedDict):
        score: int

    with pytest.warns(GraphWarning, match=r"'socre'; it has 'score'"):
        run(one(lambda state: {"socre": 1}, schema=Score))


def test_unknown_keys_are_errors_in_a_strict_graph() -> None:
    builder = GraphBuilder(State, strict=True)
    builder.add_node("a", lambda state: {"m": 1})
    builder.set_entry_point("a")
    engine = builder.build()
    with pytest.raises(NodeError, match="no key 'm'"):
        run(engine)
    with pytest.raises(StateError):
        run(engine, {"m": 1})


@pytest.mark.parametrize("answer", [5, "text", ["log"], object()])
def test_an_answer_that_is_no_dict_fails_with_its_type(answer: Any) -> None:
    with pytest.raises(NodeError, match=f"found {type(answer).__name__}"):
        run(one(lambda state: answer))


def test_a_wrong_value_deep_inside_is_named_by_its_path() -> None:
    class Deep(TypedDict):
        rows: list[dict[str, int]]

    with pytest.raises(NodeError, match=r"rows\[1\]\.b"):
        run(one(lambda state: {"rows": [{"a": 1}, {"b": "x"}]}, schema=Deep))


def test_a_value_that_no_node_touches_costs_nothing_to_keep() -> None:
    rows = [{"id": number} for number in range(50_000)]

    class Big(TypedDict):
        rows: list
        n: int

    def line(length: int) -> float:
        builder = GraphBuilder(Big)
        for at in range(length):
            builder.add_node(f"n{at}", lambda state: {"n": state["n"] + 1})
        for at in range(length - 1):
            builder.add_edge(f"n{at}", f"n{at + 1}")
        builder.set_entry_point("n0")
        engine = builder.build()
        best = 9.0
        for _ in range(5):
            began = time.process_time()
            assert run(engine, {"rows": rows})["n"] == length
            best = min(best, time.process_time() - began)
        return best

    # Copying the list for every node would take thirty times as long as copying it for one.
    assert line(30) < 10 * line(1)
