"""Checks of parsed data, in layers: fields, rules, safety, schema."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

from evonb.parsing.casting import cast
from evonb.parsing.key_value import lower_snake
from evonb.parsing.safety import safety_checks
from evonb.parsing.schema import FieldSchema, ParseTrace, ValidationResult, ValidationStatus

__all__ = ["OutputValidator", "ValidationRule", "build_answer_validator"]


@dataclass
class ValidationRule:
    """A check of the caller's own.

    Attributes:
        name: What it is called in the trace.
        predicate: True for good data. One that raises counts as FAILED, whatever the severity.
        message: What to say when the data isn't good.
        field: The key whose value the predicate gets; None gives it the whole data.
        severity: The status of a check that isn't passed.
    """

    name: str
    predicate: Callable[[Any], bool]
    message: str
    field: str | None = None
    severity: ValidationStatus = ValidationStatus.FAILED

    def check(self, data: Any) -> ValidationResult:
        """Apply the rule. Never raises."""
        value = _get(data, self.field) if self.field else data
        try:
            good = bool(self.predicate(value))
        except Exception as error:
            message = f"{self.name}: the rule itself raised {type(error).__name__}: {error}"
            return ValidationResult(ValidationStatus.FAILED, self.field, message, value)
        if good:
            return ValidationResult(ValidationStatus.PASSED, self.field, self.name, value)
        return ValidationResult(self.severity, self.field, f"{self.name}: {self.message}", value)


class OutputValidator:
    """Runs all layers and gathers every finding; nothing stops at the first.

    Args:
        fields: Declared fields: each must be there and among its choices.
        rules: Rules of the caller's own.
        pydantic_model: A schema that the data must fit.
        enable_safety: Look for secrets, personal data and injected orders in the text; findings are warnings.
    """

    def __init__(
        self,
        fields: Sequence[FieldSchema] | None = None,
        rules: Sequence[ValidationRule] | None = None,
        pydantic_model: Any = None,
        enable_safety: bool = True,
    ) -> None:
        self.fields = list(fields or ())
        self.rules = list(rules or ())
        self.pydantic_model = pydantic_model
        self.enable_safety = enable_safety

    def validate(self, data: Any, raw_text: str = "", trace: ParseTrace | None = None) -> list[ValidationResult]:
        """Every check with its result, in the order of the layers; also appended to `trace`."""
        checks = [field.validate_value(_field_value(data, field)) for field in self.fields]
        checks += [rule.check(data) for rule in self.rules]
        if self.enable_safety:
            checks += safety_checks(raw_text or (data if isinstance(data, str) else str(data)))
        if self.pydantic_model is not None:
            failed = cast(data, self.pydantic_model)[1]
            checks += failed or [
                ValidationResult(ValidationStatus.PASSED, message=f"fits {self.pydantic_model.__name__}")
            ]
        if trace is not None:
            trace.validations += checks
        return checks

    def is_valid(self, data: Any, raw_text: str = "") -> bool:
        """Whether no check fails; warnings don't count."""
        return not self.get_failures(data, raw_text)

    def get_failures(self, data: Any, raw_text: str = "") -> list[ValidationResult]:
        """The checks that fail."""
        return [check for check in self.validate(data, raw_text) if check.status is ValidationStatus.FAILED]


def build_answer_validator(enable_safety: bool = True) -> OutputValidator:
    """A validator of answers: the answer must be there and not blank; a confidence outside 0 to 1 is a warning."""
    rules = [
        ValidationRule(
            "answer", lambda value: isinstance(value, str) and bool(value.strip()), "the answer is blank", "answer"
        ),
        ValidationRule(
            "confidence", _is_confidence, "the confidence isn't from 0 to 1", "confidence", ValidationStatus.WARNING
        ),
    ]
    return OutputValidator(rules=rules, enable_safety=enable_safety)


def _is_confidence(value: Any) -> bool:
    return value is None or (isinstance(value, (int, float)) and not isinstance(value, bool) and 0 <= value <= 1)


def _get(data: Any, key: str) -> Any:
    if isinstance(data, dict):
        return data.get(key)
    return getattr(data, key, None)


def _field_value(data: Any, field: FieldSchema) -> Any:
    """The value of a field: by its name, else by another of its names, blind to case and blanks."""
    if _get(data, field.name) is not None or not isinstance(data, dict):
        return _get(data, field.name)
    names = {lower_snake(name) for name in field.all_names}
    return next((value for key, value in data.items() if lower_snake(str(key)) in names), None)
