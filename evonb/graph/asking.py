"""Questions of a run to a person: a node asks and waits, whoever is there answers, from any thread.

A script answers by a function or by the run's handle, a view watches the open questions and shows a form. This module
knows neither; it keeps what is open, checks answers, and refuses those that don't fit while the question stays open.
"""

from __future__ import annotations

import asyncio
import inspect
import threading
from collections.abc import Awaitable, Callable
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any, Literal, TypeAlias
from uuid import uuid4

from pydantic import TypeAdapter, ValidationError

from evonb._typeddicts import for_pydantic
from evonb.errors import EvonbError, StateError
from evonb.graph.events import Detach
from evonb.graph.streaming import current_frame, get_stream_writer
from evonb.logger import get_logger
from evonb.typing import MISSING

__all__ = [
    "AnswerRefused",
    "Change",
    "NoQuestion",
    "Question",
    "answer",
    "ask",
    "next_question",
    "open_questions",
    "watch_questions",
]

_log = get_logger(__name__)
Change: TypeAlias = Literal["asked", "answered", "withdrawn"]
Watcher: TypeAlias = Callable[["Question", Change], object]

_open: dict[str, Question] = {}
_watchers: list[Watcher] = []
_lock = threading.RLock()


class AnswerRefused(StateError):
    """An answer doesn't fit its question, which stays open."""


class NoQuestion(EvonbError, LookupError):
    """No question is open that could be answered, or several are."""


@dataclass(frozen=True, slots=True, eq=False, kw_only=True)
class Question:
    """A question that a node waits on.

    Attributes:
        question_id: Unique.
        text: What is asked.
        run_id: The run; None outside of one.
        path: Names of the sub-graph nodes around the node.
        node: The node that asks.
        schema: JSON schema of the answer: what a form is made of.
        default: What a form may offer; MISSING if nothing.
    """

    question_id: str = field(default_factory=lambda: uuid4().hex)
    text: str
    run_id: str | None
    path: tuple[str, ...] = ()
    node: str | None
    schema: dict[str, Any]
    default: Any = MISSING
    _check: Callable[[Any], Any]
    _settle: Callable[[Any], None]

    @property
    def is_open(self) -> bool:
        """Whether it still waits for its answer."""
        return self.question_id in _open

    def answer(self, value: Any) -> Any:
        """Answer it; from any thread. The first answer that fits counts.

        Returns:
            The value as the node gets it, with the declared type.

        Raises:
            AnswerRefused: The value doesn't fit; the question stays open.
            NoQuestion: It was answered already, or its node waits no more.
        """
        checked = self._check(value)
        with _lock:
            if _open.pop(self.question_id, None) is None:
                raise NoQuestion(f"The question {self.text!r} is closed", where=_place(self), fix="nothing to do")
        _tell(self, "answered")  # before the node goes on, and maybe asks the next question
        self._settle(checked)
        return checked

    def to_wire(self) -> dict[str, Any]:
        """The question as plain JSON, for a view."""
        wire: dict[str, Any] = {
            "question_id": self.question_id,
            "text": self.text,
            "run_id": self.run_id,
            "path": list(self.path),
            "node": self.node,
            "schema": self.schema,
        }
        if self.default is not MISSING:
            wire["default"] = TypeAdapter(Any).dump_python(self.default, mode="json", fallback=repr)
        return wire


async def ask(
    text: str,
    answer_type: Any = str,
    *,
    default: Any = MISSING,
    via: Callable[[Question], Awaitable[Any] | Any] | None = None,
) -> Any:
    """Ask a person, from any async node, and wait for the answer.

    The question and its answer enter the run's stream. Cancelling the node, its time limit and the end of the run
    withdraw the question.

    Args:
        text: What to ask.
        answer_type: What the answer must be: `str`, `bool`, `Literal[...]`, a pydantic model, ...
        default: What a form may offer.
        via: Answers by itself, as a script does: called with the question, awaited if it is async.

    Raises:
        AnswerRefused: What `via` answered doesn't fit.

    Example:
        async def approve(state):
            return {"approved": await ask("Refund 40 €?", bool)}
    """
    loop = asyncio.get_running_loop()
    future: asyncio.Future[Any] = loop.create_future()

    def settle(value: Any) -> None:
        def done() -> None:
            if not future.done():
                future.set_result(value)

        loop.call_soon_threadsafe(done)

    frame = current_frame()
    fields = frame.message() if frame is not None else {}
    adapter = TypeAdapter(for_pydantic(answer_type))
    question = Question(
        text=text,
        run_id=getattr(frame.run, "run_id", None) if frame is not None else None,
        path=frame.path if frame is not None else (),
        node=fields.get("node_name"),
        schema=adapter.json_schema(),
        default=default,
        _check=lambda value: _checked(adapter, value, text),
        _settle=settle,
    )
    return await _answered(question, future, via)


def _answer_for_good(question: Question, value: Any) -> None:
    """Answer for a function that isn't asked again."""
    try:
        question.answer(value)
    except AnswerRefused as refused:
        fix = "have the function that answers return a value of the question's type"
        raise AnswerRefused(refused.what, where=refused.where, fix=fix) from refused.__cause__


async def _answered(question: Question, future: asyncio.Future[Any], via: Callable[[Question], Any] | None) -> Any:
    writer = get_stream_writer()
    answered = {"type": "answer", "question_id": question.question_id}
    writer.put({"type": "question", "content": f"? {question.text}\n", **question.to_wire()})
    with _lock:
        _open[question.question_id] = question
    _tell(question, "asked")
    try:
        if via is not None:
            given = via(question)
            _answer_for_good(question, await given if inspect.isawaitable(given) else given)
        value = await future
    finally:
        with _lock:
            withdrawn = _open.pop(question.question_id, None) is not None
        if withdrawn:
            # The node may go on, as after a time limit of its own: its picture mustn't go on asking.
            writer.put({**answered, "content": "→ not answered\n", "withdrawn": True})
            _tell(question, "withdrawn")
    writer.put({**answered, "content": f"→ {value}\n"})
    return value


def open_questions(run_id: str | None = None, node: str | None = None) -> list[Question]:
    """The questions that wait for an answer, oldest first.

    Args:
        run_id: Only those of this run.
        node: Only those of this node.
    """
    with _lock:
        return [
            each
            for each in _open.values()
            if (run_id is None or each.run_id == run_id) and (node is None or each.node == node)
        ]


def answer(value: Any, *, run_id: str | None = None, node: str | None = None) -> Any:
    """Answer the one question that is open; say which when there are several.

    Raises:
        AnswerRefused: The value doesn't fit; the question stays open.
        NoQuestion: No question is open, or several are.
    """
    found = open_questions(run_id, node)
    if len(found) == 1:
        return found[0].answer(value)
    about = f" of node {node!r}" if node else ""
    if not found:
        waiting = ", ".join(f"{each.text!r}" for each in open_questions(run_id)) or "none"
        raise NoQuestion(
            f"No question{about} is open", where=f"open questions: {waiting}", fix="answer once the node asks"
        )
    raise NoQuestion(
        f"{len(found)} questions{about} are open",
        where=", ".join(f"node {each.node!r} asks {each.text!r}" for each in found),
        fix="name the node, or use question.answer(value) of one in open_questions()",
    )


def watch_questions(watcher: Watcher) -> Detach:
    """Have a function called with every question and what became of it; on the thread where it happens.

    One that raises is dropped and logged.

    Returns:
        A function that detaches it.
    """
    with _lock:
        _watchers.append(watcher)
    return lambda: _unwatch(watcher)


async def next_question(run_id: str) -> Question:
    """The question of this run that is open, or the next one that it asks."""
    loop = asyncio.get_running_loop()
    found: asyncio.Future[Question] = loop.create_future()

    def take(question: Question) -> None:
        if not found.done():
            found.set_result(question)

    def watch(question: Question, change: Change) -> None:
        if question.run_id == run_id and change == "asked":
            loop.call_soon_threadsafe(take, question)

    detach = watch_questions(watch)
    try:
        already = open_questions(run_id)
        return already[0] if already else await found
    finally:
        detach()


def _unwatch(watcher: Watcher) -> None:
    with _lock, suppress(ValueError):
        _watchers.remove(watcher)


def _tell(question: Question, change: Change) -> None:
    with _lock:
        watchers = list(_watchers)
    for watcher in watchers:
        try:
            watcher(question, change)
        except Exception:
            _log.exception("A watcher of questions raised and was dropped; the run goes on")
            _unwatch(watcher)


def _checked(adapter: TypeAdapter[Any], value: Any, text: str) -> Any:
    try:
        return adapter.validate_python(value)
    except ValidationError as error:
        faults = "; ".join(
            f"{'.'.join(map(str, fault['loc'])) or 'answer'}: {fault['msg']}"
            for fault in error.errors(include_url=False)
        )
        raise AnswerRefused(
            f"The answer {value!r:.80} doesn't fit: {faults}",
            where=f"question {text!r}",
            fix="answer again; the question is still open",
        ) from error


def _place(question: Question) -> str:
    return f"node {question.node!r}" if question.node else "a question outside of a node"
