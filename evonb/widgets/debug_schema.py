"""What is known of a graph's state keys before any run: type, strategy, what they expect, the form of the inputs."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from typing import Annotated, Any

from pydantic import ConfigDict, TypeAdapter

from evonb._typeddicts import for_pydantic
from evonb.graph.annotations import declared_keys, strategy_name
from evonb.widgets.expectations import in_words, type_words
from evonb.widgets.literals import read_value

__all__ = ["Key", "Keys"]

MAX_SCHEMA_CHARS = 20_000


@dataclass(frozen=True, slots=True)
class Key:
    """One state key.

    Attributes:
        strategy: Name of the update strategy, "overwrite" if none is declared.
        extras: Constraints of the annotation.
    """

    name: str
    annotation: Any = Any
    strategy: str = "overwrite"
    extras: tuple[Any, ...] = ()

    @property
    def type(self) -> str:
        """Short words for the type."""
        return type_words(self.annotation)

    @property
    def expects(self) -> str:
        """What its values must be."""
        return in_words(self.annotation, self.extras)

    def check(self, value: Any) -> Any:
        """A JSON value as this key's value: a text where the key wants none is read as if it had been typed.

        Raises:
            StateError: It doesn't fit.
        """
        return self.read(value) if isinstance(value, str) else value

    def read(self, text: str) -> Any:
        """The value that a text means for this key.

        Raises:
            StateError: It doesn't fit; says what is expected.
        """
        return read_value(text, self.annotation, self.extras, key=self.name)


@dataclass(slots=True)
class Keys:
    """The keys of one schema; a schema without keys (`dict`) knows any."""

    by_name: dict[str, Key] = field(default_factory=dict)
    input_schema: dict[str, object] = field(default_factory=dict)

    @classmethod
    def of(cls, schema: Any) -> Keys:
        """Read a state schema."""
        keys = {}
        for each in declared_keys(dict if schema is None else schema):
            extras = tuple(item for item in each.metadata if not isinstance(item, str))
            strategy = strategy_name(each.metadata) or "overwrite"
            keys[each.name] = Key(each.name, each.annotation, strategy, extras)
        return cls(keys, _input_schema(keys))

    def __getitem__(self, name: str) -> Key:
        return self.by_name.get(name) or Key(name)


def _input_schema(keys: dict[str, Key]) -> dict[str, object]:
    """A JSON schema with what each key expects as its description; types that have none take any value."""
    properties: dict[str, object] = {}
    definitions: dict[str, object] = {}
    for key in keys.values():
        schema = _json_schema(key)
        definitions.update(schema.pop("$defs", {}))
        properties[key.name] = {**schema, "description": key.expects, "strategy": key.strategy}
    made: dict[str, object] = {"type": "object", "properties": properties, "additionalProperties": not keys}
    if definitions:
        made["$defs"] = definitions
    if len(json.dumps(made, default=str)) > MAX_SCHEMA_CHARS:
        made["properties"] = {key.name: {"description": key.expects, "strategy": key.strategy} for key in keys.values()}
        made.pop("$defs", None)
    return made


def _json_schema(key: Key) -> dict[str, Any]:
    full: Any = for_pydantic(Annotated[(key.annotation, *key.extras)] if key.extras else key.annotation)
    for config in (ConfigDict(arbitrary_types_allowed=True), None):
        try:
            schema = TypeAdapter(full, config=config).json_schema()
            json.dumps(schema)
        except Exception:  # no schema for such a type, or a user's hook raised: any JSON will do then
            continue
        return schema
    return {}
