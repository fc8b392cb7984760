"""Strict function schemas, as OpenAI-compatible servers define them, and the way back from them.

Strict means: every property is required, one that had a default may be null instead, and nothing else is allowed,
at every level. A type that can't be said that way is refused rather than sent with a flag that isn't true.
"""

from __future__ import annotations

import copy
from typing import Any

from evonb.tools.errors import ToolError

__all__ = ["drop_added_nulls", "to_strict"]

_NULL = {"type": "null"}
# Keywords that strict servers refuse and that carry no more than a hint.
_DROPPED = ("default", "discriminator", "examples")
_UNSUPPORTED = ("allOf", "not", "patternProperties", "prefixItems", "if", "dependentRequired", "unevaluatedProperties")


def to_strict(schema: dict[str, Any], *, where: str) -> dict[str, Any]:
    """A strict copy of a JSON schema of arguments.

    Raises:
        ToolError: Parts of it can't be strict; each is named.
    """
    faults: list[str] = []
    made = _strict(copy.deepcopy(schema), "", faults)
    if faults:
        raise ToolError(
            f"The arguments can't be described strictly: {'; '.join(faults)}",
            where=where,
            fix="declare these with fixed fields (a dataclass or a pydantic model), or leave strict off",
        )
    assert isinstance(made, dict)
    return made


def drop_added_nulls(value: Any, schema: dict[str, Any], root: dict[str, Any] | None = None) -> Any:
    """Leave out each null that stands for 'not given', so that the function's own default applies.

    Args:
        value: What a model sent for a strict schema.
        schema: The schema before it was made strict.
        root: Where `$ref`s are looked up; the schema itself by default.
    """
    root = schema if root is None else root
    if isinstance(value, list):
        items = _deref(schema, root).get("items", {})
        return [drop_added_nulls(each, items, root) for each in value] if isinstance(items, dict) else value
    if not isinstance(value, dict):
        return value
    fitting = _object_schema(value, schema, root)
    properties, required = fitting.get("properties", {}), fitting.get("required", [])
    kept = {}
    for name, each in value.items():
        declared = properties.get(name, {})
        if each is None and name in properties and name not in required and not _nullable(declared, root):
            continue
        kept[name] = drop_added_nulls(each, declared, root)
    return kept


def _strict(schema: Any, place: str, faults: list[str]) -> Any:
    if not isinstance(schema, dict):
        return schema
    shown = place or "the arguments"
    faults += [f"{shown} uses '{word}'" for word in _UNSUPPORTED if word in schema]
    for word in _DROPPED:
        schema.pop(word, None)
    if "$defs" in schema:
        schema["$defs"] = {name: _strict(each, name, faults) for name, each in schema["$defs"].items()}
    if "oneOf" in schema:  # the variants of a tagged union exclude each other anyhow
        schema["anyOf"] = schema.pop("oneOf")
    if "anyOf" in schema:
        schema["anyOf"] = [_strict(each, place, faults) for each in schema["anyOf"]]
    if schema.get("type") == "object" or "properties" in schema:
        return _strict_object(schema, place, faults)
    if schema.get("type") == "array":
        if "items" not in schema:
            faults.append(f"{shown} is a list of anything")
        schema["items"] = _strict(schema.get("items"), f"{place}[]", faults)
    elif not {"type", "enum", "const", "anyOf", "$ref"} & set(schema) and "$defs" not in schema:
        faults.append(f"{shown} may be anything")
    return schema


def _strict_object(schema: dict[str, Any], place: str, faults: list[str]) -> dict[str, Any]:
    if schema.get("additionalProperties", False) is not False or ("properties" not in schema and place):
        faults.append(f"{place or 'the arguments'} may have any keys")
    properties, required = schema.get("properties", {}), schema.get("required", [])
    made = {}
    for name, each in properties.items():
        strict = _strict(each, f"{place}.{name}" if place else name, faults)
        made[name] = strict if name in required or _nullable(strict, {}) else _or_null(strict)
    schema.update(properties=made, required=list(made), additionalProperties=False)
    return schema


def _or_null(schema: dict[str, Any]) -> dict[str, Any]:
    if "anyOf" in schema:
        return {**schema, "anyOf": [*schema["anyOf"], _NULL]}
    about = {"description": schema.pop("description")} if "description" in schema else {}
    return {"anyOf": [schema, _NULL], **about}


def _nullable(schema: dict[str, Any], root: dict[str, Any]) -> bool:
    schema = _deref(schema, root)
    kind = schema.get("type")
    if kind == "null" or (isinstance(kind, list) and "null" in kind) or None in schema.get("enum", []):
        return True
    if not kind and not {"enum", "const", "anyOf", "oneOf", "$ref"} & set(schema):
        return True  # anything goes, null too
    return any(_nullable(each, root) for word in ("anyOf", "oneOf") for each in schema.get(word, []))


def _object_schema(value: dict[str, Any], schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    """The variant that the object was written for: the first that knows all its keys."""
    schema = _deref(schema, root)
    variants = [each for word in ("anyOf", "oneOf") for each in schema.get(word, [])]
    for variant in variants:
        fitting = _object_schema(value, variant, root)
        if set(value) <= set(fitting.get("properties", {})):
            return fitting
    return schema


def _deref(schema: dict[str, Any], root: dict[str, Any]) -> dict[str, Any]:
    seen = 0
    while "$ref" in schema and seen < 20:
        seen += 1
        schema = root.get("$defs", {}).get(schema["$ref"].rpartition("/")[2], {})
    return schema
