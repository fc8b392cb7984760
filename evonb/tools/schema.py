"""From a signature to the pydantic model that checks arguments, and to the JSON schema that a model is shown."""

from __future__ import annotations

import typing
from typing import Annotated, Any

from pydantic import BaseModel, ConfigDict, Field, TypeAdapter, create_model
from pydantic.errors import PydanticUserError
from pydantic.fields import FieldInfo

from evonb._typeddicts import for_pydantic
from evonb.tools.errors import ToolError
from evonb.tools.signature import Parameter, ToolSignature
from evonb.typing import MISSING

__all__ = ["ArgumentModel", "brief", "output_adapter", "without_titles"]


class ArgumentModel:
    """Checks the arguments of one function. Unknown names are refused unless it takes `**kwargs`.

    Attributes:
        model: The pydantic model. Its fields have neutral names, since a parameter may be called `copy` or `_x`; the
            parameter's name is the field's alias.
        json_schema: The arguments as a JSON schema, without the titles that pydantic makes up.
    """

    def __init__(self, name: str, signature: ToolSignature, descriptions: dict[str, str]) -> None:
        self._parameters = {f"arg{number}": each for number, each in enumerate(signature.parameters)}
        fields: dict[str, Any] = {
            key: _field(each, descriptions.get(each.name)) for key, each in self._parameters.items()
        }
        try:
            if signature.extras is MISSING:
                config = ConfigDict(extra="forbid")
                self.model: type[BaseModel] = create_model(name, __config__=config, **fields)
            else:
                self.model = create_model(name, __base__=_extras_base(signature.extras, name), **fields)
            self.json_schema = without_titles(self.model.model_json_schema(by_alias=True))
        except (PydanticUserError, NameError) as error:
            raise _unusable(signature, error) from error
        self.json_schema.setdefault("properties", {})

    @property
    def names(self) -> list[str]:
        """The names of the arguments, in order."""
        return [each.name for each in self._parameters.values()]

    def check(self, arguments: dict[str, Any]) -> dict[str, Any]:
        """The arguments with the declared types. What wasn't given is left to the function's own default.

        Raises:
            pydantic.ValidationError: Some don't fit; every fault is in it.
        """
        made = self.model.model_validate(arguments)
        given = made.model_fields_set
        checked = {
            each.name: getattr(made, key)
            for key, each in self._parameters.items()
            if key in given or isinstance(each.default, FieldInfo)
        }
        return {**checked, **(made.model_extra or {})}


def output_adapter(returns: Any) -> TypeAdapter[Any] | None:
    """Checks a declared result; None where there is nothing to check."""
    if returns in (MISSING, Any):
        return None
    for config in (None, ConfigDict(arbitrary_types_allowed=True)):
        try:
            return TypeAdapter(for_pydantic(returns), config=config)
        except Exception:
            continue
    return None


def without_titles(schema: Any, *, inside_names: bool = False) -> Any:
    """A copy without `title`s; a property that is called `title` stays."""
    if isinstance(schema, list):
        return [without_titles(each) for each in schema]
    if not isinstance(schema, dict):
        return schema
    return {
        key: value
        if key in ("default", "const", "enum", "examples") and not inside_names
        else without_titles(value, inside_names=key in ("properties", "$defs") and not inside_names)
        for key, value in schema.items()
        if inside_names or key != "title"
    }


def brief(schema: dict[str, Any]) -> str:
    """The arguments on one line, for error messages: `{"query": string, "limit"?: integer}`."""
    required = schema.get("required", [])
    parts = [
        f'"{name}"{"" if name in required else "?"}: {_kind(value, schema)}'
        for name, value in schema.get("properties", {}).items()
    ]
    return "{" + ", ".join(parts) + "}"


def _field(parameter: Parameter, described: str | None) -> tuple[Any, Any]:
    annotation, default = parameter.annotation, parameter.default
    about: dict[str, Any] = {"alias": parameter.name}
    described = _annotated_text(annotation) or described
    if isinstance(default, FieldInfo):
        annotation = Annotated[annotation, default]  # keeps its constraints
        if default.default_factory is not None:
            about["default_factory"] = default.default_factory
        elif not default.is_required():
            about["default"] = default.default
    elif default is not MISSING:
        about["default"] = default
    told = [each.description for each in _extras(annotation) if isinstance(each, FieldInfo) and each.description]
    return for_pydantic(annotation), Field(**about, description=told[-1] if told else described)


def _annotated_text(annotation: Any) -> str | None:
    for extra in _extras(annotation):
        if isinstance(extra, str):
            return extra
        if isinstance(text := getattr(extra, "documentation", None), str):  # typing_extensions.Doc
            return text
    return None


def _extras(annotation: Any) -> tuple[Any, ...]:
    return typing.get_args(annotation)[1:] if typing.get_origin(annotation) is Annotated else ()


def _extras_base(extras: Any, name: str) -> type[BaseModel]:
    kind: Any = for_pydantic(extras)
    annotations = {"__pydantic_extra__": dict[str, kind]}
    config = ConfigDict(extra="allow")
    return type(f"{name}_extras", (BaseModel,), {"__annotations__": annotations, "model_config": config})


def _unusable(signature: ToolSignature, error: Exception) -> ToolError:
    culprits = [each.name for each in signature.parameters if not _has_schema(each.annotation)]
    named = (
        f"parameter{'s' if len(culprits) > 1 else ''} {', '.join(map(repr, culprits))}" if culprits else "a parameter"
    )
    return ToolError(
        f"The type of {named} can't be described to a model: {str(error).splitlines()[0]}",
        where=f"function {getattr(signature.inner, '__qualname__', signature.inner)}",
        fix="use JSON-like types (numbers, texts, lists, dicts, enums, dataclasses, pydantic models), or exclude it",
    )


def _has_schema(annotation: Any) -> bool:
    try:
        TypeAdapter(for_pydantic(annotation)).json_schema()
    except Exception:
        return False
    return True


def _kind(schema: dict[str, Any], root: dict[str, Any]) -> str:
    if "$ref" in schema:
        return _kind(root.get("$defs", {}).get(schema["$ref"].rpartition("/")[2], {}), {})
    if "enum" in schema:
        return "|".join(repr(each) for each in schema["enum"])
    if "const" in schema:
        return repr(schema["const"])
    for union in ("anyOf", "oneOf"):
        if union in schema:
            return "|".join(_kind(each, root) for each in schema[union])
    if schema.get("type") == "array":
        return f"[{_kind(schema.get('items', {}), root)}]"
    kind = schema.get("type", "any")
    return "|".join(kind) if isinstance(kind, list) else str(kind)
