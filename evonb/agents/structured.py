"""Asking a model until its reply is the value that was wanted: parse, tell it what is wrong, ask again."""

from __future__ import annotations

from collections.abc import Awaitable, Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evonb.llm.wire import to_message
from evonb.parsing import (
    OutputFormat,
    OutputParser,
    ParseError,
    ParseResult,
    ValidationResult,
    ValidationRule,
    ValidationStatus,
)
from evonb.parsing.json_reader import CLOSED
from evonb.typing import AssistantMessage, LLMChatResponse, UserMessage

__all__ = ["Structured", "ask_until_parsed", "feedback", "is_good", "parser_for", "problem_of"]

Ask = Callable[[Sequence[Any]], Awaitable[LLMChatResponse]]
OnRetry = Callable[[str, int], None]


@dataclass(frozen=True, slots=True)
class Structured:
    """How it went.

    Attributes:
        reply: The last reply of the model.
        result: What was made of it; None for a reply that calls tools.
        attempts: How often the model was asked.
    """

    reply: AssistantMessage
    result: ParseResult | None
    attempts: int


async def ask_until_parsed(
    ask: Ask, messages: Sequence[Any], parser: OutputParser | None, retries: int, on_retry: OnRetry, where: str
) -> Structured:
    """Ask, parse, and ask again with the reason while the reply isn't good. A reply that calls tools is left alone.

    Args:
        ask: Asks the model for one reply to a conversation.
        messages: The conversation.
        parser: Makes the value; None takes any reply.
        retries: How often the model may be asked again.
        on_retry: Told the reason and the number of the attempt that failed.
        where: For the error.

    Raises:
        ParseError: The last reply isn't good either; it has the trace of that reply.
    """
    conversation = list(messages)
    for attempt in range(1, retries + 2):
        response = await ask(conversation)
        reply = to_message(response)
        if parser is None or reply.tool_calls:
            return Structured(reply, None, attempt)
        result = tried(parser, reply.content)
        if response.meta.get("finish_reason") == "length":
            _refuse_cut(result)
        if is_good(result):
            return Structured(reply, result, attempt)
        if attempt <= retries:
            on_retry(problem_of(result), attempt)
            conversation += [reply, feedback(parser, result)]
    raise ParseError(
        f"The model's reply couldn't be used after {retries + 1} attempts: {problem_of(result)}",
        result.trace,
        where=where,
        fix="look at the trace of the error's cause; ask for less, allow more retries, or use constrain=True",
    )


def parser_for(output: Any, where: str) -> OutputParser | None:
    """The parser that a setting means: a parser itself, or one for a class; None for None.

    Raises:
        ParseError: It is neither.
    """
    if output is None or isinstance(output, OutputParser):
        return output
    if isinstance(output, type):
        return OutputParser(output, rules=[] if issubclass(output, list) else [_one(output)])
    raise ParseError(
        f"An output is a class or an OutputParser, found {type(output).__name__}",
        where=where,
        fix="give a pydantic model, a dataclass, a TypedDict, or a parser such as OutputParser(list[Order])",
    )


def _one(output: type) -> ValidationRule:
    """A parser makes a list of a reply with several rows, or with none; a node was asked for one value."""
    name = output.__name__
    return ValidationRule("one value", lambda data: not isinstance(data, list), f"one {name} is wanted, not a list")


def tried(parser: OutputParser, text: Any) -> ParseResult:
    """A parse that never raises: a strict parser's refusal is a result without data."""
    try:
        return parser.parse(text if isinstance(text, str) else None)
    except ParseError as error:
        return ParseResult(None, parser.schema, error.trace, text if isinstance(text, str) else "")


def _refuse_cut(result: ParseResult) -> None:
    """Of a reply that ended at the limit of tokens only whole JSON is taken: 5 may have been the start of 50."""
    trace = result.trace
    if trace is None or (trace.detected_format is OutputFormat.JSON and CLOSED not in trace.repairs):
        return
    cut = ValidationResult(ValidationStatus.FAILED, message="the reply was cut off at the limit of tokens")
    trace.validations.insert(0, cut)
    trace.success = False


def is_good(result: ParseResult) -> bool:
    """Whether there is a value and every check passed."""
    return result.ok and (result.trace is None or result.trace.success)


def problem_of(result: ParseResult) -> str:
    """What is wrong with a reply, in one line; empty when nothing is."""
    if is_good(result):
        return ""
    trace = result.trace
    if trace is None:
        return "nothing could be read"
    failed = [_words(check) for check in trace.validations if check.status is ValidationStatus.FAILED]
    return "; ".join(failed or trace.errors or ["nothing could be read"])


def _words(check: ValidationResult) -> str:
    if not check.field or repr(check.field) in check.message:  # unquoted, a field 'a' is in every sentence
        return check.message or str(check.field)
    return f"{check.field}: {check.message}"


def feedback(parser: OutputParser, result: ParseResult) -> UserMessage:
    """What the model is told about a reply that couldn't be used."""
    return UserMessage(content=f"That reply can't be used: {problem_of(result)}\n\n{parser.get_format_instructions()}")
