"""The answer-shaped schemas as pydantic models. Import them from `evonb.parsing.models`."""

from __future__ import annotations

from typing import Any

from pydantic import BaseModel, ConfigDict, Field, field_validator


class _Schema(BaseModel):
    model_config = ConfigDict(defer_build=True)  # nothing is built until somebody parses


class AnswerSchema(_Schema):
    """An answer with its sources.

    Attributes:
        confidence: From 0 to 1. Numbers outside are clamped and what isn't a number becomes 1.0, so a bad
            confidence never costs the answer; the parser warns about it.
    """

    answer: str
    sources: list[str] = Field(default_factory=list)
    confidence: float = Field(default=1.0, ge=0.0, le=1.0)
    reasoning: str | None = None

    @field_validator("confidence", mode="before")
    @classmethod
    def _clamp_confidence(cls, v: Any) -> float:
        try:
            return max(0.0, min(1.0, float(v)))
        except (TypeError, ValueError):
            return 1.0


class ToolCallSchema(_Schema):
    """A call that a model wants made."""

    tool_name: str
    arguments: dict[str, Any] = Field(default_factory=dict)
    thought: str | None = None


class RetrievalResultSchema(_Schema):
    """One retrieved document or chunk."""

    content: str
    source: str | None = None
    score: float | None = Field(default=None, ge=0.0, le=1.0)
    metadata: dict[str, Any] = Field(default_factory=dict)


class RankedAnswersSchema(_Schema):
    """Several answers and which of them is best."""

    answers: list[AnswerSchema] = Field(min_length=1)
    best_index: int = Field(default=0, ge=0)

    @property
    def best(self) -> AnswerSchema:
        """The best answer.

        Raises:
            IndexError: `best_index` points behind the last answer.
        """
        return self.answers[self.best_index]
