"""Lists of messages that are in a store and haven't been read: a run that goes on may never look at its old ones.

A late log is a list of the state like any other: the first look at it through Python reads it, and from then on it is
an ordinary `MessageLog`, the same object. Appending to it doesn't read it. It is never handed to user code, which gets
copies that read it when they are looked at.
"""

from __future__ import annotations

import threading
from collections.abc import Callable, Iterable
from contextlib import suppress
from typing import Any

from evonb.graph.containers import WRAP, ReadList
from evonb.graph.isolate import _TAKE, take
from evonb.graph.late import fill_first
from evonb.graph.message_log import MessageLog

__all__ = ["LateLog", "read_all"]

_filling = threading.RLock()


class LateLog(MessageLog):
    """Messages that are read when somebody looks.

    Args:
        read: Gives the messages; what it raises comes out of the look, and the next look tries again.
    """

    __slots__ = ()

    def __init__(self, read: Callable[[], list[Any]]) -> None:
        list.__init__(self)
        self.ids = None
        self.later = (read, None, [])

    def appended(self, new: list[Any]) -> LateLog:
        """A late log of this one and new messages; those that turn out to be repeats are dropped when it is read."""
        made = LateLog.__new__(LateLog)
        made.ids, made.later = None, (None, self, new)
        return made

    def since(self, before: MessageLog) -> list[Any] | None:
        """As for any log; doesn't read what is late if the other one is on the way to it."""
        with _filling:
            log: MessageLog = self
            batches: list[list[Any]] = []
            while log is not before and type(log) is LateLog and log.later[1] is not None:
                batches.append(log.later[2])
                log = log.later[1]
        if log is before:
            return [message for new in reversed(batches) for message in new]
        return super().since(before)

    def __radd__(self, other: list[Any]) -> list[Any]:
        return other + list(self)  # `list + log` would look into the storage

    def _fill(self) -> None:
        with _filling:
            if type(self) is not LateLog:
                return  # another thread was quicker
            first, batches = self._first()
            if type(first) is LateLog:
                read = first.later[0]
                first._become(read(), None)
            if batches:
                ids = {message.msg_id for message in first}
                messages = list(first)
                for new in reversed(batches):
                    for message in new:
                        if message.msg_id not in ids:
                            ids.add(message.msg_id)
                            messages.append(message)
                self._become(messages, ids)

    def _first(self) -> tuple[MessageLog, list[list[Any]]]:
        """The newest log before it that is there or can be read, and what came since, newest first."""
        log: MessageLog = self
        batches: list[list[Any]] = []
        while type(log) is LateLog and (before := log.later[1]) is not None:
            batches.append(log.later[2])
            log = before
        return log, batches

    def _become(self, messages: list[Any], ids: set[str] | None) -> None:
        list.extend(self, messages)
        self.ids, self.later = ids, None
        self.__class__ = MessageLog  # type: ignore[assignment]


def read_all(logs: Iterable[MessageLog]) -> None:
    """Read these if that works; if it doesn't, whoever looks at one is told."""
    for log in logs:
        with suppress(Exception):
            len(log)


fill_first(LateLog, list)
WRAP[LateLog] = ReadList
_TAKE[LateLog] = lambda log: [take(message) for message in log]
