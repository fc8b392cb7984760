"""State schemas as plain data: by import name where there is one, else key by key."""

from __future__ import annotations

import types
import typing
from collections.abc import Mapping
from typing import Annotated, Any, Literal, NotRequired, Union, get_args, get_origin, is_typeddict

from pydantic import BaseModel, Field, create_model
from pydantic_core import PydanticUndefined

from evonb.errors import GraphError
from evonb.graph.annotations import Declared, declared_keys, is_union
from evonb.graph.loading import Loader
from evonb.graph.saving import Saver, is_importable

__all__ = ["load_schema", "load_type", "save_schema", "save_type"]


def save_schema(schema: Any, saver: Saver) -> dict[str, Any]:
    """The data of a schema.

    Raises:
        GraphError: A type or default in it can't be saved.
    """
    if schema is dict or is_importable(schema):
        return {"kind": "name", "name": saver.code(schema, "the schema")}
    kind = "typed_dict" if is_typeddict(get_origin(schema) or schema) else "model"
    name = getattr(schema, "__name__", "State")
    keys = [_save_key(key, saver) for key in declared_keys(schema)]
    doc = vars(schema).get("__doc__") if isinstance(schema, type) else None
    return {"kind": kind, "name": name, "keys": keys, **({"doc": doc} if isinstance(doc, str) and doc else {})}


def _save_key(key: Declared, saver: Saver) -> dict[str, Any]:
    place = f"state key {key.name!r}"
    data: dict[str, Any] = {
        "name": key.name,
        "type": save_type(key.annotation, saver, place),
        "optional": key.optional,
    }
    data["extras"] = [saver.save(extra, place) for extra in key.metadata]
    info = key.info
    if info is not None and info.default_factory is not None:
        data["factory"] = saver.code(info.default_factory, place)
    elif info is not None and info.default is not PydanticUndefined:
        data["default"] = saver.save(info.default, place)
    if info is not None and info.description:
        data["description"] = info.description
    return data


def save_type(annotation: Any, saver: Saver, place: str) -> Any:
    """The data of a type: a class, or what `typing` makes of classes.

    Raises:
        GraphError: It holds something that can't be saved.
    """
    if annotation is None or annotation is types.NoneType:
        return {"form": "None"}
    if annotation is Any:
        return {"form": "Any"}
    origin, args = get_origin(annotation), get_args(annotation)
    if origin is Annotated:
        inner = save_type(annotation.__origin__, saver, place)
        return {
            "form": "Annotated",
            "of": inner,
            "extras": [saver.save(item, place) for item in annotation.__metadata__],
        }
    if origin is Literal:
        return {"form": "Literal", "values": [saver.save(value, place) for value in args]}
    if is_union(annotation):
        return {"form": "Union", "args": [save_type(arm, saver, place) for arm in args]}
    if origin is not None and args and all(not isinstance(arg, list) and arg is not ... for arg in args):
        base = saver.code(origin, place)
        return {"form": "generic", "of": base, "args": [save_type(arg, saver, place) for arg in args]}
    if is_typeddict(annotation) and not is_importable(annotation):
        return {"form": "schema", "of": save_schema(annotation, saver)}
    if isinstance(annotation, type):
        if issubclass(annotation, BaseModel) and not is_importable(annotation):
            return {"form": "schema", "of": save_schema(annotation, saver)}
        return {"form": "name", "of": saver.code(annotation, place)}
    raise GraphError(f"The type {annotation!r} of {place} can't be saved", fix="use a class, or a simpler type")


def load_schema(data: Mapping[str, Any], loader: Loader) -> Any:
    """The schema of data that `save_schema` made.

    Raises:
        Untrusted: It names code that isn't signed.
        GraphError: It is damaged.
    """
    kind = data.get("kind")
    if kind == "name":
        return _class_of(data["name"], loader)
    for key in data.get("keys", ()):
        _check_name(key["name"])
    if kind == "typed_dict":
        return _typed_dict(data["name"], data["keys"], loader)
    if kind == "model":
        fields: dict[str, Any] = {
            key["name"]: (_load_annotation(key, loader), _load_default(key, loader)) for key in data["keys"]
        }
        make: Any = create_model
        return make(data["name"], __doc__=_text(data.get("doc")), **fields)
    raise GraphError(f"Saved data hold a schema of the unknown kind {kind!r}")


def _class_of(data: Any, loader: Loader) -> Any:
    """A class by its name. Text isn't one: as an annotation it would be evaluated."""
    found = loader.load(data)
    if not isinstance(found, type):
        raise GraphError(f"Saved data name {found!r:.80} as a type")
    return found


def _text(value: Any) -> str | None:
    return value if isinstance(value, str) else None


def _check_name(name: Any) -> None:
    # Names such as `__base__` would steer how pydantic makes the class.
    if not isinstance(name, str) or name.startswith("__"):
        raise GraphError(f"Saved data name {name!r:.80} as a state key")


def _typed_dict(name: str, keys: list[Mapping[str, Any]], loader: Loader) -> Any:
    hints = {}
    for key in keys:
        annotation = _load_annotation(key, loader)
        hints[key["name"]] = NotRequired[annotation] if key["optional"] else annotation
    make: Any = typing.TypedDict
    return make(name, hints)


def _load_annotation(key: Mapping[str, Any], loader: Loader) -> Any:
    annotation = load_type(key["type"], loader)
    extras = [loader.load(extra) for extra in key["extras"]]
    return Annotated[(annotation, *extras)] if extras else annotation


def _load_default(key: Mapping[str, Any], loader: Loader) -> Any:
    about = _text(key.get("description"))
    if "factory" in key:
        factory = loader.load(key["factory"])
        if not callable(factory):
            raise GraphError(f"Saved data name {factory!r:.80} as a default factory")
        return Field(default_factory=factory, description=about)
    if "default" in key:
        return Field(default=loader.load(key["default"]), description=about)
    return Field(description=about) if about else ...


def load_type(data: Mapping[str, Any], loader: Loader) -> Any:
    """The type of data that `save_type` made.

    Raises:
        Untrusted: It names code that isn't signed.
        GraphError: It is damaged.
    """
    form = data.get("form")
    if form == "None":
        return None
    if form == "Any":
        return Any
    if form == "name":
        return _class_of(data["of"], loader)
    if form == "schema":
        return load_schema(data["of"], loader)
    if form == "Literal":
        return Literal[tuple(loader.load(value) for value in data["values"])]
    if form == "Annotated":
        extras = [loader.load(extra) for extra in data["extras"]]
        return Annotated[(load_type(data["of"], loader), *extras)]
    args = tuple(load_type(arg, loader) for arg in data["args"])
    if form == "Union":
        return Union[args]  # noqa: UP007 - made of a tuple
    if form == "generic":
        return _class_of(data["of"], loader)[args if len(args) > 1 else args[0]]
    raise GraphError(f"Saved data hold a type of the unknown form {form!r}")
