"""`RecordingModel`: ask a real model once, replay its answers ever after, without server, key or network.

The file has one JSON object a line, so that people can read it, compare it and keep it under version control.
"""

from __future__ import annotations

import hashlib
import json
import threading
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal, Self, TypeAlias

from pydantic import BaseModel

from evonb._unicode import encodable
from evonb.errors import EvonbError
from evonb.llm.model import ChatModel, ChunkSink, Messages, putter
from evonb.llm.tape import Recording, Tape
from evonb.llm.wire import response_format, to_wire, tools_to_wire
from evonb.typing import ChatStreamChunk, LLMChatResponse

__all__ = ["RecordingMode", "RecordingModel"]

RecordingMode: TypeAlias = Literal["auto", "record", "replay"]


class RecordingModel:
    """Any model, with a memory on disk.

    A request is known by its conversation, tools, schema and options; ids and node names of messages don't count.
    When one request was recorded several times, its answers come in that order, round and round. May be used from
    several threads and event loops at once; each answer is on disk before it is returned.

    Args:
        path: The file; made with the first recording.
        model: The model to ask. Not needed for replay alone.
        mode: "auto" asks for what isn't recorded yet, "record" asks always and adds to the file, "replay" never asks.

    Raises:
        EvonbError: The file can't be read, or recording has no model.

    Example:
        >>> RecordingModel("answers.jsonl")
        RecordingModel('answers.jsonl', mode='replay')
    """

    def __init__(self, path: str | Path, model: ChatModel | None = None, *, mode: RecordingMode | None = None) -> None:
        self.path = Path(path)
        self.mode: RecordingMode = mode or ("replay" if model is None else "auto")
        if model is None and self.mode != "replay":
            raise EvonbError(
                f"Mode {self.mode!r} asks a model, and none was given",
                where=f"RecordingModel({str(path)!r})",
                fix='pass the model: RecordingModel(path, ChatClient(...)), or use mode="replay"',
            )
        self._model = model
        self._tape = Tape(self.path)
        self._lock = threading.Lock()

    def __repr__(self) -> str:
        return f"RecordingModel({str(self.path)!r}, mode={self.mode!r})"

    def to_saved(self) -> dict[str, Any]:
        """What a saved graph holds of it: the file's path as it was given, the model and the mode."""
        return {"path": str(self.path), "model": self._model, "mode": self.mode}

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """A model on that file."""
        return cls(**fields)

    async def chat(
        self, messages: Messages | str, *, stream_writer: ChunkSink | None = None, **options: Any
    ) -> LLMChatResponse:
        """Answer from the file, or ask the model and keep what it says, as the mode has it.

        Raises:
            EvonbError: The mode is "replay" and the request isn't recorded.
        """
        asked = _request(messages, options)
        known = self._known(asked)
        if known is not None:
            return _replayed(known, stream_writer)
        chunks = _Copies(stream_writer)
        response = await self._asked().chat(messages, stream_writer=chunks, **options)
        return self._kept(asked, chunks, response)

    def chat_sync(
        self, messages: Messages | str, *, stream_writer: ChunkSink | None = None, **options: Any
    ) -> LLMChatResponse:
        """As `chat`, for plain functions."""
        asked = _request(messages, options)
        known = self._known(asked)
        if known is not None:
            return _replayed(known, stream_writer)
        chunks = _Copies(stream_writer)
        response = self._asked().chat_sync(messages, stream_writer=chunks, **options)
        return self._kept(asked, chunks, response)

    def _known(self, asked: dict[str, Any]) -> Recording | None:
        if self.mode == "record":
            return None
        with self._lock:
            known = self._tape.next(_key(asked))
        if known is None and self.mode == "replay":
            raise self._unknown(asked)
        return known

    def _asked(self) -> ChatModel:
        assert self._model is not None  # the constructor saw to it
        return self._model

    def _kept(self, asked: dict[str, Any], chunks: _Copies, response: LLMChatResponse) -> LLMChatResponse:
        recording = Recording(key=_key(asked), request=asked, chunks=chunks.seen, response=response)
        with self._lock:
            self._tape.add(recording)
        return response

    def _unknown(self, asked: dict[str, Any]) -> EvonbError:
        last = asked["messages"][-1]["content"] if asked["messages"] else ""
        hint = self._tape.difference(asked)
        return EvonbError(
            f"No answer is recorded for this request, which ends with {str(last)[:120]!r}{hint}",
            where=f"{self.path}, {len(self._tape)} recordings",
            fix='ask a model for it once: RecordingModel(path, model, mode="auto")',
        )


class _Copies:
    """Hands pieces on and keeps a copy."""

    def __init__(self, sink: ChunkSink | None) -> None:
        self._put = putter(sink)
        self.seen: list[ChatStreamChunk] = []

    def put(self, payload: Any, /) -> None:
        self.seen.append(payload)
        self._put(payload)


def _replayed(recording: Recording, sink: ChunkSink | None) -> LLMChatResponse:
    put = putter(sink)
    for chunk in recording.chunks:
        put(chunk)
    return recording.response.model_copy(deep=True)


def _request(messages: Messages | str, options: Mapping[str, Any]) -> dict[str, Any]:
    """What makes a request this request, as plain JSON values."""
    rest = {name: value for name, value in options.items() if value is not None}
    asked: dict[str, Any] = {"messages": to_wire(messages)}
    if tools := rest.pop("tools", None):
        asked["tools"] = tools_to_wire(tools)
    if (schema := rest.pop("schema", None)) is not None:
        asked["schema"] = response_format(schema)
    plain: dict[str, Any] = json.loads(json.dumps({**asked, "options": rest}, default=_plain))
    return encodable(plain)


def _plain(value: Any) -> Any:
    return value.model_dump(mode="json") if isinstance(value, BaseModel) else repr(value)


def _key(asked: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(asked, sort_keys=True).encode()).hexdigest()[:16]
