"""Parsers for the usual jobs."""

from __future__ import annotations

from typing import Any

from evonb.parsing.fix import LlmFunction
from evonb.parsing.models import AnswerSchema
from evonb.parsing.parser import OutputParser
from evonb.parsing.schema import OutputFormat, ParseMode

__all__ = ["create_answer_parser", "create_json_parser", "create_tool_call_parser"]


def create_answer_parser(llm_fn: LlmFunction | None = None, max_retries: int = 2, strict: bool = False) -> OutputParser:
    """A parser of answers with sources; gives `AnswerSchema`."""
    return OutputParser(AnswerSchema, mode=_mode(strict), llm_fn=llm_fn, max_retries=max_retries)


def create_json_parser(schema: Any = None, llm_fn: LlmFunction | None = None, strict: bool = False) -> OutputParser:
    """A parser of JSON; gives `schema` if there is one, else plain values."""
    return OutputParser(schema, mode=_mode(strict), expected_format=OutputFormat.JSON, llm_fn=llm_fn)


def create_tool_call_parser(llm_fn: LlmFunction | None = None) -> OutputParser:
    """A parser of tool calls; gives `{tool_name, arguments, thought}`, a list when there are several."""
    return OutputParser(mode=ParseMode.TOOL_CALL, expected_format=OutputFormat.TOOL_CALL, llm_fn=llm_fn)


def _mode(strict: bool) -> ParseMode:
    return ParseMode.STRICT if strict else ParseMode.LENIENT
