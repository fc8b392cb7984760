"""Tool calls as JSON: the shapes in which servers and models write them, brought to one.

A call is `{"tool_name": str, "arguments": dict, "thought": str | None}`. Anything whose arguments were cut off,
aren't an object or whose name is missing is refused: running a tool on half its arguments is worse than not at all.
"""

from __future__ import annotations

from typing import Any

from evonb.parsing.failure import Unreadable
from evonb.parsing.json_reader import read_json
from evonb.parsing.json_strict import JsonRead
from evonb.parsing.json_strings import skip_blank

Call = dict[str, Any]

_NESTED = (
    "tool_calls",
    "toolCalls",
    "choices",
    "message",
    "output",
    "candidates",
    "content",
    "parts",
    "calls",
    "tool_uses",
)
_MARKED = ("function_call", "functionCall", "tool_call", "toolCall", "tool_use", "toolUse")
_TYPES = frozenset({"tool_use", "function_call", "tool_call", "function", "custom_tool_call", "server_tool_use"})
_NAMES = ("tool_name", "toolName", "function_name", "recipient_name", "action", "tool", "name", "function")
_OWN_NAMES = frozenset({"tool_name", "toolName", "function_name"})
_TEXT_ARGUMENTS = ("action_input", "tool_input", "actionInput", "toolInput")
ARGUMENTS = ("arguments", "parameters", "args", "input", *_TEXT_ARGUMENTS, "tool_args", "params", "kwargs")
_NO_NAMES = frozenset({"none", "null", "n/a", "na", "no", "nothing", "final answer", "final_answer", ""})


def calls_in(value: Any, *, marked: bool = False) -> list[Call]:
    """All calls in a JSON value, in order; an empty list when it holds none.

    Args:
        value: What was read.
        marked: Something outside says that this is a call, so a name is enough.

    Raises:
        Unreadable: It holds a call that must not be made.
    """
    if isinstance(value, list):
        return [call for item in value for call in calls_in(item, marked=marked)]
    if not isinstance(value, dict):
        return []
    for key in _MARKED:
        if isinstance(value.get(key), (dict, list)):
            return calls_in(value[key], marked=True)
    marked = marked or value.get("type") in _TYPES
    if isinstance(value.get("function"), dict):
        return calls_in(value["function"], marked=True)
    for key in _NESTED:
        nested = value.get(key)
        if isinstance(nested, (dict, list)) and not (marked and _name(value)):
            found = calls_in(nested, marked=key in ("tool_calls", "toolCalls", "calls", "tool_uses"))
            if found:
                return found
    call = _single(value, marked=marked)
    return [call] if call else []


def _single(value: dict[str, Any], *, marked: bool) -> Call | None:
    key = next((name for name in _NAMES if isinstance(value.get(name), str)), None)
    given = next((name for name in ARGUMENTS if name in value), None)
    if (given is None and not marked and key not in _OWN_NAMES) or _is_definition(value):
        return None
    if key is None:
        if marked and given is not None:
            raise Unreadable("a tool call without a name")
        return None
    name = value[key].strip()
    if name.lower() in _NO_NAMES:
        if marked:
            raise Unreadable("a tool call without a name")
        return None
    arguments = value.get(given) if given else None
    thought = next(
        (value[key] for key in ("thought", "thoughts", "reasoning") if isinstance(value.get(key), str)), None
    )
    return make_call(name, arguments, thought, text_allowed=given in _TEXT_ARGUMENTS)


def _is_definition(value: dict[str, Any]) -> bool:
    """Whether this is the description of a tool, which models repeat, and not a call of it."""
    parameters = value.get("parameters")
    return (
        isinstance(parameters, dict)
        and parameters.get("type") == "object"
        and ("description" in value or isinstance(parameters.get("properties"), dict))
    )


def _name(value: dict[str, Any]) -> str | None:
    return next((value[key] for key in _NAMES if isinstance(value.get(key), str)), None)


def make_call(name: str, arguments: Any, thought: str | None = None, *, text_allowed: bool = False) -> Call:
    """A call with checked arguments.

    Args:
        name: The tool.
        arguments: An object, JSON text of one, or nothing.
        thought: What the model thought about it.
        text_allowed: This way of writing allows plain text as the input; it goes under the key `input`.

    Raises:
        Unreadable: The arguments were cut off or aren't an object.
    """
    if isinstance(arguments, str):
        arguments = _from_text(name, arguments, text_allowed=text_allowed)
    if arguments is None:
        arguments = {}
    if not isinstance(arguments, dict):
        if not text_allowed:
            raise Unreadable(f"the arguments of {name!r} are {type(arguments).__name__}, expected an object")
        arguments = {"input": arguments}
    return {"tool_name": name, "arguments": arguments, "thought": thought}


def _from_text(name: str, text: str, *, text_allowed: bool) -> Any:
    start = skip_blank(text, 0)
    if start >= len(text) or text.strip() in ("null", "None"):
        return {}
    if text[start] in "{[｛［":
        try:
            read = read_json(text, start)
        except Unreadable:
            if text_allowed:
                return {"input": text}
            raise
        if read.cut:
            raise Unreadable(f"the arguments of {name!r} were cut off")
        if skip_blank(text, read.end) >= len(text):
            return read.value
    if text_allowed:
        return {"input": text}
    raise Unreadable(f"the arguments of {name!r} aren't an object: {text[:60]!r}")


def refuse_cut(read: JsonRead) -> None:
    """Raise `Unreadable` when a call's JSON was cut off before its arguments were complete."""
    if read.cut and (read.open_in_value or any(key in ARGUMENTS for key in read.open_path)):
        raise Unreadable("the tool call was cut off")
