"""`AgentNode`: asks a chat model with the conversation of the state, and streams its words onto the picture."""

from __future__ import annotations

import time
from collections.abc import Mapping, Sequence
from typing import Any, Self

from pydantic import Field, PrivateAttr, SkipValidation

from evonb._secrets import check_no_secrets
from evonb.agents import payloads
from evonb.agents.cards import card, model_line, output_line, text_line, tool_lines
from evonb.agents.conversation import Text, messages_of, text_from, value_of, with_system
from evonb.agents.models import check_model, pick_model
from evonb.agents.settings import check_settings
from evonb.agents.structured import ask_until_parsed, parser_for
from evonb.agents.toolbox import as_toolbox, schemas_of
from evonb.graph.nodes import AsyncStreamNode
from evonb.graph.streaming import StreamCtx, StreamWriter, current_ctx, stream_writer_env
from evonb.graph.toolwatch import current_tool_watch
from evonb.llm import EmptyReply, ModelError
from evonb.parsing import OutputParser
from evonb.typing import ChatUsage, LLMChatResponse

__all__ = ["AgentNode"]


class AgentNode(AsyncStreamNode):
    """Asks a chat model with the conversation so far, and appends its reply.

    The model's words enter the stream as they arrive, each tool call with its name and id in the context, and what the
    reply cost. With `output`, the reply is parsed; when that fails the model is told why and asked again, and only the
    good reply enters the conversation. A reply that calls tools isn't parsed: send it to a `ToolNode`.

    Attributes:
        model: A chat model, or a `ModelSet`.
        system: The system prompt, or a function that makes it of the state. It isn't written to the state.
        tools: What the model may call: a registry, tools and functions, or an MCP manager.
        output: What the reply must be: a class, or an `OutputParser`.
        output_key: The state key for that value.
        output_retries: How often the model may be asked again.
        trace_key: A state key for the `ParseResult`, with its trace; None keeps none.
        constrain: Whether the server is asked to let the model write this JSON only; for servers that can.
        messages_key: The state key of the conversation.
        model_key: A state key that holds the id of the model to pick from the set; an empty value picks the default.
        options: Options of every request, such as `{"temperature": 0}`.

    Raises:
        GraphError: The model isn't one.
        ToolError: A tool isn't one.
        ParseError: The output is neither a class nor a parser.
    """

    model: SkipValidation[Any]
    system: SkipValidation[Text] = ""
    tools: SkipValidation[Any] = None
    output: SkipValidation[Any] = None
    output_key: str = "answer"
    output_retries: int = 2
    trace_key: str | None = None
    constrain: bool = False
    messages_key: str = "messages"
    model_key: str | None = None
    options: dict[str, Any] = Field(default_factory=dict)
    _parser: OutputParser | None = PrivateAttr(default=None)

    def __init__(self, **fields: Any) -> None:
        # Before pydantic, which would wrap our errors into its own.
        check_settings(type(self), fields)
        check_model(fields.get("model"), "AgentNode")
        parser = parser_for(fields.get("output"), "AgentNode")
        super().__init__(**{**fields, "tools": as_toolbox(fields.get("tools"))})
        self._parser = parser

    def describe(self) -> str:
        """What its card says: model, system prompt, tools, output."""
        lines = {
            "model": model_line(self.model),
            "system": text_line(self.system),
            "output": output_line(self.output),
            "tools": tool_lines(self.tools),
        }
        return card("Asks a chat model with the conversation.", lines)

    def to_saved(self) -> dict[str, Any]:
        """What a saved graph holds of it: its settings; model and tools say themselves what of them is saved.

        Raises:
            EvonbError: An option is a secret.
        """
        check_no_secrets(self.options, "options")
        return dict(self)

    @classmethod
    def from_saved(cls, fields: Mapping[str, Any]) -> Self:
        """A node of such settings."""
        return cls(**fields)

    async def __call__(self, state: Any, stream_writer: StreamWriter) -> dict[str, Any]:
        """Ask the model once, or until its reply can be parsed.

        Raises:
            StateError: The state has no conversation.
            ModelError: The model gave no usable answer.
            ParseError: No reply could be parsed.
        """
        where = f"node {current_ctx().node_name or type(self).__name__!r}"
        messages = with_system(messages_of(state, self.messages_key, where), self._system(state))
        model = pick_model(self.model, self._model_id(state, where))
        options = await self._request()

        async def ask(conversation: Sequence[Any]) -> LLMChatResponse:
            began = time.perf_counter()
            response = await model.chat(conversation, stream_writer=stream_writer, **options)
            _check_kind(response, type(model).__name__)
            self._tell(response, stream_writer, time.perf_counter() - began)
            return _not_empty(response, where)

        done = await ask_until_parsed(
            ask,
            messages,
            self._parser,
            self.output_retries,
            lambda reason, attempt: stream_writer.put(payloads.retried(reason, attempt)),
            where,
        )
        delta: dict[str, Any] = {self.messages_key: [done.reply]}
        if done.result is not None:
            delta[self.output_key] = done.result.data
            if self.trace_key is not None:
                delta[self.trace_key] = done.result
        return delta

    def _system(self, state: Any) -> str:
        parts = [text_from(self.system, state)]
        if self._parser is not None:
            parts.append(self._parser.get_format_instructions())
        return "\n\n".join(part for part in parts if part)

    def _model_id(self, state: Any, where: str) -> str | None:
        return None if self.model_key is None else value_of(state, self.model_key, where) or None

    async def _request(self) -> dict[str, Any]:
        options = dict(self.options)
        if self.tools is not None:
            options["tools"] = await schemas_of(self.tools)
        if self.constrain and self._parser is not None and self._parser.schema is not None:
            options["schema"] = self._parser.schema
        return options

    def _tell(self, response: LLMChatResponse, writer: StreamWriter, seconds: float) -> None:
        fresh_line = not response.content or response.content.endswith("\n")
        for call in response.tool_calls or ():
            with stream_writer_env(StreamCtx(tool_name=call.function.name, tool_call_id=call.id)):
                writer.put(payloads.asked_for_tool(call, fresh_line=fresh_line))
            fresh_line = True
        writer.put(payloads.used(response.usage, seconds))
        if (watch := current_tool_watch()) is not None:
            usage = response.usage or ChatUsage()
            watch.used(usage.prompt_tokens or 0, usage.completion_tokens or 0, seconds)


def _check_kind(response: object, model: str) -> None:
    if not isinstance(response, LLMChatResponse):
        raise ModelError(
            f"A model answers with an LLMChatResponse, found {type(response).__name__}",
            where=f"{model}.chat",
            fix="return LLMChatResponse(content=...)",
        )


def _not_empty(response: LLMChatResponse, where: str) -> LLMChatResponse:
    if response.content.strip() or response.tool_calls:
        return response
    raise EmptyReply(
        "The model's reply has neither text nor a tool call",
        where=where,
        fix="ask again, raise max_tokens (reasoning may have used them up), or take another model",
        partial=response,
    )
