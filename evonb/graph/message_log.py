"""Lists of messages as the state keeps them: appending one looks at that one, not at all that came before."""

from __future__ import annotations

from typing import Any
from uuid import uuid4

from evonb.graph import lending
from evonb.graph.containers import WRAP, ReadList
from evonb.graph.isolate import _TAKE, take
from evonb.graph.strategies import messages_of
from evonb.typing import MISSING, StateBaseMessage, StateMessage, cast_state_message

__all__ = ["MessageLog", "append_log", "clean_messages"]


class MessageLog(list[Any]):
    """Messages without repeats. `ids` wanders to the newest log of a line; an older one finds its ids again.

    `later` belongs to logs that haven't been read yet (`late_log`).
    """

    __slots__ = ("ids", "later")
    later: Any

    def __init__(self, messages: Any = (), ids: set[str] | None = None) -> None:
        super().__init__(messages)
        self.ids = ids

    def __reduce_ex__(self, _protocol: Any) -> tuple[Any, ...]:
        return (list, (list(self),))

    def known(self) -> set[str]:
        """The ids of all messages in it."""
        if self.ids is None:
            self.ids = {message.msg_id for message in self}
        return self.ids

    def appended(self, new: list[Any]) -> MessageLog:
        """A new log of this one and cleaned messages, repeats dropped."""
        ids = self.known()
        merged = MessageLog(self, ids)
        self.ids = None
        for message in new:
            if message.msg_id not in ids:
                ids.add(message.msg_id)
                merged.append(message)
        return merged

    def since(self, before: MessageLog) -> list[Any] | None:
        """What was appended to an earlier log to make this one; None if this one doesn't begin with it."""
        count = len(before)
        return self[count:] if self[:count] == before else None


def clean_messages(new: Any, old: Any, node_name: str | None) -> Any:
    """The messages of a delta that `old` doesn't hold: cast, with ids and the name of their node, held by nobody else.

    Returns:
        A list, or MISSING when the node handed back what it was given.
    """
    if isinstance(new, ReadList):
        if not new._changed and not new._own:
            return MISSING
        new = list.__getitem__(new, slice(None))
    given = list(messages_of(new))
    if any(getattr(item, "msg_id", None) is not None for item in given):
        known = _known(old)
        given = [item for item in given if getattr(item, "msg_id", None) is None or item.msg_id not in known]
    return [_attributed(item, node_name) for item in given]


def append_log(old: Any, new: list[Any]) -> MessageLog:
    """A new log of `old` and the cleaned messages `new`, repeats dropped."""
    log = old if isinstance(old, MessageLog) else MessageLog(() if old is MISSING else _unique(old))
    return log.appended(new)


def _known(old: Any) -> set[str]:
    if isinstance(old, MessageLog):
        return old.known()
    return set() if old is MISSING else {message.msg_id for message in old}


def _unique(messages: Any) -> Any:
    return {message.msg_id: message for message in messages}.values()


def _attributed(item: Any, node_name: str | None) -> StateMessage:
    message: StateBaseMessage = take(item) if isinstance(item, StateBaseMessage) else cast_state_message(item)
    fields = message.__dict__
    if not fields.get("msg_id"):
        fields["msg_id"] = uuid4().hex
    if fields.get("node_name") is None and node_name is not None:
        fields["node_name"] = node_name
    return message


WRAP[MessageLog] = ReadList
_TAKE[MessageLog] = lambda log: [take(message) for message in log]
lending.LENT = lending.LENT | {MessageLog}
