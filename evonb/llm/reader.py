"""The body of one reply, bytes in, pieces of text out; and the verdict on it when it ends.

Knows streams and whole replies, errors inside them, and ends that aren't. Does no input or output of its own, so
the async and the sync client share it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Iterator, Mapping
from typing import Any

from evonb.llm.assemble import StreamAssembly
from evonb.llm.failures import EmptyReply, ModelUnreachable, ReplyCutOff, RequestRejected, StreamBroken
from evonb.llm.sse import DONE, SseDecoder, payloads_of
from evonb.llm.thinking import ThinkTags
from evonb.typing import ChatStreamChunk, LLMChatResponse

__all__ = ["ReplyReader", "checked"]


class ReplyReader:
    """Reads one reply.

    Args:
        where: The model and the server, for errors.
        think_tags: How `<think>` tags in the text are read.
        clock: Seconds; the time between making the reader and the last byte is the generation time.

    Attributes:
        is_over: The reply was read to its end.
    """

    def __init__(
        self, where: str, *, think_tags: ThinkTags = "auto", clock: Callable[[], float] = time.monotonic
    ) -> None:
        self._where = where
        self._clock = clock
        self._begun_at = clock()
        self._last_at = self._begun_at
        self._assembly = StreamAssembly(think_tags)
        self._decoder = SseDecoder()
        self._head = b""
        self._is_json: bool | None = None
        self._done = False
        self.is_over = False

    def feed(self, data: bytes) -> list[ChatStreamChunk]:
        """Take bytes; the pieces of text that they complete.

        Raises:
            StreamBroken: They report an error or can't be read.
            ModelUnreachable: They are a web page.
        """
        self._last_at = self._clock()
        if self._is_json is None:
            data, self._head = self._head + data, b""
            self._is_json = self._kind(data)
        if self._is_json in (None, True):
            self._head += data  # a whole reply is read when it is whole
            return []
        return self._take(self._decoder.feed(data))

    def end(self) -> list[ChatStreamChunk]:
        """The body is over: the last pieces of text.

        Raises:
            StreamBroken: The reply isn't over.
            RequestRejected: The whole reply is an error.
        """
        pieces = self._whole() if self._is_json else self._take(self._decoder.close())
        if not (self._is_json or self._done or self._assembly.finish_reason):
            raise self.broken("the connection was closed before the reply was complete")
        self.is_over = True
        last = self._assembly.end()
        return pieces if last is None else [*pieces, last]

    def response(self) -> LLMChatResponse:
        """The reply so far, with the time that it took."""
        return self._assembly.response(generation_time=round(self._last_at - self._begun_at, 4))

    def broken(self, why: str) -> StreamBroken:
        """The error of a reply that stopped here, with what had arrived."""
        blank = self._assembly.is_blank
        partial = None if blank else self.response()
        came = "nothing had arrived" if partial is None else f"{_amount(partial)} had arrived"
        return StreamBroken(
            f"The reply broke off: {why}; {came}",
            where=self._where,
            fix="ask again; what had arrived is in the error's 'partial'",
            partial=partial,
        )

    def _kind(self, data: bytes) -> bool | None:
        """Whether the body is JSON rather than a stream; None while only blanks have come."""
        head = data.lstrip(b"\xef\xbb\xbf \t\r\n")
        if head.startswith(b"<"):
            raise ModelUnreachable(
                "A web page answered, not a model server",
                where=self._where,
                fix="check base_url: it usually ends in /v1, such as http://127.0.0.1:8080/v1",
            )
        return head.startswith((b"{", b"[")) if head else None

    def _take(self, events: list[str]) -> list[ChatStreamChunk]:
        pieces = []
        for payload in self._payloads(events):
            if payload == DONE:
                self._done = True
            elif isinstance(payload, Mapping) and payload.get("error"):
                raise self.broken(f"the server reports {_error_text(payload['error'])!r}")
            elif not self._done:
                pieces.append(self._assembly.feed(payload))
        return [piece for piece in pieces if piece is not None]

    def _payloads(self, events: list[str]) -> Iterator[Any]:
        try:
            for event in events:
                yield from payloads_of(event)
        except ValueError as error:
            raise self.broken(f"a chunk isn't JSON ({error})") from error

    def _whole(self) -> list[ChatStreamChunk]:
        try:
            reply = json.loads(self._head)
        except ValueError as error:
            raise self.broken(f"its JSON is incomplete or wrong ({error})") from error
        if not isinstance(reply, Mapping) or reply.get("error") or not reply.get("choices"):
            raise self._rejected(reply)
        piece = self._assembly.feed(reply)
        return [] if piece is None else [piece]

    def _rejected(self, reply: Any) -> RequestRejected:
        error = reply.get("error") if isinstance(reply, Mapping) else None
        said = f"the error {_error_text(error)!r}" if error else "JSON that isn't a chat reply"
        return RequestRejected(
            f"The server answered with {said}",
            where=self._where,
            fix="check the model's name, base_url and the options",
        )


def checked(response: LLMChatResponse, where: str, *, accept_cut_off: bool) -> LLMChatResponse:
    """The response, if it is one that a caller can go on with.

    Raises:
        ReplyCutOff: It ended at a limit of tokens, and that isn't accepted.
        EmptyReply: It has neither text nor a tool call.
    """
    reason = response.meta.get("finish_reason")
    if reason == "length" and not accept_cut_off:
        raise ReplyCutOff(
            f"The reply was cut off at the limit of tokens, after {_amount(response)}",
            where=where,
            fix="raise max_tokens, ask for less, or take what came with accept_cut_off=True",
            partial=response,
        )
    if not (response.content or response.tool_calls):
        raise EmptyReply(_why_empty(response, reason), where=where, fix=_mend_empty(response, reason), partial=response)
    return response


def _why_empty(response: LLMChatResponse, reason: str | None) -> str:
    if response.meta.get("refusal"):
        return f"The model declined to answer: {response.meta['refusal']}"
    if reason == "content_filter":
        return "The server's content filter removed the whole reply"
    if reason == "length":
        wrote = f", after {_amount(response)}" if response.reasoning_content else ""
        return f"The limit of tokens was reached before the answer began{wrote}"
    wrote = f" after {_amount(response)}" if response.reasoning_content else ""
    return f"The model ended its reply without text and without a tool call{wrote}"


def _mend_empty(response: LLMChatResponse, reason: str | None) -> str:
    if reason == "length":
        return "raise max_tokens"
    if response.meta.get("refusal") or reason == "content_filter":
        return "put the request in other words; details are in partial.meta"
    return "ask again, with clearer instructions or another model"


def _amount(response: LLMChatResponse) -> str:
    calls = len(response.tool_calls or ())
    parts = [
        f"{_count(len(response.content), 'character')} of text" if response.content else "",
        f"{_count(len(response.reasoning_content), 'character')} of reasoning" if response.reasoning_content else "",
        _count(calls, "tool call") if calls else "",
    ]
    return ", ".join(part for part in parts if part) or "nothing"


def _count(number: int, noun: str) -> str:
    return f"{number} {noun}{'' if number == 1 else 's'}"


def _error_text(error: Any) -> str:
    message = error.get("message") if isinstance(error, Mapping) else error
    return str(message or error)[:500]
