"""Reading what a node needs out of a state of any kind: a key, the conversation, its last message. Pure."""

from __future__ import annotations

import difflib
from collections.abc import Callable, Mapping, Sequence
from typing import Any, TypeAlias

from evonb.errors import StateError
from evonb.typing import AssistantMessage, StateBaseMessage, StateMessage, SystemMessage, cast_state_message

__all__ = ["Text", "last_message", "messages_of", "text_from", "value_of", "with_system"]

Text: TypeAlias = str | Callable[[Any], str]
"""A text, or a function that makes it of the state."""


def value_of(state: Any, key: str, where: str) -> Any:
    """The value of a state key, whether the state is a dict or a model.

    Raises:
        StateError: The state has no such key; near ones are named.
    """
    values: Mapping[str, Any] = state if isinstance(state, Mapping) else vars(state)
    if key in values:
        return values[key]
    near = difflib.get_close_matches(key, list(values), n=1)
    known = ", ".join(map(repr, values)) or "nothing"
    raise StateError(
        f"The state has no key {key!r}; it has {known}",
        where=where,
        fix=f"did you mean {near[0]!r}?" if near else f"declare {key!r} in the state, or name another key in the node",
    )


def messages_of(state: Any, key: str, where: str) -> list[Any]:
    """The conversation under a key: a list of messages, or a text, which counts as the user's.

    Raises:
        StateError: There is no conversation, or it is empty.
    """
    value = value_of(state, key, where)
    found = [value] if isinstance(value, str | StateBaseMessage | Mapping) else value
    if isinstance(found, Sequence) and len(found):
        return list(found)
    held = "no message" if isinstance(found, Sequence) else type(value).__name__
    raise StateError(
        f"The state key {key!r} holds {held}, expected a conversation",
        where=where,
        fix=f'start the run with {{{key!r}: [UserMessage(content="...")]}}',
    )


def last_message(conversation: Any, key: str = "messages") -> StateMessage | None:
    """The last message of a message, a list of messages, or a state that has them under `key`; None if there is none.

    Raises:
        StateError: The last item isn't a message.
    """
    if isinstance(conversation, StateBaseMessage):
        return conversation
    if isinstance(conversation, Mapping) and "role" in conversation and "content" in conversation:
        return cast_state_message(conversation)
    if not isinstance(conversation, list | tuple):
        conversation = value_of(conversation, key, "has_tool_calls")
    return as_message(conversation[-1]) if conversation else None


def as_message(item: Any) -> StateMessage:
    """An item of a conversation as a message; a text counts as the user's."""
    return cast_state_message({"role": "user", "content": item} if isinstance(item, str) else item)


def with_system(messages: Sequence[Any], text: str) -> list[Any]:
    """The conversation with a system text in front; one that begins with a system message gets both in one.

    Servers of some models refuse two system messages.
    """
    if not text:
        return list(messages)
    first = messages[0] if messages else None
    role = first.get("role") if isinstance(first, Mapping) else getattr(first, "role", None)
    if role != "system":
        return [SystemMessage(content=text), *messages]
    own = first.get("content") if isinstance(first, Mapping) else getattr(first, "content", "")
    return [SystemMessage(content=f"{text}\n\n{own}"), *messages[1:]]


def text_from(text: Text, state: Any) -> str:
    """The text itself, or what its function makes of the state."""
    return text(state) if callable(text) else text


def calls_of(message: Any) -> list[Any]:
    """The tool calls of a message; none if it isn't a model's."""
    return list(message.tool_calls or ()) if isinstance(message, AssistantMessage) else []
