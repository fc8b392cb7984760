"""Makes an instance of the caller's schema out of parsed data: pydantic models, dataclasses, plain classes."""

from __future__ import annotations

import dataclasses
import inspect
import sys
import typing
from contextlib import suppress
from typing import Any

from evonb.parsing.fields import Checks, coverage
from evonb.parsing.key_value import lower_snake
from evonb.parsing.models import AnswerSchema
from evonb.parsing.schema import ValidationResult, ValidationStatus

_MORE = "\n\nFor further information"
_PLAIN = (dict, list, str, int, float, bool)


def schema_names(schema: Any) -> dict[str, list[str]]:
    """The fields of a schema, each with the other names under which it takes its value."""
    if getattr(schema, "__pydantic_root_model__", False):  # its one field is the whole value
        return {}
    fields = getattr(schema, "model_fields", None)
    if isinstance(fields, dict):
        return {name: [alias for alias in _aliases(info) if alias != name] for name, info in fields.items()}
    if dataclasses.is_dataclass(schema):
        return {field.name: [] for field in dataclasses.fields(schema)}
    if isinstance(schema, type) and hasattr(schema, "__required_keys__"):  # a TypedDict
        return {name: [] for name in schema.__annotations__}
    return {}


def _aliases(info: Any) -> list[str]:
    given = [info.alias, info.validation_alias, *getattr(info.validation_alias, "choices", [])]
    return [alias for alias in given if isinstance(alias, str)]


def required_names(schema: Any) -> list[str]:
    """The fields that a schema can't do without."""
    if getattr(schema, "__pydantic_root_model__", False):
        return []
    fields = getattr(schema, "model_fields", None)
    if isinstance(fields, dict):
        return [name for name, info in fields.items() if info.is_required()]
    if dataclasses.is_dataclass(schema):
        missing = dataclasses.MISSING
        return [
            field.name
            for field in dataclasses.fields(schema)
            if field.default is missing and field.default_factory is missing
        ]
    return sorted(getattr(schema, "__required_keys__", ()))


def cast(data: Any, schema: Any) -> tuple[Any, Checks]:
    """The data as an instance of `schema`, and a FAILED check for each reason why it isn't one.

    Data that can't be cast comes back as it was.
    """
    if isinstance(schema, type) and not hasattr(schema, "__required_keys__") and isinstance(data, schema):
        return data, []
    names = schema_names(schema)
    shaped = _shape(data, schema, names)
    if isinstance(shaped, list) and names:
        casts = [_instance(row, schema) for row in shaped]
        checks = [check for _, found in casts for check in found]
        failed = any(check.status is ValidationStatus.FAILED for check in checks)
        return (data if failed else [value for value, _ in casts]), checks
    value, checks = _instance(shaped, schema)
    return (data if any(check.status is ValidationStatus.FAILED for check in checks) else value), checks


def _shape(data: Any, schema: Any, names: dict[str, list[str]]) -> Any:
    """The data with its wrapping key opened, its keys spelt as the schema spells them, and a bare list in its field."""
    known = frozenset(lower_snake(name) for field, others in names.items() for name in (field, *others))
    if isinstance(data, dict) and len(data) == 1 and names:
        key, inner = next(iter(data.items()))
        if lower_snake(str(key)) not in known and isinstance(inner, (dict, list)) and coverage(inner, known):
            data = inner
    if isinstance(data, list) and names and not coverage(data, known):
        required = required_names(schema) or list(names)
        if len(required) == 1 or not all(isinstance(row, dict) for row in data):
            return {required[0]: data}
    if (
        isinstance(data, list)
        and len(names) == 1
        and not any(isinstance(row, dict) and set(row) & set(names) for row in data)
    ):
        return {next(iter(names)): data}
    spelt = {lower_snake(name): name for name in names}
    if isinstance(data, dict):
        return _spell(data, names, spelt)
    return (
        [_spell(row, names, spelt) if isinstance(row, dict) else row for row in data]
        if isinstance(data, list)
        else data
    )


def _spell(row: dict[Any, Any], names: dict[str, list[str]], spelt: dict[str, str]) -> dict[Any, Any]:
    taken = {name for field, others in names.items() for name in (field, *others)}
    return {
        key
        if key in taken or spelt.get(lower_snake(str(key)), key) in row
        else spelt.get(lower_snake(str(key)), key): value
        for key, value in row.items()
    }


def _instance(data: Any, schema: Any) -> tuple[Any, Checks]:
    try:
        value = _make(data, schema)
    except RecursionError:
        raise
    except Exception as error:
        return data, _reasons(error, schema)
    return value, _clamped(data, value)


def _make(data: Any, schema: Any) -> Any:
    if hasattr(schema, "model_validate"):
        return schema.model_validate(data)
    if schema in _PLAIN:
        raise TypeError(f"found {type(data).__name__}")
    pydantic = sys.modules.get("pydantic")
    if pydantic is not None:
        from evonb._typeddicts import for_pydantic

        return pydantic.TypeAdapter(for_pydantic(schema)).validate_python(data)
    if not isinstance(data, dict):
        raise TypeError(f"found {type(data).__name__}")
    accepted = inspect.signature(schema).parameters
    return schema(**{key: value for key, value in data.items() if key in accepted})


def _reasons(error: Exception, schema: Any) -> Checks:
    name = getattr(schema, "__name__", str(schema))
    faults = getattr(error, "errors", None)
    if not callable(faults):
        reason = str(error).partition(_MORE)[0].strip()
        return [ValidationResult(ValidationStatus.FAILED, message=f"doesn't fit {name}: {reason}")]
    return [
        ValidationResult(
            ValidationStatus.FAILED,
            ".".join(str(part) for part in fault.get("loc", ())) or None,
            f"doesn't fit {name}: {fault.get('msg', fault)}",
        )
        for fault in typing.cast("list[dict[str, Any]]", faults())[:50]
    ]


def _clamped(data: Any, value: Any) -> Checks:
    """A WARNING where a confidence was changed to fit, so that "5%" becoming 1.0 doesn't go unseen."""
    if not isinstance(value, AnswerSchema) or not isinstance(data, dict) or "confidence" not in data:
        return []
    given = data["confidence"]
    kept = given == value.confidence
    with suppress(TypeError, ValueError):
        kept = kept or float(given) == value.confidence
    message = f"confidence {given!r} was read as {value.confidence}"
    return [] if kept else [ValidationResult(ValidationStatus.WARNING, "confidence", message, given)]
