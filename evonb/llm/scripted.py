"""A chat model whose replies are written down, for lessons and tests that must be the same each time.

It answers as a real client does: whole responses, streamed pieces, tool calls, errors, and time that passes. What
belongs to a wire format or a server doesn't belong here.
"""

from __future__ import annotations

import asyncio
import json
import re
import time
from collections.abc import Callable, Iterator, Mapping, Sequence
from itertools import count
from pathlib import Path
from typing import Any, Self, TypeAlias

from evonb.errors import EvonbError
from evonb.llm.model import ChunkSink, Messages, putter, text_of
from evonb.typing import ChatStreamChunk, ChatUsage, LLMChatResponse

__all__ = ["Reply", "ScriptedModel", "recorded"]

Reply: TypeAlias = str | LLMChatResponse | BaseException
"""One answer: its text, a whole response (tool calls, reasoning), or an error to raise."""

_PIECE = re.compile(r"\s*(?:\w{1,6}|[^\w\s])|\s+")


class ScriptedModel:
    """Answers from a script instead of a network.

    The same requests in the same order get the same responses, ids and usage included. A list is used up in the
    order of the calls; nodes that run side by side make that order uncertain, so give those a function or one model
    each. May be used from several threads and event loops at once.

    Args:
        replies: The answers in order, or a function from the messages to an answer.
        tokens_per_s: How fast it writes; 0 for no waiting at all.
        first_token_s: How long it thinks before the first token, unless `tokens_per_s` is 0.

    Attributes:
        requests: The messages of every call so far, oldest first.

    Example:
        >>> model = ScriptedModel(["Hello!", "Bye."], tokens_per_s=0)
        >>> model.chat_sync("Hi").content, model.chat_sync("I must go").content
        ('Hello!', 'Bye.')
    """

    def __init__(
        self,
        replies: Sequence[Reply] | Callable[[Messages], Reply],
        *,
        tokens_per_s: float = 40.0,
        first_token_s: float = 0.2,
    ) -> None:
        if isinstance(replies, str) or not (callable(replies) or isinstance(replies, Sequence)):
            raise EvonbError(
                f"A script is a list of replies or a function, found {type(replies).__name__}",
                fix='write ScriptedModel(["the only reply"]) or ScriptedModel(lambda messages: "the reply")',
            )
        self._replies = replies if callable(replies) else list(replies)
        self._tokens_per_s = tokens_per_s
        self._first_token_s = first_token_s
        self._numbers = count()  # next() is atomic, so two threads never get one reply
        self.requests: list[list[Any]] = []

    def to_saved(self) -> dict[str, Any]:
        """What a saved graph holds of it: the script and its pace. It begins with the first reply again."""
        replies = self._replies if callable(self._replies) else [_reply_to_saved(each) for each in self._replies]
        return {"replies": replies, "tokens_per_s": self._tokens_per_s, "first_token_s": self._first_token_s}

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """A model with such a script."""
        replies = fields["replies"]
        script = replies if callable(replies) else [_reply_from_saved(each) for each in replies]
        return cls(**{**fields, "replies": script})

    async def chat(
        self, messages: Messages | str, *, stream_writer: ChunkSink | None = None, **_options: Any
    ) -> LLMChatResponse:
        """Answer, piece by piece into `stream_writer`, and whole in the end.

        Args:
            messages: The conversation; a string is one user message.
            stream_writer: Gets a `ChatStreamChunk` for each token, at the pace of `tokens_per_s`: an object with
                `put`, or a function.
            _options: What a real client takes (tools, temperature, ...); a script has no use for them.

        Raises:
            EvonbError: The list of replies is used up.
            BaseException: The script's own error, when the reply is one.
        """
        response, put = self._answer(messages), putter(stream_writer)
        begun = time.monotonic()
        for due_s, chunk in self._timed(response):
            await asyncio.sleep(max(0.0, begun + due_s - time.monotonic()) if due_s else 0)
            put(chunk)
        return response

    def chat_sync(
        self, messages: Messages | str, *, stream_writer: ChunkSink | None = None, **_options: Any
    ) -> LLMChatResponse:
        """As `chat`, for plain functions: blocks the thread while it writes."""
        response, put = self._answer(messages), putter(stream_writer)
        begun = time.monotonic()
        for due_s, chunk in self._timed(response):
            time.sleep(max(0.0, begun + due_s - time.monotonic()))
            put(chunk)
        return response

    def _answer(self, messages: Messages | str) -> LLMChatResponse:
        asked = [messages] if isinstance(messages, str) else list(messages)
        number = next(self._numbers)
        self.requests.append(asked)
        reply = self._replies(asked) if callable(self._replies) else self._nth(self._replies, number)
        if isinstance(reply, BaseException):
            raise reply
        response = _response(reply)
        return response.model_copy(
            update={
                "id": response.id or f"scripted-{number + 1}",
                "usage": response.usage or self._usage(asked, response),
            }
        )

    @staticmethod
    def _nth(replies: Sequence[Reply], number: int) -> Reply:
        if number < len(replies):
            return replies[number]
        raise EvonbError(
            f"The script has {len(replies)} {'reply' if len(replies) == 1 else 'replies'} "
            f"and this is request {number + 1}",
            where="ScriptedModel",
            fix="add a reply to its list, or give it a function that can answer any number of requests",
        )

    def _usage(self, asked: Messages, response: LLMChatResponse) -> ChatUsage:
        read = sum(len(_pieces(text_of(message))) for message in asked)
        wrote = len(_pieces(response.reasoning_content or "")) + len(_pieces(response.content))
        return ChatUsage(
            prompt_tokens=read,
            completion_tokens=wrote,
            total_tokens=read + wrote,
            generation_time=self._due_s(wrote - 1) if wrote else 0.0,
        )

    def _due_s(self, token: int) -> float:
        return self._first_token_s + token / self._tokens_per_s if self._tokens_per_s > 0 else 0.0

    def _timed(self, response: LLMChatResponse) -> Iterator[tuple[float, ChatStreamChunk]]:
        numbers = count()
        for piece in _pieces(response.reasoning_content or ""):
            yield self._due_s(next(numbers)), ChatStreamChunk(reasoning_content=piece)
        for piece in _pieces(response.content):
            yield self._due_s(next(numbers)), ChatStreamChunk(content=piece)


def _response(reply: Any) -> LLMChatResponse:
    """What a reply of the script means; an error of its own for one that means nothing."""
    if isinstance(reply, LLMChatResponse):
        return reply
    if isinstance(reply, str):
        return LLMChatResponse(content=reply)
    raise EvonbError(
        "A reply of a script is a text, an LLMChatResponse or an exception, "
        f"found {type(reply).__name__}: {reply!s:.80}",
        where="ScriptedModel",
        fix='write "the reply", or LLMChatResponse(content="", tool_calls=[ToolCall(...)]) for tool calls',
    )


def recorded(path: str | Path) -> Callable[[Messages], Reply]:
    """A script from a file of recorded replies, for `ScriptedModel`.

    The file has one JSON object a line: `when`, texts that must all occur in the conversation, and `reply`, the
    text to answer or a whole response as an object. The first line that fits answers, however often it is asked.

    Raises:
        EvonbError: A line can't be read; or, when asked, no line fits.
    """
    lines = enumerate(Path(path).read_text(encoding="utf-8").splitlines(), 1)
    records = [_record(line, where=f"{path}, line {number}") for number, line in lines if line.strip()]

    def answer(messages: Messages) -> Reply:
        conversation = "\n".join(map(text_of, messages))
        for when, reply in records:
            if all(text in conversation for text in when):
                return reply
        raise EvonbError(
            f"No recorded reply fits the request {conversation[:200]!r}",
            where=str(path),
            fix='add a line {"when": ["a text of the request"], "reply": "..."}',
        )

    return answer


def _record(line: str, where: str) -> tuple[list[str], Reply]:
    try:
        raw = json.loads(line)
        when, reply = raw["when"], raw["reply"]
        if not all(isinstance(text, str) for text in when):
            raise TypeError("'when' holds something that isn't text")
        return [when] if isinstance(when, str) else list(when), (
            reply if isinstance(reply, str) else LLMChatResponse.model_validate(reply)
        )
    except (ValueError, KeyError, TypeError) as error:
        raise EvonbError(
            f"A recorded reply can't be read: {type(error).__name__}: {error}",
            where=where,
            fix='write {"when": ["a text of the request"], "reply": "the answer"}',
        ) from error


def _reply_to_saved(reply: Reply) -> Any:
    if not isinstance(reply, BaseException):
        return reply
    return {"error": type(reply), "args": list(reply.args), "about": dict(vars(reply))}


def _reply_from_saved(saved: Any) -> Reply:
    if not isinstance(saved, Mapping):
        return saved  # type: ignore[no-any-return]
    kind: type[BaseException] = saved["error"]
    error = kind.__new__(kind, *saved["args"])
    error.args = tuple(saved["args"])
    vars(error).update(saved["about"])
    return error


def _pieces(text: str) -> list[str]:
    """Token-like pieces that together are the text again."""
    return _PIECE.findall(text)
