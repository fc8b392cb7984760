"""The whole states that a stored run keeps every few steps. Their lists of messages are read when somebody looks."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from itertools import chain
from typing import Any

from evonb.graph.debugging.basing import KeptLog
from evonb.graph.debugging.missing import found_in, stand_ins_made
from evonb.graph.debugging.points import SessionError
from evonb.graph.debugging.rows import is_log
from evonb.graph.late_log import LateLog
from evonb.graph.plan import Plan
from evonb.graph.ports import RunStore, StoredStep
from evonb.graph.schema import Values

__all__ = ["KeptState", "unreadable"]


class KeptState:
    """Reads the states of one run.

    Attributes:
        logs: By key, the lists of messages of the state that was read last.
        tell_missing: Is told of values that can't be made again, by path, that come up after the reading.
    """

    def __init__(self, plan: Plan, store: RunStore, run_id: str) -> None:
        self._plan = plan
        self._store = store
        self._run_id = run_id
        self.logs: dict[str, KeptLog] = {}
        self.tell_missing: Callable[[dict[str, Any]], None] = lambda found: None

    def of(self, row: StoredStep) -> Values:
        """The state that a row holds; its lists of messages are read when somebody looks."""
        schema, snapshot = self._plan.schema, row.snapshot or {}
        self.logs = {
            key: KeptLog(row.number, LateLog(partial(self._messages, row, key)))
            for key in snapshot
            if is_log(schema, key)
        }
        return {key: self.logs[key].log if key in self.logs else snapshot[key] for key in snapshot}

    def _messages(self, row: StoredStep, key: str) -> list[Any]:
        """A list of messages, read at last; what of it can't be made again is told now."""
        made = stand_ins_made()
        messages = self._parts(row, key)
        if stand_ins_made() > made:
            self.tell_missing(found_in(messages, key))
        return messages

    def _parts(self, row: StoredStep, key: str) -> list[Any]:
        """What a base holds of a list of messages, after what is in the bases that this one goes on from."""
        parts: list[Any] = []
        at: StoredStep | None = row
        while at is not None:
            parts.append((at.snapshot or {})[key])
            before = ((at.notes or {}).get("base") or {}).get("logs", {}).get(key)
            if before is None:
                first: dict[str, Any] = {}
                for message in chain.from_iterable(reversed(parts)):
                    first.setdefault(message.msg_id, message)
                return list(first.values())
            at = self._store.step(self._run_id, before)
        raise unreadable(self._run_id, self._plan, f"a step that its {key} go on from is missing")


def unreadable(run_id: str, plan: Plan, why: str) -> SessionError:
    """The error of a stored run in which something is wrong."""
    return SessionError(
        f"The stored run {run_id!r} can't be read: {why}",
        where=f"graph {plan.name!r}",
        fix="begin a new one with debug(inputs)",
    )
