"""A model's arguments as a mapping: decoded once, mended only where nothing can be lost, refused otherwise.

Guessing belongs elsewhere: turning garbage into `{}` and running the tool with it is worse than an error.
"""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Mapping
from typing import Any, TypeAlias

from evonb.tools.errors import ToolInputError
from evonb.tools.text import preview

__all__ = ["Decoder", "as_arguments", "decode_json"]

Decoder: TypeAlias = Callable[[str], Any]
"""Makes a value out of a JSON text; raises `ValueError` when that isn't possible without guessing."""

_FENCE = re.compile(r"\A```[A-Za-z0-9_-]*[ \t]*\r?\n(?P<body>.*?)\r?\n?```\Z", re.DOTALL)
# A string literal is matched whole, so that a comma inside it is never taken for a trailing one.
_TRAILING = re.compile(r'"(?:[^"\\]|\\.)*+"|(?P<comma>,)(?=\s*+[}\]])', re.DOTALL)
_ASK = "answer with one JSON object that holds the arguments"


def as_arguments(raw: object, decoder: Decoder | None = None) -> dict[str, Any]:
    """The arguments of a call as a dict; no arguments at all (empty text, null, None) are `{}`.

    Args:
        raw: A mapping, or a JSON text as models send it.
        decoder: Decodes the text; by default `decode_json`.

    Raises:
        ToolInputError: It isn't an object, isn't JSON, or was cut off.
    """
    value = raw
    if isinstance(raw, bytes | bytearray):
        value = raw = bytes(raw).decode("utf-8", errors="strict")
    if isinstance(raw, str):
        value = _decode(raw, decoder or decode_json) if raw.strip() else None
    if value is None:
        return {}
    if isinstance(value, Mapping):
        return _with_text_keys(value)
    raise ToolInputError(
        f"The arguments are {_kind(value)}, expected a JSON object: {preview(value)}", fix=_not_object_fix(value)
    )


def decode_json(text: str) -> Any:
    """Decode a JSON text strictly, but for a code fence, trailing commas and raw line breaks in strings.

    Raises:
        ValueError: It isn't such a text, or it holds a key twice, of which one would be lost.
    """
    body = text.strip().lstrip("\ufeff")
    if fenced := _FENCE.match(body):
        body = fenced["body"]
    try:
        return _loads(body)
    except json.JSONDecodeError as error:
        mended = _TRAILING.sub(lambda found: "" if found["comma"] else found[0], body)
        if mended == body:
            raise
        try:
            return _loads(mended)
        except json.JSONDecodeError:
            raise error from None


def _loads(text: str) -> Any:
    return json.loads(text, strict=False, object_pairs_hook=_unique, parse_constant=_no_constant)


def _unique(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
    made = dict(pairs)
    if len(made) != len(pairs):
        names = [name for name, _ in pairs]
        twice = sorted({name for name in names if names.count(name) > 1})
        raise ValueError(f"the key {twice[0]!r} is there twice")
    return made


def _no_constant(name: str) -> Any:
    raise ValueError(f"{name} isn't a JSON number")


def _decode(text: str, decoder: Decoder) -> Any:
    try:
        return decoder(text)
    except RecursionError as error:
        raise ToolInputError("The arguments are nested too deeply", fix="send flatter arguments") from error
    except ValueError as error:
        if _is_cut_off(text, error):
            raise ToolInputError(
                f"The arguments end in the middle, after {len(text)} characters: ...{preview(text[-60:])}",
                fix="send the whole JSON object again; if the output limit cut it off, send less or raise the limit",
            ) from error
        raise ToolInputError(f"The arguments aren't valid JSON: {error}", fix=_ASK) from error


def _is_cut_off(text: str, error: ValueError) -> bool:
    if not isinstance(error, json.JSONDecodeError) or not text.lstrip().startswith(("{", "[", "```")):
        return False
    return error.msg.startswith("Unterminated string") or error.pos >= len(error.doc.rstrip())


def _with_text_keys(value: Mapping[Any, Any]) -> dict[str, Any]:
    odd = [key for key in value if not isinstance(key, str)]
    if odd:
        raise ToolInputError(f"The arguments have a key that isn't a text: {preview(odd[0])}", fix=_ASK)
    return dict(value)


def _kind(value: object) -> str:
    names: dict[type, str] = {list: "an array", str: "a text", bool: "a boolean", int: "a number", float: "a number"}
    return names.get(type(value), f"of type {type(value).__name__}")


def _not_object_fix(value: object) -> str:
    if isinstance(value, str) and value.lstrip().startswith("{"):
        return "send the object itself, not a text that holds it"
    return 'name each argument: {"name": value}'
