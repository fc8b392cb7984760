"""Asks a model again after a reply that couldn't be read, each time in simpler words."""

from __future__ import annotations

import json
import time
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any

from evonb.parsing.casting import required_names
from evonb.parsing.fix import LlmFunction
from evonb.parsing.schema import ParseResult

__all__ = ["RetryHandler", "RetryResult"]

_SHOWN_CHARS = 300


@dataclass
class RetryResult:
    """How a retry ended.

    Attributes:
        success: Whether a reply could be read.
        result: What the parse function gave for it.
        attempts: How often the model was asked.
        last_response: The model's last reply.
        errors: Why each attempt failed, in order.
    """

    success: bool
    result: Any = None
    attempts: int = 0
    last_response: str = ""
    errors: list[str] = field(default_factory=list)


class RetryHandler:
    """Asks up to `max_retries` times and waits `backoff_seconds` times the attempt in between.

    Args:
        llm_fn: The model.
        max_retries: How often to ask.
        backoff_seconds: The wait after the first failed attempt.
        pydantic_schema: A schema whose required fields the example shows.
        required_fields: Keys that the example shows.
        sleep: Waits; tests give their own.
    """

    def __init__(
        self,
        llm_fn: LlmFunction,
        max_retries: int = 3,
        backoff_seconds: float = 0.5,
        pydantic_schema: Any = None,
        required_fields: Sequence[str] | None = None,
        *,
        sleep: Callable[[float], None] = time.sleep,
    ) -> None:
        self.llm_fn = llm_fn
        self.max_retries = max_retries
        self.backoff_seconds = backoff_seconds
        self.pydantic_schema = pydantic_schema
        self.required_fields = list(required_fields or required_names(pydantic_schema))
        self._sleep = sleep

    def run(
        self,
        original_prompt: str,
        parse_fn: Callable[[str], Any],
        format_instructions: str = "",
        last_error: str = "",
        last_response: str = "",
    ) -> RetryResult:
        """Ask until `parse_fn` reads a reply: until it returns something that isn't None and doesn't raise.

        Never raises; what the model or `parse_fn` raised is in `errors`.
        """
        outcome = RetryResult(success=False, last_response=last_response)
        for attempt in range(1, self.max_retries + 1):
            prompt = self._prompt(attempt, original_prompt, format_instructions, last_error, outcome.last_response)
            outcome.attempts = attempt
            try:
                outcome.last_response = self.llm_fn(prompt)
                result = parse_fn(outcome.last_response)
            except Exception as error:
                last_error = f"{type(error).__name__}: {error}"
            else:
                if result.ok if isinstance(result, ParseResult) else result is not None:
                    outcome.success, outcome.result = True, result
                    return outcome
                last_error = "the reply holds no data"
            outcome.errors.append(last_error)
            if attempt < self.max_retries:
                self._sleep(self.backoff_seconds * attempt)
        return outcome

    def _prompt(self, attempt: int, question: str, instructions: str, error: str, response: str) -> str:
        if attempt == 1:
            parts = [
                f"Your last reply couldn't be read: {error}",
                f"It began:\n{response[:_SHOWN_CHARS]}",
                instructions,
                question,
            ]
        elif attempt == 2:
            parts = ["Give JSON only, without any text around it, in this shape:", self._example(), question]
        else:
            keys = ", ".join(self.required_fields)
            parts = [
                f"Answer with one short JSON object{' with the keys ' + keys if keys else ''}.",
                question[:_SHOWN_CHARS],
            ]
        return "\n\n".join(part for part in parts if part)

    def _example(self) -> str:
        return json.dumps(dict.fromkeys(self.required_fields or ["answer"], "..."), ensure_ascii=False)
