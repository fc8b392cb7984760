"""The answer-shaped schemas: pydantic models where pydantic is installed, else dataclasses with the same fields."""

from __future__ import annotations

from typing import TYPE_CHECKING

__all__ = ["PYDANTIC_AVAILABLE", "AnswerSchema", "RankedAnswersSchema", "RetrievalResultSchema", "ToolCallSchema"]

if TYPE_CHECKING:
    from evonb.parsing._pydantic_models import AnswerSchema, RankedAnswersSchema, RetrievalResultSchema, ToolCallSchema

    PYDANTIC_AVAILABLE: bool
else:
    try:
        from evonb.parsing._pydantic_models import (
            AnswerSchema,
            RankedAnswersSchema,
            RetrievalResultSchema,
            ToolCallSchema,
        )

        PYDANTIC_AVAILABLE = True
    except ImportError:
        from evonb.parsing._dataclass_models import (
            AnswerSchema,
            RankedAnswersSchema,
            RetrievalResultSchema,
            ToolCallSchema,
        )

        PYDANTIC_AVAILABLE = False
