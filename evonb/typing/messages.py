"""The messages of a conversation, and the cast that makes one out of what a node returned."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, Literal, TypeAlias, Union
from uuid import uuid4

from pydantic import ValidationError

from evonb.errors import StateError
from evonb.typing.base import Model
from evonb.typing.calls import ChatUsage, ToolCall

__all__ = [
    "AssistantMessage",
    "StateBaseMessage",
    "StateMessage",
    "SystemMessage",
    "ToolMessage",
    "UserMessage",
    "cast_state_message",
]


class StateBaseMessage(Model):
    """What all messages have; usable itself for a message without a role.

    Attributes:
        content: Text, a list of parts, or anything else.
        msg_id: Unique id; `append_messages` and `cast_state_message` add it where it is missing.
        node_name: The node that sent the message; the graph fills it in.
    """

    content: Any
    msg_id: str | None = None
    node_name: str | None = None


class SystemMessage(StateBaseMessage):
    """Instructions to the model."""

    role: Literal["system"] = "system"


class UserMessage(StateBaseMessage):
    """What the user said."""

    role: Literal["user"] = "user"


class AssistantMessage(StateBaseMessage):
    """What the model said, and the tools that it wants called."""

    role: Literal["assistant"] = "assistant"
    reasoning_content: str | None = None
    tool_calls: list[ToolCall] | None = None
    usage: ChatUsage | None = None


class ToolMessage(StateBaseMessage):
    """What a tool answered; `tool_call_id` names the `ToolCall` that it answers."""

    tool_call_id: str
    role: Literal["tool"] = "tool"


StateMessage: TypeAlias = Union[  # noqa: UP007 - documented as a Union
    UserMessage, ToolMessage, AssistantMessage, SystemMessage, StateBaseMessage
]
"""Any message of a conversation; works with `isinstance`."""

_BY_ROLE: dict[str, type[StateBaseMessage]] = {
    "user": UserMessage,
    "assistant": AssistantMessage,
    "system": SystemMessage,
    "tool": ToolMessage,
}


def cast_state_message(msg: Any) -> StateMessage:
    """A message out of a message or a mapping.

    The result always has a `msg_id`. The argument is never changed: a message that has its id comes
    back as it is, one that lacks it comes back as a copy with a new id.

    Args:
        msg: A message, or a mapping with `role` and `content`.

    Raises:
        StateError: It is neither, its role is unknown, or its fields don't fit the role. A `ValueError`.

    Example:
        >>> cast_state_message({"role": "user", "content": "hi", "msg_id": "1"})
        UserMessage(content='hi', msg_id='1', node_name=None, role='user')
    """
    message = msg if isinstance(msg, StateBaseMessage) else _from_mapping(msg)
    return message if message.msg_id else message.model_copy(update={"msg_id": uuid4().hex})


def _from_mapping(raw: Any) -> StateBaseMessage:
    if not isinstance(raw, Mapping):
        raise StateError(
            f"A message was expected, found {type(raw).__name__}: {_shown(raw)}",
            fix='use a message such as UserMessage(content=...), or a dict {"role": "user", "content": ...}',
        )
    cls = _BY_ROLE.get(raw["role"]) if isinstance(raw.get("role"), str) else None
    if cls is None:
        raise _unknown_role(raw)
    try:
        return cls.model_validate(dict(raw))
    except ValidationError as error:
        faults = "; ".join(f"{_place(fault['loc'])}: {fault['msg']}" for fault in error.errors(include_url=False))
        raise StateError(
            f"A message with role {raw['role']!r} isn't a valid {cls.__name__}: {faults}",
            where=f"message {_shown(dict(raw))}",
            fix=f"give what {cls.__name__} needs: {', '.join(_required(cls))}",
        ) from error


def _unknown_role(raw: Mapping[str, Any]) -> StateError:
    role = raw.get("role")
    from difflib import get_close_matches  # only this error needs it, importing evonb doesn't

    near = get_close_matches(role, _BY_ROLE, n=1) if isinstance(role, str) else []
    known = ", ".join(repr(name) for name in _BY_ROLE)
    found = f"unknown role {role!r}" if "role" in raw else "no role"
    return StateError(
        f"A message has {found}, expected one of {known}",
        where=f"message {_shown(dict(raw))}",
        fix=f"did you mean {near[0]!r}?" if near else f"set 'role' to one of {known}",
    )


def _required(cls: type[StateBaseMessage]) -> list[str]:
    return [name for name, info in cls.model_fields.items() if info.is_required()]


def _place(loc: tuple[int | str, ...]) -> str:
    return ".".join(str(part) for part in loc) or "message"


def _shown(value: object, width: int = 120) -> str:
    text = repr(value)
    return text if len(text) <= width else text[: width - 3] + "..."
