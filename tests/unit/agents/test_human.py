"""`HumanInput` and `ask`: a node that waits for a person, and every way to answer."""

from __future__ import annotations

import asyncio
import threading
from typing import Annotated, Any, Literal, TypedDict

import pytest
from pydantic import BaseModel

from evonb.agents import (
    AnswerRefused,
    HumanInput,
    NoQuestion,
    Question,
    answer,
    ask,
    open_questions,
    watch_questions,
)
from evonb.errors import GraphError, NodeError, NodeTimeout
from evonb.graph import GraphBuilder


class State(TypedDict):
    """What the graphs share."""

    amount: int
    approved: bool


class Talk(TypedDict):
    """A chat and what was said last."""

    said: str
    messages: Annotated[list[Any], "append_messages"]


class Decision(BaseModel):
    """A form with two fields."""

    approve: bool
    reason: str = ""


APPROVE = {"question": lambda state: f"Refund {state['amount']} €?", "key": "approved", "answer_type": bool}


@pytest.mark.asyncio
async def test_a_script_answers_by_a_function(single: Any) -> None:
    asked: list[Question] = []

    async def decide(question: Question) -> str:
        asked.append(question)
        return "yes"

    state = await single(HumanInput(**APPROVE, ask=decide), schema=State, name="boss").run({"amount": 40})
    assert state["approved"] is True
    assert (asked[0].text, asked[0].node) == ("Refund 40 €?", "boss")
    assert open_questions() == []


@pytest.mark.asyncio
async def test_a_script_answers_by_the_handle(single: Any) -> None:
    handle = single(HumanInput(**APPROVE), schema=State).start({"amount": 40})
    question = await asyncio.wait_for(handle.question(), 10)
    assert question.is_open
    assert handle.answer("no") is False
    assert not question.is_open
    assert (await handle)["approved"] is False


@pytest.mark.asyncio
async def test_a_view_is_told_of_questions_and_answers_from_another_thread(single: Any) -> None:
    told: list[tuple[str, str]] = []
    forms: list[dict[str, Any]] = []

    def watch(question: Question, change: str) -> None:
        told.append((question.text, change))
        if change == "asked":
            forms.append(question.to_wire())
            threading.Thread(target=question.answer, args=({"approve": True, "reason": "old customer"},)).start()

    detach = watch_questions(watch)
    node = HumanInput(question="Well?", answer_type=Decision, key="decision", default=Decision(approve=False))
    state = await asyncio.wait_for(single(node, schema=dict).run({}), 10)
    detach()
    assert state["decision"] == Decision(approve=True, reason="old customer")
    assert told == [("Well?", "asked"), ("Well?", "answered")]
    assert forms[0]["schema"]["properties"].keys() == {"approve", "reason"}
    assert forms[0]["default"] == {"approve": False, "reason": ""}


@pytest.mark.asyncio
async def test_question_and_answer_enter_the_stream(single: Any, listen: Any) -> None:
    graph = single(HumanInput(**APPROVE, ask=lambda question: True), schema=State, name="boss")
    chunks = listen(graph)
    await graph.run({"amount": 1})
    assert [(chunk.node, chunk.payload["type"]) for chunk in chunks] == [("boss", "question"), ("boss", "answer")]
    assert chunks[0].payload["content"] == "? Refund 1 €?\n"
    assert chunks[0].payload["schema"] == {"type": "boolean"}


@pytest.mark.asyncio
async def test_an_answer_that_does_not_fit_is_refused_and_the_node_waits_on(single: Any) -> None:
    node = HumanInput(question="Which?", answer_type=Literal["red", "blue"])
    handle = single(node, schema=dict).start({})
    await asyncio.wait_for(handle.question(), 10)
    with pytest.raises(AnswerRefused, match="'red' or 'blue'") as caught:
        handle.answer("green")
    assert "still open" in caught.value.fix
    handle.answer("blue")
    assert (await handle)["answer"] == "blue"


@pytest.mark.asyncio
async def test_what_a_function_answers_is_checked_too(single: Any) -> None:
    graph = single(HumanInput(**APPROVE, ask=lambda question: "perhaps"), schema=State)
    with pytest.raises(NodeError, match="perhaps") as caught:
        await graph.run({"amount": 1})
    assert isinstance(caught.value.__cause__, AnswerRefused)
    assert "question '" in caught.value.where
    assert "function" in caught.value.fix  # nobody is asked again
    assert open_questions() == []


@pytest.mark.asyncio
async def test_other_branches_run_on_while_a_node_waits() -> None:
    other_done = asyncio.Event()

    async def other(state: Any) -> None:
        other_done.set()

    builder = GraphBuilder(state_schema=dict)
    builder.add_node("fork", lambda state: None)
    builder.add_node("person", HumanInput(question="Go on?"))
    builder.add_node("other", other)
    builder.set_entry_point("fork")
    builder.add_edge("fork", "person")
    builder.add_edge("fork", "other")
    handle = builder.build().start({})
    await asyncio.wait_for(other_done.wait(), 10)
    assert not handle.done
    await asyncio.wait_for(handle.question(), 10)
    handle.answer("yes")
    assert (await handle)["answer"] == "yes"


@pytest.mark.asyncio
async def test_two_runs_keep_their_questions_apart(single: Any) -> None:
    graph = single(HumanInput(question=lambda state: state["name"]), schema=dict)
    first, second = graph.start({"name": "a"}), graph.start({"name": "b"})
    for handle in (first, second):
        await asyncio.wait_for(handle.question(), 10)
    with pytest.raises(NoQuestion, match="2 questions"):
        answer("whose?")
    second.answer("2")
    first.answer("1")
    assert [(await handle)["answer"] for handle in (first, second)] == ["1", "2"]


@pytest.mark.asyncio
async def test_of_two_questions_of_a_run_the_node_says_which() -> None:
    builder = GraphBuilder(state_schema=dict)
    builder.add_node("fork", lambda state: None)
    builder.set_entry_point("fork")
    for name in ("left", "right"):
        builder.add_node(name, HumanInput(question=f"{name}?", key=name))
        builder.add_edge("fork", name)
    handle = builder.build().start({})
    both_asked = asyncio.Event()
    detach = watch_questions(lambda question, change: both_asked.set() if len(open_questions()) == 2 else None)
    if len(open_questions()) < 2:
        await asyncio.wait_for(both_asked.wait(), 10)
    detach()
    handle.answer("L", node="left")
    handle.answer("R", node="right")
    state = await handle
    assert (state["left"], state["right"]) == ("L", "R")


@pytest.mark.asyncio
async def test_stopping_or_timing_out_withdraws_the_question(single: Any) -> None:
    changes: list[str] = []
    detach = watch_questions(lambda question, change: changes.append(change))
    handle = single(HumanInput(question="Anybody?"), schema=dict).start({})
    question = await asyncio.wait_for(handle.question(), 10)
    handle.stop()
    assert await handle is None
    with pytest.raises(NoQuestion, match="closed"):
        question.answer("too late")
    with pytest.raises(NodeTimeout):
        await single(HumanInput(question="Quick?"), schema=dict, timeout=0.05).run({})
    detach()
    assert changes == ["asked", "withdrawn"] * 2
    assert open_questions() == []


@pytest.mark.asyncio
async def test_a_run_that_ends_without_asking_has_no_question(single: Any) -> None:
    handle = single(lambda state: None, schema=dict).start({})
    assert await asyncio.wait_for(handle.question(), 10) is None
    with pytest.raises(NoQuestion, match="No question is open"):
        handle.answer("to nobody")


@pytest.mark.asyncio
async def test_any_async_node_may_ask_and_get_the_declared_type(single: Any) -> None:
    async def approve(state: Any) -> dict[str, Any]:
        return {"count": await ask("How many?", int, via=lambda question: "3")}

    assert (await single(approve, schema=dict).run({}))["count"] == 3


@pytest.mark.asyncio
async def test_a_text_answer_becomes_the_users_message(single: Any) -> None:
    node = HumanInput(question="What else?", messages_key="messages", key="said", ask=lambda question: "Thanks!")
    [message] = (await single(node, schema=Talk).run({}))["messages"]
    assert (message.role, message.content, message.node_name) == ("user", "Thanks!", "node")


@pytest.mark.asyncio
async def test_a_watcher_that_raises_is_dropped_and_the_run_goes_on(single: Any) -> None:
    calls = []

    def broken(question: Question, change: str) -> None:
        calls.append(change)
        raise RuntimeError("no view")

    watch_questions(broken)
    state = await single(HumanInput(question="?", ask=lambda question: "x"), schema=dict).run({})
    assert state["answer"] == "x"
    assert calls == ["asked"]


def test_a_type_that_cannot_be_checked_is_refused_when_the_node_is_made() -> None:
    class Unknown:
        """Pydantic can't check it."""

    with pytest.raises(GraphError, match="can be checked"):
        HumanInput(question="?", answer_type=Unknown)
