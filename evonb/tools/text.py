"""Values as text: bounded previews for people, whole text for models. Never raises, whatever the value."""

from __future__ import annotations

import difflib
from collections.abc import Iterable
from typing import Any

from pydantic_core import to_json, to_jsonable_python

from evonb._unicode import encodable

__all__ = ["jsonable", "near", "preview", "safe_repr", "to_text"]

_PREVIEW_CHARS = 200


def preview(value: object, max_chars: int = _PREVIEW_CHARS) -> str:
    """A short `repr`; a text is shown as it is."""
    # Cut a long text first: the repr of a 10 MB string would be made only to be thrown away.
    text = value[: max_chars + 1] if isinstance(value, str) else safe_repr(value)
    return text if len(text) <= max_chars else f"{text[: max_chars - 3]}..."


def safe_repr(value: object) -> str:
    """`repr`, or the type's name where that raises."""
    try:
        return repr(value)
    except Exception as error:
        return f"<{type(value).__name__} whose repr raised {type(error).__name__}>"


def to_text(value: Any) -> str:
    """A text as it is, anything else as JSON; what JSON doesn't know is shown by its `repr`.

    In a list of content blocks, pictures and sounds are named instead of spelt out in base64.
    """
    if isinstance(value, str):
        return value
    if value is None:
        return ""
    if isinstance(value, list) and value and all(isinstance(each, dict) and "type" in each for each in value):
        value = [_without_data(each) for each in value]
    try:
        return to_json(value, fallback=safe_repr, inf_nan_mode="strings").decode()
    except Exception:
        return safe_repr(value)


def _without_data(block: dict[str, Any]) -> dict[str, Any]:
    data = block.get("data")
    if not isinstance(data, str) or "mimeType" not in block:
        return block
    return {**block, "data": f"[{len(data) * 3 // 4} bytes, not shown]"}


def jsonable(value: Any) -> Any:
    """The value made of JSON's types; what JSON doesn't know becomes its `repr`."""
    try:
        return encodable(to_jsonable_python(value, fallback=safe_repr, inf_nan_mode="strings"))
    except Exception:
        return safe_repr(value)


def near(name: str, known: Iterable[str]) -> str:
    """`did you mean 'x'?` for the nearest known name, else an empty text."""
    found = difflib.get_close_matches(name, list(known), n=1)
    return f"did you mean {found[0]!r}?" if found else ""
