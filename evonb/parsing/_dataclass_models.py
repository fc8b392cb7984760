"""The answer-shaped schemas as dataclasses, for when pydantic can't be imported.

They have the same fields and defaults and check nothing. Import them from `evonb.parsing.models`.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass
class AnswerSchema:
    """An answer with its sources."""

    answer: str
    sources: list[str] = field(default_factory=list)
    confidence: float = 1.0
    reasoning: str | None = None


@dataclass
class ToolCallSchema:
    """A call that a model wants made."""

    tool_name: str
    arguments: dict[str, Any] = field(default_factory=dict)
    thought: str | None = None


@dataclass
class RetrievalResultSchema:
    """One retrieved document or chunk."""

    content: str
    source: str | None = None
    score: float | None = None
    metadata: dict[str, Any] = field(default_factory=dict)


@dataclass
class RankedAnswersSchema:
    """Several answers and which of them is best."""

    answers: list[AnswerSchema]
    best_index: int = 0

    @property
    def best(self) -> AnswerSchema:
        """The best answer.

        Raises:
            IndexError: `best_index` points behind the last answer.
        """
        return self.answers[self.best_index]
