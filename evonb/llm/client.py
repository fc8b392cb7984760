"""`ChatClient`: any OpenAI-compatible chat server, by address.

Thin: `wire` makes the request, `reader` reads the answer, `connection` talks to the server.
"""

from __future__ import annotations

from collections.abc import AsyncGenerator, Generator, Iterable, Mapping
from typing import Any, Self

from pydantic import BaseModel

from evonb._secrets import FromEnv, check_no_secrets
from evonb._unicode import encodable
from evonb.errors import EvonbError
from evonb.llm.assemble import INLINE, REASONING_FIELDS
from evonb.llm.connection import Connection
from evonb.llm.failures import ModelError
from evonb.llm.model import ChunkSink, Messages, putter
from evonb.llm.reader import ReplyReader, checked
from evonb.llm.served import Served
from evonb.llm.stream import ChatStream, SyncChatStream
from evonb.llm.thinking import ThinkTags
from evonb.llm.wire import SendReasoning, response_format, to_wire, tools_to_wire
from evonb.typing import ChatStreamChunk, LLMChatResponse

__all__ = ["ChatClient"]


class ChatClient(Served):
    """A chat model behind an OpenAI-compatible server.

    May be used from several threads and event loops at once. Needs the package `openai` (extra `llm`), which loads
    with the first request. Requests are repeated after 429, 5xx, time-outs and lost connections; a reply that has
    begun is never asked for twice: when it breaks off, the error carries what had arrived.

    Args:
        model: The model's name on the server.
        base_url: The server's address, usually ending in /v1; None for OPENAI_BASE_URL, or OpenAI itself.
        api_key: None for OPENAI_API_KEY, which is sent to OpenAI and to OPENAI_BASE_URL alone; a server on your own
            machine usually needs none. `FromEnv("NAME")` reads another variable with the first request.
        timeout_s: How long the server may stay silent, at each attempt.
        max_retries: How often a request is repeated, with growing pauses.
        stream: False for servers that can't stream; the pieces then come as one.
        accept_cut_off: Take a reply that ended at a limit of tokens instead of raising; its
            `meta["finish_reason"]` is "length".
        send_reasoning: When the reasoning of earlier answers goes back to the server.
        think_tags: How reasoning is told apart that comes as `<think>...</think>` in the text: "auto" when the reply
            begins with the tag, "open" when the model's template opens it and only `</think>` comes, "never" leaves it.
        headers: Additional headers; values may be `FromEnv("NAME")` too.
        defaults: Options of every request, such as `temperature=0`; those of a call come before them.

    Raises:
        ModelError: No key is known for OpenAI itself, or `base_url` isn't an address.

    Example:
        >>> client = ChatClient("small", base_url="http://127.0.0.1:8080/v1", temperature=0)
        >>> client
        ChatClient('small', base_url='http://127.0.0.1:8080/v1')
    """

    def __init__(
        self,
        model: str,
        *,
        base_url: str | None = None,
        api_key: str | FromEnv | None = None,
        timeout_s: float = 60.0,
        max_retries: int = 2,
        stream: bool = True,
        accept_cut_off: bool = False,
        send_reasoning: SendReasoning = "tool_turns",
        think_tags: ThinkTags = "auto",
        headers: Mapping[str, str | FromEnv] | None = None,
        **defaults: Any,
    ) -> None:
        connection = Connection(
            base_url=base_url, api_key=api_key, timeout_s=timeout_s, max_retries=max_retries, headers=headers
        )
        super().__init__(model, connection)
        self._streams = stream
        self._accept_cut_off = accept_cut_off
        self._send_reasoning = send_reasoning
        self._think_tags = think_tags
        self._defaults = defaults
        self._reasoning_field = REASONING_FIELDS[0]
        self._can_ask_usage = stream

    def to_saved(self) -> dict[str, Any]:
        """What a saved graph holds of it: everything but keys and the values of headers, which come from variables.

        Raises:
            EvonbError: An option or the address holds a secret.
        """
        check_no_secrets(self._defaults, "defaults")
        return {
            "model": self.model,
            **self._connection.to_saved(),
            "stream": self._streams,
            "accept_cut_off": self._accept_cut_off,
            "send_reasoning": self._send_reasoning,
            "think_tags": self._think_tags,
            "defaults": dict(self._defaults),
        }

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """A client of such settings; it connects with the first request."""
        settings = {name: value for name, value in fields.items() if name != "defaults"}
        return cls(**settings, **fields["defaults"])

    @property
    def base_url(self) -> str:
        """The server's address."""
        return self._connection.base_url

    async def chat(
        self,
        messages: Messages | str,
        *,
        tools: Iterable[Any] | None = None,
        schema: type[BaseModel] | Mapping[str, Any] | None = None,
        stream_writer: ChunkSink | None = None,
        **options: Any,
    ) -> LLMChatResponse:
        """Ask the model.

        Args:
            messages: The conversation; a string is one message of the user.
            tools: What the model may call, as `evonb.llm.tools_to_wire` takes it.
            schema: The server makes the model write JSON of this schema.
            stream_writer: Gets a `ChatStreamChunk` for each piece, as it arrives: an object with `put`, or a function.
            options: What the server takes beside these: `temperature`, `max_tokens`, `tool_choice`, ...

        Raises:
            ModelError: There is no usable answer; its class says why, its `partial` has what had arrived.
        """
        put = putter(stream_writer)
        stream = self.stream(messages, tools=tools, schema=schema, **options)
        try:
            async for chunk in stream:
                put(chunk)
        finally:
            await stream.aclose()
        return stream.response

    def chat_sync(
        self,
        messages: Messages | str,
        *,
        tools: Iterable[Any] | None = None,
        schema: type[BaseModel] | Mapping[str, Any] | None = None,
        stream_writer: ChunkSink | None = None,
        **options: Any,
    ) -> LLMChatResponse:
        """As `chat`, for plain functions; blocks the calling thread."""
        put = putter(stream_writer)
        stream = self.stream_sync(messages, tools=tools, schema=schema, **options)
        try:
            for chunk in stream:
                put(chunk)
        finally:
            stream.close()
        return stream.response

    def stream(self, messages: Messages | str, **options: Any) -> ChatStream:
        """Ask the model and read along: iterate over it, then take its `response`.

        The request is sent when the iteration begins. Takes and raises what `chat` does.

        Example:
            async for chunk in (stream := client.stream("Hi")):
                print(chunk.content or "", end="")
            print(stream.response.usage)
        """
        body = self._body(messages, options)
        return ChatStream(lambda stream: self._pieces(body, stream))

    def stream_sync(self, messages: Messages | str, **options: Any) -> SyncChatStream:
        """As `stream`, for plain functions."""
        body = self._body(messages, options)
        return SyncChatStream(lambda stream: self._pieces_sync(body, stream))

    def _body(self, messages: Messages | str, options: dict[str, Any]) -> dict[str, Any]:
        """The request, without what decides about streaming."""
        body = {**self._defaults, **options}
        tools, schema = body.pop("tools", None), body.pop("schema", None)
        body["messages"] = to_wire(messages, reasoning=self._send_reasoning, reasoning_field=self._reasoning_field)
        if tools is not None and (rows := tools_to_wire(tools)):
            body["tools"] = rows  # an empty list is refused by some servers
        if schema is not None:
            body["response_format"] = response_format(schema)
        return {"model": self.model, **encodable(body)}

    def _request(self, body: dict[str, Any]) -> dict[str, Any]:
        extra = {name: value for name, value in body.items() if name not in ("model", "messages")}
        extra["stream"] = self._streams
        if self._can_ask_usage:
            extra.setdefault("stream_options", {"include_usage": True})
        return {"model": body["model"], "messages": body["messages"], "extra_body": extra}

    async def _pieces(self, body: dict[str, Any], stream: ChatStream) -> AsyncGenerator[ChatStreamChunk, None]:
        completions = (await self._connection.async_client()).chat.completions
        reader = ReplyReader(self._where, think_tags=self._think_tags)
        while not reader.is_over:
            try:
                async with completions.with_streaming_response.create(**self._request(body)) as reply:
                    async for data in reply.iter_bytes():
                        for chunk in reader.feed(data):
                            yield chunk
                for chunk in reader.end():
                    yield chunk
            except EvonbError:
                raise
            except Exception as error:
                if not self._goes_without_usage(error):
                    raise await self._told(self._failure(reader, error)) from error
        stream.finish(self._finished(reader))

    def _pieces_sync(self, body: dict[str, Any], stream: SyncChatStream) -> Generator[ChatStreamChunk, None, None]:
        completions = self._connection.sync_client().chat.completions
        reader = ReplyReader(self._where, think_tags=self._think_tags)
        while not reader.is_over:
            try:
                with completions.with_streaming_response.create(**self._request(body)) as reply:
                    for data in reply.iter_bytes():
                        yield from reader.feed(data)
                yield from reader.end()
            except EvonbError:
                raise
            except Exception as error:
                if not self._goes_without_usage(error):
                    raise self._told_sync(self._failure(reader, error)) from error
        stream.finish(self._finished(reader))

    def _goes_without_usage(self, error: Exception) -> bool:
        """Whether the server only minds being asked for the usage; it isn't asked again."""
        if self._can_ask_usage and getattr(error, "status_code", 0) in (400, 422) and "stream_options" in str(error):
            self._can_ask_usage = False
            return True
        return False

    def _failure(self, reader: ReplyReader, error: Exception) -> ModelError:
        explained = self._connection.explained(error, self._where)
        return explained or reader.broken(f"{type(error).__name__}: {error}" if str(error) else type(error).__name__)

    def _finished(self, reader: ReplyReader) -> LLMChatResponse:
        response = reader.response()
        field = response.meta.get("reasoning_field")
        if field in (*REASONING_FIELDS, INLINE):
            self._reasoning_field = field  # this server takes it back under the name that it gave it
        return checked(response, self._where, accept_cut_off=self._accept_cut_off)
