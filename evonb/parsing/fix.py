"""Makes an unreadable reply readable: by repair, by defaults, by rewriting key lines, and at last by a model."""

from __future__ import annotations

import json
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from evonb.parsing.clean import clean
from evonb.parsing.failure import Unreadable
from evonb.parsing.key_value import read_key_value
from evonb.parsing.schema import FixStrategy, OutputFormat
from evonb.parsing.structure import read_as

__all__ = ["LlmFunction", "OutputFixer", "build_answer_fixer", "graceful_fallback"]

LlmFunction = Callable[[str], str]
"""Takes a prompt, gives a model's reply. May raise."""


class OutputFixer:
    """Tries the strategies in order and says which one worked.

    Args:
        required_fields: Keys that an object must have.
        field_defaults: Values for those that are missing.
        llm_fn: A model, asked only when nothing else works.
    """

    def __init__(
        self,
        required_fields: Sequence[str] | None = None,
        field_defaults: Mapping[str, Any] | None = None,
        llm_fn: LlmFunction | None = None,
    ) -> None:
        self.required_fields = list(required_fields or ())
        self.field_defaults = dict(field_defaults or {})
        self.llm_fn = llm_fn
        self.last_error = ""

    def fix(self, text: str, expected_format: OutputFormat = OutputFormat.JSON) -> tuple[str, FixStrategy]:
        """A text that reads as `expected_format`, and how it came about; the text itself and NONE when nothing helps.

        Never raises: what a model raised is kept in `last_error`.
        """
        self.last_error = ""
        return self._repair(text, expected_format) or self.fix_unreadable(text, expected_format)

    def fix_unreadable(
        self, text: str, expected_format: OutputFormat = OutputFormat.JSON, *, local: bool = True
    ) -> tuple[str, FixStrategy]:
        """As `fix`, for a text that the readers have already tried in vain.

        Args:
            text: The reply.
            expected_format: What it should be.
            local: Rewrite lines of keys, too; else only the model is asked.
        """
        self.last_error = ""
        fixed = self._rewrite(text, expected_format) if local else None
        return fixed or self._ask(text, expected_format) or (text, FixStrategy.NONE)

    def fix_dict(self, data: dict[str, Any]) -> tuple[dict[str, Any], FixStrategy]:
        """The data with defaults for missing required fields; the argument isn't changed."""
        missing = {
            name: self.field_defaults[name]
            for name in self.required_fields
            if data.get(name) is None and name in self.field_defaults
        }
        return ({**data, **missing}, FixStrategy.FIELD_INJECTION) if missing else (data, FixStrategy.NONE)

    def _repair(self, text: str, kind: OutputFormat) -> tuple[str, FixStrategy] | None:
        if kind is not OutputFormat.JSON:
            return None
        try:
            value = read_as(clean(text).text, kind)[0].value
        except Unreadable:
            return None
        if isinstance(value, dict):
            value, strategy = self.fix_dict(value)
            if strategy is not FixStrategy.NONE:
                return _dumps(value), strategy
        return _dumps(value), FixStrategy.REGEX_REPAIR

    def _rewrite(self, text: str, kind: OutputFormat) -> tuple[str, FixStrategy] | None:
        if kind is not OutputFormat.JSON:
            return None
        try:
            value = read_key_value(clean(text).text, self.required_fields).value
        except Unreadable:
            return None
        return _dumps(self.fix_dict(value)[0]), FixStrategy.FALLBACK_PARSE

    def _ask(self, text: str, kind: OutputFormat) -> tuple[str, FixStrategy] | None:
        if self.llm_fn is None:
            return None
        try:
            reply = self.llm_fn(_reformat_prompt(text, kind, self.required_fields))
            read_as(clean(reply).text, kind)
        except Unreadable as error:
            self.last_error = f"the model's reply can't be read either: {error}"
            return None
        except Exception as error:
            self.last_error = f"the model failed: {type(error).__name__}: {error}"
            return None
        return reply, FixStrategy.LLM_REFORMAT


def build_answer_fixer(llm_fn: LlmFunction | None = None) -> OutputFixer:
    """A fixer of answers: requires `answer`; defaults are no text, no sources and a confidence of 0.5."""
    defaults = {"answer": "", "sources": [], "confidence": 0.5}
    return OutputFixer(["answer", "sources", "confidence"], defaults, llm_fn)


def graceful_fallback(raw_text: str, query: str = "") -> dict[str, Any]:
    """A dict in the shape of an answer that holds the reply unparsed and says so: confidence 0, `_parse_error` True."""
    return {
        "answer": raw_text.strip(),
        "sources": [],
        "confidence": 0.0,
        "reasoning": None,
        "query": query,
        "_parse_error": True,
    }


def _reformat_prompt(text: str, kind: OutputFormat, fields: Sequence[str]) -> str:
    keys = f" with the keys {', '.join(fields)}" if fields else ""
    return f"Rewrite the following reply as valid {kind.value}{keys}. Give nothing else.\n\n{text}"


def _dumps(value: Any) -> str:
    return json.dumps(value, ensure_ascii=False)
