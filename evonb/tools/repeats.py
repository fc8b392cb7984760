"""Notices a model that makes the same failing call again and again, and tells it so in the error."""

from __future__ import annotations

import threading
from collections import OrderedDict

from evonb.tools.invocation import Invocation
from evonb.tools.journal import same_arguments
from evonb.tools.receipts import ToolErrorInfo

__all__ = ["RepeatedFailures"]

_REMEMBERED = 256
_PATIENCE = 2


class RepeatedFailures:
    """Counts how often in a row a tool failed with the same arguments, apart for each run. Bounded in memory."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._last: OrderedDict[tuple[str | None, str], tuple[str, int]] = OrderedDict()

    def note(self, invocation: Invocation, arguments: object, info: ToolErrorInfo) -> ToolErrorInfo:
        """Count a failure; from the second equal one on, the fix says that trying again won't help."""
        key = (invocation.scope.run_id, invocation.tool_id)
        seen = same_arguments(arguments)
        with self._lock:
            before, count = self._last.pop(key, ("", 0))
            count = count + 1 if before == seen else 1
            self._last[key] = (seen, count)
            while len(self._last) > _REMEMBERED:
                self._last.popitem(last=False)
        if count < _PATIENCE:
            return info
        said = f"the same call has failed {count} times in a row: change the arguments, or do without this tool"
        return info.model_copy(update={"fix": f"{info.fix}; {said}" if info.fix else said})

    def forget(self, invocation: Invocation) -> None:
        """A success ends the row."""
        with self._lock:
            self._last.pop((invocation.scope.run_id, invocation.tool_id), None)
