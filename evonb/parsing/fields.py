"""Brings data to the fields that a caller declares: aliases, defaults, types, choices, one check each."""

from __future__ import annotations

import copy
from collections.abc import Sequence
from typing import Any

from evonb.parsing.coerce import NotLossless, coerce
from evonb.parsing.key_value import lower_snake
from evonb.parsing.schema import FieldSchema, ValidationResult, ValidationStatus

Checks = list[ValidationResult]
_MAX_CHECKED_ROWS = 1_000


def known_keys(fields: Sequence[FieldSchema]) -> frozenset[str]:
    """All names and aliases in the form in which keys are compared."""
    return frozenset(lower_snake(name) for field in fields for name in field.all_names)


def coverage(value: Any, known: frozenset[str]) -> int:
    """How many of the known keys a value has: itself, its first rows at best, or inside one wrapping key."""
    if isinstance(value, list):
        return max((coverage(row, known) for row in value[:20] if isinstance(row, dict)), default=0)
    if not isinstance(value, dict):
        return 0
    own = sum(lower_snake(str(key)) in known for key in value)
    if own == 0 and len(value) == 1:
        inner = next(iter(value.values()))
        return coverage(inner, known) if isinstance(inner, (dict, list)) else 0
    return own


def apply_fields(value: Any, fields: Sequence[FieldSchema]) -> tuple[Any, Checks]:
    """The value with its fields in place, and the checks.

    Keys are found by name first, then by alias, blind to case and blanks. A value that can't be turned into its
    type without loss stays as it is and its check is FAILED. Unknown keys stay, with a WARNING.
    """
    known = known_keys(fields)
    value = _fit(_unwrap(value, known), fields, known)
    if isinstance(value, dict):
        return _apply(value, fields)
    if isinstance(value, list) and value and all(isinstance(row, dict) for row in value):
        rows, checks = [], []
        for index, row in enumerate(value):
            applied, found = _apply(row, fields)
            rows.append(applied)
            if index < _MAX_CHECKED_ROWS or any(check.status is ValidationStatus.FAILED for check in found):
                checks += [_in_row(check, index) for check in found]
        return rows, checks
    if isinstance(value, list) and not value:
        return value, []
    names = ", ".join(repr(field.name) for field in fields if field.required)
    message = f"expected an object with {names or 'the fields'}, found {type(value).__name__}"
    return value, [ValidationResult(ValidationStatus.FAILED, message=message, value=value)]


def _unwrap(value: Any, known: frozenset[str]) -> Any:
    """What is inside one wrapping key, when the inside has the fields and the outside hasn't."""
    for _ in range(3):
        if not isinstance(value, dict) or len(value) != 1:
            break
        key, inner = next(iter(value.items()))
        if lower_snake(str(key)) in known or not isinstance(inner, (dict, list)) or not coverage(inner, known):
            break
        value = inner
    return value


def _fit(value: Any, fields: Sequence[FieldSchema], known: frozenset[str]) -> Any:
    """A bare list or scalar goes into the one field that is open for it."""
    if isinstance(value, dict) or coverage(value, known):
        return value
    required = [field for field in fields if field.required] or list(fields)
    if len(required) != 1:
        return value
    dtype = required[0].dtype
    fits = dtype == "list" if isinstance(value, list) else dtype in ("str", "int", "float", "bool")
    return {required[0].name: value} if fits else value


def _apply(data: dict[Any, Any], fields: Sequence[FieldSchema]) -> tuple[dict[Any, Any], Checks]:
    by_key: dict[str, Any] = {}
    for key in data:
        by_key.setdefault(lower_snake(str(key)), key)
    result: dict[Any, Any] = {}
    used: set[Any] = set()
    checks: Checks = []
    for field in fields:
        key = next((by_key[name] for name in map(lower_snake, field.all_names) if name in by_key), None)
        if field.name in data:
            key = field.name
        if key is not None:
            used.add(key)
        found, check = _field(field, data.get(key) if key is not None else None)
        checks.append(check)
        if found is not None or key is not None or not field.required:
            result[field.name] = found
    for key, item in data.items():
        if key in used:
            continue
        names = {lower_snake(name) for field in fields for name in field.all_names}
        if lower_snake(str(key)) in names:
            continue  # the same field under another of its names
        result[key] = item
        checks.append(ValidationResult(ValidationStatus.WARNING, str(key), f"unknown key {str(key)!r}", None))
    return result, checks


def _field(field: FieldSchema, value: Any) -> tuple[Any, ValidationResult]:
    if value is None:
        if field.default is not None and not field.required:
            message = f"took the default of '{field.name}'"
            default = copy.deepcopy(field.default)
            return default, ValidationResult(ValidationStatus.SKIPPED, field.name, message, default)
        return None, field.validate_value(None)
    try:
        value = coerce(value, field.dtype)
    except NotLossless as error:
        return value, ValidationResult(ValidationStatus.FAILED, field.name, f"Field '{field.name}' {error}", value)
    value = _choice(field, value)
    return value, field.validate_value(value)


def _choice(field: FieldSchema, value: Any) -> Any:
    """The choice that the value means, case aside; the value itself when it means none."""
    if not field.choices or value in field.choices or not isinstance(value, str):
        return value
    word = value.strip().casefold()
    return next((choice for choice in field.choices if isinstance(choice, str) and choice.casefold() == word), value)


def _in_row(check: ValidationResult, index: int) -> ValidationResult:
    name = f"[{index}].{check.field}" if check.field else f"[{index}]"
    return ValidationResult(check.status, name, check.message, check.value)
