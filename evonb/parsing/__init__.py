"""Text of language models to checked values, with an audit trace.

    from evonb.parsing import OutputParser
    result = OutputParser().parse(reply)
    result.data, result.trace.summary()

Knows nothing of graphs, models or notebooks. Formats that need a package load it on first use.
"""

from __future__ import annotations

from evonb.parsing.detect import FormatCandidate, FormatDetector
from evonb.parsing.factories import create_answer_parser, create_json_parser, create_tool_call_parser
from evonb.parsing.failure import ParseError
from evonb.parsing.fix import OutputFixer, build_answer_fixer, graceful_fallback
from evonb.parsing.models import (
    PYDANTIC_AVAILABLE,
    AnswerSchema,
    RankedAnswersSchema,
    RetrievalResultSchema,
    ToolCallSchema,
)
from evonb.parsing.parser import OutputParser
from evonb.parsing.retry import RetryHandler, RetryResult
from evonb.parsing.schema import (
    FieldSchema,
    FixStrategy,
    OutputFormat,
    ParseMode,
    ParseResult,
    ParseTrace,
    Span,
    ValidationResult,
    ValidationStatus,
)
from evonb.parsing.validate import OutputValidator, ValidationRule, build_answer_validator

__all__ = [
    "PYDANTIC_AVAILABLE",
    "AnswerSchema",
    "FieldSchema",
    "FixStrategy",
    "FormatCandidate",
    "FormatDetector",
    "OutputFixer",
    "OutputFormat",
    "OutputParser",
    "OutputValidator",
    "ParseError",
    "ParseMode",
    "ParseResult",
    "ParseTrace",
    "RankedAnswersSchema",
    "RetrievalResultSchema",
    "RetryHandler",
    "RetryResult",
    "Span",
    "ToolCallSchema",
    "ValidationResult",
    "ValidationRule",
    "ValidationStatus",
    "build_answer_fixer",
    "build_answer_validator",
    "create_answer_parser",
    "create_json_parser",
    "create_tool_call_parser",
    "graceful_fallback",
]
