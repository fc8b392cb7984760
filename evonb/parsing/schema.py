"""The documented result types: formats, modes, checks, the trace of a parse and its result.

Nothing here parses. The four answer-shaped schemas live in `models`.
"""

from __future__ import annotations

import time
from dataclasses import dataclass, field
from enum import Enum, auto
from typing import Any, ClassVar

__all__ = [
    "FieldSchema",
    "FixStrategy",
    "OutputFormat",
    "ParseMode",
    "ParseResult",
    "ParseTrace",
    "Span",
    "ValidationResult",
    "ValidationStatus",
]


class OutputFormat(Enum):
    """What a reply is written in."""

    JSON = "json"
    YAML = "yaml"
    CSV = "csv"
    MARKDOWN_TABLE = "markdown_table"
    NUMBERED_LIST = "numbered_list"
    BULLETED_LIST = "bulleted_list"
    KEY_VALUE = "key_value"
    XML = "xml"
    TOOL_CALL = "tool_call"
    PLAIN_TEXT = "plain_text"
    MIXED = "mixed"
    UNKNOWN = "unknown"


class ParseMode(Enum):
    """How much a parse may do to a reply before it gives up."""

    STRICT = "strict"
    """Extraction and repairs that lose and invent nothing; any failed check raises."""
    LENIENT = "lenient"
    """Everything that can be read is read; what was guessed is in the trace."""
    SEMANTIC = "semantic"
    """A model reads the reply first; what it can't read is parsed as in LENIENT."""
    TOOL_CALL = "tool_call"
    """The reply is a tool call or a failure."""


class ValidationStatus(Enum):
    """How one check ended."""

    PASSED = auto()
    FAILED = auto()
    WARNING = auto()
    SKIPPED = auto()


class FixStrategy(Enum):
    """What made an unreadable reply readable."""

    REGEX_REPAIR = "regex_repair"
    LLM_REFORMAT = "llm_reformat"
    FIELD_INJECTION = "field_injection"
    FALLBACK_PARSE = "fallback_parse"
    NONE = "none"


@dataclass
class ValidationResult:
    """One check: what was looked at and how it ended."""

    status: ValidationStatus
    field: str | None = None
    message: str = ""
    value: Any = None

    @property
    def passed(self) -> bool:
        """Whether the check passed; a warning or a skipped check didn't."""
        return self.status is ValidationStatus.PASSED

    def __repr__(self) -> str:
        return f"ValidationResult({self.status.name}, field={self.field!r}, msg={self.message!r})"


@dataclass(frozen=True)
class Span:
    """A stretch of the reply and what it was taken for.

    Attributes:
        start: Its first character in the raw text.
        end: One after its last.
        kind: `data`, `reasoning`, `token`, `fence` or `prose`.
        format: The format that `data` was read as, else empty.
    """

    start: int
    end: int
    kind: str
    format: str = ""


@dataclass
class ParseTrace:
    """The audit trail of one parse; every stage appends to it.

    Attributes:
        spans: The whole reply, cut into what was used and what wasn't: in order, without gap or overlap.
        repairs: What was mended or guessed, in words, in the order of the text.
        steps: The stages that ran, each with its finding.
    """

    raw_input: str
    detected_format: OutputFormat = OutputFormat.UNKNOWN
    parse_mode: ParseMode = ParseMode.LENIENT
    fix_applied: FixStrategy = FixStrategy.NONE
    retries: int = 0
    validations: list[ValidationResult] = field(default_factory=list)
    errors: list[str] = field(default_factory=list)
    warnings: list[str] = field(default_factory=list)
    duration_ms: float = 0.0
    timestamp: float = field(default_factory=time.time)
    success: bool = False
    spans: list[Span] = field(default_factory=list)
    repairs: list[str] = field(default_factory=list)
    steps: list[tuple[str, str]] = field(default_factory=list)

    def add_error(self, msg: str) -> None:
        """Append to `errors`."""
        self.errors.append(msg)

    def add_warning(self, msg: str) -> None:
        """Append to `warnings`."""
        self.warnings.append(msg)

    def add_validation(self, result: ValidationResult) -> None:
        """Append to `validations`."""
        self.validations.append(result)

    def add_step(self, stage: str, finding: str) -> None:
        """Append to `steps`."""
        self.steps.append((stage, finding))

    def summary(self) -> dict[str, Any]:
        """The trace in short, as plain values: the shape to log."""
        return {
            "success": self.success,
            "detected_format": self.detected_format.value,
            "parse_mode": self.parse_mode.value,
            "fix_applied": self.fix_applied.value,
            "retries": self.retries,
            "errors": self.errors,
            "warnings": self.warnings,
            "validation_passed": sum(check.passed for check in self.validations),
            "validation_failed": sum(check.status is ValidationStatus.FAILED for check in self.validations),
            "duration_ms": round(self.duration_ms, 2),
        }


@dataclass(repr=False)
class ParseResult:
    """What a parse gave: the value, and how it was found.

    In a notebook it shows the reply with its spans, the repairs and the checks.
    """

    data: Any
    schema_type: type | None = None
    trace: ParseTrace | None = None
    raw: str = ""

    @property
    def ok(self) -> bool:
        """Whether there is data; an empty list, 0, False and "" are data."""
        return self.data is not None

    def as_typed(self, schema_cls: type) -> Any:
        """The data as an instance of `schema_cls`.

        Raises:
            TypeError: The data is neither such an instance nor a dict to build one from.
        """
        if isinstance(self.data, schema_cls):
            return self.data
        if isinstance(self.data, dict):
            return schema_cls(**self.data)
        raise TypeError(f"Cannot cast {type(self.data)} to {schema_cls}")

    def __repr__(self) -> str:
        return f"ParseResult(ok={self.ok}, type={type(self.data).__name__})"

    def _repr_mimebundle_(self, include: Any = None, exclude: Any = None) -> dict[str, str]:
        from evonb.parsing.display import mimebundle

        return mimebundle(self)


@dataclass
class FieldSchema:
    """One field that a reply should have.

    Raises:
        ValueError: `dtype` isn't one of `VALID_DTYPES`.
    """

    name: str
    description: str
    dtype: str = "str"
    required: bool = True
    aliases: list[str] = field(default_factory=list)
    default: Any = None
    choices: list[Any] | None = None

    VALID_DTYPES: ClassVar[frozenset[str]] = frozenset({"str", "int", "float", "bool", "list", "dict"})

    def __post_init__(self) -> None:
        if self.dtype not in self.VALID_DTYPES:
            known = ", ".join(sorted(self.VALID_DTYPES))
            raise ValueError(f"Field {self.name!r} has dtype {self.dtype!r}, expected one of {known}")

    @property
    def all_names(self) -> list[str]:
        """The name, then the aliases."""
        return [self.name, *self.aliases]

    def validate_value(self, value: Any) -> ValidationResult:
        """Whether `value` is there and among the choices. Types are the business of the parser."""
        if value is None:
            if self.required:
                return self._result(ValidationStatus.FAILED, f"Required field '{self.name}' is missing", value)
            return self._result(ValidationStatus.SKIPPED, f"Optional field '{self.name}' is absent", value)
        if self.choices is not None and value not in self.choices:
            return self._result(
                ValidationStatus.FAILED, f"Field '{self.name}' is {value!r}, expected one of {self.choices}", value
            )
        return self._result(ValidationStatus.PASSED, "", value)

    def _result(self, status: ValidationStatus, message: str, value: Any) -> ValidationResult:
        return ValidationResult(status, field=self.name, message=message, value=value)
