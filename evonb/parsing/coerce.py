"""Turns a value into the type that a field declares, if nothing is lost on the way."""

from __future__ import annotations

import json
import math
import re
import unicodedata
from typing import Any

from evonb.parsing.lists import split_cells

_TRUE = frozenset({"true", "yes", "y", "1", "on"})
_FALSE = frozenset({"false", "no", "n", "0", "off"})
_GROUPED = re.compile(r"[+-]?\d{1,3}(?:[,_ \u00a0\u202f'٬]\d{3})+(?:\.\d+)?$")
_PLAIN = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d{1,4})?$", re.ASCII)
_MAX_DIGITS = 4_000


class NotLossless(ValueError):
    """The value can't be turned into the type without losing or inventing something."""


def coerce(value: Any, dtype: str) -> Any:
    """`value` as `dtype`.

    Raises:
        NotLossless: It can't be done; the message says what was found and what was expected.
    """
    result = _COERCERS[dtype](value)
    if result is None:
        raise NotLossless(f"is {_shown(value)}, expected {_WORDS[dtype]}")
    return result


def _text(value: Any) -> str | None:
    if isinstance(value, str):
        return value
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, (int, float)):
        return str(value)
    return None


def _integer(value: Any) -> int | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, int):
        return value
    if isinstance(value, float):
        return int(value) if math.isfinite(value) and value.is_integer() else None
    number = _digits(value)
    if number is None:
        return None
    if re.fullmatch(r"[+-]?\d+", number):
        return int(number)
    parsed = float(number)
    return int(parsed) if math.isfinite(parsed) and parsed.is_integer() else None


def _float(value: Any) -> float | None:
    if isinstance(value, bool):
        return None
    if isinstance(value, (int, float)):
        try:
            return float(value)
        except OverflowError:
            return None
    number = _digits(value)
    return float(number) if number is not None else None


def _digits(value: Any) -> str | None:
    """A number's text in ASCII digits, without marks between thousands; None when it is no number."""
    if not isinstance(value, str) or len(value) > _MAX_DIGITS:
        return None
    text = "".join(_ascii(char) for char in value.strip())
    if _GROUPED.match(text):
        text = re.sub(r"[,_ \u00a0\u202f'٬]", "", text)
    return text if _PLAIN.match(text) else None


def _ascii(char: str) -> str:
    if char == "٫":
        return "."
    if char in "−﹣－":
        return "-"
    digit = unicodedata.decimal(char, None)
    return char if digit is None else str(digit)


def _bool(value: Any) -> bool | None:
    if isinstance(value, bool):
        return value
    if isinstance(value, (int, float)):
        return {0.0: False, 1.0: True}.get(value)
    if isinstance(value, str):
        word = value.strip().lower()
        return True if word in _TRUE else False if word in _FALSE else None
    return None


def _list(value: Any) -> list[Any] | None:
    if isinstance(value, list):
        return value
    if isinstance(value, (tuple, set)):
        return list(value)
    if isinstance(value, dict) or value is None:
        return None
    if not isinstance(value, str):
        return [value]
    text = value.strip()
    if text.startswith("["):
        parsed = _json(text)
        if isinstance(parsed, list):
            return parsed
    if not text:
        return []
    return split_cells(text.replace("\n", ", "))


def _dict(value: Any) -> dict[Any, Any] | None:
    if isinstance(value, dict):
        return value
    parsed = _json(value) if isinstance(value, str) and value.strip().startswith("{") else None
    return parsed if isinstance(parsed, dict) else None


def _json(text: str) -> Any:
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        return None


def _shown(value: Any) -> str:
    text = repr(value)
    return text if len(text) <= 60 else text[:57] + "..."


_COERCERS = {"str": _text, "int": _integer, "float": _float, "bool": _bool, "list": _list, "dict": _dict}
_WORDS = {
    "str": "text",
    "int": "a whole number",
    "float": "a number",
    "bool": "yes or no",
    "list": "a list",
    "dict": "an object",
}
