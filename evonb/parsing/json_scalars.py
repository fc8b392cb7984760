"""Numbers and words of JSON, and of what models take for JSON."""

from __future__ import annotations

import re
from typing import Any

MISSING: Any = object()
"""No value; None is one."""

NUMBER = re.compile(r"[+-]?(?:\d+(?:\.\d*)?|\.\d+)(?:[eE][+-]?\d+)?(?![\w.])", re.ASCII)
_STRICT = re.compile(r"-?(?:0|[1-9]\d*)(?:\.\d+)?(?:[eE][+-]?\d+)?", re.ASCII)
LAST_TOKEN = re.compile(
    r"(?:-?\d[\d.]*(?:[eE][+-]?\d*)?|-|t(?:r(?:ue?)?)?|f(?:a(?:l(?:se?)?)?)?|n(?:u(?:ll?)?)?)\Z", re.ASCII
)
WORDS: dict[str, Any] = {
    "true": True, "false": False, "null": None, "True": True, "False": False, "None": None, "TRUE": True,
    "FALSE": False, "NULL": None, "undefined": None, "NaN": float("nan"), "nan": float("nan"),
    "Infinity": float("inf"), "-Infinity": float("-inf"), "+Infinity": float("inf"), "inf": float("inf"),
}  # fmt: skip
JSON_WORDS = ("true", "false", "null")


def partial_scalar(token: str) -> Any:
    """What the beginning of a number or of a JSON word stands for; `MISSING` when it says nothing yet."""
    word = next((word for word in JSON_WORDS if word.startswith(token)), None)
    if word:
        return WORDS[word]
    number = token.rstrip("eE+-.")
    if _STRICT.fullmatch(number) is None:
        return MISSING
    return to_number(number)


def is_json_number(token: str) -> bool:
    """Whether the token is a number as JSON writes it."""
    return _STRICT.fullmatch(token) is not None


def to_number(token: str) -> Any:
    """The number; `MISSING` when it has more digits than Python turns into an integer."""
    try:
        return int(token) if re.fullmatch(r"[+-]?\d+", token) else float(token)
    except ValueError:
        return MISSING
