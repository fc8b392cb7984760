"""Streaming: what nodes and tools put out while they work, and the context that says who put it.

The handler is one per process, so that it lives across notebook cells. Everything that is put into a writer inside
a run also enters the run's stream of events.
"""

from __future__ import annotations

import asyncio
import functools
import inspect
from collections.abc import Awaitable, Callable, Iterator
from contextlib import contextmanager
from contextvars import ContextVar
from typing import Any, Protocol
from uuid import uuid4

from pydantic import BaseModel, ConfigDict

from evonb.errors import GraphError
from evonb.graph.component import BaseComponent
from evonb.graph.near import wrong_kind
from evonb.logger import get_logger

__all__ = [
    "Frame",
    "StreamCtx",
    "StreamWriter",
    "current_ctx",
    "current_frame",
    "get_stream_writer",
    "set_streaming_handler",
    "stream_writer_env",
]

Handler = Callable[[dict[str, Any]], Awaitable[None] | None]
_log = get_logger(__name__)


class StreamCtx(BaseModel):
    """Who is streaming. True when any field is set.

    Attributes:
        node_name: The node that is running.
        call_id: This one execution of it.
        tool_name: The tool that is running inside.
        tool_call_id: This one call of it.
    """

    model_config = ConfigDict(defer_build=True)

    node_name: str | None = None
    call_id: str | None = None
    tool_name: str | None = None
    tool_call_id: str | None = None

    def __bool__(self) -> bool:
        return any((self.node_name, self.call_id, self.tool_name, self.tool_call_id))

    def __repr__(self) -> str:
        fields = ", ".join(f"{key}={value!r}" for key, value in self.__dict__.items() if value is not None)
        return f"StreamCtx({fields})"

    __str__ = __repr__


class Sink(Protocol):
    """What a run is to the code that runs in it."""

    closed: bool

    def chunk(self, frame: Frame, payload: Any) -> None:
        """Note a chunk in the run's stream; from any thread."""

    def note(self, frame: Frame, text: str) -> bool:
        """Note a warning about the running node in the run's stream; gives whether the run has none like it."""

    def deliver(self, message: Awaitable[None]) -> None:
        """See to it that an asynchronous handler's call is awaited, in order, before the run ends."""


class Frame:
    """A context, cheap enough to be made for every node call; `StreamCtx` is made of it when somebody asks."""

    __slots__ = ("_message", "_node", "fields", "path", "run")

    def __init__(
        self, fields: dict[str, Any], run: Sink | None = None, path: tuple[str, ...] = (), node: Any = None
    ) -> None:
        self.fields = fields
        self.run = run
        self.path = path
        self._node = node
        self._message: dict[str, Any] | None = None

    def function(self) -> Any:
        """What the user gave as the node that is running, None outside of one."""
        return getattr(self._node, "function", None)

    def message(self) -> dict[str, Any]:
        """The fields that are set, as a handler gets them. Not to be changed."""
        if self._message is None:
            if "call_id" not in self.fields and "node_name" in self.fields:
                self.fields = {"node_name": self.fields["node_name"], "call_id": uuid4().hex, **self.fields}
            self._message = self.fields
        return self._message


_frame: ContextVar[Frame | None] = ContextVar("evonb_stream", default=None)
enter = _frame.set
leave = _frame.reset
current_frame = _frame.get


def _ignore(message: dict[str, Any]) -> None:
    """The handler until the user sets one."""


_handler: Handler = _ignore


def set_streaming_handler(callback: Handler) -> None:
    """Register the function that gets every streamed message of this process; the last one registered wins.

    It may be asynchronous: its calls are awaited one after the other, and a run ends only after them. A handler that
    raises is logged; the run goes on.

    Args:
        callback: Called with a dict: `payload`, and those fields of the `StreamCtx` that are set.

    Raises:
        GraphError: It can't be called.
    """
    if not callable(callback):
        raise wrong_kind(
            GraphError,
            "A streaming handler is called with each message",
            callback,
            where="streaming",
            fix="set_streaming_handler(print)",
        )
    global _handler
    _handler = callback


def current_ctx() -> StreamCtx:
    """The context of the running code; empty outside of nodes and `stream_writer_env`."""
    frame = _frame.get()
    return StreamCtx() if frame is None else StreamCtx(**frame.message())


@contextmanager
def stream_writer_env(ctx_updates: StreamCtx) -> Iterator[StreamCtx]:
    """Add to the context for a block of code: fields that are set replace those outside, the others stay."""
    if not isinstance(ctx_updates, StreamCtx):
        raise wrong_kind(
            GraphError,
            "stream_writer_env takes a StreamCtx",
            ctx_updates,
            where="streaming",
            fix="stream_writer_env(StreamCtx(node_name=...))",
        )
    outer = _frame.get()
    updates = {key: value for key, value in ctx_updates.__dict__.items() if value is not None}
    fields = {**(outer.message() if outer is not None else {}), **updates}
    frame = Frame(fields, outer.run if outer else None, outer.path if outer else ())
    frame._message = fields  # a call id is added by the engine only
    token = _frame.set(frame)
    try:
        yield StreamCtx(**fields)
    finally:
        _frame.reset(token)


class StreamWriter(BaseComponent):
    """Sends chunks to the streaming handler and into the stream of the run it is used in."""

    def put(self, payload: Any) -> None:
        """Send one chunk; any value will do. Works in any thread that has the node's context."""
        frame = _frame.get()
        if frame is None:
            _call(_handler, {"payload": payload}, None)
            return
        run = frame.run
        if run is not None:
            if run.closed:  # a thread that outlived its run
                return
            run.chunk(frame, payload)
        if _handler is not _ignore:
            _call(_handler, {**(frame._message or frame.message()), "payload": payload}, run)


def _call(handler: Handler, message: dict[str, Any], run: Sink | None) -> None:
    try:
        answer = handler(message)
    except Exception:
        _log.exception("The streaming handler raised; the run goes on")
        return
    if answer is not None and inspect.isawaitable(answer):
        _deliver(answer, run)


def _deliver(answer: Awaitable[None], run: Sink | None) -> None:
    if run is not None:
        run.deliver(answer)
        return
    try:
        loop = asyncio.get_running_loop()
    except RuntimeError:
        asyncio.run(_awaited(answer))
    else:
        task = loop.create_task(_awaited(answer))
        _pending.add(task)
        task.add_done_callback(_pending.discard)


_pending: set[asyncio.Task[None]] = set()


async def _awaited(answer: Awaitable[None]) -> None:
    try:
        await answer
    except Exception:
        _log.exception("The streaming handler raised; the run goes on")


@functools.cache
def get_stream_writer() -> StreamWriter:
    """The writer that everybody shares; it knows who uses it by the context."""
    return StreamWriter()  # on first use: making an instance has pydantic load much that importing needn't
