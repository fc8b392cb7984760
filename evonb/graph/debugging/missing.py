"""What of a stored run can't be made again: how much came up so far, and where it is."""

from __future__ import annotations

import sys
from types import ModuleType
from typing import TYPE_CHECKING, Any

from evonb.graph import record as records
from evonb.graph.debugging.points import record_of
from evonb.graph.late_log import LateLog
from evonb.graph.message_log import MessageLog

if TYPE_CHECKING:
    from evonb.graph.debugging.session import Session

__all__ = ["found_in", "stand_ins_made", "stand_ins_of"]


def _module() -> ModuleType | None:
    return sys.modules.get("evonb.persistence.standin")  # without it there is none


def stand_ins_made() -> int:
    """How many values couldn't be made again in this process."""
    module = _module()
    return 0 if module is None else int(module.StandIn.made)


def found_in(value: Any, key: str) -> dict[str, Any]:
    """By path, the stand-ins in a value of the state."""
    module = _module()
    return {} if module is None else dict(module.stand_ins(value, key))


def stand_ins_of(session: Session) -> dict[str, Any]:
    """By path, the stand-ins in the states that waiting tasks start from, as far as these have been read."""
    found: dict[str, Any] = {}
    for waiting in session.line.present.point.waiting:
        values = records.values_of(session.plan.schema, record_of(waiting, session.line.present.point))
        for key, value in values.items():
            if type(value) is not LateLog:
                found.update(found_in(list(value) if isinstance(value, MessageLog) else value, key))
    return found
