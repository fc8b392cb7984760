"""When a whole state is kept with a step, and what of it: that is where reading a stored session begins.

A whole state is kept when the deltas since the last one have grown as large as it, so the whole states cost as much as
the deltas. At a pause, where a restart is likely, a quarter is enough if there are many steps to read. In between,
every few steps, a state is kept with only the end of its lists of messages, which goes on from the state before. So
going on after a restart reads a few steps, however long the talk is, and old messages when somebody looks at them.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from evonb.graph import record as records
from evonb.graph.debugging.line import Moment
from evonb.graph.debugging.rows import plain, rough_size
from evonb.graph.late_log import LateLog
from evonb.graph.message_log import MessageLog
from evonb.graph.ports import StoredStep
from evonb.graph.schema import Values
from evonb.typing import MISSING

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["Bases", "KeptLog"]

_FEWEST = 8  # rows between two bases, however small these are
_FEWEST_AT_PAUSE = 64
_PART_AT_PAUSE = 4
_PER_COUNTER = 12


@dataclass(frozen=True, slots=True)
class KeptLog:
    """A list of messages as a base has it.

    Attributes:
        step: The base's number.
        log: The list as it was then.
    """

    step: int
    log: MessageLog


class Bases:
    """Adds states to rows. It is asked about every row of a session, in order."""

    def __init__(self, session: Session) -> None:
        self._session = session
        self._rows = self._size = 0  # of deltas since the last whole state
        self._whole = 0  # the size of that
        self._recent_rows = self._recent = 0  # of deltas since the last base of either kind
        self._small = 0  # the size of a state without its messages
        self._logs: dict[str, KeptLog] = {}

    def begin(self, inputs: Mapping[str, Any]) -> None:
        """A new session."""
        self._whole = rough_size(inputs)

    def go_on(self, rows: list[StoredStep], logs: Mapping[str, KeptLog]) -> None:
        """Go on with a stored session.

        Args:
            rows: The last base, and the rows after it.
            logs: The lists of messages of that base.
        """
        base = (rows[0].notes or {}).get("base") or {}
        self._whole, self._size, self._rows, self._small = base.get("sizes", (0, 0, 0, 0))
        self._logs = dict(logs)
        for row in rows[1:]:
            self._count(row)

    def _count(self, row: StoredStep) -> None:
        size = rough_size(row.delta)
        self._rows, self._size = self._rows + 1, self._size + size
        self._recent_rows, self._recent = self._recent_rows + 1, self._recent + size

    def added(self, moment: Moment, row: StoredStep, *, pauses: bool) -> StoredStep:
        """The row, with a state and all counters if it is time and everything goes on from this one state."""
        if moment.number == 0:
            values = self._values(moment)
            self._keep(0, values, {})
            return replace(row, snapshot=plain(values))
        self._count(row)
        if not _is_narrow(moment) or self._session.run.skipped:
            return row
        wants_whole = self._wants_whole(pauses=pauses)
        if not wants_whole and (self._recent_rows < _FEWEST or self._recent < self._small):
            return row
        since = self._since(self._values(moment)) if self._logs else None
        if since is not None and (not wants_whole or any(type(kept.log) is LateLog for kept in self._logs.values())):
            return self._with_state(moment, row, since)  # what nobody has read isn't read for writing it again
        return self._with_state(moment, row, {}) if wants_whole else row

    def _wants_whole(self, *, pauses: bool) -> bool:
        if pauses and self._recent_rows >= _FEWEST_AT_PAUSE and self._size * _PART_AT_PAUSE >= self._whole:
            return True
        return self._rows >= _FEWEST and self._size >= self._whole

    def _values(self, moment: Moment) -> Values:
        values = records.values_of(self._session.plan.schema, moment.record)
        return {key: value for key, value in values.items() if value is not MISSING}

    def _since(self, values: Values) -> dict[str, list[Any]] | None:
        """What was appended to each list of messages since the last base; None if one of them was made anew."""
        found: dict[str, list[Any]] = {}
        for key, kept in self._logs.items():
            log = values.get(key)
            new = log.since(kept.log) if isinstance(log, MessageLog) else None
            if new is None:
                return None
            found[key] = new
        return found

    def _with_state(self, moment: Moment, row: StoredStep, since: Mapping[str, list[Any]]) -> StoredStep:
        """The row with the whole state, or with what came `since` in place of some lists of messages."""
        values = self._values(moment)
        visits = {str(index): count for index, count in enumerate(self._session.run.visits) if count}
        waiting = moment.point.waiting[0]
        assert waiting.task is not None
        base: dict[str, Any] = {"visits": visits, "turns": moment.point.turns, "waiting": waiting.number}
        base |= {"edge": waiting.task.edge, "node": waiting.node.name, "group": waiting.task.group}
        base |= {"visit": waiting.task.visit, "logs": {key: self._logs[key].step for key in since}}
        self._keep(moment.number, values, since)
        self._small += _PER_COUNTER * len(visits)
        if not since:
            self._whole = rough_size(values) + _PER_COUNTER * len(visits)
            self._rows = self._size = 0
        base["sizes"] = [self._whole, self._size, self._rows, self._small]
        return replace(row, snapshot={**plain_but(values, since), **since}, notes={**(row.notes or {}), "base": base})

    def _keep(self, number: int, values: Values, since: Mapping[str, list[Any]]) -> None:
        self._logs = {key: KeptLog(number, value) for key, value in values.items() if isinstance(value, MessageLog)}
        self._small = rough_size(since) + rough_size({k: value for k, value in values.items() if k not in self._logs})
        self._recent_rows = self._recent = 0


def plain_but(values: Values, left: Mapping[str, Any]) -> dict[str, Any]:
    """Values as the codec knows them, without some."""
    return plain({key: value for key, value in values.items() if key not in left})


def _is_narrow(moment: Moment) -> bool:
    """Whether everything goes on from the state after this moment, by one task that can be made anew from it."""
    point = moment.point
    if len(point.waiting) != 1 or point.slots or point.ended:
        return False
    task = point.waiting[0].task
    return task is not None and task.place is None and task.node.joins is None and task.inputs == (moment.record,)
